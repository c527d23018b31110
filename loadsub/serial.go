package loadsub

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
)

// Order reports whether instruction ca of thread ta was executed before
// instruction cb of thread tb in the recording.
type Order func(ta emulate.ThreadID, ca emulate.Count, tb emulate.ThreadID, cb emulate.Count) bool

// A Pair is two racing sections of different threads.
type Pair struct {
	A, B  *overlay.Section
	Racy  []overlay.Span // the bytes that race
	Order Order
	World World
	// Both asks for both orders: one in which a section never ends, since it
	// waits for what no section does, leaves half of what interleavings are
	// compared with.
	Both bool
	// MaxRuns bounds the interleavings executed; 0 means 48.
	MaxRuns int
	// Apart says below which address each side has the stack for itself, since
	// one thread executed both; 0: nowhere. See overlay.Run.Apart.
	Apart [2]uint64
	// Orders, if it isn't nil, keeps the serial orders for another Pair with the
	// same sections, Racy, Order, World and Apart.
	Orders *Orders
}

// A Serial says how the interleavings of a Pair compare with its serial orders.
type Serial struct {
	Runs         int // interleavings executed to a comparable end
	Odd          int // of these, ended like neither serial order
	Failed       int // interleavings without a comparable end
	Skipped      int // interleavings that the budget left out
	OrdersDiffer bool
	// Public is something that the world sees and that the order of the two
	// decides; nil: nothing.
	Public      *Output
	RecordedOdd bool // what was recorded is like neither serial order
	What        string
	FirstOdd    *Schedule
	Outputs     []Output // of the first odd interleaving, against the nearer serial order
	// Changes are the checkers that find something in an interleaving, or in one
	// of the orders only, that they don't find in the other orders.
	Changes []Change
	// Unreached: in neither order does a section come to a racing access. That
	// it did in the recording follows from another race.
	Unreached bool
	// Err says why there is no comparison at all.
	Err string
	// Waits: a section waited for the other in a serial order.
	Waits bool

	// Between is in what the two orders differ, up to a bound, if both could be
	// executed, and Swapped the result of the one in which B comes first.
	Between []Output
	Swapped *overlay.Result

	pre  *overlay.Memory // what the orders began with
	odds []oddly         // the first interleavings of Odd
	racy []overlay.Span  // what they stop at
}

// Save executes again what shows most, and writes it to l: the first
// interleaving that ends like neither order, else the order in which B comes
// before A. what says which.
func (p Pair) Save(s *Serial, l *overlay.Log) (what string) {
	if s.racy != nil {
		p.Racy = s.racy
	}
	r := p.start(s.pre)
	r.Save(l)
	if s.FirstOdd == nil {
		r.Go(1)
		r.Go(0)
		r.Settle(1)
		return "B before A"
	}
	p.follow(r, *s.FirstOdd)
	return s.FirstOdd.String()
}

// A Schedule is an interleaving of two sections: First runs up to a racing
// access, then the other runs (to its end, or up to one of its own), then First
// goes on, then the other.
type Schedule struct {
	First int // 0: A, 1: B
	At    Point
	Then  Point // the zero Point: to the end
}

// A Point is just before or just after the N-th racing access of a section,
// counted from 1.
type Point struct {
	N     int
	After bool
}

func (p Point) String() string {
	if p.After {
		return fmt.Sprintf("after its racing access %d", p.N)
	}
	return fmt.Sprintf("before its racing access %d", p.N)
}

func (s Schedule) String() string {
	n := [2]string{"A", "B"}
	if s.Then.N == 0 {
		return fmt.Sprintf("%s stops %v, %s runs", n[s.First], s.At, n[1-s.First])
	}
	return fmt.Sprintf("%s stops %v, %s %v", n[s.First], s.At, n[1-s.First], s.Then)
}

// An Output is one output that differs between two executions.
type Output struct {
	Name string
	Addr uint64 // 0: not in memory
	Size int    // bytes, in memory
	Want string // in the execution compared with
	Got  string
	// Public: the world outside of the program sees it.
	Public bool
}

