package x86

import (
	"slices"
	"unsafe"
)

const (
	maxBlock   = 64 // instructions
	pageShift  = 12
	fastBlocks = 4096 // entries of the indirect-branch cache, a power of two
)

// A block is a straight run of instructions with one entry. ops ends with an
// Op that leaves the block, either the last instruction or codeNext, which is
// none.
type block struct {
	n     uint64 // instructions
	next  [2]*block
	first *Op // of ops
	ops   []Op
	pc    uint64
	succ  [2]uint64 // where it goes: not taken or on, taken; when they are known
	in    []*block  // blocks whose next is this one
	last  uint64    // the page number of the last byte
	brk   bool      // Break was asked for at pc
	once  bool      // ends where nothing can be fetched, which may change: isn't kept
	dead  bool      // invalidated
	fetch bool      // first is before ops: it calls the FetchSink

	heat   uint32    // executions by the run loop
	native uintptr   // its translation's address, 0: it has none; see native.go
	jumps  [2]uint32 // where in it the distances of the jumps to next are, 0: there is none
	outs   [2]uint32 // where those lead while there is no next
	resume []uint32  // where in it one may go on before an Op; 0: nowhere
}

// A BlockCache holds the decoded code of one address space. CPUs that one
// goroutine runs in turn may share it. The zero value isn't usable.
type BlockCache struct {
	blocks  map[uint64]*block   // by pc
	pages   map[uint64][]*block // by every page they have bytes on
	breaks  map[uint64]bool
	fetches func(page uint64) bool // see WatchFetches
	fast    [fastBlocks]*block     // by pc, see fastIndex
	shared  *Decoded               // may be nil
	native  arena

	// Scratch for build.
	inst  inst
	ops   [maxBlock + 1]Op
	forms [maxBlock]*form
}

// NewBlockCache returns an empty cache.
func NewBlockCache() *BlockCache {
	bc := &BlockCache{
		blocks: make(map[uint64]*block),
		pages:  make(map[uint64][]*block),
		breaks: make(map[uint64]bool),
	}
	bc.fast = noBlocks
	return bc
}

// noBlock stands in fast entries that are empty; no block has its pc.
var noBlock = &block{pc: 1 << 63}

var noBlocks = func() (l [fastBlocks]*block) {
	for i := range l {
		l[i] = noBlock
	}
	return l
}()

func fastIndex(pc uint64) uint64 { return (pc ^ pc>>12) % fastBlocks }

// Invalidate forgets what was decoded from page (virtual address >> 12). It
// must be called when code changes: written, unmapped or protected. It may be
// called while a CPU runs; the running block ends after its instruction.
func (bc *BlockCache) Invalidate(page uint64) {
	l := bc.pages[page]
	if l == nil {
		return
	}
	delete(bc.pages, page)
	for _, b := range l {
		bc.drop(b)
	}
}

// InvalidateAll forgets everything decoded. Breaks stay.
func (bc *BlockCache) InvalidateAll() {
	for _, b := range bc.blocks {
		bc.drop(b)
	}
	clear(bc.pages)
}

// Break makes Run stop with StopBreak before it executes the instruction at pc.
func (bc *BlockCache) Break(pc uint64) {
	if bc.breaks[pc] {
		return
	}
	bc.breaks[pc] = true
	bc.dropAround(pc)
}

// Unbreak undoes Break.
func (bc *BlockCache) Unbreak(pc uint64) {
	if !bc.breaks[pc] {
		return
	}
	delete(bc.breaks, pc)
	bc.dropAround(pc)
}

// dropAround drops the blocks that have pc among their instructions.
func (bc *BlockCache) dropAround(pc uint64) {
	page := pc >> pageShift
	bc.pages[page] = slices.DeleteFunc(bc.pages[page], func(b *block) bool {
		for i := range b.ops {
			if !b.dead && b.ops[i].pc == pc {
				bc.drop(b)
			}
		}
		return b.dead
	})
}

// drop makes b unreachable. The lists of its pages may keep it until Invalidate.
func (bc *BlockCache) drop(b *block) {
	if b.dead {
		return
	}
	b.dead = true
	if bc.blocks[b.pc] == b {
		delete(bc.blocks, b.pc)
	}
	if f := &bc.fast[fastIndex(b.pc)]; *f == b {
		*f = noBlock
	}
	for _, p := range b.in {
		for k := range p.next {
			if p.next[k] == b {
				p.next[k] = nil
				bc.part(p, k)
			}
		}
	}
	b.in = nil
	b.next = [2]*block{}
	b.native, b.resume = 0, nil
}

