package races

import (
	"math/rand"
	"testing"

	"github.com/racesim/racesim/emulate"
)

const (
	lockA emulate.Addr = 0x3000
	lockB emulate.Addr = 0x3040
	lockC emulate.Addr = 0x3080
)

// take makes thread take locks one after the other and give them up.
func take(d *Detector, th emulate.ThreadID, locks ...emulate.Addr) {
	for i, l := range locks {
		d.Lock(th, l, LockExclusive, uint64(l), uint32(i), emulate.Count(i))
	}
	for i := len(locks) - 1; i >= 0; i-- {
		d.Unlock(th, locks[i])
	}
}

func takeAs(d *Detector, th emulate.ThreadID, mode LockMode, locks ...emulate.Addr) {
	for i, l := range locks {
		d.Lock(th, l, mode, uint64(l), uint32(i), emulate.Count(i))
	}
	for _, l := range locks {
		d.Unlock(th, l)
	}
}

func cycles(d *Detector) [][]*LockEdge {
	return d.LockGraph().Cycles(CycleSearch{Limit: 10, Length: 4, Sets: d.Lockset})
}

func TestLocksets(t *testing.T) {
	s := newScript(t, Config{}).start(2)
	s.Lock(2, lockA, LockExclusive, 0, 0, 0)
	a := s.Locks(2)
	s.Lock(2, lockB, LockShared, 0, 0, 0)
	s.Lock(2, lockB, LockShared, 0, 0, 0) // recursive
	ab := s.Locks(2)
	s.Unlock(2, lockB)
	if s.Locks(2) != ab {
		t.Errorf("a lock taken twice and given up once isn't held")
	}
	s.Unlock(2, lockA)
	s.Unlock(2, lockC) // never taken
	s.Lock(2, lockA, LockExclusive, 0, 0, 0)
	if s.Locks(2) != ab {
		t.Errorf("the same locks make different sets")
	}
	s.Unlock(2, lockB)
	if s.Locks(2) != a || a == ab || a == 0 {
		t.Errorf("locksets %d, %d, %d", a, ab, s.Locks(2))
	}
	if l := s.CommonLocks(a, ab); len(l) != 1 || s.LockAddr(l[0]) != lockA {
		t.Errorf("common locks %v", l)
	}
	s.Unlock(2, lockA)
	if s.Locks(2) != 0 {
		t.Errorf("holds %v", s.Lockset(s.Locks(2)))
	}
}

func TestLockGraph(t *testing.T) {
	for _, c := range []struct {
		name string
		want int // cycles
		run  func(d *Detector)
	}{
		{"inversion", 1, func(d *Detector) { take(d, 2, lockA, lockB); take(d, 3, lockB, lockA) }},
		{"same_order", 0, func(d *Detector) { take(d, 2, lockA, lockB); take(d, 3, lockA, lockB) }},
		{"one_thread", 0, func(d *Detector) { take(d, 2, lockA, lockB); take(d, 2, lockB, lockA) }},
		{"gate_lock", 0, func(d *Detector) { take(d, 2, lockC, lockA, lockB); take(d, 3, lockC, lockB, lockA) }},
		{"gate_lock_on_one_path_only", 1, func(d *Detector) {
			take(d, 2, lockC, lockA, lockB)
			take(d, 3, lockC, lockB, lockA)
			take(d, 3, lockB, lockA)
		}},
		{"three_philosophers", 1, func(d *Detector) {
			take(d, 2, lockA, lockB)
			take(d, 3, lockB, lockC)
			take(d, 4, lockC, lockA)
		}},
		{"try_lock", 0, func(d *Detector) {
			take(d, 2, lockA, lockB)
			d.Lock(3, lockB, LockExclusive, 0, 0, 0)
			d.Lock(3, lockA, LockTry, 0, 0, 0)
		}},
		{"other_lock_in_the_same_memory", 0, func(d *Detector) {
			take(d, 2, lockA, lockB)
			d.Reset(lockA, 4)
			take(d, 3, lockB, lockA)
		}},
		{"readers", 0, func(d *Detector) { takeAs(d, 2, LockShared, lockA, lockB); takeAs(d, 3, LockShared, lockB, lockA) }},
		{"a_reader_and_a_writer", 1, func(d *Detector) { takeAs(d, 2, LockShared, lockA, lockB); take(d, 3, lockB, lockA) }},
		{"gate_for_reading", 1, func(d *Detector) {
			d.Lock(2, lockC, LockShared, 0, 0, 0)
			take(d, 2, lockA, lockB)
			d.Lock(3, lockC, LockShared, 0, 0, 0)
			take(d, 3, lockB, lockA)
		}},
		{"gate_for_reading_and_writing", 0, func(d *Detector) {
			d.Lock(2, lockC, LockShared, 0, 0, 0)
			take(d, 2, lockA, lockB)
			d.Unlock(2, lockC)
			take(d, 3, lockC, lockB, lockA)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newScript(t, Config{}).start(2, 3, 4).Detector
			c.run(d)
			if got := cycles(d); len(got) != c.want {
				t.Errorf("%d cycles, want %d", len(got), c.want)
			}
		})
	}
}

