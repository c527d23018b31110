package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
)

// Optimistic code reads, finds that somebody interfered, throws away what it
// read and goes round again. Such an iteration changed nothing: the result is
// that of the other section alone.

// retried reports whether one of the sections did nothing in r, being an
// iteration that came back to the head of its loop, and the other ended as it
// does alone.
func (p Pair) retried(pre *overlay.Memory, r *overlay.Result) bool {
	secs := []*overlay.Section{p.A, p.B}
	for part := range secs {
		if !p.idle(r, part) {
			continue
		}
		other := 1 - part
		run := p.startOf(pre, secs[other])
		run.Go(0)
		run.Settle(0)
		if len(diff(secs[other:other+1], p.World, run.Result(), r.Part(other), 1)) == 0 {
			return true
		}
	}
	return false
}

// idle reports whether a section ended as it began: at the head of its loop,
// with the same live registers, and without a store that anybody can see.
func (p Pair) idle(r *overlay.Result, part int) bool {
	s := p.A
	if part == 1 {
		s = p.B
	}
	e := &r.Ends[part]
	if s.End != overlay.EndLoop || s.Live == nil || e.Outcome != overlay.Done || len(e.Calls) > 0 || e.Regs[x86.RSP] != s.Entry.R[x86.RSP] {
		return false
	}
	for i := range e.Regs {
		if pick(e.Regs[i], s.Live.GPR[i]) != pick(s.Entry.R[i], s.Live.GPR[i]) || pickXMM(e.XMM[i], s.Live.XMM[i]) != pickXMM(s.Entry.X[i], s.Live.XMM[i]) ||
			pickXMM(e.YMM[i], s.Live.YMM[i]) != pickXMM(s.Entry.Y[i], s.Live.YMM[i]) {
			return false
		}
	}
	for _, sp := range r.Part(part).Written() {
		for a := sp.Addr; a < sp.Addr+sp.N; a++ {
			if outlives([]*overlay.Section{s}, a) && !unchanged(s, r, a) {
				return false
			}
		}
	}
	return true
}

// unchanged reports whether a byte of the section's own stack is what it was
// when the section began.
func unchanged(s *overlay.Section, r *overlay.Result, a uint64) bool {
	if a >= s.SP {
		return false
	}
	d, known := s.View.KnownLine(a >> 6)
	b, ok := r.Byte(a)
	return ok && d != nil && known>>(a&63)&1 != 0 && d[a&63] == b
}
