package detect

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// Go programs. Their threads execute goroutines, which the run-time resumes and
// parks (golang_order.go has what that orders). Of the accesses that a thread
// makes, those don't matter that the run-time makes to its own data, and those
// to the goroutine's own stack, which nobody else reaches but the run-time. What
// synchronises is seen in three ways: atomic instructions of the program and of
// package sync count as anywhere; the operations of Mutex, RWMutex and WaitGroup
// by the function that they are in, since the words they are made of order more
// than they do; and what the run-time does, by its functions.
//
// Sources: The Go Memory Model (go.dev/ref/mem, version of June 6, 2022), and
// what package sync says of its types.

// A goHook says what a function of the run-time means.
type goHook uint8

const (
	_            goHook = iota
	goNewproc           // newproc1(fn, …) *g: a goroutine is made
	goDestroy           // gdestroy(g): a goroutine has ended
	goTimerRun          // (*timer).unlockAndRun(t): a timer's function is called
	goTimerSet          // (*timer).modify(t, …): a timer is set
	goSend              // send(c, sudog, …): to a goroutine that waits
	goRecv              // recv(c, sudog, …): from a goroutine that waits
	goUnlock            // unlock2(l): if it is a channel's, something was done to it
	goClose             // closechan(c)
	goChanRecv          // chanrecv(c, …) (selected, received)
	goSelect            // selectgo(cases, _, _, sends, receives, …) (case, received)
	goSemRelease        // semrelease1(addr, …)
	goSemAcquire        // semacquire1(addr, …)
	goNotify            // notifyListNotifyOne/All(l)
	goNotifyWait        // notifyListWait(l, …)
	goReady             // ready(g, …): a goroutine that waited goes on
	goPoolPut           // sync.(*Pool).Put(p, x)
	goPoolGet           // sync.(*Pool).Get(p) x
	goCoro              // coroswitch_m: the thread goes on with the other side of a coroutine at once
)

var goHooks = map[string]goHook{
	"runtime.newproc1": goNewproc, "runtime.gdestroy": goDestroy, "runtime.goexit0": goDestroy,
	"runtime.(*timer).unlockAndRun": goTimerRun, "runtime.(*timer).modify": goTimerSet,
	"runtime.send": goSend, "runtime.recv": goRecv, "runtime.unlock2": goUnlock, "runtime.closechan": goClose,
	"runtime.chanrecv": goChanRecv, "runtime.selectgo": goSelect,
	"runtime.semrelease1": goSemRelease, "runtime.semacquire1": goSemAcquire,
	"sync.runtime_notifyListNotifyOne": goNotify, "sync.runtime_notifyListNotifyAll": goNotify, "sync.runtime_notifyListWait": goNotifyWait,
	"runtime.notifyListNotifyOne": goNotify, "runtime.notifyListNotifyAll": goNotify, "runtime.notifyListWait": goNotifyWait,
	"runtime.ready": goReady, "sync.(*Pool).Put": goPoolPut, "sync.(*Pool).Get": goPoolGet,
	"runtime.coroswitch_m": goCoro,
}

// What goroutines synchronise through is told apart by the top bits of its
// number; the rest is an address, or says which place of which channel.
const (
	goObjSema  = 1 << 56 // a semaphore, which also stands for the lock it is part of
	goObjClose = 2 << 56 // the end of a channel
	goObjTimer = 3 << 56
	goObjPool  = 4 << 56 // what was put into a pool
	goObjList  = 5 << 56 // of a condition
	goObjSlot  = 6 << 56 // a place in a channel's buffer
	goObjMeet  = 7 << 56 // a channel without one
	goObjCoro  = 8 << 56 // a coroutine's switch, by the thread that makes it
)

// goEntries returns the entries of the hooked functions of a Go program, and of
// those that unlock a channel.
func goEntries(ms *funcs.Modules) (hooks map[emulate.Addr]goHook, channel map[emulate.Addr]bool) {
	if ms == nil || !ms.IsGo() {
		return nil, nil
	}
	hooks, channel = map[emulate.Addr]goHook{}, map[emulate.Addr]bool{}
	for n, h := range goHooks {
		if at := ms.GoFunc(n); at != 0 {
			hooks[at] = h
		}
	}
	for _, at := range ms.GoFuncs(func(n string) bool {
		for _, p := range [...]string{"runtime.chansend", "runtime.chanrecv", "runtime.closechan", "runtime.selectgo", "runtime.selunlock"} {
			if n == p || strings.HasPrefix(n, p+".func") {
				return true
			}
		}
		return false
	}) {
		channel[at] = true
	}
	return hooks, channel
}