// Serialise executes the pair in both orders and in interleavings.
func Serialise(p Pair) *Serial {
	s := &Serial{}
	if !p.A.Complete || !p.B.Complete {
		s.Err = "a section is too long to be executed in other orders"
		return s
	}
	orders := p.Orders
	if orders == nil {
		orders = &Orders{}
	}
	var pre *overlay.Memory
	var ab, ba *overlay.Result
	var hits [2]int
	okAB, okBA := false, false
	for i, state := range orders.pre(p) {
		x, y := orders.serial(p, i, 0), orders.serial(p, i, 1)
		okX, okY := comparable(x.result), comparable(y.result)
		if i == 0 || okX || okY {
			pre, ab, ba, okAB, okBA = state, x.result, y.result, okX, okY
			hits = [2]int{x.hits, y.hits}
		}
		if okAB || okBA {
			break
		}
	}
	s.pre = pre
	if !okAB && !okBA {
		s.Err = "neither order can be re-emulated: " + failure(ab)
		if f := failure(ba); f != failure(ab) {
			s.Err += "; " + f
		}
		return s
	}
	for i, r := range []*overlay.Result{ab, ba} {
		for k, e := range r.Ends {
			if e.Worked && [2]bool{okAB, okBA}[i] {
				// How often it goes round before the other comes is anybody's guess:
				// no order of the whole sections says what is right.
				s.Err = fmt.Sprintf("thread %d goes on and on until the other one has moved: only single rounds of it can be compared", []*overlay.Section{p.A, p.B}[k].Thread)
				return s
			}
		}
	}
	if p.Both && okAB != okBA {
		for _, r := range []*overlay.Result{ab, ba} {
			for _, e := range r.Ends {
				if e.Outcome == overlay.Hung {
					s.Err = "only one order can be re-emulated: " + failure(r)
					return s
				}
			}
		}
	}
	var ref []*overlay.Result
	if okAB {
		ref = append(ref, ab)
	}
	if okBA {
		ref = append(ref, ba)
	}
	between := p.diff(ab, ba, maxPublic)
	s.OrdersDiffer = okAB != okBA || len(between) > 0
	if okAB && okBA {
		s.Public, s.Between, s.Swapped = Public(between), between, ba
	}
	for _, r := range []*overlay.Result{ab, ba} {
		for _, e := range r.Ends {
			s.Waits = s.Waits || e.Waited || e.Outcome == overlay.Spun
		}
	}
	if odd := p.recordedOdd(ref); odd != nil {
		s.RecordedOdd, s.Outputs, s.What = true, odd, sentence(odd)
	}
	secs := []*overlay.Section{p.A, p.B}
	inAB, inBA := p.World.found(secs, ab), p.World.found(secs, ba)
	// What both orders read anyway is nothing that their order decides.
	switch a, b := len(ab.Unwritten()) > 0, len(ba.Unwritten()) > 0; {
	case a && !b:
		inAB = append(inAB, p.unwritten(ab, func(r *overlay.Run) bool { p.one(r, 0); return true }, pre)...)
	case b && !a:
		inBA = append(inBA, p.unwritten(ba, func(r *overlay.Run) bool { p.one(r, 1); return true }, pre)...)
	}
	s.Changes = p.between(ab, ba, okAB, okBA, inAB, inBA)
	var had [][]Finding
	if okAB {
		had = append(had, inAB)
	}
	if okBA {
		had = append(had, inBA)
	}
	p.tries(s, pre, ref, had, hits)
	if s.Odd == 0 {
		// What they come to share only in another order than the recorded one
		// is raced for as well.
		if more := p.reached(ab, ba); len(more) > 0 {
			p.Racy = append(append([]overlay.Span(nil), p.Racy...), more...)
			p.tries(s, pre, ref, had, [2]int{p.hits(pre, 0), p.hits(pre, 1)})
		}
	}
	return s
}

// maxPublic bounds the differences among which one is looked for that the world
// sees.
const maxPublic = 64

// Public returns the first output that the world outside of the program sees,
// nil if there is none.
func Public(os []Output) *Output {
	for i := range os {
		if os[i].Public {
			return &os[i]
		}
	}
	return nil
}

