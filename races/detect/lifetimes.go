package detect

import (
	"slices"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// Lifetimes say which parts of threads' lives can't overlap in any schedule,
// because of creation and join, and of messages (messages.go): those orders don't
// depend on timing.
//
// A thread's life has a segment for each stretch between creations, joins and
// messages. Segment numbers are unique in a recording, from 1.
type Lifetimes struct {
	segments []segment // by number
	slots    map[emulate.ThreadID]int
	now      map[emulate.ThreadID]uint64
	from     map[emulate.ThreadID][]stretch
	control  map[uint64]emulate.ThreadID // by address of the thread control block
	objects  map[uint64]*hardObject
	messages int // segments begun for them
}

// A stretch is where in a thread a segment begins.
type stretch struct {
	count   emulate.Count
	segment uint64
}

// A segment is a stretch of the thread with that slot. Its clock says of each
// thread, by slot, which of its segments came before: those numbered up to the
// clock's value, counted from 1.
type segment struct {
	slot  int
	clock lifeClock
}

type lifeClock []uint32

func (c lifeClock) at(slot int) uint32 {
	if slot < len(c) {
		return c[slot]
	}
	return 0
}

// join returns the later of two clocks; c may be changed.
func (c lifeClock) join(o lifeClock) lifeClock {
	for len(c) < len(o) {
		c = append(c, 0)
	}
	for i, n := range o {
		c[i] = max(c[i], n)
	}
	return c
}

func newLifetimes() *Lifetimes {
	return &Lifetimes{segments: make([]segment, 1), slots: map[emulate.ThreadID]int{}, now: map[emulate.ThreadID]uint64{}, from: map[emulate.ThreadID][]stretch{},
		control: map[uint64]emulate.ThreadID{}, objects: map[uint64]*hardObject{}}
}

// Now returns the segment that a thread is in.
func (l *Lifetimes) Now(id emulate.ThreadID) uint64 { return l.now[id] }

// clock returns that of the segment that a thread is in.
func (l *Lifetimes) clock(id emulate.ThreadID) lifeClock { return l.segments[l.now[id]].clock }

// At returns the segment that a thread was in before an instruction; 0 if it
// hadn't begun.
func (l *Lifetimes) At(id emulate.ThreadID, c emulate.Count) uint64 {
	s := l.from[id]
	if i := sort.Search(len(s), func(i int) bool { return s[i].count > c }); i > 0 {
		return s[i-1].segment
	}
	return 0
}

// begin puts thread id in a new segment, from instruction c on, that comes after
// its own last one and what another clock says.
func (l *Lifetimes) begin(id emulate.ThreadID, c emulate.Count, after lifeClock) {
	slot, ok := l.slots[id]
	if !ok {
		slot = len(l.slots)
		l.slots[id] = slot
	}
	clock := slices.Clone(l.clock(id)).join(after)
	for len(clock) <= slot {
		clock = append(clock, 0)
	}
	clock[slot]++
	l.now[id] = uint64(len(l.segments))
	l.from[id] = append(l.from[id], stretch{c, l.now[id]})
	l.segments = append(l.segments, segment{slot, clock})
}

// start says that parent (0: none) created a thread with its control block at
// the given address, before its instruction c.
func (l *Lifetimes) start(id, parent emulate.ThreadID, control uint64, c emulate.Count) {
	l.begin(id, 0, l.clock(parent))
	if parent != 0 {
		l.begin(parent, c, nil)
	}
	l.control[control] = id
}

// join says that a thread waited, until its instruction c, for the end of the
// thread with that control block.
func (l *Lifetimes) join(id emulate.ThreadID, control uint64, c emulate.Count) {
	if u := l.control[control]; u != 0 && u != id {
		l.begin(id, c, l.clock(u))
	}
}

// Concurrent says whether two segments can overlap.
func (l *Lifetimes) Concurrent(a, b uint64) bool {
	if a == 0 || b == 0 || a >= uint64(len(l.segments)) || b >= uint64(len(l.segments)) {
		return true
	}
	return !l.before(a, b) && !l.before(b, a)
}

func (l *Lifetimes) before(a, b uint64) bool {
	x := &l.segments[a]
	return l.segments[b].clock.at(x.slot) >= x.clock[x.slot]
}
