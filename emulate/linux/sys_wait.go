package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 61, name: "wait4", args: "pid, >status, options, >rusage", fn: sysWait4, note: "rusage is zero"},
		{nr: 247, name: "waitid", args: "type, id, >info, options, >rusage", fn: sysWaitid, note: "rusage is zero"},
		{nr: 110, name: "getppid", fn: sysGetppid},
		{nr: 111, name: "getpgrp", fn: func(c *call) int64 { return int64(c.p.pgid) }},
		{nr: 121, name: "getpgid", args: "pid", fn: sysGetpgid},
		{nr: 124, name: "getsid", args: "pid", fn: sysGetsid},
		{nr: 109, name: "setpgid", args: "pid, pgid", fn: sysSetpgid, note: "processes of the host stay in racesim's group"},
		{nr: 112, name: "setsid", fn: sysSetsid, note: "the terminal stays"},
	})
}

// matching returns the first child with something to wait for. any says
// whether there are such children at all.
func (c *call) matching(match func(k *child) bool, options int) (k *child, any bool) {
	for _, k := range c.p.children {
		if !match(k) {
			continue
		}
		stopped := k.news != 0 && (k.news != wentOn && options&unix.WUNTRACED != 0 || k.news == wentOn && options&unix.WCONTINUED != 0)
		if stopped || k.ended && options&unix.WEXITED != 0 {
			return k, true
		}
		any = true
	}
	return nil, any
}

// waitChild finishes a wait call: it returns a child with its status, or nil
// and the call's result.
func (c *call) waitChild(options int, match func(k *child) bool) (k *child, status uint32, r int64) {
	k, any := c.matching(match, options)
	switch {
	case k != nil && k.news != 0:
		status = k.news
		if options&unix.WNOWAIT == 0 {
			k.news = 0
		}
		return k, status, 0
	case k != nil:
		if options&unix.WNOWAIT == 0 {
			c.p.forget(k)
		}
		c.acquire(Object{ObjProcess, uint64(k.pid)})
		return k, k.status, 0
	case !any:
		return nil, 0, fail(unix.ECHILD)
	case options&unix.WNOHANG != 0:
		return nil, 0, 0
	}
	return nil, 0, c.t.block(&wait{what: c.row.name, children: true, intr: erestartSys})
}

// childMatch is which children a wait4 call with pid is for.
func (c *call) childMatch(pid int) func(k *child) bool {
	switch {
	case pid == -1:
		return func(*child) bool { return true }
	case pid > 0:
		return func(k *child) bool { return k.pid == pid }
	}
	group := -pid
	if pid == 0 {
		group = c.p.pgid
	}
	return func(k *child) bool { return k.group() == group }
}

// group is the child's process group.
func (k *child) group() int {
	if k.p != nil {
		return k.p.pgid
	}
	return k.pgid
}