// tries executes interleavings and compares them with the serial orders, in
// which the checkers find had. hits are the racing accesses of each section when
// it runs first.
func (p Pair) tries(s *Serial, pre *overlay.Memory, ref []*overlay.Result, had [][]Finding, hits [2]int) {
	s.racy = p.Racy
	polls := &polling{p: p, pre: pre}
	s.Unreached = hits == [2]int{}
	looks := 0
	for _, q := range ref {
		if len(q.Unwritten()) > 0 {
			looks = maxUnwritten
		}
	}
	for _, sch := range schedules(hits, p.maxRuns(), &s.Skipped) {
		run := p.start(pre)
		if !p.follow(run, sch) {
			continue
		}
		r := run.Result()
		// What a checker has found is true however it goes on.
		got := p.World.found([]*overlay.Section{p.A, p.B}, r)
		if looks < maxUnwritten && len(r.Unwritten()) > 0 {
			looks++
			got = append(got, p.unwritten(r, func(x *overlay.Run) bool { return p.follow(x, sch) }, pre)...)
		}
		new := changes(got, false, had...)
		wrong := decisive(new)
		ends := judgeable(r, ref)
		if !ends && wrong == nil {
			s.Failed++
			continue
		}
		s.Runs++
		var least []Output
		odd := ends
		for i := 0; i < len(ref) && ends; i++ {
			d := p.diff(ref[i], r, 8)
			if len(d) == 0 {
				odd = false
				break
			}
			if least == nil || len(d) < len(least) {
				least = d
			}
		}
		s.change(new)
		if wrong != nil && !odd {
			least = []Output{{Name: wrong.Checker, Want: "nothing", Got: wrong.What}}
		}
		if wrong != nil || odd && !p.retried(pre, r) && !p.published(r) && !polls.like(r) {
			s.Odd++
			if len(s.odds) < maxOdd {
				s.odds = append(s.odds, oddly{sch, [2]int{run.Hits(0), run.Hits(1)}})
			}
			if s.FirstOdd == nil {
				s.FirstOdd = &sch
				if !s.RecordedOdd {
					s.Outputs, s.What = least, sentence(least)
					if !odd {
						s.What = wrong.Sentence()
					}
				}
			}
		}
	}
}

// maxReached bounds the places that interleavings pre-empt at because another
// order leads there.
const maxReached = 16

// reached lists bytes that the sections share in one of the serial orders and
// didn't in the recording.
func (p Pair) reached(orders ...*overlay.Result) []overlay.Span {
	recorded := [2]map[uint64]bool{{}, {}}
	for side, sec := range []*overlay.Section{p.A, p.B} {
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			for k := uint64(0); k < uint64(a.Size); k++ {
				recorded[side][p.canon(side, a.Addr+k)] = true
			}
		}
	}
	var out []overlay.Span
	for _, r := range orders {
		for _, sp := range r.Shared() {
			for a := sp.Addr; a < sp.Addr+sp.N && len(out) < maxReached; a++ {
				if recorded[0][a] && recorded[1][a] {
					continue
				}
				if k := len(out) - 1; k >= 0 && out[k].Addr+out[k].N == a {
					out[k].N++
				} else {
					out = append(out, overlay.Span{Addr: a, N: 1})
				}
			}
		}
	}
	return out
}

func (p Pair) maxRuns() int {
	if p.MaxRuns > 0 {
		return p.MaxRuns
	}
	return 48
}

// schedules lists interleavings, those with one pre-emption first: at the first
// and last racing accesses, then inwards.
func schedules(hits [2]int, limit int, skipped *int) []Schedule {
	points := [2][]Point{ends(hits[0]), ends(hits[1])}
	var out []Schedule
	// Alternate the two sides, so that a small budget sees both.
	for i := 0; i < max(len(points[0]), len(points[1])); i++ {
		for side := range points {
			if i < len(points[side]) {
				out = append(out, Schedule{First: side, At: points[side][i]})
			}
		}
	}
	for _, p := range points[0] {
		for _, q := range points[1] {
			if len(out) > 8*limit {
				break
			}
			out = append(out, Schedule{First: 0, At: p, Then: q}, Schedule{First: 1, At: q, Then: p})
		}
	}
	if len(out) > limit {
		*skipped = len(out) - limit
		out = out[:limit]
	}
	return out
}

