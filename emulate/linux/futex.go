package linux

import (
	"golang.org/x/sys/unix"
)

// A futexID names a futex word: by virtual address, or for words in shared
// mappings by object and offset, so that aliases agree.
type futexID struct {
	object, addr uint64
	space        uint64 // whose address it is, without an object
}

// A futexWaiter is one thread in a futex's queue.
type futexWaiter struct {
	t    *Thread
	id   futexID
	bits uint32
	pi   bool // waits for a priority-inheritance lock
	// index is the result when it is woken: which of futex_waitv's words it is, else 0.
	index int64
}

// futexKey returns the identity of the word at addr; private says that the
// guest promised that only this address is used.
func (p *Process) futexKey(addr uint64, private bool) futexID {
	if !private {
		if v := p.AS.vmas.find(addr); v != nil && v.shared {
			return futexID{object: v.back.id, addr: v.offAt(addr)}
		}
	}
	return futexID{addr: addr, space: p.AS.id}
}

// addrObject is the Object of the word at addr.
func (p *Process) addrObject(addr uint64) Object {
	if v := p.AS.vmas.find(addr); v != nil && v.shared {
		return Object{ObjAddr, SharedAddr(v.back.id, v.offAt(addr))}
	}
	return Object{ObjAddr, addr}
}

// futexEnqueue puts t into the queue of id.
func (p *Process) futexEnqueue(t *Thread, id futexID, bits uint32) *futexWaiter {
	w := &futexWaiter{t: t, id: id, bits: bits}
	p.futexes[id] = append(p.futexes[id], w)
	return w
}

// futexDequeue takes w out of its queue.
func (p *Process) futexDequeue(w *futexWaiter) {
	q := p.futexes[w.id]
	for i, x := range q {
		if x == w {
			q = append(q[:i], q[i+1:]...)
			break
		}
	}
	if len(q) == 0 {
		delete(p.futexes, w.id)
	} else {
		p.futexes[w.id] = q
	}
}

// futexWake wakes up to n waiters of id whose bits match, in the order in
// which they came, and returns how many.
func (p *Process) futexWake(id futexID, n int, bits uint32) int64 {
	var list []*futexWaiter
	for _, w := range p.futexes[id] {
		if len(list) == n {
			break
		}
		if w.bits&bits != 0 {
			list = append(list, w)
		}
	}
	for _, w := range list {
		w.t.complete(w.index)
	}
	return int64(len(list))
}

// futexMove moves up to n waiters of from to the queue of to.
func (p *Process) futexMove(from, to futexID, n int) int64 {
	if from == to {
		return 0
	}
	q := p.futexes[from]
	k := min(n, len(q))
	for _, w := range q[:k] {
		w.id = to
	}
	p.futexes[to] = append(p.futexes[to], q[:k]...)
	if rest := q[k:]; len(rest) > 0 {
		p.futexes[from] = append([]*futexWaiter(nil), rest...)
	} else {
		delete(p.futexes, from)
	}
	return int64(k)
}

// Bits of the word of a robust or priority-inheritance lock.
const (
	futexWaiters   = 1 << 31
	futexOwnerDied = 1 << 30
	futexTIDMask   = 1<<30 - 1
)

// maxRobust bounds the walk along a robust list (ROBUST_LIST_LIMIT).
const maxRobust = 2048

// exitRobust marks the robust locks that t still holds as orphaned. The list
// is a struct robust_list_head: next, offset from entry to word, pending.
func (p *Process) exitRobust(t *Thread) {
	if t.robust == 0 {
		return
	}
	var head [24]byte
	if p.AS.read(t.robust, head[:]) != 0 {
		return
	}
	next, off, pending := le64(head[0:]), le64(head[8:]), le64(head[16:])
	for i := 0; i < maxRobust && next&^1 != t.robust; i++ {
		entry := next &^ 1
		after, e := p.AS.read64(entry)
		if entry != pending&^1 {
			p.orphan(t, entry+off, next&1 != 0, false)
		}
		if e != 0 {
			return
		}
		next = after
	}
	if pending&^1 != 0 {
		p.orphan(t, pending&^1+off, pending&1 != 0, true)
	}
}

// orphan handles the lock word at addr when its owner t dies.
func (p *Process) orphan(t *Thread, addr uint64, pi, pending bool) {
	if addr&3 != 0 {
		return
	}
	word, e := p.AS.read32(addr)
	if e != 0 {
		return
	}
	if pending && !pi && word == 0 {
		p.futexWake(p.futexKey(addr, false), 1, ^uint32(0))
		return
	}
	if word&futexTIDMask != uint32(t.TID) {
		return
	}
	p.AS.write32(t, addr, word&futexWaiters|futexOwnerDied)
	if !pi && word&futexWaiters != 0 {
		p.futexWake(p.futexKey(addr, false), 1, ^uint32(0))
	}
}

