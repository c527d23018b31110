package races

import (
	"sort"
	"unsafe"
)

// What a Detector keeps of accesses is bounded by Config.Memory. When there is
// more of it, it gives up, in this order: what all threads that live are ordered
// after (which costs nothing); accesses by more than one instruction of each
// thread to a byte; the accesses to pages that weren't touched for the longest
// time. Synchronisation variables, locks and blocks stay.

// Sizes for the account, in bytes.
const (
	cellSize = int64(unsafe.Sizeof(cell{}))
	pageSize = int64(unsafe.Sizeof(shadowPage{}))
)

// shadowCheck is the number of events between two looks at the account.
const shadowCheck = 1 << 16

// Forgot says what a Detector did without for want of memory.
type Forgot struct {
	Sites bool // fewer instructions of each thread were remembered
	Old   bool // accesses to what wasn't touched for long were forgotten: races with them may be missing
}

// Forgot returns what was given up for want of memory.
func (d *Detector) Forgot() Forgot { return d.forgot }

// check keeps the account within its bounds.
func (d *Detector) check() {
	if d.used <= d.pruneAt {
		return
	}
	d.prune()
	d.pruneAt = min(max(2*d.used, d.cfg.Memory/4), d.cfg.Memory)
	if d.used <= d.cfg.Memory/4*3 {
		return
	}
	if d.cfg.Sites > 1 {
		d.cfg.Sites, d.forgot.Sites = 1, true
		d.prune()
	}
	if d.used > d.cfg.Memory/4*3 {
		d.forgot.Old = true
		d.forgetOld()
	}
	d.pruneAt = d.cfg.Memory
}

// prune drops cells that conflict with nothing more, and those of more
// instructions than Config.Sites asks for, and makes the lists fit.
func (d *Detector) prune() {
	d.freeCells, d.slab = [40][][]cell{}, nil
	known := map[uint64]bool{} // by slot and epoch
	ordered := func(c *cell) bool {
		k := c.head >> 16
		o, asked := known[k]
		if !asked {
			o = d.orderedBeforeAll(c.slot(), c.epoch())
			known[k] = o
		}
		return o
	}
	for v, p := range d.pages {
		empty := true
		for i := range p.gran {
			g := &p.gran[i]
			if len(g.cells) > 0 {
				d.pruneCells(g, ordered)
			}
			empty = empty && g.cells == nil && g.sync == nil
		}
		if empty && len(p.locks) == 0 {
			d.dropPage(v, p)
		}
	}
	d.freePages = nil
}

func (d *Detector) pruneCells(g *granule, ordered func(*cell) bool) {
	keep := d.keep[:0]
	defer func() { d.keep = keep }()
	for i := range g.cells {
		c := &g.cells[i]
		if ordered(c) {
			continue
		}
		later := 0
		for j := i + 1; j < len(g.cells) && d.forgot.Sites; j++ {
			if o := &g.cells[j]; o.slot() == c.slot() && (o.bits()^c.bits())&^(bitStale|bitPaired) == 0 && c.mask()&^o.mask() == 0 {
				later++
			}
		}
		if later < d.cfg.Sites {
			keep = append(keep, *c)
		}
	}
	if len(keep) == len(g.cells) {
		return
	}
	d.used -= int64(cap(g.cells)) * cellSize
	g.cells = nil
	if len(keep) > 0 {
		n := 1
		for n < len(keep) {
			n *= 2
		}
		g.cells = append(d.newCells(n), keep...)
	}
}

// dropPage forgets a page that keeps nothing, unless others show its memory.
func (d *Detector) dropPage(v uint64, p *shadowPage) {
	if d.cfg.Canon != nil || len(d.decls[v]) > 0 {
		return
	}
	delete(d.pages, v)
	if e := &d.cache[v%cacheSize]; e.vpage == v {
		*e = pageCacheEntry{}
	}
	d.used -= pageSize
}

// forgetOld forgets the accesses to the pages that weren't asked for for the
// longest time, until half of the memory is free.
func (d *Detector) forgetOld() {
	all := make([]*shadowPage, 0, len(d.pages))
	at := make(map[*shadowPage]uint64, len(d.pages))
	for v, p := range d.pages {
		if o, seen := at[p]; !seen {
			all = append(all, p)
			at[p] = v
		} else {
			at[p] = min(o, v)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].asked != all[j].asked {
			return all[i].asked < all[j].asked
		}
		return at[all[i]] < at[all[j]]
	})
	for _, p := range all {
		if d.used <= d.cfg.Memory/2 {
			break
		}
		empty := true
		for i := range p.gran {
			g := &p.gran[i]
			d.used -= int64(cap(g.cells)) * cellSize
			g.cells = nil
			empty = empty && g.sync == nil
		}
		if empty && len(p.locks) == 0 {
			d.dropPage(at[p], p)
		}
	}
	// Slabs go when all of their cells have gone.
	d.freeCells, d.slab, d.freePages = [40][][]cell{}, nil, nil
}

// Finish gives back what only further events would need. What was found, locks
// and blocks stay.
func (d *Detector) Finish() {
	clear(d.cache[:])
	d.pages, d.canonPages, d.decls, d.declList, d.objects = nil, nil, nil, nil, nil
	d.freeCells, d.slab, d.freePages, d.used = [40][][]cell{}, nil, nil, 0
}
