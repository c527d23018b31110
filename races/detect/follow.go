package detect

import (
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/traces"
)

// System calls that change what memory is (Linux, x86-64).
const (
	sysMmap    = 9
	sysMunmap  = 11
	sysMremap  = 25
	sysMadvise = 28

	sysExecve   = 59
	sysExecveat = 322
	sysExit     = 60

	sysSigaction = 13
)

const madvDontneed = 4

// A follower turns what one replayed thread does into events.
type follower struct {
	p     *Pass
	tt    *ThreadTrack
	t     *replay.Thread
	calls *funcs.Tracker
	watch *watch       // nil without Checks
	goer  *goFollower  // nil: not a Go program
	omp   *ompFollower // nil: OpenMP's tasks aren't told apart
	b     *batch

	// A read-modify-write instruction is two accesses, its load being held
	// back until the store: at most two pieces (CMPXCHG16B).
	held  [2]races.Event
	nheld int

	plain    races.Event // the last plain load
	last     races.Event // the last one that waited kept back
	lastKept bool
	exchange map[uint64]bool // by instruction; see stores
	rmw      map[uint64]bool // by instruction; see updates
	atomics  map[uint64]bool // by instruction; see atomic
	blinds   map[uint64]bool // by instruction; see blind
	looses   map[looseKey]races.Loose

	condMoves map[uint64]int // by instruction; see thrownAway

	gen   uint64 // of what was synchronised
	table *lineTable

	// The place of the last access, which the next one is likely to share.
	ctx   uint32
	pc    uint64
	place accessPlace

	lockCalls []lockCall
	messages  []messageCall
	reading   map[uint64]int // readers-writer locks held as a reader: how often
	robust    []uint64       // robust mutexes held
	strings   []stringCall
	entries   map[emulate.Addr]entry
	conduct   []conductCall
	born      emulate.ThreadID // the thread that it created last
	pairs     []note           // of system calls whose descriptors aren't known yet

	rip uint64 // before the packet that is being applied

	call struct { // system call under way
		nr   uint64
		args [6]uint64
		pc   uint64
		min  uint64

		count emulate.Count
	}
}

// An accessPlace is what an instruction in a context means for its accesses.
type accessPlace struct {
	flags races.Flags
	scope races.Scope
	typed bool // its accesses are atomic, says the source
	quiet bool // a Go run-time's own
}

// A birth is the start of a thread.
type birth struct {
	id, parent emulate.ThreadID
	min        uint64 // of its Start packet
	sp         uint64
	control    uint64 // FS base
}

// born emits what precedes a thread's first instruction, at the moment of its
// creation: what its parent does later isn't ordered before it.
//
// The last event has the parent's next instruction.
func (p *Pass) born(b birth, at emulate.Count) []races.Event {
	var out []races.Event
	p.Threads[b.id].Control = b.control
	p.Threads[b.id].Origin.Parent = b.parent
	if b.parent != 0 && !p.golang.ownStacks() {
		for _, m := range p.Session.Mappings(b.min) {
			if uint64(m.Addr) <= b.sp && b.sp < uint64(m.Addr)+m.N {
				tt := p.Threads[b.id]
				tt.Stack, tt.StackEnd = uint64(m.Addr), uint64(m.Addr)+m.N
				out = append(out, races.Event{Op: races.OpReset, Thread: b.id, Addr: m.Addr, N: m.N})
			}
		}
	}
	return append(out, races.Event{Op: races.OpThreadStart, Thread: b.id, Value: uint64(b.parent), Count: at})
}

// births reads how all threads started.
func (p *Pass) births() error {
	p.children = map[emulate.ThreadID][]birth{}
	for _, id := range p.Session.Threads() {
		t, err := p.Session.Thread(id)
		if err != nil {
			return err
		}
		b := birth{id: id, min: t.Min(), sp: t.CPU().R[x86.RSP], control: t.CPU().R[x86.RegFS]}
		if st, err := p.Session.Reader().Cursor(uint32(id)).Next(); err == nil && st.Kind == traces.Start {
			b.parent, b.min = emulate.ThreadID(st.Parent), st.Min
		}
		if b.parent == id || !slices.Contains(p.Session.Threads(), b.parent) {
			b.parent = 0
		}
		p.children[b.parent] = append(p.children[b.parent], b)
	}
	return nil
}

