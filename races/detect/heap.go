package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// A Heap is what a pass with Checks learnt about heap blocks. It is complete
// when the pass has run.
//
// What it misses: a block that one thread frees and another uses without
// anybody else having touched the line; reads of unwritten bytes in a line that
// its thread accessed more than coarseAfter times; memory that was handed out again; what
// lies beyond the first 16 KiB of a block; reads of bytes that a realloc kept.
type Heap struct {
	// Freed are accesses to freed blocks, by anybody's code but the allocator's.
	Freed []Misuse
	// Unwritten are reads of up to 8 bytes, by the program's own code, of which
	// nobody has written any since they were allocated.
	Unwritten []Misuse
	// Beyond are accesses that begin in no block, right behind or before one.
	Beyond []Misuse
	// Frees are blocks given back that can't be.
	Frees []BadFree
	// Skipped is the number of blocks that weren't watched for reads of unwritten
	// bytes, because that would have taken too long.
	Skipped uint64

	p      *Pass
	blocks map[uint64]*Block // by address: the last that began there
	freed  map[emulate.ThreadID]uint64
	large  map[uint64][]Block // by page: large blocks freed last
	pages  map[uint64]*heapPage
	last   *heapPage
	said   map[said]int
}

// A Block is a heap block with its history.
type Block struct {
	Addr   emulate.Addr
	Size   uint64 // bytes
	Own    bool   // the run-time allocated it for itself
	Thread emulate.ThreadID
	Ctx    uint32 // the allocation: call path, address of the call, count
	Site   uint64
	Count  emulate.Count
	Role   funcs.AllocRole // of what allocated it

	Freed      bool
	FreeThread emulate.ThreadID
	FreeCtx    uint32
	FreeSite   uint64
	FreeCount  emulate.Count
}

// A Misuse is an access that shouldn't have been.
type Misuse struct {
	Thread emulate.ThreadID
	Ctx    uint32
	PC     uint64
	Count  emulate.Count
	Addr   emulate.Addr
	Size   uint64
	Write  bool
	Kernel bool // by a system call
	Block  Block
}

// A heapPage is the state of lines that several threads touch.
type heapPage struct {
	num   uint64
	lines [linesPerPage]struct {
		unwritten, freed, beyond uint64 // as in watchLine
		writer                   emulate.ThreadID
	}
}

func newHeap(p *Pass) *Heap {
	return &Heap{p: p, blocks: map[uint64]*Block{}, freed: map[emulate.ThreadID]uint64{}, large: map[uint64][]Block{}, pages: map[uint64]*heapPage{}, said: map[said]int{}}
}

// Live returns the blocks that are allocated, in no particular order.
func (h *Heap) Live() []Block {
	var out []Block
	for _, b := range h.blocks {
		if d := h.p.Detector.BlockAt(b.Addr); !b.Freed && d.Addr == b.Addr && d.Count == b.Count && d.Thread == b.Thread {
			out = append(out, *b)
		}
	}
	return out
}

// Last returns the last block that began at an address.
func (h *Heap) Last(addr emulate.Addr) (b Block, ok bool) {
	if h == nil || h.blocks[uint64(addr)] == nil {
		return Block{}, false
	}
	return *h.blocks[uint64(addr)], true
}

// Known calls f with the last block that began at each address, alive or not.
func (h *Heap) Known(f func(b *Block)) {
	for _, b := range h.blocks {
		f(b)
	}
}

// Writer returns the thread that wrote a line last, 0 if it can't be told: only
// one thread touches the line, none wrote it, or the kernel did.
func (h *Heap) Writer(line uint64) emulate.ThreadID {
	if p := h.pages[line/linesPerPage]; p != nil {
		return p.lines[line%linesPerPage].writer
	}
	return 0
}

func (h *Heap) page(num uint64) *heapPage {
	if h.last != nil && h.last.num == num {
		return h.last
	}
	p := h.pages[num]
	if p == nil {
		p = &heapPage{num: num}
		h.pages[num] = p
	}
	h.last = p
	return p
}

