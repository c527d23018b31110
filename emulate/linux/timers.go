package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// A timer fires at a time of the clock and then, if it has an interval, again.
type timer struct {
	next     int64 // ns; never: disarmed
	interval int64
	clock    int32
	fire     func(n int64) // n expirations are due
}

// cpu says whether t goes by what the process has executed.
func (t *timer) cpu() bool {
	return t.clock == unix.CLOCK_PROCESS_CPUTIME_ID || t.clock == unix.CLOCK_THREAD_CPUTIME_ID || t.clock < 0
}

// now is the time that t goes by.
func (p *Process) now(t *timer) int64 {
	if t.cpu() {
		return p.cpuTime()
	}
	return p.Now()
}

// cpuDue reports whether a timer fires that goes by execution.
func (p *Process) cpuDue() bool {
	if p.timers.cpu == 0 {
		return false
	}
	now := p.cpuTime()
	for _, t := range p.timers.all {
		if t.cpu() && t.next <= now {
			return true
		}
	}
	return false
}

// due counts the expirations up to now and moves next past it.
func (t *timer) due(now int64) int64 {
	if t.next > now {
		return 0
	}
	if t.interval == 0 {
		t.next = never
		return 1
	}
	n := 1 + (now-t.next)/t.interval
	t.next = saturate(t.next, n*t.interval)
	return n
}

// timers are those of the process: ITIMER_REAL, POSIX timers, timerfds.
type timers struct {
	alarm  *timer
	posix  map[int32]*timer
	lastID int32
	all    []*timer
	cpu    int // how many were armed that go by execution
}

func (p *Process) addTimer(clock int32, fire func(n int64)) *timer {
	t := &timer{next: never, clock: clock, fire: fire}
	p.timers.all = append(p.timers.all, t)
	return t
}

func (p *Process) dropTimer(t *timer) {
	for i, u := range p.timers.all {
		if u == t {
			p.timers.all = append(p.timers.all[:i], p.timers.all[i+1:]...)
			return
		}
	}
}

// arm sets t to expire after first ns (0: never), then every interval ns.
func (p *Process) arm(t *timer, first, interval int64) {
	t.next, t.interval = never, interval
	if first > 0 {
		t.next = saturate(p.now(t), first)
	}
	if t.cpu() {
		p.timers.cpu++
		return
	}
	p.nextDeadline = min(p.nextDeadline, t.next)
}

// nextTimer is when the next timer fires.
func (p *Process) nextTimer() int64 {
	next := never
	for _, t := range p.timers.all {
		if !t.cpu() {
			next = min(next, t.next)
		}
	}
	return next
}

// fireTimers fires what is due.
func (p *Process) fireTimers(now int64) {
	for _, t := range append([]*timer(nil), p.timers.all...) {
		if t.cpu() {
			if n := t.due(p.cpuTime()); n > 0 {
				t.fire(n)
			}
			continue
		}
		if n := t.due(now); n > 0 {
			t.fire(n)
		}
		p.nextDeadline = min(p.nextDeadline, t.next)
	}
}

// An fdTimer is a timerfd: a timer that counts in a host eventfd, so that
// descriptors behave as they should.
type fdTimer struct {
	timer *timer
	host  int // a descriptor of the eventfd that outlives the guest's
	refs  int // descriptors of the guest
	p     *Process
}

func (f *fdTimer) unref() {
	if f.refs--; f.refs == 0 {
		f.p.dropTimer(f.timer)
		unix.Close(f.host)
	}
}

