package racesim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// Bounds of the work on one race.
const (
	maxPairs  = 4   // dynamic pairs of accesses judged
	maxPlaces = 2   // sections tried around each access, innermost first
	openRuns  = 256 // interleavings where there is a lock that keeps nobody out
)

// A sliceStart says when a thread got a processor.
type sliceStart struct {
	from emulate.Count
	seq  int
}

// order says which of two instructions was executed first.
func (a *analysis) order(ta emulate.ThreadID, ca emulate.Count, tb emulate.ThreadID, cb emulate.Count) bool {
	if ta == tb {
		return ca < cb
	}
	return a.slice(ta, ca) < a.slice(tb, cb)
}

// slice returns the number of the slice in which a thread executed an instruction.
func (a *analysis) slice(t emulate.ThreadID, c emulate.Count) int {
	if a.rank == nil {
		a.rank = map[emulate.ThreadID][]sliceStart{}
		sched, err := a.t.s.Schedule()
		if err != nil {
			return 0
		}
		for i := range sched {
			s := &sched[i]
			a.rank[s.Thread] = append(a.rank[s.Thread], sliceStart{s.From, i})
		}
	}
	r := a.rank[t]
	// Several slices may begin at one count (system calls that waited): the
	// instruction executes in the last of them.
	i := sort.Search(len(r), func(i int) bool { return r[i].from > c })
	if i == 0 {
		return -1
	}
	return r[i-1].seq
}

// slices returns slice for one thread, to be asked for one instruction after the
// other.
func (a *analysis) slices(t emulate.ThreadID) func(c emulate.Count) int {
	var from, to emulate.Count
	seq := 0
	return func(c emulate.Count) int {
		if c < from || c >= to {
			r := a.rank[t]
			seq = a.slice(t, c)
			i := sort.Search(len(r), func(i int) bool { return r[i].from > c })
			from, to = 0, math.MaxUint64
			if i > 0 {
				from = r[i-1].from
			}
			if i < len(r) {
				to = r[i].from
			}
		}
		return seq
	}
}

// before returns a count of thread t that it had reached when thread u executed
// instruction c.
func (a *analysis) before(t, u emulate.ThreadID, c emulate.Count) emulate.Count {
	at := a.slice(u, c)
	r := a.rank[t]
	i := sort.Search(len(r), func(i int) bool { return r[i].seq > at })
	if i == 0 {
		return 0
	}
	if i < len(r) {
		return r[i].from
	}
	return a.pass.Threads[t].Last
}

// pairs returns dynamic pairs of a group, most telling first: of each
// candidate the first one, then a late one, since first times are special, then
// the others.
func (g *group) pairs() []races.Pair {
	var out []races.Pair
	for n := 0; len(out) < maxPairs; n++ {
		any := false
		for _, c := range g.cands {
			if n >= len(c.Samples) || len(out) == maxPairs {
				continue
			}
			k := n
			switch n {
			case 0:
			case 1:
				k = len(c.Samples) - 1
			default:
				k = n - 1
			}
			out = append(out, c.Samples[k])
			any = true
		}
		if !any {
			break
		}
	}
	return out
}

// errPassed is of a section that is over before the access that it is for.
var errPassed = errors.New("what would be executed again ends before the access")

// captureOf gets the section of a place around an access.
func (a *analysis) captureOf(x *races.Access, q *loadsub.Place) (*overlay.Section, error) {
	s, err := a.capture(x.Thread, *q)
	if err == nil && s.Complete && (x.Count < s.Start || x.Count >= s.Stop) {
		return nil, errPassed
	}
	return s, err
}

// quiet says which functions' own stores are no outputs.
func (a *analysis) quiet(target uint64) bool {
	f := a.ms.FuncAt(emulate.Addr(target))
	r, ok := a.ms.Runtime(f)
	return ok && r.Category.Own()
}

// findLoad returns the index of an access among those of a section, or -1.
func findLoad(s *overlay.Section, x *races.Access) int {
	for i := range s.Accesses {
		y := &s.Accesses[i]
		if y.At == x.Count && y.Kind != x86.Write && y.Addr < uint64(x.Addr)+uint64(x.Size) && uint64(x.Addr) < y.Addr+uint64(y.Size) {
			return i
		}
	}
	return -1
}

