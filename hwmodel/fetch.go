package hwmodel

// FetchWindowSize is the number of entries of a FetchWindow, a power of two.
const FetchWindowSize = 2048

// A FetchWindow is the set of lines of code that a unit may execute without
// asking: what Window is for data. N counts the lines of all code executed, a
// line for each block that has bytes there; who asks the window keeps it.
type FetchWindow struct {
	tag [FetchWindowSize]uint64
	N   uint64
}

// Has says whether the line may be executed.
func (w *FetchWindow) Has(vline uint64) bool { return w.tag[vline%FetchWindowSize] == vline }

// Allow installs a line, in place of what its entry held.
func (w *FetchWindow) Allow(vline uint64) { w.tag[vline%FetchWindowSize] = vline }

// Clear forbids everything.
func (w *FetchWindow) Clear() {
	for i := range w.tag {
		w.tag[i] = NoTag
	}
}

func (w *FetchWindow) drop(vline uint64) {
	if e := &w.tag[vline%FetchWindowSize]; *e == vline {
		*e = NoTag
	}
}

// FetchWindow returns a unit's window of code, nil if there are no code caches.
// Its owner clears it when the unit switches to another thread.
func (m *Machine) FetchWindow(unit int) *FetchWindow { return m.units[unit].fetches }

// Fetch brings a line into the code cache of a unit's core, to be executed. The
// caller may then put it in the unit's FetchWindow. Nobody has a tag to write the
// line afterwards: a store must come through Access, and takes the line from all
// code caches.
func (m *Machine) Fetch(unit int, l *Line, vline uint64) {
	u := &m.units[unit]
	c := u.core
	st := l.State(c.id)
	if st != Invalid {
		set := l.home & c.code.mask
		if i := c.code.find(set, l); i >= 0 {
			w := &c.code.ways[int(set)*c.code.n+i]
			if w.vline != vline {
				c.dropFetch(w.vline)
				w.vline = vline
			}
			w.by = u.slot
			c.code.use(set, i)
			return
		}
	}
	u.c.FetchMisses++
	if st == Invalid {
		next, supplied := m.broadcast(c, l, vline, &m.proto.Local[Invalid][load])
		m.fetchLine(u, l, vline, supplied)
		l.set(c.id, next)
	} else {
		if w := c.l2.look(l); w != nil {
			u.c.L2Hits++
			set := l.home & c.l2.mask
			c.l2.use(set, c.l2.find(set, l))
		} else {
			m.llc.fetch(l, false, &u.c) // the data cache gives nothing away
		}
		if w := c.l1.look(l); w != nil {
			c.dropWrite(w.vline)
		}
	}
	l.flags |= flagCode
	old, _ := c.code.put(way{l: l, vline: vline, by: u.slot})
	if v := old.l; v != nil {
		u.c.FetchEvictions++
		c.dropFetch(old.vline)
		if c.l1.look(v) == nil && c.l2.look(v) == nil {
			m.leave(u, v)
		}
	}
}

// dropCode takes a line from a core's code cache, because it is written.
func (c *core) dropCode(l *Line) {
	if y := c.code.take(l); y.l != nil {
		c.units[y.by].c.FetchInvalidations++
		c.dropFetch(y.vline)
	}
}

// dropFetch takes a line from the windows of code of a core's units.
func (c *core) dropFetch(vline uint64) {
	for _, u := range c.units {
		if u.fetches != nil {
			u.fetches.drop(vline)
		}
	}
}
