package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A sigset is a set of signals: bit n-1 is signal n.
type sigset uint64

func (s sigset) has(n int) bool { return s>>(n-1)&1 != 0 }

func sigbit(n int) sigset { return 1 << (n - 1) }

const (
	maxSignal = 64
	firstRT   = 32 // signals from here on queue

	sigDfl = 0
	sigIgn = 1

	unmaskable = 1<<(uint(unix.SIGKILL)-1) | 1<<(uint(unix.SIGSTOP)-1)
)

// Flags of a sigaction, as asm-generic/signal-defs.h numbers them.
const (
	saNoCldStop = 0x1
	saNoCldWait = 0x2
	saSigInfo   = 0x4
	saRestorer  = 0x04000000
	saOnStack   = 0x08000000
	saRestart   = 0x10000000
	saNoDefer   = 0x40000000
	saResetHand = 0x80000000
)

// si_code values.
const (
	siUser    = 0
	siKernel  = 0x80
	siQueue   = -1
	siTimer   = -2
	siTkill   = -6
	segvMap   = 1 // SEGV_MAPERR
	segvAcc   = 2 // SEGV_ACCERR
	busAdrErr = 2 // BUS_ADRERR
	fpeIntDiv = 1
	fpeFltDiv = 3
	fpeFltOvf = 4
	fpeFltUnd = 5
	fpeFltRes = 6
	fpeFltInv = 7
	illIllOpn = 2
	trapBrkpt = 1
	trapTrace = 2 // TRAP_TRACE
)

// A sigaction is what the guest wants done with a signal.
type sigaction struct {
	handler  uint64
	flags    uint64
	restorer uint64
	mask     sigset
}

// A siginfo is one signal on its way.
type siginfo struct {
	signo int
	code  int32
	pid   int
	uid   int
	value uint64 // sigval; of a timer: overrun<<32 | id in pid
	addr  uint64 // of a fault
	trap  uint64 // vector and error code of a fault
	err   uint64
	fault bool // addr, trap, err are valid: si_addr is part of it
	io    bool // band and fd are valid, of a descriptor that is ready
	band  uint64
	fd    int
	from  emulate.ThreadID
}

// A sigqueue holds the signals that wait for delivery.
type sigqueue struct {
	set  sigset
	list []siginfo
}

func (q *sigqueue) add(s siginfo) {
	if q.set.has(s.signo) && s.signo < firstRT {
		return
	}
	q.set |= sigbit(s.signo)
	q.list = append(q.list, s)
}

// take removes the first signal in want, the lowest number first.
func (q *sigqueue) take(want sigset) (siginfo, bool) {
	if q.set&want == 0 {
		return siginfo{}, false
	}
	best := -1
	for i, s := range q.list {
		if want.has(s.signo) && (best < 0 || s.signo < q.list[best].signo) {
			best = i
		}
	}
	s := q.list[best]
	q.list = append(q.list[:best], q.list[best+1:]...)
	q.set &^= sigbit(s.signo)
	for _, r := range q.list {
		q.set |= sigbit(r.signo)
	}
	return s, true
}

// drop forgets every pending signal n.
func (q *sigqueue) drop(n int) {
	keep := q.list[:0]
	for _, s := range q.list {
		if s.signo != n {
			keep = append(keep, s)
		}
	}
	q.list = keep
	q.set &^= sigbit(n)
}

// altStack is what sigaltstack(2) set.
type altStack struct {
	sp, size uint64
	flags    uint32 // ssAutoDisarm, or 0
	on       bool   // enabled
}

const (
	ssOnStack    = 1
	ssDisable    = 2
	ssAutoDisarm = 1 << 31
	minSigStack  = 2048
)

// holds reports whether sp lies on the stack.
func (a *altStack) holds(sp uint64) bool {
	return a.on && a.flags&ssAutoDisarm == 0 && sp > a.sp && sp-a.sp <= a.size
}

// defaultIgnored are the signals whose default action is to do nothing.
const defaultIgnored sigset = 1<<(uint(unix.SIGCHLD)-1) | 1<<(uint(unix.SIGURG)-1) |
	1<<(uint(unix.SIGWINCH)-1) | 1<<(uint(unix.SIGCONT)-1)

// stopping are the signals whose default action is to stop the process.
const stopping sigset = 1<<(uint(unix.SIGSTOP)-1) | 1<<(uint(unix.SIGTSTP)-1) |
	1<<(uint(unix.SIGTTIN)-1) | 1<<(uint(unix.SIGTTOU)-1)

// ignored reports whether delivery of signal n would do nothing.
func (p *Process) ignored(n int) bool {
	h := p.actions[n].handler
	return h == sigIgn || h == sigDfl && defaultIgnored.has(n)
}