func init() {
	addCalls([]sysRow{
		{nr: 37, name: "alarm", args: "seconds", fn: sysAlarm},
		{nr: 38, name: "setitimer", args: "which, <new, >old", fn: sysSetitimer,
			note: "ITIMER_VIRTUAL counts what ITIMER_PROF counts: all that is executed"},
		{nr: 36, name: "getitimer", args: "which, >value", fn: sysGetitimer},
		{nr: 222, name: "timer_create", args: "clock, <event, >id", fn: sysTimerCreate},
		{nr: 223, name: "timer_settime", args: "id, flags, <new, >old", fn: sysTimerSettime},
		{nr: 224, name: "timer_gettime", args: "id, >value", fn: sysTimerGettime},
		{nr: 225, name: "timer_getoverrun", args: "id", fn: answer0, note: "answers 0"},
		{nr: 226, name: "timer_delete", args: "id", fn: sysTimerDelete},
		{nr: 283, name: "timerfd_create", args: "clock, flags", fn: sysTimerfdCreate},
		{nr: 286, name: "timerfd_settime", args: "fd, flags, <new, >old", fn: sysTimerfdSettime},
		{nr: 287, name: "timerfd_gettime", args: "fd, >value", fn: sysTimerfdGettime},
	})
}

// alarmTimer returns the ITIMER_REAL timer.
func (p *Process) alarmTimer() *timer {
	if p.timers.alarm == nil {
		p.timers.alarm = p.addTimer(unix.CLOCK_MONOTONIC, func(int64) {
			p.sendProcess(siginfo{signo: int(unix.SIGALRM), code: siKernel}, nil)
		})
	}
	return p.timers.alarm
}

// left is the time until t fires, 0 if it is disarmed.
func (p *Process) left(t *timer) int64 {
	if t.next == never {
		return 0
	}
	return max(t.next-p.now(t), 1)
}

func sysAlarm(c *call) int64 {
	t := c.p.alarmTimer()
	left := c.p.left(t)
	c.p.arm(t, int64(uint32(c.args[0]))*1e9, 0)
	return (left + 1e9 - 1) / 1e9
}

// itimer finds the timer of argument 0.
func (c *call) itimer() *timer {
	switch c.int(0) {
	case 0:
		return c.p.alarmTimer()
	case 1, 2:
		signo := int(unix.SIGVTALRM)
		if c.int(0) == 2 {
			signo = int(unix.SIGPROF)
		}
		if c.p.timers.posix == nil {
			c.p.timers.posix = make(map[int32]*timer)
		}
		id := -int32(c.int(0))
		if c.p.timers.posix[id] == nil {
			c.p.timers.posix[id] = c.p.addTimer(unix.CLOCK_PROCESS_CPUTIME_ID, func(int64) {
				c.p.sendProcess(siginfo{signo: signo, code: siKernel}, nil)
			})
		}
		return c.p.timers.posix[id]
	}
	return nil
}

func (c *call) putItimer(addr uint64, t *timer) unix.Errno {
	var b [32]byte
	putTimeval(b[0:], t.interval)
	putTimeval(b[16:], c.p.left(t))
	return c.write(addr, b[:])
}