// A goFollower is what a follower of a Go program's thread knows beside.
type goFollower struct {
	lo, hi uint64 // the stack of the goroutine that the thread executes
	roles  map[uint64]goRole
	calls  []goCall            // of hooked functions, under way
	parked map[uint64][]goCall // …of goroutines that aren't running
	g      uint64
	old    uint64 // what an update of a lock's word loaded
	// barrier says that a store may be to the collector's buffer, which is the
	// run-time's.
	barrier bool
}

// A goCall is a call of a hooked function under way.
type goCall struct {
	hook  goHook
	depth int
	arg   [3]uint64
}

// A goRole says what an instruction in package sync does.
type goRole uint8

const (
	goNone     goRole = iota
	goPlain           // nothing special
	goInside          // of the library's own data: only atomic accesses count
	goIgnore          // a lock's word, in passing
	goLock            // Mutex: takes it
	goUnlocks         // Mutex: gives it up
	goRLock           // RWMutex
	goRUnlock         //
	goWLock           //
	goWUnlock         //
	goWaitAdd         // WaitGroup: Add, Done
	goWaitWait        // WaitGroup: Wait
)

// goSyncFuncs are the functions whose atomic accesses aren't taken for what
// they are.
var goSyncFuncs = map[string]goRole{
	"internal/sync.(*Mutex).Lock": goLock, "internal/sync.(*Mutex).TryLock": goLock, "internal/sync.(*Mutex).lockSlow": goLock,
	"internal/sync.(*Mutex).Unlock": goUnlocks, "internal/sync.(*Mutex).unlockSlow": goIgnore,
	"sync.(*Mutex).Lock": goLock, "sync.(*Mutex).TryLock": goLock, "sync.(*Mutex).lockSlow": goLock,
	"sync.(*Mutex).Unlock": goUnlocks, "sync.(*Mutex).unlockSlow": goIgnore,
	"sync.(*RWMutex).RLock": goRLock, "sync.(*RWMutex).TryRLock": goRLock, "sync.(*RWMutex).RUnlock": goRUnlock, "sync.(*RWMutex).rUnlockSlow": goIgnore,
	"sync.(*RWMutex).Lock": goWLock, "sync.(*RWMutex).TryLock": goWLock, "sync.(*RWMutex).Unlock": goWUnlock,
	"sync.(*WaitGroup).Add": goWaitAdd, "sync.(*WaitGroup).Done": goWaitAdd, "sync.(*WaitGroup).Go": goWaitAdd, "sync.(*WaitGroup).Wait": goWaitWait,
}

// role says what the instruction at pc does, by the functions that it is in.
func (f *follower) role(pc uint64) goRole {
	r := f.goer.roles[pc]
	if r != goNone {
		return r
	}
	r = goPlain
	for i, fr := range f.p.Tree.Modules().Frames(emulate.Addr(pc)) {
		if x := goSyncFuncs[fr.Function]; x != goNone && f.p.golang.inlines {
			r = x
			break
		}
		if i == 0 || r == goInside {
			if strings.HasPrefix(fr.Function, "sync.") || strings.HasPrefix(fr.Function, "internal/sync.") {
				r = goInside
			}
		}
		if !fr.Inlined {
			break
		}
	}
	f.goer.roles[pc] = r
	return r
}

// Offsets in package sync, in bytes. A Mutex has its state, then its semaphore;
// an RWMutex a Mutex, the semaphores of writers and readers, and how many
// readers there are; a WaitGroup its state of 8 bytes, then its semaphore.
const (
	semaOfMutex     = 4
	semaOfWaitGroup = 8
	markOfWaitGroup = 12 // nothing is there
	readerSem       = -4 // from readerCount
	writerSem       = -8
)

// maxReaders is what a writer subtracts from an RWMutex's number of readers.
const maxReaders = 1 << 30