// add appends an event that isn't an access: something was synchronised.
func (f *follower) add(e races.Event) {
	f.synchronised()
	e.Thread = f.tt.ID
	f.b.events = append(f.b.events, e)
}

// where classifies the instruction that is executing.
func (f *follower) where() (ctx uint32, pc uint64, pl accessPlace) {
	ctx, pc = f.calls.Node(), f.t.CPU().PC()
	if ctx == f.ctx && pc == f.pc {
		return ctx, pc, f.place
	}
	f.ctx, f.pc = ctx, pc
	f.place = f.placeOf(f.p.Tree.Place(ctx, emulate.Addr(pc)))
	f.place.typed = f.place.flags == 0 && f.place.scope == races.ScopeUser && f.atomic(pc)
	return ctx, pc, f.place
}

func (f *follower) placeOf(p funcs.Place) accessPlace {
	switch {
	case p.Category == 0:
		return accessPlace{scope: races.ScopeUser}
	case p.Runtime.Go && p.Category.Own():
		return accessPlace{flags: races.Internal, scope: races.ScopeInternal, quiet: true}
	case p.Category == funcs.SyncAPI && !lifecycle[p.Runtime.Name]:
		if f.openMP() {
			// Its barriers and hand-overs are plain loads and stores.
			return accessPlace{flags: races.Internal | races.Atomic, scope: f.syncScope()}
		}
		return accessPlace{flags: races.Internal, scope: f.syncScope()}
	case p.Category == funcs.Unsafe:
		return accessPlace{scope: races.ScopeUser}
	case p.Category.UserAccess():
		return accessPlace{scope: scopeByOwner}
	}
	return accessPlace{flags: races.Internal, scope: races.ScopeDefault}
}

// syncScope is the order that functions which synchronise contribute to. What
// OpenMP's do with tasks is told otherwise.
func (f *follower) syncScope() races.Scope {
	if f.omp != nil && f.omp.silent() {
		return scopeOfTasks
	}
	return races.ScopeUser
}

// openMP says whether the executing instruction is the OpenMP run-time's.
func (f *follower) openMP() bool {
	return f.inOpenMP(emulate.Addr(f.pc))
}

func (f *follower) inOpenMP(pc emulate.Addr) bool { return f.p.Tree.Modules().InOpenMP(pc) }

// lifecycle are the functions that begin and end threads. What orders for the
// user there is the system call and the word that the kernel clears; their own
// locks and counters (of cached stacks, of threads alive) order by accident.
var lifecycle = map[string]bool{
	"pthread_create": true, "pthread_join": true, "pthread_tryjoin_np": true, "pthread_timedjoin_np": true, "pthread_clockjoin_np": true,
	"pthread_detach": true, "pthread_exit": true, "pthread_cancel": true, "start_thread": true, "clone": true, "__clone": true, "clone3": true,
	"__clone3": true, "__clone_internal": true, "thrd_create": true, "thrd_join": true, "thrd_detach": true, "thrd_exit": true, "__libc_start_main": true,
	"__libc_start_main_impl": true, "__libc_start_call_main": true, "_start": true, "__nptl_deallocate_tsd": true, "__nptl_free_tcb": true, "": true,
}

// Load serves x86.Watcher.
func (f *follower) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	if len(f.strings) > 0 && kind == x86.Read {
		a, n, ok := f.cut(addr, size)
		if ok {
			f.load(c, a, n, kind, v>>(8*(a-addr))&(^uint64(0)>>(64-8*n)))
		}
		return v
	}
	return f.load(c, addr, size, kind, v)
}