// race renders a group without a verdict.
func (a *analysis) race(g *group) report.Race {
	p := g.pairs()[0]
	r := report.Race{Predicted: g.predicted(), Location: g.loc, Count: int(g.count), Accesses: [2]report.Access{a.access(&p.First, g.life()), a.access(&p.Second, g.life())}}
	if r.Predicted {
		r.Witness = a.shownBy[g.cands[0]]
	}
	a.identify(&r, a.where(g.cands[0], &g.loc), &p)
	return r
}

// synchronisation is the report of a variable that was recognised.
func (a *analysis) synchronisation(g *group) report.Race {
	r := a.race(g)
	if g.spun != nil {
		r.Experiments = append(r.Experiments, *g.spun)
	}
	a.verdict(&r, classify.Evidence{Spin: true, Predicted: r.Predicted})
	return r
}

// verdict gives a race the verdict that evidence leads to.
func (a *analysis) verdict(r *report.Race, e classify.Evidence) {
	j := classify.Judge(e)
	r.Verdict, r.Confidence, r.Reason, r.Evidence = report.Verdict(j.Verdict), j.Confidence, j.Reason, string(j.Basis)
	if a.o.Judged != nil {
		a.o.Judged(r, e, j)
	}
}

// predicted says whether only a prediction shows a race.
func (g *group) predicted() bool {
	for _, c := range g.cands {
		if c.Reason != races.Predicted {
			return false
		}
	}
	return true
}

// judging is a race with what is known about it so far.
type judging struct {
	r    *report.Race
	ev   classify.Evidence
	open []open // differences to be followed
	swap *swap
	// chosen: the pairs are of moments that may lie far apart, and how the threads
	// went on in the recording says nothing of what they do from there.
	chosen bool

	first *races.Pair // what the report shows

	budget    budget
	invented  map[uint64]bool // loads, by code, that got values nobody had
	half      bool            // one order will do
	parts     bool            // parts of functions are tried first
	loadsLeft int             // further loads of the racing bytes that weren't tried

	known map[orderKey]*loadsub.Orders
}

// An orderKey says what the serial orders of a pair of sections depend on.
type orderKey struct {
	a, b   *overlay.Section
	racy   string
	thread emulate.ThreadID // of the world
	count  emulate.Count
	apart  [2]uint64
}

// orders returns what is known of the serial orders of a pair: it may have been
// asked for with other bounds.
func (j *judging) orders(p *races.Pair, x *loadsub.Pair) *loadsub.Orders {
	key := orderKey{x.A, x.B, fmt.Sprint(x.Racy), p.Second.Thread, p.Second.Count, x.Apart}
	o := j.known[key]
	if o == nil {
		if j.known == nil {
			j.known = map[orderKey]*loadsub.Orders{}
		}
		o = &loadsub.Orders{}
		j.known[key] = o
	}
	return o
}

// leftOut says what the budget left out, one sentence each.
func (j *judging) leftOut(g *group, tried int) []string {
	out := j.budget.leftOut()
	if j.loadsLeft > 0 {
		out = append(out, fmt.Sprintf("further loads of the racing bytes: %d", j.loadsLeft))
	}
	all := 0
	for _, c := range g.cands {
		all += len(c.Samples)
	}
	if all > tried && !j.ev.Freed && j.ev.NotSerialisable == 0 {
		out = append(out, fmt.Sprintf("pairs of accesses: %d", all-tried))
	}
	return out
}

// judge experiments with a race and gives its verdict.
func (a *analysis) judge(g *group) report.Race {
	r := a.race(g)
	a.judged = r.ID
	a.starts = nil
	defer func() { a.judged = "" }()
	j := &judging{r: &r, invented: map[uint64]bool{}}
	ev := &j.ev
	ev.Predicted, ev.Loose = r.Predicted, g.loose
	if g.life() {
		ev.Life = a.ending(g)
		a.verdict(&r, *ev)
		return r
	}
	if g.passed != nil {
		ev.BothPass = true
		r.Experiments = append(r.Experiments, *g.passed)
		a.verdict(&r, *ev)
		return r
	}
	if a.sameTable(g) {
		ev.SameTable = true
		a.verdict(&r, *ev)
		return r
	}
	for _, c := range g.cands {
		if c.Reason == races.FreeRace {
			ev.Freed = true
		}
	}
	experiment := func(ps []races.Pair) {
		for i := 0; i < len(ps) && !ev.Freed && ev.NotSerialisable == 0; i++ {
			a.pair(j, &ps[i])
		}
	}
	pairs := g.pairs()
	j.first = &pairs[0]
	experiment(pairs)
	if !ev.Freed && ev.NotSerialisable == 0 {
		experiment(a.others(&pairs[0]))
	}
	if !ev.Freed && ev.NotSerialisable == 0 && ev.Interleavings > 0 {
		j.chosen = true
		experiment(a.telling(&pairs[0], ev.OrdersDiffer))
	}
	if !ev.Freed && ev.NotSerialisable == 0 {
		a.follow(j)
	}
	ev.Once = ev.OrdersDiffer && a.onceOnly(g, j.first)
	ev.Again = ev.OrdersDiffer && !ev.Once && a.looksAgain(g, j.first)
	if ev.Once && ev.Public == "" && !ev.Freed && ev.NotSerialisable == 0 && ev.OrderFinding == "" {
		a.followOrder(j)
	}
	a.verdict(&r, *ev)
	r.LeftOut = j.leftOut(g, len(pairs))
	return r
}

