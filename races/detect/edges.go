package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
)

// What lies between blocks is the allocator's: its headers, and what is left of
// a block's room. glibc puts the size of a chunk in the word before its block,
// and lets a block use the first word of the next chunk (malloc/malloc.c,
// struct malloc_chunk, release 2.36). Of other allocators only the bytes up to
// the next multiple of the smallest alignment are known to be nobody's.
const (
	wordSize   = 8
	chunkStart = 16      // bytes from a chunk to its block
	chunkMin   = 32      // smallest chunk
	roomLeft   = 4 << 10 // at most, of a chunk that was mapped
	maxPast    = 64
)

// edges returns how many bytes before a new block and behind it are nobody's.
func (f *follower) edges(a *funcs.Alloc) (before, past uint64) {
	addr, n := uint64(a.Addr), a.Size
	if n > 1<<46 {
		return 0, 0
	}
	if !f.chunks() {
		return 0, -(addr + n) % wordSize
	}
	head, ok := readUint(f.t.Memory().Read, addr-wordSize, wordSize)
	size := head &^ 7
	if !ok || size < chunkMin || size%chunkStart != 0 || size < n+wordSize || size > n+chunkStart+chunkMin+roomLeft {
		return 0, 0
	}
	room := size - wordSize // what the block may use, if it wants
	if head&2 != 0 {        // mapped: there is no chunk behind it
		room = size - chunkStart
	} else {
		room += wordSize // the next chunk's size
	}
	if room < n {
		return wordSize, 0
	}
	return wordSize, min(room-n, maxPast)
}

// chunks says whether the allocator function that returns is glibc's, or gets
// its blocks from there as they are.
func (f *follower) chunks() bool {
	ms := f.p.Tree.Modules()
	if m := ms.Exported("malloc"); m == nil || m.Module.Kind != funcs.ModLibc && !m.Runtime {
		return false
	}
	fn := f.p.Tree.Func(f.calls.Level(0).Node)
	if fn != nil && fn.PLT {
		fn = ms.ExportedIn(fn.Module.Life, fn.Linkage)
	}
	return fn != nil && fn.Runtime
}

// grown notes that the program was told how much of a block it may use.
func (w *watch) grown(addr, n uint64) {
	w.f.note(note{kind: noteGrown, addr: addr, size: n})
	if b, ok := w.live[addr]; ok && n > b.size {
		w.live[addr] = watchBlock{n, b.count}
	}
	w.set(addr, addr+n, ordinary)
}

// outside reports an access to what lies next to a block, if it holds.
func (h *Heap) outside(m Misuse) {
	d := h.p.Detector
	if b := d.BlockAt(m.Addr); b.ID != 0 && m.Addr+emulate.Addr(m.Size) <= b.Addr+emulate.Addr(b.Size) {
		return // somebody's, by now
	}
	if b := d.BlockAt(m.Addr); b.ID != 0 { // across the end
		h.over(m, h.blocks[uint64(b.Addr)])
		return
	}
	for k := emulate.Addr(1); k <= maxPast; k++ {
		if b := d.BlockAt(m.Addr - k); b.ID != 0 {
			h.over(m, h.blocks[uint64(b.Addr)])
			return
		}
	}
	for k := emulate.Addr(1); k <= wordSize; k++ {
		if b := d.BlockAt(m.Addr + k); b.ID != 0 {
			h.over(m, h.blocks[uint64(b.Addr)])
			return
		}
	}
}

func (h *Heap) over(m Misuse, b *Block) {
	if b == nil || b.Freed || b.Own || h.p.Tree.Place(m.Ctx, emulate.Addr(m.PC)).Category == funcs.Allocator {
		return
	}
	// A block that was told to be larger.
	if m.Addr >= b.Addr && m.Addr+emulate.Addr(m.Size) <= b.Addr+emulate.Addr(b.Size) {
		return
	}
	m.Block = *b
	h.Beyond = append(h.Beyond, m)
}

// A BadFree is a call that gives back what can't be given back.
type BadFree struct {
	Thread emulate.ThreadID
	Ctx    uint32
	PC     uint64
	Count  emulate.Count
	Addr   emulate.Addr
	Role   funcs.AllocRole
	Kind   FreeKind
	// Block was given back before (FreedTwice), holds the address (FreedInside)
	// or was allocated otherwise (FreedOtherwise).
	Block Block
}

// A FreeKind says what is wrong with giving back a block.
type FreeKind uint8

const (
	_              FreeKind = iota
	FreedTwice              // it was free already
	FreedInside             // the address is inside a block
	FreedForeign            // it is no block that is known; see Pass.Foreign
	FreedOtherwise          // by a function that doesn't belong to the one that allocated it
)

// release looks at a block that is given back; the detector has forgotten it
// already.
func (h *Heap) release(id emulate.ThreadID, n *note) {
	x := BadFree{Thread: id, Ctx: n.ctx, PC: n.pc, Count: n.count, Addr: emulate.Addr(n.addr), Role: n.role}
	t := h.p.Tree
	pl := t.Place(n.ctx, emulate.Addr(n.pc))
	if pl.User == 0 {
		return
	}
	b := h.blocks[n.addr]
	in := h.p.Detector.BlockAt(x.Addr)
	switch {
	case in.ID != 0 && in.Addr < x.Addr && h.blocks[uint64(in.Addr)] != nil && !h.blocks[uint64(in.Addr)].Freed:
		x.Kind, x.Block = FreedInside, *h.blocks[uint64(in.Addr)]
	case b == nil && pl.Category == 0: // if it is: see Foreign
		x.Kind = FreedForeign
	case b == nil:
		return // handed out before the trace begins, or by nobody that is known
	case b.Freed:
		x.Kind, x.Block = FreedTwice, *b
	case pl.Category == 0 && t.Class(b.Ctx) == 0 && family(b.Role) != family(n.role):
		x.Kind, x.Block = FreedOtherwise, *b
	default:
		return
	}
	s := said{noteFree, n.ctx, n.pc}
	if h.said[s]++; h.said[s] <= maxSaid {
		h.Frees = append(h.Frees, x)
	}
}

// family says which functions belong together.
func family(r funcs.AllocRole) int {
	switch r {
	case funcs.RoleNew, funcs.RoleDelete:
		return 1
	case funcs.RoleNewArray, funcs.RoleDeleteArray:
		return 2
	}
	return 0
}

// Foreign says whether an address is a module's or on a thread's stack. The pass
// must have run.
func (p *Pass) Foreign(addr emulate.Addr) bool {
	a := uint64(addr)
	if p.Tree.Modules() != nil && p.Tree.Modules().ModuleAt(addr) != nil {
		return true
	}
	for _, tt := range p.Threads {
		if tt.Stack != 0 && a >= tt.Stack && a < tt.StackEnd {
			return true
		}
	}
	for _, m := range p.Session.EveryMapping() {
		if m.Path == "[stack]" && a >= uint64(m.Addr) && a < uint64(m.Addr)+m.N {
			return true
		}
	}
	return false
}