func (f *follower) load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	if f.goer != nil && f.goLoad(c, addr, size, kind, v) {
		return v
	}
	if l := f.p.lines; l != nil && !l.Has(addr>>6) {
		if f.watch != nil {
			f.watch.access(addr, size, kind)
		}
		return v
	}
	s, m := f.state(addr>>lineShift), bytesOf(addr, size)
	s.use.note(m, false)
	if kind != x86.Update && !c.Atomic() && f.readBefore(s, m) {
		if s.sync&m != 0 {
			e := f.access(c, addr, size, races.Read, v)
			e.Loose = f.loose(&e)
			f.flush()
			f.waited(&e)
		}
		return v
	}
	if kind == x86.Read && f.thrownAway(c) {
		return v
	}
	e := f.access(c, addr, size, races.Read, v)
	if e.Typed || e.Flags&races.Atomic != 0 || s.sync&m != 0 {
		e.Loose = f.loose(&e)
	}
	if kind != x86.Update {
		f.flush()
		f.loaded(&e)
		f.lastKept = false
		f.look(s, &e, m)
		f.b.events = append(f.b.events, e)
		return v
	}
	if f.nheld == len(f.held) || f.nheld > 0 && f.held[0].Count != e.Count {
		f.flush()
	}
	f.held[f.nheld] = e
	f.nheld++
	return v
}

// Store serves x86.Watcher.
func (f *follower) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	if f.goer != nil && f.goStore(c, addr, size, v) {
		return
	}
	if l := f.p.lines; l != nil && !l.Has(addr>>6) {
		if f.watch != nil {
			f.watch.access(addr, size, x86.Write)
		}
		return
	}
	s, m := f.state(addr>>lineShift), bytesOf(addr, size)
	s.use.note(m, true)
	plain := !c.Atomic()
	if f.nheld == 0 && plain && f.writtenBefore(s, m) {
		return
	}
	e := f.access(c, addr, size, races.Write, v)
	if f.goer != nil && f.goer.barrier {
		f.goer.barrier = false
		e.Scope = scopeByOwner
	}
	for i := 0; i < f.nheld; i++ {
		if h := &f.held[i]; h.Count == e.Count && h.Addr == e.Addr && h.N == e.N {
			e.Kind = races.Update
			f.nheld--
			f.held[i] = f.held[f.nheld]
			break
		}
	}
	switch {
	case e.Kind != races.Update:
		f.flush()
		if s.relaxed && f.updates(c, e.PC) {
			e.Kind = races.Update // whose load wasn't seen
		}
	case e.Flags&races.Atomic != 0 && f.exchanges(c, &e):
		e.Kind = races.Write
		e.Flags &^= races.Atomic
	}
	if plain && f.writtenBefore(s, m) {
		return
	}
	if e.Typed || !plain || s.sync&m != 0 {
		e.Loose = f.loose(&e)
	}
	if e.Kind == races.Update && plain && !e.Typed && e.Flags == 0 {
		e.Blind = f.blind(c, e.PC)
	}
	f.look(s, &e, m)
	f.resume(&e)
	f.b.events = append(f.b.events, e)
	if s.sync&m != 0 || e.Typed {
		f.synchronised() // for all that can be told here
	}
}

func (f *follower) access(c *x86.CPU, addr uint64, size int, kind races.Kind, v uint64) races.Event {
	ctx, pc, pl := f.where()
	e := races.Event{Op: races.OpAccess, Kind: kind, Flags: pl.flags, Scope: pl.scope, Thread: f.tt.ID, Ctx: ctx,
		Addr: emulate.Addr(addr), N: uint64(size), PC: pc, Value: v, Count: f.t.Count()}
	if c.Atomic() {
		e.Flags |= races.Atomic
	}
	if f.calls.InAllocator() {
		e.Flags |= allocatorAccess
	}
	if len(f.lockCalls) > 0 && f.ofLock(addr) {
		e.Flags |= races.OfLock
		if f.inRW() {
			e.Scope = races.ScopeInternal
		}
	}
	if e.Typed = pl.typed; e.Typed || e.Flags&races.Atomic != 0 {
		f.synchronised()
	}
	return e
}

// flush emits held-back loads whose store never came: compare-and-exchanges
// that failed, and instructions cut in half.
func (f *follower) flush() {
	for i := 0; i < f.nheld; i++ {
		f.b.events = append(f.b.events, f.held[i])
	}
	f.nheld = 0
}

