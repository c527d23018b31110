package races

import "github.com/racesim/racesim/emulate"

// The methods below are Feed with the event's fields as parameters.

// Access handles an access to memory of a.Size bytes.
func (d *Detector) Access(a *Access) {
	e := a.event()
	d.Feed(&e)
}

// Atomic handles an atomic access: kind Update acquires and releases, Read (a
// compare-and-exchange that failed) acquires, Write releases.
func (d *Detector) Atomic(thread emulate.ThreadID, addr emulate.Addr, size int, kind Kind, scope Scope) {
	e := Event{Op: OpAccess, Kind: kind, Flags: Atomic, Scope: scope, Thread: thread, Addr: addr, N: uint64(size)}
	d.Feed(&e)
}

// KernelRead handles a system call of thread's that reads n bytes at addr.
// pc is that of the SYSCALL instruction.
func (d *Detector) KernelRead(thread emulate.ThreadID, addr emulate.Addr, n, pc uint64, ctx uint32, count emulate.Count) {
	e := Event{Op: OpAccess, Kind: Read, Flags: Kernel, Thread: thread, Addr: addr, N: n, PC: pc, Ctx: ctx, Count: count}
	d.Feed(&e)
}

// KernelWrite handles a system call of thread's that writes n bytes at addr.
func (d *Detector) KernelWrite(thread emulate.ThreadID, addr emulate.Addr, n, pc uint64, ctx uint32, count emulate.Count) {
	e := Event{Op: OpAccess, Kind: Write, Flags: Kernel, Thread: thread, Addr: addr, N: n, PC: pc, Ctx: ctx, Count: count}
	d.Feed(&e)
}

// Acquire orders what was released to o before what thread does next.
func (d *Detector) Acquire(thread emulate.ThreadID, o Object, scope Scope) {
	e := Event{Op: OpAcquire, Thread: thread, Object: o.Kind, Value: o.ID, Scope: scope}
	d.Feed(&e)
}

// Release orders what thread did before whatever acquires from o later.
func (d *Detector) Release(thread emulate.ThreadID, o Object, scope Scope) {
	e := Event{Op: OpRelease, Thread: thread, Object: o.Kind, Value: o.ID, Scope: scope}
	d.Feed(&e)
}

// Fence handles a fence. It orders nothing between threads by itself (on x86
// the loads and stores around it do), but nothing is paired across it.
func (d *Detector) Fence(thread emulate.ThreadID) {
	e := Event{Op: OpFence, Thread: thread}
	d.Feed(&e)
}

// ThreadStart handles the creation of child by parent (0: the first thread).
// The child's stack and thread control block should have been Reset.
func (d *Detector) ThreadStart(child, parent emulate.ThreadID) {
	e := Event{Op: OpThreadStart, Thread: child, Value: uint64(parent)}
	d.Feed(&e)
}

// ThreadExit handles the end of thread. The kernel's zeroing of the word at
// clear (0: none) is a release, and makes it a synchronisation variable.
func (d *Detector) ThreadExit(thread emulate.ThreadID, clear emulate.Addr) {
	e := Event{Op: OpThreadExit, Thread: thread, Addr: clear}
	d.Feed(&e)
}

// Join orders all that child did before what thread does next.
func (d *Detector) Join(thread, child emulate.ThreadID) {
	e := Event{Op: OpJoin, Thread: thread, Value: uint64(child)}
	d.Feed(&e)
}

// Alloc handles the allocation of n bytes at addr. What happened to this
// memory before can't conflict with what follows.
func (d *Detector) Alloc(thread emulate.ThreadID, addr emulate.Addr, n uint64, ctx uint32, count emulate.Count) {
	e := Event{Op: OpAlloc, Thread: thread, Addr: addr, N: n, Ctx: ctx, Count: count}
	d.Feed(&e)
}

// Free handles the end of the block at addr, at the start of the call that
// gives it back: a write access of kind Free to all of it.
func (d *Detector) Free(thread emulate.ThreadID, addr emulate.Addr, pc uint64, ctx uint32, count emulate.Count) {
	e := Event{Op: OpFree, Thread: thread, Addr: addr, PC: pc, Ctx: ctx, Count: count}
	d.Feed(&e)
}

// Reset says that the n bytes at addr are new memory: mapped, unmapped, or the
// stack and thread-local storage of a new thread.
func (d *Detector) Reset(addr emulate.Addr, n uint64) {
	e := Event{Op: OpReset, Addr: addr, N: n}
	d.Feed(&e)
}

// Lock says that thread holds the lock at addr from now on.
func (d *Detector) Lock(thread emulate.ThreadID, addr emulate.Addr, mode LockMode, pc uint64, ctx uint32, count emulate.Count) {
	e := Event{Op: OpLock, Thread: thread, Addr: addr, Mode: mode, PC: pc, Ctx: ctx, Count: count}
	d.Feed(&e)
}

// Unlock says that thread gives up the lock at addr.
func (d *Detector) Unlock(thread emulate.ThreadID, addr emulate.Addr) {
	e := Event{Op: OpUnlock, Thread: thread, Addr: addr}
	d.Feed(&e)
}

// BlockAt returns the heap block that holds addr now, dead or alive; ID 0 if
// none does. It may be called by several goroutines while nothing is fed.
func (d *Detector) BlockAt(addr emulate.Addr) Block {
	if _, _, at := d.blocks.locate(uint64(addr)); at >= 0 {
		return d.blocks.all[at]
	}
	return Block{}
}
