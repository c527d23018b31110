package racesim

import (
	"maps"
	"runtime"
	"sync"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/report"
)

// Races are judged side by side, each by one worker. What a worker finds depends
// on the race and the recording alone, and goes into the report in the order of
// the races: who judged what when makes no difference.

// maxJudges bounds the workers: each keeps the guest's memory at some moments.
const maxJudges = 8

// judgeAll judges the groups that aren't synchronisation.
func (a *analysis) judgeAll(groups []*group) {
	var todo []*group
	for _, g := range groups {
		if !g.sync {
			todo = append(todo, g)
		}
	}
	n := min(runtime.GOMAXPROCS(0), maxJudges, len(todo))
	if a.o.SaveExperiments != "" {
		n = min(n, 1) // files have the numbers of the experiments
	}
	// What all ask for, before they can be in each other's way.
	a.slice(0, 0)
	a.region(0)
	a.runtime()
	done := make([]judged, len(todo))
	next := make(chan int)
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		w := a.worker()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				done[i] = w.race1(todo[i])
			}
		}()
	}
	for i := range todo {
		a.progress("judging races", i, len(todo))
		next <- i
	}
	close(next)
	wg.Wait()
	for i := range done {
		d := &done[i]
		for _, s := range d.notes {
			a.note("%s", s)
		}
		if a.o.Judged != nil && d.told != nil {
			a.o.Judged(&d.race, d.told.e, d.told.j)
		}
		a.rep.Races = append(a.rep.Races, d.race)
	}
}

// judged is what came of one race.
type judged struct {
	race  report.Race
	notes []string
	told  *told // for AnalyzeOptions.Judged
}

type told struct {
	e classify.Evidence
	j classify.Judgement
}

// race1 judges one race and keeps apart what it adds to the report.
func (w *analysis) race1(g *group) (d judged) {
	w.rep.Notes = nil
	if w.o.Judged != nil {
		w.o.Judged = func(_ *report.Race, e classify.Evidence, j classify.Judgement) { d.told = &told{e, j} }
	}
	d.race = w.judge(g)
	d.notes = w.rep.Notes
	return d
}

// worker returns an analysis that knows what a does and changes nothing of it.
func (a *analysis) worker() *analysis {
	w := *a
	w.rep = &report.Report{}
	w.crowds, w.names, w.sources = nil, nil, nil
	rt := *a.rt
	rt.locks = maps.Clone(rt.locks)
	w.rt = &rt
	return &w
}
