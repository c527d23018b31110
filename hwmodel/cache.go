package hwmodel

import "math/bits"

// A cache is a set-associative cache that lines are in by their homes. The zero
// value is none.
type cache struct {
	ways []way    // sets × n
	ref  []uint64 // for each set, the ways used lately, a bit each
	mask uint64   // sets - 1
	n    int      // ways of a set
	full uint64   // a bit for each way
}

// way is one place of a cache.
type way struct {
	l     *Line  // nil: empty
	vline uint64 // the virtual line under which the windows of the core's units may hold it
	known uint8  // what the cache remembers of logging, a bit for each unit of the core; see Remembers
	by    uint8  // the unit of the core that used it last
}

// ones returns a word with n bits set.
func ones(n int) uint64 { return ^uint64(0) >> (64 - n) }

func newCache(g Geometry) cache {
	if g.Ways == 0 {
		return cache{}
	}
	s := g.sets()
	return cache{make([]way, s*g.Ways), make([]uint64, s), uint64(s - 1), g.Ways, ones(g.Ways)}
}

// find returns the way of a set that holds the line, -1 if none does.
func (c *cache) find(set uint64, l *Line) int {
	ways := c.ways[int(set)*c.n:][:c.n]
	for i := range ways {
		if ways[i].l == l {
			return i
		}
	}
	return -1
}

// look returns the place of a line, nil if it isn't there.
func (c *cache) look(l *Line) *way {
	if c.n == 0 {
		return nil
	}
	set := l.home & c.mask
	if i := c.find(set, l); i >= 0 {
		return &c.ways[int(set)*c.n+i]
	}
	return nil
}

// take takes a line out and returns its place as it was, which is empty if the
// line wasn't there.
func (c *cache) take(l *Line) (y way) {
	if c.n == 0 {
		return y
	}
	set := l.home & c.mask
	if i := c.find(set, l); i >= 0 {
		w := &c.ways[int(set)*c.n+i]
		y, *w = *w, way{}
		c.ref[set] &^= 1 << i
	}
	return y
}

// put puts a line in and returns what had to go for it, which is empty if there
// was room, and the place.
func (c *cache) put(y way) (old way, w *way) {
	set := y.l.home & c.mask
	i := victim(c.ref[set], c.full)
	w = &c.ways[int(set)*c.n+i]
	old, *w = *w, y
	c.use(set, i)
	return old, w
}

// use notes that a way was used: its bit is set, and when all are, only its.
// The way to evict is one whose bit isn't set (bit-PLRU).
func (c *cache) use(set uint64, i int) {
	r := c.ref[set] | 1<<i
	if r == c.full {
		r = 1 << i
	}
	c.ref[set] = r
}

// victim returns the first way that wasn't used lately; with one way only, that.
func victim(ref, full uint64) int { return bits.TrailingZeros64(^ref&full) & (maxWays - 1) }

// llc is the shared last-level cache. It holds what the cores asked for; its
// evictions don't reach their caches (non-inclusive).
type llc struct {
	lines []*Line
	bits  []uint64 // for each way, the units that its line was logged for; see Accounting
	ref   []uint64
	mask  uint64
	n     int
	full  uint64
}

// fetch accounts for a line that a core lacks: it is in the last-level cache
// afterwards. It counts a hit or a miss unless another core supplied the data.
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