// pair experiments with one dynamic pair of accesses.
func (a *analysis) pair(j *judging, p *races.Pair) {
	pa, errA := a.placesAround(p.First.Thread, p.First.Count, maxPlaces)
	pb, errB := a.placesAround(p.Second.Thread, p.Second.Count, maxPlaces)
	if errA != nil || errB != nil {
		err := errA
		if err == nil {
			err = errB
		}
		j.ev.SerialFailed = err.Error()
		return
	}
	pa, pb = a.within(&p.First, pa), a.within(&p.Second, pb)
	pa, pb = a.steps(&p.First, pa), a.steps(&p.Second, pb)
	for level := 0; level < max(len(pa), len(pb)); level++ {
		qa, qb := &pa[min(level, len(pa)-1)], &pb[min(level, len(pb)-1)]
		shown := len(j.r.Experiments)
		s := a.attempts(j, p, qa, qb, level == 0)
		if s == nil || s.Err == "" {
			j.r.Experiments = append(j.r.Experiments[:shown], slices.DeleteFunc(j.r.Experiments[shown:], failed)...)
		}
		if s != nil && s.Odd > 0 {
			return
		}
	}
}

// steps leaves out the whole of what a thread executes, where the access is in
// one round of a loop in it: threads that mustn't mix at all wouldn't be any, and
// the rounds are what can be expected to be one step.
func (a *analysis) steps(x *races.Access, ps []loadsub.Place) []loadsub.Place {
	if len(ps) < 2 || !ps[0].Loop {
		return ps
	}
	_, calls, err := a.pass.Seek(x.Thread, x.Count)
	if err != nil {
		return ps
	}
	for i := 1; i < len(ps); i++ {
		if ps[i].Loop || ps[i].Part {
			continue
		}
		body := true
		for level := ps[i].Depth + 1; level < calls.Depth() && body; level++ {
			f := a.ms.FuncAt(calls.Level(level).Entry)
			body = f == nil || f.Runtime || f.Library
		}
		if body {
			return ps[:i]
		}
	}
	return ps
}

// failed reports whether an experiment is an attempt to execute two sections
// that came to nothing.
func failed(x report.Experiment) bool { return x.Source == "interleaving" && x.Outcome == "unknown" }

// attempts experiments with the sections of two places, or if these can't be
// executed in other orders with others around the same accesses.
func (a *analysis) attempts(j *judging, p *races.Pair, qa, qb *loadsub.Place, innermost bool) *loadsub.Serial {
	if innermost && j.parts {
		if ra, rb, ok := a.stretches(p, qa, qb, false); ok {
			if s := a.places(j, p, ra, rb, false); s != nil && s.Err == "" {
				return s
			}
		}
	}
	s := a.places(j, p, qa, qb, innermost)
	if s != nil && s.Err != "" && (qa.Whole != nil || qb.Whole != nil) {
		// An iteration may end with a lock held that the other needs, or
		// need one that the iteration before took.
		s = a.places(j, p, orWhole(qa), orWhole(qb), false)
	}
	if innermost && (s == nil && a.ms.IsGo() || s != nil && s.Err != "") {
		// A call may wait for what no section does; a goroutine, for others.
		if ra, rb, ok := a.stretches(p, qa, qb, s == nil); ok {
			if t := a.places(j, p, ra, rb, false); t != nil && t.Err == "" {
				j.parts = true
				return t
			}
		}
	}
	if s != nil && s.Err != "" {
		j.half = true
		if t := a.places(j, p, qa, qb, false); t != nil && t.Err == "" {
			s = t
		}
		j.half = false
	}
	return s
}

