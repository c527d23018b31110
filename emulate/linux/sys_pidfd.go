package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 434, name: "pidfd_open", args: "pid, flags", fn: sysPidfdOpen},
		{nr: 424, name: "pidfd_send_signal", args: "fd, signal, <info, flags", fn: sysPidfdSendSignal, rel: releasePidfd},
		{nr: 438, name: "pidfd_getfd", args: "fd, target, flags", fn: sysPidfdGetfd},
	})
}

// A pidFile is a pidfd: a process. Its host descriptor is an eventfd that is
// readable once the process has ended, so that it can be polled.
type pidFile struct {
	pid  int
	host int // a descriptor of the eventfd that outlives the guest's
	refs int
}

// end makes the pidfd readable.
func (s *pidFile) end() { unix.Write(s.host, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// unref gives up one of the guest's descriptors.
func (f *family) unrefPid(s *pidFile) {
	if s.refs--; s.refs > 0 {
		return
	}
	unix.Close(s.host)
	for i, o := range f.pidFiles {
		if o == s {
			f.pidFiles = append(f.pidFiles[:i], f.pidFiles[i+1:]...)
			return
		}
	}
}

// pidEnded makes the pidfds of a process that has ended readable.
func (f *family) pidEnded(pid int) {
	for _, s := range f.pidFiles {
		if s.pid == pid {
			s.end()
		}
	}
}

// whereabouts finds a process by number: among those that are executed here, or
// among the children of one of them (ended, or the host's). Both are nil if there
// is none.
func (f *family) whereabouts(pid int) (p *Process, k *child) {
	p = f.find(pid)
	for _, q := range f.members {
		for _, c := range q.children {
			if c.pid == pid {
				k = c
			}
		}
	}
	return p, k
}

// openPid makes a pidfd of process pid, which exists.
func (c *call) openPid(pid int, nonblock bool) int64 {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return status(err)
	}
	keep, err := dupHost(fd)
	if err != nil {
		unix.Close(fd)
		return status(err)
	}
	f := c.p.fam
	s := &pidFile{pid: pid, host: keep, refs: 1}
	r := c.adopt(fd, "anon_inode:[pidfd]", true, func(d *file) {
		d.pid = s
		d.nonblock = nonblock
	})
	if r < 0 {
		unix.Close(keep)
		return r
	}
	f.pidFiles = append(f.pidFiles, s)
	p, k := f.whereabouts(pid)
	if k != nil && k.host != 0 && !k.ended {
		c.p.fds.get(int(r)).file.outside = true
	}
	if p == nil && (k == nil || k.ended) {
		s.end()
	}
	return r
}

func sysPidfdOpen(c *call) int64 {
	const nonblock = unix.O_NONBLOCK
	pid := c.int(0)
	if pid <= 0 || c.args[1]&0xffffffff&^nonblock != 0 {
		return fail(unix.EINVAL)
	}
	if p, k := c.p.fam.whereabouts(pid); p == nil && k == nil {
		if c.p.fam.thread(pid) != nil {
			return fail(unix.EINVAL) // a thread that isn't its process's first
		}
		return fail(unix.ESRCH)
	}
	return c.openPid(pid, c.args[1]&nonblock != 0)
}

// releasePidfd gives what sending a signal releases.
func releasePidfd(c *call) []Object {
	d := c.fd(0)
	if d == nil || d.file.ofPID != c.p.PID && (d.file.pid == nil || d.file.pid.pid != c.p.PID) {
		return nil
	}
	return []Object{{ObjSignal, uint64(uint32(c.int(1)))}}
}

func sysPidfdSendSignal(c *call) int64 {
	d := c.fd(0)
	n, ok := c.signalNumber(1)
	switch {
	case c.int(3) != 0 || !ok:
		return fail(unix.EINVAL)
	case d == nil || d.file.pid == nil && d.file.ofPID == 0:
		return fail(unix.EBADF)
	}
	info := siginfo{signo: n, code: siUser, pid: c.p.PID, uid: c.p.cred.uid[0], from: c.t.ID}
	pid := d.file.ofPID
	if d.file.pid != nil {
		pid = d.file.pid.pid
	}
	if c.args[2] != 0 {
		var b [infoSize]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		info = getSiginfo(b[:])
		if info.signo != n {
			return fail(unix.EINVAL)
		}
		if pid != c.p.PID && (info.code >= 0 || info.code == siTkill) {
			return fail(unix.EPERM)
		}
		info.from = c.t.ID
	}
	p, k := c.p.fam.whereabouts(pid)
	switch {
	case p == nil && k == nil:
		return fail(unix.ESRCH)
	case p == nil && k.host != 0 && !k.ended:
		return status(unix.Kill(k.host, unix.Signal(n)))
	case p != nil && n != 0:
		if p != c.p {
			info.from = 0
		}
		p.sendProcess(info, nil)
	}
	return 0
}

func sysPidfdGetfd(c *call) int64 {
	d := c.fd(0)
	switch {
	case c.args[2]&0xffffffff != 0:
		return fail(unix.EINVAL)
	case d == nil || d.file.pid == nil:
		return fail(unix.EBADF)
	}
	p := c.p.fam.find(d.file.pid.pid)
	if p == nil {
		return fail(unix.ESRCH)
	}
	of := p.fds.get(c.int(1))
	if of == nil {
		return fail(unix.EBADF)
	}
	return c.dup(of, -1, 0, true)
}
