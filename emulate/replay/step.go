package replay

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// An Event is why Step returned: a packet that was applied, or a stop that a
// breakpoint, Watcher or CallSink asked for.
type Event struct {
	// Kind is that of the packet; 0 for a stop.
	Kind traces.Kind
	// Packet is good until the next step. An Order, SyscallEnter or Fault is
	// returned before its instruction executes.
	Packet *traces.Packet
	// Stop is a StopBreak or StopYield; nil for packets.
	Stop *x86.Stop
}

// A Divergence says that a replay didn't do what was recorded.
type Divergence struct {
	Position emulate.Position
	Count    emulate.Count
	PC       emulate.Addr
	Expected string
	Found    string
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("replay: divergence at position %v (instruction %d, pc %v): expected %s, found %s",
		d.Position, d.Count, d.PC, d.Expected, d.Found)
}

// diverged makes a Divergence at the current instruction.
func (t *Thread) diverged(expected, format string, args ...any) error {
	return t.fail(&Divergence{
		Position: t.Position(), Count: t.Count(), PC: emulate.Addr(t.cpu.RIP),
		Expected: expected, Found: fmt.Sprintf(format, args...),
	})
}

// Step replays up to and including the next packet that Want selects. At the
// end of the thread's stream it returns io.EOF; Ended tells whether the thread
// had exited or the trace was cut off. After any other error the thread can
// only be restarted or restored.
func (t *Thread) Step() (Event, error) {
	for {
		p, at, err := t.next()
		if err != nil {
			return Event{}, err
		}
		if at > t.cpu.Count {
			stop, err := t.run(at - t.cpu.Count)
			if err != nil || stop != nil {
				return Event{Stop: stop}, err
			}
			continue
		}
		if err := t.apply(p); err != nil {
			return Event{}, err
		}
		if t.Want.Has(p.Kind) {
			return Event{Kind: p.Kind, Packet: p}, nil
		}
	}
}

// RunTo replays until count instructions have been executed. Packets due at
// that count aren't applied yet. A stop that a breakpoint, Watcher or CallSink
// asked for ends it early and is returned. If the stream ends before, it
// returns io.EOF.
func (t *Thread) RunTo(count emulate.Count) (*x86.Stop, error) {
	for t.cpu.Count < uint64(count) {
		p, at, err := t.next()
		if err != nil {
			return nil, err
		}
		if at > t.cpu.Count {
			stop, err := t.run(min(at, uint64(count)) - t.cpu.Count)
			if err != nil || stop != nil {
				return stop, err
			}
			continue
		}
		if err := t.apply(p); err != nil {
			return nil, err
		}
	}
	return nil, t.err
}

// next returns the next packet that doesn't wait for its instruction, and up
// to which count the thread can run: if that is where it is, the packet is to
// be applied.
func (t *Thread) next() (p *traces.Packet, at uint64, err error) {
	p = t.fill()
	now := t.cpu.Count
	switch {
	case t.err != nil:
		return nil, 0, t.err
	case p != nil && !t.queues(p):
		if t.inCall || t.gap {
			return p, now, nil
		}
		return p, p.Count, nil
	case p != nil: // the queue is full
		return p, max(t.q.last().count, now+1), nil
	case t.q.len() > 0 && t.q.last().count > now:
		return nil, t.q.last().count, nil
	}
	return nil, 0, io.EOF
}

// Settle applies the packets due at the current count, so that registers and
// memory are those with which the next instruction executes. It doesn't enter
// system calls, faults or interrupted instructions, and leaves what belongs to
// an orderable instruction to it.
func (t *Thread) Settle() error {
	for !t.inCall {
		p := t.fill()
		if t.err != nil {
			break
		}
		if t.q.len() > 0 {
			w := t.q.front()
			if w.count == t.cpu.Count && w.line == pageLine {
				t.acquire(w)
				t.q.pop()
				continue
			}
			if w.count != t.cpu.Count || !w.isImport() || !t.arrived(w) {
				break
			}
			if !w.mine {
				t.stats.Imports++
				t.flowIn(w)
			}
			t.q.pop()
			continue
		}
		if p == nil || p.Count != t.cpu.Count {
			break
		}
		switch p.Kind {
		case traces.SyscallEnter, traces.Fault, traces.Split, traces.Rep, traces.Exit:
			return nil
		}
		if err := t.apply(p); err != nil {
			return err
		}
	}
	return t.err
}

