package linux

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 240, name: "mq_open", args: "<name, flags, mode, <attr", fn: sysMqOpen},
		{nr: 241, name: "mq_unlink", args: "<name", fn: sysMqUnlink},
		{nr: 242, name: "mq_timedsend", args: "fd, <msg, n, prio, <timeout", fn: sysMqSend, rel: releaseOut, pokes: true},
		{nr: 243, name: "mq_timedreceive", args: "fd, >msg, n, >prio, <timeout", fn: sysMqReceive, pokes: true},
		{nr: 244, name: "mq_notify", args: "fd, <event", refuse: unix.ENOSYS},
		{nr: 245, name: "mq_getsetattr", args: "fd, <new, >old", fn: sysMqAttr},
	})
}

// mqAttrSize is that of struct mq_attr: flags, maxmsg, msgsize, curmsgs, and
// four words in reserve.
const mqAttrSize = 64

// POSIX message queues are the host's: their descriptors are files.
func sysMqOpen(c *call) int64 {
	name, e := c.string(0)
	if e != 0 {
		return fail(e)
	}
	flags := c.int(1)
	var attr []byte
	if flags&unix.O_CREAT != 0 && c.args[3] != 0 {
		attr = make([]byte, mqAttrSize)
		if e := c.read(c.args[3], attr); e != 0 {
			return fail(e)
		}
	}
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return fail(unix.EINVAL)
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)),
		uintptr(flags|unix.O_NONBLOCK|unix.O_CLOEXEC), uintptr(c.args[2]), uintptr(bytesAt(attr)), 0, 0)
	if errno != 0 {
		return fail(errno)
	}
	// Other processes have it by name: its channel goes by that, too.
	return c.adopt(int(fd), "/dev/mqueue/"+name, true, func(f *file) {
		f.reg = false
		f.outside = true
		f.nonblock = flags&unix.O_NONBLOCK != 0
		f.in = c.p.fileChannel(int(fd))
		f.out = f.in
	})
}

func sysMqUnlink(c *call) int64 {
	name, e := c.string(0)
	if e != 0 {
		return fail(e)
	}
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return fail(unix.EINVAL)
	}
	_, _, errno := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0)
	return -int64(errno)
}

// mqDeadline reads the absolute CLOCK_REALTIME timeout at addr; 0: none.
func (c *call) mqDeadline(addr uint64) unix.Errno {
	if c.deadline != 0 {
		return 0
	}
	c.deadline = never
	if addr == 0 {
		return 0
	}
	ns, e := c.getTimespec(addr)
	if e == 0 && ns != never {
		c.deadline = max(ns-c.p.clock.real, 1)
	}
	return e
}

// mqWait blocks the call until the queue may be ready.
func (c *call) mqWait(d *descriptor, events int16, r int64, again func() int64) int64 {
	if r != fail(unix.EAGAIN) || d.file.nonblock {
		return r
	}
	if c.deadline <= c.p.Now() {
		return fail(unix.ETIMEDOUT)
	}
	return c.t.block(&wait{what: c.row.name, fds: []unix.PollFd{{Fd: int32(d.host), Events: events}}, outside: true,
		deadline: c.deadline, onTimeout: again, try: again})
}

func sysMqSend(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if e := c.mqDeadline(c.args[4]); e != 0 {
		return fail(e)
	}
	b := make([]byte, min(c.args[2], maxIO))
	if e := c.read(c.args[1], b); e != 0 {
		return fail(e)
	}
	return c.mqWait(d, unix.POLLOUT, hostBytes(unix.SYS_MQ_TIMEDSEND, d.host, b, uintptr(uint32(c.args[3]))),
		func() int64 { return sysMqSend(c) })
}

func sysMqReceive(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if e := c.mqDeadline(c.args[4]); e != 0 {
		return fail(e)
	}
	b := make([]byte, min(c.args[2], maxIO))
	var prio uint32
	r := hostMqReceive(d.host, b, &prio)
	if r < 0 {
		return c.mqWait(d, unix.POLLIN, r, func() int64 { return sysMqReceive(c) })
	}
	c.acquireIn(d)
	if c.args[3] != 0 {
		var p [4]byte
		put32(p[:], prio)
		if e := c.write(c.args[3], p[:]); e != 0 {
			return fail(e)
		}
	}
	return c.answer(c.args[1], b[:r], r)
}

func sysMqAttr(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	var old, attr [mqAttrSize]byte
	r := hostMqAttr(d.host, &old)
	if r < 0 {
		return r
	}
	flags := uint64(0)
	if d.file.nonblock {
		flags = unix.O_NONBLOCK
	}
	put64(old[:], flags)
	if c.args[1] != 0 {
		if e := c.read(c.args[1], attr[:]); e != 0 {
			return fail(e)
		}
		if le64(attr[:])&^unix.O_NONBLOCK != 0 {
			return fail(unix.EINVAL)
		}
		d.file.nonblock = le64(attr[:]) != 0
	}
	if c.args[2] != 0 {
		return c.answer(c.args[2], old[:], 0)
	}
	return 0
}
