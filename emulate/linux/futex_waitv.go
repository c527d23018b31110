package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 449, name: "futex_waitv", args: "<waiters, n, flags, <timeout, clock", fn: sysFutexWaitv},
	})
}

// Of futex_waitv (linux/futex.h): struct futex_waitv is value, address, flags, zero.
const (
	waitvSize    = 24
	waitvMost    = 128 // FUTEX_WAITV_MAX
	waitv32      = 2   // FUTEX2_SIZE_U32: the only size that there is
	waitvPrivate = futexPrivate
)

// sysFutexWaitv waits until one of several words is woken, and says which.
func sysFutexWaitv(c *call) int64 {
	n := c.args[1] & 0xffffffff
	if c.args[2]&0xffffffff != 0 || n == 0 || n > waitvMost || c.args[0] == 0 {
		return fail(unix.EINVAL)
	}
	if c.args[3] != 0 && c.int(4) != unix.CLOCK_MONOTONIC && c.int(4) != unix.CLOCK_REALTIME {
		return fail(unix.EINVAL)
	}
	if e := c.futexDeadline(true, c.int(4) == unix.CLOCK_REALTIME); e != 0 {
		return fail(e)
	}
	b := make([]byte, waitvSize*n)
	if e := c.read(c.args[0], b); e != 0 {
		return fail(e)
	}
	for at := 0; at < len(b); at += waitvSize {
		flags := le32(b[at+16:])
		if flags&^waitvPrivate != waitv32 || le32(b[at+20:]) != 0 || le64(b[at+8:])&3 != 0 {
			return fail(unix.EINVAL)
		}
	}
	for at := 0; at < len(b); at += waitvSize {
		word, e := c.word(le64(b[at+8:]))
		if e != 0 {
			return fail(e)
		}
		if word != uint32(le64(b[at:])) {
			return fail(unix.EAGAIN)
		}
	}
	if c.deadline <= c.p.Now() {
		return fail(unix.ETIMEDOUT)
	}
	var list []*futexWaiter
	for at := 0; at < len(b); at += waitvSize {
		w := c.p.futexEnqueue(c.t, c.p.futexKey(le64(b[at+8:]), le32(b[at+16:])&waitvPrivate != 0), ^uint32(0))
		w.index = int64(len(list))
		list = append(list, w)
	}
	w := &wait{
		what:      "futex_waitv",
		deadline:  c.deadline,
		onTimeout: func() int64 { return fail(unix.ETIMEDOUT) },
		undo: func() {
			for _, w := range list {
				c.p.futexDequeue(w)
			}
		},
	}
	w.onResult = func() { c.acquire(c.p.addrObject(le64(b[w.result*waitvSize+8:]))) }
	return c.t.block(w)
}