// beforeSignal does what sending a signal does before anybody handles it:
// SIGCONT makes stopped processes go on, and SIGKILL those that die.
func (p *Process) beforeSignal(n int) {
	switch n {
	case int(unix.SIGKILL):
		p.halted = false
	case int(unix.SIGCONT):
		p.resume()
		p.drop(stopping)
	case int(unix.SIGSTOP), int(unix.SIGTSTP), int(unix.SIGTTIN), int(unix.SIGTTOU):
		p.drop(sigbit(int(unix.SIGCONT)))
	}
}

// drop forgets the pending signals of a set.
func (p *Process) drop(set sigset) {
	for n := 1; n <= maxSignal; n++ {
		if set.has(n) {
			p.pending.drop(n)
			for _, t := range p.threads {
				t.pending.drop(n)
			}
		}
	}
}

// sendThread makes s pending for t.
func (p *Process) sendThread(t *Thread, s siginfo) {
	p.beforeSignal(s.signo)
	if p.ignored(s.signo) && !t.mask.has(s.signo) && !t.waitsFor(s.signo) {
		return
	}
	t.pending.add(s)
	p.pokeSignals()
	p.alert(t)
}

// sendProcess makes s pending for the process, or for t if it isn't nil.
func (p *Process) sendProcess(s siginfo, t *Thread) {
	if t != nil {
		p.sendThread(t, s)
		return
	}
	p.beforeSignal(s.signo)
	waited := false
	for _, u := range p.threads {
		waited = waited || u.waitsFor(s.signo)
	}
	if p.ignored(s.signo) && !waited && (len(p.threads) == 0 || !p.threads[0].mask.has(s.signo)) {
		return
	}
	p.pending.add(s)
	p.pokeSignals()
	for _, u := range p.threads {
		if u.waitsFor(s.signo) {
			p.alert(u)
			return
		}
	}
	for _, u := range p.threads {
		if !u.mask.has(s.signo) {
			p.alert(u)
			return
		}
	}
}

// waitsFor reports whether t is in a sigtimedwait for signal n.
func (t *Thread) waitsFor(n int) bool {
	return t.state == threadBlocked && t.wait != nil && t.sigwait.has(n)
}

// alert wakes t if it waits and has a signal to handle.
func (p *Process) alert(t *Thread) {
	if t.state != threadBlocked || t.wait.solid {
		return
	}
	if (t.pending.set|p.pending.set)&t.sigwait != 0 || p.deliverable(t) {
		t.wake()
	}
}

// deliverable reports whether t has a signal to handle, or one that kills.
// Signals that would be ignored are dropped on the way.
func (p *Process) deliverable(t *Thread) bool {
	set := (t.pending.set | p.pending.set) &^ t.mask
	for n := 1; set != 0 && n <= maxSignal; n++ {
		if !set.has(n) {
			continue
		}
		if !p.ignored(n) {
			return true
		}
		set &^= sigbit(n)
		t.pending.drop(n)
		p.pending.drop(n)
	}
	return false
}

// deliver handles t's pending signals: it sets up a handler's frame, or ends
// the process. ret is the result of an interrupted call, if t was in one.
func (p *Process) deliver(t *Thread) {
	for !p.exited && !p.halted && t.state == threadRunnable && (t.pending.set|p.pending.set)&^t.mask != 0 {
		if !p.deliverable(t) {
			return
		}
		s, ok := t.pending.take(^t.mask)
		if !ok {
			s, _ = p.pending.take(^t.mask)
		}
		p.pokeSignals()
		p.handle(t, s)
	}
	if t.savedMask != nil && !p.exited {
		t.mask = *t.savedMask
		t.savedMask = nil
	}
}

// handle does what the guest wants done with s, now, in t.
func (p *Process) handle(t *Thread, s siginfo) {
	a := &p.actions[s.signo]
	switch {
	case a.handler == sigIgn, a.handler == sigDfl && defaultIgnored.has(s.signo):
		return
	case a.handler == sigDfl && stopping.has(s.signo):
		if t.interrupted {
			t.restart(saRestart)
			p.hooks.Context(t)
		}
		p.halt(unix.Signal(s.signo))
		return
	case a.handler == sigDfl:
		p.kill(unix.Signal(s.signo))
		return
	}
	act := *a
	if act.flags&saResetHand != 0 {
		a.handler = sigDfl
	}
	t.restart(act.flags)
	if !t.pushFrame(s, &act) {
		// No room for the frame: Linux forces a SIGSEGV, which kills if its
		// frame can't be made either.
		if s.signo == int(unix.SIGSEGV) || p.actions[unix.SIGSEGV].handler <= sigIgn || t.mask.has(int(unix.SIGSEGV)) {
			p.kill(unix.SIGSEGV)
			return
		}
		p.handle(t, siginfo{signo: int(unix.SIGSEGV), code: siKernel})
		return
	}
	t.mask |= act.mask
	if act.flags&saNoDefer == 0 {
		t.mask |= sigbit(s.signo)
	}
	t.mask &^= unmaskable
	t.savedMask = nil
	p.hooks.Signal(t, s.signo, s.code, emulate.Addr(s.addr), s.from)
}