// stretches returns parts of the places of two accesses, of those that happen
// without a lock: a part may begin with one taken before. loops says whether
// parts of loops will do, too.
func (a *analysis) stretches(p *races.Pair, qa, qb *loadsub.Place, loops bool) (ra, rb *loadsub.Place, any bool) {
	try := func(x *races.Access, q *loadsub.Place) *loadsub.Place {
		if x.Locks != 0 || q.Loop && !loops {
			return q
		}
		r, err := loadsub.Stretch(a.pass, x.Thread, x.Count, q)
		if err != nil || r == nil {
			return q
		}
		any = true
		return r
	}
	ra, rb = try(&p.First, qa), try(&p.Second, qb)
	return ra, rb, any
}

func orWhole(q *loadsub.Place) *loadsub.Place {
	if q.Whole != nil {
		return q.Whole
	}
	return q
}

// places experiments with the sections of two places; nil if one can't be
// captured.
func (a *analysis) places(j *judging, p *races.Pair, qa, qb *loadsub.Place, trials bool) *loadsub.Serial {
	sa, errA := a.captureOf(&p.First, qa)
	sb, errB := a.captureOf(&p.Second, qb)
	if errA != nil || errB != nil {
		why := errors.Join(errA, errB)
		switch {
		case errA == nil:
			why = errB
		case errB == nil || errA.Error() == errB.Error():
			why = errA
		}
		j.ev.SerialFailed = "a section could not be captured: " + strings.ReplaceAll(why.Error(), "\n", "; ")
		return nil
	}
	a.around(sa, &p.First)
	a.around(sb, &p.Second)
	apart, err := a.apart(p, sa, sb)
	if err != nil {
		s := &loadsub.Serial{Err: err.Error()}
		a.serial(j, s, qa, qb)
		return s
	}
	j.moves(p, sa, sb)
	if trials {
		a.trials(j, sa, &p.First, &p.Second, qa)
		a.trials(j, sb, &p.Second, &p.First, qb)
	}
	pair := loadsub.Pair{A: sa, B: sb, Racy: append(racy(p), a.open...), Order: a.order, World: a.world(p.Second.Thread, p.Second.Count), Both: !j.half, MaxRuns: a.o.MaxRuns, Apart: apart}
	if len(a.open) > 0 {
		pair.MaxRuns = max(pair.MaxRuns, openRuns) // both have to be stopped, once at the lock and once at what it doesn't protect
	}
	pair.Orders = j.orders(p, &pair)
	s := loadsub.Serialise(pair)
	if s.Odd > 0 && !j.chosen {
		j.ev.Healed, j.ev.Unread = a.healed(pair, s, qa, qb)
	}
	a.serial(j, s, qa, qb)
	if s.Err == "" && len(s.Between) > 0 {
		later := sb
		if a.order(sb.Thread, sb.Stop-1, sa.Thread, sa.Stop-1) {
			later = sa
		}
		j.swap = &swap{later, s}
	}
	if s.Err == "" {
		a.savePair(&j.r.Experiments[len(j.r.Experiments)-1], pair, s)
	}
	return s
}

// racy returns the bytes that a pair of accesses conflicts on.
func racy(p *races.Pair) []overlay.Span {
	lo := max(p.First.Addr, p.Second.Addr)
	hi := min(p.First.Addr+emulate.Addr(p.First.Size), p.Second.Addr+emulate.Addr(p.Second.Size))
	if lo >= hi { // different mappings of one memory
		return []overlay.Span{{Addr: uint64(p.First.Addr), N: uint64(p.First.Size)}, {Addr: uint64(p.Second.Addr), N: uint64(p.Second.Size)}}
	}
	return []overlay.Span{{Addr: uint64(lo), N: uint64(hi - lo)}}
}

