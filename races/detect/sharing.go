package detect

import (
	"math/bits"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A lineUse is what a thread did to a line in all its life.
type lineUse struct {
	read, wrote uint64 // bytes
	times       uint32 // accesses, those that were looked at
	imports     uint32 // times that the line flowed in because others had written it
}

// A SharedLine is a line that moves between threads.
type SharedLine struct {
	// False says that each of them uses bytes of its own in it: what one
	// writes, no other touches.
	False     bool
	Line      uint64 // address >> 6
	Transfers int    // times that it came to one of the threads, changed by another
	Users     []LineUser
}

// A LineUser is a thread that uses a SharedLine.
type LineUser struct {
	Thread emulate.ThreadID
	Addr   emulate.Addr // the first byte that it uses
	Writes bool
	Times  int // accesses, at least
}

// note adds an access to what is known of a line.
func (u *lineUse) note(m uint64, write bool) {
	u.times++
	if write {
		u.wrote |= m
	} else {
		u.read |= m
	}
}

// Falsely lists the lines of Moved that are shared falsely.
func (p *Pass) Falsely(transfers, uses int) (out []SharedLine) {
	for _, x := range p.Moved(transfers, uses) {
		if x.False {
			out = append(out, x)
		}
	}
	return out
}

// Moved lists the lines that came at least transfers times to each of several
// threads, one of which at least writes them, and which made at least uses
// accesses each, most moved first. Threads that used the line less don't count.
func (p *Pass) Moved(transfers, uses int) []SharedLine {
	type user struct {
		id emulate.ThreadID
		lineUse
	}
	by := map[uint64][]user{}
	for id, tt := range p.Threads {
		for line, u := range tt.lines {
			if int(u.imports) >= transfers && int(u.times) >= uses {
				by[line] = append(by[line], user{id, u})
			}
		}
	}
	var out []SharedLine
	for line, us := range by {
		sort.Slice(us, func(i, j int) bool { return us[i].id < us[j].id })
		x := SharedLine{Line: line}
		wrote, apart := false, len(us) > 1
		for i, u := range us {
			for _, v := range us[:i] {
				apart = apart && u.wrote&(v.read|v.wrote) == 0 && v.wrote&u.read == 0
			}
			wrote = wrote || u.wrote != 0
			x.Transfers += int(u.imports)
			x.Users = append(x.Users, LineUser{u.id, emulate.Addr(line<<lineShift) + emulate.Addr(bits.TrailingZeros64(u.read|u.wrote)), u.wrote != 0, int(u.times)})
		}
		if x.False = apart; wrote && len(us) > 1 {
			out = append(out, x)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Transfers != out[j].Transfers {
			return out[i].Transfers > out[j].Transfers
		}
		return out[i].Line < out[j].Line
	})
	return out
}

// fewImports is the number of imports below which nobody asks about a line.
const fewImports = 2

// keepLines keeps what the thread did to lines that came to it again and again.
func (t *ThreadTrack) keepLines(table *lineTable) {
	t.lines = map[uint64]lineUse{}
	for i := range table.places {
		if s := &table.places[i]; s.line != 0 && s.use.imports >= fewImports {
			t.lines[s.line-1] = s.use
		}
	}
}
