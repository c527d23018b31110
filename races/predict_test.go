package races

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"pgregory.net/rapid"
)

// A predScript feeds a Predictor.
type predScript struct {
	*Predictor
	pc uint64
}

func (s *predScript) access(th emulate.ThreadID, k Kind, a emulate.Addr) {
	s.pc++
	s.Feed(&Event{Op: OpAccess, Kind: k, Thread: th, Addr: a, N: 4, PC: s.pc, Count: emulate.Count(s.pc)})
}
func (s *predScript) r(th emulate.ThreadID, a emulate.Addr) { s.access(th, Read, a) }
func (s *predScript) w(th emulate.ThreadID, a emulate.Addr) { s.access(th, Write, a) }
func (s *predScript) blind(th emulate.ThreadID, a emulate.Addr) {
	s.Feed(&Event{Op: OpAccess, Kind: Update, Blind: true, Thread: th, Addr: a, N: 4, PC: uint64(th)})
}
func (s *predScript) acq(th emulate.ThreadID, l emulate.Addr) {
	s.Feed(&Event{Op: OpLock, Thread: th, Addr: l})
}
func (s *predScript) rel(th emulate.ThreadID, l emulate.Addr) {
	s.Feed(&Event{Op: OpUnlock, Thread: th, Addr: l})
}
func (s *predScript) start(ids ...emulate.ThreadID) {
	for _, id := range ids {
		s.Feed(&Event{Op: OpThreadStart, Thread: id, Value: 1})
	}
}

