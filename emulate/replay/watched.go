package replay

import (
	"math/bits"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// watched is the changing part of what a thread observes: lines that somebody
// is interested in for a while, such as those of a freed block.
type watched struct {
	set LineSet // a page stays in the table when its last line went
	on  int     // lines
}

func (w *watched) has(line uint64) bool { return w.on > 0 && w.set.Has(line) }

// slot returns the place of page in the table, made if need be.
func (w *watched) slot(page uint64) uint64 {
	s := &w.set
	if len(s.keys) == 0 {
		*s = LineSet{keys: make([]uint64, 64), masks: make([]uint64, 64), shift: 64 - 6}
	}
	i := s.slot(page)
	if s.keys[i] != 0 {
		return i
	}
	if s.n >= len(s.keys)/2 {
		old := *s
		size := 2 * len(old.keys)
		s.keys, s.masks, s.shift, s.n = make([]uint64, size), make([]uint64, size), uint(64-bits.Len(uint(size-1))), 0
		for k, key := range old.keys {
			if key != 0 && old.masks[k] != 0 {
				j := s.slot(key - 1)
				s.keys[j], s.masks[j] = key, old.masks[k]
				s.n++
			}
		}
		i = s.slot(page)
	}
	s.keys[i] = page + 1
	s.n++
	return i
}

// Watch makes the Watcher given to Observe see all accesses to more lines of
// one page: bit i of mask is line i of the page with the given number (address
// >> PageShift). It may be called from the Watcher and from a CallSink.
func (t *Thread) Watch(page, mask uint64) {
	w := &t.watched
	i := w.slot(page)
	add := mask &^ w.set.masks[i]
	w.set.masks[i] |= add
	w.on += bits.OnesCount64(add)
	for ; add != 0; add &= add - 1 {
		t.win.Drop(page<<(PageShift-hwmodel.LineShift) + uint64(bits.TrailingZeros64(add)))
	}
}

// Relax gives an observed line, which the thread has just touched, a tag: until
// Tighten the Watcher may miss reads of it and, if write is set, writes. The
// thread must have touched it for writing then. It serves Watchers, during the
// execution.
func (t *Thread) Relax(line uint64, write bool) {
	pg := t.mem.find(line / linesPerPage)
	if t.every != nil || pg == nil || pg.known>>(line&lineInPage)&1 == 0 || t.q.lines[line%lineCounts] != 0 || t.fault != nil || t.watched.has(line) {
		return
	}
	own := pg.gen == t.mem.gen
	t.win.Allow(line, unsafe.Pointer(pg.line(line)), write && own && !t.codes.has(line/linesPerPage))
}

// Tighten ends what Relax began.
func (t *Thread) Tighten(line uint64) { t.win.Drop(line) }

// Unwatch ends what Watch began, for the lines in mask. Lines in the set given
// to Observe stay observed.
func (t *Thread) Unwatch(page, mask uint64) {
	w := &t.watched
	if w.on == 0 {
		return
	}
	if i := w.set.slot(page); w.set.keys[i] != 0 {
		w.on -= bits.OnesCount64(w.set.masks[i] & mask)
		w.set.masks[i] &^= mask
	}
}
