package linux

import (
	"os"

	"golang.org/x/sys/unix"
)

func init() {
	const note = "control messages carry descriptors and credentials; others answer EINVAL"
	addCalls([]sysRow{
		{nr: 46, name: "sendmsg", args: "fd, <msg, flags", fn: sysSendmsg, rel: releaseOut, pokes: true, note: note},
		{nr: 47, name: "recvmsg", args: "fd, ~msg, flags", fn: sysRecvmsg, pokes: true},
		{nr: 307, name: "sendmmsg", args: "fd, ~msgs, n, flags", fn: sysSendmmsg, rel: releaseOut, pokes: true, note: note},
		{nr: 299, name: "recvmmsg", args: "fd, ~msgs, n, flags, ~timeout", fn: sysRecvmmsg, pokes: true,
			note: "the timeout is looked at before the first message only"},
	})
}

// A message is a struct msghdr of the guest: name, namelen, iov, iovlen,
// control, controllen, flags.
type message struct {
	at       uint64
	b        [56]byte
	iov      []Range
	name     uint64
	nameN    int
	control  uint64
	controlN int
}

// maxControl bounds control messages in bytes, as net.core.optmem_max does.
const maxControl = 20480

func (c *call) message(addr uint64) (m message, e unix.Errno) {
	m.at = addr
	if e = c.read(addr, m.b[:]); e != 0 {
		return m, e
	}
	m.iov, e = c.iovecs(le64(m.b[16:]), le64(m.b[24:]))
	m.name, m.nameN = le64(m.b[0:]), int(int32(le32(m.b[8:])))
	m.control = le64(m.b[32:])
	if n := le64(m.b[40:]); n > maxControl {
		m.controlN = maxControl
	} else {
		m.controlN = int(n)
	}
	return m, e
}

// cmsgHeader is the size of struct cmsghdr: len, level, type.
const cmsgHeader = 16

func cmsgAlign(n int) int { return (n + 7) &^ 7 }

// controlOut turns the guest's control messages into the host's; outside: somebody on
// the host may receive them.
func (c *call) controlOut(m *message, outside bool) ([]byte, unix.Errno) {
	if m.control == 0 || m.controlN == 0 {
		return nil, 0
	}
	b := make([]byte, m.controlN)
	if e := c.read(m.control, b); e != 0 {
		return nil, e
	}
	for at := 0; at+cmsgHeader <= len(b); {
		n := int(le64(b[at:]))
		if n < cmsgHeader || n > len(b)-at {
			return nil, unix.EINVAL
		}
		data := b[at+cmsgHeader : at+n]
		if le32(b[at+8:]) != unix.SOL_SOCKET {
			at += cmsgAlign(n)
			continue // of the protocol: numbers
		}
		switch le32(b[at+12:]) {
		case unix.SCM_RIGHTS:
			for i := 0; i+4 <= len(data); i += 4 {
				d := c.p.fds.get(int(int32(le32(data[i:]))))
				if d == nil {
					return nil, unix.EBADF
				}
				put32(data[i:], uint32(d.host))
				c.p.fam.sent(d)
				if outside {
					c.p.AS.give(d.host)
				}
			}
		case unix.SCM_CREDENTIALS:
			if len(data) < 12 {
				return nil, unix.EINVAL
			}
			put32(data[0:], uint32(os.Getpid()))
			put32(data[4:], uint32(unix.Getuid()))
			put32(data[8:], uint32(unix.Getgid()))
		default:
			return nil, unix.EINVAL
		}
		at += cmsgAlign(n)
	}
	return b, 0
}

