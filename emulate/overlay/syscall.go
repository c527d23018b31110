package overlay

import (
	"fmt"

	"github.com/racesim/racesim/emulate/x86"
)

// A Call is a system call that a participant made.
type Call struct {
	NR   uint64
	Args [6]uint64
	Data []byte // what write(2) and its like would have sent, at most 4 KiB
}

const (
	futexCmdMask = 0x7f
	futexWait    = 0
	futexWake    = 1
	futexWaitBS  = 9
	futexWakeBS  = 10
	eagain       = 11
)

// syscall serves the SYSCALL instruction at RIP.
func (p *participant) syscall() {
	c := p.cpu
	nr := c.R[0]
	args := [6]uint64{c.R[7], c.R[6], c.R[2], c.R[10], c.R[8], c.R[9]}

	if nr == sysFutex {
		released := uint64(0)
		if op := args[1] & futexCmdMask; op == futexWake || op == futexWakeBS {
			released = args[0]
		}
		p.run.log.enter(p, nr, args, released)
		p.futex(args)
		return
	}
	if nr == sysSigreturn && p.sigreturn() {
		return
	}
	p.file(nr, args)
	p.run.log.enter(p, nr, args, 0)
	call := Call{NR: nr, Args: args}
	if nr == sysWrite || nr == sysPwrite64 {
		p.run.emptied()
		n := min(args[2], 4096)
		for i := uint64(0); i < n; i++ {
			b, ok := p.peek(args[1] + i)
			if !ok {
				break
			}
			call.Data = append(call.Data, b)
		}
	}
	in := p.recordedCall(nr, args)
	fd, opened := p.reopen(nr, args, in)
	switch {
	case opened && (in == nil || fd != in.Ret):
		p.finishCall(fd)
		p.opened(nr, args, fd)
	case in == nil && nr == sysClose && p.run.reopens.made[int32(args[0])]:
		p.finishCall(0)
	case in != nil:
		if !unseen[nr] && !opened && !p.flushes(nr, args) {
			p.calls = append(p.calls, call)
		}
		if in.NoExit {
			p.exited = true
			if nr == sysExit {
				p.leave()
			}
			p.end(Done, "")
			return
		}
		for _, w := range in.Writes {
			p.forget(w.Addr, w.N)
			if p.run.directed && (nr == sysClone || nr == sysClone3) && w.N == 4 {
				p.run.Set(w.Addr, 4, in.Ret) // CLONE_PARENT_SETTID, CLONE_CHILD_SETTID
			}
		}
		if in.State != nil { // as it was afterwards
			c.SetState(*in.State)
			c.Count++
			p.executed++
			p.run.log.leave(p, in.Ret, in.Writes, 0, true)
			return
		}
		p.returns(in.Ret, in.Writes)
		p.opened(nr, args, in.Ret)
	case p.pure(nr, args):
	case nr == sysMmap && args[3]&mapAnonymous != 0 && args[3]&mapFixed == 0:
		p.finishCall(p.run.mapAnonymous(args[1]))
	case nr == sysBrk && args[0] != 0:
		// It grows by what the allocator asks for, at the end of what it has.
		p.run.fresh = append(p.run.fresh, Span{args[0] - brkStep, brkStep})
		p.finishCall(args[0])
	case nr == sysWrite || nr == sysPwrite64:
		if !p.flushes(nr, args) {
			p.calls = append(p.calls, call)
		}
		p.finishCall(args[2])
	case nr == sysExit || nr == sysExitGroup:
		p.calls = append(p.calls, call)
		p.exited = true
		if nr == sysExit {
			p.leave()
		}
		p.end(Done, "")
	case unseen[nr]:
		if !p.answered(nr, args) {
			p.end(Unknown, unheard(nr))
		}
	default:
		p.calls = append(p.calls, call)
		if !p.answered(nr, args) {
			p.end(Changed, unheard(nr))
		}
	}
}

// Flags of mmap(2), and how far an allocator moves the break at a time (glibc:
// M_TOP_PAD and a page).
const (
	mapFixed     = 0x10
	mapAnonymous = 0x20
	brkStep      = 0x22000
)

// sigreturn ends a signal's handler that the recording has, too: what was
// interrupted goes on as it did there.
func (p *participant) sigreturn() bool {
	for i := p.next; i < len(p.sec.Inputs); i++ {
		in := &p.sec.Inputs[i]
		switch {
		case in.Kind != InContext:
		case in.Signal != 0 || in.State == nil:
			return false
		default:
			p.run.log.enter(p, sysSigreturn, [6]uint64{}, 0)
			p.next = i + 1
			p.cpu.SetState(*in.State)
			p.cpu.Count++
			p.executed++
			p.interrupted(0, 0)
			p.run.log.context(p)
			return true
		}
	}
	return false
}

// mapBase is where experiments map memory: no kernel puts anything there.
const mapBase = 0x1000_0000_0000

// mapAnonymous returns the address of n bytes of new memory.
func (r *Run) mapAnonymous(n uint64) uint64 {
	at := uint64(mapBase)
	for _, s := range r.fresh {
		if s.Addr >= mapBase {
			at = max(at, s.Addr+s.N+4096)
		}
	}
	n = (n + 4095) &^ 4095
	r.fresh = append(r.fresh, Span{at, n})
	return at
}

