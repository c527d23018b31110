package races

import (
	"math/bits"

	"github.com/racesim/racesim/emulate"
)

// The shadow memory: pages of granules of cells.
const (
	granuleShift = 3 // a granule shadows 8 bytes
	lineShift    = 6
	lineSize     = 1 << lineShift
	pageShift    = 12
	pageGranules = 1 << (pageShift - granuleShift)
	pageMask     = 1<<pageShift - 1
	cacheSize    = 256 // pages found without the map; a power of two
	slabCells    = 1024
)

// A cell remembers the last access of its kind by one instruction of one thread
// to some bytes of one granule. It holds no pointers: the garbage collector skips cells.
type cell struct {
	// head is slot<<48 | epoch<<16 | bits<<8 | mask: the same access again in
	// the same epoch has the same head.
	head  uint64
	pc    uint64 // pc<<16 | original mask<<8 | unused
	count uint64
	value uint64 // as of the lowest byte of the original mask
	ctx   uint32
	locks LocksetID
}

// The bits of a cell: kind-1, then Atomic, Internal, Kernel as in Flags, then:
const (
	bitStale  = 1 << 5 // it conflicted: the same access again must look anew
	bitPaired = 1 << 6 // see Access.Paired
	bitCoarse = 1 << 7 // see Coarse
	bitsKind  = 3
	bitRead   = uint64(Read - 1)
)

func (c *cell) mask() uint64  { return c.head & 0xff }
func (c *cell) bits() uint64  { return c.head >> 8 & 0xff }
func (c *cell) kind() Kind    { return Kind(c.head>>8&bitsKind) + 1 }
func (c *cell) slot() int     { return int(c.head >> 48) }
func (c *cell) epoch() uint32 { return uint32(c.head >> 16) }
func (c *cell) orig() uint64  { return c.pc >> 8 & 0xff }

// A granule shadows 8 bytes. sync is set if some of them belong to a
// synchronisation variable.
type granule struct {
	cells []cell
	sync  *syncGranule
}

// A shadowPage shadows 4096 bytes of memory, whatever the number of virtual
// pages that show it.
type shadowPage struct {
	key   uint64 // canonical page number
	refs  int    // virtual pages that show it and were touched
	asked uint64 // Stats.Events when it was last asked for, about
	gran  [pageGranules]granule
	locks []emulate.Addr // locks known to live here
}

type pageCacheEntry struct {
	vpage uint64
	page  *shadowPage
}

// granule returns the granule of a, which it makes if need be.
func (d *Detector) granule(a uint64) *granule {
	v := a >> pageShift
	e := &d.cache[v%cacheSize]
	if e.vpage != v || e.page == nil {
		d.findPage(v, e)
	}
	return &e.page.gran[a>>granuleShift%pageGranules]
}

// findPage puts the shadow of virtual page v into e.
func (d *Detector) findPage(v uint64, e *pageCacheEntry) {
	p := d.pages[v]
	if p == nil {
		key := v
		if d.cfg.Canon != nil {
			key = uint64(d.cfg.Canon(emulate.Addr(v<<pageShift))) >> pageShift
		}
		p = d.canonPages[key]
		if p == nil {
			if n := len(d.freePages); n > 0 {
				p = d.freePages[n-1]
				d.freePages = d.freePages[:n-1]
			} else {
				p = new(shadowPage)
			}
			d.used += pageSize
			p.key = key
			if d.cfg.Canon != nil {
				d.canonPages[key] = p
			}
		}
		p.refs++
		d.pages[v] = p
		d.installDecls(v, p)
	}
	p.asked = d.stats.Events
	*e = pageCacheEntry{v, p}
}

// newCells returns an empty list with room for n (a power of two) cells.
func (d *Detector) newCells(n int) []cell {
	d.used += int64(n) * cellSize
	class := bits.TrailingZeros(uint(n))
	if f := d.freeCells[class]; len(f) > 0 {
		c := f[len(f)-1]
		d.freeCells[class] = f[:len(f)-1]
		return c
	}
	if n > slabCells {
		return make([]cell, 0, n)
	}
	if len(d.slab) < n {
		d.slab = make([]cell, slabCells)
	}
	c := d.slab[:0:n]
	d.slab = d.slab[n:]
	return c
}

