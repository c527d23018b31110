package races

import (
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A LockID names a lock: the life of a mutex-like object at one address. IDs
// count from 1 in the order in which locks were first taken; memory that is
// reset or allocated anew holds new locks.
type LockID uint32

// A LocksetID names a set of locks. 0 is the empty set.
type LocksetID uint32

// A heldLock is a lock that a thread holds.
type heldLock struct {
	lock  LockID
	depth int // times taken
	mode  LockMode
	at    LockSite
}

// A lockInfo says what is known about a lock.
type lockInfo struct {
	addr emulate.Addr
	dead bool // its memory is gone
}

// locks knows all locks, sets of locks and the order in which locks are taken.
type locks struct {
	infos  []lockInfo // by LockID; 0 unused
	byAddr map[emulate.Addr]LockID

	sets  [][]LockID // by LocksetID, ascending
	bySet map[string]LocksetID
	steps map[setStep]LocksetID // adding or removing one lock

	graph LockGraph
}

type setStep struct {
	from LocksetID
	lock LockID
	add  bool
}

func (l *locks) init() {
	l.infos = make([]lockInfo, 1)
	l.byAddr = map[emulate.Addr]LockID{}
	l.sets = [][]LockID{nil}
	l.bySet = map[string]LocksetID{"": 0}
	l.steps = map[setStep]LocksetID{}
	l.graph.byKey = map[edgeKey]*LockEdge{}
}

// id returns the lock that now lives at addr.
func (d *Detector) lockID(addr emulate.Addr) LockID {
	l := &d.locks
	if id := l.byAddr[addr]; id != 0 {
		return id
	}
	id := LockID(len(l.infos))
	l.infos = append(l.infos, lockInfo{addr: addr})
	l.byAddr[addr] = id
	d.granule(uint64(addr))
	p := d.pages[uint64(addr)>>pageShift]
	p.locks = append(p.locks, addr)
	return id
}

// retireLocks ends the life of p's locks with addresses in [lo, hi).
func (d *Detector) retireLocks(p *shadowPage, lo, hi uint64) {
	keep := p.locks[:0]
	for _, a := range p.locks {
		if uint64(a) < lo || uint64(a) >= hi {
			keep = append(keep, a)
			continue
		}
		d.locks.infos[d.locks.byAddr[a]].dead = true
		delete(d.locks.byAddr, a)
	}
	p.locks = keep
}

func (d *Detector) lock(t *thread, e *Event) {
	id := d.lockID(e.Addr)
	site := LockSite{e.Thread, e.PC, e.Ctx, e.Count}
	for i := range t.held {
		if t.held[i].lock == id {
			t.held[i].depth++
			return
		}
	}
	if e.Mode.Blocks() {
		for i := range t.held {
			h := &t.held[i]
			d.locks.graph.add(h, id, site, d.locks.step(t.locks, h.lock, false), d.readable(t, h.lock), e.Mode, e.Value)
		}
	}
	t.held = append(t.held, heldLock{id, 1, e.Mode, site})
	t.locks = d.locks.step(t.locks, id, true)
}

// readable returns the locks but one that t holds as a reader.
func (d *Detector) readable(t *thread, but LockID) LocksetID {
	set := LocksetID(0)
	for i := range t.held {
		if h := &t.held[i]; h.lock != but && h.mode.Shared() {
			set = d.locks.step(set, h.lock, true)
		}
	}
	return set
}

// unlock ends t's hold of a lock; one that t doesn't hold is ignored (that is
// a checker's business).
func (d *Detector) unlock(t *thread, e *Event) {
	id := d.locks.byAddr[e.Addr]
	for i := range t.held {
		if t.held[i].lock != id {
			continue
		}
		if t.held[i].depth--; t.held[i].depth == 0 {
			t.held = append(t.held[:i], t.held[i+1:]...)
			t.locks = d.locks.step(t.locks, id, false)
		}
		return
	}
}

// step returns the set that results from adding lock to from or removing it.
func (l *locks) step(from LocksetID, lock LockID, add bool) LocksetID {
	k := setStep{from, lock, add}
	if id, ok := l.steps[k]; ok {
		return id
	}
	var set []LockID
	for _, o := range l.sets[from] {
		if o != lock {
			set = append(set, o)
		}
	}
	if add {
		set = append(set, lock)
		sort.Slice(set, func(i, j int) bool { return set[i] < set[j] })
	}
	var key []byte
	for _, o := range set {
		key = append(key, byte(o), byte(o>>8), byte(o>>16), byte(o>>24))
	}
	id, ok := l.bySet[string(key)]
	if !ok {
		id = LocksetID(len(l.sets))
		l.sets = append(l.sets, set)
		l.bySet[string(key)] = id
	}
	l.steps[k] = id
	return id
}

// Locks returns the set of locks that thread holds now.
func (d *Detector) Locks(thread emulate.ThreadID) LocksetID { return d.thread(thread).locks }

// Lockset returns the locks of a set, ascending. The slice is the detector's.
func (d *Detector) Lockset(id LocksetID) []LockID {
	if int(id) >= len(d.locks.sets) {
		return nil
	}
	return d.locks.sets[id]
}

// LocksetOf returns the set of some locks, known or not.
func (d *Detector) LocksetOf(ids []LockID) LocksetID {
	set := LocksetID(0)
	for _, id := range ids {
		set = d.locks.step(set, id, true)
	}
	return set
}

// CommonLocks returns the locks that two sets share.
func (d *Detector) CommonLocks(a, b LocksetID) []LockID {
	return common(d.Lockset(a), d.Lockset(b))
}

// common intersects two ascending lists.
func common(x, y []LockID) []LockID {
	var both []LockID
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			both = append(both, x[0])
			x, y = x[1:], y[1:]
		}
	}
	return both
}

// LockAddr returns the address of a lock, 0 if there is no such lock.
func (d *Detector) LockAddr(id LockID) emulate.Addr {
	if int(id) >= len(d.locks.infos) {
		return 0
	}
	return d.locks.infos[id].addr
}
