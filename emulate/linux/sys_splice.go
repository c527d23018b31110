package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 275, name: "splice", args: "in, ~inoff, out, ~outoff, n, flags", fn: sysSplice, rel: releaseOutOf(2), pokes: true},
		{nr: 276, name: "tee", args: "in, out, n, flags", fn: sysTee, rel: releaseOutOf(1), pokes: true},
		{nr: 278, name: "vmsplice", args: "fd, <iov, n, flags", fn: sysVmsplice, rel: releaseOut, pokes: true,
			note: "copies, whatever the flags"},
	})
}

// releaseOutOf is the rel of calls that send data through descriptor argument i.
func releaseOutOf(i int) func(c *call) []Object {
	return func(c *call) []Object {
		if d := c.fd(i); d != nil && d.file.out != 0 {
			return []Object{{ObjChannel, d.file.out}}
		}
		return nil
	}
}

// moved finishes a splice or tee that the host answered with r.
func (c *call) moved(in, out *descriptor, flags int, r int64) int64 {
	switch {
	case r > 0:
		c.acquireIn(in)
	case r == fail(unix.EPIPE):
		c.p.sendThread(c.t, siginfo{signo: int(unix.SIGPIPE), code: siUser, pid: c.p.PID})
	case r == fail(unix.EAGAIN) && flags&unix.SPLICE_F_NONBLOCK == 0:
		switch {
		case !in.ready(unix.POLLIN):
			if in.file.nonblock && !in.file.pipe {
				return r
			}
			return c.waitFD(in, unix.POLLIN)
		case out.file.nonblock && !out.file.pipe:
			return r
		}
		return c.waitFD(out, unix.POLLOUT)
	}
	return r
}

func sysSplice(c *call) int64 {
	in, out := c.fd(0), c.fd(2)
	if in == nil || out == nil {
		return fail(unix.EBADF)
	}
	flags := c.int(5)
	return c.moved(in, out, flags, c.between(in, out, func(from, to *int64, n int) int64 {
		return result(unix.Splice(in.host, from, out.host, to, n, flags|unix.SPLICE_F_NONBLOCK))
	}))
}

// between has move carry bytes from one descriptor to another: from and to the
// offsets that arguments 1 and 3 point to, and that move advances, or where the
// pointer is null the file's own. Argument 4 is the number of bytes.
func (c *call) between(in, out *descriptor, move func(from, to *int64, n int) int64) int64 {
	var offs [2]int64
	var ptr [2]*int64
	args := [2]uint64{c.args[1], c.args[3]}
	for i, arg := range args {
		if arg == 0 {
			continue
		}
		var b [8]byte
		if e := c.read(arg, b[:]); e != 0 {
			return fail(e)
		}
		offs[i] = int64(le64(b[:]))
		ptr[i] = &offs[i]
	}
	n := int(min(c.args[4], maxIO))
	to := int64(-1)
	if ptr[1] != nil {
		to = offs[1]
	}
	c.fileChanges(out, to, n)
	r := move(ptr[0], ptr[1], n)
	for i, arg := range args {
		if arg != 0 && r >= 0 {
			var b [8]byte
			put64(b[:], uint64(offs[i]))
			if e := c.write(arg, b[:]); e != 0 {
				return fail(e)
			}
		}
	}
	return r
}

func sysTee(c *call) int64 {
	in, out := c.fd(0), c.fd(1)
	if in == nil || out == nil {
		return fail(unix.EBADF)
	}
	flags := c.int(3)
	return c.moved(in, out, flags, result(unix.Tee(in.host, out.host, int(min(c.args[2], maxIO)), flags|unix.SPLICE_F_NONBLOCK)))
}

func sysVmsplice(c *call) int64 {
	d := c.fd(0)
	if d == nil || !d.file.pipe {
		return fail(unix.EBADF)
	}
	iov, e := c.iovecs(c.args[1], c.args[2])
	if e != 0 {
		return fail(e)
	}
	mode, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
	if err != nil {
		return status(err)
	}
	if mode&unix.O_ACCMODE == unix.O_RDONLY {
		return c.input(d, iov, -1)
	}
	return c.output(d, iov, -1)
}