// restart decides about the call that the signal interrupted: it is made
// again, or fails with EINTR.
func (t *Thread) restart(flags uint64) {
	if !t.interrupted {
		return
	}
	t.interrupted = false
	c := t.CPU
	if r := int64(c.R[0]); flags&saRestart != 0 && (r == erestartSys || r == erestartNoHand && flags == saRestart) {
		c.R[0] = t.call.nr
		c.RIP -= 2
		return
	}
	c.R[0] = errRet(unix.EINTR)
}

// errRet is what a failed call leaves in RAX.
func errRet(e unix.Errno) uint64 { return uint64(-int64(e)) }

// fault turns a processor exception of t into its signal.
func (p *Process) fault(t *Thread, s *x86.Stop) {
	p.hooks.Fault(t, s)
	info := siginfo{code: siKernel, trap: uint64(s.Vector), err: uint64(s.Code), fault: true}
	switch s.Vector {
	case x86.VecDE:
		info.signo, info.code, info.addr = int(unix.SIGFPE), fpeIntDiv, t.CPU.RIP
	case x86.VecMF, x86.VecXM:
		info.signo, info.code, info.addr = int(unix.SIGFPE), t.fpeCode(s.Vector), t.CPU.RIP
	case x86.VecUD:
		info.signo, info.code, info.addr = int(unix.SIGILL), illIllOpn, t.CPU.RIP
	case x86.VecBP, x86.VecDB:
		info.signo, info.code = int(unix.SIGTRAP), siKernel
		switch {
		case s.Vector == x86.VecBP: // a trap: it points behind the instruction
			t.CPU.RIP++
		case s.Code == x86.CodeTrace:
			info.code, info.addr, info.err = trapTrace, t.CPU.RIP, 0
		default: // INT1
			t.CPU.RIP++
			info.code, info.addr = trapBrkpt, t.CPU.RIP
		}
	case x86.VecPF:
		info.signo, info.addr = int(unix.SIGSEGV), s.Addr
		info.code = p.AS.faultCode(s.Addr, s.Code)
		if info.code == -1 {
			info.signo, info.code = int(unix.SIGBUS), busAdrErr
		}
		t.cr2 = s.Addr
		info.err &^= pfPresent
		if e := p.AS.pt.look(s.Addr >> pageShift); e != nil && e.f != nil && e.prot != 0 {
			info.err |= pfPresent
		}
	case x86.VecAC:
		info.signo, info.code = int(unix.SIGBUS), 1
	default:
		info.signo = int(unix.SIGSEGV)
	}
	a := &p.actions[info.signo]
	if t.mask.has(info.signo) || a.handler == sigIgn {
		p.kill(unix.Signal(info.signo)) // a fault that is blocked or ignored kills
		return
	}
	t.trap, t.trapErr = info.trap, info.err
	p.handle(t, info)
}

// faultCode is the si_code of a SIGSEGV, or -1 if the fault is a SIGBUS.
func (as *AddressSpace) faultCode(addr uint64, code uint32) int32 {
	v := as.vmas.find(addr)
	switch {
	case addr >= 1<<47:
		return siKernel
	case v == nil:
		return segvMap
	case v.prot == 0, code&pfWrite != 0 && v.prot&unix.PROT_WRITE == 0,
		code&pfFetch != 0 && v.prot&unix.PROT_EXEC == 0:
		return segvAcc
	}
	return -1
}

// fpeCode is the si_code of a floating-point exception: the highest-ranking
// exception that is set and not masked.
func (t *Thread) fpeCode(vector uint8) int32 {
	var set uint32
	if vector == x86.VecMF {
		set = uint32(t.CPU.F.StatusWord() &^ t.CPU.F.CW)
	} else {
		set = t.CPU.MXCSR &^ (t.CPU.MXCSR >> 7)
	}
	switch {
	case set&1 != 0:
		return fpeFltInv
	case set&4 != 0:
		return fpeFltDiv
	case set&8 != 0:
		return fpeFltOvf
	case set&0x12 != 0:
		return fpeFltUnd
	case set&0x20 != 0:
		return fpeFltRes
	}
	return 0
}

// kill ends the process by a signal.
func (p *Process) kill(s unix.Signal) {
	p.exit(ExitStatus{Signal: s})
}
