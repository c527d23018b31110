package record

import (
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A thread is what the recorder keeps for each guest thread.
type thread struct {
	r      *recorder
	t      *linux.Thread
	stream uint32
	know   *hwmodel.Knowledge
	held   *hwmodel.Knowledge // in LogCCP: what a replay of it from its start has in memory

	min   uint64 // its last orderable event
	minAt uint64 // and the count at which it happened

	keyAt, hashAt uint64 // counts at the last key frame and hash
	imports       uint64 // lines that flowed in since the start
	again         uint64 // since the last key frame, those that wouldn't have without any
	cost          uint64 // what again was at the last key frame
	sel           selection
	fullKey       bool // the next key frame is due, a full one
	inCall        bool // between a system call's entry and exit
	exited        bool
	split         bool // inside a read-modify-write instruction
	call          entry

	counted hwmodel.Counters // of its unit, when it got it; with MarkCounters or a ring
	sum     hwmodel.Counters // counted for it by all units, up to when it got this one; with a ring

	reads *values // of a log of values, or a memory model that orders accesses
}

// An entry is the state at the entry of a system call.
type entry struct {
	regs  [32]uint64
	rip   uint64
	flags uint64
}

// newState returns a packet's form of a processor's state.
func (r *recorder) state(c *x86.CPU) []byte {
	r.stateBuf = x86.AppendState(r.stateBuf[:0], c)
	return r.stateBuf
}

// event puts a packet with the next number of an orderable event in a thread's
// stream, at its present count.
func (r *recorder) event(t *thread, p *traces.Packet) {
	r.min++
	p.Min = r.min
	t.min, t.minAt = r.min, t.t.CPU.InstrCount()
	r.put(t.stream, t.minAt, p)
}

// put hands a packet to the writer. The first error stops the guest.
func (r *recorder) put(stream uint32, count uint64, p *traces.Packet) {
	if r.ended || r.silent(stream) {
		return
	}
	if err := r.w.Put(stream, count, p); err != nil {
		r.failed(err)
	}
}

// failed stops the guest, because the trace can't be written any more.
func (r *recorder) failed(err error) {
	if r.err == nil {
		r.err = err
		r.interrupt(err)
	}
}

// ThreadStart implements linux.Hooks.
func (r *recorder) ThreadStart(lt *linux.Thread, parent emulate.ThreadID) {
	if r.threads == 0 {
		parent = 0 // of a process that was forked: another trace's
	}
	t := &thread{r: r, t: lt, stream: uint32(lt.ID), know: r.m.NewKnowledge()}
	if r.holders != nil {
		t.held = r.m.NewKnowledge()
		r.all = append(r.all, t)
	}
	if r.cfg.reads.Values() || r.cfg.orders.Loads() {
		t.reads = &values{r: r, t: t}
	}
	if r.cfg.reads.Values() {
		t.reads.pred = r.cfg.reads.Predictor()
	}
	lt.Rec = t
	r.threads++
	r.live = append(r.live, t)
	if r.cfg.Select != nil {
		r.streams[t.stream] = t
	}
	if r.threads == 1 && r.cfg.snapshots&SnapshotStart != 0 {
		r.wholeMemory()
	}
	r.event(t, &traces.Packet{Kind: traces.Start, Thread: t.stream, Parent: uint32(parent), State: r.state(lt.CPU)})
	r.selectFrom(t)
}

// ThreadExit implements linux.Hooks.
func (r *recorder) ThreadExit(lt *linux.Thread, status int, clear emulate.Addr) {
	t := lt.Rec.(*thread)
	if r.cfg.marks != 0 && r.cur == t {
		r.markOut(t)
	}
	if r.cfg.Ring > 0 {
		if r.cur == t {
			r.count(t)
		}
		r.putCounted(t)
	}
	t.exited = true
	t.sel.off = false
	r.live = slices.DeleteFunc(r.live, func(o *thread) bool { return o == t })
	if len(r.live) == 0 && r.cfg.snapshots&SnapshotEnd != 0 {
		r.wholeMemory() // which goes when the process has ended
	}
	r.event(t, &traces.Packet{Kind: traces.Exit, Status: int32(status), Addr: uint64(clear)})
	r.instructions += lt.CPU.Count
}

// SwitchIn implements linux.Hooks.
func (r *recorder) SwitchIn(lt *linux.Thread, unit int) {
	t := lt.Rec.(*thread)
	r.cur, r.unit, r.win = t, unit, r.m.Window(unit)
	r.fetches = r.m.FetchWindow(unit)
	if r.last[unit] != t {
		r.win.Clear()
		if r.fetches != nil {
			r.fetches.Clear()
		}
		r.last[unit] = t
	}
	r.watchCode(lt.CPU)
	lt.CPU.Win = r.win
	if t.reads != nil {
		lt.CPU.Watch = t.reads
	}
	r.generation()
	r.rests(t)
	if n := lt.CPU.Count; (t.fullKey || r.keyDue(t, n)) && !t.inCall && !t.split && !t.sel.off {
		r.keyFrame(t)
	}
	r.event(t, &traces.Packet{Kind: traces.Switch, Unit: uint32(unit), In: true})
	if r.cfg.marks&MarkCounters != 0 || r.cfg.Ring > 0 {
		t.counted = r.m.Counters(unit)
	}
	if r.cfg.marks != 0 {
		r.markIn(t)
	}
	t.split = false
}

// keyFrame puts a key frame of the thread that is about to run in its stream.
func (r *recorder) keyFrame(t *thread) {
	if t.fullKey {
		r.begin(t)
	}
	t.know.Forget()
	if t.reads != nil {
		t.reads.reset()
	}
	r.win.Clear()
	if r.fetches != nil {
		r.fetches.Clear()
	}
	for u := range r.last {
		if r.last[u] == t && u != r.unit {
			r.last[u] = nil // its tags there are void, too
		}
	}
	n := t.t.CPU.Count
	r.put(t.stream, n, &traces.Packet{Kind: traces.KeyFrame, Min: t.min, State: r.state(t.t.CPU)})
	if t.fullKey {
		r.around(t)
		r.putCounted(t)
		t.fullKey = false
	}
	t.keyAt, t.hashAt, t.cost, t.again = n, n, t.again, 0
	r.keyFrames++
}

// SwitchOut implements linux.Hooks.
func (r *recorder) SwitchOut(lt *linux.Thread) {
	t := lt.Rec.(*thread)
	if t.exited {
		return
	}
	if n := lt.CPU.Count; r.hashEvery > 0 && n-t.hashAt >= r.hashEvery && !t.inCall && !t.split {
		r.hash(t)
	}
	if r.cfg.marks != 0 {
		r.markOut(t)
	}
	if r.cfg.Ring > 0 {
		r.count(t)
	}
	r.event(t, &traces.Packet{Kind: traces.Switch, Unit: uint32(r.unit)})
}

// hash puts a hash of t's registers in its stream.
func (r *recorder) hash(t *thread) {
	n := t.t.CPU.Count
	r.put(t.stream, n, &traces.Packet{Kind: traces.Hash, Hash: x86.HashState(r.state(t.t.CPU))})
	t.hashAt = n
}

// Split implements linux.Hooks.
func (r *recorder) Split(lt *linux.Thread) {
	t := lt.Rec.(*thread)
	t.split = true
	r.put(t.stream, lt.CPU.Count, &traces.Packet{Kind: traces.Split})
}

// SyscallEnter implements linux.Hooks.
func (r *recorder) SyscallEnter(lt *linux.Thread, nr uint64, args [6]uint64, rel []linux.Object) {
	t := lt.Rec.(*thread)
	t.inCall = true
	c := lt.CPU
	t.call = entry{c.R, c.RIP, c.Flags()}
	r.event(t, &traces.Packet{Kind: traces.SyscallEnter, Nr: nr, Args: args, Objs: objects(rel)})
}

// SyscallExit implements linux.Hooks.
func (r *recorder) SyscallExit(lt *linux.Thread, nr uint64, ret uint64, eff linux.Effects) {
	t := lt.Rec.(*thread)
	t.inCall = false
	r.kernelRead(lt, eff.Reads)
	c := lt.CPU
	if r.execed {
		r.renew(t)
	}
	p := &traces.Packet{Kind: traces.SyscallExit, Nr: nr, Ret: ret, Objs: objects(eff.Acquire),
		Reads: ranges(eff.Reads), Writes: ranges(eff.Writes)}
	// The registers are in the packet only if the call did more to them than
	// every call does.
	e := &t.call
	const syscallLen = 2
	e.rip += syscallLen
	e.regs[x86.RAX], e.regs[x86.RCX], e.regs[x86.R11] = ret, e.rip, e.flags
	if e.regs != c.R || e.rip != c.RIP || e.flags != c.Flags() {
		p.State = r.state(c)
	}
	r.event(t, p)
}

// Signal implements linux.Hooks.
func (r *recorder) Signal(lt *linux.Thread, signo int, code int32, fault emulate.Addr, from emulate.ThreadID) {
	t := lt.Rec.(*thread)
	t.inCall = false
	r.event(t, &traces.Packet{Kind: traces.Signal, Signo: int32(signo), Code: code, Addr: uint64(fault),
		Thread: uint32(from), State: r.state(lt.CPU)})
}

// Context implements linux.Hooks.
func (r *recorder) Context(lt *linux.Thread) {
	t := lt.Rec.(*thread)
	t.inCall = false
	r.put(t.stream, lt.CPU.Count, &traces.Packet{Kind: traces.Context, State: r.state(lt.CPU)})
}

// Fault implements linux.Hooks.
func (r *recorder) Fault(lt *linux.Thread, s *x86.Stop) {
	t := lt.Rec.(*thread)
	if t.reads != nil {
		t.reads.skipped = 0 // the handler's first instruction has the same count
	}
	r.put(t.stream, lt.CPU.Count, &traces.Packet{Kind: traces.Fault, Vector: s.Vector, Addr: s.Addr, Code: int32(s.Code)})
}

// Orderable serves x86.Env.
func (r *recorder) Orderable(c *x86.CPU, addr uint64, size int) {
	if r.p.PreemptAtomic(r.cur.t) {
		x86.Raise(&x86.Stop{Kind: x86.StopYield})
	}
	if r.cfg.orders.Fences() {
		r.order(c.InstrCount())
	}
	if op := (atomicOperand{addr, size}); size > 0 && op != r.lastAtomic {
		r.lastAtomic = op
		r.atomics[op] = struct{}{}
	}
}

// order gives the running thread's next instruction a number.
func (r *recorder) order(count uint64) {
	r.min++
	t := r.cur
	t.min, t.minAt = r.min, count
	if t.sel.off {
		return
	}
	if err := r.w.PutOrder(t.stream, count, r.min); err != nil {
		r.failed(err)
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
	}
}

// Nondet serves x86.Env.
func (r *recorder) Nondet(c *x86.CPU, what x86.NondetKind, dst uint8, size int) {
	if what == x86.CPUID && uint32(c.R[x86.RAX]) == userMark {
		r.userMarked(c)
	}
	r.p.Nondet(r.cur.t, what, dst)
	if r.cfg.orders.Fences() && (what == x86.RDTSC || what == x86.RDTSCP) { // clocks of different threads can be compared
		r.order(c.InstrCount())
	}
	r.put(r.cur.stream, c.InstrCount(), &traces.Packet{Kind: traces.Nondet, What: uint8(what), Regs: x86.NondetRegs(c, what, dst)})
}

func objects(in []linux.Object) []traces.Object {
	var out []traces.Object
	for _, o := range in {
		out = append(out, traces.Object{Kind: uint8(o.Kind), ID: o.ID})
	}
	return out
}

func ranges(in []linux.Range) []traces.Range {
	var out []traces.Range
	for _, g := range in {
		out = append(out, traces.Range{Addr: uint64(g.Addr), N: g.N})
	}
	return out
}
