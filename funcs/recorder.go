package funcs

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A Recorder observes one function instance, from Begin to End, and finds its
// inputs and outputs. It is the CPU's x86.Watcher in between, and must see
// every access: no line may have a tag in the window. The same Recorder can
// serve several instances, one after the other.
type Recorder struct {
	// Split asks for Sections: one begins wherever the function's own code
	// goes back to an earlier instruction.
	Split bool
	// Heap, if set, names the heap block that holds an address, for names.
	Heap func(a emulate.Addr) (Block, bool)

	calls *Tracker
	ms    *Modules

	inst    Instance
	foot    *Footprint
	entrySP uint64
	lowSP   uint64       // the lowest RSP so far: the own stack begins redZone below
	depth   int          // of the function's frame
	site    emulate.Addr // of its call
	regs    [32]uint64
	sig     Signature
	inRegs  []Value
	xmm0    [2]uint64

	head   emulate.Addr
	start  emulate.Count
	lastPC emulate.Addr
	parts  []Section

	node NodeID // whose category is cached
	own  bool
}

// A Block is a heap block, for names.
type Block struct {
	Base emulate.Addr
	Size uint64
	Name string // of the function that allocated it
}

// NewRecorder returns a recorder that asks calls for the function under way.
func NewRecorder(calls *Tracker) *Recorder {
	return &Recorder{calls: calls, ms: calls.tree.ms}
}

// Begin starts an instance: c is at the first instruction of a function, just
// entered.
func (r *Recorder) Begin(c *x86.CPU) {
	r.begin(c, c.R[4], emulate.Addr(c.RIP), emulate.Count(c.InstrCount()))
}

// BeginAtCall starts an instance from InstanceSink.Enter, inside the call
// instruction: the function's first instruction is the next one.
func (r *Recorder) BeginAtCall(c *x86.CPU) {
	a := r.calls.Level(0)
	r.begin(c, uint64(a.SP), a.Entry, a.Count)
}

func (r *Recorder) begin(c *x86.CPU, sp uint64, pc emulate.Addr, count emulate.Count) {
	r.inst = Instance{Thread: r.calls.thread, Node: r.calls.Node(), Entry: count, CFA: emulate.Addr(sp + 8)}
	r.foot = newFootprint()
	r.entrySP, r.lowSP = sp, sp
	r.depth, r.site = r.calls.Depth(), r.calls.Level(0).Site
	r.regs, r.xmm0 = c.R, c.X[0]
	r.head, r.start, r.lastPC, r.parts = 0, r.inst.Entry, 0, nil
	r.node, r.own = 0, false
	r.sig = unknownSignature()
	if r.ms != nil {
		if f := r.ms.FuncAt(pc); f != nil {
			r.inst.Func = f
			r.sig = r.ms.Signature(f)
		}
	}
	r.inRegs = nil
	for _, p := range r.sig.Params {
		for _, v := range registers(c, p, p.Name) {
			v.Count, v.Maybe = r.inst.Entry, !r.sig.Known
			r.inRegs = append(r.inRegs, v)
		}
	}
}

// Load serves x86.Watcher. It never replaces a value.
func (r *Recorder) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	if r.foot == nil {
		return v
	}
	pc, count := emulate.Addr(c.PC()), emulate.Count(c.InstrCount())
	r.follow(c, pc, count)
	if addr >= r.entrySP && addr < r.entrySP+8 {
		return v // the return address
	}
	r.foot.load(addr, size, v, r.ownStack(addr), r.runtime(c), count, pc)
	return v
}

// Store serves x86.Watcher.
func (r *Recorder) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	if r.foot == nil {
		return
	}
	pc, count := emulate.Addr(c.PC()), emulate.Count(c.InstrCount())
	r.follow(c, pc, count)
	r.foot.store(addr, size, v, r.runtime(c), count, pc)
}

// runtime says whether the access under way is the run-time's own business.
func (r *Recorder) runtime(c *x86.CPU) bool {
	if n := r.calls.Current(c); n != r.node {
		r.node, r.own = n, r.calls.tree.Class(n).Own()
	}
	return r.own
}

// redZone is how far below RSP a function may keep data (psABI 3.2.2), bytes.
const redZone = 128

// maxStack bounds how far RSP can move within an instance, in bytes; beyond it
// is another stack, such as a signal handler's.
const maxStack = 64 << 20