// run executes up to n instructions, none of which a packet is due at. It
// returns a stop that somebody asked for, nil when all were executed.
func (t *Thread) run(n uint64) (*x86.Stop, error) {
	before := t.cpu.Count
	if t.cpu.Pending().Size != 0 {
		// The store half of an instruction comes first, and counts it.
		if stop := t.cpu.FinishSplit(); t.err == nil && stop.Kind != x86.StopLimit {
			return nil, t.diverged("the store half of a read-modify-write instruction", "%s", describeStop(&stop))
		}
		n -= t.cpu.Count - before
		if t.err == nil && n == 0 {
			t.stats.Instructions++
			return nil, nil
		}
	}
	if t.err != nil {
		return nil, t.err
	}
	stop := t.cpu.Run(n)
	t.stats.Instructions += t.cpu.Count - before
	if t.err != nil { // a callback found a divergence
		return nil, t.err
	}
	if err := t.checkDue(); err != nil {
		return nil, err
	}
	switch stop.Kind {
	case x86.StopLimit:
		return nil, nil
	case x86.StopBreak, x86.StopYield:
		return &stop, nil
	case x86.StopSyscall:
		return nil, t.diverged(t.nextPacket(), "system call %d", t.cpu.R[0])
	}
	if t.s.r.Incomplete() != "" && stop.Kind == x86.StopFault && stop.Vector == x86.VecPF && stop.Code&fetchFault != 0 {
		// The page of code was written after the cut.
		return nil, t.fail(io.EOF)
	}
	return nil, t.diverged(t.nextPacket(), "%s", describeStop(&stop))
}

// fetchFault is the bit of a page fault's error code for instruction fetches
// (Intel SDM volume 3, 4.7).
const fetchFault = 16

// checkDue says whether what was due at an earlier instruction happened.
func (t *Thread) checkDue() error {
	if err := t.missed(); err != nil {
		return err
	}
	if !t.orderOK && t.cpu.Count > t.orderAt {
		return t.diverged(fmt.Sprintf("orderable instruction %d at instruction %d", t.order, t.orderAt), "another instruction there")
	}
	if t.nondet != nil && t.cpu.Count > t.nondet.count {
		return t.diverged(fmt.Sprintf("%v at instruction %d", t.nondet.what, t.nondet.count), "another instruction there")
	}
	return nil
}

func (t *Thread) nextPacket() string {
	if t.q.len() > 0 {
		return t.q.front().String()
	}
	p := t.peek()
	if p == nil {
		return "the end of the stream"
	}
	return fmt.Sprintf("%v packet at instruction %d", p.Kind, p.Count)
}

func describeStop(s *x86.Stop) string {
	switch s.Kind {
	case x86.StopFault:
		if s.Unsupported() {
			return fmt.Sprintf("unsupported instruction % x", s.Bytes)
		}
		return fmt.Sprintf("fault with vector %d, address %#x, code %#x", s.Vector, s.Addr, s.Code)
	case x86.StopYield:
		return fmt.Sprintf("stop: %v", s.Err)
	}
	return s.Kind.String()
}