// get returns the block at pc. It panics with a *Stop if nothing can be
// executed there.
func (bc *BlockCache) get(c *CPU, pc uint64) *block {
	b := bc.blocks[pc]
	if b == nil {
		b = bc.build(c, pc)
	}
	if !b.brk && !b.once {
		bc.fast[fastIndex(pc)] = b
	}
	return b
}

// link makes b's way k lead straight to nb.
func (b *block) link(k int, nb *block) {
	b.next[k] = nb
	nb.in = append(nb.in, b)
}

// fetchFault is the page fault of an instruction fetch at a: user mode,
// instruction (SDM volume 3, 4.7).
func fetchFault(a uint64) *Stop {
	return &Stop{Kind: StopFault, Vector: VecPF, Addr: a, Code: 0x14}
}

func execFetchFault(c *CPU, op *Op) { panic(fetchFault(uint64(op.imm))) }

// build decodes the block at pc.
func (bc *BlockCache) build(c *CPU, pc uint64) *block {
	if !canonical(pc) {
		panic(&Stop{Kind: StopFault, Vector: VecGP})
	}
	code := c.fetch(pc)
	if len(code) == 0 {
		panic(fetchFault(pc))
	}
	inPage := uint64(1<<pageShift) - pc&(1<<pageShift-1)
	b := &block{pc: pc, brk: bc.breaks[pc]}
	if bc.shared != nil && bc.fetches == nil {
		if x := bc.shared.find(pc, code); x != nil && !x.breaks(bc.breaks) {
			b.n, b.last, b.succ, b.ops, b.first = x.n, pc>>pageShift, x.succ, x.ops, &x.ops[0]
			bc.keep(b)
			return b
		}
	}
	ops, fs := bc.ops[:0], bc.forms[:0]
	at, cut := pc, false
	for len(ops) < maxBlock && at-pc < inPage {
		if at != pc && bc.breaks[at] {
			cut = true
			break
		}
		rest := code[min(at-pc, uint64(len(code))):]
		if len(rest) < maxInst {
			rest = c.fetch(at) // perhaps into the next page
		}
		op, f, ok := decodeWith(&bc.inst, rest, at)
		if !ok {
			b.once = true
			op = Op{fn: execFetchFault, pc: at, attr: attrEnd, imm: int64(at + uint64(len(rest))), len: uint8(len(rest)),
				base: RegZero, idx: RegZero, seg: RegZero}
		}
		op.n = uint16(len(ops))
		ops = append(ops, op)
		fs = append(fs, f)
		at += uint64(op.len)
		if op.attr&attrEnd != 0 {
			break
		}
	}
	bc.inst.code = nil
	if u, ok := c.Mem.(CodeUser); ok {
		n := at - pc
		if fs[len(fs)-1] == nil { // what it is no instruction for may be further on
			n += maxInst
		}
		u.CodeUsed(pc, n)
	}
	b.n = uint64(len(ops))
	b.last = (at - 1) >> pageShift
	b.finish(ops, fs, at)
	if bc.watches(pc, at) {
		b.watch(at)
	}
	if b.once {
		return b
	}
	bc.keep(b)
	if n := at - pc; bc.shared != nil && !b.fetch && !cut && n <= inPage && n <= uint64(len(code)) {
		bc.shared.add(b, code[:n])
	}
	return b
}

// keep enters a block that was built.
func (bc *BlockCache) keep(b *block) {
	page := b.pc >> pageShift
	bc.blocks[b.pc] = b
	bc.pages[page] = append(bc.pages[page], b)
	if b.last != page {
		bc.pages[b.last] = append(bc.pages[b.last], b)
	}
}

