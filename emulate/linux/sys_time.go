package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 228, name: "clock_gettime", args: "clock, >time", fn: sysClockGettime},
		{nr: 229, name: "clock_getres", args: "clock, >res", fn: sysClockGetres},
		{nr: 227, name: "clock_settime", args: "clock, <time", refuse: unix.EPERM},
		{nr: 230, name: "clock_nanosleep", args: "clock, flags, <time, >left", fn: sysClockNanosleep},
		{nr: 35, name: "nanosleep", args: "<time, >left", fn: sysNanosleep},
		{nr: 96, name: "gettimeofday", args: ">time, >zone", fn: sysGettimeofday},
		{nr: 164, name: "settimeofday", args: "<time, <zone", refuse: unix.EPERM},
		{nr: 201, name: "time", args: ">time", fn: sysTime},
		{nr: 100, name: "times", args: ">tms", fn: sysTimes},
		{nr: 98, name: "getrusage", args: "who, >usage", fn: sysGetrusage,
			note: "user time and memory only"},
		{nr: 159, name: "adjtimex", args: "~timex", refuse: unix.EPERM},
	})
}

func sysClockGettime(c *call) int64 {
	ns, e := c.p.gettime(c.t, int32(c.int(0)))
	if e != 0 {
		return fail(e)
	}
	return -int64(c.putTimespec(c.args[1], ns))
}

func sysClockGetres(c *call) int64 {
	if _, e := c.p.gettime(c.t, int32(c.int(0))); e != 0 {
		return fail(e)
	}
	if c.args[1] == 0 {
		return 0
	}
	res := int64(1)
	if id := c.int(0); id == unix.CLOCK_REALTIME_COARSE || id == unix.CLOCK_MONOTONIC_COARSE {
		res = 4e6
	}
	return -int64(c.putTimespec(c.args[1], res))
}

func sysNanosleep(c *call) int64 {
	ns, e := c.getTimespec(c.args[0])
	if e != 0 {
		return fail(e)
	}
	return c.sleep(saturate(c.p.Now(), ns), c.args[1])
}

func sysClockNanosleep(c *call) int64 {
	now, e := c.p.gettime(c.t, int32(c.int(0)))
	if e != 0 || c.int(0) == unix.CLOCK_THREAD_CPUTIME_ID {
		return fail(unix.EINVAL)
	}
	ns, e := c.getTimespec(c.args[2])
	if e != 0 {
		return fail(e)
	}
	if c.int(1)&unix.TIMER_ABSTIME == 0 {
		return c.sleep(saturate(c.p.Now(), ns), c.args[3])
	}
	if ns == never {
		return c.sleep(never, 0)
	}
	return c.sleep(saturate(c.p.Now(), max(ns-now, 0)), 0)
}

// sleep waits until a time of the clock; interrupted, it writes what is left
// to addr if that isn't 0.
func (c *call) sleep(until int64, addr uint64) int64 {
	if c.deadline != 0 {
		until = c.deadline
	}
	c.deadline = until
	intr := int64(erestartNoHand)
	return c.t.block(&wait{
		what:      c.row.name,
		deadline:  until,
		onTimeout: func() int64 { return 0 },
		try:       func() int64 { return blocked },
		outside:   until == never && c.p.hostSignals != nil,
		intr:      intr,
		onIntr: func() {
			if addr != 0 {
				c.putTimespec(addr, max(until-c.p.Now(), 0))
			}
		},
	})
}

func sysGettimeofday(c *call) int64 {
	if c.args[0] != 0 {
		var b [16]byte
		putTimeval(b[:], c.p.Now()+c.p.clock.real)
		if e := c.write(c.args[0], b[:]); e != 0 {
			return fail(e)
		}
	}
	if c.args[1] != 0 {
		return c.answer(c.args[1], make([]byte, 8), 0)
	}
	return 0
}

func sysTime(c *call) int64 {
	sec := (c.p.Now() + c.p.clock.real) / 1e9
	if c.args[0] != 0 {
		var b [8]byte
		put64(b[:], uint64(sec))
		return c.answer(c.args[0], b[:], sec)
	}
	return sec
}

// ticks is USER_HZ.
const ticks = 100

func sysTimes(c *call) int64 {
	if c.args[0] != 0 {
		var b [32]byte
		put64(b[:], uint64(c.p.cpuTime()/(1e9/ticks)))
		if e := c.write(c.args[0], b[:]); e != 0 {
			return fail(e)
		}
	}
	return c.p.Now() / (1e9 / ticks)
}

func sysGetrusage(c *call) int64 {
	var u unix.Rusage
	switch c.int(0) {
	case unix.RUSAGE_SELF:
		u.Utime = unix.NsecToTimeval(c.p.cpuTime())
		u.Maxrss = int64(c.p.AS.pool.used) * (PageSize >> 10)
	case unix.RUSAGE_THREAD:
		u.Utime = unix.NsecToTimeval(c.t.cpuTime())
		u.Maxrss = int64(c.p.AS.pool.used) * (PageSize >> 10)
	case unix.RUSAGE_CHILDREN:
	default:
		return fail(unix.EINVAL)
	}
	return c.answer(c.args[1], structBytes(&u), 0)
}
