package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
)

// A variable that a thread waits for and then sets, with nothing that makes the
// two one step, looks like a lock and isn't one: two threads may both find it
// free. Each of them alone waits once the other has set it, so that no order of
// the two lets both in, but an interleaving does.

// A Passage is how both of two threads came past a wait that each would have
// waited in had the other been past it already.
type Passage struct {
	First int // side that looked first: 0 is A
}

// maxLooked is how often a section may look at a variable before it counts as
// waiting for it.
const maxLooked = 64

// BothPass tests whether both sections come past the stores by which they take
// what p.Racy stands for, by the instructions stores, though each waits before
// its own once the other has stored; nil if not. A section has to look before
// it stores.
func (p Pair) BothPass(stores [2]uint64) *Passage {
	if !p.A.Complete || !p.B.Complete {
		return nil
	}
	for _, pre := range p.preStates() {
		excludes := true
		for side := range stores {
			r := p.start(pre)
			if past(r, side, stores[side]) != passed || past(r, 1-side, stores[1-side]) != waits {
				excludes = false
				break
			}
		}
		if !excludes {
			continue
		}
		for first := range stores {
			if p.passes(pre, first, stores, first) && p.passes(pre, first, stores, 1-first) {
				return &Passage{First: first}
			}
		}
	}
	return nil
}

// passes has one section look and stand still before its store, lets the other
// store, then the first, and says whether section on then comes to its end
// without the other one moving.
func (p Pair) passes(pre *overlay.Memory, first int, stores [2]uint64, on int) bool {
	r := p.start(pre)
	n, how := approach(r, first, stores[first])
	if how != passed || past(r, 1-first, stores[1-first]) != passed || !r.GoAfter(first, n) && !ended(r, first) {
		return false
	}
	return r.Go(on) && ended(r, on)
}

func ended(r *overlay.Run, part int) bool {
	out, _ := r.Ended(part)
	return out == overlay.Done
}

// How a section came to its store.
type arrival int

const (
	nowhere arrival = iota // it ended, or didn't look before
	passed
	waits
)

// approach runs a section until it is about to store by the instruction at pc,
// its racing access number n. One that gives way to others between two looks
// goes on.
func approach(r *overlay.Run, part int, pc uint64) (n int, how arrival) {
	for looked, gave := 0, 0; looked <= maxLooked; {
		n = r.Hits(part) + 1
		switch {
		case r.GoBefore(part, n):
			if r.PC(part) == pc && looked > 0 {
				return n, passed
			}
			if looked, gave = looked+1, 0; !r.GoAfter(part, n) && over(r, part) {
				return n, nowhere
			}
		case over(r, part):
			if out, _ := r.Ended(part); out == overlay.Spun && looked > 0 {
				return n, waits
			}
			return n, nowhere
		default:
			if gave++; gave > 2 { // it waits for something else
				return n, nowhere
			}
		}
	}
	return n, waits
}

// past runs a section until it has stored by the instruction at pc.
func past(r *overlay.Run, part int, pc uint64) arrival {
	n, how := approach(r, part, pc)
	if how == passed && !r.GoAfter(part, n) && !ended(r, part) {
		return nowhere
	}
	return how
}

func over(r *overlay.Run, part int) bool {
	out, _ := r.Ended(part)
	return out != 0
}