// controlIn turns the host's control messages into the guest's: descriptors get
// numbers in the guest's table.
func (c *call) controlIn(b []byte, cloexec bool) unix.Errno {
	for at := 0; at+cmsgHeader <= len(b); {
		n := int(le64(b[at:]))
		if n < cmsgHeader || n > len(b)-at {
			break
		}
		data := b[at+cmsgHeader : at+n]
		if le32(b[at+8:]) == unix.SOL_SOCKET {
			switch le32(b[at+12:]) {
			case unix.SCM_RIGHTS:
				for i := 0; i+4 <= len(data); i += 4 {
					fd := c.received(int(le32(data[i:])), cloexec)
					if fd < 0 {
						return unix.Errno(-fd)
					}
					put32(data[i:], uint32(fd))
				}
			case unix.SCM_CREDENTIALS:
				if len(data) >= 4 && int(le32(data)) == os.Getpid() {
					put32(data, uint32(c.p.fam.root.PID))
				}
			}
		}
		at += cmsgAlign(n)
	}
	return 0
}

// A parcel is a descriptor that was sent, and may be received here: then it is
// the same open file.
type parcel struct {
	host int
	file *file
}

// maxParcels bounds how many are remembered.
const maxParcels = 256

// sent remembers a descriptor that is being sent.
func (f *family) sent(d *descriptor) {
	host, err := dupHost(d.host)
	if err != nil {
		return
	}
	if len(f.parcels) == maxParcels {
		unix.Close(f.parcels[0].host)
		f.parcels = f.parcels[1:]
	}
	f.parcels = append(f.parcels, parcel{host, d.file})
}

// received gives a host descriptor that came with a message a number.
func (c *call) received(host int, cloexec bool) int64 {
	const kcmpFile = 0
	f, pid := c.p.fam, uintptr(os.Getpid())
	for i, p := range f.parcels {
		if raw(unix.SYS_KCMP, pid, pid, kcmpFile, uintptr(host), uintptr(p.host), 0) != 0 {
			continue
		}
		unix.Close(p.host)
		f.parcels = append(f.parcels[:i], f.parcels[i+1:]...)
		own, err := dupHost(host)
		unix.Close(host)
		if err != nil {
			return status(err)
		}
		p.file.share()
		return c.p.fds.add(descriptor{host: own, file: p.file, cloexec: cloexec})
	}
	return c.adopt(host, "", cloexec, func(d *file) {
		d.path = linkOf(host)
		if !d.reg {
			d.outside = true
			if fl, err := unix.FcntlInt(uintptr(host), unix.F_GETFL, 0); err == nil {
				d.nonblock = fl&unix.O_NONBLOCK != 0
			}
		}
	})
}

// linkOf is the path of what is open at a host descriptor.
func linkOf(host int) string {
	s, err := os.Readlink(procFD(host))
	if err != nil {
		return ""
	}
	return s
}

func sysSendmsg(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	m, e := c.message(c.args[1])
	if e != 0 {
		return fail(e)
	}
	return c.sendMessage(d, &m, c.int(2))
}

func (c *call) sendMessage(d *descriptor, m *message, flags int) int64 {
	var to []byte
	var e unix.Errno
	if m.name != 0 && m.nameN > 0 {
		if to, e = c.sockaddr(m.name, uint64(m.nameN)); e != 0 {
			return fail(e)
		}
	}
	if m.control == 0 || m.controlN == 0 || c.done > 0 {
		return c.send(d, m.iov, to, flags)
	}
	control, e := c.controlOut(m, d.file.outside)
	if e != 0 {
		return fail(e)
	}
	buf, e := c.gather(m.iov, 0, total(m.iov))
	if e != 0 {
		return fail(e)
	}
	for {
		r := hostMessage(unix.SYS_SENDMSG, d.host, to, buf, control, flags|unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT).r
		switch {
		case r == fail(unix.EINTR):
			continue
		case r == fail(unix.EAGAIN) && !d.file.nonblock && flags&unix.MSG_DONTWAIT == 0:
			return c.waitFD(d, unix.POLLOUT)
		case r == fail(unix.EPIPE) && flags&unix.MSG_NOSIGNAL == 0:
			c.p.sendThread(c.t, siginfo{signo: int(unix.SIGPIPE), code: siUser, pid: c.p.PID})
			return r
		case r < 0 || int(r) >= len(buf):
			return r
		}
		c.done = int(r) // the control messages are with the first byte
		return c.send(d, m.iov, to, flags)
	}
}