// serial adds what the interleavings showed to report and evidence.
func (a *analysis) serial(j *judging, s *loadsub.Serial, qa, qb *loadsub.Place) {
	r, ev := j.r, &j.ev
	if s.Err != "" {
		if ev.Interleavings == 0 {
			ev.SerialFailed = s.Err
		}
		x := report.Experiment{Function: qa.String() + " against " + qb.String(), Mode: "simulate", Source: "interleaving",
			Outcome: "unknown", Outputs: []report.Output{}, Detail: s.Err}
		for i := range r.Experiments {
			if y := &r.Experiments[i]; failed(*y) && y.Function == x.Function {
				return
			}
		}
		r.Experiments = append(r.Experiments, x)
		return
	}
	ev.Pairs++
	ev.Interleavings += s.Runs
	ev.Failed += s.Failed
	ev.Skipped += s.Skipped
	ev.NotSerialisable += s.Odd
	ev.OrdersDiffer = ev.OrdersDiffer || s.OrdersDiffer
	ev.Guarded = ev.Guarded || s.Waits
	if o := s.Public; o != nil && ev.Public == "" {
		ev.Public = fmt.Sprintf("%s is %s or %s", o.Name, o.Want, o.Got)
	}
	ev.RecordedOdd = ev.RecordedOdd || s.RecordedOdd
	x := report.Experiment{Function: qa.String() + " against " + qb.String(), Mode: "simulate", Source: "interleaving", Outcome: "same"}
	if s.OrdersDiffer {
		x.Outcome = "different"
		x.Detail = fmt.Sprintf("%d interleavings, each like one of the two serial orders, which differ", s.Runs)
		if o := s.Public; o != nil {
			x.Outputs = append(x.Outputs, report.Output{Name: o.Name, Recorded: o.Want, Reemulated: o.Got})
		}
	} else {
		x.Detail = fmt.Sprintf("%d interleavings and both serial orders end alike", s.Runs)
	}
	if s.Unreached {
		x.Detail = "in neither order does a section come to the racing access: that it did follows from another race"
	}
	if s.RecordedOdd && s.Odd == 0 {
		ev.NotSerialWhat = s.What
		x.Outcome = "not-serialisable"
		x.Detail = join([]string{"what was recorded is like neither order", x.Detail})
	}
	if s.Odd > 0 {
		ev.NotSerialWhat = s.What
		x.Outcome = "not-serialisable"
		x.Detail = fmt.Sprintf("%d of %d interleavings; %v", s.Odd, s.Runs, *s.FirstOdd)
		x.Schedule = turns(s.FirstOdd)
		if s.RecordedOdd {
			x.Detail = "as recorded; " + x.Detail
		}
	}
	for _, o := range s.Outputs {
		x.Outputs = append(x.Outputs, report.Output{Name: o.Name, Recorded: o.Want, Reemulated: o.Got})
	}
	for _, c := range s.Changes {
		x.Checkers = append(x.Checkers, c.String())
		switch {
		case c.Order && c.Weight == loadsub.Decides && ev.OrderFinding == "":
			ev.OrderFinding = c.Sentence()
		case c.Order && c.Weight == loadsub.Tips && ev.OrderHint == "":
			ev.OrderHint = c.Sentence()
		case c.Order || c.Weight != loadsub.Decides:
		case strings.Contains(s.What, bare(c.What)):
			ev.NotSerialWhat = strings.TrimSuffix(s.What, " ("+c.Checker+")") + " (" + c.Checker + ")"
		case ev.Appeared == "":
			ev.Appeared = c.Sentence()
		}
		changed(r, c)
	}
	if s.Failed > 0 {
		x.Detail += fmt.Sprintf("; %d could not be executed to a comparable end", s.Failed)
	}
	if s.Skipped > 0 {
		x.Detail += fmt.Sprintf("; the budget left out %d", s.Skipped)
	}
	r.Experiments = append(r.Experiments, x)
}

// bare is what a finding says after "thread n".
func bare(what string) string {
	if p := strings.SplitN(what, " ", 3); len(p) == 3 && p[0] == "thread" {
		return p[2]
	}
	return what
}

// changed notes in the report of a race that a checker changed its mind.
func changed(r *report.Race, c loadsub.Change) {
	for i := range r.Checkers {
		if x := &r.Checkers[i]; x.Change == c.String() {
			x.Runs += c.Runs
			return
		}
	}
	r.Checkers = append(r.Checkers, report.CheckerChange{Change: c.String(), What: c.What, Runs: c.Runs})
}

// turns lists who runs until where in an interleaving.
func turns(s *loadsub.Schedule) []report.Turn {
	const end = "to its end"
	out := []report.Turn{{Side: s.First, Until: s.At.String()}}
	if s.Then.N == 0 {
		return append(out, report.Turn{Side: 1 - s.First, Until: end}, report.Turn{Side: s.First, Until: end})
	}
	return append(out, report.Turn{Side: 1 - s.First, Until: s.Then.String()}, report.Turn{Side: s.First, Until: end}, report.Turn{Side: 1 - s.First, Until: end})
}
