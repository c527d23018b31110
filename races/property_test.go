package races

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/racesim/racesim/emulate"
	"pgregory.net/rapid"
)

// The reference: happens-before as sets of events, compared pair by pair.
// There are no clocks, epochs or cells in it.
type reference struct {
	events []Event
	before [][2]*big.Int // what each event knows, in the user and the full order
	knows  map[emulate.ThreadID]*[2]*big.Int
	vars   map[uint64]*[2]*big.Int // by byte, for synchronisation variables
	objs   map[Object]*[2]*big.Int
	life   map[uint64]int // by byte
	lives  []map[uint64]int
	isSync func(uint64) bool
}

func newReference(isSync func(uint64) bool) *reference {
	return &reference{knows: map[emulate.ThreadID]*[2]*big.Int{}, vars: map[uint64]*[2]*big.Int{},
		objs: map[Object]*[2]*big.Int{}, life: map[uint64]int{}, isSync: isSync}
}

func sets() *[2]*big.Int { return &[2]*big.Int{new(big.Int), new(big.Int)} }

func at[K comparable](m map[K]*[2]*big.Int, k K) *[2]*big.Int {
	if m[k] == nil {
		m[k] = sets()
	}
	return m[k]
}

func union(to, from *[2]*big.Int, s Scope) {
	to[1].Or(to[1], from[1])
	if s == ScopeUser {
		to[0].Or(to[0], from[0])
	}
}

func replace(to, from *[2]*big.Int, s Scope) {
	to[1].Set(from[1])
	if s == ScopeUser {
		to[0].Set(from[0])
	}
	to[1].Or(to[1], to[0])
}

func (r *reference) feed(e Event) {
	id := len(r.events)
	r.events = append(r.events, e)
	k := at(r.knows, e.Thread)
	scope := ScopeUser
	if e.Flags&Internal != 0 {
		scope = ScopeInternal
	}
	syncs := func(f func(v *[2]*big.Int)) {
		if e.Op != OpAccess {
			return
		}
		for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
			if r.isSync(a) {
				f(at(r.vars, a))
			}
		}
	}
	switch {
	case e.Op == OpThreadStart:
		if e.Value != 0 {
			union(k, at(r.knows, emulate.ThreadID(e.Value)), ScopeUser)
		}
	case e.Op == OpJoin:
		union(k, at(r.knows, emulate.ThreadID(e.Value)), ScopeUser)
	case e.Op == OpAcquire:
		union(k, at(r.objs, Object{e.Object, e.Value}), e.Scope)
	case e.Op == OpAlloc, e.Op == OpReset:
		for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
			r.life[a]++
		}
	case e.Kind == Read, e.Kind == Update:
		syncs(func(v *[2]*big.Int) { union(k, v, scope) })
	}
	r.before = append(r.before, [2]*big.Int{new(big.Int).Set(k[0]), new(big.Int).Set(k[1])})
	l := map[uint64]int{}
	for a := uint64(e.Addr); a < uint64(e.Addr)+e.N; a++ {
		l[a] = r.life[a]
	}
	r.lives = append(r.lives, l)
	k[0].SetBit(k[0], id, 1)
	k[1].SetBit(k[1], id, 1)
	switch {
	case e.Op == OpRelease:
		union(at(r.objs, Object{e.Object, e.Value}), k, e.Scope)
	case e.Kind == Write, e.Kind == Update:
		syncs(func(v *[2]*big.Int) { replace(v, k, scope) })
	}
}

func (r *reference) isAccess(i int) bool {
	return r.events[i].Op == OpAccess || r.events[i].Op == OpFree
}

// races says whether events i < j conflict on the byte a.
func (r *reference) races(i, j int, a uint64) bool {
	x, y := &r.events[i], &r.events[j]
	if !r.isAccess(i) || !r.isAccess(j) || x.Thread == y.Thread || r.isSync(a) {
		return false
	}
	li, oki := r.lives[i][a]
	lj, okj := r.lives[j][a]
	if !oki || !okj || li != lj || x.Kind == Read && y.Kind == Read {
		return false
	}
	o := 0
	if (x.Flags|y.Flags)&Internal != 0 {
		o = 1
	}
	return r.before[j][o].Bit(i) == 0
}

// sameEpoch says whether events i <= j are of one thread with no release by it
// in between (i included, unless it is j).
func (r *reference) sameEpoch(i, j int) bool {
	if r.events[i].Thread != r.events[j].Thread {
		return false
	}
	for ; i < j; i++ {
		e := &r.events[i]
		if e.Op == OpThreadStart && emulate.ThreadID(e.Value) == r.events[j].Thread {
			return false
		}
		if e.Thread != r.events[j].Thread {
			continue
		}
		if e.Op == OpRelease || e.Op == OpAccess && e.Kind != Read && r.isSync(uint64(e.Addr)) {
			return false
		}
	}
	return true
}

const (
	propData = 0x1000 // 16 bytes of data
	propSync = 0x1010 // variables of 4, 4, 8 and 1 bytes; data behind the last
	propEnd  = 0x1028
	propHeap = 0x1030 // a block of 16 bytes, sometimes
)

var propVars = []SyncVar{{Addr: propSync, Size: 4}, {Addr: propSync + 4, Size: 4}, {Addr: propSync + 8, Size: 8}, {Addr: propSync + 16, Size: 1}}

func propIsSync(a uint64) bool { return a >= propSync && a <= propSync+16 }

