package racesim

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// A race that the recording itself orders is shown by executing an order in
// which it isn't: from a moment of the recording on, one thread stands still
// before its access, or before the locks that it holds there, and the others go
// on, on one overlay, with memory as it was at that moment. If the second
// thread then comes to its access, the two are next to each other, in an
// execution that the program can have.

// Bounds of this work.
const (
	windowSteps = 2_000_000  // recorded instructions of all threads between the two accesses
	leastSteps  = 2_000_000  // …of all windows together that are always allowed
	mostSteps   = 10_000_000 // …that are at most
	leastSought = 20_000_000 // the same of instructions replayed to get there
	mostSought  = 100_000_000
	maxSolo     = 16 // turns of threads that one waits for
	maxShown    = 8  // steps of a witness that are calls
	maxActors   = 64 // threads
	maxNear     = 8  // places per thread that a worker keeps to get to others
)

// A proof is what came of looking for a witness.
type proof uint8

const (
	_       proof = iota
	shown         // it was executed
	refuted       // nothing that was executed leads there
	gap           // it can't be executed
)

// A stage is a stretch of the recording, ready to be executed in another order.
type stage struct {
	a     *analysis
	past  *overlay.Past
	ids   []emulate.ThreadID
	part  map[emulate.ThreadID]int
	secs  []*overlay.Section
	sched []turn
	birth map[int]birthday // by part, of threads that the window creates
	run   func() *overlay.Run
}

// A turn is a recorded slice: a participant and the instruction that it comes to.
type turn struct {
	part int
	to   emulate.Count
}

// A birthday says after which instruction of which participant another begins.
type birthday struct {
	parent int
	after  emulate.Count
}

// A search keeps what came of pairs of accesses, and what was spent.
type search struct {
	found  map[[2]moment]finding
	total  uint64 // instructions of the recording
	steps  uint64 // captured, in this round
	sought uint64 // replayed to get there
	// planned are the places that are gone to in this round, in ascending order:
	// who goes to one passes the others before.
	planned map[emulate.ThreadID][]emulate.Count
}

// A finding is what came of one pair.
type finding struct {
	w   *report.Witness // with shown
	how proof
	why string // with gap
}

type moment struct {
	thread emulate.ThreadID
	count  emulate.Count
}

// prove keeps of what the last pass predicted what a witness shows, or what is
// proved by the order of events alone and can't be executed.
func (a *analysis) prove() {
	a.proved, a.shownBy = nil, map[*races.Candidate]*report.Witness{}
	pred := a.pass.Predictor
	if pred == nil {
		return
	}
	if a.search == nil {
		a.search = &search{found: map[[2]moment]finding{}}
		for _, id := range a.t.s.Threads() {
			a.search.total += uint64(a.t.s.Last(id))
		}
	}
	a.search.steps, a.search.sought, a.search.planned = 0, 0, map[emulate.ThreadID][]emulate.Count{}
	known := map[[2]uint64]bool{}
	for _, c := range a.pass.Detector.Candidates() {
		known[[2]uint64{c.First.PC, c.Second.PC}] = true
		known[[2]uint64{c.Second.PC, c.First.PC}] = true
	}
	all := pred.Candidates()
	sure := len(all)
	for _, c := range pred.Possible() {
		if !known[[2]uint64{c.First.PC, c.Second.PC}] {
			all = append(all[:len(all):len(all)], c)
		}
	}
	a.executeAll(all)
	for i, c := range all {
		switch f := a.attempt(c); {
		case f.how == shown:
			a.shownBy[c] = f.w
			a.proved = append(a.proved, c)
		case f.how == gap && i < sure:
			a.shownBy[c] = &report.Witness{Why: f.why}
			a.proved = append(a.proved, c)
		}
	}
}

// keyOf says which pair of accesses something is about.
func keyOf(p *races.Pair) [2]moment {
	return [2]moment{{p.First.Thread, p.First.Count}, {p.Second.Thread, p.Second.Count}}
}

// executeAll looks for witnesses of candidates, as far as the budget goes: of all
// their first samples, then, of those that weren't shown, of the second ones, and
// so on. What is executed is settled before any of it is, so that it depends on
// the recording alone.
func (a *analysis) executeAll(all []*races.Candidate) {
	open := all
	for n := 0; len(open) > 0; n++ {
		var next []*races.Candidate
		var todo []*plan
		for _, c := range open {
			if n >= len(c.Samples) {
				continue
			}
			next = append(next, c)
			key := keyOf(&c.Samples[n])
			if _, known := a.search.found[key]; known {
				continue
			}
			x := a.plan(&c.Samples[n])
			a.search.found[key] = x.found
			if len(x.cuts) > 0 {
				todo = append(todo, x)
			}
		}
		a.work(todo)
		open = slices.DeleteFunc(next, func(c *races.Candidate) bool { return a.search.found[keyOf(&c.Samples[n])].how == shown })
	}
}

