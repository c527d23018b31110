package overlay

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// A stepper executes a replayed thread one instruction at a time and says what
// each of them read and wrote.
type stepper struct {
	t     *replay.Thread
	insns map[uint64]*Insn
	step  Step
	// Of the last instruction, if it was a system call that returned:
	reads, writes []Span
	nr            uint64
	// foreign: the last step ended, or this one began, with other registers
	// than the instruction left.
	foreign bool
	rip     uint64 // where the last step left off
}

func newStepper(t *replay.Thread) *stepper {
	t.Want = replay.Kinds(traces.SyscallEnter, traces.SyscallExit, traces.Signal, traces.Context, traces.Exit)
	return &stepper{t: t, insns: map[uint64]*Insn{}}
}

// errEnded says that the thread ends here.
var errEnded = errors.New("the thread ends here")

// one executes the next instruction. The Step is good until the next one.
func (w *stepper) one() (*Step, error) {
	t := w.t
	c := t.CPU()
	if err := t.Settle(); err != nil {
		return nil, err
	}
	s := &w.step
	pc := c.RIP
	w.foreign = w.rip != 0 && w.rip != pc
	in := w.insns[pc]
	if in == nil {
		code := t.Code(c, pc)
		if len(code) < maxInsn { // perhaps it goes on on the next page
			code = append(slices.Clone(code), t.Code(c, pc+uint64(len(code)))...)
		}
		in = newInsn(code, pc)
		w.insns[pc] = in
	}
	*s = Step{Insn: in, At: t.Count(), PC: pc, Call: -1}
	s.resolve(c)
	if in.Branch == x86.BranchSyscall {
		return s, w.syscall()
	}
	before, n := c.R, t.Count()
	for t.Count() == n {
		if _, err := t.RunTo(n + 1); err != nil {
			return nil, err
		}
	}
	if in.str {
		s.finish(&before, c)
	}
	w.rip = c.RIP
	return s, nil
}

// maxInsn is the length of the longest instruction, bytes (Intel SDM volume 2, 2.3.11).
const maxInsn = 15

// syscall replays a system call to its exit.
func (w *stepper) syscall() error {
	t := w.t
	n := t.Count()
	w.reads, w.writes = w.reads[:0], w.writes[:0]
	w.nr = t.CPU().R[x86.RAX]
	w.step.Call = int32(w.nr)
	w.rip = 0
	for t.Count() == n {
		ev, err := t.Step()
		if err != nil {
			return err
		}
		switch ev.Kind {
		case traces.SyscallExit:
			for _, r := range ev.Packet.Reads {
				w.reads = append(w.reads, Span{r.Addr, r.N})
			}
			for _, r := range ev.Packet.Writes {
				w.writes = append(w.writes, Span{r.Addr, r.N})
			}
			w.foreign = len(ev.Packet.State) > 0
		case traces.Signal, traces.Context:
			w.foreign = true
			return nil
		case traces.Exit:
			return errEnded
		}
	}
	return nil
}

// args returns the registers whose values a system call depends on.
func callArgs(nr uint64) []Span {
	regs := []uint8{x86.RAX, x86.RDI, x86.RSI, x86.RDX}
	switch nr {
	case sysMmap, sysFutex, sysPwrite64, 17: // more than three arguments; pread64
		regs = append(regs, x86.R10, x86.R8, x86.R9)
	}
	var out []Span
	for _, r := range regs {
		out = append(out, Span{LocReg + 8*uint64(r), 8})
	}
	return out
}

// A History is what a recorded section executed, in order.
type History struct {
	Steps []Step
	// CallReads and CallWrites have the memory that the kernel read and wrote,
	// by index of the step.
	CallReads, CallWrites map[int][]Span
}

// CallArgs returns the registers that system call nr takes.
func CallArgs(nr int32) []Span { return callArgs(uint64(nr)) }

// Trace executes the section again, instruction by instruction, at most max of
// them; a longer section is an error, and so is one that a signal interrupted.
func (s *Section) Trace(max uint64) (*History, error) {
	snap, ok := s.View.(*replay.Snapshot)
	if !ok {
		return nil, fmt.Errorf("overlay: %v has no recording to step through", s)
	}
	if s.Steps() > max {
		return nil, fmt.Errorf("overlay: %v: too long to step through, at most %d", s, max)
	}
	w := newStepper(snap.NewThread())
	h := &History{Steps: make([]Step, 0, s.Steps()), CallReads: map[int][]Span{}, CallWrites: map[int][]Span{}}
	for w.t.Count() < s.Stop {
		st, err := w.one()
		if err != nil && !errors.Is(err, errEnded) && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if w.foreign {
			return nil, fmt.Errorf("overlay: %v: a signal arrived within it", s)
		}
		if st != nil {
			if st.Call >= 0 {
				h.CallReads[len(h.Steps)] = append([]Span(nil), w.reads...)
				h.CallWrites[len(h.Steps)] = append([]Span(nil), w.writes...)
			}
			h.Steps = append(h.Steps, *st)
		}
		if err != nil {
			break
		}
	}
	return h, nil
}
