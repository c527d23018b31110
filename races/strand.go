package races

import (
	"slices"

	"github.com/racesim/racesim/emulate"
)

// Strands
//
// A program with a scheduler of its own executes many strands (goroutines) on a
// few threads. What is ordered is strands: each has a clock, which goes with it
// from thread to thread, and two strands on one thread aren't ordered by that.
// Events name the thread; OpSwitch says which strand it executes. Accesses are
// reported with the thread, as a recording knows only those: an epoch belongs
// to one strand on one thread.

// strand returns the strand with the given number, which begins ordered after
// nothing.
func (d *Detector) strand(id uint64) *thread {
	t := d.strands[id]
	if t == nil {
		if d.strands == nil {
			d.strands = map[uint64]*thread{}
			d.bases = map[emulate.ThreadID]*thread{}
		}
		t = new(thread)
		d.strands[id] = t
		d.takeSlot(t)
		d.live = append(d.live, t)
	}
	return t
}

// switchStrand makes a thread execute a strand; 0: its own code. That goes on
// later if keep is set; if not, the thread does nothing any more but to execute
// strands, and what its own code doesn't know yet isn't kept for it.
func (d *Detector) switchStrand(id emulate.ThreadID, to uint64, keep bool) {
	cur := d.thread(id)
	base := d.bases[id]
	if base == nil {
		base = cur
	}
	t := base
	if to != 0 {
		t = d.strand(to)
		d.bases[id] = base
	}
	if t == cur {
		return
	}
	if cur == base && !keep {
		d.retire(base)
	}
	if t == base && !slices.Contains(d.live, base) {
		t.user.grow(len(d.slotEpoch))
		t.full.grow(len(d.slotEpoch))
		d.live = append(d.live, t)
	}
	cur.load.valid, t.load.valid = false, false
	d.advance(t)
	if u := d.slotUses[t.slot]; t.id != id || len(u) == 0 || u[len(u)-1].id != id {
		t.id = id
		d.slotUses[t.slot] = append(u, slotUse{t.epoch, id})
	}
	d.threads[id] = t
}

// retire takes t out of the threads that live.
func (d *Detector) retire(t *thread) {
	for i, l := range d.live {
		if l == t {
			d.live = append(d.live[:i], d.live[i+1:]...)
			return
		}
	}
}

// endStrand ends a strand.
func (d *Detector) endStrand(id uint64) {
	t := d.strands[id]
	if t == nil {
		return
	}
	for m, b := range d.bases {
		if d.threads[m] == t && b != t {
			d.switchStrand(m, 0, false)
		}
	}
	delete(d.strands, id)
	t.dead = true
	d.slotEpoch[t.slot] = t.epoch
	d.deadSlots = append(d.deadSlots, t.slot)
	d.retire(t)
}

// hand orders what one strand did so far before what another one does next.
func (d *Detector) hand(from, to uint64) {
	a, b := d.strand(from), d.strand(to)
	if a == b {
		return
	}
	b.load.valid = false
	b.acquire(&a.clocks, ScopeUser)
	d.advance(a)
}

// gather orders what everybody did so far before what t does next.
func (d *Detector) gather(t *thread) {
	for _, l := range d.live {
		if l != t {
			t.acquire(&l.clocks, ScopeUser)
			d.advance(l)
		}
	}
}

// actor returns whom an event that synchronises is about: its thread, or a
// strand that is elsewhere.
func (d *Detector) actor(e *Event) *thread {
	if e.Strand != 0 {
		return d.strand(e.Strand)
	}
	return d.thread(e.Thread)
}