// set gives the bytes [lo, hi) a state, as far as several threads touch them.
func (h *Heap) set(lo, hi uint64, st byteState) {
	if lo >= hi {
		return
	}
	for line, last := lo>>lineShift, (hi-1)>>lineShift; line <= last; line++ {
		if !h.p.shared(line) {
			continue
		}
		l := &h.page(line / linesPerPage).lines[line%linesPerPage]
		m := lineMask(line, lo, hi)
		l.unwritten &^= m
		l.freed &^= m
		l.beyond &^= m
		switch st {
		case unwritten:
			l.unwritten |= m
		case freed:
			l.freed |= m
		case beyond:
			l.beyond |= m
		}
	}
}

// note takes in a note of a thread, in the order of the recording.
func (h *Heap) note(id emulate.ThreadID, n *note) {
	switch n.kind {
	case noteAlloc:
		kept := uint64(0)
		if n.old != 0 {
			kept = h.freed[id]
		}
		b := h.blocks[n.addr]
		if b == nil {
			b = new(Block)
			h.blocks[n.addr] = b
		}
		*b = Block{Addr: emulate.Addr(n.addr), Size: n.size, Own: n.own, Thread: id, Ctx: n.ctx, Site: n.pc, Count: n.count, Role: n.role}
		if n.skipped {
			h.Skipped++
		}
		end := n.addr + n.size
		from := min(n.addr+kept, end)
		if n.zeroed {
			from = end
		}
		stop := min(end, max(n.addr+maxWatched, from))
		h.set(n.addr, from, ordinary)
		h.set(from, stop, unwritten)
		h.set(stop, end, ordinary)
		h.set(n.addr-n.before, n.addr, beyond)
		h.set(end, end+n.past, beyond)
	case noteFree:
		h.freed[id] = 0
		h.release(id, n)
		if b := h.blocks[n.addr]; b != nil && !b.Freed {
			b.Freed, b.FreeThread, b.FreeCtx, b.FreeSite, b.FreeCount = true, id, n.ctx, n.pc, n.count
			h.freed[id] = b.Size
			h.set(n.addr, n.addr+b.Size, freed)
			h.keep(b)
		}
	case noteUnfree:
		if b := h.blocks[n.addr]; b != nil && b.Freed && b.FreeThread == id {
			b.Freed = false
			h.set(n.addr, n.addr+b.Size, ordinary)
		}
	case noteGrown:
		if b := h.blocks[n.addr]; b != nil && !b.Freed && n.size > b.Size {
			b.Size = n.size
			h.set(n.addr, n.addr+n.size, ordinary)
		}
	case noteFreedAccess, noteUnwrittenRead, noteBeyond:
		h.confirm(n.kind, Misuse{Thread: id, Ctx: n.ctx, PC: n.pc, Count: n.count, Addr: emulate.Addr(n.addr), Size: n.size, Write: n.write})
	case noteWritten:
		h.set(n.addr, n.addr+n.size, ordinary)
	}
}

// Allocators hand out a part of a large block that was freed; the rest stays
// what it was. (glibc gives smaller ones out again as they are.)
const (
	largeBlock = 1 << 10
	keptBlocks = 8 // for each page
)

// keep remembers a large block that was freed.
func (h *Heap) keep(b *Block) {
	if b.Size <= largeBlock {
		return
	}
	for p, last := uint64(b.Addr)>>pageShift, (uint64(b.Addr)+min(b.Size, maxWatched)-1)>>pageShift; p <= last; p++ {
		l := h.large[p]
		if len(l) == keptBlocks {
			copy(l, l[1:])
			l = l[:keptBlocks-1]
		}
		h.large[p] = append(l, *b)
	}
}

// keptAt returns the large block that held a when it was freed, the last one.
func (h *Heap) keptAt(a emulate.Addr) *Block {
	l := h.large[uint64(a)>>pageShift]
	for i := len(l) - 1; i >= 0; i-- {
		if b := &l[i]; a >= b.Addr && uint64(a-b.Addr) < b.Size {
			return b
		}
	}
	return nil
}

