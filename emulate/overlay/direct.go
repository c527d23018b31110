package overlay

import (
	"errors"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
)

// System calls that create threads (Linux, x86-64).
const (
	sysClone  = 56
	sysClone3 = 435
)

// Clones says whether an input is a system call that made a thread or process.
func (in *Input) Clones() bool {
	return in.Kind == InSyscall && (in.NR == sysClone || in.NR == sysClone3) && !in.NoExit && int64(in.Ret) > 0
}

// A Reached says why Advance returned.
type Reached uint8

const (
	_         Reached = iota
	AtAccess          // about to make the access asked for
	AtCount           // at the instruction asked for
	AtWait            // in a futex wait, and nobody has woken it
	AtEnd             // the thread, its section or what can be executed of it has ended
	OutOfTime         // executed the instructions it was given
)

// Until says where Advance stops.
type Until struct {
	// PC is an instruction: stop before it accesses bytes that Racy names.
	PC uint64
	// Count is the number of an instruction of the recording; it counts only
	// as long as the recorded path is kept.
	Count emulate.Count
	// Steps bounds the instructions executed.
	Steps uint64
}

// Directed makes the caller of Advance the scheduler: who waits for a futex
// does so until another participant wakes it, and nothing is taken for waiting
// but that.
func (r *Run) Directed() {
	r.directed = true
	for i, p := range r.parts {
		p.part, p.fresh = i, map[uint64]uint64{}
	}
}

// Notice tells f of each call that a participant makes: from where, of what,
// and its first argument.
func (r *Run) Notice(f func(part int, site, target, arg uint64)) {
	r.notice = f
	for _, p := range r.parts {
		p.cpu.Calls = p
	}
}

// current ends the experiment if what the participant knows of a line may be
// out of date: off the recorded path no import brings it what others stored
// before the experiment began.
func (p *participant) current(addr, mask uint64) {
	n := addr >> 6
	if l := p.run.mem.get(p.canon(n)); l != nil {
		mask &^= l.mask
	}
	if mask &^= p.fresh[n]; mask == 0 || p.ownStack(addr) || p.run.elsewhere == nil {
		return
	}
	data, known := p.view(n)
	if mask&known == 0 {
		return // it is going to be asked for
	}
	others, sure := p.run.elsewhere(n)
	for i := 0; i < 64; i++ {
		if mask&known>>i&1 != 0 && (sure>>i&1 == 0 || others[i] != data[i]) {
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: &unknownError{n<<6 + uint64(i)}})
		}
	}
	p.fresh[n] |= mask & known
}

// Advance executes participant part of a directed run.
func (r *Run) Advance(part int, u Until) Reached {
	p := r.parts[part]
	p.stopPC = u.PC
	defer func() { p.stopPC = 0 }()
	c := p.cpu
	for left := u.Steps; ; {
		switch {
		case p.phase == ended:
			return AtEnd
		case p.phase == blocked && p.waitAddr != 0:
			return AtWait
		}
		p.phase = running
		if u.Count != 0 && !p.diverged && c.Count >= uint64(u.Count) {
			return AtCount
		}
		if left == 0 {
			return OutOfTime
		}
		if p.applyInputs(); p.phase == ended {
			return AtEnd
		}
		n := min(p.limit(), left)
		if u.Count != 0 && !p.diverged {
			n = min(n, uint64(u.Count)-c.Count)
		}
		before, calls := c.Count, p.executed
		stop := c.Run(max(n, 1))
		p.executed += c.Count - before
		switch stop.Kind {
		case x86.StopLimit:
		case x86.StopBreak:
			p.jumped()
		case x86.StopSyscall:
			p.syscall()
		case x86.StopYield:
			if errors.Is(stop.Err, errPause) {
				return AtAccess
			}
			p.yield(stop.Err)
		case x86.StopFault:
			p.faulted(&stop)
		}
		left -= min(left, max(p.executed-calls, 1))
	}
}

// Diverged says that participant part isn't on the recorded path.
func (r *Run) Diverged(part int) bool { return r.parts[part].diverged }

// Cloned says whether participant part made the thread that it made in the
// recording by the system call that is instruction at.
func (r *Run) Cloned(part int, at emulate.Count) bool { return slices.Contains(r.parts[part].made, at) }

// Strayed says that participant part isn't, or wasn't at some time.
func (r *Run) Strayed(part int) bool { return r.parts[part].diverged || r.parts[part].strayed }

// Count returns the number of the instruction that participant part is about to
// execute, in the recording's count as long as it is on the recorded path.
func (r *Run) Count(part int) emulate.Count { return emulate.Count(r.parts[part].cpu.Count) }

// PC returns the address of that instruction.
func (r *Run) PC(part int) uint64 { return r.parts[part].cpu.RIP }

// SP returns its stack pointer.
func (r *Run) SP(part int) uint64 { return r.parts[part].cpu.R[x86.RSP] }

// Ended returns how participant part ended, 0 if it didn't, and why.
func (r *Run) Ended(part int) (Outcome, string) { return r.parts[part].out, r.parts[part].detail }

// nextCall is recordedCall for a directed run: the call must be the next one
// that was recorded, but for those that depend on who comes first or on the
// time. From there on the participant is on the recorded path again.
func (p *participant) nextCall(nr uint64, args [6]uint64) *Input {
	if nr == sysFutex {
		return nil
	}
	n := len(args)
	if k := linux.SyscallArgs(nr); k >= 0 {
		n = k
	}
	for i := p.next; i < len(p.sec.Inputs); i++ {
		in := &p.sec.Inputs[i]
		switch {
		case in.Kind == InContext:
			return nil
		case in.Kind != InSyscall:
			continue
		}
		if in.NR != nr || !slices.Equal(in.Args[:n], args[:n]) {
			if in.NR == sysFutex || unseen[in.NR] {
				continue
			}
			return nil
		}
		for ; p.next < i; p.next++ {
			if x := &p.sec.Inputs[p.next]; x.Kind == InImport {
				p.learn(x.Line, &x.Data, x.Foreign)
			}
		}
		p.next = i + 1
		p.cpu.Count = uint64(in.At)
		p.strayed = p.strayed || p.diverged
		p.diverged = false
		if nr == sysClone || nr == sysClone3 {
			p.made = append(p.made, in.At)
		}
		if nr == sysMmap && args[3]&mapAnonymous != 0 && int64(in.Ret) > 0 {
			p.run.fresh = append(p.run.fresh, Span{in.Ret, args[1]})
		}
		return in
	}
	return nil
}

// directedWait blocks a participant until another one wakes it.
func (p *participant) directedWait(addr uint64) {
	p.waitAddr, p.waitSince = addr, p.run.waiters
	p.run.waiters++
	p.phase = blocked
}

// directedWake wakes at most n participants that wait for addr, those that
// wait longest first, and returns how many there were.
func (r *Run) directedWake(addr, n uint64) uint64 {
	woken := uint64(0)
	for woken < n {
		var first *participant
		for _, q := range r.parts {
			if q.phase == blocked && q.waitAddr == addr && (first == nil || q.waitSince < first.waitSince) {
				first = q
			}
		}
		if first == nil {
			break
		}
		first.waitAddr = 0
		woken++
	}
	return woken
}

// leave does what the kernel does when a thread of a directed run ends: it
// clears a word and wakes who waits for it.
func (p *participant) leave() {
	if a := p.sec.Cleared; a != 0 && p.run.directed {
		p.run.Set(a, 4, 0)
		p.run.directedWake(a, 1)
	}
}
