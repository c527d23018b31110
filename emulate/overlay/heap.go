package overlay

import (
	"fmt"

	"github.com/racesim/racesim/emulate/x86"
)

// Experiments keep account of the heap: using a block that a participant gave
// back, or giving it back again, is a crash, although the allocator may not
// notice. What it and other quiet functions do to freed blocks is their
// business.

// A HeapCall says what calling an allocator's function does.
type HeapCall uint8

const (
	_            HeapCall = iota
	HeapFree              // (block)
	HeapAlloc             // (size) -> block
	HeapAllocN            // (count, size) -> block
	HeapRealloc           // (block, size) -> block
	HeapReallocN          // (block, count, size) -> block
	HeapAligned           // (alignment, size) -> block
	HeapOut               // (where to put it, alignment, size)
)

// A block was freed by a participant.
type freed struct{ addr, size uint64 }

// heap is the account of one run.
type heap struct {
	kind  func(target uint64) HeapCall
	size  func(addr uint64) uint64 // of a block that was there before, 0: unknown
	sizes map[uint64]uint64        // of blocks allocated meanwhile
	freed []freed
}

// An allocating is the outermost allocator function that a participant is in.
type allocating struct {
	sp   uint64 // RSP at its entry, 0: in none
	kind HeapCall
	size uint64
	out  uint64 // where HeapOut puts the block
}

// Heap says what allocator functions do, by entry address, which of them are
// jumped to rather than called, and how large blocks are that the recording
// knows (0: unknown).
func (r *Run) Heap(kind func(target uint64) HeapCall, jumps []uint64, size func(addr uint64) uint64) {
	r.heap = &heap{kind: kind, size: size, sizes: map[uint64]uint64{}}
	for _, p := range r.parts {
		p.cpu.Calls = p
		for _, at := range jumps {
			p.cpu.Blocks.Break(at)
		}
	}
}

// allocator follows the entry of a function; sp is RSP there. It returns what
// is wrong with the call, if anything.
func (p *participant) allocator(target, sp uint64) (wrong string) {
	h := p.run.heap
	if h == nil || p.alloc.sp != 0 {
		return ""
	}
	k := h.kind(target)
	if k == 0 {
		return ""
	}
	c := p.cpu
	di, si, dx := c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX]
	a := allocating{sp: sp, kind: k}
	switch k {
	case HeapAlloc:
		a.size = di
	case HeapAllocN:
		a.size = di * si
	case HeapRealloc, HeapAligned:
		a.size = si
	case HeapReallocN:
		a.size = si * dx
	case HeapOut:
		a.size, a.out = dx, di
	}
	p.alloc = a
	if (k == HeapFree || k == HeapRealloc || k == HeapReallocN) && di != 0 {
		return p.free(di)
	}
	return ""
}

// free takes back a block.
func (p *participant) free(addr uint64) (wrong string) {
	h := p.run.heap
	for i := range h.freed {
		if h.freed[i].addr == addr {
			return fmt.Sprintf("frees the block at 0x%x, which is free already", addr)
		}
	}
	size, ok := h.sizes[addr]
	if !ok && h.size != nil {
		// That may be a later, larger block. What precedes a block bounds it if
		// the allocator is glibc's (malloc/malloc.c, struct malloc_chunk).
		size = h.size(addr)
		if head, ok := p.peekWord(addr - 8); ok && head&^7 >= 32 {
			size = min(size, head&^7-8)
		}
	}
	h.freed = append(h.freed, freed{addr, max(size, 1)})
	return ""
}

// allocated ends the outermost allocator function: what it returns is no longer
// free.
func (p *participant) allocated() {
	h, a := p.run.heap, p.alloc
	p.alloc = allocating{}
	if a.kind == HeapFree {
		return
	}
	at := p.cpu.R[x86.RAX]
	if a.kind == HeapOut {
		if at, _ = p.peekWord(a.out); at == 0 {
			return
		}
	}
	if at == 0 {
		return
	}
	h.sizes[at] = a.size
	keep := h.freed[:0]
	for _, f := range h.freed {
		if at+max(a.size, 1) <= f.addr || f.addr+f.size <= at {
			keep = append(keep, f)
		}
	}
	h.freed = keep
}

// freedAt ends the experiment if an access is to a freed block.
func (p *participant) freedAt(addr uint64, size int, verb string) {
	h := p.run.heap
	if h == nil || len(h.freed) == 0 || p.quietSP != 0 || p.alloc.sp != 0 {
		return
	}
	for i := range h.freed {
		if f := &h.freed[i]; addr < f.addr+f.size && f.addr < addr+uint64(size) {
			p.misuse(fmt.Sprintf("%s memory at 0x%x, in the block at 0x%x, which is free already", verb, addr, f.addr))
		}
	}
}

// misuse stops the participant.
func (p *participant) misuse(what string) {
	p.doomed = what
	x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errMisuse})
}

// jumped follows a function that may have been jumped to: its return address is
// that of the function that jumped.
func (p *participant) jumped() {
	h := p.run.heap
	if h == nil || h.kind(p.cpu.RIP) == 0 {
		return
	}
	sp := p.cpu.R[x86.RSP]
	if wrong := p.allocator(p.cpu.RIP, sp); wrong != "" {
		p.end(Crashed, wrong)
		return
	}
	if p.quietSP == 0 && p.run.quiet != nil && p.run.quiet(p.cpu.RIP) {
		p.quietSP = sp
	}
}
