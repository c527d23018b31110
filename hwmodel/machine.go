package hwmodel

import "math/bits"

// A Machine is a set of cores, each with private caches and one or more
// processing units, and what they share.
type Machine struct {
	cfg     Config
	proto   *Protocol
	cores   []core
	units   []unit
	llc     llc
	tlbs    tlbs
	version uint64 // the last one given out
}

// New makes a machine with empty caches. The configuration must satisfy
// Config.Check.
func New(cfg Config) *Machine {
	if err := cfg.Check(); err != nil {
		panic("BUG: " + err.Error())
	}
	m := &Machine{cfg: cfg, proto: cfg.protocol(), cores: make([]core, cfg.Cores), units: make([]unit, cfg.Units()), tlbs: newTLBs(cfg.tlb(), cfg.Units())}
	s := cfg.LLC.sets() // accounting may take some of the ways
	switch cfg.Accounting.Kind {
	case AccountWays:
		g := cfg.outermost()
		*g = Geometry{g.sets() * int(cfg.Accounting.Ways) * LineSize, int(cfg.Accounting.Ways)}
	case AccountReserved:
		cfg.LLC.Ways -= int(cfg.Accounting.Ways)
	}
	for i := range m.cores {
		c := &m.cores[i]
		c.id, c.l1, c.l2, c.code = i, newCache(cfg.L1), newCache(cfg.L2), newCache(cfg.L1I)
	}
	for i := range m.units {
		u := &m.units[i]
		u.core = &m.cores[i%cfg.Cores]
		u.slot = uint8(len(u.core.units))
		u.core.units = append(u.core.units, u)
		u.win.Clear()
		if cfg.L1I.Ways > 0 {
			u.fetches = new(FetchWindow)
			u.fetches.Clear()
		}
	}
	m.llc = llc{make([]*Line, s*cfg.LLC.Ways), make([]uint64, s*cfg.LLC.Ways), make([]uint64, s), uint64(s - 1), cfg.LLC.Ways, ones(cfg.LLC.Ways)}
	return m
}

// Config returns what the machine is made of.
func (m *Machine) Config() Config { return m.cfg }

// Window returns a unit's window. Its owner clears it when the unit switches
// to another thread.
func (m *Machine) Window(unit int) *Window { return &m.units[unit].win }

// Access brings a line into the first-level data cache of a unit's core, for
// reading or writing, under the virtual line vline, and takes from the other
// cores what the protocol says, with the tags in their units' windows. Units of
// the same core lose the tags that the access makes wrong: to write the line,
// and, if it is written, to read it. It returns whether the unit may write the
// line (its core has it Modified or Exclusive).
//
// The caller may then install a read tag for vline in the unit's window, and,
// after a write and if it may write, a write tag.
//
// Accesses that the window answers aren't seen here: recency of use counts
// only what is.
func (m *Machine) Access(unit int, l *Line, vline uint64, write bool) bool {
	u := &m.units[unit]
	c := u.core
	st := l.State(c.id)
	t := &m.proto.Local[st][load]
	if write {
		t = &m.proto.Local[st][store]
	}
	if st != Invalid {
		set := l.home & c.l1.mask
		if i := c.l1.find(set, l); i >= 0 {
			u.c.Hits++
			w := &c.l1.ways[int(set)*c.l1.n+i]
			u.at, u.missed = w, false
			if w.vline != vline {
				c.drop(w.vline)
				u.c.Aliases++
				w.vline = vline
			}
			c.l1.use(set, i)
		} else {
			m.refill(u, l, vline)
		}
		if len(c.units) > 1 {
			u.beside(vline, write)
		}
		if write && l.flags&flagCode != 0 {
			c.dropCode(l)
		}
		if t.Bus == busNone {
			if t.Next != st {
				l.state = t.Next // silently from Exclusive to Modified
			}
			if write {
				l.flags &^= flagCode // other cores didn't have the line
			}
			return t.Next == Modified || t.Next == Exclusive
		}
	}
	return m.ask(u, l, vline, st, t)
}