// Alloc serves funcs.AllocSink.
func (f *follower) Alloc(a funcs.Alloc) {
	f.flush()
	if a.Waited {
		f.goNote(noteGoAlloc, uint64(a.Addr), uint64(a.Entry))
		return
	}
	if a.Undo {
		if f.watch != nil {
			f.watch.alloc(&a)
		}
		return
	}
	e := races.Event{Op: races.OpAlloc, Addr: a.Addr, N: a.Size, Ctx: a.Node, PC: uint64(a.Site), Count: a.Count}
	if f.p.Tree.Class(a.Node).Own() {
		e.Flags |= races.Internal
	}
	f.add(e)
	if f.watch != nil {
		f.watch.alloc(&a)
	}
}

// Free serves funcs.AllocSink.
func (f *follower) Free(a funcs.Free) {
	f.flush()
	e := races.Event{Op: races.OpFree, Addr: a.Addr, Ctx: a.Node, PC: uint64(a.Site), Count: a.Count}
	if f.p.Tree.Class(a.Node).Own() {
		e.Flags |= races.Internal
	}
	f.add(e)
	if f.watch != nil {
		f.watch.free(&a)
	}
}

// handlerOf is what a thread that installs a handler for a signal (sigaction(2))
// releases, and whoever it interrupts acquires. Signals under way have a
// thread's number in the low half.
func handlerOf(signo int32) uint64 { return uint64(signo)<<32 | 0xffff_ffff }

// packet turns an event of the replay into events of the detector.
func (f *follower) packet(ev *replay.Event) {
	p := ev.Packet
	switch ev.Kind {
	case traces.SyscallEnter:
		f.flush()
		f.call.nr, f.call.args, f.call.pc, f.call.min, f.call.count = p.Nr, p.Args, f.t.CPU().RIP, p.Min, f.t.Count()
		if len(f.pairs) > 0 {
			f.pending()
		}
		f.useDescriptors()
		for _, o := range p.Objs {
			f.object(races.OpRelease, o)
		}
		if p.Nr == sysSigaction && p.Args[1] != 0 {
			f.add(races.Event{Op: races.OpRelease, Object: races.ObjSignal, Value: handlerOf(int32(p.Args[0])), Scope: races.ScopeUser})
		}
		if p.Nr == sysPrctl && int32(p.Args[0]) == prSetName {
			f.named(0, p.Args[1])
		}
	case traces.SyscallExit:
		f.exit(p)
	case traces.Signal:
		f.flush()
		f.add(races.Event{Op: races.OpAcquire, Object: races.ObjSignal, Value: handlerOf(p.Signo), Scope: races.ScopeUser})
		if p.Thread != 0 {
			// What was sent to the process, and to this thread (linux.ObjSignal).
			for _, id := range []uint64{uint64(p.Signo), uint64(f.tt.ID)<<8 | uint64(p.Signo)} {
				f.add(races.Event{Op: races.OpAcquire, Object: races.ObjSignal, Value: id, Scope: races.ScopeUser})
			}
		}
		c := f.t.CPU()
		f.calls.Push(c, f.rip, c.RIP, c.R[x86.RSP])
		if f.watch != nil {
			f.note(note{kind: noteHandler, addr: uint64(p.Signo), ctx: f.calls.Node(), count: f.t.Count()})
			f.watch.written(c.R[x86.RSP], overlay.SignalFrame)
		}
	}
}

func (f *follower) object(op races.Op, o traces.Object) {
	e := races.Event{Op: op, Value: o.ID, Scope: races.ScopeUser, Ctx: f.calls.Node(), PC: f.call.pc, Count: f.t.Count()}
	switch o.Kind {
	case objAddr:
		e.Object = races.ObjFutex
		// What the run-time waits for inside its own locks orders only itself.
		e.Scope = f.callScope()
		if f.ofLock(o.ID) {
			e.Flags |= races.OfLock
			if f.inRW() {
				e.Scope = races.ScopeInternal
			}
		}
	case objChannel:
		e.Object = races.ObjChannel
	case objThread:
		e.Object = races.ObjThread
	default:
		e.Object = races.ObjSignal
	}
	f.add(e)
}

