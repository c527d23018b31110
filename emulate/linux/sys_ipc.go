package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 22, name: "pipe", args: ">fds", fn: func(c *call) int64 { return c.pipe(0) }},
		{nr: 293, name: "pipe2", args: ">fds, flags", fn: func(c *call) int64 { return c.pipe(c.int(1)) }},
		{nr: 284, name: "eventfd", args: "value", fn: func(c *call) int64 { return c.eventfd(0) }},
		{nr: 290, name: "eventfd2", args: "value, flags", fn: func(c *call) int64 { return c.eventfd(c.int(1)) }},
		{nr: 41, name: "socket", args: "domain, type, protocol", fn: sysSocket},
		{nr: 53, name: "socketpair", args: "domain, type, protocol, >fds", fn: sysSocketpair},
		{nr: 49, name: "bind", args: "fd, <addr, n", fn: sysBind},
		{nr: 50, name: "listen", args: "fd, backlog", fn: sysListen},
		{nr: 42, name: "connect", args: "fd, <addr, n", fn: sysConnect, rel: releaseOut, pokes: true},
		{nr: 43, name: "accept", args: "fd, >addr, ~n", fn: func(c *call) int64 { return c.accept(0) }, pokes: true},
		{nr: 288, name: "accept4", args: "fd, >addr, ~n, flags", fn: func(c *call) int64 { return c.accept(c.int(3)) }, pokes: true},
		{nr: 51, name: "getsockname", args: "fd, >addr, ~n", fn: func(c *call) int64 { return c.sockname(unix.SYS_GETSOCKNAME) }},
		{nr: 52, name: "getpeername", args: "fd, >addr, ~n", fn: func(c *call) int64 { return c.sockname(unix.SYS_GETPEERNAME) }},
		{nr: 54, name: "setsockopt", args: "fd, level, opt, <value, n", fn: sysSetsockopt},
		{nr: 55, name: "getsockopt", args: "fd, level, opt, >value, ~n", fn: sysGetsockopt},
		{nr: 44, name: "sendto", args: "fd, <buf, n, flags, <addr, addrn", fn: sysSendto, rel: releaseOut, pokes: true},
		{nr: 45, name: "recvfrom", args: "fd, >buf, n, flags, >addr, ~addrn", fn: sysRecvfrom, pokes: true},
		{nr: 48, name: "shutdown", args: "fd, how", fn: sysShutdown, pokes: true},
	})
}

func (c *call) pipe(flags int) int64 {
	if flags&^(unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_DIRECT) != 0 {
		return fail(unix.EINVAL)
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], flags|unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return status(err)
	}
	return c.pair(fds, flags, "pipe:", c.args[0], func(a, b *file) { b.out = a.in })
}

// pair enters two new host descriptors and writes their numbers to addr.
func (c *call) pair(fds [2]int, flags int, path string, addr uint64, join func(a, b *file)) int64 {
	var n [2]int64
	for i, fd := range fds {
		n[i] = c.adopt(fd, path, flags&unix.O_CLOEXEC != 0, func(f *file) {
			f.nonblock = flags&unix.O_NONBLOCK != 0
		})
		if n[i] < 0 {
			if i == 1 {
				c.p.fds.close(int(n[0]))
			} else {
				unix.Close(fds[1])
			}
			return n[i]
		}
	}
	a, b := c.p.fds.get(int(n[0])).file, c.p.fds.get(int(n[1])).file
	join(a, b)
	var buf [8]byte
	put32(buf[0:], uint32(n[0]))
	put32(buf[4:], uint32(n[1]))
	return c.answer(addr, buf[:], 0)
}

func (c *call) eventfd(flags int) int64 {
	if flags&^(unix.EFD_CLOEXEC|unix.EFD_NONBLOCK|unix.EFD_SEMAPHORE) != 0 {
		return fail(unix.EINVAL)
	}
	fd, err := unix.Eventfd(uint(uint32(c.args[0])), flags|unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return status(err)
	}
	return c.adopt(fd, "anon_inode:[eventfd]", flags&unix.EFD_CLOEXEC != 0, func(f *file) {
		f.nonblock = flags&unix.EFD_NONBLOCK != 0
	})
}

// socketFile completes the description of a socket. All sockets that can reach
// beyond their pair share one channel: who sent what isn't followed.
func (c *call) socketFile(flags int) func(f *file) {
	return func(f *file) {
		f.nonblock = flags&unix.SOCK_NONBLOCK != 0
		f.outside = true
		f.in, f.out = socketChannel, socketChannel
	}
}

// socketChannel is the channel of all sockets but pairs.
const socketChannel = 1 << 32

func sysSocket(c *call) int64 {
	typ := c.int(1)
	fd, err := unix.Socket(c.int(0), typ|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, c.int(2))
	if err != nil {
		return status(err)
	}
	return c.adopt(fd, "socket:", typ&unix.SOCK_CLOEXEC != 0, c.socketFile(typ))
}

func sysSocketpair(c *call) int64 {
	typ := c.int(1)
	fds, err := unix.Socketpair(c.int(0), typ|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, c.int(2))
	if err != nil {
		return status(err)
	}
	return c.pair(fds, typ, "socket:", c.args[3], func(a, b *file) { a.out, b.out = b.in, a.in })
}

// sockaddr reads a socket address.
func (c *call) sockaddr(addr, n uint64) ([]byte, unix.Errno) {
	if n > 128 {
		return nil, unix.EINVAL
	}
	b := make([]byte, n, 128)
	return b, c.read(addr, b)
}

func sysBind(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	a, e := c.sockaddr(c.args[1], c.args[2])
	if e != 0 {
		return fail(e)
	}
	return hostBytes(unix.SYS_BIND, d.host, a, 0)
}

