package overlay

import (
	"errors"
	"fmt"
	"io"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// A Goal says where a captured section ends and how long it may be.
type Goal struct {
	End   EndKind
	PC    uint64        // EndLoop: the loop's head
	SP    uint64        // RSP at the entry of the frame, when it points to the return address
	Count emulate.Count // EndCount: one past the last instruction

	MaxSteps    uint64 // 0: 2,000,000
	MaxAccesses int    // 0: 1,000,000
}

// Capture records the section that begins at the next instruction of the
// thread that from describes, by replaying a copy of it. The error is a
// divergence or a damaged trace; a section that is cut off by Goal's bounds or
// by the end of the trace is returned with Complete unset.
func Capture(from *replay.Snapshot, g Goal) (*Section, error) {
	if g.MaxSteps == 0 {
		g.MaxSteps = 2_000_000
	}
	if g.MaxAccesses == 0 {
		g.MaxAccesses = 1_000_000
	}
	u := from.NewThread()
	if err := u.Settle(); err != nil {
		return nil, err
	}
	c := u.CPU()
	s := &Section{Thread: u.ID(), Start: u.Count(), Entry: c.State(), End: g.End, EndPC: g.PC, SP: g.SP,
		View: u.Snapshot()}
	w := &capture{t: u, sec: s, max: g.MaxAccesses}
	u.Observe(nil, true, w)
	if ret, ok := ReadUint(u.Memory(), g.SP, 8); ok && g.End != EndCount {
		c.Blocks.Break(ret)
	}
	if g.End == EndLoop {
		c.Blocks.Break(g.PC)
	}
	u.Want = ^replay.KindSet(0)
	err := w.run(g)
	s.Stop, s.Exit = u.Count(), c.State()
	s.Complete = err == nil && w.ended && !w.full
	if errors.Is(err, io.EOF) || errors.Is(err, errTooLong) {
		err = nil
	}
	return s, err
}

var errTooLong = errors.New("section too long")

type capture struct {
	t     *replay.Thread
	sec   *Section
	max   int
	full  bool // accesses were left out
	ended bool
}

// atEnd reports whether the section ends at the next instruction.
func (w *capture) atEnd(g Goal) bool {
	c := w.t.CPU()
	n := w.t.Count()
	if n == w.sec.Start {
		return false
	}
	switch g.End {
	case EndCount:
		return n >= g.Count
	case EndLoop:
		return c.R[x86.RSP] > g.SP || c.RIP == g.PC && c.R[x86.RSP] == w.sec.Entry.R[x86.RSP]
	}
	return c.R[x86.RSP] > g.SP
}

func (w *capture) run(g Goal) error {
	t, c := w.t, w.t.CPU()
	limit := w.sec.Start + emulate.Count(g.MaxSteps)
	if g.End == EndCount {
		limit = g.Count
	}
	for {
		if w.atEnd(g) {
			w.ended = true
			return nil
		}
		if t.Count() >= limit {
			return errTooLong
		}
		next, at, ok := w.due()
		target := limit
		if ok && at < target {
			target = at
		}
		if t.Count() < target {
			stop, err := t.RunTo(target)
			if err != nil {
				return err
			}
			if stop != nil {
				continue // at a place where it may end; a break isn't repeated
			}
			if t.Count() < at {
				continue
			}
		}
		if !ok {
			return io.EOF
		}
		if w.atEnd(g) { // before what is due at the instruction after the end
			w.ended = true
			return nil
		}
		in, keep := w.input(next)
		ev, err := t.Step()
		if err != nil {
			return err
		}
		if ev.Stop != nil {
			continue
		}
		if keep {
			switch in.Kind {
			case InContext:
				st := c.State()
				in.State = &st
			case InNondet:
				in.State = nil
			}
			w.sec.Inputs = append(w.sec.Inputs, in)
		}
		switch ev.Kind {
		case traces.SyscallExit:
			w.exit(ev.Packet)
		case traces.Exit:
			w.ended = true
			return nil
		}
	}
}

// due returns a copy of the next packet.
func (w *capture) due() (*traces.Packet, emulate.Count, bool) {
	var p traces.Packet
	ok := false
	w.t.LookAhead(func(q *traces.Packet) bool {
		p, ok = *q, true
		if q.Kind == traces.Import {
			d := *q.Data
			p.Data = &d
		}
		return false
	})
	return &p, emulate.Count(p.Count), ok
}

// input turns a packet that is about to be applied into an Input.
func (w *capture) input(p *traces.Packet) (in Input, keep bool) {
	in = Input{At: w.t.Count(), PC: w.t.CPU().RIP}
	switch p.Kind {
	case traces.Import:
		in.Kind, in.Line, in.Data = InImport, p.Line, *p.Data
		in.Foreign = ^uint64(0)
		if old := w.t.Memory().Line(p.Line); old != nil {
			in.Foreign = 0
			for i := range old {
				if old[i] != p.Data[i] {
					in.Foreign |= 1 << i
				}
			}
		}
		return in, in.Foreign != 0
	case traces.SyscallEnter:
		in.Kind, in.NR, in.Args, in.NoExit = InSyscall, p.Nr, p.Args, true
		return in, true
	case traces.Nondet:
		in.Kind, in.What = InNondet, x86.NondetKind(p.What)
		in.Regs = append([]uint64(nil), p.Regs...)
		return in, true
	case traces.Signal, traces.Context:
		in.Kind = InContext
		return in, true
	}
	return in, false
}

// exit completes the system call under way.
func (w *capture) exit(p *traces.Packet) {
	for i := len(w.sec.Inputs) - 1; i >= 0; i-- {
		in := &w.sec.Inputs[i]
		if in.Kind != InSyscall {
			continue
		}
		in.NoExit, in.Ret = false, p.Ret
		for _, r := range p.Writes {
			in.Writes = append(in.Writes, Span{r.Addr, r.N})
		}
		if len(p.State) > 0 {
			st := w.t.CPU().State()
			in.State = &st
		}
		return
	}
}

// Load serves x86.Watcher.
func (w *capture) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	w.add(Access{At: w.t.Count(), PC: c.PC(), Addr: addr, Size: uint8(size), Kind: kind, Atom: c.Atomic(), Value: v, Pre: v})
	return v
}

// Store serves x86.Watcher.
func (w *capture) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	var pre uint64
	if d := w.t.Memory().Line(addr >> 6); d != nil {
		for i := 0; i < size; i++ {
			pre |= uint64(d[addr&63+uint64(i)]) << (8 * i)
		}
	}
	w.add(Access{At: w.t.Count(), PC: c.PC(), Addr: addr, Size: uint8(size), Kind: x86.Write, Atom: c.Atomic(), Value: v, Pre: pre})
}

func (w *capture) add(a Access) {
	if len(w.sec.Accesses) >= w.max {
		w.full = true
		return
	}
	w.sec.Accesses = append(w.sec.Accesses, a)
}

// ReadUint reads size bytes at addr as a little-endian number from a replayed
// thread's memory, and says whether all of them are known.
func ReadUint(m *replay.Memory, addr uint64, size int) (uint64, bool) {
	var v uint64
	for i := uint64(0); i < uint64(size); i++ {
		d := m.Line((addr + i) >> 6)
		if d == nil {
			return 0, false
		}
		v |= uint64(d[(addr+i)&63]) << (8 * i)
	}
	return v, true
}

// String names a section for messages.
func (s *Section) String() string {
	return fmt.Sprintf("thread %d, instructions %d to %d", s.Thread, s.Start, s.Stop)
}
