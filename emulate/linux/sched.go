package linux

import "math/bits"

// The scheduler: who runs next, on which unit, for how many instructions. All
// choices come from one seeded generator, drawn at points that depend on the
// guest alone.
type scheduler struct {
	p      *Process
	rng    random
	policy Schedule
	mean   int
	units  []schedUnit
	last   int // rr: the unit that ran last

	ready    int  // threads that can run now
	beside   int  // threads of other processes that can
	moved    bool // the running thread has to change its unit
	runnable int  // threads that could run at the last choice

	// pct
	points    []changePoint // that are still to come
	contended uint64        // instructions executed while two threads could run
	lowest    uint64        // the next priority below all others
}

// A schedUnit is one processing unit as the scheduler sees it.
type schedUnit struct {
	cur  *Thread // who ran last
	left int     // slices until another thread of the unit gets its turn
}

const (
	unitQuantum = 12     // slices that a thread keeps its unit while others wait for it
	youngSlice  = 200    // mean length of a new thread's first slices
	atomicOdds  = 48     // one atomic instruction in so many is pre-empted ...
	manyAtomics = 20000  // ... among so many of a thread, then
	rareAtomics = 256    // one in so many
	aloneSlice  = 200000 // length of a slice when nobody else can run
	splitOdds   = 10     // one slice in so many ends inside an instruction if it can
	repIters    = 64     // most iterations of a string instruction that is cut
	huntSteps   = 48     // instructions to look ahead for one that can be split
)

func (s *scheduler) init(p *Process) {
	s.p = p
	s.rng = random(p.cfg.Seed ^ 0x5eed5eed)
	s.policy = p.cfg.Schedule
	s.mean = p.cfg.Slice
	s.units = make([]schedUnit, p.cfg.Cores)
	s.lowest = lowPriority
	s.rng.next()
	if s.policy == SchedulePCT {
		s.points = p.cfg.PCT.points(&s.rng)
	}
}

// newPriority draws a priority for a new thread, above the lowered ones.
func (s *scheduler) newPriority() uint64 { return firstPriority + s.rng.next()>>2 }

// Contended returns the number of instructions that were executed while two
// threads of the process could run: the Steps of a PCT.
func (p *Process) Contended() uint64 { return p.sched.contended }

// untilChange is the number of instructions until priorities change if t runs.
func (s *scheduler) untilChange(t *Thread) uint64 {
	n := uint64(pctPatience)
	if t.favoured < pctPatience {
		n -= t.favoured
	}
	if len(s.points) > 0 {
		n = min(n, max(s.points[0].at, s.contended+1)-s.contended)
	}
	return n
}

// place gives t the allowed unit on which the fewest threads live.
func (s *scheduler) place(t *Thread) {
	var load [64]int
	for _, q := range s.p.fam.members {
		if q.recorded != s.p.recorded {
			continue
		}
		for _, u := range q.threads {
			if u != t && u.state == threadRunnable {
				load[u.unit] += 2
			} else if u != t {
				load[u.unit]++
			}
		}
	}
	best := -1
	for i := range s.units {
		if t.affinity>>i&1 != 0 && (best < 0 || load[i] < load[best]) {
			best = i
		}
	}
	t.unit = max(best, 0)
}

// woken lets t move to a unit that has nothing to do.
func (s *scheduler) woken(t *Thread) {
	t.favoured = 0
	var used uint64
	for _, q := range s.p.fam.members {
		if q.recorded != s.p.recorded {
			continue
		}
		for _, u := range q.threads {
			if u != t && u.state == threadRunnable {
				used |= 1 << u.unit
			}
		}
	}
	if t.affinity>>t.unit&1 != 0 && used>>t.unit&1 == 0 {
		return
	}
	if idle := t.affinity &^ used & s.p.allUnits(); idle != 0 {
		t.unit = bits.TrailingZeros64(idle)
	} else if t.affinity>>t.unit&1 == 0 {
		s.place(t)
	}
}

// next chooses a thread and the length of its slice; nil if none can run. busy
// are the units that run threads of any process.
func (s *scheduler) next(busy uint64) (*Thread, int) {
	var units uint64
	s.runnable = 0
	var only *Thread
	for _, t := range s.p.threads {
		if t.state == threadRunnable {
			s.runnable++
			units |= 1 << t.unit
			only = t
		}
	}
	s.p.clock.setBusy(max(bits.OnesCount64(busy), 1))
	switch {
	case s.runnable == 0:
		return nil, 0
	case s.runnable == 1:
		return only, s.length(only)
	case s.policy == SchedulePCT:
		t := s.highest()
		return t, s.length(t)
	}
	unit := s.pickUnit(units)
	t := s.onUnit(unit)
	return t, s.length(t)
}