var predictions = []struct {
	name string
	run  func(s *predScript)
	want []string
}{
	{"race_hidden_by_a_critical_section_in_between", func(s *predScript) {
		s.w(2, X)
		s.acq(2, lockA)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.rel(3, lockA)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_a_value_is_handed_over", func(s *predScript) {
		s.w(2, X)
		s.acq(2, lockA)
		s.w(2, Y)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.r(3, Y)
		s.rel(3, lockA)
		s.w(3, X)
	}, nil},
	{"race_the_critical_sections_share_nothing_that_is_read", func(s *predScript) {
		s.w(2, X)
		s.acq(2, lockA)
		s.w(2, Y)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.w(3, Y)
		s.r(3, Y)
		s.rel(3, lockA)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_common_lock", func(s *predScript) {
		s.acq(2, lockA)
		s.w(2, X)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.w(3, X)
		s.rel(3, lockA)
	}, nil},
	{"race_critical_sections_swapped", func(s *predScript) {
		// Not a sync-preserving one: 3 comes first.
		s.acq(2, lockA)
		s.w(2, X)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.rel(3, lockA)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_swapped_it_would_read_something_else", func(s *predScript) {
		s.acq(2, lockA)
		s.r(2, Y)
		s.w(2, X)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.w(3, Y)
		s.rel(3, lockA)
		s.w(3, X)
	}, nil},
	{"norace_swapped_it_would_wait_for_another_lock", func(s *predScript) {
		s.acq(2, lockA)
		s.acq(2, lockB)
		s.rel(2, lockB)
		s.w(2, X)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.rel(3, lockA)
		s.acq(3, lockB)
		s.w(3, X)
		s.rel(3, lockB)
	}, nil},
	{"race_increments_take_place_whoever_came_first", func(s *predScript) {
		s.acq(2, lockA)
		s.blind(2, X)
		s.rel(2, lockA)
		s.acq(3, lockA)
		s.blind(3, X)
		s.rel(3, lockA)
		s.w(3, F)
		s.r(4, F)
		s.w(4, X)
	}, []string{"2 update - 4 write @ 1000", "3 write - 4 read @ 1030"}},
	{"norace_who_looks_at_a_counter_depends_on_all_who_counted", func(s *predScript) {
		s.w(2, X)
		s.blind(2, Y)
		s.blind(4, Y)
		s.r(3, Y)
		s.w(3, X)
	}, []string{"2 update - 3 read @ 1010", "2 update - 4 update @ 1010", "4 update - 3 read @ 1010"}},
	{"race_after_the_earlier_section_is_complete", func(s *predScript) {
		s.acq(2, lockA)
		s.rel(2, lockA)
		s.w(2, X)
		s.acq(2, lockB)
		s.rel(2, lockB)
		s.acq(3, lockB)
		s.rel(3, lockB)
		s.acq(3, lockA)
		s.w(3, X)
		s.rel(3, lockA)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_through_a_third_thread", func(s *predScript) {
		s.w(2, X)
		s.w(2, Y)
		s.r(4, Y)
		s.w(4, F)
		s.r(3, F)
		s.w(3, X)
	}, []string{"2 write - 4 read @ 1010", "4 write - 3 read @ 1030"}},
	{"norace_create_and_join", func(s *predScript) {
		s.w(1, X)
		s.start(5)
		s.w(5, X)
		s.Feed(&Event{Op: OpThreadExit, Thread: 5})
		s.Feed(&Event{Op: OpJoin, Thread: 1, Value: 5})
		s.w(1, X)
	}, nil},
	{"norace_message", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpRelease, Thread: 2, Object: ObjChannel, Value: 1})
		s.Feed(&Event{Op: OpAcquire, Thread: 3, Object: ObjChannel, Value: 1})
		s.w(3, X)
	}, nil},
	{"norace_atomic_hand_over", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: 2, Addr: M, N: 4})
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: 3, Addr: M, N: 4})
		s.w(3, X)
	}, nil},
	{"race_the_lock_s_own_atomics_are_ignored", func(s *predScript) {
		section := func(th emulate.ThreadID) {
			s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: th, Addr: lockC, N: 4})
			s.acq(th, lockC)
			s.rel(th, lockC)
			s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Atomic, Thread: th, Addr: lockC, N: 4})
		}
		s.w(2, X)
		section(2)
		section(3)
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_memory_is_handed_out_again", func(s *predScript) {
		s.w(2, heap)
		s.Feed(&Event{Op: OpAlloc, Thread: 3, Addr: heap, N: 32})
		s.w(3, heap)
	}, nil},
	{"norace_reads", func(s *predScript) {
		s.r(2, X)
		s.r(3, X)
	}, nil},
	{"norace_a_function_that_synchronises_reads_what_another_left", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Internal, Scope: ScopeUser, Thread: 2, Addr: Y, N: 4})
		s.Feed(&Event{Op: OpAccess, Kind: Read, Flags: Internal, Scope: ScopeUser, Thread: 3, Addr: Y, N: 4})
		s.w(3, X)
	}, nil},
	{"race_functions_of_a_lock_order_nothing", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Internal | Atomic | OfLock, Scope: ScopeUser, Thread: 2, Addr: lockA, N: 4})
		s.Feed(&Event{Op: OpRelease, Object: ObjFutex, Flags: OfLock, Scope: ScopeUser, Thread: 2, Value: uint64(lockA)})
		s.Feed(&Event{Op: OpAcquire, Object: ObjFutex, Flags: OfLock, Scope: ScopeUser, Thread: 3, Value: uint64(lockA)})
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Internal | Atomic | OfLock, Scope: ScopeUser, Thread: 3, Addr: lockA, N: 4})
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"race_the_inside_of_the_run_time_orders_nothing", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Internal, Thread: 2, Addr: Y, N: 4})
		s.Feed(&Event{Op: OpAccess, Kind: Update, Flags: Internal, Thread: 3, Addr: Y, N: 4})
		s.w(3, X)
	}, []string{"2 write - 3 write @ 1000"}},
	{"norace_join_finds_the_word_cleared", func(s *predScript) {
		s.w(2, X)
		s.Feed(&Event{Op: OpThreadExit, Thread: 2, Addr: Y})
		s.Feed(&Event{Op: OpAccess, Kind: Read, Flags: Internal, Thread: 3, Addr: Y, N: 4})
		s.w(3, X)
	}, nil},
}

func TestPredictorGivesUpOnManyThreads(t *testing.T) {
	s := &predScript{Predictor: NewPredictor(PredictConfig{MaxThreads: 3})}
	s.start(2, 3)
	if s.Full() {
		t.Errorf("full with 3 threads")
	}
	s.start(4)
	s.w(2, X)
	s.w(4, X)
	if !s.Full() || len(s.Candidates()) > 0 {
		t.Errorf("full: %v, %d candidates", s.Full(), len(s.Candidates()))
	}
}

func TestPredictions(t *testing.T) {
	for _, c := range predictions {
		t.Run(c.name, func(t *testing.T) {
			s := &predScript{Predictor: NewPredictor(PredictConfig{Locks: []SyncVar{{Addr: lockC, Size: 40}}})}
			s.start(2, 3, 4)
			c.run(s)
			var got []string
			for _, k := range s.Candidates() {
				got = append(got, fmt.Sprintf("%d %v - %d %v @ %x", k.First.Thread, k.First.Kind, k.Second.Thread, k.Second.Kind, uint64(k.Addr)))
			}
			sort.Strings(got)
			sort.Strings(c.want)
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("predicted %q, want %q", got, c.want)
			}
		})
	}
}