// reset forgets memory that was unmapped or discarded.
func (h *Heap) reset(addr, n uint64) {
	if n == 0 {
		return
	}
	first, last := addr>>pageShift, (addr+n-1)>>pageShift
	if last-first > uint64(len(h.pages)+len(h.large)) {
		for num, p := range h.pages {
			if num >= first && num <= last {
				p.clear()
			}
		}
		for num := range h.large {
			if num >= first && num <= last {
				delete(h.large, num)
			}
		}
		return
	}
	for num := first; num <= last; num++ {
		if p := h.pages[num]; p != nil {
			p.clear()
		}
		delete(h.large, num)
	}
}

func (p *heapPage) clear() { *p = heapPage{num: p.num} }

// allocatorAccess marks an access that an allocator function makes. The
// detector never sees it.
const allocatorAccess races.Flags = 1 << 7

// access looks at an access to a line that several threads touch.
func (h *Heap) access(e *races.Event) {
	if e.Flags&races.Coarse != 0 {
		h.coarse(e)
		return
	}
	for a, end := uint64(e.Addr), uint64(e.Addr)+e.N; a < end; {
		stop := min((a|63)+1, end)
		h.piece(e, a, stop)
		a = stop
	}
}

// coarse looks at what stands for many accesses to a line. A line with freed
// bytes must be looked at more closely; what such accesses read of unwritten
// bytes is missed.
func (h *Heap) coarse(e *races.Event) {
	line := uint64(e.Addr) >> lineShift
	l := &h.page(line / linesPerPage).lines[line%linesPerPage]
	if e.Kind != races.Read {
		l.writer = e.Thread
		l.unwritten = 0
	}
	if l.freed != 0 {
		h.p.suspect(line)
	}
}

func (h *Heap) piece(e *races.Event, lo, hi uint64) {
	line := lo >> lineShift
	l := &h.page(line / linesPerPage).lines[line%linesPerPage]
	kernel := e.Flags&races.Kernel != 0
	if e.Kind != races.Read {
		l.writer = e.Thread
		if kernel {
			l.writer = 0
		}
	}
	if l.unwritten|l.freed|l.beyond == 0 || e.Flags&allocatorAccess != 0 {
		return
	}
	m := lineMask(line, lo, hi)
	if l.beyond&m != 0 && (e.Kind != races.Read || !partial(l.beyond, m, uint64(e.Addr), int(e.N))) {
		h.suspect(noteBeyond, e)
	}
	if l.freed&m != 0 {
		h.suspect(noteFreedAccess, e)
	}
	if e.Kind == races.Read && l.unwritten&m == m && !kernel && e.N <= 8 {
		h.suspect(noteUnwrittenRead, e)
	} else if e.Kind != races.Read {
		l.unwritten &^= m
	}
}

func (h *Heap) suspect(kind noteKind, e *races.Event) {
	s := said{kind, e.Ctx, e.PC}
	if h.said[s] >= maxSaid {
		return
	}
	h.said[s]++
	h.confirm(kind, Misuse{Thread: e.Thread, Ctx: e.Ctx, PC: e.PC, Count: e.Count, Addr: e.Addr, Size: e.N,
		Write: e.Kind != races.Read, Kernel: e.Flags&races.Kernel != 0})
}

// confirm reports a suspicion if it holds, now that all threads are known.
func (h *Heap) confirm(kind noteKind, m Misuse) {
	if kind == noteBeyond {
		h.outside(m)
		return
	}
	d := h.p.Detector.BlockAt(m.Addr)
	b := h.blocks[uint64(d.Addr)]
	if d.ID == 0 && kind == noteFreedAccess {
		if b = h.keptAt(m.Addr); b == nil {
			return
		}
	} else if d.ID == 0 || b == nil || b.Count != d.Count || b.Thread != d.Thread {
		return
	}
	m.Block = *b
	pl := h.p.Tree.Place(m.Ctx, emulate.Addr(m.PC))
	switch {
	case kind == noteFreedAccess && b.Freed && pl.Category != funcs.Allocator:
		h.Freed = append(h.Freed, m)
	case kind == noteUnwrittenRead && !b.Freed && pl.Category == 0 && m.Addr+emulate.Addr(m.Size) <= b.Addr+emulate.Addr(b.Size):
		h.Unwritten = append(h.Unwritten, m)
	}
}