// finish makes b of ops: it marks dead flags, chooses what the run loop does
// for each, fuses, and closes the block. end is the address after it. It
// doesn't keep ops and fs.
func (b *block) finish(ops []Op, fs []*form, end uint64) {
	deadFlags(ops, fs)
	for i := range ops {
		if fs[i] != nil {
			choose(&ops[i], fs[i])
		}
	}
	b.succ[0] = end
	n := len(ops)
	last := &ops[n-1]
	if last.attr&attrEnd == 0 {
		ops = append(ops, Op{code: codeNext, pc: end, n: uint16(n)})
	} else {
		if last.code == codeCall {
			last.code = codeCallEnd
		}
		b.succ[1] = uint64(last.imm)
		if n > 1 && fs[n-1] != nil && fs[n-2] != nil {
			fuse(&ops[n-2], last)
		}
	}
	b.ops = slices.Clone(ops)
	b.first = &b.ops[0]
}

// deadFlags sets attrNF on the Ops whose flags nobody can see: the next Op that
// touches them overwrites them, and nothing in between, nor that Op itself,
// can stop the block with the flags half made.
func deadFlags(ops []Op, fs []*form) {
	live := ^uint64(0)
	for i := len(ops) - 1; i >= 0; i-- {
		f := fs[i]
		if f == nil {
			live = ^uint64(0)
			continue
		}
		u := f.flags
		if f.shift {
			u = written(&ops[i], f)
		} else if leavesUndefined[f.mnem] {
			u.write &^= u.undef
		}
		if u.write != 0 && u.write&live == 0 {
			ops[i].attr |= attrNF
		}
		if mayStop(&ops[i], f) {
			live = ^uint64(0)
			continue
		}
		live = live&^u.write | u.read
	}
}

// written is the flag use of an Op, which for shifts and rotates by an
// immediate depends on the count: zero leaves all flags, and rotates of a
// register leave OF unless it is one.
func written(op *Op, f *form) flagUse {
	u := f.flags
	if !shifts[f.mnem] || !f.hasImm() {
		return u
	}
	n := op.imm & 31
	if op.size == 8 {
		n = op.imm & 63
	}
	switch {
	case n == 0:
		return flagUse{}
	case n != 1 && u.write == CF|OF:
		u.write = CF
	}
	return u
}

// leavesUndefined are the instructions that leave the flags which the manual
// calls undefined as they were.
var leavesUndefined = map[string]bool{"bsf": true, "bsr": true, "bt": true, "bts": true, "btr": true, "btc": true}

var shifts = map[string]bool{"shl": true, "shr": true, "sar": true, "rol": true, "ror": true, "rcl": true, "rcr": true, "shld": true, "shrd": true}

// mayStop says whether an Op can fault or otherwise end the run early.
func mayStop(op *Op, f *form) bool {
	if op.attr&attrEnd != 0 {
		return true
	}
	if op.attr&attrMem != 0 {
		return f.rmKind < 0 || f.args[f.rmKind].read || f.args[f.rmKind].write
	}
	return !f.harmless
}

// harmless are the instructions that can't stop when they have no memory
// operand; others, also unknown ones, are taken to be able to.
var harmless = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "test", "not", "neg",
		"inc", "dec", "mul", "imul", "cbw", "cwd", "bt", "bts", "btr", "btc", "bsf", "bsr", "popcnt", "crc32",
		"bswap", "shld", "shrd", "rol", "ror", "rcl", "rcr", "shl", "shr", "sar", "mov", "movzx", "movsx",
		"movsxd", "lea", "xchg", "nop", "endbr64", "pause", "xadd", "cmpxchg", "tzcnt", "lzcnt", "andn", "blsr", "blsmsk",
		"blsi", "bextr", "bzhi", "pdep", "pext", "mulx", "rorx", "sarx", "shlx", "shrx", "adcx", "adox"} {
		m[s] = true
	}
	for _, cc := range condNames {
		m["cmov"+cc], m["set"+cc] = true, true
	}
	return m
}()

// harmlessVector says the same of a form by its operands: vector and general
// registers alone, and no MXCSR, whose exceptions may stop it.
func (f *form) harmlessVector() bool {
	vector := false
	for i := range f.args {
		a := &f.args[i]
		switch {
		case a.class == classXMM:
			vector = true
		case a.class == classGPR, a.place == placeImm, a.place == placeRM && a.class == classNone:
		default:
			return false
		}
	}
	return vector || f.mnem == "vzeroupper"
}

// nextOp is the Op after op in its block.
func nextOp(op *Op) *Op { return (*Op)(unsafe.Add(unsafe.Pointer(op), unsafe.Sizeof(Op{}))) }
