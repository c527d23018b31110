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

// Native says whether the trace's log of reads is one of lines, and its memory
// model doesn't order every access, so that threads can be replayed from
// snapshots and observed line by line. Others must be translated first.
func (s *Session) Native() bool { return s.reads.Kind == hwmodel.ReadsCache && !s.orders.Loads() }

// ReadLog says how reads are logged.
func (s *Session) ReadLog() hwmodel.ReadLog { return s.reads }

// Translate writes the trace once more to w, which was made with the header
// TranslatedHeader returns: the same threads do the same, but what they read is
// logged as lines, or as the parts of lines that the trace knows of, and single
// accesses aren't orderable. It doesn't
// close w. The trace is replayed for it, and an error is mostly a Divergence.
//
// A trace that was cut off is translated up to where all streams go; its
// translation should be aborted (Writer.Abort), so that it counts as cut off, too.
func (s *Session) Translate(w *traces.Writer) error {
	cur := s.r.Cursor(0)
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.Put(0, 0, p); err != nil {
			return err
		}
	}
	for _, id := range s.threads {
		if err := s.translate(w, id); err != nil {
			return err
		}
	}
	return nil
}

// TranslatedHeader returns the header of a translation.
func (s *Session) TranslatedHeader() traces.Header {
	h := s.r.Header()
	h.ReadLog = hwmodel.ReadLog{Kind: hwmodel.ReadsCache}.String()
	if s.orders.Loads() {
		h.MemoryModel = hwmodel.OrdersFences.String()
	}
	return h
}

// translate writes one thread's stream.
func (s *Session) translate(w *traces.Writer, id emulate.ThreadID) error {
	cur := s.r.Cursor(uint32(id))
	first, err := cur.Next()
	if err != nil {
		return err
	}
	if err := w.Put(uint32(id), first.Count, first); err != nil {
		return err
	}
	t, err := s.Thread(id)
	if err != nil {
		return err
	}
	if s.reads.Kind == hwmodel.ReadsCache {
		return s.thin(w, t)
	}
	x := &translation{w: w, t: t, known: NewMemory()}
	t.Want = ^Kinds(traces.Read, traces.Page, traces.PageFrom, traces.Order)
	t.Observe(nil, true, x)
	t.onLine = x.touch
	if s.orders.Fences() {
		t.OnOrder = x.ordered
	}
	if s.reads.Kind == hwmodel.ReadsPage {
		t.fresh = map[uint64]uint64{}
	}
	safe := ^uint64(0)
	if s.r.Incomplete() != "" {
		safe = s.r.SafeMin()
	}
	for {
		ev, err := t.Step()
		if x.err != nil {
			return x.err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Packet == nil {
			return fmt.Errorf("replay: translating thread %d: %s", id, describeStop(ev.Stop))
		}
		p := ev.Packet
		if p.Kind.HasMin() && p.Min > safe {
			return nil
		}
		if p.Kind == traces.KeyFrame {
			x.known.Forget()
		}
		if err := w.Put(uint32(id), p.Count, p); err != nil {
			return err
		}
	}
}

// thin copies a thread's stream, the first packet of which was, without the
// numbers of single accesses.
func (s *Session) thin(w *traces.Writer, t *Thread) error {
	asked := map[uint64]bool{}
	t.OnOrder = func(_ *Thread, min, addr uint64, size int) { asked[min] = true }
	t.Want = 0
	if _, err := t.Step(); !errors.Is(err, io.EOF) {
		return err
	}
	cur := s.r.Cursor(uint32(t.id))
	for first := true; ; first = false {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if first || p.Kind == traces.Order && !asked[p.Min] {
			continue
		}
		if err := w.Put(uint32(t.id), p.Count, p); err != nil {
			return err
		}
	}
}

// A translation is the x86.Watcher that logs what a thread reads as lines.
type translation struct {
	w     *traces.Writer
	t     *Thread
	known *Memory // what the thread knows by what was logged so far
	min   uint64  // of the last order logged
	err   error
}

// ordered logs an orderable instruction. Orderable events that are single
// accesses don't come here: the order of slices says the same.
func (x *translation) ordered(t *Thread, min, addr uint64, size int) {
	if min == x.min {
		return // asked for twice
	}
	x.min = min
	if err := x.w.PutOrder(uint32(t.id), t.cpu.InstrCount(), min); err != nil && x.err == nil {
		x.err = err
	}
}

// put logs that bytes of a line flow in now, own ones of them unknown until
// they are written.
func (x *translation) put(line, mask, own uint64, data []byte) {
	p := traces.Packet{Kind: traces.Part, Line: line, Mask: mask, Own: own, Bytes: data}
	if err := x.w.Put(uint32(x.t.id), x.t.cpu.InstrCount(), &p); err != nil && x.err == nil {
		x.err = err
	}
}

// Load serves x86.Watcher.
func (x *translation) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	if x.t.reads == nil {
		return v
	}
	line, at := addr>>hwmodel.LineShift, addr%hwmodel.LineSize
	old, known := x.known.KnownLine(line)
	var mask uint64
	var data [8]byte
	b := data[:0]
	for i := range uint64(size) {
		now := byte(v >> (8 * i))
		if known>>(at+i)&1 == 0 || old[at+i] != now {
			mask |= 1 << (at + i)
			b = append(b, now)
		}
	}
	if mask != 0 {
		x.put(line, mask, 0, b)
		x.learn(line, at, size, v)
	}
	return v
}

// Store serves x86.Watcher.
func (x *translation) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	line, at := addr>>hwmodel.LineShift, addr%hwmodel.LineSize
	if x.t.reads != nil {
		_, known := x.known.KnownLine(line)
		if own := (1<<(size-1)<<1 - 1) << at &^ known; own != 0 {
			x.put(line, 0, own, nil)
		}
	}
	x.learn(line, at, size, v)
}

// learn makes bytes of a line known.
func (x *translation) learn(line, at uint64, size int, v uint64) {
	pg := x.known.own(line / linesPerPage)
	pg.learnPart(line, (1<<(size-1)<<1-1)<<at)
	d := pg.line(line)
	for i := range uint64(size) {
		d[at+i] = byte(v >> (8 * i))
	}
}

// touch is told of each line before the thread accesses it. Of a log of values,
// what flows in is only known later, but lines must appear in this order: an
// instruction that stores to two lines asks for both first. Of a log of pages,
// the line flows in if it is the first access since the thread acquired the
// page, and the thread didn't know what is there.
func (x *translation) touch(line uint64) {
	if x.t.reads != nil {
		if pg := x.known.find(line / linesPerPage); pg == nil || pg.known>>(line&lineInPage)&1 == 0 {
			x.put(line, 0, 0, nil)
			x.known.own(line/linesPerPage).learnPart(line, 0)
		}
		return
	}
	pg := x.t.mem.find(line / linesPerPage)
	if pg == nil || x.t.fresh[line/linesPerPage]>>(line&lineInPage)&1 == 0 {
		return
	}
	x.t.fresh[line/linesPerPage] &^= 1 << (line & lineInPage)
	now := pg.line(line)
	if old, known := x.known.KnownLine(line); known == ^uint64(0) && *old == *now {
		return
	}
	if err := x.w.PutImport(uint32(x.t.id), x.t.cpu.InstrCount(), line, now); err != nil && x.err == nil {
		x.err = err
	}
	*x.known.WriteLine(line) = *now
}