func init() {
	addCalls([]sysRow{
		{nr: 202, name: "futex", args: "~word, op, val, <timeout or val2, ~word2, val3", fn: sysFutex, rel: futexRelease,
			note: "priorities aren't inherited; FUTEX_FD, WAIT_REQUEUE_PI and CMP_REQUEUE_PI answer ENOSYS"},
	})
}

// Futex operations.
const (
	futexWait       = 0
	futexWakeOp     = 1
	futexRequeue    = 3
	futexCmpRequeue = 4
	futexWakeAndOp  = 5
	futexLockPI     = 6
	futexUnlockPI   = 7
	futexTrylockPI  = 8
	futexWaitBits   = 9
	futexWakeBits   = 10
	futexLockPI2    = 13

	futexPrivate  = 128
	futexRealtime = 256
)

// futexRelease gives what a waking operation releases.
func futexRelease(c *call) []Object {
	switch c.int(1) &^ (futexPrivate | futexRealtime) {
	case futexWakeOp, futexWakeBits, futexUnlockPI:
		return []Object{c.p.addrObject(c.args[0])}
	case futexRequeue, futexCmpRequeue, futexWakeAndOp:
		return []Object{c.p.addrObject(c.args[0]), c.p.addrObject(c.args[4])}
	}
	return nil
}

func sysFutex(c *call) int64 {
	op := c.int(1)
	private := op&futexPrivate != 0
	addr, val := c.args[0], uint32(c.args[2])
	if addr&3 != 0 {
		return fail(unix.EINVAL)
	}
	p := c.p
	switch cmd := op &^ (futexPrivate | futexRealtime); cmd {
	case futexWait:
		return c.futexWaiting(val, ^uint32(0), false)
	case futexWaitBits:
		return c.futexWaiting(val, uint32(c.args[5]), true)
	case futexWakeOp, futexWakeBits:
		bits := ^uint32(0)
		if cmd == futexWakeBits {
			bits = uint32(c.args[5])
		}
		if bits == 0 {
			return fail(unix.EINVAL)
		}
		if !p.AS.readable(addr, 4) && !private {
			return fail(unix.EFAULT)
		}
		return p.futexWake(p.futexKey(addr, private), max(c.int(2), 1), bits)
	case futexRequeue, futexCmpRequeue:
		if c.int(2) < 0 || c.int(3) < 0 {
			return fail(unix.EINVAL)
		}
		if cmd == futexCmpRequeue {
			if word, e := c.word(addr); e != 0 {
				return fail(e)
			} else if word != uint32(c.args[5]) {
				return fail(unix.EAGAIN)
			}
		}
		from := p.futexKey(addr, private)
		n := int64(0)
		if c.int(2) > 0 {
			n = p.futexWake(from, c.int(2), ^uint32(0))
		}
		return n + p.futexMove(from, p.futexKey(c.args[4], private), c.int(3))
	case futexWakeAndOp:
		return c.futexWakeAndOp(private)
	case futexLockPI, futexLockPI2, futexTrylockPI:
		return c.futexLock(cmd, private)
	case futexUnlockPI:
		return c.futexUnlock(private)
	}
	return fail(unix.ENOSYS)
}

// word reads the futex word at addr.
func (c *call) word(addr uint64) (uint32, unix.Errno) {
	var b [4]byte
	e := c.read(addr, b[:])
	return le32(b[:]), e
}

// futexDeadline reads the timeout of argument 3; absolute times are of
// CLOCK_REALTIME if realtime is set.
func (c *call) futexDeadline(absolute, realtime bool) unix.Errno {
	if c.deadline != 0 {
		return 0
	}
	c.deadline = never
	if c.args[3] == 0 {
		return 0
	}
	ns, e := c.getTimespec(c.args[3])
	if e != 0 {
		c.deadline = 0
		return e
	}
	switch {
	case !absolute:
		c.deadline = saturate(c.p.Now(), ns)
	case realtime && ns != never:
		c.deadline = max(ns-c.p.clock.real, 1)
	default:
		c.deadline = max(ns, 1)
	}
	return 0
}