// ask does an access that the other cores hear of.
func (m *Machine) ask(u *unit, l *Line, vline uint64, st State, t *Transition) bool {
	next, supplied := m.broadcast(u.core, l, vline, t)
	if st == Invalid {
		u.c.Misses++
		m.fetchLine(u, l, vline, supplied)
		m.fill(u, way{l: l, vline: vline, by: u.slot})
		u.missed = true
	} else {
		u.c.Upgrades++
	}
	l.set(u.core.id, next)
	return next == Modified || next == Exclusive
}

// broadcast lets the other cores that have a line answer a request. It returns
// the state in which the one that asks has it then, and whether another supplied
// the data.
func (m *Machine) broadcast(c *core, l *Line, vline uint64, t *Transition) (next State, supplied bool) {
	l.setHome(vline)
	next = t.Next
	if others := l.sharers &^ (1 << c.id); others != 0 {
		if t.Bus == busWrite {
			supplied = m.invalidate(l, others)
			l.flags &^= flagCode // the core that asks has dropped it, too
			return next, supplied
		}
		return t.NextShared, m.downgrade(l)
	}
	return next, false
}

// fetchLine accounts for a line that a core lacks, and puts it in its second
// level, if that has what the first has.
func (m *Machine) fetchLine(u *unit, l *Line, vline uint64, supplied bool) {
	if supplied {
		u.c.Transfers++
	}
	if u.core.l2.n > 0 {
		u.c.L2Misses++
	}
	m.llc.fetch(l, supplied, &u.c)
	if u.core.l2.n > 0 && !m.cfg.L2Exclusive {
		m.intoL2(u, way{l: l, vline: vline, by: u.slot})
	}
}

// invalidate takes the line from the cores named, because another one writes.
// It returns whether one of them supplied the data.
func (m *Machine) invalidate(l *Line, cores uint64) (supplied bool) {
	for ; cores != 0; cores &= cores - 1 {
		n := bits.TrailingZeros64(cores)
		t := &m.proto.Remote[l.State(n)][busWrite]
		supplied = supplied || t.Supply
		m.cores[n].remove(l).c.Invalidations++
		l.set(n, Invalid)
	}
	return supplied
}

// downgrade lets the owner, if there is one, answer a read by another core. It
// returns whether it supplied the data.
func (m *Machine) downgrade(l *Line) (supplied bool) {
	if l.state == Invalid {
		return false
	}
	c := &m.cores[l.owner]
	w, u := c.holder(l)
	t := &m.proto.Remote[l.state][busRead]
	if l.state == Modified || l.state == Exclusive {
		u.c.Downgrades++
		c.dropWrite(w.vline)
	}
	if t.WriteBack {
		u.c.WriteBacks++
	}
	l.set(c.id, t.Next)
	return t.Supply
}

// DropPage drops the tags of a virtual page (address >> 12) from all windows:
// its mapping or protection changes.
func (m *Machine) DropPage(page uint64) {
	for i := range m.units {
		u := &m.units[i]
		for line := page << (12 - LineShift); line < (page+1)<<(12-LineShift); line++ {
			u.win.Drop(line)
			if u.fetches != nil {
				u.fetches.drop(line)
			}
		}
	}
}

// DropWrites drops the tags to write a line from all windows: every store to it
// asks until a unit may write it again.
func (m *Machine) DropWrites(l *Line) {
	if l.state != Modified && l.state != Exclusive {
		return
	}
	c := &m.cores[l.owner]
	if w := c.l1.look(l); w != nil {
		c.dropWrite(w.vline)
	}
}

// Invalidate takes a line from all private caches, with its tags, because
// something that isn't a processing unit changes it (the kernel), and lets nobody
// know it.
func (m *Machine) Invalidate(l *Line) {
	if l.sharers != 0 {
		m.invalidate(l, l.sharers)
	}
	if l.flags&flagKnown != 0 {
		m.version++
		l.Version = m.version
		l.flags &^= flagKnown | flagMany
	}
}

// Discard takes a line from all caches and makes it like new, because its
// memory goes away.
func (m *Machine) Discard(l *Line) {
	if l.sharers != 0 {
		m.invalidate(l, l.sharers)
	}
	if l.flags&flagLLC != 0 {
		set := l.home & m.llc.mask
		m.llc.lines[int(set)*m.llc.n+int(l.way)] = nil
		m.llc.ref[set] &^= 1 << l.way
	}
	*l = Line{}
}
