package hwmodel

// Counters are what a unit, or all of them, did. Accesses that a window
// answers are in none of them. With several units to a core, what happens to a
// line in its caches counts for the unit that used it last.
type Counters struct {
	Hits          uint64 // the L1 of the unit's core had the line; the unit's window didn't
	Misses        uint64 // the L1 didn't have it
	Upgrades      uint64 // the core had it, but others had to give it up for a write
	Invalidations uint64 // the core lost a line because another, or the kernel, wrote it
	Downgrades    uint64 // the core lost the right to write because another read
	Transfers     uint64 // a missed line came from another core
	Evictions     uint64 // the L1 needed the room
	WriteBacks    uint64 // a dirty line went to the last-level cache
	LLCHits       uint64 // a missed line came from the last-level cache
	LLCMisses     uint64 // a missed line came from memory
	LLCEvictions  uint64 // the last-level cache needed the room
	Prefetches    uint64 // lines that nobody had asked for
	TLBMisses     uint64 // the unit's TLB had no entry for a page that its window didn't answer for
	TLBEvictions  uint64 // it needed the room
	TLBFlushes    uint64 // it lost all entries: another address space, or a big change of this one
	Aliases       uint64 // the unit touched a line in its L1 under another virtual line

	SiblingHits        uint64 // the line that the unit found in its core was used last by another unit of the core
	L2Hits             uint64 // a line that an L1 lacked came from the core's second level
	L2Misses           uint64 // it wasn't there
	L2Evictions        uint64 // the second level needed the room
	FetchMisses        uint64 // the core's code cache lacked a line that the unit executes
	FetchEvictions     uint64 // the code cache needed the room
	FetchInvalidations uint64 // the code cache lost a line because it was written
	Fetches            uint64 // lines of blocks that the unit executed, if there are code caches
}

// A NamedCounter is one counter.
type NamedCounter struct {
	Name  string
	Value uint64
}

// AlwaysCounted is the number of counters, the first of the list, that are of
// every machine.
const AlwaysCounted = 13

// fields are the counters' names and places, in the order of List.
func (c *Counters) fields() []field {
	return []field{
		{"l1.slowhits", &c.Hits},
		{"l1.misses", &c.Misses},
		{"l1.evictions", &c.Evictions},
		{"l1.writebacks", &c.WriteBacks},
		{"l1.aliases", &c.Aliases},
		{"l1.prefetches", &c.Prefetches},
		{"llc.hits", &c.LLCHits},
		{"llc.misses", &c.LLCMisses},
		{"llc.evictions", &c.LLCEvictions},
		{"coherence.upgrades", &c.Upgrades},
		{"coherence.invalidations", &c.Invalidations},
		{"coherence.downgrades", &c.Downgrades},
		{"coherence.transfers", &c.Transfers},
		{"core.siblinghits", &c.SiblingHits},
		{"l2.hits", &c.L2Hits},
		{"l2.misses", &c.L2Misses},
		{"l2.evictions", &c.L2Evictions},
		{"l1i.misses", &c.FetchMisses},
		{"l1i.evictions", &c.FetchEvictions},
		{"l1i.invalidations", &c.FetchInvalidations},
		{"l1i.fetches", &c.Fetches},
		{"tlb.misses", &c.TLBMisses},
		{"tlb.evictions", &c.TLBEvictions},
		{"tlb.flushes", &c.TLBFlushes},
	}
}

type field struct {
	name string
	at   *uint64
}

// List returns the counters in a fixed order; those of caches that the machine
// doesn't have are 0.
func (c *Counters) List() (l []NamedCounter) {
	for _, f := range c.fields() {
		l = append(l, NamedCounter{f.name, *f.at})
	}
	return l
}

// Add adds what was counted from d to e, an earlier and a later state of the same
// counters, to c.
func (c *Counters) Add(d, e *Counters) {
	from, to := d.fields(), e.fields()
	for i, f := range c.fields() {
		*f.at += *to[i].at - *from[i].at
	}
}

// Counters returns what one unit did.
func (m *Machine) Counters(unit int) Counters {
	u := &m.units[unit]
	c := u.c
	if u.fetches != nil {
		c.Fetches = u.fetches.N
	}
	return c
}

// Total returns what all units did.
func (m *Machine) Total() Counters {
	var t Counters
	for i := range m.units {
		c := m.Counters(i)
		t.Add(new(Counters), &c)
	}
	return t
}