func (c *call) futexWaiting(val, bits uint32, absolute bool) int64 {
	if bits == 0 {
		return fail(unix.EINVAL)
	}
	if e := c.futexDeadline(absolute, c.int(1)&futexRealtime != 0); e != 0 {
		return fail(e)
	}
	addr := c.args[0]
	word, e := c.word(addr)
	if e != 0 {
		return fail(e)
	}
	if word != val {
		return fail(unix.EAGAIN)
	}
	if c.deadline <= c.p.Now() {
		return fail(unix.ETIMEDOUT)
	}
	w := c.p.futexEnqueue(c.t, c.p.futexKey(addr, c.int(1)&futexPrivate != 0), bits)
	return c.t.block(&wait{
		what:      "futex",
		deadline:  c.deadline,
		onTimeout: func() int64 { return fail(unix.ETIMEDOUT) },
		undo:      func() { c.p.futexDequeue(w) },
		onResult:  func() { c.acquire(c.p.addrObject(addr)) },
	})
}

// futexWakeAndOp is FUTEX_WAKE_OP: change word2, wake on word 1, and on word 2
// if its old value compares as asked.
func (c *call) futexWakeAndOp(private bool) int64 {
	op := uint32(c.args[5])
	cmp, arg, cmpArg := op>>24&15, int32(op<<8)>>20, int32(op<<20)>>20
	if op>>28&8 != 0 {
		arg = 1 << (arg & 31)
	}
	old, e := c.word(c.args[4])
	if e != 0 {
		return fail(e)
	}
	v := old
	switch op >> 28 & 7 {
	case 0:
		v = uint32(arg)
	case 1:
		v += uint32(arg)
	case 2:
		v |= uint32(arg)
	case 3:
		v &^= uint32(arg)
	case 4:
		v ^= uint32(arg)
	default:
		return fail(unix.ENOSYS)
	}
	var b [4]byte
	put32(b[:], v)
	if e := c.write(c.args[4], b[:]); e != 0 {
		return fail(e)
	}
	n := c.p.futexWake(c.p.futexKey(c.args[0], private), max(c.int(2), 1), ^uint32(0))
	o := int32(old)
	ok := false
	switch cmp {
	case 0:
		ok = o == cmpArg
	case 1:
		ok = o != cmpArg
	case 2:
		ok = o < cmpArg
	case 3:
		ok = o <= cmpArg
	case 4:
		ok = o > cmpArg
	case 5:
		ok = o >= cmpArg
	}
	if ok {
		n += c.p.futexWake(c.p.futexKey(c.args[4], private), max(c.int(3), 1), ^uint32(0))
	}
	return n
}

// futexLock takes a priority-inheritance lock, whose word holds its owner.
func (c *call) futexLock(cmd int, private bool) int64 {
	addr := c.args[0]
	if cmd != futexTrylockPI {
		if e := c.futexDeadline(true, cmd == futexLockPI || c.int(1)&futexRealtime != 0); e != 0 {
			return fail(e)
		}
	}
	word, e := c.word(addr)
	if e != 0 {
		return fail(e)
	}
	owner := word & futexTIDMask
	id := c.p.futexKey(addr, private)
	var b [4]byte
	switch {
	case owner == uint32(c.t.TID):
		return fail(unix.EDEADLK)
	case owner == 0:
		v := uint32(c.t.TID) | word&futexOwnerDied
		if len(c.p.futexes[id]) > 0 {
			v |= futexWaiters
		}
		put32(b[:], v)
		c.acquire(c.p.addrObject(addr))
		return c.answer(addr, b[:], 0)
	case c.p.thread(int(owner)) == nil:
		return fail(unix.ESRCH)
	case cmd == futexTrylockPI:
		return fail(unix.EAGAIN)
	case c.deadline <= c.p.Now():
		return fail(unix.ETIMEDOUT)
	}
	put32(b[:], word|futexWaiters)
	if e := c.write(addr, b[:]); e != 0 {
		return fail(e)
	}
	w := c.p.futexEnqueue(c.t, id, ^uint32(0))
	w.pi = true
	return c.t.block(&wait{
		what:      "futex (lock)",
		deadline:  c.deadline,
		onTimeout: func() int64 { return fail(unix.ETIMEDOUT) },
		undo:      func() { c.p.futexDequeue(w) },
		onResult:  func() { c.acquire(c.p.addrObject(addr)) },
	})
}

// futexUnlock hands a priority-inheritance lock to the next waiter.
func (c *call) futexUnlock(private bool) int64 {
	addr := c.args[0]
	word, e := c.word(addr)
	if e != 0 {
		return fail(e)
	}
	if word&futexTIDMask != uint32(c.t.TID) {
		return fail(unix.EPERM)
	}
	var b [4]byte
	if q := c.p.futexes[c.p.futexKey(addr, private)]; len(q) > 0 {
		next := q[0]
		v := uint32(next.t.TID)
		if len(q) > 1 {
			v |= futexWaiters
		}
		put32(b[:], v)
		if e := c.write(addr, b[:]); e != 0 {
			return fail(e)
		}
		next.t.complete(0)
		return 0
	}
	return c.answer(addr, b[:], 0)
}
