package races

import (
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A BlockID names a heap block within one recording: blocks count from 1 in
// the order of their allocation. 0 is no block.
type BlockID uint32

// A Block is a piece of memory that an allocator handed out.
type Block struct {
	ID     BlockID // 0: not in a heap block
	Addr   emulate.Addr
	Size   uint64 // bytes
	Thread emulate.ThreadID
	Ctx    uint32 // where it was allocated
	PC     uint64 // of the call that did, 0 if unknown
	Count  emulate.Count
	Freed  bool

	// What freed it, if Freed.
	FreeThread emulate.ThreadID
	FreeCtx    uint32
	FreePC     uint64
	free       cell
}

// bucketShift: blocks are found by the 64 KiB of the address space they touch.
const bucketShift = 16

// blocks finds heap blocks by address. Freed blocks stay until their memory
// is handed out again or unmapped.
type blocks struct {
	all     []Block
	unused  []int32
	buckets map[uint64][]int32 // sorted by Addr; a block is in each bucket it touches
	nextID  BlockID
	freed   int // blocks that are freed and still known

	// The last answer of find: addresses in [lo, hi) have block last (-1: none).
	lo, hi uint64
	last   int32
}

// find returns the block that holds a, nil if none does. The pointer is good
// until the next change.
func (b *blocks) find(a uint64) *Block {
	if a < b.lo || a >= b.hi {
		b.lookUp(a)
	}
	if b.last < 0 {
		return nil
	}
	return &b.all[b.last]
}

func (b *blocks) lookUp(a uint64) { b.lo, b.hi, b.last = b.locate(a) }

// locate returns the block that holds a, -1 if none does, and the addresses around a
// of which the same is true. It may be called by several goroutines.
func (b *blocks) locate(a uint64) (lo, hi uint64, at int32) {
	k := a >> bucketShift
	l := b.buckets[k]
	i := sort.Search(len(l), func(i int) bool { return uint64(b.all[l[i]].Addr) > a })
	lo, hi = k<<bucketShift, (k+1)<<bucketShift
	if i < len(l) {
		hi = uint64(b.all[l[i]].Addr)
	}
	if i == 0 {
		return lo, hi, -1
	}
	p := &b.all[l[i-1]]
	end := uint64(p.Addr) + p.Size
	if a < end {
		return uint64(p.Addr), end, l[i-1]
	}
	return max(lo, end), hi, -1
}

// add records a new block. What overlapped it is no more.
func (b *blocks) add(addr emulate.Addr, n uint64, thread emulate.ThreadID, ctx uint32, count emulate.Count) *Block {
	n = max(n, 1)
	b.remove(addr, n)
	var i int32
	if k := len(b.unused); k > 0 {
		i = b.unused[k-1]
		b.unused = b.unused[:k-1]
	} else {
		i = int32(len(b.all))
		b.all = append(b.all, Block{})
	}
	b.nextID++
	b.all[i] = Block{ID: b.nextID, Addr: addr, Size: n, Thread: thread, Ctx: ctx, Count: count}
	for k := uint64(addr) >> bucketShift; k <= (uint64(addr)+n-1)>>bucketShift; k++ {
		l := b.buckets[k]
		j := sort.Search(len(l), func(j int) bool { return b.all[l[j]].Addr > addr })
		l = append(l, 0)
		copy(l[j+1:], l[j:])
		l[j] = i
		b.buckets[k] = l
	}
	b.lo, b.hi = 0, 0
	return &b.all[i]
}

// remove forgets all blocks that overlap the n bytes at addr.
func (b *blocks) remove(addr emulate.Addr, n uint64) {
	if n == 0 {
		return
	}
	lo, hi := uint64(addr), uint64(addr)+n
	b.lo, b.hi = 0, 0
	first, last := lo>>bucketShift, (hi-1)>>bucketShift
	if last-first >= uint64(len(b.buckets)) {
		for k := range b.buckets {
			if k >= first && k <= last {
				b.removeIn(k, lo, hi)
			}
		}
		return
	}
	for k := first; k <= last; k++ {
		b.removeIn(k, lo, hi)
	}
}

// removeIn forgets the blocks of bucket k that overlap [lo, hi).
func (b *blocks) removeIn(k, lo, hi uint64) {
	l := b.buckets[k]
	i := sort.Search(len(l), func(i int) bool { p := &b.all[l[i]]; return uint64(p.Addr)+p.Size > lo })
	j := i
	for j < len(l) && uint64(b.all[l[j]].Addr) < hi {
		b.drop(l[j], k)
		j++
	}
	if j > i {
		b.buckets[k] = append(l[:i], l[j:]...)
	}
}

// drop recycles block i and takes it out of all buckets but k.
func (b *blocks) drop(i int32, k uint64) {
	p := &b.all[i]
	for o := uint64(p.Addr) >> bucketShift; o <= (uint64(p.Addr)+p.Size-1)>>bucketShift; o++ {
		if o == k {
			continue
		}
		l := b.buckets[o]
		for j := range l {
			if l[j] == i {
				b.buckets[o] = append(l[:j], l[j+1:]...)
				break
			}
		}
	}
	if p.Freed {
		b.freed--
	}
	*p = Block{}
	b.unused = append(b.unused, i)
}