// goLoad says whether a load is dealt with: it isn't the detector's business,
// or is the first half of an operation on a lock.
func (f *follower) goLoad(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) bool {
	g := f.goer
	if addr >= g.lo && addr < g.hi {
		f.relaxStack(addr)
		return true
	}
	pc := c.PC()
	switch r := f.role(pc); r {
	case goPlain:
	case goInside:
		if !c.Atomic() && f.state(addr>>lineShift).sync&bytesOf(addr, size) == 0 {
			return true
		}
	case goWaitWait:
		if kind != x86.Update && size == 8 {
			f.goOrder(races.OpAcquire, goObjSema|addr+semaOfWaitGroup)
		}
		g.old = v
		return true
	default:
		g.old = v
		return true
	}
	return f.quiet()
}

// quiet says whether the executing instruction is the run-time's own.
func (f *follower) quiet() bool {
	_, _, pl := f.where()
	return pl.quiet
}

// goStore is goLoad for stores.
func (f *follower) goStore(c *x86.CPU, addr uint64, size int, v uint64) bool {
	g := f.goer
	if addr >= g.lo && addr < g.hi {
		f.relaxStack(addr)
		return true
	}
	r := f.role(c.PC())
	switch r {
	case goPlain:
		if f.quiet() {
			return true
		}
		f.goer.barrier = addr-c.R[x86.R11] < writeBarriers
		return false
	case goInside:
		return !c.Atomic() && f.state(addr>>lineShift).sync&bytesOf(addr, size) == 0 || f.quiet()
	}
	if !c.Atomic() {
		return true
	}
	by := int32(uint32(v) - uint32(g.old))
	switch {
	case r == goLock && size == 4:
		f.goOrder(races.OpAcquire, goObjSema|addr+semaOfMutex)
	case r == goUnlocks && size == 4:
		f.goOrder(races.OpRelease, goObjSema|addr+semaOfMutex)
	case r == goRLock && by == 1:
		f.goOrder(races.OpAcquire, goObjSema|uint64(int64(addr)+readerSem))
	case r == goRUnlock && by == -1:
		f.goOrder(races.OpRelease, goObjSema|uint64(int64(addr)+writerSem))
	case r == goWLock && by == -maxReaders:
		f.goOrder(races.OpAcquire, goObjSema|uint64(int64(addr)+readerSem))
		f.goOrder(races.OpAcquire, goObjSema|uint64(int64(addr)+writerSem))
	case r == goWLock && size == 4: // readerWait, after readerCount: those that were waited for may be gone
		f.goOrder(races.OpAcquire, goObjSema|uint64(int64(addr-4)+writerSem))
	case r == goWUnlock && by == maxReaders:
		f.goOrder(races.OpRelease, goObjSema|uint64(int64(addr)+readerSem))
	case r == goWaitAdd && size == 8:
		f.waitAdd(addr, g.old, v)
	case r == goWaitWait && size == 8 && v == g.old+1 && uint32(v)&0x7fffffff == 1:
		// The first to wait has to come after the first to add; see waitAdd.
		f.goMark(races.Write, addr+markOfWaitGroup)
	}
	return true
}

// writeBarriers is the size of what the program's code itself stores to the
// collector's buffer at once, which it gets in R11 (runtime.gcWriteBarrier8).
const writeBarriers = 8 * 8

// waitAdd takes in that a WaitGroup's counter was changed. One that counts up
// from zero has to be ordered with Wait (package sync), which is told by
// accesses to its padding.
func (f *follower) waitAdd(addr, old, v uint64) {
	was, is := int32(old>>32), int32(v>>32)
	switch {
	case is < was:
		f.goOrder(races.OpRelease, goObjSema|addr+semaOfWaitGroup)
	case is > was && was == 0:
		f.goMark(races.Read, addr+markOfWaitGroup)
	}
}

// goMark emits an access that stands for a use of what is at addr.
func (f *follower) goMark(kind races.Kind, addr uint64) {
	ctx, pc, _ := f.where()
	f.b.events = append(f.b.events, races.Event{Op: races.OpAccess, Kind: kind, Scope: races.ScopeUser, Thread: f.tt.ID, Ctx: ctx,
		Addr: emulate.Addr(addr), N: 4, PC: pc, Count: f.t.Count()})
}