// TestCyclesOfOtherTimesAndOfOtherGraphs asks for what the search is told.
func TestCyclesOfOtherTimesAndOfOtherGraphs(t *testing.T) {
	d := newScript(t, Config{}).start(2, 3).Detector
	take(d, 2, lockA, lockB)
	take(d, 3, lockB, lockA)
	q := CycleSearch{Limit: 10, Length: 4, Sets: d.Lockset, Concurrent: func(a, b *LockEdge) bool { return false }}
	if n := len(d.LockGraph().Cycles(q)); n != 0 {
		t.Errorf("%d cycles of threads that never run at the same time", n)
	}
	q.Concurrent = nil
	first := d.LockGraph().Edges()[0]
	one := d.LockGraph().With(nil, func(e *LockEdge) bool { return e != first })
	if n := len(one.Cycles(q)); n != 0 {
		t.Errorf("%d cycles of one edge", n)
	}
	if n := len(one.With([]*LockEdge{first}, func(*LockEdge) bool { return true }).Cycles(q)); n != 1 {
		t.Errorf("%d cycles with the edge put back", n)
	}
	take(d, 2, lockB, lockC)
	take(d, 3, lockC, lockB)
	q.Same = func(*LockEdge) string { return "" }
	if n := len(d.LockGraph().Cycles(q)); n != 1 {
		t.Errorf("%d cycles of the same kind", n)
	}
}

func TestLockEdgeSaysWhere(t *testing.T) {
	d := newScript(t, Config{}).start(2).Detector
	take(d, 2, lockA, lockB)
	take(d, 2, lockA, lockB)
	e := d.LockGraph().Edges()
	if len(e) != 1 || e[0].Count != 2 || e[0].Held.PC != uint64(lockA) || e[0].Taken != (LockSite{2, uint64(lockB), 1, 1}) {
		t.Errorf("edges %+v", e)
	}
}

func TestKnotsAreTheEdgesOfCycles(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for round := 0; round < 300; round++ {
		d := newScript(t, Config{}).start(2).Detector
		for i := 0; i < 1+round%20; i++ {
			a, b := rng.Intn(9), rng.Intn(9)
			if a != b {
				take(d, 2, 0x3000+emulate.Addr(64*a), 0x3000+emulate.Addr(64*b))
			}
		}
		edges := d.LockGraph().Edges()
		reach := map[[2]LockID]bool{}
		for range edges {
			for _, e := range edges {
				reach[[2]LockID{e.From, e.To}] = true
				for k := range reach {
					if k[1] == e.From {
						reach[[2]LockID{k[0], e.To}] = true
					}
				}
			}
		}
		knots := map[*LockEdge]bool{}
		for _, e := range d.LockGraph().Knots() {
			knots[e] = true
		}
		for _, e := range edges {
			if want := reach[[2]LockID{e.To, e.From}]; knots[e] != want {
				t.Fatalf("round %d: edge %d to %d: part of a cycle: %v, Knots: %v", round, e.From, e.To, want, knots[e])
			}
		}
	}
}