// Object kinds as the recorder writes them (linux.ObjectKind).
const (
	objAddr    = 1
	objChannel = 2
	objThread  = 3
)

func (f *follower) callScope() races.Scope {
	pl := f.p.Tree.Place(f.calls.Node(), emulate.Addr(f.call.pc))
	if pl.Category == funcs.Internal || pl.Category == funcs.Allocator {
		return races.ScopeInternal
	}
	if pl.Category == funcs.SyncAPI {
		return f.syncScope()
	}
	return races.ScopeUser
}

// exit handles a system call's effects: what it ordered, touched and remapped.
func (f *follower) exit(p *traces.Packet) {
	for _, b := range f.p.children[f.tt.ID] {
		if b.min > f.call.min && b.min < p.Min {
			f.synchronised()
			if f.p.Threads[b.id] == nil { // another process's first thread
				f.b.events = append(f.b.events, races.Event{Op: races.OpThreadStart, Thread: b.id, Value: uint64(b.parent)})
				continue
			}
			o := &f.p.Threads[b.id].Origin
			o.Ctx, o.PC = f.calls.Node(), f.call.pc
			f.b.events = append(f.b.events, f.p.born(b, f.t.Count())...)
			f.born = b.id
		}
	}
	for _, o := range p.Objs {
		f.object(races.OpAcquire, o)
	}
	pl := f.placeOf(f.p.Tree.Place(f.calls.Node(), emulate.Addr(f.call.pc)))
	f.ranges(p.Reads, races.Read, pl)
	f.ranges(p.Writes, races.Write, pl)
	f.tt.kernelWrote(p.Writes)
	if f.watch != nil {
		f.file(p)
	}
	a := &f.call.args
	failed := int64(p.Ret) < 0 && int64(p.Ret) > -4096
	if failed {
		return
	}
	f.renewDescriptors(p.Ret)
	switch f.call.nr {
	case sysMmap:
		f.add(races.Event{Op: races.OpReset, Addr: emulate.Addr(p.Ret), N: a[1]})
	case sysMunmap:
		f.add(races.Event{Op: races.OpReset, Addr: emulate.Addr(a[0]), N: a[1]})
	case sysMremap:
		f.add(races.Event{Op: races.OpReset, Addr: emulate.Addr(a[0]), N: a[1]})
		if p.Ret != a[0] {
			f.add(races.Event{Op: races.OpReset, Addr: emulate.Addr(p.Ret), N: a[2]})
		}
	case sysExecve, sysExecveat: // all memory is new, and so is the stack
		for _, m := range f.p.Session.Mappings(f.call.min) {
			f.add(races.Event{Op: races.OpReset, Addr: m.Addr, N: m.N})
		}
		f.calls.Start(emulate.Addr(f.t.CPU().RIP), f.t.Count())
	case sysMadvise:
		if a[2] == madvDontneed {
			f.add(races.Event{Op: races.OpReset, Addr: emulate.Addr(a[0]), N: a[1]})
		}
	}
}

// ranges emits what a system call read or wrote, as far as others touch it.
func (f *follower) ranges(rs []traces.Range, kind races.Kind, pl accessPlace) {
	for _, r := range rs {
		if pl.quiet || f.goer != nil && r.Addr >= f.goer.lo && r.Addr < f.goer.hi {
			continue
		}
		for a, end := r.Addr, r.Addr+r.N; a < end; {
			stop := min((a|63)+1, end)
			if !f.p.shared(a >> 6) {
				if f.watch != nil {
					f.watch.kernel(a, stop-a, kind == races.Write)
				}
			} else {
				f.add(races.Event{Op: races.OpAccess, Kind: kind, Flags: pl.flags | races.Kernel, Scope: pl.scope,
					Addr: emulate.Addr(a), N: stop - a, PC: f.call.pc, Ctx: f.calls.Node(), Count: f.t.Count()})
			}
			a = stop
		}
	}
}