func TestPredictorForgetsOldSections(t *testing.T) {
	s := &predScript{Predictor: NewPredictor(PredictConfig{Window: 4})}
	s.start(2, 3)
	s.acq(2, lockA)
	s.rel(2, lockA)
	s.w(2, X)
	for i := 0; i < 100; i++ {
		s.acq(2, lockA)
		s.rel(2, lockA)
	}
	s.acq(3, lockA)
	s.rel(3, lockA)
	s.w(3, X)
	if n := len(s.Candidates()); n != 0 {
		t.Errorf("%d candidates from sections that aren't known any more", n)
	}
	if n := len(s.locks[lockA].threads[1].list); n > 8 {
		t.Errorf("%d sections kept, window 4", n)
	}
}

// predReference computes sync-preserving races from the definition, with sets
// of events.
type predReference struct {
	events []Event
	needs  [][]int     // what each event depends on directly
	rel    map[int]int // release of an acquire
}

func newPredReference(events []Event) *predReference {
	r := &predReference{events: events, rel: map[int]int{}}
	last := map[emulate.ThreadID]int{}
	writer := map[uint64]int{}
	deps := map[int][]int{} // of what blind updates leave behind
	posts := map[uint64][]int{}
	open := map[emulate.Addr]int{}
	for i, e := range events {
		var n []int
		if l, ok := last[e.Thread]; ok {
			n = append(n, l)
		}
		switch e.Op {
		case OpThreadStart, OpJoin:
			if l, ok := last[emulate.ThreadID(e.Value)]; ok && e.Value != 0 {
				n = append(n, l)
			}
		case OpRelease:
			posts[e.Value] = append(posts[e.Value], i)
		case OpAcquire:
			n = append(n, posts[e.Value]...)
		case OpLock:
			open[e.Addr] = i
		case OpUnlock:
			r.rel[open[e.Addr]] = i
		case OpAccess:
			for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
				if w, ok := writer[a]; ok && e.Kind != Write {
					l := append([]int{w}, deps[w]...)
					if e.Blind {
						deps[i] = append(deps[i], l...)
					} else {
						n = append(n, l...)
					}
				}
			}
			for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
				if e.Kind != Read {
					writer[a] = i
				}
			}
		}
		last[e.Thread] = i
		r.needs = append(r.needs, n)
	}
	return r
}

// prev returns the event before i in its thread, -1 if there is none.
func (r *predReference) prev(i int) int {
	for j := i - 1; j >= 0; j-- {
		if r.events[j].Thread == r.events[i].Thread {
			return j
		}
	}
	return -1
}

func (r *predReference) races(i, j int) bool {
	in := r.closure(i, j)
	return !in[i] && !in[j]
}

// closure returns what must come before i and j if critical sections keep their
// order.
func (r *predReference) closure(i, j int) map[int]bool {
	in := map[int]bool{}
	var include func(k int)
	include = func(k int) {
		if k >= 0 && !in[k] {
			in[k] = true
			for _, n := range r.needs[k] {
				include(n)
			}
		}
	}
	include(r.prev(i))
	include(r.prev(j))
	for again := true; again; {
		again = false
		for a := range r.events {
			for b := a + 1; b < len(r.events); b++ {
				if in[a] && in[b] && r.events[a].Op == OpLock && r.events[b].Op == OpLock && r.events[a].Addr == r.events[b].Addr && !in[r.rel[a]] {
					include(r.rel[a])
					again = true
				}
			}
		}
	}
	return in
}

// witness says whether i and j come next after an execution in which one of
// their threads, or both, enters its outermost critical section last.
func (r *predReference) witness(i, j int) bool {
	oi, oj := r.outermost(i), r.outermost(j)
	for _, v := range [][2]int{{oi, j}, {i, oj}, {oi, oj}} {
		in := r.closure(v[0], v[1])
		if in[v[0]] || in[v[1]] {
			continue
		}
		var order []int
		for k := range r.events {
			if in[k] {
				order = append(order, k)
			}
		}
		for k := range r.events {
			if th := r.events[k].Thread; k >= v[0] && k < i && th == r.events[i].Thread {
				order = append(order, k)
			}
		}
		for k := range r.events {
			if th := r.events[k].Thread; k >= v[1] && k < j && th == r.events[j].Thread {
				order = append(order, k)
			}
		}
		if r.feasible(order) {
			return true
		}
	}
	return false
}

// outermost returns the event that took the first of the locks that i's thread
// holds at i, i if it holds none.
func (r *predReference) outermost(i int) int {
	held, first := 0, i
	for k := 0; k < i; k++ {
		switch e := &r.events[k]; {
		case e.Thread != r.events[i].Thread:
		case e.Op == OpLock:
			if held++; held == 1 {
				first = k
			}
		case e.Op == OpUnlock:
			if held--; held == 0 {
				first = i
			}
		}
	}
	return first
}

