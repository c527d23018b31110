package linux

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A Thread is one thread of the guest.
type Thread struct {
	ID   emulate.ThreadID
	TID  int // as gettid shows it
	CPU  *x86.CPU
	Name string // at most 15 bytes, as prctl(PR_SET_NAME) sets it
	Rec  any    // the Hooks implementation's own

	p     *Process
	state threadState
	call  call  // the system call under way
	wait  *wait // what it waits for, if it blocks

	mask      sigset  // blocked signals
	savedMask *sigset // mask to return to after the call under way (sigsuspend, ppoll)
	sigwait   sigset  // signals that the call under way waits for (sigtimedwait)
	pending   sigqueue
	alt       altStack
	// interrupted is set between the end of a call that a signal cut short and
	// the set-up of the handler's frame.
	interrupted bool
	// What the last fault was, for signal frames.
	trap, trapErr, cr2 uint64

	robust    uint64 // head of the robust futex list
	clearTID  uint64 // address to zero and wake at exit
	prio      uint64 // SchedulePCT: higher runs first
	unit      int    // the processing unit it lives on
	affinity  uint64 // units it may run on
	policy    int    // SCHED_OTHER and its like: a number only
	nextSlice int    // length of its next slice, if not 0
	favoured  uint64 // instructions executed while others could run, since it waited or fell behind (pct)
	atomics   int    // atomic instructions that it met while others could run
	noYield   bool   // it was pre-empted before the atomic instruction at RIP
	split     bool   // it was pre-empted inside the instruction at RIP
}

// threadState says whether a thread can run.
type threadState uint8

const (
	_ threadState = iota
	threadRunnable
	threadBlocked
	threadExited
)

// newThread makes a thread with empty registers. The caller starts it.
func (p *Process) newThread(tid int) *Thread {
	*p.lastThread++
	t := &Thread{
		ID:       *p.lastThread,
		TID:      tid,
		p:        p,
		state:    threadRunnable,
		affinity: p.allUnits(),
	}
	t.CPU = p.newCPU()
	t.call.t, t.call.p = t, p
	t.prio = p.sched.newPriority()
	p.threads = append(p.threads, t)
	p.sched.place(t)
	return t
}

// newCPU returns a processor as a program finds it.
func (p *Process) newCPU() *x86.CPU {
	c := &x86.CPU{Mem: p.hooks, Env: p.hooks, Blocks: p.blocks, MXCSR: mxcsrInit}
	c.F.Init()
	return c
}

// mxcsrInit is MXCSR when a process starts: all exceptions masked.
const mxcsrInit = 0x1f80

// Units returns the number of processing units.
func (p *Process) Units() int { return p.cfg.Cores }

func (p *Process) allUnits() uint64 {
	if p.cfg.Cores == 64 {
		return ^uint64(0)
	}
	return 1<<p.cfg.Cores - 1
}

// thread returns the live thread with number tid, or nil.
func (p *Process) thread(tid int) *Thread {
	for _, t := range p.threads {
		if t.TID == tid {
			return t
		}
	}
	return nil
}

// exitThread ends t: it tells others through the addresses that t registered.
// The thread is gone from p.threads afterwards.
func (p *Process) exitThread(t *Thread, status int) {
	p.exitRobust(t)
	if t.clearTID != 0 {
		if p.AS.write32(t, t.clearTID, 0) == 0 {
			p.futexWake(p.futexKey(t.clearTID, false), 1, ^uint32(0))
		}
	}
	p.endThread(t, status)
}

// endThread takes t out of the process without telling the guest.
func (p *Process) endThread(t *Thread, status int) {
	t.unblock()
	t.state = threadExited
	p.exitedInstr += t.CPU.Count
	p.hooks.ThreadExit(t, status, emulate.Addr(t.clearTID))
	if p.cur == t {
		p.settle(t)
		p.hooks.SwitchOut(t)
		p.cur = nil
	}
	for i, u := range p.threads {
		if u == t {
			p.threads = append(p.threads[:i], p.threads[i+1:]...)
			break
		}
	}
}
