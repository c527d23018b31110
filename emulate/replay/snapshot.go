package replay

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A Snapshot is the state of a Thread at one instant: registers, memory, place
// in the stream. It is immutable and safe for concurrent use; taking one costs
// little, what changes afterwards is copied page by page.
type Snapshot struct {
	s     *Session
	id    emulate.ThreadID
	state x86.State
	count uint64
	mem   *Memory
	cur   *traces.Cursor // shared: clone before use
	old   bool           // its packet was applied

	min, minAt     uint64
	order, orderAt uint64
	orderOK        bool
	q              *queue
	reads          *values
	nondet         *nondet
	inCall, ended  bool
	gap            bool
}

// Snapshot keeps the thread's present state. It must not be called from a
// callback during execution, nor after an error.
func (t *Thread) Snapshot() *Snapshot {
	s := &Snapshot{s: t.s, id: t.id, state: t.cpu.State(), count: t.cpu.Count, mem: t.mem.Fork(), cur: t.cur.Clone(),
		old: t.old, min: t.min, minAt: t.minAt, order: t.order, orderAt: t.orderAt, orderOK: t.orderOK, nondet: t.nondet,
		inCall: t.inCall, ended: t.ended, gap: t.gap}
	s.reads = t.reads.clone()
	if t.q.len() > 0 {
		s.q = new(queue)
		t.q.copyTo(s.q)
	}
	if t.p == nil && !t.old {
		s.old = true // at the end: fetching finds that out again
	}
	// Pages are shared now: none may be written without asking.
	for i := range t.win {
		t.win[i].W = hwmodel.NoTag
	}
	return s
}

// Restore puts the thread in the state of a snapshot of the same guest thread.
// Observation and callbacks stay as they are.
func (t *Thread) Restore(s *Snapshot) {
	if t.s != s.s || t.id != s.id {
		panic("BUG: replay: a snapshot of another thread")
	}
	t.win.Clear()
	if len(t.s.recodes) > 0 && s.min < t.min || t.s.own != nil {
		t.forgetCode()
	}
	t.cpu.SetState(s.state)
	t.cpu.Count = s.count
	t.mem = s.mem.share()
	t.cur = s.cur.Clone()
	t.p, t.old = t.cur.Packet(), s.old
	t.reads.restore(s.reads)
	t.q.clear()
	if s.q != nil {
		s.q.copyTo(&t.q)
	}
	t.order, t.orderAt, t.orderOK, t.nondet, t.fault = s.order, s.orderAt, s.orderOK, s.nondet, nil
	t.gap = s.gap
	t.inCall, t.ended, t.err = s.inCall, s.ended, nil
	t.sync(s.min, s.minAt)
}

// NewThread returns another replay of the thread, in the snapshot's state. It
// has nothing decoded and no callbacks.
func (s *Snapshot) NewThread() *Thread {
	t, err := s.s.newThread(s.id)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	t.Restore(s)
	return t
}

// Thread returns the number of the guest thread.
func (s *Snapshot) Thread() emulate.ThreadID { return s.id }

// InCall says whether the thread was in the middle of a system call.
func (s *Snapshot) InCall() bool { return s.inCall }

// Session returns the trace that the snapshot is of.
func (s *Snapshot) Session() *Session { return s.s }

// State returns the registers.
func (s *Snapshot) State() x86.State { return s.state }

// Count returns the number of instructions executed.
func (s *Snapshot) Count() emulate.Count { return emulate.Count(s.count) }

// Min returns the number of the thread's last orderable event.
func (s *Snapshot) Min() uint64 { return s.min }

// Position names the next instruction.
func (s *Snapshot) Position() emulate.Position {
	return emulate.Position{Thread: s.id, Sequence: s.min, Steps: s.count - s.minAt}
}

// Fork returns a copy of the memory for whoever wants to change it.
func (s *Snapshot) Fork() *Memory { return s.mem.share() }

// KnownLine returns the bytes of a line that the thread knows, and which of
// them are, nil if none. The bytes must not be changed.
func (s *Snapshot) KnownLine(line uint64) (data *[hwmodel.LineSize]byte, known uint64) {
	p := s.mem.look(line / linesPerPage)
	if p == nil {
		return nil, 0
	}
	if known = p.bytes(line); known == 0 {
		return nil, 0
	}
	return p.line(line), known
}

// Code returns the instruction bytes from pc to the end of its page, or as far as
// they are known; nil if that at pc isn't.
func (s *Snapshot) Code(pc uint64) []byte {
	if s.s.ownAt(pc>>PageShift, s.min) {
		return s.mem.codeFrom(pc)
	}
	return s.s.CodeAt(emulate.Addr(pc), s.min)
}

// CodeMissing says that there may be code at pc, and that it isn't known.
func (s *Snapshot) CodeMissing(pc uint64) bool { return s.s.CodeMissing(emulate.Addr(pc), s.min) }

// NewBlocks returns a cache for code, as Session.NewBlocks does.
func (s *Snapshot) NewBlocks() *x86.BlockCache { return s.s.NewBlocks() }