// feasible says whether events can take place in this order: threads do what
// they did, who starts, gets a message or a lock can, and reads see what they
// saw.
func (r *predReference) feasible(order []int) bool {
	recorded := make([]int, len(r.events))
	for k := range recorded {
		recorded[k] = k
	}
	saw, now := r.values(recorded), r.values(order)
	done := map[int]bool{}
	held := map[emulate.Addr]bool{}
	for _, k := range order {
		e := &r.events[k]
		if p := r.prev(k); p >= 0 && !done[p] {
			return false
		}
		switch e.Op {
		case OpThreadStart, OpAcquire:
			for _, n := range r.needs[k] {
				if !done[n] {
					return false
				}
			}
		case OpLock:
			if held[e.Addr] {
				return false
			}
			held[e.Addr] = true
		case OpUnlock:
			held[e.Addr] = false
		case OpAccess:
			if e.Kind != Write && !e.Blind && saw[k] != now[k] {
				return false
			}
		}
		done[k] = true
	}
	return true
}

// values returns what each access of an execution reads.
func (r *predReference) values(order []int) map[int]string {
	mem, read := map[uint64]string{}, map[int]string{}
	for _, k := range order {
		e := &r.events[k]
		if e.Op != OpAccess {
			continue
		}
		for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
			read[k] += "|" + mem[a]
		}
		for a := uint64(e.Addr); e.Kind != Read && a < uint64(e.Addr)+e.N; a++ {
			mem[a] = fmt.Sprint(k)
			if e.Blind {
				mem[a] += "(" + read[k] + ")"
			}
		}
	}
	return read
}

func TestPredictorAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		events := []Event{{Op: OpThreadStart, Thread: 1}, {Op: OpThreadStart, Thread: 2, Value: 1}, {Op: OpThreadStart, Thread: 3, Value: 1}}
		held := map[emulate.ThreadID][]emulate.Addr{}
		holder := map[emulate.Addr]emulate.ThreadID{}
		live := []emulate.ThreadID{1, 2, 3}
		n := 3 + pick(45, "events")
		for len(events) < n {
			th := live[pick(len(live), "thread")]
			e := Event{Op: OpAccess, Thread: th, Addr: 0x1000, N: 4, Kind: Read + Kind(pick(3, "kind"))}
			l := lockA + emulate.Addr(pick(3, "lock"))*0x40
			switch op := pick(16, "op"); {
			case op == 0:
				e = Event{Op: OpAcquire + Op(pick(2, "post")), Thread: th, Object: ObjChannel, Value: 1}
			case op == 1 && len(live) < 5:
				e = Event{Op: OpThreadStart, Thread: emulate.ThreadID(len(live) + 1), Value: uint64(th)}
				live = append(live, e.Thread)
			case op < 6 && holder[l] == 0:
				holder[l] = th
				held[th] = append(held[th], l)
				e = Event{Op: OpLock, Thread: th, Addr: l}
			case op < 11 && len(held[th]) > 0:
				k := pick(len(held[th]), "which")
				l = held[th][k]
				held[th] = append(held[th][:k:k], held[th][k+1:]...)
				holder[l] = 0
				e = Event{Op: OpUnlock, Thread: th, Addr: l}
			default:
				e.Addr += emulate.Addr(pick(3, "at") * 2)
			}
			e.PC, e.Count = uint64(len(events)), emulate.Count(len(events))
			e.Blind = e.Op == OpAccess && e.Kind == Update && pick(2, "blind") == 0
			events = append(events, e)
		}
		for _, th := range live { // every section ends
			for _, l := range held[th] {
				events = append(events, Event{Op: OpUnlock, Thread: th, Addr: l})
			}
		}
		p := NewPredictor(PredictConfig{History: 1000, MaxTries: 1 << 20})
		for i := range events {
			e := events[i]
			p.Feed(&e)
			if pick(8, "prune") == 0 {
				p.prune()
				p.freeClocks()
			}
		}
		got := map[[2]int]bool{}
		for _, c := range p.Candidates() {
			got[[2]int{int(c.First.Count), int(c.Second.Count)}] = true
		}
		r := newPredReference(events)
		for j := range events {
			for i := 0; i < j; i++ {
				x, y := &events[i], &events[j]
				if x.Op != OpAccess || y.Op != OpAccess || x.Thread == y.Thread || x.Kind == Read && y.Kind == Read ||
					x.Addr+4 <= y.Addr || y.Addr+4 <= x.Addr {
					continue
				}
				if want := r.races(i, j); want != got[[2]int{i, j}] {
					if !want && r.witness(i, j) {
						continue
					}
					t.Fatalf("predicted %v, want %v:\n%s%s", !want, want, show(i, x), show(j, y))
				}
			}
		}
	})
}
