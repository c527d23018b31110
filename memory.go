package racesim

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// location names the memory of a candidate.
func (a *analysis) location(c *races.Candidate) report.Location {
	if c.Object == races.ObjDescriptor {
		return report.Location{Kind: "descriptor", Symbol: fmt.Sprintf("descriptor %d", c.Addr)}
	}
	l := a.place(c)
	if c.Object == races.ObjPrimitive {
		// It is about the whole, not its first member.
		if i := strings.Index(l.Symbol, ".__"); i > 0 {
			l.Symbol, l.Type = l.Symbol[:i], ""
		}
	}
	return l
}

func (a *analysis) place(c *races.Candidate) report.Location {
	l, ok := a.memory(c.Addr, c.Size, c.Block)
	if b := &c.Block; b.Freed && c.First.Kind != races.Free && c.Second.Kind != races.Free {
		l.FreedAt, l.FreedBy = a.ownFrames(b.FreeCtx, b.FreePC), uint32(b.FreeThread)
	}
	if ok {
		return l
	}
	for _, tt := range a.pass.Threads {
		if uint64(c.Addr) >= tt.Stack && uint64(c.Addr) < tt.StackEnd {
			a.stackLocation(&l, c, tt.ID)
			return l
		}
	}
	for _, m := range a.t.s.Mappings(^uint64(0)) {
		if c.Addr >= m.Addr && uint64(c.Addr) < uint64(m.Addr)+m.N {
			switch {
			case m.Path == "[stack]":
				a.stackLocation(&l, c, 1)
			case m.Path == "[heap]":
				l.Kind = "heap"
			default:
				l.Kind = "mapped"
				l.Symbol = m.Path
				if l.Symbol != "" {
					l.Offset = int64(c.Addr-m.Addr) + int64(m.Offset)
				}
			}
			return l
		}
	}
	return l
}

// memory names size bytes at an address that lie in heap block b (ID 0: in
// none), or in a variable with static storage. ok is false if that isn't all
// there is to say: what else is there depends on the moment.
func (a *analysis) memory(addr emulate.Addr, size int, b races.Block) (l report.Location, ok bool) {
	l = report.Location{Kind: "unknown", Size: size, Address: fmt.Sprintf("0x%x", uint64(addr))}
	if b.ID != 0 {
		l.Kind = "heap"
		l.Offset = int64(addr - b.Addr)
		l.AllocatedAt = a.allocated(b)
		if len(l.AllocatedAt) > 0 {
			own := reportFrame(a.allocator(b))
			l.Symbol = "heap(" + own.Place() + ")"
			l.AllocatedBy = uint32(b.Thread)
			a.member(&l, b)
		}
		return l, true
	}
	if v, ok := a.ms.VarAtSize(addr, size); ok {
		variable(&l, "global", v)
		return l, true
	}
	if m, off, ok := a.ms.DataAt(addr); ok {
		l.Kind, l.Symbol = "global", fmt.Sprintf("%s+0x%x", m.Name(), off)
		return l, true
	}
	return l, false
}

// variable makes l a place in a variable.
func variable(l *report.Location, kind string, v funcs.Variable) {
	l.Kind, l.Symbol, l.Variable, l.Type = kind, v.Path, v.Name, v.Type
	if kind == "global" {
		l.Base = fmt.Sprint(v.Addr)
	}
	if v.Type == "" {
		l.Symbol, l.Offset = v.Name, v.Offset
	}
}

// name says what memory at addr is called, "" if it has no name.
func (a *analysis) name(addr uint64) string {
	s, known := a.names[addr]
	if !known {
		s = a.nameOf(addr)
		if len(a.names) >= maxNames {
			a.names = nil
		}
		if a.names == nil {
			a.names = map[uint64]string{}
		}
		a.names[addr] = s
	}
	return s
}

// maxNames bounds the names kept: those of outputs are asked for again and again.
const maxNames = 1 << 16

func (a *analysis) nameOf(addr uint64) string {
	l, ok := a.memory(emulate.Addr(addr), 1, a.pass.Detector.BlockAt(emulate.Addr(addr)))
	if !ok || l.Symbol == "" {
		return ""
	}
	return l.Name()
}

// stackLocation names a variable on the stack of thread owner, if one of the
// two accesses happened while its frame was there.
func (a *analysis) stackLocation(l *report.Location, c *races.Candidate, owner emulate.ThreadID) {
	l.Kind = "stack"
	count := a.pass.Threads[owner].Last
	for _, x := range []*races.Access{&c.First, &c.Second} {
		if x.Thread == owner {
			count = x.Count
		}
	}
	if count == a.pass.Threads[owner].Last {
		// The owner only waits: any moment at which it was inside serves. The
		// last slice before the access is one.
		count = a.before(owner, c.Second.Thread, c.Second.Count)
	}
	_, calls, err := a.pass.Seek(owner, count)
	if err != nil {
		return
	}
	level, ok := calls.LevelOf(c.Addr)
	if !ok {
		return
	}
	act := calls.Level(level)
	pc := act.Entry
	if level > 0 {
		pc = calls.Level(level - 1).Site
	} else if owner == c.First.Thread {
		pc = emulate.Addr(c.First.PC)
	} else if owner == c.Second.Thread {
		pc = emulate.Addr(c.Second.PC)
	}
	if v, ok := a.ms.LocalAt(pc, act.CFA(), c.Addr); ok {
		variable(l, "stack", v)
	} else if f := a.ms.FuncAt(act.Entry); f != nil {
		l.Symbol = "frame of " + f.Name
	}
}

// allocator is the program's place where a block was allocated.
func (a *analysis) allocator(b races.Block) funcs.Frame {
	all := a.tree.Stack(b.Ctx, emulate.Addr(b.PC))
	for _, f := range all {
		if !f.Runtime && !f.Library {
			return f
		}
	}
	return all[0]
}

// allocated renders where a block was allocated, innermost first, without the
// allocator itself.
func (a *analysis) allocated(b races.Block) []report.Frame {
	var out []report.Frame
	for _, f := range a.tree.Stack(b.Ctx, emulate.Addr(b.PC)) {
		if len(out) > 0 || !f.Runtime {
			out = append(out, reportFrame(f))
		}
	}
	return out
}

// root is the variable without members and indices, for grouping. All data of
// a module without symbols is one: where a variable ends isn't known.
func root(l *report.Location) string {
	switch {
	case l.Variable != "":
		return l.Kind + ":" + l.Variable
	case l.Kind == "global":
		name, _, _ := strings.Cut(l.Symbol, "+0x")
		return l.Kind + ":" + name
	case l.Kind == "stack":
		return l.Kind + ":" + l.Symbol
	}
	return l.Kind + ":" + l.Symbol
}
