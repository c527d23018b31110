package hwmodel

// A core is what the units of one core share: a first-level data cache, and, if
// the machine has them, a first-level code cache and a second level for both.
// Coherence states are a core's: it has a line as long as one of its caches does.
//
// A second level that is inclusive has whatever the first has; when a line leaves
// it, it leaves the core. An exclusive one has what left the first-level data
// cache, and gives it back there. The code cache only ever has copies that nobody
// may write: a store by the core takes them away, as one by another core does.
type core struct {
	id           int
	l1, l2, code cache
	units        []*unit // its hardware threads
}

// A unit is a processing unit: a hardware thread of a core, with windows of its
// own. A tag in its window says that the core's first-level data cache has the
// line, under the virtual line that its way names.
type unit struct {
	win     Window
	fetches *FetchWindow // nil: there is no code cache
	c       Counters
	core    *core
	slot    uint8 // among the units of the core

	at     *way // of the last Access
	missed bool // the last Access was none of a line that the first-level cache had
}

// drop and dropWrite take tags from the windows of all units of a core.
func (c *core) drop(vline uint64) {
	if len(c.units) == 1 {
		c.units[0].win.Drop(vline)
		return
	}
	for _, u := range c.units {
		u.win.Drop(vline)
	}
}

func (c *core) dropWrite(vline uint64) {
	for _, u := range c.units {
		u.win.DropWrite(vline)
	}
}

// beside takes from the windows of the other units of u's core what u's access
// makes wrong: what they write, others would have to learn, and what is written
// they don't know any more.
func (u *unit) beside(vline uint64, write bool) {
	for _, o := range u.core.units {
		switch {
		case o == u:
		case write:
			o.win.Drop(vline)
		default:
			o.win.DropWrite(vline)
		}
	}
	if u.at.by != u.slot {
		u.c.SiblingHits++
		u.at.by = u.slot
	}
}

// holder returns a place of a line that the core has, the first level's if that
// has it, and the unit that used it there last.
func (c *core) holder(l *Line) (*way, *unit) {
	w := c.l1.look(l)
	if w == nil {
		w = c.l2.look(l)
	}
	if w == nil {
		w = c.code.look(l)
	}
	if w == nil {
		panic("BUG: hwmodel: a line's directory names a core whose caches don't hold it")
	}
	return w, c.units[w.by]
}

// remove takes a line out of all caches of a core, which has it, and its tags
// out of the windows. It returns the unit that used it last.
func (c *core) remove(l *Line) *unit {
	_, u := c.holder(l)
	if y := c.l1.take(l); y.l != nil {
		c.drop(y.vline)
	}
	c.l2.take(l)
	if l.flags&flagCode != 0 {
		c.dropCode(l)
	}
	return u
}

// refill brings a line that a core has into its first-level data cache, which
// lacks it.
func (m *Machine) refill(u *unit, l *Line, vline uint64) {
	u.c.Misses++
	y := way{l: l, vline: vline, by: u.slot}
	if w := u.core.l2.look(l); w != nil {
		u.c.L2Hits++
		set := l.home & u.core.l2.mask
		u.core.l2.use(set, u.core.l2.find(set, l))
		y.known, y.by = w.known, w.by
		if m.cfg.L2Exclusive {
			u.core.l2.take(l)
		}
	} else {
		m.fetchLine(u, l, vline, false) // the code cache has it, which gives nothing away
	}
	m.fill(u, y)
	u.missed = true
}

// fill puts a line in the first-level data cache of u's core.
func (m *Machine) fill(u *unit, y way) {
	c := u.core
	set := y.l.home & c.l1.mask
	i := victim(c.l1.ref[set], c.l1.full)
	w := &c.l1.ways[int(set)*c.l1.n+i]
	u.at = w
	if old := w.l; old != nil {
		u.c.Evictions++
		c.drop(w.vline)
		switch {
		case c.l2.n == 0:
			m.leave(u, old)
		case m.cfg.L2Exclusive:
			m.intoL2(u, *w)
		default:
			l2 := c.l2.look(old)
			l2.known, l2.by = w.known, w.by
		}
	}
	*w = y
	c.l1.use(set, i)
}

// intoL2 puts a line in the second level of u's core.
func (m *Machine) intoL2(u *unit, y way) {
	c := u.core
	old, _ := c.l2.put(y)
	if old.l == nil {
		return
	}
	u.c.L2Evictions++
	if !m.cfg.L2Exclusive {
		if up := c.l1.take(old.l); up.l != nil {
			c.drop(up.vline)
		}
		if old.l.flags&flagCode != 0 {
			c.dropCode(old.l)
		}
	}
	m.leave(u, old.l)
}

// leave notes that u's core has a line neither in its first-level data cache nor
// in its second level any more.
func (m *Machine) leave(u *unit, l *Line) {
	c := u.core
	if m.proto.Local[l.State(c.id)][evict].WriteBack {
		u.c.WriteBacks++
	}
	if l.flags&flagCode != 0 && c.code.look(l) != nil {
		l.set(c.id, Shared)
		return
	}
	l.set(c.id, Invalid)
}
