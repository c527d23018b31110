package racesim

import (
	"maps"
	"runtime"
	"sync"

	"github.com/racesim/racesim/report"
)

// What is found out about one race depends on it and on the recording alone.
// So races are looked at side by side, each by one worker with what it needs of
// its own, and what they found goes into the report in the order of the races:
// who did what when makes no difference.

// maxWorkers bounds the workers: each keeps the guest's memory at some moments.
const maxWorkers = 8

// workers returns how many workers share n things to do.
func workers(n int) int { return min(runtime.GOMAXPROCS(0), maxWorkers, n) }

// share calls f for all numbers below n, by several workers. begin, if it isn't
// nil, is called before each, in their order, by the caller's goroutine.
func (a *analysis) share(n, workers int, begin func(i int), f func(w *analysis, i int)) {
	notes := make([][]string, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		w := a.worker()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				w.rep.Notes = nil
				w.afresh()
				f(w, i)
				notes[i] = w.rep.Notes
			}
		}()
	}
	for i := range n {
		if begin != nil {
			begin(i)
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for _, l := range notes {
		for _, s := range l {
			a.note("%s", s)
		}
	}
}

// worker returns an analysis that knows what a does and changes nothing of it
// but what is safe for concurrent use.
func (a *analysis) worker() *analysis {
	// What is made when it is asked for first is made now.
	a.slice(0, 0)
	a.region(0)
	a.runtime()
	w := *a
	w.rep = &report.Report{}
	w.crowds, w.names, w.contents, w.sources, w.starts = nil, nil, nil, nil, nil
	w.texts, w.taken = maps.Clone(a.texts), maps.Clone(a.taken)
	w.locksOf, w.locksBy, w.newLocks = nil, nil, nil
	rt := *a.rt
	rt.locks, rt.threads = maps.Clone(rt.locks), maps.Clone(rt.threads)
	w.rt = &rt
	return &w
}

// afresh forgets what was found out for the race before: numbers of locks that
// only experiments take, and what is known of sections.
func (a *analysis) afresh() {
	a.starts = nil
	for id, at := range a.newLocks {
		delete(a.locksBy, at)
		a.nextLock = min(a.nextLock, id)
	}
	clear(a.newLocks)
}
