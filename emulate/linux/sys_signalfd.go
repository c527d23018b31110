package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 282, name: "signalfd", args: "fd, <set, n", fn: func(c *call) int64 { return c.signalfd(0) }},
		{nr: 289, name: "signalfd4", args: "fd, <set, n, flags", fn: func(c *call) int64 { return c.signalfd(c.int(3)) }},
	})
}

// A signalFile is a signalfd. Its host descriptor is an eventfd that is
// readable while a signal of the set is pending, so that it can be polled.
type signalFile struct {
	set   sigset
	host  int  // a descriptor of the eventfd that outlives the guest's
	ready bool // the eventfd is readable
	refs  int
}

// signalInfoSize is that of struct signalfd_siginfo.
const signalInfoSize = 128

func (c *call) signalfd(flags int) int64 {
	if flags&^(unix.SFD_CLOEXEC|unix.SFD_NONBLOCK) != 0 || c.args[2] != 8 {
		return fail(unix.EINVAL)
	}
	set, e := c.readSet(c.args[1])
	if e != 0 {
		return fail(e)
	}
	set &^= unmaskable
	if c.int(0) != -1 {
		d := c.fd(0)
		if d == nil {
			return fail(unix.EBADF)
		}
		if d.file.signals == nil {
			return fail(unix.EINVAL)
		}
		d.file.signals.set = set
		c.p.pokeSignals()
		return int64(c.int(0))
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return status(err)
	}
	keep, err := dupHost(fd)
	if err != nil {
		unix.Close(fd)
		return status(err)
	}
	s := &signalFile{set: set, host: keep, refs: 1}
	r := c.adopt(fd, "anon_inode:[signalfd]", flags&unix.SFD_CLOEXEC != 0, func(f *file) {
		f.signals = s
		f.nonblock = flags&unix.SFD_NONBLOCK != 0
		f.outside = c.p.hostSignals != nil
	})
	if r < 0 {
		unix.Close(keep)
		return r
	}
	c.p.signalFiles++
	c.p.pokeSignals()
	return r
}

// pokeSignals makes the process's signalfds readable, or not, as signals are
// pending.
func (p *Process) pokeSignals() {
	if p.signalFiles == 0 {
		return
	}
	changed := false
	for i := range p.fds.list {
		d := p.fds.get(i)
		if d == nil || d.file.signals == nil {
			continue
		}
		s := d.file.signals
		if ready := p.fam.pendingFor(d.file)&s.set != 0; ready != s.ready {
			s.ready, changed = ready, true
			b := []byte{1, 0, 0, 0, 0, 0, 0, 0}
			if ready {
				unix.Write(s.host, b)
			} else {
				unix.Read(s.host, b)
			}
		}
	}
	if changed {
		p.fam.pokeFds()
	}
}

// pendingFor returns what is pending in the processes that have a signalfd: they
// share its host descriptor.
func (f *family) pendingFor(file *file) sigset {
	var set sigset
	for _, p := range f.members {
		if p.signalFiles == 0 || !p.fds.has(file) {
			continue
		}
		set |= p.pending.set
		for _, t := range p.threads {
			set |= t.pending.set
		}
	}
	return set
}

// readSignals is read(2) of a signalfd.
func (c *call) readSignals(d *descriptor, iov []Range) int64 {
	n := total(iov) / signalInfoSize
	if n == 0 {
		return fail(unix.EINVAL)
	}
	var out []byte
	for len(out) < n*signalInfoSize {
		set := d.file.signals.set
		s, ok := c.t.pending.take(set)
		if !ok {
			s, ok = c.p.pending.take(set)
		}
		if !ok {
			break
		}
		c.acquire(Object{ObjSignal, uint64(s.signo)})
		c.acquire(Object{ObjSignal, uint64(c.t.ID)<<8 | uint64(s.signo)})
		out = append(out, s.signalfd()...)
	}
	c.p.pokeSignals()
	if len(out) == 0 {
		if d.file.nonblock {
			return fail(unix.EAGAIN)
		}
		return c.waitFD(d, unix.POLLIN)
	}
	return c.deliverInput(iov, out)
}

// signalfd is s as a struct signalfd_siginfo: signo, errno, code, pid, uid, fd,
// tid, band, overrun, trapno, status, int, ptr, utime, stime, addr.
func (s *siginfo) signalfd() []byte {
	b := make([]byte, signalInfoSize)
	put32(b[0:], uint32(s.signo))
	put32(b[8:], uint32(s.code))
	switch {
	case s.io:
		put32(b[20:], uint32(s.fd))
		put32(b[28:], uint32(s.band))
		return b
	case s.code == siTimer:
		put32(b[24:], uint32(s.pid))
	case s.code != siKernel:
		put32(b[12:], uint32(s.pid))
		put32(b[16:], uint32(s.uid))
	}
	if s.signo == int(unix.SIGCHLD) && s.code > 0 {
		put32(b[40:], uint32(s.value))
	} else {
		put32(b[44:], uint32(s.value))
		put64(b[48:], s.value)
	}
	return b
}