// ownStack says whether addr is on the stack that the instance grew.
func (r *Recorder) ownStack(addr uint64) bool {
	return addr < r.entrySP+8 && addr+redZone >= r.lowSP
}

// follow begins a new section when the function's own code went backwards.
func (r *Recorder) follow(c *x86.CPU, pc emulate.Addr, count emulate.Count) {
	if sp := c.R[4]; sp < r.lowSP && r.lowSP-sp < maxStack {
		r.lowSP = sp
	}
	if !r.Split || r.calls.Depth() != r.depth {
		return
	}
	if pc < r.lastPC && (r.inst.Func == nil || r.inst.Func.Contains(pc)) {
		r.parts = append(r.parts, Section{Start: r.start, End: count, Head: r.head, Footprint: r.foot})
		r.foot, r.start, r.head = newFootprint(), count, pc
	}
	r.lastPC = pc
}

// Alloc serves AllocSink: memory that the instance allocates is its own.
func (r *Recorder) Alloc(a Alloc) {
	if r.foot == nil || a.Undo {
		return
	}
	if a.Old != 0 {
		return // a realloc's content is partly the old one's
	}
	r.foot.allocate(uint64(a.Addr), a.Size, a.Zeroed)
}

// Free serves AllocSink: what was written there is dead. The size of the
// block comes from Heap.
func (r *Recorder) Free(f Free) {
	if r.foot == nil || r.Heap == nil {
		return
	}
	if b, ok := r.Heap(f.Addr); ok && b.Base == f.Addr {
		r.foot.kill(uint64(b.Base), b.Size)
	}
}

// KernelWrite says that a system call wrote b at addr. The bytes are what the
// function sees from now on, and outputs: the call was the function's.
func (r *Recorder) KernelWrite(c *x86.CPU, addr emulate.Addr, b []byte) {
	if r.foot == nil {
		return
	}
	for i, x := range b {
		r.foot.store(uint64(addr)+uint64(i), 1, uint64(x), false, emulate.Count(c.InstrCount()), emulate.Addr(c.PC()))
	}
}

// End ends the instance. exit is the count of the first instruction after it;
// returned says that it ended by its own return, which has taken effect on
// c's registers.
func (r *Recorder) End(c *x86.CPU, exit emulate.Count, returned bool) *Instance {
	if r.foot == nil {
		panic("BUG: funcs: Recorder.End without Begin")
	}
	inst := r.inst
	inst.Exit, inst.Returned = exit, returned
	r.parts = append(r.parts, Section{Start: r.start, End: exit, Head: r.head, Footprint: r.foot})
	foot := r.foot
	if len(r.parts) > 1 {
		feet := make([]*Footprint, len(r.parts))
		for i, p := range r.parts {
			feet[i] = p.Footprint
		}
		foot = Compose(feet...)
	}
	if r.Split {
		inst.Sections = r.parts
	}
	r.foot = nil
	inst.Changes, inst.Truncated = foot.Changes, foot.full

	n := newNamer(r, c, foot)
	inst.Inputs = append(inst.Inputs, r.inRegs...)
	for _, e := range foot.inputs() {
		inst.Inputs = append(inst.Inputs, n.value(e))
	}
	if returned {
		inst.Outputs = r.results(c)
	}
	dead := r.entrySP + 8
	for _, p := range r.sig.Params {
		if p.Class == ClassMemory && p.Type != nil {
			// Parameters on the stack belong to the callee (psABI 3.2.3).
			dead = max(dead, r.entrySP+8+uint64(p.Stack)+uint64(max(p.Type.Size, 8)))
		}
	}
	for _, e := range foot.outputs() {
		if r.ownStack(e.addr) || e.addr >= r.entrySP && e.addr < dead {
			continue
		}
		inst.Outputs = append(inst.Outputs, n.value(e))
	}
	for _, e := range foot.uninitialised() {
		inst.Uninit = append(inst.Uninit, n.value(e))
	}
	return &inst
}

// results returns the result registers.
func (r *Recorder) results(c *x86.CPU) []Value {
	out := registers(c, r.sig.Result, "ret")
	if !r.sig.Known {
		for i := range out {
			out[i].Maybe = true
		}
		if c.X[0] != r.xmm0 {
			x := registers(c, Param{Class: ClassSSE, Regs: []Reg{RegXMM0}}, "ret.xmm0")[0]
			x.Maybe = true
			out = append(out, x)
		}
	}
	for i := range out {
		out[i].Count = emulate.Count(c.InstrCount())
	}
	return out
}
