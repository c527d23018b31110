package races

import (
	"sort"
	"unsafe"
)

// What a Predictor keeps is bounded by PredictConfig.Memory. When there is more
// of it, the Predictor gives up, in this order: what can't race any more, as all
// threads that live depend on it (which costs nothing); accesses beyond fewer
// and fewer per granule and thread; critical sections; the accesses to pages
// that weren't touched for the longest time. What was written where stays, as
// all that is predicted rests on it; if that alone is too much, prediction ends.

// Sizes for the account, in bytes.
const (
	predPageSize    = int64(unsafe.Sizeof(predPage{}))
	predAccessSize  = int64(unsafe.Sizeof(predAccess{}))
	predWriteSize   = int64(unsafe.Sizeof(predWrite{}))
	predSectionSize = int64(unsafe.Sizeof(section{}))
)

// predCheck is the number of events between two looks at the account.
const predCheck = 1 << 16

// Given says what a Predictor did without for want of memory.
type Given struct {
	History int  // accesses kept per granule and thread in the end, 0: all that were asked for
	Old     bool // accesses to what wasn't touched for long were forgotten
	Ended   bool // prediction ended early
}

// Given returns what was given up for want of memory.
func (p *Predictor) Given() Given { return p.given }

// clockBytes is what the vector clocks take.
func (p *Predictor) clockBytes() int64 {
	return int64(len(p.clocks)-len(p.unused)) * int64(unsafe.Sizeof(clock{})+4*uintptr(len(p.slots)+3))
}

// check keeps the account within its bounds.
func (p *Predictor) check() {
	if p.used+p.clockBytes() <= p.pruneAt {
		return
	}
	p.prune()
	p.freeClocks()
	p.pruneAt = min(max(2*(p.used+p.clockBytes()), p.cfg.Memory/8), p.cfg.Memory)
	const enough = 3
	over := func() bool { return p.used+p.clockBytes() > p.cfg.Memory/4*enough }
	for over() && p.cfg.History > 1 {
		p.cfg.History /= 2
		p.cfg.Window = max(p.cfg.Window/4, 4)
		p.given.History = p.cfg.History
		p.prune()
		p.freeClocks()
	}
	if over() {
		p.given.Old = true
		p.forgetOld()
		p.freeClocks()
	}
	if p.used+p.clockBytes() > p.cfg.Memory/8*7 {
		p.given.Ended, p.full = true, true
		p.Finish()
	}
}

// Finish gives back what only further events would need. What was found stays.
func (p *Predictor) Finish() {
	p.pages, p.locks, p.contended, p.clocks, p.unused = nil, nil, nil, nil, nil
	p.objects, p.hard, p.exits, p.sets, p.setByID, p.tries = nil, nil, nil, nil, nil, nil
	clear(p.near[:])
}

// floor returns, for each slot, the number of its events that all other threads
// which may still do something depend on.
func (p *Predictor) floor() clock {
	f := make(clock, len(p.slots))
	for s := range f {
		low, others := ^uint32(0), false
		for _, t := range p.slots {
			if t.ended || t.slot == s {
				continue
			}
			others = true
			low = min(low, p.willKnow(t, s))
		}
		if f[s] = low; !others {
			f[s] = 0
		}
	}
	return f
}

// willKnow returns the number of events of slot s that t's next one depends on.
func (p *Predictor) willKnow(t *predThread, s int) uint32 {
	n := uint32(0)
	for range p.slots {
		if k := p.clocks[t.knows]; s < len(k) {
			n = max(n, k[s])
		}
		if t.slot == s {
			n = max(n, t.n)
		}
		if t = t.waits; t == nil {
			break
		}
	}
	return n
}