// dropCells empties g's list and keeps its memory for others.
func (d *Detector) dropCells(g *granule) {
	if n := cap(g.cells); n > 0 {
		d.used -= int64(n) * cellSize
		class := bits.TrailingZeros(uint(n))
		d.freeCells[class] = append(d.freeCells[class], g.cells[:0])
		g.cells = nil
	}
}

// put appends c to g's list.
func (d *Detector) put(g *granule, c cell) {
	if len(g.cells) == cap(g.cells) {
		d.growCells(g)
	}
	g.cells = append(g.cells, c)
}

// growCells makes room in g's full list: by forgetting cells that every live
// thread is ordered after, else by doubling it.
func (d *Detector) growCells(g *granule) {
	if len(g.cells) == 0 {
		g.cells = d.newCells(2)
		return
	}
	keep := g.cells[:0]
	for _, c := range g.cells {
		if !d.orderedBeforeAll(c.slot(), c.epoch()) {
			keep = append(keep, c)
		}
	}
	if len(keep) < cap(g.cells) {
		g.cells = keep
		return
	}
	n := append(d.newCells(2*cap(g.cells)), g.cells...)
	d.dropCells(g)
	g.cells = n
}

// clear forgets everything about the n bytes at addr: they are new memory.
func (d *Detector) clear(addr emulate.Addr, n uint64, unmap bool) {
	if n == 0 {
		return
	}
	lo, hi := uint64(addr), uint64(addr)+n // hi exclusive
	if hi < lo {
		hi = ^uint64(0)
	}
	d.newLives(lo, hi)
	if d.primitives && hi <= primitives {
		d.clearShadow(primitives|lo, primitives|hi, unmap)
	}
	d.clearShadow(lo, hi, unmap)
}

// clearShadow forgets what is known of [lo, hi), lo < hi.
func (d *Detector) clearShadow(lo, hi uint64, unmap bool) {
	first, last := lo>>pageShift, (hi-1)>>pageShift
	if last-first >= uint64(len(d.pages)) {
		for v, p := range d.pages {
			if v >= first && v <= last {
				d.clearPage(v, p, lo, hi, unmap)
			}
		}
		return
	}
	for v := first; v <= last; v++ {
		if p := d.pages[v]; p != nil {
			d.clearPage(v, p, lo, hi, unmap)
		}
	}
}

// clearPage forgets the part of virtual page v, shadowed by p, that lies in
// [lo, hi). Whole pages that alias others are only unlinked.
func (d *Detector) clearPage(v uint64, p *shadowPage, lo, hi uint64, unmap bool) {
	base := v << pageShift
	whole := lo <= base && hi-base >= 1<<pageShift
	if whole && unmap {
		delete(d.pages, v)
		if e := &d.cache[v%cacheSize]; e.vpage == v {
			*e = pageCacheEntry{}
		}
		p.refs--
		if p.refs > 0 || p.key != v {
			return // other mappings show the same memory, or will
		}
		delete(d.canonPages, v)
	}
	from, to := 0, pageGranules
	if lo > base {
		from = int(lo-base) >> granuleShift
	}
	if hi-base < 1<<pageShift {
		to = int(hi-base+7) >> granuleShift
	}
	for i := from; i < to; i++ {
		g := &p.gran[i]
		if g.cells == nil && g.sync == nil {
			continue
		}
		gb := base + uint64(i)<<granuleShift
		d.clearGranule(g, byteMask(max(lo, gb)-gb, min(hi, gb+8)-gb))
	}
	d.retireLocks(p, lo, hi)
	if whole && unmap {
		d.used -= pageSize
		d.freePages = append(d.freePages, p)
	} else {
		d.installDecls(v, p)
	}
}

// clearGranule forgets the bytes of mask m in g.
func (d *Detector) clearGranule(g *granule, m uint64) {
	if m == 0xff {
		d.dropCells(g)
		g.sync = nil
		return
	}
	keep := g.cells[:0]
	for _, c := range g.cells {
		c.head &^= m
		if c.mask() != 0 {
			keep = append(keep, c)
		}
	}
	g.cells = keep
	if g.sync != nil && g.sync.clear(uint8(m)) {
		g.sync = nil
	}
}

// byteMask returns the mask of bytes from to to (exclusive) of a granule.
func byteMask(from, to uint64) uint64 { return 1<<to - 1<<from }