func (f *follower) goOrder(op races.Op, object uint64) {
	f.flush()
	f.add(races.Event{Op: op, Object: races.ObjOther, Value: object, Scope: races.ScopeUser, Ctx: f.calls.Node(), Count: f.t.Count()})
}

// relaxStack gives a line of the goroutine's stack full speed until something
// is synchronised.
func (f *follower) relaxStack(addr uint64) {
	s := f.state(addr >> lineShift)
	if s.relaxed || addr>>lineShift == f.goer.lo>>lineShift || addr>>lineShift == (f.goer.hi-1)>>lineShift {
		return
	}
	f.t.Relax(addr>>lineShift, true)
	s.relaxed = true
	f.table.relaxed = append(f.table.relaxed, addr>>lineShift)
}

// Resume serves funcs.GoSink.
func (f *follower) Resume(g, lo, hi uint64, known bool) {
	f.flush()
	f.synchronised()
	s := f.goer
	s.lo, s.hi = lo, hi
	if s.g != g {
		if len(s.calls) > 0 {
			s.parked[s.g] = s.calls
		}
		s.g, s.calls = g, s.parked[g]
		delete(s.parked, g)
	}
	if !known {
		s.calls = nil // it went on elsewhere
	}
	for n := len(s.calls); n > 0 && s.calls[n-1].depth > f.calls.Depth(); n-- {
		s.calls = s.calls[:n-1]
	}
	root := f.calls.Level(f.calls.Depth() - 1)
	f.note(note{kind: noteGoResume, addr: g, size: uint64(f.calls.Depth()), ctx: root.Node, count: f.t.Count()})
}

// Move serves funcs.GoSink.
func (f *follower) Move(lo, hi uint64) {
	f.synchronised()
	f.goer.lo, f.goer.hi = lo, hi
}

// Left serves funcs.GoSink. The call began on another thread.
func (f *follower) Left(entry emulate.Addr, c *x86.CPU) {
	f.flush()
	f.note(note{kind: noteGoOuter, ctx: f.calls.Node()})
	switch bx := c.R[x86.RBX]; f.p.golang.hooks[entry] {
	case goPoolGet:
		if bx != 0 {
			f.goOrder(races.OpAcquire, goObjPool|bx)
		}
	case goSemAcquire:
		f.goNote(noteGoGot, 0, 0)
	}
	if fn := f.p.Tree.Modules().FuncAt(entry); fn != nil {
		if r, ok := f.p.Tree.Modules().Runtime(fn); ok && r.Alloc == funcs.RoleGo {
			f.goNote(noteGoAlloc, c.R[x86.RAX], uint64(entry))
		}
	}
}

// Depart serves funcs.GoSink.
func (f *follower) Depart(g uint64, stack []funcs.NodeID, a *funcs.Alloc) {
	f.flush()
	n := note{kind: noteGoLeave, addr: g, stack: stack, count: f.t.Count()}
	if a != nil {
		n.size, n.old, n.ctx, n.pc = a.Size, uint64(a.Entry), a.Node, uint64(a.Site)
	}
	f.note(n)
}

