package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
)

// A section that stores to one variable several times lets others see each of
// these values: how far it has come, what it does just now. Who looks once, and
// shares nothing else with it, sees one of them whole, and that it isn't the
// first or the last is no harm. It is where the section takes the variable for
// its own notes: sets it back, and builds the next value there.

// published reports whether r differs from the serial orders only because one
// section looks once at a word of which the other one shows several values.
func (p Pair) published(r *overlay.Result) bool {
	if !comparable(r) {
		return false
	}
	word, ok := p.oneWord(r)
	return ok && (p.shows(p.A, word) && p.looksOnce(p.B, word) || p.shows(p.B, word) && p.looksOnce(p.A, word))
}

// oneWord returns the aligned 8 bytes in which everything lies that both
// sections touched.
func (p Pair) oneWord(r *overlay.Result) (word uint64, ok bool) {
	for i, sp := range r.Shared() {
		if i == 0 {
			word = sp.Addr &^ 7
		}
		if sp.Addr&^7 != word || (sp.Addr+sp.N-1)&^7 != word {
			return 0, false
		}
		ok = true
	}
	return word, ok
}

// within lists a section's accesses to a word.
func (p Pair) within(s *overlay.Section, word uint64) []*overlay.Access {
	var out []*overlay.Access
	for i := range s.Accesses {
		if a := &s.Accesses[i]; p.World.canon(a.Addr)&^7 == word {
			out = append(out, a)
		}
	}
	return out
}

// looksOnce reports whether all that a section does with a word is one load.
func (p Pair) looksOnce(s *overlay.Section, word uint64) bool {
	as := p.within(s, word)
	return len(as) == 1 && !as[0].Writes()
}

// shows reports whether the values that a section stores to a variable are there
// for others: none is made from one before it, or they only go up, or only down.
func (p Pair) shows(s *overlay.Section, word uint64) bool {
	as := p.within(s, word)
	stores, loads, up, down := 0, 0, true, true
	for _, a := range as {
		if a.Addr != as[0].Addr || a.Size != as[0].Size {
			return false // parts of it
		}
		if !a.Writes() {
			loads++
			continue
		}
		stores++
		was, is := signed(a.Pre, int(a.Size)), signed(a.Value, int(a.Size))
		up, down = up && is >= was, down && is <= was
	}
	return stores > 0 && (loads == 0 || up || down)
}

// signed extends the sign of a value of size bytes.
func signed(v uint64, size int) int64 {
	n := 64 - 8*min(size, 8)
	return int64(v<<n) >> n
}