// work executes plans. Each worker has a stretch of them in the order of the
// recording: what is near one another is reached by going on.
func (a *analysis) work(todo []*plan) {
	sorted := slices.Clone(todo)
	slices.SortStableFunc(sorted, func(x, y *plan) int {
		p, q := &x.pair.First, &y.pair.First
		return cmp.Or(cmp.Compare(p.Thread, q.Thread), cmp.Compare(p.Count, q.Count))
	})
	n := workers(len(sorted))
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		w := &prover{analysis: a.worker(), near: map[emulate.ThreadID][]*replay.Snapshot{}}
		mine := sorted[i*len(sorted)/n : (i+1)*len(sorted)/n]
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, x := range mine {
				w.execute(x)
			}
		}()
	}
	wg.Wait()
	for _, x := range todo {
		a.search.found[keyOf(x.pair)] = x.found
	}
}

// A plan is what is executed for one pair of accesses.
type plan struct {
	pair  *races.Pair
	cuts  []*span
	found finding
}

// A span is what all threads did from a cut on.
type span struct {
	cut      emulate.Count
	from, to int // slices
	all      []stretch
}

// A stretch is what one thread did in a span.
type stretch struct {
	id         emulate.ThreadID
	start, end emulate.Count
}

// plan says what is to be executed for a pair, within the budget; found is what
// is known without.
func (a *analysis) plan(p *races.Pair) *plan {
	x := &plan{pair: p, found: finding{how: refuted}}
	if p.First.Thread == p.Second.Thread {
		return x
	}
	cuts := []emulate.Count{p.First.Count}
	if at, ok := a.pass.Predictor.Outer(&p.First); ok && at < p.First.Count {
		cuts = append(cuts, at)
	}
	for _, cut := range cuts {
		if sp, why := a.span(p, cut); sp != nil {
			x.cuts = append(x.cuts, sp)
		} else {
			x.found = finding{how: gap, why: why}
		}
	}
	return x
}

// A prover is an analysis that executes plans.
type prover struct {
	*analysis
	near map[emulate.ThreadID][]*replay.Snapshot // the ones that were of use last first
}

// candidates lists the conflicts that the last pass found, and those that were
// proved to be possible.
func (a *analysis) candidates() []*races.Candidate {
	l := a.pass.Detector.Candidates()
	return append(l[:len(l):len(l)], a.proved...)
}

// attempt says what came of a candidate's samples. The one that there is a
// witness of becomes the first.
func (a *analysis) attempt(c *races.Candidate) finding {
	best := finding{how: refuted}
	for i := range c.Samples {
		f := a.search.found[keyOf(&c.Samples[i])]
		if f.how == shown {
			c.Samples[0], c.Samples[i] = c.Samples[i], c.Samples[0]
			c.First, c.Second = c.Samples[0].First, c.Samples[0].Second
			return f
		}
		if f.how == gap && best.how != gap {
			best = f
		}
	}
	return best
}

// execute looks for a witness of one pair of accesses.
func (w *prover) execute(x *plan) {
	for _, sp := range x.cuts {
		st, why := w.stage(x.pair, sp)
		if st == nil {
			x.found = finding{how: gap, why: why}
			continue
		}
		for _, alone := range []bool{false, true} {
			f := st.direct(x.pair, sp.cut, alone)
			if f.how == shown {
				x.found = f
				return
			}
			if f.how == gap {
				x.found = f
			}
		}
	}
}

