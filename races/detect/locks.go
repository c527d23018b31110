package detect

import (
	"slices"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// A lockRole says what a function does to a lock.
type lockRole uint8

const (
	_             lockRole = iota
	roleLock               // waits for it
	roleShared             // waits for it, as a reader
	roleTry                // takes it if it is free
	roleTryShared          // …as a reader
	roleUnlock             // gives it up
	roleCondWait           // gives up the second argument while it waits, then takes it again
	roleName               // gives a thread, by its control block, the name that is its second argument
	roleJoin               // waits for a thread's end; its first argument is the thread's control block (glibc)

	roleRW lockRole = 1 << 6 // a flag: of a readers-writer lock
)

// lockFuncs lists the functions that take and give up locks, by the symbols
// under which programs call them. The lock is the first argument, except for
// condition waits; all return 0 when they have taken it. (POSIX.1-2017, C11.)
var lockFuncs = []roleOf[lockRole]{
	{roleLock, []string{"pthread_mutex_lock", "__pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
		"pthread_spin_lock", "mtx_lock", "mtx_timedlock"}},
	{roleLock | roleRW, []string{"pthread_rwlock_wrlock", "__pthread_rwlock_wrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"}},
	{roleShared | roleRW, []string{"pthread_rwlock_rdlock", "__pthread_rwlock_rdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock"}},
	{roleTry, []string{"pthread_mutex_trylock", "__pthread_mutex_trylock", "pthread_spin_trylock", "mtx_trylock"}},
	{roleTry | roleRW, []string{"pthread_rwlock_trywrlock", "__pthread_rwlock_trywrlock"}},
	{roleTryShared | roleRW, []string{"pthread_rwlock_tryrdlock", "__pthread_rwlock_tryrdlock"}},
	{roleUnlock, []string{"pthread_mutex_unlock", "__pthread_mutex_unlock", "pthread_spin_unlock", "mtx_unlock"}},
	{roleUnlock | roleRW, []string{"pthread_rwlock_unlock", "__pthread_rwlock_unlock"}},
	{roleJoin, []string{"pthread_join", "__pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np", "thrd_join"}},
	{roleName, []string{"pthread_setname_np"}},
	{roleCondWait, []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait"}},
}

// A roleOf gives all functions of some names a role.
type roleOf[R comparable] struct {
	role  R
	names []string
}

// entriesOf maps the entries of functions to their roles, in all modules that
// the process ever had.
func entriesOf[R comparable](ms *funcs.Modules, rows []roleOf[R]) map[emulate.Addr]R {
	m := map[emulate.Addr]R{}
	if ms == nil {
		return m
	}
	for _, l := range rows {
		for _, n := range l.names {
			for _, f := range ms.ExportedEver(n) {
				m[f.Entry] = l.role
			}
		}
	}
	return m
}

// A lockCall is a call of such a function under way.
type lockCall struct {
	depth int
	role  lockRole // without roleRW
	rw    bool
	lock  uint64
	from  emulate.Count // its first instruction
}

// mutexSize is the size of a pthread_mutex_t in bytes (glibc, x86-64).
const mutexSize = 40

// ofLock says whether an access to addr belongs to taking or giving up a lock:
// all that the functions for it do, and what waiting for a condition does to
// the mutex.
func (f *follower) ofLock(addr uint64) bool {
	if len(f.lockCalls) == 0 {
		return false
	}
	switch l := &f.lockCalls[len(f.lockCalls)-1]; l.role {
	case roleJoin:
		return false
	case roleCondWait:
		return addr-l.lock < mutexSize
	}
	return true
}

// Enter serves funcs.InstanceSink.
func (f *follower) Enter(t *funcs.Tracker, c *x86.CPU) {
	if f.goer != nil {
		if h := f.p.golang.hooks[t.Level(0).Entry]; h != 0 {
			f.enterGo(h, t, c)
			return
		}
	}
	e := f.entry(t.Level(0).Entry)
	if f.omp != nil && f.enterOmp(e.omp, t, c) {
		return
	}
	if e.str != nil {
		f.enterString(e.str, t.Depth(), c)
		return
	}
	if e.lock == roleName {
		f.named(c.R[x86.RDI], c.R[x86.RSI])
		return
	}
	f.usePrimitives(e.uses, t.Level(0).Node, c)
	f.enterMessage(e.message, t, c)
	if e.conduct != 0 {
		f.enterConduct(e.conduct, t, c)
		return
	}
	if e.lock == 0 {
		return
	}
	l := lockCall{depth: t.Depth(), role: e.lock &^ roleRW, rw: e.lock&roleRW != 0, lock: c.R[x86.RDI], from: f.t.Count()}
	if l.role == roleCondWait {
		l.lock = c.R[x86.RSI]
	}
	if l.role == roleUnlock || l.role == roleCondWait {
		f.flush()
		if f.watch != nil && len(f.lockCalls) == 0 {
			n := f.callNote(f.givesUp(l.role, t), l.lock, t)
			n.own = f.spin(t)
			f.note(n)
		}
		if l.rw {
			f.releaseRW(l.lock)
		}
		f.add(races.Event{Op: races.OpUnlock, Addr: emulate.Addr(l.lock)})
		if i := slices.Index(f.robust, l.lock); i >= 0 && l.role == roleUnlock {
			f.robust = slices.Delete(f.robust, i, i+1)
		}
	}
	if l.role == roleJoin {
		f.note(note{kind: noteAwait, addr: l.lock})
	}
	f.lockCalls = append(f.lockCalls, l)
}

// Leave serves funcs.InstanceSink.
func (f *follower) Leave(t *funcs.Tracker, c *x86.CPU, count emulate.Count, returned bool) {
	if f.goer != nil {
		f.leaveGo(t, c, returned)
	}
	if f.omp != nil {
		f.leaveOmp(t, c, returned)
	}
	for n := len(f.strings); n > 0 && f.strings[n-1].depth >= t.Depth(); n-- {
		f.strings = f.strings[:n-1]
	}
	f.leaveConduct(t, c, returned)
	f.leaveMessage(t, c, count, returned)
	for n := len(f.lockCalls); n > 0 && f.lockCalls[n-1].depth >= t.Depth(); n-- {
		l := f.lockCalls[n-1]
		f.lockCalls = f.lockCalls[:n-1]
		if l.role == roleJoin {
			f.note(note{kind: noteAwait})
		}
		if l.depth != t.Depth() || l.role == roleUnlock {
			continue
		}
		if l.role != roleCondWait && (!returned || uint32(c.R[x86.RAX]) != 0 && uint32(c.R[x86.RAX]) != ownerDead) {
			continue
		}
		f.flush()
		if l.role == roleJoin {
			f.note(note{kind: noteJoin, addr: l.lock, count: count})
			continue
		}
		a := t.Level(0)
		e := races.Event{Op: races.OpLock, Addr: emulate.Addr(l.lock), PC: uint64(a.Site), Ctx: f.p.Tree.Node(a.Node).Parent, Count: count, N: uint64(l.from)}
		switch l.role {
		case roleShared:
			e.Mode = races.LockShared
		case roleTryShared:
			e.Mode = races.LockTryShared
		case roleTry:
			e.Mode = races.LockTry
		}
		f.add(e)
		f.hold(l.lock, l.rw)
		if l.rw {
			f.acquireRW(l.lock, e.Mode.Shared())
		}
	}
}

// ownerDead is EOWNERDEAD: the thread has a robust mutex whose last owner ended.
const ownerDead = 130

// Of a pthread_mutex_t (glibc, x86-64): where its kind is, and which kinds the
// kernel gives up when their owner ends.
const (
	mutexKind   = 16
	kindRobust  = 16
	kindInherit = 32
)

// hold notes that the thread has taken a lock, if that matters to its end.
func (f *follower) hold(lock uint64, rw bool) {
	if rw || slices.Contains(f.robust, lock) {
		return
	}
	if k, ok := overlay.ReadUint(f.t.Memory(), lock+mutexKind, 4); ok && k&(kindRobust|kindInherit) != 0 && k < 1<<8 {
		f.robust = append(f.robust, lock)
	}
}

// orphan gives up the robust mutexes that the thread holds when it ends: the
// kernel changes their words, and who takes them next knows what it did.
func (f *follower) orphan() {
	for _, l := range f.robust {
		f.add(races.Event{Op: races.OpAccess, Kind: races.Write, Flags: races.Atomic | races.Kernel | races.OfLock, Scope: races.ScopeUser,
			Addr: emulate.Addr(l), N: 4, Ctx: f.calls.Node(), Count: f.t.Count()})
	}
	f.robust = nil
}

// The order that a readers-writer lock gives isn't that of the instructions it
// is made of: one reader that follows another waits for nothing. Writers leave
// what they did to everybody, readers to writers only.

// acquireRW notes that the thread has the lock.
func (f *follower) acquireRW(lock uint64, shared bool) {
	f.orderRW(races.OpAcquire, lock, byWriters)
	if shared {
		if f.reading == nil {
			f.reading = map[uint64]int{}
		}
		f.reading[lock]++
		return
	}
	f.orderRW(races.OpAcquire, lock, byReaders)
}

// releaseRW notes that the thread gives the lock up.
func (f *follower) releaseRW(lock uint64) {
	if f.reading[lock] == 0 {
		f.orderRW(races.OpRelease, lock, byWriters)
		return
	}
	if f.reading[lock]--; f.reading[lock] == 0 {
		delete(f.reading, lock)
	}
	f.orderRW(races.OpRelease, lock, byReaders)
}

// What the holders of a lock left behind is two objects.
const (
	byWriters = 0
	byReaders = 1
)

func (f *follower) orderRW(op races.Op, lock, by uint64) {
	f.add(races.Event{Op: op, Object: races.ObjOther, Value: lock<<1 | by, Flags: races.OfLock, Scope: races.ScopeUser, Ctx: f.calls.Node(), Count: f.t.Count()})
}

// inRW says whether the thread is in a function of a readers-writer lock.
func (f *follower) inRW() bool {
	n := len(f.lockCalls)
	return n > 0 && f.lockCalls[n-1].rw
}

// givesUp says what kind of giving up a lock the function that the tracker is
// in means.
func (f *follower) givesUp(role lockRole, t *funcs.Tracker) noteKind {
	if role != roleCondWait {
		return noteUnlock
	}
	if fn := f.p.Tree.Func(t.Level(0).Node); fn != nil && (fn.Linkage == "pthread_cond_wait" || fn.Linkage == "cnd_wait") {
		return noteWait
	}
	return noteTimedWait
}

// spin says whether the function that the tracker is in may be the one that
// initialises a spin lock: glibc has one for that and for giving it up.
func (f *follower) spin(t *funcs.Tracker) bool {
	fn := f.p.Tree.Func(t.Level(0).Node)
	return fn != nil && (strings.HasPrefix(fn.Linkage, "pthread_spin_") || slices.Contains(fn.Aliases, "pthread_spin_init"))
}

// LockCalls says what functions do to locks, by entry, for experiments.
func LockCalls(ms *funcs.Modules) map[emulate.Addr]overlay.LockCall {
	out := map[emulate.Addr]overlay.LockCall{}
	kinds := map[lockRole]overlay.LockCall{roleLock: overlay.LockTake, roleShared: overlay.LockTake | overlay.LockShared, roleTry: overlay.LockTake | overlay.LockTry,
		roleTryShared: overlay.LockTake | overlay.LockTry | overlay.LockShared, roleUnlock: overlay.LockGive, roleCondWait: overlay.LockWait}
	for at, role := range entriesOf(ms, lockFuncs) {
		if k := kinds[role&^roleRW]; k != 0 {
			if role&roleRW != 0 {
				k |= overlay.LockRW
			}
			out[at] = k
		}
	}
	for at, role := range entriesOf(ms, conductFuncs) {
		if role == roleDestroy {
			out[at] = overlay.LockDestroy
		}
	}
	for at := range out {
		if f := ms.FuncAt(at); f != nil {
			for _, n := range append([]string{f.Linkage}, f.Aliases...) {
				if n, _, _ = strings.Cut(n, "@"); strings.Contains(n, "timedwait") || strings.Contains(n, "clockwait") {
					out[at] |= overlay.LockTimed
				}
				if strings.HasPrefix(strings.TrimPrefix(n, "__"), "pthread_mutex_") || strings.HasPrefix(n, "mtx_") || strings.HasPrefix(n, "pthread_cond_") {
					out[at] |= overlay.LockMutex
				}
			}
		}
	}
	return out
}

// ThreadCalls says what functions do to threads, by their entries, for
// experiments.
func ThreadCalls(ms *funcs.Modules) map[emulate.Addr]overlay.ThreadCall {
	out := map[emulate.Addr]overlay.ThreadCall{}
	for at, role := range entriesOf(ms, lockFuncs) {
		if role == roleJoin {
			out[at] = overlay.ThreadJoin
		}
	}
	for at, role := range entriesOf(ms, conductFuncs) {
		switch role {
		case roleCreate, roleCreate11:
			out[at] = overlay.ThreadMake
		case roleDetach:
			out[at] = overlay.ThreadDetach
		}
	}
	return out
}