func sysWait4(c *call) int64 {
	const all = unix.WNOHANG | unix.WUNTRACED | unix.WCONTINUED | unix.WNOTHREAD | unix.WALL | unix.WCLONE
	if c.args[2]&0xffffffff&^all != 0 {
		return fail(unix.EINVAL)
	}
	k, st, r := c.waitChild(c.int(2)&(unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED)|unix.WEXITED, c.childMatch(c.int(0)))
	if k == nil {
		return r
	}
	if c.args[1] != 0 {
		var b [4]byte
		put32(b[:], st)
		if e := c.write(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
	}
	if c.args[3] != 0 {
		c.write(c.args[3], make([]byte, rusageSize))
	}
	return int64(k.pid)
}

// rusageSize is that of struct rusage.
const rusageSize = 144

func sysWaitid(c *call) int64 {
	id := c.int(1)
	options := c.int(3)
	var match func(k *child) bool
	nonblock := false // a pidfd's
	switch c.int(0) {
	case unix.P_ALL:
		match = c.childMatch(-1)
	case unix.P_PGID:
		match = c.childMatch(-id)
	case unix.P_PID:
		match = func(k *child) bool { return k.pid == id }
	case unix.P_PIDFD:
		d := c.fd(1)
		if d == nil || d.file.pid == nil {
			return fail(unix.EBADF)
		}
		match = func(k *child) bool { return k.pid == d.file.pid.pid }
		nonblock = d.file.nonblock
	default:
		return fail(unix.EINVAL)
	}
	const known = unix.WEXITED | unix.WSTOPPED | unix.WCONTINUED
	if options&known == 0 || options&^(known|unix.WNOHANG|unix.WNOWAIT) != 0 {
		return fail(unix.EINVAL)
	}
	if nonblock && options&unix.WNOHANG == 0 {
		if k, any := c.matching(match, options); k == nil && any {
			return fail(unix.EAGAIN)
		}
	}
	k, st, r := c.waitChild(options, match)
	if k == nil && r != 0 {
		return r
	}
	var b [infoSize]byte
	if k != nil {
		info := c.p.childInfo(k, st)
		put32(b[0:], uint32(info.signo))
		put32(b[8:], uint32(info.code))
		put32(b[16:], uint32(info.pid))
		put32(b[20:], uint32(info.uid))
		put32(b[24:], uint32(info.value))
	}
	if c.args[2] != 0 {
		if e := c.write(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
	}
	if c.args[4] != 0 {
		c.write(c.args[4], make([]byte, rusageSize))
	}
	return 0
}

func sysGetppid(c *call) int64 {
	if q := c.p.parent; q != nil && !q.exited {
		return int64(q.PID)
	}
	return 1
}

// processOf returns the process that argument i names; 0 is the caller's.
func (c *call) processOf(i int) *Process {
	if pid := c.int(i); pid != 0 && pid != c.p.PID {
		return c.p.fam.find(pid)
	}
	return c.p
}

func sysGetpgid(c *call) int64 {
	if q := c.processOf(0); q != nil {
		return int64(q.pgid)
	}
	if k := c.p.hostChild(c.int(0)); k != nil {
		return int64(k.pgid)
	}
	return fail(unix.ESRCH)
}

func sysGetsid(c *call) int64 {
	q := c.processOf(0)
	if q == nil {
		return fail(unix.ESRCH)
	}
	return int64(q.sid)
}

// hostChild returns the child with a number that the host executes, or nil.
func (p *Process) hostChild(pid int) *child {
	for _, k := range p.children {
		if k.pid == pid && k.host != 0 {
			return k
		}
	}
	return nil
}

// sysSetpgid and sysSetsid keep the numbers that a process can ask for; the
// host's groups and sessions stay as they are.
func sysSetpgid(c *call) int64 {
	group := c.int(1)
	if group < 0 {
		return fail(unix.EINVAL)
	}
	q := c.processOf(0)
	if q == nil {
		if c.p.hostChild(c.int(0)) != nil {
			return fail(unix.EACCES) // it has executed another program
		}
		return fail(unix.ESRCH)
	}
	if q != c.p && q.parent != c.p {
		return fail(unix.ESRCH)
	}
	if q.sid == q.PID || q.sid != c.p.sid {
		return fail(unix.EPERM)
	}
	if group == 0 {
		group = q.PID
	}
	if group != q.PID && !c.p.fam.hasGroup(group, q.sid) {
		return fail(unix.EPERM)
	}
	q.pgid = group
	if q.parent != nil {
		for _, k := range q.parent.children {
			if k.p == q {
				k.pgid = group
			}
		}
	}
	return 0
}

// hasGroup says whether a group exists in a session.
func (f *family) hasGroup(group, sid int) bool {
	for _, p := range f.members {
		if p.sid == sid && p.pgid == group {
			return true
		}
		for _, k := range p.children {
			if p.sid == sid && k.group() == group {
				return true
			}
		}
	}
	return false
}

func sysSetsid(c *call) int64 {
	if c.p.pgid == c.p.PID {
		return fail(unix.EPERM)
	}
	c.p.pgid, c.p.sid = c.p.PID, c.p.PID
	return int64(c.p.PID)
}