// ends lists the points around the accesses 1 to n, from both ends inwards.
func ends(n int) []Point {
	var out []Point
	for i, j := 1, n; i <= j; i, j = i+1, j-1 {
		out = append(out, Point{i, false}, Point{i, true})
		if i != j {
			out = append(out, Point{j, false}, Point{j, true})
		}
	}
	return out
}

func (p Pair) start(pre *overlay.Memory) *overlay.Run { return p.startOf(pre, p.A, p.B) }

func (p Pair) startOf(pre *overlay.Memory, secs ...*overlay.Section) *overlay.Run {
	r := overlay.New(secs...)
	p.World.apply(r)
	for i, s := range secs {
		switch s {
		case p.A:
			r.Apart(i, p.Apart[0])
		case p.B:
			r.Apart(i, p.Apart[1])
		}
	}
	r.SetAll(pre)
	p.World.streams(r)
	r.Racy(p.Racy...)
	r.Track(p.Racy...)
	return r
}

// canon is World.canon for what one side accesses.
func (p Pair) canon(side int, addr uint64) uint64 {
	if a := overlay.ApartAddr(side, p.Apart[side], addr); a != addr {
		return a
	}
	return p.World.canon(addr)
}

// one executes r in a serial order.
func (p Pair) one(r *overlay.Run, first int) {
	r.Go(first)
	r.Go(1 - first)
	r.Settle(first)
}

// maxHits bounds the racing accesses of a section that interleavings stop at.
const maxHits = 64

// hits counts the racing accesses of one section when it runs first.
func (p Pair) hits(pre *overlay.Memory, part int) int {
	r := p.start(pre)
	r.Go(part)
	return min(r.Hits(part), maxHits)
}

// interleave runs one schedule; nil if it can't be followed.
func (p Pair) interleave(pre *overlay.Memory, s Schedule) *overlay.Result {
	r := p.start(pre)
	if !p.follow(r, s) {
		return nil
	}
	return r.Result()
}

// follow executes r by a schedule; false if it can't be followed.
func (p Pair) follow(r *overlay.Run, s Schedule) bool {
	if !reach(r, s.First, s.At) {
		return false
	}
	if s.Then.N > 0 {
		if !reach(r, 1-s.First, s.Then) {
			return false
		}
	} else {
		r.Go(1 - s.First)
	}
	r.Settle(s.First)
	return true
}

func reach(r *overlay.Run, part int, p Point) bool {
	if p.After {
		return r.GoAfter(part, p.N)
	}
	return r.GoBefore(part, p.N)
}

// comparable reports whether both participants came to their ends.
func comparable(r *overlay.Result) bool {
	for _, e := range r.Ends {
		if e.Outcome != overlay.Done {
			return false
		}
	}
	return true
}

// judgeable is comparable, or fails in a way that is itself a result: a crash,
// a deadlock, a loop without end. A system call that wasn't recorded is one only where all serial orders make another.
func judgeable(r *overlay.Result, refs []*overlay.Result) bool {
	for i, e := range r.Ends {
		switch e.Outcome {
		case overlay.Done, overlay.Crashed:
		case overlay.Hung:
			// The other one may have ended with a lock held that it gives back
			// later.
			for k := range r.Ends {
				if e.Stuck && k != i && r.Ends[k].Outcome == overlay.Done {
					return false
				}
			}
		case overlay.Changed:
			k := len(e.Calls) - 1
			for _, q := range refs {
				if c := q.Ends[i].Calls; k >= len(c) || callText(c, k) == callText(e.Calls, k) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

func failure(r *overlay.Result) string {
	for _, e := range r.Ends {
		if e.Outcome != overlay.Done {
			return e.Outcome.String() + ", " + e.Detail
		}
	}
	return ""
}

func sentence(d []Output) string {
	if len(d) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is %s instead of %s", d[0].Name, d[0].Got, d[0].Want)
}