func sysListen(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Listen(d.host, c.int(1)))
}

func sysConnect(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if c.connecting {
		if !d.ready(unix.POLLOUT) {
			return c.waitFD(d, unix.POLLOUT)
		}
		n, err := unix.GetsockoptInt(d.host, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return status(err)
		}
		return fail(unix.Errno(n))
	}
	a, e := c.sockaddr(c.args[1], c.args[2])
	if e != 0 {
		return fail(e)
	}
	r := hostBytes(unix.SYS_CONNECT, d.host, a, 0)
	if (r == fail(unix.EINPROGRESS) || r == fail(unix.EAGAIN)) && !d.file.nonblock {
		c.connecting = true
		return c.waitFD(d, unix.POLLOUT)
	}
	return r
}

func (c *call) accept(flags int) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	b := make([]byte, 128)
	fd, n := hostAddr(unix.SYS_ACCEPT4, d.host, b, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	if fd == fail(unix.EAGAIN) && !d.file.nonblock {
		return c.waitFD(d, unix.POLLIN)
	}
	if fd < 0 {
		return fd
	}
	c.acquireIn(d)
	if e := c.putSockaddr(c.args[1], c.args[2], b[:n]); e != 0 {
		unix.Close(int(fd))
		return fail(e)
	}
	return c.adopt(int(fd), "socket:", flags&unix.SOCK_CLOEXEC != 0, c.socketFile(flags))
}

// putSockaddr writes a socket address as accept(2) does: as much as fits, and
// its true length.
func (c *call) putSockaddr(addr, lenAddr uint64, b []byte) unix.Errno {
	if addr == 0 {
		return 0
	}
	var l [4]byte
	if e := c.read(lenAddr, l[:]); e != 0 {
		return e
	}
	room := int(int32(le32(l[:])))
	if room < 0 {
		return unix.EINVAL
	}
	if e := c.write(addr, b[:min(len(b), room)]); e != 0 {
		return e
	}
	put32(l[:], uint32(len(b)))
	return c.write(lenAddr, l[:])
}

func (c *call) sockname(nr uintptr) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	b := make([]byte, 128)
	r, n := hostAddr(nr, d.host, b, 0)
	if r < 0 {
		return r
	}
	return -int64(c.putSockaddr(c.args[1], c.args[2], b[:n]))
}

func sysSetsockopt(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if c.args[4] > 1<<16 {
		return fail(unix.EINVAL)
	}
	b := make([]byte, c.args[4])
	if e := c.read(c.args[3], b); e != 0 {
		return fail(e)
	}
	return status(unix.SetsockoptString(d.host, c.int(1), c.int(2), string(b)))
}

func sysGetsockopt(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	var l [4]byte
	if e := c.read(c.args[4], l[:]); e != 0 {
		return fail(e)
	}
	b := make([]byte, min(le32(l[:]), 1<<12))
	r, n := hostOption(d.host, c.int(1), c.int(2), b)
	if r < 0 {
		return r
	}
	if e := c.write(c.args[3], b[:n]); e != 0 {
		return fail(e)
	}
	put32(l[:], uint32(n))
	return c.answer(c.args[4], l[:], 0)
}

func sysShutdown(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Shutdown(d.host, c.int(1)))
}

// send sends iov, to the address to if it isn't nil.
func (c *call) send(d *descriptor, iov []Range, to []byte, flags int) int64 {
	want := total(iov)
	buf, e := c.gather(iov, c.done, want-c.done)
	if e != 0 {
		return c.partial(fail(e))
	}
	for {
		r := hostSend(d.host, buf, to, flags|unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		wait := !d.file.nonblock && flags&unix.MSG_DONTWAIT == 0
		switch {
		case r == fail(unix.EINTR):
			continue
		case r == fail(unix.EAGAIN) && wait:
			return c.waitFD(d, unix.POLLOUT)
		case r == fail(unix.EPIPE) && flags&unix.MSG_NOSIGNAL == 0 && c.done == 0:
			c.p.sendThread(c.t, siginfo{signo: int(unix.SIGPIPE), code: siUser, pid: c.p.PID})
			return r
		case r < 0:
			return c.partial(r)
		}
		c.done += int(r)
		if c.done >= want || !wait {
			return int64(c.done)
		}
		buf = buf[r:]
		c.p.fam.pokeFds()
	}
}

func sysSendto(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	var to []byte
	if c.args[4] != 0 {
		var e unix.Errno
		if to, e = c.sockaddr(c.args[4], c.args[5]); e != 0 {
			return fail(e)
		}
	}
	return c.send(d, one(c.args[1], c.args[2]), to, c.int(3))
}

// receive receives to iov. It returns the result and the sender's address.
func (c *call) receive(d *descriptor, iov []Range, flags int) (int64, []byte) {
	buf := c.p.buffer(total(iov))
	from := make([]byte, 128)
	r, n := hostReceive(d.host, buf, from, flags|unix.MSG_DONTWAIT)
	if r == fail(unix.EAGAIN) && !d.file.nonblock && flags&unix.MSG_DONTWAIT == 0 {
		return c.waitFD(d, unix.POLLIN), nil
	}
	if r < 0 {
		return r, nil
	}
	c.acquireIn(d)
	if k := c.deliverInput(iov, buf[:min(int(r), len(buf))]); k < 0 {
		return k, nil
	}
	return r, from[:n]
}

func sysRecvfrom(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	r, from := c.receive(d, one(c.args[1], c.args[2]), c.int(3))
	if r >= 0 && c.args[4] != 0 {
		if e := c.putSockaddr(c.args[4], c.args[5], from); e != 0 {
			return fail(e)
		}
	}
	return r
}