// drawEvents makes a sequence of events that could be a recording.
func drawEvents(t *rapid.T, n int) []Event {
	live := []emulate.ThreadID{1}
	var ended []emulate.ThreadID
	next := emulate.ThreadID(2)
	events := []Event{{Op: OpThreadStart, Thread: 1}}
	allocated, freed := false, false
	pick := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	for len(events) < n {
		th := live[pick(len(live), "thread")]
		e := Event{Op: OpAccess, Thread: th}
		if pick(4, "internal") == 0 {
			e.Flags = Internal
		}
		switch op := pick(20, "op"); {
		case op < 2 && next < 8:
			e = Event{Op: OpThreadStart, Thread: next, Value: uint64(th)}
			live = append(live, next)
			next++
		case op == 2 && len(live) > 1:
			e = Event{Op: OpThreadExit, Thread: th}
			for i, l := range live {
				if l == th {
					live = append(live[:i], live[i+1:]...)
				}
			}
			ended = append(ended, th)
		case op == 3 && len(ended) > 0:
			e = Event{Op: OpJoin, Thread: th, Value: uint64(ended[pick(len(ended), "child")])}
		case op == 4 && pick(4, "rare") == 0:
			e = Event{Op: OpReset, Addr: emulate.Addr(propData + pick(8, "at")), N: uint64(1 + pick(8, "n"))}
		case op == 5 && pick(2, "rare") == 0:
			if allocated && !freed {
				e = Event{Op: OpFree, Thread: th, Addr: propHeap, N: 16}
				freed = true
			} else {
				e = Event{Op: OpAlloc, Thread: th, Addr: propHeap, N: 16}
				allocated, freed = true, false
			}
		case op < 8:
			e = Event{Op: OpAcquire + Op(pick(2, "release")), Thread: th, Object: ObjChannel, Value: uint64(pick(2, "object")), Scope: ScopeUser + Scope(pick(2, "scope"))}
		case op < 13:
			v := propVars[pick(len(propVars), "var")]
			e.Addr, e.N = v.Addr, uint64(v.Size)
			if v.Size == 4 && pick(4, "wide") == 0 {
				e.Addr, e.N = propSync, 8
			}
			switch pick(5, "how") {
			case 0:
				e.Kind = Read
			case 1:
				e.Kind = Write
			case 2:
				e.Kind, e.Flags = Read, e.Flags|Atomic
			default:
				e.Kind, e.Flags = Update, e.Flags|Atomic
			}
		default:
			e.Kind = Read + Kind(pick(3, "kind"))
			size := 1 << pick(4, "size")
			var base, room int
			switch pick(5, "region") {
			case 0:
				base, room = propHeap, 16
				size = min(size, 8)
			case 1:
				base, room, size = propEnd-7, 7, 1
			default:
				base, room = propData, 16
				if pick(8, "vector") == 0 {
					size = 16
				}
			}
			at := base + pick(room-size+1, "offset")
			if base == propHeap {
				at &^= size - 1
			}
			e.Addr, e.N = emulate.Addr(at), uint64(size)
		}
		id := len(events)
		e.PC, e.Count, e.Ctx = uint64(id), emulate.Count(id), uint32(id)
		if e.Op == OpAlloc {
			e.Ctx = 0
		}
		events = append(events, e)
	}
	return events
}

func TestAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t, rapid.IntRange(2, 90).Draw(t, "events"))
		ref := newReference(propIsSync)
		d := New(Config{Sync: propVars, MaxSamples: 1 << 20, Class: func(a emulate.Addr) uint64 { return uint64(a) >> 3 }})
		for i := range events {
			e := events[i]
			d.Feed(&e)
			if rapid.IntRange(0, 7).Draw(t, "prune") == 0 {
				d.prune()
			}
			if e.Op == OpFree {
				e.Kind = Free
			}
			ref.feed(e)
		}
		// Sound: what is reported is a race.
		reported := map[[2]int][]*Candidate{} // by byte and second event
		for _, c := range d.Candidates() {
			i, j := int(c.First.Count), int(c.Second.Count)
			if i >= j || !ref.races(i, j, uint64(c.Addr)) {
				t.Fatalf("reported as %v, but they don't race at %v:\n%s%s", c.Reason, c.Addr, show(i, &events[i]), show(j, &events[j]))
			}
			if w := events[i].Thread; c.First.Thread != w {
				t.Fatalf("event %d is of thread %d, not %d", i, w, c.First.Thread)
			}
			for b := 0; b < c.Size; b++ {
				k := [2]int{int(c.Addr) + b, j}
				reported[k] = append(reported[k], c)
			}
		}
		// Complete: every access that races with an earlier one is reported,
		// or an earlier access of its kind in its epoch is.
		for j := range events {
			for a := range ref.lives[j] {
				raced := -1
				for i := 0; i < j; i++ {
					if ref.races(i, j, a) {
						raced = i
					}
				}
				if raced < 0 {
					continue
				}
				ok := false
				for s := j; s >= 0 && !ok; s-- {
					e := &ref.events[s]
					ok = e.Kind == ref.events[j].Kind && e.Flags&Internal <= ref.events[j].Flags&Internal && ref.sameEpoch(s, j) && len(reported[[2]int{int(a), s}]) > 0
				}
				if !ok {
					t.Fatalf("not reported: race at %#x\n%s%s", a, show(raced, &events[raced]), show(j, &events[j]))
				}
			}
		}
	})
}

func show(i int, e *Event) string {
	return fmt.Sprintf("\t%d: thread %d %v %v flags %x addr %v+%d\n", i, e.Thread, e.Op, e.Kind, e.Flags, e.Addr, e.N)
}
