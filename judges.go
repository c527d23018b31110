package racesim

import (
	"sync"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/report"
)

// Bounds of what the experiments with all races together execute, in
// instructions: so many times the recording's, at least so many.
const (
	judgedShare = 8
	leastJudged = 1_000_000_000
)

// judgeAll judges the groups that aren't synchronisation, side by side. The
// first race of each two functions with a variable comes before the others, in
// case the budget doesn't reach for all.
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
	order := inTurn(todo)
	limit := uint64(leastJudged)
	for _, id := range a.t.s.Threads() {
		limit = max(limit, judgedShare*uint64(a.t.s.Last(id)-a.t.s.First(id)))
	}
	b := &purse{limit: limit, spent: make([]uint64, len(todo)), known: make([]bool, len(todo))}
	type verdict struct {
		race report.Race
		told bool
		e    classify.Evidence
		j    classify.Judgement
	}
	done := make([]verdict, len(todo))
	a.share(len(todo), n, func(i int) { a.progress("judging races", i, len(todo)) }, func(w *analysis, i int) {
		if b.empty() {
			return
		}
		v := &done[order[i]]
		w.spent = 0
		defer func() { b.pay(i, w.spent) }()
		w.o.Judged = func(_ *report.Race, e classify.Evidence, j classify.Judgement) { v.told, v.e, v.j = true, e, j }
		v.race = w.judge(todo[order[i]])
	})
	reach := b.reach()
	for _, i := range order[reach:] {
		r := a.race(todo[i])
		r.Verdict, r.Reason = report.Unknown, "it was not judged: the budget for the experiments with all races went to others"
		done[i] = verdict{race: r}
	}
	if left := len(todo) - reach; left > 0 {
		a.note("%d of %d races were not judged: experiments execute at most %d times what was recorded, or %d million instructions", left, len(todo), judgedShare, leastJudged/1_000_000)
	}
	for i := range done {
		v := &done[i]
		if a.o.Judged != nil && v.told {
			a.o.Judged(&v.race, v.e, v.j)
		}
		a.rep.Races = append(a.rep.Races, v.race)
	}
}

// inTurn numbers groups in the order in which they are judged.
func inTurn(groups []*group) []int {
	var first, rest []int
	had := map[[3]string]bool{}
	for i, g := range groups {
		key := [3]string{g.place[0].Module + " " + g.place[0].Function, g.place[1].Module + " " + g.place[1].Function, root(&g.loc)}
		if key[1] < key[0] {
			key[0], key[1] = key[1], key[0]
		}
		if had[key] {
			rest = append(rest, i)
			continue
		}
		had[key] = true
		first = append(first, i)
	}
	return append(first, rest...)
}

// A purse is a budget that several workers draw on. Which race the last of it
// goes to doesn't depend on who is faster: what comes after those that it
// suffices for, in their order, is left out, even if it was done meanwhile.
type purse struct {
	mu    sync.Mutex
	limit uint64
	spent []uint64 // by number
	known []bool
	next  int    // all before it are known
	sum   uint64 // …and took this
}

// pay notes what a number took.
func (b *purse) pay(i int, spent uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent[i], b.known[i] = spent, true
	for b.next < len(b.known) && b.known[b.next] && b.sum < b.limit {
		b.sum += b.spent[b.next]
		b.next++
	}
}

// empty reports whether nothing is left for those to come.
func (b *purse) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sum >= b.limit
}

// reach returns how many the budget sufficed for, once all is done. The last one
// may have overdrawn it.
func (b *purse) reach() int { return b.next }