// apply does what a due packet says, and fetches the next.
func (t *Thread) apply(p *traces.Packet) error {
	t.stats.Packets++
	err := t.checkDue()
	if err != nil {
		return err
	}
	switch p.Kind {
	case traces.Split, traces.Fault, traces.Rep, traces.Mark:
	default:
		if queued.Has(p.Kind) {
			break
		}
		t.takeDue()
		if t.err != nil {
			return t.err
		}
	}
	if t.peers != nil && t.peers.byPacket {
		t.peers.passed(t, t.nth-1)
	}
	switch p.Kind {
	case traces.Import, traces.Part:
		t.stats.Imports++
		var w waiting
		w.take(p)
		t.flowIn(&w)
	case traces.Memory:
		data := t.image(p)
		if data == nil {
			return t.err
		}
		t.stats.Imports++
		t.importLine(p.Line, data)
	case traces.Upgrade: // others are told
	case traces.Fetch, traces.FetchOwn, traces.FetchAs, traces.Snoop, traces.SnoopOwn:
		w := waiting{count: p.Count, nth: t.nth - 1}
		w.fetch(p)
		if p.Kind == traces.Snoop || p.Kind == traces.SnoopOwn {
			w.min = t.peers.next(t.id)
		}
		if !t.arrived(&w) {
			return t.err
		}
		t.stats.Imports++
		t.importLine(p.Line, &w.data)
	case traces.Page, traces.PageFrom, traces.Read:
		err = fmt.Errorf("BUG: replay: thread %d: %v packets must wait for their instructions", t.id, p.Kind)
	case traces.Order:
		t.stats.Orders++
		t.order, t.orderAt, t.orderOK = p.Min, p.Count, false
	case traces.Nondet:
		t.nondet = &nondet{x86.NondetKind(p.What), p.Count, append([]uint64(nil), p.Regs...)}
	case traces.SyscallEnter:
		t.stats.Syscalls++
		err = t.enter(p)
	case traces.SyscallExit:
		err = t.leave(p)
	case traces.Start, traces.Signal, traces.Context:
		if p.Kind == traces.Signal {
			t.stats.Signals++
		}
		t.inCall = false
		t.stats.Instructions += p.Count - t.cpu.Count
		pc := t.cpu.RIP
		if err = t.setState(p); err == nil && p.Kind == traces.Signal && t.OnSignal != nil {
			t.OnSignal(pc)
		}
	case traces.Fault:
		err = t.faulted(p)
	case traces.Gap:
		t.gap = true
	case traces.KeyFrame:
		t.stats.KeyFrames++
		if t.gap {
			if err := t.resume(p); err != nil {
				return err
			}
			break
		}
		t.stats.Hashes++
		if t.hash(); !bytes.Equal(t.buf, p.State) {
			err = t.diverged("the register state of the key frame", "%s", stateDifference(t, p.State))
		}
		t.reads.reset()
	case traces.Hash:
		t.stats.Hashes++
		if h := t.hash(); h != p.Hash {
			err = t.diverged(fmt.Sprintf("register state with hash %016x", p.Hash), "%016x", h)
		}
	case traces.Split:
		err = t.split(p)
	case traces.Rep:
		stop, done := t.cpu.RunRep(p.Iter)
		if t.err != nil {
			return t.err
		}
		if done || stop.Kind != x86.StopLimit {
			err = t.diverged(fmt.Sprintf("a string instruction interrupted after %d iterations", p.Iter), "%s", describeStop(&stop))
		}
	case traces.Exit:
		t.inCall = false
		t.ended = true
		if t.gap {
			t.cpu.Count = p.Count
		}
	}
	if err != nil {
		return err
	}
	if p.Kind.HasMin() && p.Kind != traces.KeyFrame {
		if t.event(p.Min, p.Count); t.err != nil {
			return t.err
		}
	}
	t.old = true
	return nil
}

// resume goes on behind a gap, where nothing is known but the key frame.
func (t *Thread) resume(p *traces.Packet) error {
	t.gap = false
	t.win.Clear()
	if t.s.own != nil {
		t.forgetCode()
	}
	t.mem.Forget()
	t.reads.reset()
	t.order, t.orderOK, t.nondet = 0, true, nil
	t.sync(p.Min, p.Count)
	return t.setState(p)
}

// importLine makes the thread's memory hold a line's bytes.
func (t *Thread) importLine(line uint64, data *[hwmodel.LineSize]byte) {
	if t.s.own != nil {
		t.invalidate(line / linesPerPage)
	}
	pg := t.writable(line / linesPerPage)
	pg.learn(line)
	*pg.line(line) = *data
}

// flowIn makes the thread's memory hold what a waiting import or part brings.
func (t *Thread) flowIn(w *waiting) {
	if !w.part {
		t.importLine(w.line, &w.data)
		return
	}
	pg := t.writable(w.line / linesPerPage)
	pg.learnPart(w.line, w.mask|w.own)
	d := pg.line(w.line)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		d[i] = w.data[i]
	}
}