// span says what all threads did from the moment at which the first thread was
// at instruction cut until the second side's access; nil if that is too much.
func (a *analysis) span(p *races.Pair, cut emulate.Count) (*span, string) {
	first, second := p.First.Thread, p.Second.Thread
	sp := &span{cut: cut, from: a.slice(first, cut), to: a.slice(second, p.Second.Count)}
	if sp.from < 0 || sp.to < 0 {
		return nil, "the recording doesn't show when the accesses happened"
	}
	var steps, sought uint64
	for _, id := range a.t.s.Threads() {
		if tt := a.pass.Threads[id]; tt == nil || len(a.rank[id]) == 0 {
			continue
		}
		x := stretch{id, a.before(id, first, cut), a.before(id, second, p.Second.Count)}
		if id == first {
			x.start = cut
			x.end = max(x.end, p.First.Count+1)
		}
		if id == second {
			x.end = p.Second.Count + 1
		}
		if x.start >= x.end {
			continue
		}
		steps += uint64(x.end - x.start)
		sought += a.search.far(a.pass, id, x.start)
		sp.all = append(sp.all, x)
	}
	s := a.search
	switch {
	case len(sp.all) > maxActors:
		return nil, fmt.Sprintf("%d threads between the two accesses", len(sp.all))
	case steps > windowSteps:
		return nil, fmt.Sprintf("%d instructions between the two accesses", steps)
	case !s.allowed(steps, sought):
		return nil, "the budget left it out"
	}
	s.steps += steps
	s.sought += sought
	for _, x := range sp.all {
		l := s.planned[x.id]
		if i, there := slices.BinarySearch(l, x.start); !there {
			s.planned[x.id] = slices.Insert(l, i, x.start)
		}
	}
	return sp, ""
}

// far returns how many instructions are replayed to get to a place, about.
func (s *search) far(p *detect.Pass, id emulate.ThreadID, count emulate.Count) uint64 {
	far := p.Distance(id, count)
	l := s.planned[id]
	if i := sort.Search(len(l), func(i int) bool { return l[i] > count }); i > 0 {
		far = min(far, uint64(count-l[i-1]))
	}
	return far
}

// stage captures a span.
func (w *prover) stage(p *races.Pair, sp *span) (*stage, string) {
	a, first, cut := w.analysis, p.First.Thread, sp.cut
	canon := detect.Canon(a.t.s)
	st := &stage{a: a, past: overlay.NewPast(canon), part: map[emulate.ThreadID]int{}, birth: map[int]birthday{}}
	mins := map[emulate.ThreadID]uint64{}
	for _, x := range sp.all {
		snap, err := w.at(x.id, x.start)
		if err != nil {
			return nil, err.Error()
		}
		mins[x.id] = snap.Min()
		s, err := st.past.Capture(snap, x.end, a.slices(x.id))
		if err != nil {
			return nil, err.Error()
		}
		st.part[x.id] = len(st.secs)
		st.ids, st.secs = append(st.ids, x.id), append(st.secs, s)
	}
	st.past.Settle(st.secs)
	st.births(mins)
	sched, err := a.t.s.Schedule()
	if err != nil {
		return nil, err.Error()
	}
	for i := sp.from + 1; i <= sp.to && i < len(sched); i++ {
		if n, ok := st.part[sched[i].Thread]; ok && sched[i].Thread != first {
			st.sched = append(st.sched, turn{n, sched[i].To})
		}
	}
	world := a.world(first, cut)
	st.run = func() *overlay.Run {
		r := overlay.New(st.secs...)
		if canon != nil {
			r.Aliases(canon)
		}
		r.Restore(st.past)
		r.Racy(racy(p)...)
		r.Elsewhere(world.Elsewhere)
		r.Unmapped(world.Unmapped)
		r.Code(world.Code)
		r.Directed()
		return r
	}
	return st, ""
}

// allowed says whether the budget has room: a fortieth of the recording may be
// replayed, a four-hundredth captured, within bounds.
func (s *search) allowed(steps, sought uint64) bool {
	return s.steps+steps <= min(max(s.total/400, leastSteps), mostSteps) && s.sought+sought <= min(max(s.total/40, leastSought), mostSought)
}

// at returns a thread's state before an instruction, with what is due applied.
func (w *prover) at(id emulate.ThreadID, count emulate.Count) (*replay.Snapshot, error) {
	l := w.near[id]
	k, far := -1, w.pass.Distance(id, count)
	for i, s := range l {
		if s.Count() <= count && uint64(count-s.Count()) <= far {
			k, far = i, uint64(count-s.Count())
		}
	}
	var s *replay.Snapshot
	if k >= 0 && far == 0 {
		s = l[k]
		copy(l[1:k+1], l[:k])
		l[0] = s
		return s, nil
	}
	var t *replay.Thread
	if k < 0 {
		var err error
		if t, _, err = w.pass.Seek(id, count); err != nil {
			return nil, err
		}
	} else {
		t = l[k].NewThread()
		if _, err := t.RunTo(count); err != nil {
			return nil, err
		}
		if err := t.Settle(); err != nil {
			return nil, err
		}
	}
	s = t.Snapshot()
	if len(l) < maxNear {
		l = append(l, nil)
	}
	copy(l[1:], l)
	l[0] = s
	w.near[id] = l
	return s, nil
}