// enterGo notes a call of a hooked function; the thread is at its first
// instruction. (Go's internal ABI: integer arguments are in RAX, RBX, RCX, RDI,
// RSI, R8, …)
func (f *follower) enterGo(h goHook, t *funcs.Tracker, c *x86.CPU) {
	g := f.goer
	ax, bx, cx := c.R[x86.RAX], c.R[x86.RBX], c.R[x86.RCX]
	call := goCall{hook: h, depth: t.Depth(), arg: [3]uint64{ax, bx, cx}}
	switch h {
	case goNewproc:
		call.arg[0], _ = f.peek(ax, 8) // the function's code
	case goDestroy:
		f.goNote(noteGoEnd, ax, 0)
		return
	case goCoro:
		f.goNote(noteGoCoro, 0, 0)
		return
	case goTimerRun:
		f.goNote(noteGoTimer, ax, 0)
	case goTimerSet:
		f.goOrder(races.OpRelease, goObjTimer|ax)
		return
	case goSend, goRecv:
		peer, _ := f.peek(bx, 8)
		size, _ := f.peek(ax+f.p.golang.layout.ChanSize, 8)
		kind := noteGoSend
		if h == goRecv {
			kind = noteGoRecv
		}
		f.flush()
		f.synchronised()
		f.note(note{kind: kind, addr: ax, old: peer, size: size, count: f.t.Count()})
		return
	case goUnlock:
		f.unlockChan(t, ax)
		return
	case goClose:
		f.goOrder(races.OpRelease, goObjClose|ax)
		call.arg[0] = goObjClose | ax
	case goChanRecv:
	case goSelect:
		call.arg = [3]uint64{ax, c.R[x86.RDI], 0}
	case goSemRelease:
		call.arg[0] = goObjSema | ax
	case goSemAcquire:
		call.arg[0] = goObjSema | ax
		f.goOrder(races.OpAcquire, goObjSema|ax)
	case goNotify:
		f.goOrder(races.OpRelease, goObjList|ax)
		call.arg[0] = goObjList | ax
	case goNotifyWait:
		call.arg[0] = goObjList | ax
	case goReady:
		for i := len(g.calls) - 1; i >= 0; i-- {
			if k := &g.calls[i]; k.hook == goClose || k.hook == goSemRelease || k.hook == goNotify {
				f.goNote(noteGoWake, ax, k.arg[0])
				break
			}
		}
		return
	case goPoolPut:
		if cx != 0 {
			f.goOrder(races.OpRelease, goObjPool|cx)
		}
		return
	}
	g.calls = append(g.calls, call)
}

// unlockChan tells of a channel what it is like when its lock is given up.
func (f *follower) unlockChan(t *funcs.Tracker, lock uint64) {
	level := 1
	if t.Depth() < 2 || !f.p.golang.channel[t.Level(level).Entry] {
		return
	}
	l := &f.p.golang.layout
	ch := lock - l.ChanLock
	count, ok := f.peek(ch+l.ChanCount, 8)
	size, ok2 := f.peek(ch+l.ChanSize, 8)
	if !ok || !ok2 || size == 0 {
		return // without a buffer, whoever waits is met
	}
	f.flush()
	f.synchronised()
	f.note(note{kind: noteGoChan, addr: ch, size: size, old: count, count: f.t.Count()})
}

func (f *follower) goNote(kind noteKind, addr, old uint64) {
	f.flush()
	f.synchronised()
	f.note(note{kind: kind, addr: addr, old: old, ctx: f.calls.Node(), count: f.t.Count()})
}

// leaveGo notes the end of calls.
func (f *follower) leaveGo(t *funcs.Tracker, c *x86.CPU, returned bool) {
	g := f.goer
	for n := len(g.calls); n > 0 && g.calls[n-1].depth >= t.Depth(); n-- {
		k := g.calls[n-1]
		g.calls = g.calls[:n-1]
		if k.depth != t.Depth() {
			continue
		}
		ax, bx := c.R[x86.RAX], c.R[x86.RBX]
		if k.hook == goTimerRun {
			f.goNote(noteGoTimerEnd, 0, 0)
		}
		if !returned {
			continue
		}
		switch k.hook {
		case goNewproc:
			f.flush()
			f.synchronised()
			pl := f.p.Tree.Place(f.calls.Node(), emulate.Addr(c.PC()))
			id, _ := f.peek(ax+f.p.golang.layout.GoID, 8)
			f.note(note{kind: noteGoNew, addr: ax, old: k.arg[0], size: id, ctx: pl.User, pc: uint64(pl.UserPC), count: f.t.Count()})
		case goChanRecv:
			if ax&0xff != 0 && bx&0xff == 0 {
				f.goOrder(races.OpAcquire, goObjClose|k.arg[0])
			}
		case goSelect:
			if int64(ax) >= int64(k.arg[1]) && bx&0xff == 0 {
				if ch, ok := f.peek(k.arg[0]+ax*16, 8); ok {
					f.goOrder(races.OpAcquire, goObjClose|ch)
				}
			}
		case goSemAcquire, goNotifyWait:
			f.goOrder(races.OpAcquire, k.arg[0])
		case goPoolGet:
			if bx != 0 {
				f.goOrder(races.OpAcquire, goObjPool|bx)
			}
		}
	}
}
