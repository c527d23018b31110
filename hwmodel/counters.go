package hwmodel

// Counters are what a unit, or all of them, did. Accesses that a window
// answers are in none of them.
type Counters struct {
	Hits          uint64 // the unit's L1 had the line; its window didn't
	Misses        uint64 // the unit's L1 didn't have it
	Upgrades      uint64 // it had it, but other units had to give it up for a write
	Invalidations uint64 // the unit lost a line because another, or the kernel, wrote it
	Downgrades    uint64 // the unit lost the right to write because another read
	Transfers     uint64 // a missed line came from another unit's L1
	Evictions     uint64 // the unit's L1 needed the room
	WriteBacks    uint64 // a dirty line went to the last-level cache
	LLCHits       uint64 // a missed line came from the last-level cache
	LLCMisses     uint64 // a missed line came from memory
	LLCEvictions  uint64 // the last-level cache needed the room
	Prefetches    uint64 // lines that nobody had asked for
	Aliases       uint64 // the unit touched a line in its L1 under another virtual line
}

// A NamedCounter is one counter.
type NamedCounter struct {
	Name  string
	Value uint64
}

// List returns the counters in a fixed order.
func (c *Counters) List() []NamedCounter {
	return []NamedCounter{
		{"l1.slowhits", c.Hits},
		{"l1.misses", c.Misses},
		{"l1.evictions", c.Evictions},
		{"l1.writebacks", c.WriteBacks},
		{"l1.aliases", c.Aliases},
		{"l1.prefetches", c.Prefetches},
		{"llc.hits", c.LLCHits},
		{"llc.misses", c.LLCMisses},
		{"llc.evictions", c.LLCEvictions},
		{"coherence.upgrades", c.Upgrades},
		{"coherence.invalidations", c.Invalidations},
		{"coherence.downgrades", c.Downgrades},
		{"coherence.transfers", c.Transfers},
	}
}

func (c *Counters) add(d *Counters) {
	c.Hits += d.Hits
	c.Misses += d.Misses
	c.Upgrades += d.Upgrades
	c.Invalidations += d.Invalidations
	c.Downgrades += d.Downgrades
	c.Transfers += d.Transfers
	c.Evictions += d.Evictions
	c.WriteBacks += d.WriteBacks
	c.LLCHits += d.LLCHits
	c.LLCMisses += d.LLCMisses
	c.LLCEvictions += d.LLCEvictions
	c.Aliases += d.Aliases
	c.Prefetches += d.Prefetches
}

// Counters returns what one unit did.
func (m *Machine) Counters(unit int) Counters { return m.units[unit].c }

// Total returns what all units did.
func (m *Machine) Total() Counters {
	var t Counters
	for i := range m.units {
		t.add(&m.units[i].c)
	}
	return t
}
