package overlay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

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
	// Stack are the bounds of the stack that SP is on, if they are known; see
	// Section.OnStack.
	Stack [2]uint64

	// Lo and Hi bound the code of the function whose frame it is; 0 if unknown.
	Lo, Hi uint64
	// Result are the registers in which the function whose frame it is returns
	// its result, if its type is known; empty for void, nil if unknown.
	Result *RegSet
	// NoLive saves the look-ahead: Section.Live stays nil.
	NoLive bool

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
	s := &Section{Thread: u.ID(), Start: u.Count(), Entry: c.State(), End: g.End, EndPC: g.PC, SP: g.SP, Stack: g.Stack,
		View: u.Snapshot()}
	w := &capture{t: u, sec: s, max: g.MaxAccesses, returns: g.End != EndCount}
	u.Observe(nil, true, w)
	if ret, ok := ReadUint(u.Memory(), g.SP, 8); ok && g.End != EndCount {
		c.Blocks.Break(ret)
	}
	if g.End == EndLoop {
		c.Blocks.Break(g.PC)
	}
	u.Want = ^replay.Kinds(traces.Import, traces.Part, traces.Order)
	scratch := accessLists.Get().(*[]Access)
	s.Accesses = (*scratch)[:0]
	err := w.run(g)
	*scratch = s.Accesses
	s.Accesses = slices.Clone(s.Accesses)
	accessLists.Put(scratch)
	s.Stop, s.Exit = u.Count(), c.State()
	s.Complete = err == nil && w.ended && !w.full
	if s.Complete && !g.NoLive {
		s.Live = lookAhead(u, s, &g)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errTooLong) {
		err = nil
	}
	return s, err
}

// accessLists are lists to be filled: how long they become isn't known before.
var accessLists = sync.Pool{New: func() any { return new([]Access) }}

var errTooLong = errors.New("section too long")

type capture struct {
	t      *replay.Thread
	sec    *Section
	max    int
	inCall bool // between a system call's entry and its exit
	full   bool // accesses were left out
	ended  bool
	// returns: where the frame returns to matters; it may be known only when it is read.
	returns bool
	kernel  map[uint64]uint64 // line -> bytes that system calls wrote since it was imported
	left    func(*traces.Packet)
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
	t := w.t
	limit := w.sec.Start + emulate.Count(g.MaxSteps)
	if g.End == EndCount {
		limit = g.Count
	}
	noted := ^emulate.Count(0) // the imports due at this count are in Inputs
	for {
		now := t.Count()
		if w.atEnd(g) {
			w.ended = true
			return nil
		}
		if now >= limit {
			return errTooLong
		}
		if w.inCall {
			if err := w.step(); err != nil || w.ended {
				return err
			}
			continue
		}
		// What is due now, and when the next thing is.
		target, other := limit, false
		w.t.LookAhead(func(p *traces.Packet) bool {
			at := emulate.Count(p.Count)
			if at > now && !other {
				target = min(target, at)
				return false
			}
			if p.Kind != traces.Import && p.Kind != traces.Part && p.Kind != traces.Order {
				other = true
				return false
			}
			if noted != now && p.Kind != traces.Order {
				if in, keep := w.input(p); keep {
					w.sec.Inputs = append(w.sec.Inputs, in)
				}
			}
			target = now + 1 // it belongs to the next instruction
			return true
		})
		noted = now
		if !other {
			// A break ends it early where the section may end.
			if _, err := t.RunTo(target); err != nil {
				return err
			}
			continue
		}
		if err := w.step(); err != nil || w.ended {
			return err
		}
		noted = ^emulate.Count(0) // more may be due now
	}
}

// step applies the next packet that isn't an import.
func (w *capture) step() error {
	var in Input
	keep := false
	w.t.LookAhead(func(p *traces.Packet) bool {
		if p.Kind == traces.Import || p.Kind == traces.Part || p.Kind == traces.Order {
			return true
		}
		in, keep = w.input(p)
		return false
	})
	was := w.t.CPU().R[x86.RSP]
	ev, err := w.t.Step()
	if err != nil || ev.Stop != nil {
		return err
	}
	if keep {
		if in.Kind == InContext {
			st := w.t.CPU().State()
			in.State = &st
		}
		w.sec.Inputs = append(w.sec.Inputs, in)
	}
	switch ev.Kind {
	case traces.SyscallEnter:
		w.inCall = true
	case traces.Signal, traces.Context:
		w.inCall = false
		if ev.Kind == traces.Signal {
			sp := w.t.CPU().R[x86.RSP]
			w.wrote(sp, signalFrame(sp, was))
		}
	case traces.SyscallExit:
		w.inCall = false
		w.exit(ev.Packet)
	case traces.Exit:
		w.ended = true
		if w.left != nil {
			w.left(ev.Packet)
		}
	}
	return nil
}

// input turns a packet that is about to be applied into an Input.
func (w *capture) input(p *traces.Packet) (in Input, keep bool) {
	in = Input{At: w.t.Count(), PC: w.t.CPU().RIP}
	switch p.Kind {
	case traces.Import, traces.Part:
		in.Kind, in.Line, in.Data = InImport, p.Line, *p.Data
		in.Given = ^uint64(0)
		if p.Kind == traces.Part {
			in.Given = p.Mask
		}
		in.Foreign = in.Given
		if o := w.sec.SP & 63; w.returns && p.Line == w.sec.SP>>6 && o <= 56 && in.Given>>o&0xff == 0xff {
			w.t.CPU().Blocks.Break(binary.LittleEndian.Uint64(p.Data[o:]))
		}
		if old, known := w.t.Memory().KnownLine(p.Line); old != nil {
			for i := range old {
				if old[i] == p.Data[i] {
					in.Foreign &^= known & (1 << i)
				}
			}
		}
		// What a system call wrote is foreign, even if it is what was there.
		if k := w.kernel[p.Line]; k != 0 {
			in.Foreign |= k & in.Given
			w.kernel[p.Line] = k &^ in.Given
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
		if in.Kind = InContext; p.Kind == traces.Signal {
			in.Signal = p.Signo
		}
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
			w.wrote(r.Addr, r.N)
		}
		if len(p.State) > 0 {
			st := w.t.CPU().State()
			in.State = &st
		}
		return
	}
}

// SignalFrame is the largest size of what the kernel puts on the stack for a
// signal, above RSP as the handler finds it: a frame, and the registers of AVX.
const SignalFrame = 2048

// signalFrame returns how much of a stack a signal's frame may have taken, from sp
// on, if the thread's RSP was was.
func signalFrame(sp, was uint64) uint64 {
	const redZone = 128 // System V ABI, AMD64 supplement, 3.2.2
	if sp < was && was-sp > redZone {
		return min(was-sp-redZone, SignalFrame)
	}
	return SignalFrame // on a stack of its own
}

// wrote notes what a system call wrote.
func (w *capture) wrote(addr, n uint64) {
	if w.kernel == nil {
		w.kernel = map[uint64]uint64{}
	}
	for end := addr + n; addr < end; {
		stop := min((addr|63)+1, end)
		w.kernel[addr>>6] |= byteMask(addr, int(stop-addr))
		addr = stop
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
		d, known := m.KnownLine((addr + i) >> 6)
		if known>>((addr+i)&63)&1 == 0 {
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
