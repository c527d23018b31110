package linux

import (
	"golang.org/x/sys/unix"
)

// A wait is a system call that can't finish yet. The thread is blocked until
// something wakes it: a result (futex), a descriptor that may be ready, the
// deadline, or a signal. It then finishes when it next runs.
type wait struct {
	what string // for the message about a deadlock: "futex 0x… ", "read from 5"

	// try finishes the call if it can, else returns blocked. It runs when the
	// thread has been woken without a result. nil: the handler runs again.
	try func() int64
	// deadline is when timeout supplies the result (ns of the clock; never).
	deadline  int64
	onTimeout func() int64
	// fds are the host descriptors whose readiness wakes the thread.
	fds []unix.PollFd
	// outside is set if something else than the guest can make fds ready, or
	// (without fds) if the wait is for a signal.
	outside bool
	// solid: no signal ends the wait.
	solid bool
	// children: a child's end wakes the thread.
	children bool
	// locks: a file lock that somebody gives back wakes the thread.
	locks bool
	// intr is the result if a signal's handler interrupts the wait; onIntr,
	// if set, runs first.
	intr   int64
	onIntr func()
	// undo takes the thread out of the queues that it waits in.
	undo func()

	// onResult, if set, runs when complete's result is taken.
	onResult func()

	result   int64 // set by complete
	done     bool  // result is valid
	timedOut bool
	watch    *watch
}

// Results of a handler beside a value or a negated errno.
const (
	blocked  = -1 << 40 // the call waits: Thread.wait says for what
	noReturn = -2 << 40 // the call doesn't return to where it was made
)

// The kernel's own codes for calls that a signal interrupted: what they turn
// into depends on the handler.
const (
	erestartSys    = -512 // restart if SA_RESTART, else EINTR
	erestartNoHand = -514 // EINTR if a handler ran
)

// timerSlack is how much later than asked for a thread wakes, in ns of the
// virtual clock: Linux's default (prctl(2), PR_SET_TIMERSLACK). Without it, a
// program that polls with sleeps of a microsecond would do so fifty times as
// often as on a real machine.
const timerSlack = 50_000

// block makes t wait. It returns what the handler must return.
func (t *Thread) block(w *wait) int64 {
	if w.intr == 0 {
		w.intr = erestartSys
	}
	if w.onTimeout == nil {
		w.deadline = never
	}
	if w.deadline != never && !t.p.clock.host {
		w.deadline = saturate(w.deadline, timerSlack)
	}
	t.wait = w
	t.state = threadBlocked
	p := t.p
	p.nextDeadline = min(p.nextDeadline, w.deadline)
	if len(w.fds) > 0 {
		p.fdWaiters++
		if w.outside {
			t.watchOutside()
		}
	}
	return blocked
}

// unblock takes t out of all queues. Its wait, if any, stays for its result.
func (t *Thread) unblock() {
	w := t.wait
	if w == nil || t.state != threadBlocked {
		return
	}
	if w.undo != nil {
		w.undo()
		w.undo = nil
	}
	if len(w.fds) > 0 {
		t.p.fdWaiters--
	}
	if w.watch != nil {
		w.watch.cancel()
		w.watch = nil
	}
}

// wake makes a blocked thread runnable; it will try again.
func (t *Thread) wake() {
	if t.state != threadBlocked {
		return
	}
	t.unblock()
	t.state = threadRunnable
	t.p.fam.woke = true
	t.p.sched.woken(t)
}

// complete wakes t with the result of its call.
func (t *Thread) complete(result int64) {
	if t.state != threadBlocked {
		return
	}
	t.wait.result, t.wait.done = result, true
	t.wake()
}

// finish is what a woken thread does first: it returns the result of its call,
// or blocked if it has to go on waiting.
func (t *Thread) finish() int64 {
	w := t.wait
	t.wait = nil
	switch {
	case w.done:
		if w.onResult != nil {
			w.onResult()
		}
		return w.result
	case w.timedOut:
		return w.onTimeout()
	}
	var r int64
	if w.try != nil {
		r = w.try()
	} else {
		r = t.call.row.fn(&t.call)
	}
	if r != blocked {
		return r
	}
	if t.state != threadBlocked {
		t.block(w)
	}
	return t.pendingBreak()
}

// pendingBreak ends a wait that has just begun if a signal is there already.
func (t *Thread) pendingBreak() int64 {
	if t.wait.solid || !t.p.deliverable(t) {
		return blocked
	}
	return t.interrupt()
}

// interrupt ends t's wait because a signal will be handled.
func (t *Thread) interrupt() int64 {
	w := t.wait
	t.unblock()
	t.state = threadRunnable
	t.wait = nil
	if w.onIntr != nil {
		w.onIntr()
	}
	return w.intr
}

// expire wakes every thread whose deadline has come, and fires timers.
func (p *Process) expire() {
	now := p.Now()
	if now < p.nextDeadline && !p.cpuDue() {
		return
	}
	p.nextDeadline = never
	for _, t := range p.threads {
		if t.state != threadBlocked || t.wait.deadline == never {
			continue
		}
		if t.wait.deadline <= now {
			t.wait.timedOut = true
			t.wake()
		} else {
			p.nextDeadline = min(p.nextDeadline, t.wait.deadline)
		}
	}
	p.fireTimers(now)
}

// pokeOwn wakes the threads that wait for descriptors that are now ready.
func (p *Process) pokeOwn() {
	if p.fdWaiters == 0 {
		return
	}
	for _, t := range p.threads {
		if t.state != threadBlocked || len(t.wait.fds) == 0 {
			continue
		}
		if n, err := unix.Poll(t.wait.fds, 0); n > 0 || (err != nil && err != unix.EINTR) {
			t.wake()
		}
	}
}
