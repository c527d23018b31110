package linux

import (
	"time"

	"golang.org/x/sys/unix"
)

// The virtual clock. Time follows what the guest executes; while every thread
// waits it jumps to the next deadline. Units that run side by side share it.
const (
	psPerInstr   = 500              // an instruction takes this many picoseconds of one unit
	nsPerSyscall = 150              // a system call takes this long
	bootTime     = 1000 * 1e9       // CLOCK_MONOTONIC at the start, ns
	tscPerNs     = 2                // time stamp counter, cycles per ns
	never        = int64(1<<63 - 1) // a deadline that doesn't come
)

// clock keeps the guest's time. Times are ns of CLOCK_MONOTONIC.
type clock struct {
	host    bool
	ps      int64 // virtual time in ps beyond now
	now     int64 // ns, at the start of the slice under way
	began   int64 // now, when the guest started
	real    int64 // CLOCK_REALTIME minus CLOCK_MONOTONIC
	start   time.Time
	busy    int64    // units that run threads in the slice under way
	of      *Process // whose slice is under way, or was last
	counted uint64   // instruction count of the running thread up to which time is accounted
}

func (p *Process) initClock(modTime int64) {
	c := &clock{}
	p.clock = c
	c.host = p.cfg.HostClock
	c.start = time.Now()
	c.now = bootTime
	c.busy = 1
	c.real = modTime - bootTime
	if c.host {
		var m, r unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &m)
		unix.ClockGettime(unix.CLOCK_REALTIME, &r)
		c.now = m.Nano()
		c.real = r.Nano() - m.Nano()
	}
	c.began = c.now
}

// Now returns CLOCK_MONOTONIC in ns. It may be called while a thread runs.
func (p *Process) Now() int64 {
	c := p.clock
	if c.host {
		return c.now + int64(time.Since(c.start))
	}
	if p.cur != nil && c.of == p {
		c.advance(p.cur.instrCount() - c.counted)
		c.counted = p.cur.instrCount()
	}
	return c.now
}

// startTime is CLOCK_REALTIME when the guest started, in ns.
func (c *clock) startTime() int64 { return c.real + c.began }

// advance accounts n instructions of one of the busy units.
func (c *clock) advance(n uint64) {
	c.ps += int64(n) * psPerInstr / c.busy
	c.now += c.ps / 1000
	c.ps %= 1000
}

// pass lets ns pass.
func (c *clock) pass(ns int64) {
	if !c.host {
		c.now += ns
	}
}

// tsc is the time stamp counter.
func (p *Process) tsc() uint64 { return uint64(p.Now()) * tscPerNs }

// gettime is clock_gettime(2) for thread t.
func (p *Process) gettime(t *Thread, id int32) (int64, unix.Errno) {
	switch id {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_TAI:
		return p.Now() + p.clock.real, 0
	case unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_COARSE, unix.CLOCK_MONOTONIC_RAW,
		unix.CLOCK_BOOTTIME, unix.CLOCK_BOOTTIME_ALARM:
		return p.Now(), 0
	case unix.CLOCK_PROCESS_CPUTIME_ID:
		return p.cpuTime(), 0
	case unix.CLOCK_THREAD_CPUTIME_ID:
		return t.cpuTime(), 0
	}
	if id < 0 {
		// A thread's or process's CPU clock: ~pid<<3 | 4 for a thread | kind.
		pid := int(^(id >> 3))
		if id&4 != 0 {
			if pid == 0 {
				return t.cpuTime(), 0
			}
			if u := p.thread(pid); u != nil {
				return u.cpuTime(), 0
			}
		} else if pid == 0 || pid == p.PID {
			return p.cpuTime(), 0
		}
	}
	return 0, unix.EINVAL
}

// cpuTime is the time that t has run, in ns.
func (t *Thread) cpuTime() int64 {
	return int64(t.instrCount()) * psPerInstr / 1000
}

// cpuTime is the time that all threads have run, in ns.
func (p *Process) cpuTime() int64 {
	n := p.exitedInstr
	for _, t := range p.threads {
		n += t.instrCount()
	}
	return int64(n) * psPerInstr / 1000
}

// instrCount is the number of instructions that t has executed.
func (t *Thread) instrCount() uint64 { return t.CPU.InstrCount() }

// Instructions returns how many instructions all threads have executed.
func (p *Process) Instructions() uint64 {
	n := p.exitedInstr
	for _, t := range p.threads {
		n += t.CPU.Count
	}
	return n
}

// timespec converts ns.
func timespec(ns int64) unix.Timespec { return unix.NsecToTimespec(ns) }

// saturate adds a duration to a time without wrapping.
func saturate(a, d int64) int64 {
	if d > never-a {
		return never
	}
	return a + d
}

// setBusy says how many units run side by side from now on.
func (c *clock) setBusy(n int) { c.busy = int64(n) }