// births finds the threads that begin within the window.
func (st *stage) births(mins map[emulate.ThreadID]uint64) {
	for _, id := range st.ids {
		var clones []emulate.Count
		s := st.secs[st.part[id]]
		for i := range s.Inputs {
			if in := &s.Inputs[i]; in.Clones() {
				clones = append(clones, in.At)
			}
		}
		ids, at := st.a.pass.Births(id)
		for i := range ids {
			if at[i] <= mins[id] || len(clones) == 0 {
				continue
			}
			if n, ok := st.part[ids[i]]; ok {
				st.birth[n] = birthday{st.part[id], clones[0]}
			}
			clones = clones[1:]
		}
	}
}

// direct executes the stage: the first thread stands still, the others go on as
// recorded, or the second one alone while it can. When that has come to its
// access, the first goes on to its own, if it isn't there.
func (st *stage) direct(p *races.Pair, cut emulate.Count, alone bool) finding {
	r := st.run()
	log := &script{st: st, r: r}
	r.Notice(log.call)
	first, second := st.part[p.First.Thread], st.part[p.Second.Thread]
	kernel := p.First.Kernel || p.Second.Kernel
	if cut == p.First.Count && !p.First.Kernel {
		if got := r.Advance(first, overlay.Until{PC: p.First.PC, Steps: 1}); got != overlay.AtAccess {
			return finding{how: gap, why: fmt.Sprintf("thread %d doesn't make its access from the state that was restored", p.First.Thread)}
		}
	}
	log.stop(first)
	there := func(got overlay.Reached) bool {
		if got == overlay.AtAccess {
			return true
		}
		return got == overlay.AtCount && kernel && r.PC(second) == p.Second.PC && r.Count(second) == p.Second.Count
	}
	until := overlay.Until{PC: p.Second.PC, Count: p.Second.Count, Steps: 4*st.secs[second].Steps() + 100_000}
	if !kernel {
		until.Count = 0
	}
	ok := false
	go1 := func(n int, u overlay.Until) bool {
		if n == first || !st.born(r, n) {
			return false
		}
		if n == second {
			u.PC = until.PC
			if kernel && (u.Count == 0 || u.Count > until.Count) {
				u.Count = until.Count
			}
			ok = ok || there(r.Advance(n, u))
			return ok
		}
		r.Advance(n, u)
		return false
	}
	if !alone {
		for _, t := range st.sched {
			if go1(t.part, overlay.Until{Count: t.to, Steps: 2*st.secs[t.part].Steps() + 10_000}) {
				break
			}
		}
	}
	for i := 0; !ok && i < maxSolo; i++ {
		if go1(second, until) {
			break
		}
		if what, _ := r.Ended(second); what != 0 {
			break
		}
		for n := range st.secs {
			if n != second {
				go1(n, overlay.Until{Steps: st.secs[n].Steps()/4 + 20_000})
			}
		}
	}
	if !ok {
		return st.failed(r, second)
	}
	if !st.same(r, second, &p.Second) {
		return finding{how: refuted}
	}
	if cut != p.First.Count {
		got := r.Advance(first, overlay.Until{PC: p.First.PC, Steps: 4*uint64(p.First.Count-cut) + 20_000})
		if got != overlay.AtAccess {
			return st.failed(r, first)
		}
		if !st.same(r, first, &p.First) {
			return finding{how: refuted}
		}
	}
	return finding{w: log.witness(p, first, second), how: shown}
}

// born says whether a participant exists by now.
func (st *stage) born(r *overlay.Run, n int) bool {
	b, ok := st.birth[n]
	return !ok || r.Cloned(b.parent, b.after)
}

// failed says what it means that a participant doesn't come to its access: it
// may be that something can't be executed.
func (st *stage) failed(r *overlay.Run, n int) finding {
	if what, why := r.Ended(n); what == overlay.Crashed {
		return finding{how: gap, why: fmt.Sprintf("thread %d: %v: %s", st.ids[n], what, why)}
	}
	for i := range st.secs {
		if what, why := r.Ended(i); what == overlay.Unknown || what == overlay.Changed {
			return finding{how: gap, why: fmt.Sprintf("thread %d: %s", st.ids[i], why)}
		}
	}
	return finding{how: refuted}
}

// same says whether a participant that is at an instruction of the run-time is
// in the call that the access was in.
func (st *stage) same(r *overlay.Run, n int, x *races.Access) bool {
	f := st.a.ms.FuncAt(emulate.Addr(x.PC))
	if f == nil || !f.Runtime || x.Kernel {
		return true
	}
	t, _, err := st.a.pass.Seek(x.Thread, x.Count)
	return err == nil && t.CPU().R[x86.RSP] == r.SP(n)
}