// prune drops accesses that no later one can race with, those beyond
// PredictConfig.History, and critical sections that no later set ends in.
func (p *Predictor) prune() {
	f := p.floor()
	for num, pg := range p.pages {
		empty := true
		for i := range pg.gran {
			g := &pg.gran[i]
			if len(g.list) > 0 {
				p.pruneList(g, f)
			}
			empty = empty && g.list == nil && g.writes == nil && g.ignored|g.syncs == 0 && !g.exit
		}
		if empty {
			delete(p.pages, num)
			p.used -= predPageSize
			if near := &p.near[num%uint64(len(p.near))]; *near == pg {
				*near = nil
			}
		}
	}
	for _, l := range p.locks {
		for slot := range l.threads {
			p.pruneSections(&l.threads[slot], f[slot])
		}
	}
}

func (p *Predictor) pruneList(g *predGranule, f clock) {
	keep := g.list[:0]
	for i := range g.list {
		o := &g.list[i]
		if o.before.n < f[o.before.slot] {
			continue
		}
		later := 0
		for j := i + 1; j < len(g.list) && later < p.cfg.History; j++ {
			if g.list[j].before.slot == o.before.slot {
				later++
			}
		}
		if later < p.cfg.History {
			keep = append(keep, *o)
		}
	}
	p.used -= int64(cap(g.list)) * predAccessSize
	if len(keep) == 0 {
		g.list = nil
		return
	}
	if len(keep) < cap(keep) {
		keep = append(make([]predAccess, 0, len(keep)), keep...)
	}
	g.list = keep
	p.used += int64(cap(keep)) * predAccessSize
}

func (p *Predictor) pruneSections(s *predSections, floor uint32) {
	n := sort.Search(len(s.list), func(i int) bool { return s.list[i].start > floor }) - 1
	n = max(n, len(s.list)-p.cfg.Window)
	// Those that last are the last ones, and at most one.
	if n = min(n, len(s.list)-1); n <= 0 {
		return
	}
	s.dropped += n
	p.used -= int64(cap(s.list)) * predSectionSize
	s.list = append(make([]section, 0, len(s.list)-n), s.list[n:]...)
	p.used += int64(cap(s.list)) * predSectionSize
}

// forgetOld forgets the accesses to the pages that weren't asked for for the
// longest time, until half of the memory is free.
func (p *Predictor) forgetOld() {
	all := make([]*predPage, 0, len(p.pages))
	for _, pg := range p.pages {
		all = append(all, pg)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].asked != all[j].asked {
			return all[i].asked < all[j].asked
		}
		return all[i].num < all[j].num
	})
	for _, pg := range all {
		if p.used+p.clockBytes() <= p.cfg.Memory/2 {
			return
		}
		for i := range pg.gran {
			p.used -= int64(cap(pg.gran[i].list)) * predAccessSize
			pg.gran[i].list = nil
		}
	}
}

// clockRefs calls f for all places that keep a clock's number.
func (p *Predictor) clockRefs(f func(clockNum)) {
	for _, t := range p.slots {
		f(t.knows)
		f(t.must)
		f(t.outer.knows)
		for i := range t.ends {
			f(t.ends[i].knows)
		}
	}
	for _, l := range p.locks {
		for i := range l.threads {
			for k := range l.threads[i].list {
				f(l.threads[i].list[k].end.knows)
			}
		}
	}
	for _, pg := range p.pages {
		for i := range pg.gran {
			g := &pg.gran[i]
			for k := range g.writes {
				f(g.writes[k].knows)
				f(g.writes[k].deps)
			}
			for k := range g.list {
				f(g.list[k].before.knows)
				f(g.list[k].outer.knows)
			}
		}
	}
}

// freeClocks makes the numbers of clocks that nobody refers to available.
func (p *Predictor) freeClocks() {
	used := make([]bool, len(p.clocks))
	used[0] = true
	p.clockRefs(func(n clockNum) { used[n] = true })
	p.unused = p.unused[:0]
	for n := len(used) - 1; n > 0; n-- {
		if !used[n] {
			p.clocks[n] = nil
			p.unused = append(p.unused, clockNum(n))
		}
	}
}