func sysSetitimer(c *call) int64 {
	t := c.itimer()
	if t == nil {
		return fail(unix.EINVAL)
	}
	var first, interval int64
	if c.args[1] != 0 {
		var b [32]byte
		if e := c.read(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
		interval, first = getTimeval(b[0:]), getTimeval(b[16:])
		if first < 0 || interval < 0 {
			return fail(unix.EINVAL)
		}
	}
	if c.args[2] != 0 {
		if e := c.putItimer(c.args[2], t); e != 0 {
			return fail(e)
		}
	}
	c.p.arm(t, first, interval)
	return 0
}

func sysGetitimer(c *call) int64 {
	t := c.itimer()
	if t == nil {
		return fail(unix.EINVAL)
	}
	return -int64(c.putItimer(c.args[1], t))
}

func sysTimerCreate(c *call) int64 {
	p := c.p
	clock := int32(c.int(0))
	if _, e := p.gettime(c.t, clock); e != 0 {
		return fail(e)
	}
	// struct sigevent: value, signo, notify, tid. SIGEV_SIGNAL 0, NONE 1, THREAD_ID 4.
	p.timers.lastID++
	id := p.timers.lastID
	signo, notify, value, to := int(unix.SIGALRM), 0, uint64(id), emulate.ThreadID(0)
	if c.args[1] != 0 {
		var b [64]byte
		if e := c.read(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
		value, signo, notify = le64(b[0:]), int(le32(b[8:])), int(le32(b[12:]))
		if notify == 4 {
			t := p.thread(int(le32(b[16:])))
			if t == nil {
				return fail(unix.EINVAL)
			}
			to = t.ID
		}
		if notify != 1 && (signo < 1 || signo > maxSignal) || notify != 0 && notify != 1 && notify != 4 {
			return fail(unix.EINVAL)
		}
	}
	if p.timers.posix == nil {
		p.timers.posix = make(map[int32]*timer)
	}
	p.timers.posix[id] = p.addTimer(clock, func(int64) {
		if notify == 1 {
			return
		}
		s := siginfo{signo: signo, code: siTimer, pid: int(id), value: value}
		for _, t := range p.threads {
			if t.ID == to {
				p.sendThread(t, s)
				return
			}
		}
		if to == 0 {
			p.sendProcess(s, nil)
		}
	})
	var b [4]byte
	put32(b[:], uint32(id))
	return c.answer(c.args[2], b[:], 0)
}

// setTimer is timer_settime and timerfd_settime, with the itimerspecs at from
// and to.
func (c *call) setTimer(t *timer, flags int, from, to uint64) int64 {
	interval, e := c.getTimespec(from)
	if e != 0 {
		return fail(e)
	}
	first, e := c.getTimespec(from + 16)
	if e != 0 {
		return fail(e)
	}
	if to != 0 {
		if r := c.getTimer(t, to); r != 0 {
			return r
		}
	}
	if flags&1 != 0 && first > 0 { // TIMER_ABSTIME
		now, _ := c.p.gettime(c.t, t.clock)
		first = max(first-now, 1)
	}
	c.p.arm(t, first, interval)
	return 0
}

func (c *call) getTimer(t *timer, to uint64) int64 {
	var b [32]byte
	putTimespec(b[0:], t.interval)
	putTimespec(b[16:], c.p.left(t))
	return c.answer(to, b[:], 0)
}

func (c *call) posixTimer() *timer {
	if c.int(0) <= 0 {
		return nil
	}
	return c.p.timers.posix[int32(c.int(0))]
}

func sysTimerSettime(c *call) int64 {
	t := c.posixTimer()
	if t == nil {
		return fail(unix.EINVAL)
	}
	return c.setTimer(t, c.int(1), c.args[2], c.args[3])
}

func sysTimerGettime(c *call) int64 {
	t := c.posixTimer()
	if t == nil {
		return fail(unix.EINVAL)
	}
	return c.getTimer(t, c.args[1])
}

func sysTimerDelete(c *call) int64 {
	t := c.posixTimer()
	if t == nil {
		return fail(unix.EINVAL)
	}
	c.p.dropTimer(t)
	delete(c.p.timers.posix, int32(c.int(0)))
	return 0
}

func sysTimerfdCreate(c *call) int64 {
	clock := int32(c.int(0))
	if _, e := c.p.gettime(c.t, clock); e != 0 || clock < 0 {
		return fail(unix.EINVAL)
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return status(err)
	}
	keep, err := dupHost(fd)
	if err != nil {
		return status(err)
	}
	f := &fdTimer{host: keep, refs: 1, p: c.p}
	f.timer = c.p.addTimer(clock, func(n int64) {
		var b [8]byte
		put64(b[:], uint64(n))
		unix.Write(keep, b[:])
		c.p.fam.pokeFds()
	})
	return c.adopt(fd, "anon_inode:[timerfd]", c.int(1)&unix.O_CLOEXEC != 0, func(d *file) {
		d.timer = f
		d.nonblock = c.int(1)&unix.O_NONBLOCK != 0
	})
}

func sysTimerfdSettime(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if d.file.timer == nil {
		return fail(unix.EINVAL)
	}
	var b [8]byte
	unix.Read(d.file.timer.host, b[:]) // arming forgets what has expired
	return c.setTimer(d.file.timer.timer, c.int(1), c.args[2], c.args[3])
}

func sysTimerfdGettime(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if d.file.timer == nil {
		return fail(unix.EINVAL)
	}
	return c.getTimer(d.file.timer.timer, c.args[1])
}
