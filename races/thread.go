package races

import (
	"fmt"
	"math"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// maxThreadID bounds the thread table: more threads than a recording can have.
const maxThreadID = 1 << 24

// A thread is what the detector knows about one guest thread.
//
// Threads live in slots, the indices of vector clocks. A slot is given to a new
// thread once every live thread is ordered after everything that its earlier
// owners did: then no cell of theirs can be part of a conflict any more, and
// the new owner's epochs go on where theirs ended.
type thread struct {
	id    emulate.ThreadID
	slot  int
	epoch uint32
	head  uint64 // slot and epoch as in cell.head
	dead  bool
	// started says that it was told of: nobody was there before that isn't known.
	started bool
	waits   emulate.ThreadID // for this one's end, 0: it doesn't
	clocks
	locks LocksetID
	held  []heldLock
	load  syncLoad // the last plain load of a synchronisation variable
}

// A slotUse says since which epoch a thread has owned a slot.
type slotUse struct {
	from uint32
	id   emulate.ThreadID
}

// thread returns the thread with the given id; one that was never started
// (the recording's beginning is missing) starts now, ordered after nothing.
func (d *Detector) thread(id emulate.ThreadID) *thread {
	if int(id) < len(d.threads) {
		if t := d.threads[id]; t != nil {
			return t
		}
	}
	return d.startThread(id, 0)
}

func (d *Detector) startThread(id, parent emulate.ThreadID) *thread {
	if id >= maxThreadID {
		panic(fmt.Sprintf("BUG: races: thread %d: a recording has fewer than %d threads", id, maxThreadID))
	}
	for int(id) >= len(d.threads) {
		d.threads = append(d.threads, nil)
	}
	var p *thread
	if parent != 0 {
		p = d.thread(parent)
	}
	t := d.threads[id]
	if t == nil {
		t = &thread{id: id}
		d.threads[id] = t
		d.takeSlot(t)
		d.live = append(d.live, t)
	}
	if p != nil {
		t.acquire(&p.clocks, ScopeUser)
		t.load.valid = false
		d.advance(p)
	}
	return t
}

// takeSlot finds a slot for t.
func (d *Detector) takeSlot(t *thread) {
	d.joined = 0
	slot := -1
	for i, dead := range d.deadSlots {
		if d.orderedBeforeAll(dead, d.slotEpoch[dead]) {
			slot = dead
			d.deadSlots = append(d.deadSlots[:i], d.deadSlots[i+1:]...)
			break
		}
	}
	if slot < 0 && len(d.slotEpoch) >= d.cfg.MaxSlots && len(d.deadSlots) > 0 {
		// Out of slots: the thread that died first counts as joined by all.
		slot = d.deadSlots[0]
		d.deadSlots = d.deadSlots[1:]
		for _, l := range d.live {
			l.user[slot] = max(l.user[slot], d.slotEpoch[slot])
			l.full[slot] = max(l.full[slot], d.slotEpoch[slot])
		}
		d.stats.ForcedJoins++
	}
	if slot < 0 {
		slot = len(d.slotEpoch)
		if slot > math.MaxUint16 {
			panic(fmt.Sprintf("BUG: races: more than %d threads alive", math.MaxUint16))
		}
		d.slotEpoch = append(d.slotEpoch, 0)
		d.slotUses = append(d.slotUses, nil)
		for _, l := range d.live {
			l.user.grow(slot + 1)
			l.full.grow(slot + 1)
		}
	}
	t.slot = slot
	t.user.grow(len(d.slotEpoch))
	t.full.grow(len(d.slotEpoch))
	t.epoch = d.slotEpoch[slot] + 1
	d.slotUses[slot] = append(d.slotUses[slot], slotUse{t.epoch, t.id})
	t.stamp()
}

// stamp writes t's epoch where it is needed.
func (t *thread) stamp() {
	t.user[t.slot], t.full[t.slot] = t.epoch, t.epoch
	t.head = uint64(t.slot)<<48 | uint64(t.epoch)<<16
}

// advance starts a new epoch of t: what it does from here on isn't covered by
// what it released so far. An epoch that would overflow stays (and with it,
// later accesses count as released: conflicts may be missed, none invented).
func (d *Detector) advance(t *thread) {
	if t.epoch < math.MaxUint32-1 && !t.dead {
		t.epoch++
		t.stamp()
	}
}

// orderedBeforeAll says whether every live thread is ordered after the given
// epoch of slot, in the user order (and so in the full one), before it does
// anything more.
func (d *Detector) orderedBeforeAll(slot int, epoch uint32) bool {
	for _, l := range d.live {
		if l.user[slot] < epoch && !d.waitsFor(l, slot, epoch) {
			return false
		}
	}
	return true
}

// waitsFor says whether what t waits for is ordered after the given epoch of
// slot: the end of a thread that may wait for another one.
func (d *Detector) waitsFor(t *thread, slot int, epoch uint32) bool {
	for range d.live { // nobody waits for himself, but traces may lie
		if t.waits == 0 || int(t.waits) >= len(d.threads) || d.threads[t.waits] == nil {
			return false
		}
		if t = d.threads[t.waits]; slot < len(t.user) && t.user[slot] >= epoch {
			return true
		}
	}
	return false
}

// alone says whether t, the only thread that lives, is ordered after all that
// others have done. Then what it does can't race with anything: who comes later
// is ordered after it.
func (d *Detector) alone(t *thread) bool {
	if t.dead || !t.started || len(d.strands) > 0 {
		return false
	}
	for d.joined < len(d.deadSlots) {
		if s := d.deadSlots[d.joined]; t.user[s] < d.slotEpoch[s] {
			return false
		}
		d.joined++
	}
	return true
}

// Alone says that there was one thread so far.
func (d *Detector) Alone() bool {
	return len(d.live) == 1 && d.live[0].started && len(d.slotEpoch) == 1 && len(d.deadSlots) == 0 && len(d.strands) == 0
}

// orders says whether the granule of an address has bytes that synchronise, or
// may have, as nobody asked for it yet.
func (d *Detector) orders(a uint64) bool {
	v := a >> pageShift
	e := &d.cache[v%cacheSize]
	p := e.page
	if e.vpage != v || p == nil {
		if p = d.pages[v]; p == nil {
			return len(d.decls[v]) > 0 || d.cfg.Canon != nil
		}
	}
	return p.gran[a>>granuleShift%pageGranules].sync != nil
}

// slotThread says which thread owned slot at epoch.
func (d *Detector) slotThread(slot int, epoch uint32) emulate.ThreadID {
	u := d.slotUses[slot]
	i := sort.Search(len(u), func(i int) bool { return u[i].from > epoch })
	if i == 0 {
		return 0
	}
	return u[i-1].id
}

// exitThread ends t. What it did before is released to whoever joins it, and
// to whoever sees the word at clear become zero.
func (d *Detector) exitThread(e *Event) {
	if d.bases[e.Thread] != nil {
		d.switchStrand(e.Thread, 0, false)
	}
	t := d.thread(e.Thread)
	if t.dead {
		return
	}
	if e.Addr != 0 {
		w := Event{Op: OpAccess, Kind: Write, Flags: Atomic | Kernel, Scope: ScopeUser, Thread: e.Thread,
			Ctx: e.Ctx, Addr: e.Addr, N: 4, PC: e.PC, Count: e.Count}
		d.declare(&SyncVar{Addr: e.Addr, Size: 4, Scope: ScopeUser})
		d.access(&w)
	}
	d.object(Object{ObjThread, uint64(t.id)}).release(&t.clocks, ScopeUser)
	t.dead = true
	d.slotEpoch[t.slot] = t.epoch
	d.deadSlots = append(d.deadSlots, t.slot)
	d.joined = 0
	for i, l := range d.live {
		if l == t {
			d.live = append(d.live[:i], d.live[i+1:]...)
			break
		}
	}
}

// join orders everything that the thread child did before t.
func (d *Detector) join(t *thread, child emulate.ThreadID) {
	t.acquire(d.object(Object{ObjThread, uint64(child)}), ScopeUser)
	t.load.valid = false
}
