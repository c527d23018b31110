package loadsub

import "github.com/racesim/racesim/emulate/overlay"

// Where a collector's allocator puts a new block depends on the order of
// allocations, and isn't to be seen by the program: two executions are alike if
// what leads to new blocks leads to the same content.

// blocks compares the new blocks of two executions.
type blocks struct {
	want, got *overlay.Result
	seen      map[[2]uint64]bool
}

// maxFresh bounds how far pointers are followed, and how many bytes of a block
// are compared.
const (
	maxFresh      = 8
	maxFreshBytes = 4096
)

// at says whether an address is in a new block of either execution. Its content
// counts for what leads there.
func (b *blocks) at(addr uint64) bool {
	if _, _, ok := b.want.Fresh(addr); ok {
		return true
	}
	_, _, ok := b.got.Fresh(addr)
	return ok
}

// word says whether the words at an address lead to the same.
func (b *blocks) word(addr uint64) bool {
	w, ok := b.want.Uint(addr, 8)
	g, ok2 := b.got.Uint(addr, 8)
	return ok && ok2 && b.same(w, g, 0)
}

// same says whether two values are addresses of the same place in new blocks
// with the same content.
func (b *blocks) same(w, g uint64, depth int) bool {
	wb, wn, ok := b.want.Fresh(w)
	gb, gn, ok2 := b.got.Fresh(g)
	if !ok || !ok2 || wn != gn || w-wb != g-gb {
		return false
	}
	k := [2]uint64{wb, gb}
	if b.seen[k] || depth == maxFresh {
		return true
	}
	if b.seen == nil {
		b.seen = map[[2]uint64]bool{}
	}
	b.seen[k] = true
	for o := uint64(0); o < min(wn, maxFreshBytes); o += 8 {
		x, ok := b.want.Uint(wb+o, 8)
		y, ok2 := b.got.Uint(gb+o, 8)
		if (ok != ok2 || x != y) && !b.same(x, y, depth+1) {
			delete(b.seen, k)
			return false
		}
	}
	return true
}
