package races

import "github.com/racesim/racesim/emulate"

// HeldAt says whether a thread holds a lock now, and where it took it.
func (d *Detector) HeldAt(thread emulate.ThreadID, lock emulate.Addr) (LockSite, bool) {
	id := d.locks.byAddr[lock]
	if id == 0 {
		return LockSite{}, false
	}
	t := d.thread(thread)
	for i := range t.held {
		if t.held[i].lock == id {
			return t.held[i].at, true
		}
	}
	return LockSite{}, false
}

// Holds says whether a thread holds a lock now.
func (d *Detector) Holds(thread emulate.ThreadID, lock emulate.Addr) bool {
	_, ok := d.HeldAt(thread, lock)
	return ok
}

// Holder returns a thread that holds a lock now, and where it took it; 0 if
// nobody does.
func (d *Detector) Holder(lock emulate.Addr) (emulate.ThreadID, LockSite) {
	if d.locks.byAddr[lock] == 0 {
		return 0, LockSite{}
	}
	for _, t := range d.threads { // those that have ended, too
		if t == nil || len(t.held) == 0 {
			continue
		}
		if at, ok := d.HeldAt(t.id, lock); ok {
			return t.id, at
		}
	}
	return 0, LockSite{}
}

// HeldIn returns a lock in the n bytes at addr that somebody holds now, who
// does, and where it was taken; 0 if there is none.
func (d *Detector) HeldIn(addr emulate.Addr, n uint64) (holder emulate.ThreadID, at LockSite, lock emulate.Addr) {
	for _, t := range d.live {
		for i := range t.held {
			l := &d.locks.infos[t.held[i].lock]
			if !l.dead && l.addr >= addr && uint64(l.addr-addr) < n {
				return t.id, t.held[i].at, l.addr
			}
		}
	}
	return 0, LockSite{}, 0
}

// KnownLock says whether somebody took the lock before.
func (d *Detector) KnownLock(lock emulate.Addr) bool { return d.locks.byAddr[lock] != 0 }
