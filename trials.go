package racesim

import (
	"fmt"
	"path/filepath"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// trials replaces one side's racing load.
func (a *analysis) trials(r *report.Race, ev *classify.Evidence, s *overlay.Section, side, other *races.Access, q *loadsub.Place) {
	if side.Kind != races.Read && side.Kind != races.Update || !s.Complete {
		return
	}
	i := findLoad(s, side)
	if i < 0 {
		return
	}
	var c loadsub.Choices
	if other.Addr == side.Addr && other.Size == side.Size && (other.Kind == races.Write || other.Kind == races.Update) {
		c.Other, c.OtherOK = other.Value, true
	}
	frame := a.frame(side)
	for _, l := range a.o.Loads {
		if l.Line == frame.Line && filepath.Base(l.File) == filepath.Base(frame.File) {
			c.User = append(c.User, l.Value)
		}
	}
	reps := loadsub.Replacements(s, i, c)
	opt := loadsub.Options{World: a.world(side.Thread, side.Count)}
	ref := loadsub.Reference(s, opt)
	if bad := loadsub.Faithful(s, ref); len(bad) > 0 {
		a.note("thread %d: re-emulating %v without a change doesn't give what was recorded (%s): its trials are left out", s.Thread, q, bad[0].Name)
		return
	}
	for _, rep := range reps {
		t := loadsub.Try(s, i, rep, ref, opt)
		mode := "simulate"
		if rep.Correct {
			mode = "correct"
		}
		x := report.Experiment{Function: q.String(), Load: fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line), Mode: mode, Source: string(rep.Source),
			Recorded: number(t.Load.Value, int(t.Load.Size)), Replacement: number(rep.Value, int(t.Load.Size)), Outcome: t.Outcome, Detail: t.Detail}
		what := ""
		for _, o := range t.Outputs {
			x.Outputs = append(x.Outputs, report.Output{Name: o.Name, Recorded: o.Want, Reemulated: o.Got})
			if what == "" {
				what = fmt.Sprintf("%s is %s instead of %s", o.Name, o.Got, o.Want)
			}
		}
		if what == "" {
			what = t.Detail
		}
		r.Experiments = append(r.Experiments, x)
		ev.Trials = append(ev.Trials, classify.Trial{Simulate: !rep.Correct, Outcome: t.Outcome, What: what})
	}
}
