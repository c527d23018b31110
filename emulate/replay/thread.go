package replay

import (
	"errors"
	"fmt"
	"io"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A Thread replays one guest thread. It belongs to one goroutine.
//
// Packets are due at a count: the number of instructions executed. Those due
// at count n are applied before the instruction with number n executes.
type Thread struct {
	s   *Session
	id  emulate.ThreadID
	cpu x86.CPU
	win *hwmodel.Window
	mem *Memory
	cur *traces.Cursor
	p   *traces.Packet // the next packet, not yet applied; nil at the end
	old bool           // p was applied: the next is still to be fetched
	q   queue          // packets before p that wait for their instructions

	min   uint64 // last orderable event
	minAt uint64 // and the count at which it happened

	order   uint64    // min of the last order that was applied or asked for
	orderAt uint64    // its count
	orderOK bool      // its instruction asked for it
	nondet  *nondet   // result of a non-deterministic instruction that is due
	fault   *faultDue // the fault that is due
	inCall  bool      // between a system call's entry and its exit
	ended   bool      // the Exit packet was applied
	err     error

	every   *values           // of a log of values, or a memory model that orders accesses, else nil
	reads   *values           // of a log of values, else nil
	fresh   map[uint64]uint64 // if not nil: by page, lines that flowed in and weren't touched since
	onLine  func(line uint64) // if not nil: called before each access
	gap     bool              // a key frame or the exit comes next, see traces.Gap
	early   bool              // it resolves what others get from it, see resolve
	recoded int               // entries of Session.recodes that were applied
	codes   codePages

	nth   uint64    // packets read
	peers *exchange // of a trace whose threads depend on one another, else nil

	observed *LineSet // lines without tags
	all      bool     // no line gets a tag
	stores   bool     // no line gets a tag for writing
	watched  watched  // more lines without tags, see Watch

	stats Stats
	buf   []byte

	// Want selects the kinds of packets that Step returns. It is to be changed
	// only right after StartAt.
	Want KindSet
	// OnSignal, if set, is called when a signal was delivered: the thread is about
	// to execute the handler, and was at pc.
	OnSignal func(pc uint64)
	// OnImport, if set, is called when a line flows in, while the instruction
	// that asked for it executes, before the thread's memory is changed.
	// Imports that Step returns, or that Settle applies, aren't reported.
	OnImport func(t *Thread, line uint64, data *[hwmodel.LineSize]byte)
	// OnOrder, if set, is called before each orderable instruction accesses
	// memory, with the address and size of its operand (size 0: a fence).
	OnOrder func(t *Thread, min, addr uint64, size int)
	// Unknown, if set, is asked for the content of a line that the thread
	// reads or writes and never came to know. nil from it is a divergence.
	Unknown func(t *Thread, line uint64, write bool) *[hwmodel.LineSize]byte
}

// Stats count what a replay did and compared.
type Stats struct {
	Instructions uint64
	Packets      uint64
	Imports      uint64
	Reads        uint64 // values that the trace holds, of a log of values
	Pages        uint64 // acquired
	Hashes       uint64 // register states compared
	Orders       uint64
	Syscalls     uint64
	Signals      uint64
	KeyFrames    uint64
}

func (s *Stats) add(o Stats) {
	s.Instructions += o.Instructions
	s.Packets += o.Packets
	s.Imports += o.Imports
	s.Reads += o.Reads
	s.Pages += o.Pages
	s.Hashes += o.Hashes
	s.Orders += o.Orders
	s.Syscalls += o.Syscalls
	s.Signals += o.Signals
	s.KeyFrames += o.KeyFrames
}

// A KindSet is a set of packet kinds.
type KindSet uint64

// Kinds returns the set of the given kinds.
func Kinds(k ...traces.Kind) KindSet {
	var s KindSet
	for _, x := range k {
		s |= 1 << x
	}
	return s
}

// Has says whether k is in the set.
func (s KindSet) Has(k traces.Kind) bool { return s>>k&1 != 0 }

// DefaultWant is what Step returns unless told otherwise. Imports and orders
// aren't among it: to stop at each is slow, see OnImport and OnOrder.
var DefaultWant = Kinds(traces.Start, traces.SyscallEnter, traces.SyscallExit, traces.Signal,
	traces.Context, traces.Fault, traces.KeyFrame, traces.Switch, traces.Exit)

// Thread returns a replay of the given thread, at its start.
func (s *Session) Thread(id emulate.ThreadID) (*Thread, error) {
	if s.Dependent() {
		return nil, fmt.Errorf("replay: the threads of the trace depend on one another (log mode %s): decouple it first", s.r.Header().LogMode)
	}
	t, err := s.newThread(id)
	if err != nil {
		return nil, err
	}
	return t, t.StartAt(0)
}

func (s *Session) newThread(id emulate.ThreadID) (*Thread, error) {
	if _, ok := s.last[id]; !ok {
		return nil, fmt.Errorf("replay: the trace has no thread %d", id)
	}
	t := &Thread{s: s, id: id, win: new(hwmodel.Window), mem: NewMemory(), cur: s.r.Cursor(uint32(id)), Want: DefaultWant}
	t.cpu.Win, t.cpu.Mem, t.cpu.Env = t.win, t, t
	t.forgetCode()
	if s.reads.Values() || s.orders.Loads() {
		t.every = &values{t: t}
		t.cpu.Watch = t.every
	}
	if s.reads.Values() {
		t.every.pred = s.reads.Predictor()
		t.reads = t.every
	}
	return t, nil
}

// forgetCode starts with nothing decoded.
func (t *Thread) forgetCode() {
	t.cpu.Blocks = t.s.NewBlocks()
	t.codes = codePages{pages: map[uint64]struct{}{}}
	t.recoded = 0
}

// KeyFrames returns the places where replay of the thread can start: 0 is its
// start, if the trace has it.
func (t *Thread) KeyFrames() []traces.KeyFrameInfo { return t.cur.KeyFrames() }

// StartAt puts the thread at its key frame number n: the registers are those
// recorded, and no memory is known.
func (t *Thread) StartAt(n int) error {
	keys := t.cur.KeyFrames()
	if n < 0 || n >= len(keys) {
		return fmt.Errorf("replay: thread %d has no key frame %d, the trace has %d", t.id, n, len(keys))
	}
	if err := t.cur.Seek(keys[n]); err != nil {
		return err
	}
	p, err := t.cur.Next()
	if err != nil {
		return fmt.Errorf("replay: thread %d: key frame %d: %w", t.id, n, err)
	}
	t.win.Clear()
	t.mem.Forget()
	t.gap = false
	t.q.clear()
	t.reads.reset()
	t.order, t.orderOK, t.nondet, t.fault, t.inCall, t.ended, t.err = 0, true, nil, nil, false, false, nil
	if len(t.s.recodes) > 0 || t.s.own != nil {
		t.forgetCode()
	}
	if err := t.setState(p); err != nil {
		return err
	}
	t.nth = 1
	t.sync(p.Min, p.Count)
	t.old = true
	return t.surround()
}

// surround makes what a full key frame holds of the thread's memory known.
func (t *Thread) surround() error {
	for p := t.peek(); p != nil && p.Kind == traces.Around; p = t.peek() {
		for i := 0; i+hwmodel.LineSize <= len(p.Bytes) && t.reads == nil; i += hwmodel.LineSize {
			t.importLine(p.Line+uint64(i/hwmodel.LineSize), (*[hwmodel.LineSize]byte)(p.Bytes[i:]))
		}
		t.old = true
	}
	return t.err
}

// setState loads the registers that a packet brings.
func (t *Thread) setState(p *traces.Packet) error {
	if err := t.loadState(p.State); err != nil {
		return fmt.Errorf("replay: thread %d: %v packet at count %d: %w", t.id, p.Kind, p.Count, err)
	}
	t.cpu.Count = p.Count
	return nil
}

// peek returns the next packet that isn't applied, nil at the stream's end.
func (t *Thread) peek() *traces.Packet {
	if t.old {
		t.old = false
		t.fetch()
	}
	return t.p
}

// fetch makes the next packet t.p.
func (t *Thread) fetch() error {
	p, err := t.cur.Next()
	if err == io.EOF {
		p, err = nil, nil
	}
	t.p = p
	t.nth++
	if err != nil {
		return t.fail(err)
	}
	return nil
}

// fail makes err what all further steps return.
func (t *Thread) fail(err error) error {
	t.err = err
	return err
}

// event is sync for an event that happens now, after those before it.
func (t *Thread) event(min, count uint64) {
	if min <= t.min && t.err == nil {
		t.diverged(fmt.Sprintf("an orderable event after %d, which the thread had", t.min), "event %d", min)
		return
	}
	t.sync(min, count)
}

// sync notes that orderable event min happened at count, and drops code that
// had changed by then.
func (t *Thread) sync(min, count uint64) {
	t.min, t.minAt = min, count
	if t.peers != nil && !t.peers.byPacket {
		t.peers.passed(t, min)
	}
	for t.recoded < len(t.s.recodes) && t.s.recodes[t.recoded].min <= min {
		t.invalidate(t.s.recodes[t.recoded].page)
		t.recoded++
	}
}

// ID returns the thread's number.
func (t *Thread) ID() emulate.ThreadID { return t.id }

// Session returns the trace that the thread belongs to.
func (t *Thread) Session() *Session { return t.s }

// CPU returns the thread's processor. Set its Calls to track calls, and mark
// breakpoints in its Blocks; leave Win, Mem, Env and Watch alone.
func (t *Thread) CPU() *x86.CPU { return &t.cpu }

// Memory returns the thread's view of memory. Reading it is always allowed
// between steps; changing it makes an experiment of the replay.
func (t *Thread) Memory() *Memory { return t.mem }

// Count returns the number of instructions executed. It is exact in callbacks
// during execution, too.
func (t *Thread) Count() emulate.Count { return emulate.Count(t.cpu.InstrCount()) }

// Min returns the number of the thread's last orderable event.
func (t *Thread) Min() uint64 { return t.min }

// Position names the next instruction; in a callback during execution, the
// one that is executing.
func (t *Thread) Position() emulate.Position {
	return emulate.Position{Thread: t.id, Sequence: t.min, Steps: t.cpu.InstrCount() - t.minAt}
}

// Ended says whether the thread's exit was replayed.
func (t *Thread) Ended() bool { return t.ended }

// Stats returns what this Thread replayed since it was made.
func (t *Thread) Stats() Stats { return t.stats }

// Imports returns the number of lines that flowed in since the Thread was made.
func (t *Thread) Imports() uint64 { return t.stats.Imports }

// Observe makes w see all accesses to the lines in set, or all accesses if all
// is set; set may be nil. Other lines keep their full speed; w may see some
// accesses to them, too. A nil w ends it. If not
// even the thread's own look at the trace gives lines tags (Session.Native), w
// sees all accesses in any case.
func (t *Thread) Observe(set *LineSet, all bool, w x86.Watcher) {
	if t.every != nil {
		t.every.also = w
		return
	}
	t.cpu.Watch = w
	if w == nil {
		set, all = nil, false
	}
	t.observed, t.all, t.stores = set, all, false
	t.win.Clear()
}

// ObserveStores makes w see all stores, and some loads, whatever was observed
// before. Loads keep their full speed.
func (t *Thread) ObserveStores(w x86.Watcher) {
	t.Observe(nil, false, w)
	t.stores = t.every == nil
}

// LookAhead calls f with the packets that are due next, in order, without
// applying them, until f returns false or the stream ends. Packets are good
// only during the call.
func (t *Thread) LookAhead(f func(p *traces.Packet) bool) error {
	var q traces.Packet
	for i := t.q.head; i != t.q.tail; i++ {
		w := &t.q.ring[i%queueSize]
		q = traces.Packet{Kind: traces.Import, Count: w.count, Line: w.line, Data: &w.data}
		if w.part {
			q.Kind, q.Mask, q.Own = traces.Part, w.mask, w.own
		}
		switch w.line {
		case noLine:
			q = traces.Packet{Kind: traces.Order, Count: w.count, Min: w.min}
		case readLine:
			q = traces.Packet{Kind: traces.Read, Count: w.count, Skip: w.skip, Value: w.min}
		case pageLine:
			q = traces.Packet{Kind: traces.Page, Count: w.count, N: w.min, Mask: w.mask, Own: w.own, Bytes: w.rest}
			if w.of != 0 {
				q = traces.Packet{Kind: traces.PageFrom, Count: w.count, N: w.min, Thread: w.of, Value: w.skip}
			}
		}
		if w.source != 0 {
			q = traces.Packet{Kind: traces.Fetch, Count: w.count, Line: w.line, Thread: uint32(w.source), Since: w.min}
			if w.theirs != w.line {
				q.Kind, q.Value = traces.FetchAs, w.theirs
			}
		}
		if !f(&q) {
			return nil
		}
	}
	if t.peek() == nil {
		return t.err
	}
	cur := t.cur.Clone()
	for p := cur.Packet(); f(p); {
		var err error
		if p, err = cur.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// loadState sets the registers from a packet's bytes.
func (t *Thread) loadState(b []byte) error { return x86.LoadState(&t.cpu, b) }

// hash returns the hash of the registers.
func (t *Thread) hash() uint64 {
	t.buf = x86.AppendState(t.buf[:0], &t.cpu)
	return x86.HashState(t.buf)
}