// enter checks that the thread makes the recorded system call.
func (t *Thread) enter(p *traces.Packet) error {
	expected := fmt.Sprintf("system call %d with arguments %#x", p.Nr, p.Args)
	stop := t.cpu.Run(1)
	if t.err != nil {
		return t.err
	}
	if stop.Kind != x86.StopSyscall {
		return t.diverged(expected, "%s", describeStop(&stop))
	}
	r := &t.cpu.R
	args := [6]uint64{r[x86.RDI], r[x86.RSI], r[x86.RDX], r[x86.R10], r[x86.R8], r[x86.R9]}
	if r[x86.RAX] != p.Nr || args != p.Args {
		return t.diverged(expected, "system call %d with arguments %#x", r[x86.RAX], args)
	}
	t.inCall = true
	return nil
}

// leave puts a system call's result in the registers.
func (t *Thread) leave(p *traces.Packet) error {
	if !t.inCall {
		return t.diverged("a system call before its exit", "none")
	}
	if err := checkKernel(p); err != nil {
		return t.fail(err)
	}
	t.inCall = false
	t.stats.Instructions += p.Count - t.cpu.Count
	if len(p.State) > 0 {
		return t.setState(p)
	}
	syscallResult(&t.cpu, p.Ret)
	if t.cpu.Count != p.Count {
		return t.diverged(fmt.Sprintf("the call's exit at instruction %d", p.Count), "instruction %d", t.cpu.Count)
	}
	return nil
}

// syscallResult does to the registers what a system call that only returns ret
// does: RCX and R11 get the return address and flags (Intel SDM volume 2,
// SYSCALL), and the instruction counts.
func syscallResult(c *x86.CPU, ret uint64) {
	c.RIP += 2
	c.R[x86.RAX] = ret
	c.R[x86.RCX] = c.RIP
	c.R[x86.R11] = c.Flags()
	c.Count++
}

// A nondet is the result of a non-deterministic instruction.
type nondet struct {
	what  x86.NondetKind
	count uint64
	regs  []uint64
}

// A faultDue is the fault that the next instruction must raise.
type faultDue struct {
	line  uint64
	write bool
	stop  x86.Stop
}

// faulted checks that the next instruction faults as recorded.
func (t *Thread) faulted(p *traces.Packet) error {
	want := x86.Stop{Kind: x86.StopFault, Vector: p.Vector, Addr: p.Addr, Code: uint32(p.Code)}
	if p.Vector == x86.VecPF {
		f := &faultDue{line: p.Addr >> hwmodel.LineShift, write: p.Code&2 != 0, stop: want}
		t.fault = f
		t.win.Drop(f.line)
	}
	stop := t.cpu.Run(1)
	t.fault = nil
	t.orderOK, t.nondet = true, nil
	t.reads.next()
	if t.err != nil {
		return t.err
	}
	if stop.Kind != x86.StopFault || stop.Vector != p.Vector || stop.Addr != p.Addr {
		return t.diverged(describeStop(&want), "%s", describeStop(&stop))
	}
	return nil
}

// split executes a read-modify-write instruction whose halves others came
// between.
func (t *Thread) split(p *traces.Packet) error {
	stop := t.cpu.RunSplit()
	if t.err == nil && t.cpu.Pending().Size == 0 {
		return t.diverged("the load half of a read-modify-write instruction", "%s", describeStop(&stop))
	}
	return t.err
}

// stateDifference names the registers in which the thread differs from a
// recorded state.
func stateDifference(t *Thread, want []byte) string {
	var c x86.CPU
	if err := x86.LoadState(&c, want); err != nil {
		return err.Error()
	}
	var out []string
	for i, v := range t.cpu.R {
		if v != c.R[i] {
			out = append(out, fmt.Sprintf("R[%d] %#x instead of %#x", i, v, c.R[i]))
		}
	}
	if t.cpu.RIP != c.RIP {
		out = append(out, fmt.Sprintf("RIP %#x instead of %#x", t.cpu.RIP, c.RIP))
	}
	if a, b := t.cpu.Flags(), c.Flags(); a != b {
		out = append(out, fmt.Sprintf("flags %#x instead of %#x", a, b))
	}
	for i, v := range t.cpu.X {
		if v != c.X[i] {
			out = append(out, fmt.Sprintf("XMM%d %#x instead of %#x", i, v, c.X[i]))
		}
	}
	if len(out) == 0 {
		return "another floating-point state"
	}
	return strings.Join(out, ", ")
}
