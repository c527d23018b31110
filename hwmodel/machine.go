package hwmodel

import "math/bits"

// A Machine is a set of processing units with their caches.
type Machine struct {
	cfg     Config
	proto   *Protocol
	units   []unit
	llc     llc
	version uint64 // the last one given out
}

// unit is a processing unit: its window and its L1 data cache.
type unit struct {
	win  Window
	c    Counters
	ways []way    // sets × ways
	ref  []uint64 // for each set, the ways used lately, a bit each
	mask uint64   // sets - 1
	n    int      // ways of a set
	full uint64   // a bit for each way

	at     *way // of the last Access
	missed bool // the last Access was none of a line that the cache had
}

// way is one place of an L1.
type way struct {
	l     *Line  // nil: empty
	vline uint64 // the virtual line under which the window may hold it
	known bool   // what the cache remembers of logging, see Remembers
}

// llc is the shared last-level cache. It holds what the units asked for; its
// evictions don't reach their caches (non-inclusive).
type llc struct {
	lines []*Line
	bits  []uint64 // for each way, the units that its line was logged for; see Accounting
	ref   []uint64
	mask  uint64
	n     int
	full  uint64
}

// New makes a machine with empty caches. The configuration must satisfy
// Config.Check.
func New(cfg Config) *Machine {
	if err := cfg.Check(); err != nil {
		panic("BUG: " + err.Error())
	}
	m := &Machine{cfg: cfg, proto: cfg.protocol(), units: make([]unit, cfg.Cores)}
	s := cfg.LLC.sets() // accounting may take some of the ways
	switch cfg.Accounting.Kind {
	case AccountWays:
		cfg.L1 = Geometry{cfg.L1.sets() * int(cfg.Accounting.Ways) * LineSize, int(cfg.Accounting.Ways)}
	case AccountReserved:
		cfg.LLC.Ways -= int(cfg.Accounting.Ways)
	}
	ones := func(n int) uint64 { return ^uint64(0) >> (64 - n) }
	for i := range m.units {
		u := &m.units[i]
		s := cfg.L1.sets()
		u.ways, u.ref = make([]way, s*cfg.L1.Ways), make([]uint64, s)
		u.mask, u.n, u.full = uint64(s-1), cfg.L1.Ways, ones(cfg.L1.Ways)
		u.win.Clear()
	}
	m.llc = llc{make([]*Line, s*cfg.LLC.Ways), make([]uint64, s*cfg.LLC.Ways), make([]uint64, s), uint64(s - 1), cfg.LLC.Ways, ones(cfg.LLC.Ways)}
	return m
}

// Config returns what the machine is made of.
func (m *Machine) Config() Config { return m.cfg }

// Window returns a unit's window. Its owner clears it when the unit switches
// to another thread.
func (m *Machine) Window(unit int) *Window { return &m.units[unit].win }

// Access brings a line into a unit's L1, for reading or writing, under the
// virtual line vline, and takes from the other units what the protocol says,
// with the tags in their windows. It returns whether the unit may write the
// line (it has it Modified or Exclusive).
//
// The caller may then install a read tag for vline in the unit's window, and,
// after a write and if it may write, a write tag.
//
// Accesses that the window answers aren't seen here: recency of use counts
// only what is.
func (m *Machine) Access(unit int, l *Line, vline uint64, write bool) bool {
	u := &m.units[unit]
	st := l.State(unit)
	t := &m.proto.Local[st][load]
	if write {
		t = &m.proto.Local[st][store]
	}
	if st != Invalid {
		u.c.Hits++
		set := l.home & u.mask
		i := u.find(set, l)
		w := &u.ways[int(set)*u.n+i]
		u.at, u.missed = w, false
		if w.vline != vline {
			u.win.Drop(w.vline)
			u.c.Aliases++
			w.vline = vline
		}
		u.use(set, i)
		if t.Bus == busNone {
			if t.Next != st {
				l.state = t.Next // silently from Exclusive to Modified
			}
			return t.Next == Modified || t.Next == Exclusive
		}
	}
	return m.ask(unit, l, vline, st, t)
}

// ask does an access that the other units hear of.
func (m *Machine) ask(unit int, l *Line, vline uint64, st State, t *Transition) bool {
	u := &m.units[unit]
	l.setHome(vline)
	next, supplied := t.Next, false
	if others := l.sharers &^ (1 << unit); others != 0 {
		if t.Bus == busWrite {
			supplied = m.invalidate(l, others)
		} else {
			supplied = m.downgrade(l)
			next = t.NextShared
		}
	}
	if st == Invalid {
		u.c.Misses++
		if supplied {
			u.c.Transfers++
		}
		u.missed = true
		m.llc.fetch(l, supplied, &u.c)
		m.insert(unit, l, vline)
	} else {
		u.c.Upgrades++
	}
	l.set(unit, next)
	return next == Modified || next == Exclusive
}

