package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 39, name: "getpid", fn: func(c *call) int64 { return int64(c.p.PID) }},
		{nr: 186, name: "gettid", fn: func(c *call) int64 { return int64(c.t.TID) }},
		{nr: 63, name: "uname", args: ">name", fn: sysUname},
		{nr: 97, name: "getrlimit", args: "which, >limit", fn: func(c *call) int64 { return c.rlimit(c.int(0), 0, c.args[1]) }},
		{nr: 160, name: "setrlimit", args: "which, <limit", fn: func(c *call) int64 { return c.rlimit(c.int(0), c.args[1], 0) }},
		{nr: 302, name: "prlimit64", args: "pid, which, <new, >old", fn: sysPrlimit},
		{nr: 99, name: "sysinfo", args: ">info", fn: sysSysinfo},
		{nr: 318, name: "getrandom", args: ">buf, n, flags", fn: sysGetrandom, note: "the bytes follow from the seed"},
		{nr: 103, name: "syslog", args: "type, >buf, n", refuse: unix.EPERM},
		{nr: 101, name: "ptrace", args: "request, pid, addr, data", refuse: unix.EPERM},
		{nr: 317, name: "seccomp", args: "op, flags, args", refuse: unix.EINVAL},
		{nr: 321, name: "bpf", args: "cmd, attr, n", refuse: unix.EPERM},
		{nr: 298, name: "perf_event_open", args: "attr, pid, cpu, group, flags", refuse: unix.ENOSYS},
		{nr: 425, name: "io_uring_setup", args: "entries, params", refuse: unix.ENOSYS},
		{nr: 135, name: "personality", args: "persona", fn: answer0, note: "answers that of Linux"},
	})
}

// release is the kernel version that the guest sees.
const release = "6.1.0-racesim"

func sysUname(c *call) int64 {
	var u unix.Utsname
	var host unix.Utsname
	unix.Uname(&host)
	copy(u.Sysname[:], "Linux")
	u.Nodename = host.Nodename
	copy(u.Release[:], release)
	copy(u.Version[:], "#1 SMP PREEMPT_DYNAMIC racesim")
	copy(u.Machine[:], "x86_64")
	copy(u.Domainname[:], "(none)")
	return c.answer(c.args[0], structBytes(&u), 0)
}

func sysPrlimit(c *call) int64 {
	if pid := c.int(0); pid != 0 && pid != c.p.PID && c.p.thread(pid) == nil {
		return fail(unix.ESRCH)
	}
	return c.rlimit(c.int(1), c.args[2], c.args[3])
}

// limit gives the soft and the hard value of a resource limit. Those of
// descriptors, the address space and of the size of files are kept to.
func (p *Process) limit(which int) (cur, most uint64) {
	if l, ok := p.limits[which]; ok && which != unix.RLIMIT_NOFILE {
		return l[0], l[1]
	}
	cur, most = ^uint64(0), ^uint64(0)
	switch which {
	case unix.RLIMIT_STACK:
		cur = stackLimit
	case unix.RLIMIT_CORE:
		cur = 0
	case unix.RLIMIT_NOFILE:
		cur, most = uint64(p.fds.max), 1<<20
		if l, ok := p.limits[which]; ok {
			most = l[1]
		}
	case unix.RLIMIT_NPROC, 11: // RLIMIT_SIGPENDING
		cur, most = 1<<16, 1<<16
	case unix.RLIMIT_MEMLOCK:
		cur, most = 8<<20, 8<<20
	case 12: // RLIMIT_MSGQUEUE
		cur, most = 819200, 819200
	case 13, 14: // RLIMIT_NICE, RLIMIT_RTPRIO
		cur, most = 0, 0
	}
	return cur, most
}

// fits reports whether n more bytes of address space are within RLIMIT_AS.
func (p *Process) fits(n uint64) bool {
	l, ok := p.limits[unix.RLIMIT_AS]
	if !ok || l[0] == ^uint64(0) {
		return true
	}
	for _, v := range p.AS.vmas {
		n += v.end - v.start
	}
	return n <= l[0]
}

// sizeLimited cuts n bytes that go to off of a regular file down to RLIMIT_FSIZE.
// Where nothing is left it sends SIGXFSZ and reports false: EFBIG.
func (c *call) sizeLimited(off int64, n int) (int, bool) {
	l, ok := c.p.limits[unix.RLIMIT_FSIZE]
	if !ok || n == 0 || uint64(off)+uint64(n) <= l[0] {
		return n, true
	}
	if uint64(off) >= l[0] {
		c.p.sendThread(c.t, siginfo{signo: int(unix.SIGXFSZ), code: siKernel})
		return 0, false
	}
	return int(l[0] - uint64(off)), true
}

// rlimit reports and sets resource limits.
func (c *call) rlimit(which int, from, to uint64) int64 {
	if which < 0 || which > 15 {
		return fail(unix.EINVAL)
	}
	cur, most := c.p.limit(which)
	var b [16]byte
	if from != 0 {
		if e := c.read(from, b[:]); e != 0 {
			return fail(e)
		}
		n, m := le64(b[0:]), le64(b[8:])
		if n > m {
			return fail(unix.EINVAL)
		}
		if m > most && (c.p.cred.uid[1] != 0 || which == unix.RLIMIT_NOFILE) {
			return fail(unix.EPERM)
		}
		if which == unix.RLIMIT_NOFILE {
			c.p.fds.max = int(n)
		}
		// A copy: the parent of a fork has the other.
		l := map[int][2]uint64{which: {n, m}}
		for k, v := range c.p.limits {
			if k != which {
				l[k] = v
			}
		}
		c.p.limits = l
	}
	if to != 0 {
		put64(b[0:], cur)
		put64(b[8:], most)
		return c.answer(to, b[:], 0)
	}
	return 0
}

// ram is the memory that the guest is told the machine has, in bytes.
const ram = 16 << 30

func sysSysinfo(c *call) int64 {
	var b [112]byte
	put64(b[0:], uint64(c.p.Now()/1e9))
	put64(b[32:], ram)
	put64(b[40:], ram/2)
	put16(b[80:], uint16(len(c.p.threads)))
	put32(b[104:], 1)
	return c.answer(c.args[0], b[:], 0)
}

func sysGetrandom(c *call) int64 {
	if c.args[2]&^7 != 0 {
		return fail(unix.EINVAL)
	}
	b := make([]byte, min(c.args[1], 1<<20))
	c.p.rng.fill(b)
	return c.answer(c.args[0], b, int64(len(b)))
}
