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
	HeapGo                // (size in RAX) -> block, of Go's run-time

	// Flags: of the functions of C++ for objects, and for arrays. Without, it is
	// one of C's.
	HeapNew      HeapCall = 1 << 5
	HeapNewArray HeapCall = 1 << 6

	heapKind HeapCall = 1<<5 - 1
)

// familyNames are what blocks of each are freed by.
var familyNames = map[HeapCall]string{0: "free", HeapNew: "delete", HeapNewArray: "delete[]"}

// A block was freed by a participant.
type freed struct{ addr, size uint64 }

// heap is the account of one run.
type heap struct {
	kind  func(target uint64) HeapCall
	size  func(addr uint64) uint64 // of a block that was there before, 0: unknown
	sizes map[uint64]uint64        // of blocks allocated meanwhile
	own   map[uint64]bool          // those of the program's own code
	// places says where these were allocated, if Watch asks for it.
	places map[uint64]allocation
	freed  []freed
	// families are the functions of the blocks allocated meanwhile; family says so of
	// the others.
	families map[uint64]HeapCall
	family   func(addr uint64) (HeapCall, bool)
	// collected are the blocks allocated meanwhile that a collector frees.
	collected map[uint64]uint64
	// inside returns the block that an address is in the middle of, 0: none.
	inside func(addr uint64) uint64
	afresh map[uint64]bool // blocks that no allocator gave out
}

// An allocation says who allocated a block, and where.
type allocation struct {
	part int
	at   Path
}

// An allocating is the outermost allocator function that a participant is in.
type allocating struct {
	sp   uint64 // RSP at its entry, 0: in none
	kind HeapCall
	size uint64
	out  uint64 // where HeapOut puts the block
	own  bool   // the run-time allocates it for itself
	was  uint64 // size of the block that HeapRealloc gets
	undo undoing
	at   Path
	of   HeapCall // the family
}

// Heap says what allocator functions do, by entry address, which of them are
// jumped to rather than called, how large blocks are that the recording
// knows (0: unknown), and which of them an address is in the middle of (0: none).
func (r *Run) Heap(kind func(target uint64) HeapCall, jumps []uint64, size, inside func(addr uint64) uint64) {
	r.heap = &heap{kind: kind, size: size, inside: inside, sizes: map[uint64]uint64{}, own: map[uint64]bool{}, places: map[uint64]allocation{}, families: map[uint64]HeapCall{}, collected: map[uint64]uint64{}, afresh: map[uint64]bool{}}
	for _, p := range r.parts {
		p.cpu.Calls = p
		for _, at := range jumps {
			p.cpu.Blocks.Break(at)
		}
	}
}

// Families says by functions of which family blocks were allocated that the
// recording knows. It must follow Heap.
func (r *Run) Families(f func(addr uint64) (HeapCall, bool)) { r.heap.family = f }

// allocator follows the entry of a function; sp is RSP there. It returns what
// is wrong with the call, if anything.
func (p *participant) allocator(site, target, sp uint64) (wrong string) {
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
	a := allocating{sp: sp, kind: k & heapKind, own: p.quietSP != 0, of: k &^ heapKind}
	k &= heapKind
	switch k {
	case HeapAlloc:
		a.size = di
	case HeapAllocN:
		a.size = di * si
	case HeapGo:
		a.size = c.R[x86.RAX]
	case HeapRealloc, HeapAligned:
		a.size = si
	case HeapReallocN:
		a.size = si * dx
	case HeapOut:
		a.size, a.out = dx, di
	}
	if w := p.watch(); w != nil && w.Blocks && !a.own {
		a.at = p.path(site)
	}
	p.alloc = a
	p.begins()
	if (k == HeapFree || k == HeapRealloc || k == HeapReallocN) && di != 0 {
		if !a.own {
			p.belongs(di, a.of)
		}
		return p.free(di)
	}
	return ""
}

// belongs looks whether a block is freed by a function that belongs to the one
// that allocated it.
func (p *participant) belongs(addr uint64, by HeapCall) {
	h := p.run.heap
	of, ok := h.families[addr]
	if !ok && h.family != nil {
		of, ok = h.family(addr)
	}
	if ok && of != by {
		p.found("mismatched-free", "gives the block at 0x%x to %s, but it is one for %s", addr, familyNames[by], familyNames[of])
	}
}

// free takes back a block.
func (p *participant) free(addr uint64) (wrong string) {
	h := p.run.heap
	for i := range h.freed {
		if h.freed[i].addr == addr {
			p.found("double-free", "frees the block at 0x%x, which is free already", addr)
			return fmt.Sprintf("frees the block at 0x%x, which is free already", addr)
		}
	}
	if _, ok := h.sizes[addr]; !ok && h.inside != nil {
		if b := h.inside(addr); b != 0 {
			p.found("invalid-free", "frees 0x%x, which is in the middle of the block at 0x%x", addr, b)
			return fmt.Sprintf("frees 0x%x, which is in the middle of the block at 0x%x", addr, b)
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
	p.alloc.was = size
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
	h.sizes[at], h.families[at] = a.size, a.of
	if a.own {
		delete(h.families, at) // the run-time knows
	}
	delete(h.own, at)
	switch {
	case a.kind == HeapGo:
		h.collected[at] = a.size // nobody has to free it
	case !a.own:
		h.own[at] = true
		if w := p.watch(); w != nil && w.Blocks {
			h.places[at] = allocation{p.index(), a.at}
		}
	}
	if k := p.run.checks; k != nil && a.kind != HeapGo {
		room := (a.size + 7) &^ 7
		// See free for where glibc keeps the size.
		if head, ok := p.peekWord(at - 8); ok && head&^7 >= 32 && head&^7 < a.size+64 && head&2 == 0 {
			room = max(room, head&^7)
		}
		k.block(at, a.size, room)
	}
	switch a.kind {
	case HeapAlloc, HeapAligned, HeapOut:
		p.unwritten(at, a.size, a.own)
	default:
		p.unwritten(at, a.size, true)
	}
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
			p.found("use-after-free", "%s memory at 0x%x, in the block at 0x%x, which is free already", verb, addr, f.addr)
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
	sp := p.cpu.R[x86.RSP]
	p.lockCall(p.cpu.RIP, p.cpu.RIP, sp)
	p.watchCall(p.cpu.RIP, p.cpu.RIP, sp)
	if h == nil || h.kind(p.cpu.RIP) == 0 {
		return
	}
	if wrong := p.allocator(p.cpu.RIP, p.cpu.RIP, sp); wrong != "" {
		p.end(Crashed, wrong)
		return
	}
	if p.strange() && p.afresh() {
		return
	}
	if p.quietSP == 0 && p.run.quiet != nil && p.run.quiet(p.cpu.RIP) {
		p.quietSP = sp
	}
}

// Fresh returns the block around an address that was allocated during the run
// and that nobody has to free (Go's); ok is false if there is none.
func (r *Result) Fresh(addr uint64) (base, size uint64, ok bool) {
	if len(r.parts) == 0 || r.parts[0].run.heap == nil {
		return 0, 0, false
	}
	for b, n := range r.parts[0].run.heap.collected {
		if addr >= b && addr-b < max(n, 1) {
			return b, n, true
		}
	}
	return 0, 0, false
}