// invalidate takes the line from the units named, because another one writes.
// It returns whether one of them supplied the data.
func (m *Machine) invalidate(l *Line, units uint64) (supplied bool) {
	for ; units != 0; units &= units - 1 {
		n := bits.TrailingZeros64(units)
		t := &m.proto.Remote[l.State(n)][busWrite]
		supplied = supplied || t.Supply
		m.units[n].c.Invalidations++
		m.remove(n, l)
	}
	return supplied
}

// downgrade lets the owner, if there is one, answer a read by another unit. It
// returns whether it supplied the data.
func (m *Machine) downgrade(l *Line) (supplied bool) {
	if l.state == Invalid {
		return false
	}
	n := int(l.owner)
	u := &m.units[n]
	t := &m.proto.Remote[l.state][busRead]
	if l.state == Modified || l.state == Exclusive {
		u.c.Downgrades++
		set := l.home & u.mask
		u.win.DropWrite(u.ways[int(set)*u.n+u.find(set, l)].vline)
	}
	if t.WriteBack {
		u.c.WriteBacks++
	}
	l.set(n, t.Next)
	return t.Supply
}

// remove takes the line out of a unit's L1 and its tags out of the window.
func (m *Machine) remove(n int, l *Line) {
	u := &m.units[n]
	set := l.home & u.mask
	i := u.find(set, l)
	w := &u.ways[int(set)*u.n+i]
	u.win.Drop(w.vline)
	*w = way{}
	u.ref[set] &^= 1 << i
	l.set(n, Invalid)
}

// insert makes room for the line in a unit's L1 and puts it there.
func (m *Machine) insert(n int, l *Line, vline uint64) {
	u := &m.units[n]
	set := l.home & u.mask
	i := victim(u.ref[set], u.full)
	w := &u.ways[int(set)*u.n+i]
	if v := w.l; v != nil {
		u.c.Evictions++
		u.win.Drop(w.vline)
		if m.proto.Local[v.State(n)][evict].WriteBack {
			u.c.WriteBacks++
		}
		v.set(n, Invalid)
	}
	w.l, w.vline, w.known = l, vline, false
	u.at = w
	u.use(set, i)
}

// find returns the way that holds the line, which must be there.
func (u *unit) find(set uint64, l *Line) int {
	ways := u.ways[int(set)*u.n:][:u.n]
	for i := range ways {
		if ways[i].l == l {
			return i
		}
	}
	panic("BUG: hwmodel: a line's directory names a unit whose cache doesn't hold it")
}

// victim returns the first way that wasn't used lately; with one way only, that.
func victim(ref, full uint64) int { return bits.TrailingZeros64(^ref&full) & (maxWays - 1) }

// use notes that a way was used: its bit is set, and when all are, only its.
// The way to evict is one whose bit isn't set (bit-PLRU).
func (u *unit) use(set uint64, i int) {
	r := u.ref[set] | 1<<i
	if r == u.full {
		r = 1 << i
	}
	u.ref[set] = r
}

// fetch accounts for a line that a unit lacks: it is in the last-level cache
// afterwards. It counts a hit or a miss unless another unit supplied the data.
func (c *llc) fetch(l *Line, supplied bool, n *Counters) {
	set := l.home & c.mask
	if l.flags&flagLLC != 0 {
		if !supplied {
			n.LLCHits++
		}
		c.use(set, int(l.way))
		return
	}
	if !supplied {
		n.LLCMisses++
	}
	i := victim(c.ref[set], c.full)
	p := &c.lines[int(set)*c.n+i]
	if v := *p; v != nil {
		v.flags &^= flagLLC
		n.LLCEvictions++
	}
	*p = l
	c.bits[int(set)*c.n+i] = 0
	l.way = uint8(i)
	l.flags |= flagLLC
	c.use(set, i)
}

func (c *llc) use(set uint64, i int) {
	r := c.ref[set] | 1<<i
	if r == c.full {
		r = 1 << i
	}
	c.ref[set] = r
}

// DropPage drops the tags of a virtual page (address >> 12) from all windows:
// its mapping or protection changes.
func (m *Machine) DropPage(page uint64) {
	for i := range m.units {
		w := &m.units[i].win
		for line := page << (12 - LineShift); line < (page+1)<<(12-LineShift); line++ {
			w.Drop(line)
		}
	}
}

// Invalidate takes a line from all L1s, with its tags, because something that
// isn't a processing unit changes it (the kernel), and lets nobody know it.
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
