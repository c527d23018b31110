package racesim

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/races"
)

// moved counts how often bytes of a section came to it anew, by the coherence of
// the caches, after it had touched them and before it touched them again: each
// time somebody else had changed them meanwhile, in the recording.
func moved(s *overlay.Section, bytes []overlay.Span) int {
	var first, last emulate.Count
	any := false
	for i := range s.Accesses {
		x := &s.Accesses[i]
		for _, b := range bytes {
			if x.Addr < b.Addr+b.N && b.Addr < x.Addr+uint64(x.Size) {
				if !any {
					first, any = x.At, true
				}
				last = x.At
			}
		}
	}
	n := 0
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if !any || in.Kind != overlay.InImport || in.At <= first || in.At > last {
			continue
		}
		for _, b := range bytes {
			if in.Foreign&maskOf(in.Line, b) != 0 {
				n++
				break
			}
		}
	}
	return n
}

// maskOf returns a bit for each byte of a line that is in a span.
func maskOf(line uint64, b overlay.Span) uint64 {
	lo, hi := max(line<<6, b.Addr), min((line+1)<<6, b.Addr+b.N)
	if lo >= hi {
		return 0
	}
	return ^uint64(0) >> (64 - (hi - lo)) << (lo & 63)
}

// moves notes on the two sides of a race what the caches saw of it within the
// sections around them.
func (j *judging) moves(p *races.Pair, sa, sb *overlay.Section) {
	if p != j.first {
		return
	}
	for k, s := range []*overlay.Section{sa, sb} {
		x := &j.r.Accesses[k]
		x.Moved = max(x.Moved, moved(s, racy(p)))
	}
}
