package racesim

import (
	"errors"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// task notes which task of OpenMP made an access, and where it was made.
func (a *analysis) task(r *report.Access, x *races.Access) {
	t := a.pass.Task(x.Thread, x.Count)
	if t == nil || t.Task == 0 { // a section
		return
	}
	r.Task, r.CreatedBy, r.CreatedAt = t.Task, uint32(t.By), nil
	if t.PC != 0 {
		r.CreatedAt = a.ownFrames(t.Ctx, t.PC)
	}
}

// within leaves of the places around an access those that are part of the task
// that made it: what executed the task, and when, is chance.
func (a *analysis) within(x *races.Access, ps []loadsub.Place) []loadsub.Place {
	t := a.pass.Task(x.Thread, x.Count)
	if t == nil {
		return ps
	}
	n := 0
	for n < len(ps) && ps[n].Goal.SP <= t.SP {
		n++
	}
	if n == 0 {
		return ps
	}
	return ps[:n]
}

var errNested = errors.New("one of the tasks was executed while the other one was under way")

// apart says below which addresses two sections of one thread, parts of two tasks,
// have its stack for themselves. One may have been executed while the other one
// waited: then the stack of the latter, down to the former's, is what both see.
func (a *analysis) apart(p *races.Pair, sa, sb *overlay.Section) (below [2]uint64, err error) {
	x, y := &p.First, &p.Second
	if x.Thread != y.Thread {
		return below, nil
	}
	s, t := a.pass.Task(x.Thread, x.Count), a.pass.Task(y.Thread, y.Count)
	if s == t { // not two tasks
		return below, nil
	}
	if sa.Start < sb.Stop && sb.Start < sa.Stop {
		return below, errNested
	}
	switch {
	case s == nil || t != nil && s.Contains(t.From):
		below = [2]uint64{t.SP, t.SP}
	case t == nil || t.Contains(s.From):
		below = [2]uint64{s.SP, s.SP}
	default:
		below = [2]uint64{s.SP, t.SP}
	}
	return below, nil
}
