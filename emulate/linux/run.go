package linux

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Run executes the guest to its end. The error is an *Unsupported, a
// *Deadlock, or what Interrupt was given; the guest is gone
// in any case, its threads have had their ThreadExit, and p can't be run again.
//
// When the guest ends before what it forked, that goes on to its end, too.
func (p *Process) Run() (ExitStatus, error) {
	f := p.fam
	defer p.shutdown()
	for len(f.members) > 0 {
		p.listen()
		p.AS.listenFiles(false)
		select {
		case <-p.stopped:
			return p.status, p.stopErr
		default:
		}
		ran, err := f.turn()
		if err != nil {
			return p.status, err
		}
		if ran || p.idle() {
			continue
		}
		if p.exited {
			return p.status, nil // what is left waits for ever
		}
		return p.status, p.deadlock()
	}
	return p.status, nil
}

// shutdown ends everybody who is left and gives everything back to the host.
func (p *Process) shutdown() {
	f := p.fam
	for len(f.members) > 0 {
		f.leave(f.members[len(f.members)-1])
	}
	f.closeAsync()
	unix.Umask(f.umask0)
	for _, p := range f.parcels {
		unix.Close(p.host)
	}
	p.closeOutside()
	p.AS.physical.close()
}

// settle brings the clock up to date with the running thread.
func (p *Process) settle(t *Thread) {
	if p.clock.of != p {
		return
	}
	if !p.clock.host {
		p.clock.advance(t.CPU.Count - p.clock.counted)
	}
	p.clock.counted = t.CPU.Count
}

// longestTurn is the number of instructions after which a thread that goes on
// alone is switched out and in, for hooks that act at these occasions.
const longestTurn = 100_000

// switchTo gives t its unit.
func (p *Process) switchTo(t *Thread) {
	if p.cur == t && p.curUnit == t.unit && t.CPU.Count-p.turn < longestTurn {
		return
	}
	if p.cur != nil {
		p.hooks.SwitchOut(p.cur)
	}
	p.cur, p.curUnit, p.turn = t, t.unit, t.CPU.Count
	p.clock.counted = t.CPU.Count
	p.hooks.SwitchIn(t, t.unit)
}

