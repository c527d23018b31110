package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 13, name: "rt_sigaction", args: "sig, <act, >old, n", fn: sysSigaction},
		{nr: 14, name: "rt_sigprocmask", args: "how, <set, >old, n", fn: sysSigprocmask},
		{nr: 15, name: "rt_sigreturn", args: "", fn: sysSigreturn},
		{nr: 127, name: "rt_sigpending", args: ">set, n", fn: sysSigpending},
		{nr: 128, name: "rt_sigtimedwait", args: "<set, >info, <timeout, n", fn: sysSigtimedwait},
		{nr: 129, name: "rt_sigqueueinfo", args: "pid, sig, <info", fn: sysSigqueueinfo, rel: releaseSignal(1, -1)},
		{nr: 297, name: "rt_tgsigqueueinfo", args: "pid, tid, sig, <info", fn: sysTgsigqueueinfo, rel: releaseSignal(2, 1)},
		{nr: 130, name: "rt_sigsuspend", args: "<set, n", fn: sysSigsuspend},
		{nr: 131, name: "sigaltstack", args: "<new, >old", fn: sysSigaltstack},
		{nr: 34, name: "pause", fn: sysPause},
		{nr: 62, name: "kill", args: "pid, sig", fn: sysKill, rel: releaseSignal(1, -1),
			note: "reaches the guest and its descendants; others answer ESRCH"},
		{nr: 200, name: "tkill", args: "tid, sig", fn: sysTkill, rel: releaseSignal(1, 0)},
		{nr: 234, name: "tgkill", args: "pid, tid, sig", fn: sysTgkill, rel: releaseSignal(2, 1)},
	})
}

// releaseSignal is the rel of calls that send the signal of argument sig to
// the thread of argument tid (-1: to the process).
func releaseSignal(sig, tid int) func(c *call) []Object {
	return func(c *call) []Object {
		if c.int(sig) == 0 {
			return nil
		}
		var to uint64
		if tid >= 0 {
			if t := c.p.thread(c.int(tid)); t != nil {
				to = uint64(t.ID)
			}
		}
		return []Object{{ObjSignal, to<<8 | uint64(c.int(sig)&0xff)}}
	}
}

// sigactionSize is that of the kernel's struct: handler, flags, restorer, mask.
const sigactionSize = 32