// recordedCall finds the recorded call that this one repeats.
func (p *participant) recordedCall(nr uint64, args [6]uint64) *Input {
	if p.run.directed {
		return p.nextCall(nr, args)
	}
	for i := p.next; i < len(p.sec.Inputs); i++ {
		in := &p.sec.Inputs[i]
		if in.Kind != InSyscall {
			continue
		}
		if !p.diverged && uint64(in.At) != p.cpu.Count {
			return nil
		}
		if in.NR == nr && in.Args == args {
			p.next = i + 1
			return in
		}
		if !p.diverged {
			return nil
		}
	}
	return nil
}

// finishCall ends a system call that wrote nothing.
func (p *participant) finishCall(ret uint64) { p.returns(ret, nil) }

// returns does what the kernel does on its way back: RCX and R11 are
// clobbered (Intel SDM volume 2, SYSCALL).
func (p *participant) returns(ret uint64, writes []Span) {
	c := p.cpu
	c.R[0] = ret
	c.RIP += 2
	c.R[1] = c.RIP
	c.R[11] = c.Flags()
	c.Count++
	p.executed++
	acquired := uint64(0)
	if l := p.run.log; l != nil && l.threads[p].call == sysFutex && ret == 0 {
		acquired = c.R[x86.RDI]
	}
	p.run.log.leave(p, ret, writes, acquired, false)
}

// forget drops bytes that the kernel wrote in the recording: what it wrote is
// among the imports that follow.
func (p *participant) forget(addr, n uint64) {
	if k := p.run.checks; k != nil && len(k.unwritten) > 0 {
		for at, end := addr, addr+n; at < end; {
			stop := min((at|63)+1, end)
			k.filled(at, int(stop-at))
			at = stop
		}
	}
	if p.run.alias == nil && p.apart == 0 {
		p.run.mem.drop(addr, n)
	} else {
		for i := uint64(0); i < n; i++ {
			p.run.mem.drop(p.canonAddr(addr+i), 1)
		}
	}
	for end := addr + n; addr < end; {
		stop := min((addr|63)+1, end)
		line := addr >> 6
		if d, k := p.view(line); d != nil && k != 0 {
			p.learn(line, d, 0)
			p.lines[line].mask &^= byteMask(addr, int(stop-addr))
		}
		addr = stop
	}
}

// futex is emulated: the word is on the overlay, where both sides see it.
func (p *participant) futex(args [6]uint64) {
	switch args[1] & futexCmdMask {
	case futexWait, futexWaitBS:
		var word uint64
		for i := uint64(0); i < 4; i++ {
			b, ok := p.peek(args[0] + i)
			if !ok {
				p.end(Unknown, (&unknownError{args[0]}).Error())
				return
			}
			word |= uint64(b) << (8 * i)
		}
		if uint32(word) != uint32(args[2]) {
			e := int64(-eagain)
			p.finishCall(uint64(e))
			return
		}
		if p.run.directed {
			p.finishCall(0)
			p.directedWait(args[0])
			return
		}
		if in := p.recordedCall(sysFutex, args); in != nil && len(p.run.parts) == 1 && !p.diverged {
			p.finishCall(in.Ret)
			return
		}
		p.waitAddr = args[0]
		p.finishCall(0) // a wake-up, or a spurious one: callers must look again
		p.waited()
	case futexWake, futexWakeBS:
		p.recordedCall(sysFutex, args)
		if p.run.directed {
			p.finishCall(p.run.directedWake(args[0], uint64(uint32(args[2]))))
			return
		}
		n := uint64(0)
		for _, q := range p.run.parts {
			if q != p && q.phase == blocked && q.waitAddr == args[0] {
				n, q.waitAddr = 1, 0
			}
		}
		p.finishCall(n)
	default:
		if in := p.recordedCall(sysFutex, args); in != nil {
			p.finishCall(in.Ret)
			return
		}
		p.end(Unknown, fmt.Sprintf("futex operation %d that was not recorded here", args[1]))
	}
}

// waited lets the others move. Somebody who waits with nobody left to wait for
// hangs, sooner or later, by its budget; make it sooner.
func (p *participant) waited() {
	if p.run.directed {
		return
	}
	for _, q := range p.run.parts {
		if q != p && q.phase != ended {
			p.phase = blocked
			return
		}
	}
	if len(p.run.parts) == 1 && p.comes() {
		return
	}
	p.stuck = true
	p.executed += 5000
	p.diverge("waits")
}

// comes brings what others do to the word that the participant waits for, if the
// recording has them do it later in the section: they go on meanwhile, unless
// they are in the experiment. It returns false if nothing is known to come.
func (p *participant) comes() bool {
	n, bit := p.waitAddr>>6, uint64(0xf)<<(p.waitAddr&63)
	for i := p.next; i < len(p.sec.Inputs); i++ {
		in := &p.sec.Inputs[i]
		if in.Kind != InImport || in.Line != n || in.Foreign&bit == 0 {
			continue
		}
		p.next = i + 1
		if !p.diverged {
			p.diverge("waits")
		}
		if p.run.log != nil {
			p.run.log.flush(p)
		}
		p.foreign(in)
		p.learn(n, &in.Data, in.Foreign)
		p.assumed++
		return true
	}
	return false
}
