package racesim

import (
	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/report"
)

// judgeAll judges the groups that aren't synchronisation, side by side.
func (a *analysis) judgeAll(groups []*group) {
	var todo []*group
	for _, g := range groups {
		if !g.sync {
			todo = append(todo, g)
		}
	}
	n := workers(len(todo))
	if a.o.SaveExperiments != "" {
		n = min(n, 1) // files have the numbers of the experiments
	}
	type verdict struct {
		race report.Race
		told bool
		e    classify.Evidence
		j    classify.Judgement
	}
	done := make([]verdict, len(todo))
	a.share(len(todo), n, func(i int) { a.progress("judging races", i, len(todo)) }, func(w *analysis, i int) {
		v := &done[i]
		w.o.Judged = func(_ *report.Race, e classify.Evidence, j classify.Judgement) { v.told, v.e, v.j = true, e, j }
		v.race = w.judge(todo[i])
	})
	for i := range done {
		v := &done[i]
		if a.o.Judged != nil && v.told {
			a.o.Judged(&v.race, v.e, v.j)
		}
		a.rep.Races = append(a.rep.Races, v.race)
	}
}
