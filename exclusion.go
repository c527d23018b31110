package racesim

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// What a thread waits for and then sets in another step looks like a lock, and
// lets two threads in. That a reader only waits makes a variable synchronisation
// no more if so.

// maxTakers bounds the pairs of stores that are tried for one variable.
const maxTakers = 6

// taker is a pair of stores that may each take what a variable stands for.
type taker struct{ first, second emulate.Count }

// bothPass executes the sections around two threads' stores to a variable that
// a group's reader waits for, and returns the experiment that shows that both
// get past the wait; nil if there is none.
func (a *analysis) bothPass(g *group, groups []*group) *report.Experiment {
	tried := 0
	for _, p := range takers(g, groups) {
		key := taker{p.First.Count, p.Second.Count}
		x, known := a.taken[key]
		if !known {
			if tried++; tried > maxTakers {
				break
			}
			x = a.takes(&p)
			if a.taken == nil {
				a.taken = map[taker]*report.Experiment{}
			}
			a.taken[key] = x
		}
		if x != nil {
			return x
		}
	}
	return nil
}

// takers lists pairs of unordered stores to a group's variable, by different
// threads.
func takers(g *group, groups []*group) []races.Pair {
	on := func(x *races.Access) bool {
		for _, c := range g.cands {
			if x.Addr < c.Addr+emulate.Addr(c.Size) && c.Addr < x.Addr+emulate.Addr(x.Size) {
				return true
			}
		}
		return false
	}
	stores := func(x *races.Access) bool {
		return (x.Kind == races.Write || x.Kind == races.Update) && !x.Kernel && !x.Atomic && !x.Internal
	}
	var out []races.Pair
	for _, o := range groups {
		if o.life() {
			continue
		}
		for _, p := range o.pairs() {
			if p.First.Thread != p.Second.Thread && stores(&p.First) && stores(&p.Second) && on(&p.First) && on(&p.Second) {
				out = append(out, p)
			}
		}
	}
	return out
}

// shareBlame gives all groups on a variable that keeps nobody out the experiment
// that shows it, and makes the places where it is used ones where experiments
// with other variables stop, too: it doesn't protect them.
func (a *analysis) shareBlame(groups []*group) {
	a.open = nil
	for _, g := range groups {
		if g.passed == nil {
			continue
		}
		for _, c := range g.cands {
			a.open = append(a.open, overlay.Span{Addr: uint64(c.Addr), N: uint64(c.Size)})
		}
		for _, o := range groups {
			if o.passed == nil && !o.sync && !o.life() && len(o.cands) > 0 && within(a.open, o.cands[0]) {
				o.passed = g.passed
			}
		}
	}
}

func within(spans []overlay.Span, c *races.Candidate) bool {
	for _, s := range spans {
		if uint64(c.Addr) < s.Addr+s.N && s.Addr < uint64(c.Addr)+uint64(c.Size) {
			return true
		}
	}
	return false
}

// takes executes the sections around two stores, the inner ones first.
func (a *analysis) takes(p *races.Pair) *report.Experiment {
	pa, errA := a.placesAround(p.First.Thread, p.First.Count, maxPlaces)
	pb, errB := a.placesAround(p.Second.Thread, p.Second.Count, maxPlaces)
	if errA != nil || errB != nil {
		return nil
	}
	for level := 0; level < max(len(pa), len(pb)); level++ {
		qa, qb := &pa[min(level, len(pa)-1)], &pb[min(level, len(pb)-1)]
		sa, errA := a.captureOf(&p.First, qa)
		sb, errB := a.captureOf(&p.Second, qb)
		if errA != nil || errB != nil {
			continue
		}
		apart, err := a.apart(p, sa, sb)
		if err != nil {
			continue
		}
		pair := loadsub.Pair{A: sa, B: sb, Racy: racy(p), Order: a.order, World: a.world(p.Second.Thread, p.Second.Count), Apart: apart}
		w := pair.BothPass([2]uint64{p.First.PC, p.Second.PC})
		if w == nil {
			continue
		}
		at := [2]*races.Access{&p.First, &p.Second}
		one, other := at[w.First], at[1-w.First]
		fa, fb := a.frame(one), a.frame(other)
		return &report.Experiment{Function: qa.String() + " against " + qb.String(), Mode: "simulate", Source: "interleaving", Outcome: "not-serialisable", Outputs: []report.Output{},
			Detail: fmt.Sprintf("thread %d looks and stands still before it stores at %s; thread %d looks and stores at %s; then both go on, though each waits if the other has stored before it looks",
				one.Thread, fa.Place(), other.Thread, fb.Place())}
	}
	return nil
}