// pickUnit chooses one of units.
func (s *scheduler) pickUnit(units uint64) int {
	if s.policy == ScheduleRR {
		for i := 1; ; i++ {
			if u := (s.last + i) % len(s.units); units>>u&1 != 0 {
				s.last = u
				return u
			}
		}
	}
	for k := s.rng.below(bits.OnesCount64(units)); k > 0; k-- {
		units &= units - 1
	}
	return bits.TrailingZeros64(units)
}

// onUnit chooses among the runnable threads of a unit, at least one.
func (s *scheduler) onUnit(unit int) *Thread {
	u := &s.units[unit]
	n, cur := 0, -1
	for _, t := range s.p.threads {
		if t.state == threadRunnable && t.unit == unit {
			if t == u.cur {
				cur = n
			}
			n++
		}
	}
	if cur >= 0 && (n == 1 || u.left > 0) {
		u.left--
		return u.cur
	}
	k := 0
	if s.policy == ScheduleRR {
		k = (cur + 1) % n
	} else {
		k = s.rng.below(n)
	}
	for _, t := range s.p.threads {
		if t.state == threadRunnable && t.unit == unit {
			if k == 0 {
				u.cur, u.left = t, unitQuantum
				if s.policy == ScheduleRR {
					u.left = 0
				}
				return t
			}
			k--
		}
	}
	panic("BUG: no runnable thread on a unit that has one")
}

// highest returns the runnable thread of highest priority.
func (s *scheduler) highest() *Thread {
	var best *Thread
	for _, t := range s.p.threads {
		if t.state == threadRunnable && (best == nil || t.prio > best.prio) {
			best = t
		}
	}
	return best
}

// length chooses the length of t's slice.
func (s *scheduler) length(t *Thread) int {
	if n := t.nextSlice; n > 0 {
		t.nextSlice = 0
		return n
	}
	switch {
	case s.runnable+s.beside == 1:
		return aloneSlice
	case s.policy == ScheduleRR:
		return s.mean
	case s.policy == SchedulePCT:
		return int(min(s.untilChange(t), uint64(4*s.mean)))
	}
	if s.rng.one(8) {
		return 1 + s.rng.below(256)
	}
	// Young threads take short turns, so that those that live briefly overlap.
	mean := min(s.mean, max(youngSlice, int(t.CPU.Count/4)))
	return 1 + s.rng.below(2*mean)
}

// ran accounts a slice of n instructions of t.
func (s *scheduler) ran(t *Thread, n uint64) {
	if s.runnable < 2 {
		return
	}
	s.contended += n
	if s.policy != SchedulePCT {
		return
	}
	t.favoured += n
	for len(s.points) > 0 && s.points[0].at <= s.contended {
		t.prio, s.points = s.points[0].prio, s.points[1:]
	}
	if t.favoured >= pctPatience {
		s.lower(t)
	}
}

// lower puts t behind all others (pct).
func (s *scheduler) lower(t *Thread) {
	s.lowest--
	t.prio, t.favoured = s.lowest, 0
}

// yield makes t give way: its unit's next slice goes to another.
func (s *scheduler) yield(t *Thread) {
	s.units[t.unit].left = 0
	if s.units[t.unit].cur == t {
		s.units[t.unit].cur = nil
	}
	if s.policy == SchedulePCT {
		s.lower(t)
	}
}

// afterCall reports whether t's slice should end after a system call; woke
// says that the call made another thread runnable.
func (s *scheduler) afterCall(woke bool) bool {
	switch {
	case s.moved:
		s.moved = false
		return true
	case s.policy != ScheduleRandom:
		return woke && s.policy == SchedulePCT
	case woke:
		return s.rng.one(2)
	case s.runnable+s.beside < 2:
		return false
	}
	return s.rng.one(8)
}

// PreemptAtomic reports whether the scheduler wants to pre-empt t before the
// atomic instruction that it is about to execute. An Env calls it first of all
// in Orderable and, if it is true, raises a StopYield without further effect:
// the instruction is executed again later.
func (p *Process) PreemptAtomic(t *Thread) bool {
	if t.noYield {
		t.noYield = false
		return false
	}
	s := &p.sched
	if s.policy != ScheduleRandom || s.runnable+s.beside < 2 {
		return false
	}
	odds := atomicOdds
	if t.atomics++; t.atomics > manyAtomics {
		odds = rareAtomics
	}
	if !s.rng.one(odds) {
		return false
	}
	t.noYield = true
	if s.rng.one(2) {
		t.nextSlice = 1 + s.rng.below(4)
	}
	return true
}