// slice runs t for about n instructions.
func (p *Process) slice(t *Thread, n int) error {
	p.switchTo(t)
	p.useUmask()
	c := t.CPU
	start := c.Count
	p.clock.of, p.clock.counted = p, start
	defer func() {
		p.settle(t)
		p.sched.ran(t, c.Count-start)
	}()
	if t.wait != nil {
		if r := t.finish(); r != blocked {
			p.finishCall(t, r)
		}
		if t.state != threadRunnable || p.exited {
			return nil
		}
	}
	if t.split {
		t.split = false
		if s := c.FinishSplit(); s.Kind != x86.StopLimit {
			if err := p.stop(t, s); err != nil {
				return err
			}
		}
	}
	p.deliver(t)
	end := start + uint64(n)
	for t.state == threadRunnable && !p.exited && !p.halted && c.Count < end {
		s := c.Run(end - c.Count)
		switch s.Kind {
		case x86.StopLimit:
			return p.maybeSplit(t)
		case x86.StopSyscall:
			p.settle(t)
			p.fam.woke = false
			if err := p.syscall(t); err != nil {
				return err
			}
			if p.sched.afterCall(p.fam.woke) {
				return nil
			}
		default:
			if err := p.stop(t, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop handles what a thread can't go on from by itself.
func (p *Process) stop(t *Thread, s x86.Stop) error {
	switch s.Kind {
	case x86.StopFault:
		if s.Unsupported() {
			if err := p.illegal(t, &s); err != nil {
				return err
			}
		}
		p.fault(t, &s)
		return nil
	case x86.StopYield:
		if s.Err == errMemory {
			// As Linux's last resort does, when what was promised isn't there.
			p.fam.refused(fmt.Sprintf("memory beyond the limit of %d MiB", p.AS.pool.limit>>(20-pageShift)), "SIGKILL")
			p.kill(unix.SIGKILL)
			return nil
		}
		return s.Err
	case x86.StopBreak:
		if h, ok := p.hooks.(BreakHooks); ok {
			h.Break(t)
		}
		return nil
	}
	panic(fmt.Sprintf("BUG: thread %d stopped at %#x for a reason that can't be: %v", t.ID, t.CPU.RIP, s.Kind))
}

// illegal counts an instruction that the processor doesn't have: the guest gets a
// SIGILL, unless the configuration is strict.
func (p *Process) illegal(t *Thread, s *x86.Stop) error {
	u := &Unsupported{
		What:   fmt.Sprintf("instruction % x", p.bytesAt(t.CPU.RIP, s.Bytes)),
		Thread: t.ID, Count: emulate.Count(t.CPU.Count), RIP: emulate.Addr(t.CPU.RIP),
	}
	if p.cfg.Strict {
		return u
	}
	p.fam.refused(fmt.Sprintf("%s at %v", u.What, u.RIP), "SIGILL")
	return nil
}

// bytesAt returns what stands at pc, up to shownBytes; got is what the decoder
// read of it.
func (p *Process) bytesAt(pc uint64, got []byte) []byte {
	b := make([]byte, shownBytes)
	if n := p.AS.Peek(emulate.Addr(pc), b); n > len(got) {
		return b[:n]
	}
	return got
}

// shownBytes is how much an error shows of an instruction.
const shownBytes = 8

// maybeSplit lets t, at the end of its slice, sometimes stop in the middle of
// an instruction: an unlocked read-modify-write, the load done and the store
// not yet, or a repeated string instruction after some iterations.
func (p *Process) maybeSplit(t *Thread) error {
	s := &p.sched
	if s.runnable+s.beside < 2 || s.policy == ScheduleRR || !s.rng.one(splitOdds) {
		return nil
	}
	reps, _ := p.hooks.(RepHooks)
	c := t.CPU
	for i := 0; i < huntSteps; i++ {
		switch {
		case c.CanSplit():
			if stop := c.RunSplit(); stop.Kind == x86.StopLimit {
				t.split = true
				p.hooks.Split(t)
			}
			return nil // a load that can't be done is met again
		case reps != nil && c.IsRep():
			k := uint64(1 + s.rng.below(repIters))
			stop, done := c.RunRep(k)
			if stop.Kind != x86.StopLimit {
				return p.stop(t, stop)
			}
			if !done {
				reps.Rep(t, k)
			}
			return nil
		}
		if stop := c.Run(1); stop.Kind != x86.StopLimit {
			return nil // the next slice meets it again
		}
	}
	return nil
}

// deadlock describes what everybody waits for.
func (p *Process) deadlock() error {
	d := &Deadlock{}
	for _, q := range p.fam.members {
		for _, t := range q.threads {
			who := fmt.Sprintf("thread %d", t.ID)
			if len(p.fam.members) > 1 {
				who = fmt.Sprintf("process %d, thread %d", q.PID, t.TID)
			}
			if t.wait == nil {
				d.Waits = append(d.Waits, who+" is stopped by a signal")
				continue
			}
			d.Waits = append(d.Waits, fmt.Sprintf("%s in %s at %#x", who, t.wait.what, t.CPU.RIP))
		}
	}
	return d
}

// Nondet executes the non-deterministic part of an instruction of t: it fills
// the registers that the instruction sets (RAX, RBX, RCX, RDX; dst, in full, for
// RDRAND, RDSEED and RDPID, which the CPU narrows).
func (p *Process) Nondet(t *Thread, what x86.NondetKind, dst uint8) {
	c := t.CPU
	switch what {
	case x86.CPUID:
		a, b, cx, d := p.cfg.CPU.CPUID(uint32(c.R[0]), uint32(c.R[1]))
		c.R[0], c.R[3], c.R[1], c.R[2] = uint64(a), uint64(b), uint64(cx), uint64(d)
	case x86.RDTSC, x86.RDTSCP:
		v := p.tsc()
		c.R[0], c.R[2] = v&0xffffffff, v>>32
		if what == x86.RDTSCP {
			c.R[1] = uint64(t.unit)
		}
	case x86.RDRAND, x86.RDSEED:
		c.R[dst] = p.rng.next()
	case x86.RDPID:
		c.R[dst] = uint64(t.unit)
	case x86.XGETBV:
		v := uint64(x86.XCR0)
		if uint32(c.R[1]) == 1 {
			v = c.XInUse()
		}
		c.R[0], c.R[2] = v, 0
	}
}
