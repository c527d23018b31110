package racesim

import (
	"fmt"

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
	maxNear     = 32 // places per thread that are kept to get to others
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
	w     func() *overlay.Run
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
	steps  uint64 // captured, in this round
	sought uint64 // replayed to get there
	near   map[emulate.ThreadID][]*replay.Snapshot
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
	}
	a.search.steps, a.search.sought = 0, 0
	a.search.near = map[emulate.ThreadID][]*replay.Snapshot{}
	defer func() { a.search.near = nil }() // they hold memory
	found := map[[2]uint64]bool{}
	for _, c := range a.pass.Detector.Candidates() {
		found[[2]uint64{c.First.PC, c.Second.PC}] = true
		found[[2]uint64{c.Second.PC, c.First.PC}] = true
	}
	for _, c := range pred.Candidates() {
		switch f := a.attempt(c); f.how {
		case shown:
			a.shownBy[c] = f.w
			a.proved = append(a.proved, c)
		case gap:
			a.shownBy[c] = &report.Witness{Why: f.why}
			a.proved = append(a.proved, c)
		}
	}
	for _, c := range pred.Possible() {
		if found[[2]uint64{c.First.PC, c.Second.PC}] {
			continue
		}
		if f := a.attempt(c); f.how == shown {
			a.shownBy[c] = f.w
			a.proved = append(a.proved, c)
		}
	}
}

// candidates lists the conflicts that the last pass found, and those that were
// proved to be possible.
func (a *analysis) candidates() []*races.Candidate {
	l := a.pass.Detector.Candidates()
	return append(l[:len(l):len(l)], a.proved...)
}

// attempt looks for a witness with any of a candidate's samples. The one that
// there is becomes the first sample.
func (a *analysis) attempt(c *races.Candidate) finding {
	best := finding{how: refuted}
	for i := range c.Samples {
		p := c.Samples[i]
		key := [2]moment{{p.First.Thread, p.First.Count}, {p.Second.Thread, p.Second.Count}}
		f, known := a.search.found[key]
		if !known {
			f = a.execute(&p)
			a.search.found[key] = f
		}
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
func (a *analysis) execute(p *races.Pair) finding {
	best := finding{how: refuted}
	if p.First.Thread == p.Second.Thread {
		return best
	}
	cuts := []emulate.Count{p.First.Count}
	if at, ok := a.pass.Predictor.Outer(&p.First); ok && at < p.First.Count {
		cuts = append(cuts, at)
	}
	for _, cut := range cuts {
		st, why := a.stage(p, cut)
		if st == nil {
			best = finding{how: gap, why: why}
			continue
		}
		for _, alone := range []bool{false, true} {
			f := st.direct(p, cut, alone)
			if f.how == shown {
				return f
			}
			if f.how == gap {
				best = f
			}
		}
	}
	return best
}

// stage captures what all threads did from the moment at which the first thread
// was at instruction cut until the second side's access.
func (a *analysis) stage(p *races.Pair, cut emulate.Count) (*stage, string) {
	first, second := p.First.Thread, p.Second.Thread
	from, to := a.slice(first, cut), a.slice(second, p.Second.Count)
	if from < 0 || to < 0 {
		return nil, "the recording doesn't show when the accesses happened"
	}
	type stretch struct {
		id         emulate.ThreadID
		start, end emulate.Count
	}
	var all []stretch
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
		_, far := a.nearest(id, x.start)
		sought += far
		all = append(all, x)
	}
	switch {
	case len(all) > maxActors:
		return nil, fmt.Sprintf("%d threads between the two accesses", len(all))
	case steps > windowSteps:
		return nil, fmt.Sprintf("%d instructions between the two accesses", steps)
	case !a.search.allowed(a.t.s, steps, sought):
		return nil, "the budget left it out"
	}
	a.search.steps += steps
	a.search.sought += sought
	canon := detect.Canon(a.t.s)
	st := &stage{a: a, past: overlay.NewPast(canon), part: map[emulate.ThreadID]int{}, birth: map[int]birthday{}}
	mins := map[emulate.ThreadID]uint64{}
	for _, x := range all {
		snap, err := a.at(x.id, x.start)
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
	for i := from + 1; i <= to && i < len(sched); i++ {
		if n, ok := st.part[sched[i].Thread]; ok && sched[i].Thread != first {
			st.sched = append(st.sched, turn{n, sched[i].To})
		}
	}
	world := a.world(first, cut)
	st.w = func() *overlay.Run {
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

// allowed says whether the budget has room: a twentieth of the recording may be
// replayed, a two-hundredth captured, within bounds.
func (s *search) allowed(all *replay.Session, steps, sought uint64) bool {
	var total uint64
	for _, id := range all.Threads() {
		total += uint64(all.Last(id))
	}
	return s.steps+steps <= min(max(total/200, leastSteps), mostSteps) && s.sought+sought <= min(max(total/20, leastSought), mostSought)
}

// nearest returns the kept place from which an instruction is reached soonest,
// nil if that is one of the pass's, and how far it is.
func (a *analysis) nearest(id emulate.ThreadID, count emulate.Count) (from *replay.Snapshot, far uint64) {
	far = a.pass.Distance(id, count)
	for _, s := range a.search.near[id] {
		if s.Count() <= count && uint64(count-s.Count()) < far {
			from, far = s, uint64(count-s.Count())
		}
	}
	return from, far
}

// at returns a thread's state before an instruction, with what is due applied.
func (a *analysis) at(id emulate.ThreadID, count emulate.Count) (*replay.Snapshot, error) {
	from, far := a.nearest(id, count)
	if from != nil && far == 0 {
		return from, nil
	}
	var t *replay.Thread
	if from == nil {
		var err error
		if t, _, err = a.pass.Seek(id, count); err != nil {
			return nil, err
		}
	} else {
		t = from.NewThread()
		if _, err := t.RunTo(count); err != nil {
			return nil, err
		}
		if err := t.Settle(); err != nil {
			return nil, err
		}
	}
	s := t.Snapshot()
	if l := a.search.near[id]; len(l) < maxNear {
		a.search.near[id] = append(l, s)
	}
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
	r := st.w()
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