func sysRecvmsg(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	m, e := c.message(c.args[1])
	if e != 0 {
		return fail(e)
	}
	return c.receiveMessage(d, &m, c.int(2))
}

func (c *call) receiveMessage(d *descriptor, m *message, flags int) int64 {
	buf := c.p.buffer(total(m.iov))
	from := make([]byte, 128)
	control := make([]byte, m.controlN)
	if m.control == 0 {
		control = nil
	}
	h := hostMessage(unix.SYS_RECVMSG, d.host, from, buf, control, flags|unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if h.r == fail(unix.EAGAIN) && !d.file.nonblock && flags&unix.MSG_DONTWAIT == 0 {
		return c.waitFD(d, unix.POLLIN)
	}
	if h.r < 0 {
		return h.r
	}
	c.acquireIn(d)
	control = control[:h.control]
	if e := c.controlIn(control, flags&unix.MSG_CMSG_CLOEXEC != 0); e != 0 {
		return fail(e)
	}
	if k := c.deliverInput(m.iov, buf[:min(int(h.r), len(buf))]); k < 0 {
		return k
	}
	if m.name != 0 {
		if e := c.write(m.name, from[:min(h.name, max(m.nameN, 0))]); e != 0 {
			return fail(e)
		}
	}
	if e := c.write(m.control, control); e != 0 {
		return fail(e)
	}
	put32(m.b[8:], uint32(h.name))
	put64(m.b[40:], uint64(len(control)))
	put32(m.b[48:], h.flags&^unix.MSG_CMSG_CLOEXEC|uint32(flags)&unix.MSG_CMSG_CLOEXEC)
	return c.answer(m.at, m.b[:], h.r)
}

// mmsgSize is that of struct mmsghdr: a msghdr, and how much was transferred.
const mmsgSize = 64

// maxMessages is how many messages one call takes (UIO_MAXIOV).
const maxMessages = 1024

// messages makes a transfer for each of an array of messages, until one fails;
// the first one's failure is the call's.
func (c *call) messages(one func(m *message, first bool) int64) int64 {
	n := min(c.args[2]&0xffffffff, maxMessages)
	for i := uint64(0); i < n; i++ {
		at := c.args[1] + i*mmsgSize
		m, e := c.message(at)
		r := fail(e)
		if e == 0 {
			r = one(&m, i == 0)
		}
		if r < 0 {
			if i == 0 {
				return r
			}
			return int64(i)
		}
		var b [4]byte
		put32(b[:], uint32(r))
		if e := c.write(at+mmsgSize-8, b[:]); e != 0 {
			return fail(e)
		}
		c.done = 0
	}
	return int64(n)
}

func sysSendmmsg(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return c.messages(func(m *message, first bool) int64 {
		flags := c.int(3)
		if !first {
			flags |= unix.MSG_DONTWAIT // those that went out count
		}
		return c.sendMessage(d, m, flags)
	})
}

func sysRecvmmsg(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if c.args[4] != 0 {
		if e := c.timeoutSpec(c.args[4]); e != 0 {
			return fail(e)
		}
	}
	const waitForOne = 0x10000 // MSG_WAITFORONE
	return c.messages(func(m *message, first bool) int64 {
		flags := c.int(3) &^ waitForOne
		if !first {
			flags |= unix.MSG_DONTWAIT
		}
		r := c.receiveMessage(d, m, flags)
		if r == blocked && c.deadline != 0 && c.deadline != never {
			w := c.t.wait
			w.deadline, w.onTimeout = c.deadline, func() int64 { return fail(unix.EAGAIN) }
			c.p.nextDeadline = min(c.p.nextDeadline, w.deadline)
		}
		return r
	})
}