func sysSigaction(c *call) int64 {
	n := c.int(0)
	if n < 1 || n > maxSignal || c.args[3] != 8 {
		return fail(unix.EINVAL)
	}
	a := &c.p.actions[n]
	var b [sigactionSize]byte
	set := c.args[1] != 0
	var act sigaction
	if set {
		if n == int(unix.SIGKILL) || n == int(unix.SIGSTOP) {
			return fail(unix.EINVAL)
		}
		if e := c.read(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
		act = sigaction{le64(b[0:]), le64(b[8:]), le64(b[16:]), sigset(le64(b[24:])) &^ unmaskable}
	}
	if c.args[2] != 0 {
		put64(b[0:], a.handler)
		put64(b[8:], a.flags)
		put64(b[16:], a.restorer)
		put64(b[24:], uint64(a.mask))
		if e := c.write(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
	}
	if set {
		*a = act
		c.p.hear(n)
		if c.p.ignored(n) {
			c.p.drop(sigbit(n))
		}
	}
	return 0
}

// readSet reads a sigset_t of 8 bytes.
func (c *call) readSet(addr uint64) (sigset, unix.Errno) {
	var b [8]byte
	e := c.read(addr, b[:])
	return sigset(le64(b[:])), e
}

func sysSigprocmask(c *call) int64 {
	if c.args[3] != 8 {
		return fail(unix.EINVAL)
	}
	old := c.t.mask
	if c.args[1] != 0 {
		set, e := c.readSet(c.args[1])
		if e != 0 {
			return fail(e)
		}
		switch c.int(0) {
		case unix.SIG_BLOCK:
			c.t.mask |= set
		case unix.SIG_UNBLOCK:
			c.t.mask &^= set
		case unix.SIG_SETMASK:
			c.t.mask = set
		default:
			return fail(unix.EINVAL)
		}
		c.t.mask &^= unmaskable
	}
	if c.args[2] != 0 {
		var b [8]byte
		put64(b[:], uint64(old))
		return c.answer(c.args[2], b[:], 0)
	}
	return 0
}

func sysSigreturn(c *call) int64 {
	t := c.t
	if !t.popFrame() {
		c.p.kill(unix.SIGSEGV)
		return noReturn
	}
	t.CPU.Count++
	t.interrupted = false
	c.p.hooks.Context(t)
	c.p.deliver(t)
	return noReturn
}

func sysSigpending(c *call) int64 {
	if c.args[1] > 8 {
		return fail(unix.EINVAL)
	}
	var b [8]byte
	put64(b[:], uint64((c.t.pending.set|c.p.pending.set)&c.t.mask))
	return c.answer(c.args[0], b[:c.args[1]], 0)
}

func sysSigtimedwait(c *call) int64 {
	if c.args[3] != 8 {
		return fail(unix.EINVAL)
	}
	set, e := c.readSet(c.args[0])
	if e != 0 {
		return fail(e)
	}
	set &^= unmaskable
	if c.deadline == 0 {
		c.deadline = never
		if c.args[2] != 0 {
			ns, e := c.getTimespec(c.args[2])
			if e != 0 {
				return fail(e)
			}
			c.deadline = saturate(c.p.Now(), ns)
		}
	}
	s, ok := c.t.pending.take(set)
	if !ok {
		s, ok = c.p.pending.take(set)
	}
	if !ok {
		if c.deadline <= c.p.Now() {
			return fail(unix.EAGAIN)
		}
		c.t.sigwait = set
		return c.t.block(&wait{what: c.row.name, deadline: c.deadline, outside: c.p.hostSignals != nil,
			intr: -int64(unix.EINTR), onTimeout: func() int64 { return fail(unix.EAGAIN) }})
	}
	c.t.sigwait = 0
	c.p.pokeSignals()
	c.acquire(Object{ObjSignal, uint64(s.signo)})
	c.acquire(Object{ObjSignal, uint64(c.t.ID)<<8 | uint64(s.signo)})
	if c.args[1] != 0 {
		var b [infoSize]byte
		s.put(b[:])
		return c.answer(c.args[1], b[:], int64(s.signo))
	}
	return int64(s.signo)
}

func sysSigsuspend(c *call) int64 {
	if c.args[1] != 8 {
		return fail(unix.EINVAL)
	}
	set, e := c.readSet(c.args[0])
	if e != 0 {
		return fail(e)
	}
	c.t.swapMask(set)
	return c.pause()
}

// swapMask sets the mask until the call under way ends.
func (t *Thread) swapMask(set sigset) {
	if t.savedMask == nil {
		old := t.mask
		t.savedMask = &old
	}
	t.mask = set &^ unmaskable
}

func sysPause(c *call) int64 { return c.pause() }

// pause waits for a signal that is handled.
func (c *call) pause() int64 {
	return c.t.block(&wait{what: c.row.name, deadline: never, outside: c.p.hostSignals != nil, intr: erestartNoHand,
		try: func() int64 { return blocked }})
}

func sysSigaltstack(c *call) int64 {
	var old [24]byte
	c.t.putAlt(old[:])
	if c.args[0] != 0 {
		var b [24]byte
		if e := c.read(c.args[0], b[:]); e != 0 {
			return fail(e)
		}
		if e := c.t.setAlt(le64(b[0:]), le32(b[8:]), le64(b[16:])); e != 0 {
			return fail(e)
		}
	}
	if c.args[1] != 0 {
		return c.answer(c.args[1], old[:], 0)
	}
	return 0
}

// signalNumber checks argument i; 0 only asks whether the target exists.
func (c *call) signalNumber(i int) (int, bool) {
	n := c.int(i)
	return n, n >= 0 && n <= maxSignal
}

func sysKill(c *call) int64 {
	n, ok := c.signalNumber(1)
	if !ok {
		return fail(unix.EINVAL)
	}
	r, _ := c.killOther(c.int(0), n)
	return r
}

func sysTkill(c *call) int64 { return c.tkill(0, 1) }

func sysTgkill(c *call) int64 {
	if c.int(0) != c.p.PID {
		return fail(unix.ESRCH)
	}
	return c.tkill(1, 2)
}

func (c *call) tkill(tid, sig int) int64 {
	n, ok := c.signalNumber(sig)
	if !ok || c.int(tid) <= 0 {
		return fail(unix.EINVAL)
	}
	t := c.p.thread(c.int(tid))
	if t == nil {
		return fail(unix.ESRCH)
	}
	if n != 0 {
		c.p.sendThread(t, siginfo{signo: n, code: siTkill, pid: c.p.PID, uid: c.p.cred.uid[0], from: c.t.ID})
	}
	return 0
}

func sysSigqueueinfo(c *call) int64 {
	if c.int(0) != c.p.PID {
		return fail(unix.ESRCH)
	}
	return c.queueInfo(1, 2, nil)
}

func sysTgsigqueueinfo(c *call) int64 {
	t := c.p.thread(c.int(1))
	if c.int(0) != c.p.PID || t == nil {
		return fail(unix.ESRCH)
	}
	return c.queueInfo(2, 3, t)
}

func (c *call) queueInfo(sig, info int, t *Thread) int64 {
	n, ok := c.signalNumber(sig)
	if !ok {
		return fail(unix.EINVAL)
	}
	var b [infoSize]byte
	if e := c.read(c.args[info], b[:]); e != 0 {
		return fail(e)
	}
	s := getSiginfo(b[:])
	s.signo, s.from = n, c.t.ID
	if n != 0 {
		c.p.sendProcess(s, t)
	}
	return 0
}
