package replay

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Imports, orders and reads, by far the most packets, don't interrupt the execution:
// they wait in a queue until the instruction that they belong to asks for
// them, because its line has no tag or because it is orderable. One that isn't
// asked for at its count is a divergence.

// queueSize is the number of packets that may wait, a power of two.
const queueSize = 256

// A waiting is an import or a part of one, an order (with line noLine), a read
// (readLine) or a page (pageLine).
type waiting struct {
	count  uint64
	line   uint64
	min    uint64           // of an order; of a fetch, the source's event; value of a read; number of a page
	mine   bool             // of an upgrade: the thread has the line
	nth    uint64           // place in the stream, from 0
	source emulate.ThreadID // of a fetch whose bytes aren't there yet, else 0
	theirs uint64           // and the line there
	skip   uint64           // of a read; of a page from another thread, its event there
	of     uint32           // that thread; 0: mask are the lines that stay, own those of zeros, rest the others
	rest   []byte
	part   bool // an import of the bytes in mask alone; those in own are about to be written
	mask   uint64
	own    uint64
	data   [hwmodel.LineSize]byte
}

// What isn't a line.
const (
	noLine   = ^uint64(0)
	readLine = noLine - 1
	pageLine = noLine - 2
)

func (w *waiting) isImport() bool { return w.line < pageLine }

// lineCounts is the length of queue.lines, a power of two, many times queueSize.
const lineCounts = 4096

// A queue is a ring of waiting packets.
type queue struct {
	head, tail uint // of the ring; tail-head packets wait
	ring       [queueSize]waiting
	// lines counts the waiting imports by the low bits of their lines.
	lines [lineCounts]uint16
	pages int // waiting pages
}

func (q *queue) len() uint       { return q.tail - q.head }
func (q *queue) full() bool      { return q.len() == queueSize }
func (q *queue) front() *waiting { return &q.ring[q.head%queueSize] }
func (q *queue) last() *waiting  { return &q.ring[(q.tail-1)%queueSize] }

// push appends a packet; data are the bytes of one that doesn't have them itself.
func (q *queue) push(p *traces.Packet, data *[hwmodel.LineSize]byte) {
	w := &q.ring[q.tail%queueSize]
	w.count, w.source, w.part, w.mine = p.Count, 0, false, false
	switch p.Kind {
	case traces.Import, traces.Part:
		w.take(p)
		q.lines[p.Line%lineCounts]++
	case traces.Upgrade:
		w.line, w.mine = p.Line, true
		q.lines[p.Line%lineCounts]++
	case traces.Memory:
		w.line, w.data = p.Line, *data
		q.lines[p.Line%lineCounts]++
	case traces.Fetch, traces.FetchOwn, traces.FetchAs, traces.Snoop, traces.SnoopOwn:
		w.fetch(p)
		q.lines[p.Line%lineCounts]++
	case traces.Read:
		w.line, w.min, w.skip = readLine, p.Value, p.Skip
	case traces.Page:
		w.line, w.min, w.of, w.mask, w.own, w.rest = pageLine, p.N, 0, p.Mask, p.Own, p.Bytes
		q.pages++
	case traces.PageFrom:
		w.line, w.min, w.of, w.skip = pageLine, p.N, p.Thread, p.Value
		q.pages++
	default:
		w.line, w.min = noLine, p.Min
	}
	q.tail++
}

// take makes w the import or part p.
func (w *waiting) take(p *traces.Packet) {
	w.line, w.data, w.part = p.Line, *p.Data, p.Kind == traces.Part
	if w.part {
		w.mask, w.own = p.Mask, p.Own
	}
}

// fetch makes w a line that another thread has.
func (w *waiting) fetch(p *traces.Packet) {
	w.line, w.source, w.min, w.theirs = p.Line, emulate.ThreadID(p.Thread), p.Since, p.Line
	if p.Kind == traces.FetchAs {
		w.theirs = p.Value
	}
}

func (q *queue) pop() {
	if w := q.front(); w.isImport() {
		q.lines[w.line%lineCounts]--
	} else if w.line == pageLine {
		q.pages--
	}
	q.head++
}

// waits says whether an import of line waits.
func (q *queue) waits(line uint64) bool {
	if q.lines[line%lineCounts] == 0 && q.pages == 0 {
		return false
	}
	for i := q.head; i != q.tail; i++ {
		if w := &q.ring[i%queueSize]; w.line == line || w.line == pageLine && w.min == line/linesPerPage {
			return true
		}
	}
	return false
}

// clear makes q empty.
func (q *queue) clear() {
	q.head, q.tail, q.pages = 0, 0, 0
	clear(q.lines[:])
}

// copyTo makes d equal to q.
func (q *queue) copyTo(d *queue) {
	d.head, d.tail, d.lines, d.pages = q.head, q.tail, q.lines, q.pages
	for i := q.head; i != q.tail; i++ {
		d.ring[i%queueSize] = q.ring[i%queueSize]
	}
}

func (w *waiting) String() string {
	switch w.line {
	case noLine:
		return fmt.Sprintf("orderable event %d at instruction %d", w.min, w.count)
	case pageLine:
		return fmt.Sprintf("a first access to page %v at instruction %d", emulate.Addr(w.min<<PageShift), w.count)
	case readLine:
		return fmt.Sprintf("a read at instruction %d", w.count)
	}
	return fmt.Sprintf("a first access to line %v at instruction %d", emulate.Addr(w.line<<hwmodel.LineShift), w.count)
}

// queued are the kinds of packets that wait in the queue.
var queued = Kinds(traces.Import, traces.Order, traces.Read, traces.Part, traces.Page, traces.PageFrom, traces.Fetch, traces.FetchOwn, traces.FetchAs, traces.Memory, traces.Snoop, traces.SnoopOwn, traces.Upgrade)

// queues says whether a packet waits in the queue. A line of the thread's own code
// doesn't: no access need ask for it before it is executed.
func (t *Thread) queues(p *traces.Packet) bool {
	return queued.Has(p.Kind) && !t.Want.Has(p.Kind) && (t.s.own == nil || p.Kind != traces.Import || !t.s.own[p.Line/linesPerPage])
}

// fill queues the packets that come next as far as they are imports and orders
// and there is room, and returns the packet after them, nil at the end of the
// stream.
func (t *Thread) fill() *traces.Packet {
	for {
		p := t.peek()
		if p == nil || !t.queues(p) || t.q.full() {
			return p
		}
		var data *[hwmodel.LineSize]byte
		if p.Kind == traces.Memory {
			if data = t.image(p); data == nil {
				return nil
			}
		}
		t.q.push(p, data)
		if w := t.q.last(); t.peers != nil {
			w.nth = t.nth - 1
			if p.Kind == traces.Snoop || p.Kind == traces.SnoopOwn {
				w.min = t.peers.next(t.id)
			}
		}
		switch p.Kind {
		case traces.Import, traces.Part, traces.Fetch, traces.FetchOwn, traces.FetchAs, traces.Memory, traces.Snoop, traces.SnoopOwn, traces.Upgrade:
			t.win.Drop(p.Line)
		case traces.Page, traces.PageFrom:
			for l := p.N * linesPerPage; l < (p.N+1)*linesPerPage; l++ {
				t.win.Drop(l)
			}
		}
		t.stats.Packets++
		t.old = true
	}
}

// due returns the next waiting packet if it belongs to the instruction with
// number count.
func (t *Thread) due(count uint64) *waiting {
	if t.q.len() == 0 {
		// More may come than the queue has room for.
		if p := t.peek(); p == nil || p.Count != count || !t.queues(p) {
			return nil
		}
		t.fill()
	}
	if w := t.q.front(); w.count == count {
		return w
	}
	return nil
}

// takeImport applies the import of line if it is due now, and reports it.
func (t *Thread) takeImport(line uint64) bool {
	w := t.due(t.cpu.InstrCount())
	if w != nil && w.line == pageLine && w.min == line/linesPerPage {
		t.acquire(w)
		t.q.pop()
		return true
	}
	if w == nil || w.line != line || !t.arrived(w) {
		return false
	}
	if w.mine {
		t.q.pop()
		return false
	}
	t.stats.Imports++
	if t.OnImport != nil {
		t.OnImport(t, line, &w.data)
	}
	if w.part && t.Unknown != nil {
		// The other bytes may be known to whoever made the thread forget them.
		if pg := t.mem.find(line / linesPerPage); pg == nil || pg.bytes(line) == 0 {
			if d := t.Unknown(t, line, false); d != nil {
				t.importLine(line, d)
			}
		}
	}
	t.flowIn(w)
	full := t.q.full()
	t.q.pop()
	if t.peers != nil && t.peers.byPacket {
		// The same access may be the first to write it.
		if w := t.due(t.cpu.InstrCount()); w != nil && w.line == line && w.mine && t.arrived(w) {
			t.q.pop()
		}
	}
	for { // one access may need several
		if w = t.due(t.cpu.InstrCount()); w == nil || w.line != line || !w.part {
			break
		}
		t.flowIn(w)
		full = full || t.q.full()
		t.q.pop()
	}
	if full {
		// The next one may be this instruction's, too, and of a line that the
		// thread still has a tag of.
		t.fill()
	}
	return true
}

// takeDue applies the waiting packets that are due now without an instruction
// to ask for them, as the recording left it behind.
func (t *Thread) takeDue() {
	for t.err == nil && t.q.len() > 0 && t.q.front().count == t.cpu.Count {
		switch w := t.q.front(); w.line {
		case noLine:
			t.stats.Orders++
			if t.OnOrder != nil { // of an instruction that doesn't ask for it
				t.OnOrder(t, w.min, 0, 0)
			}
			min := w.min
			t.q.pop()
			t.event(min, t.cpu.Count)
		case readLine:
			return // nobody asks for it any more: it is missed
		case pageLine:
			t.acquire(w)
			t.q.pop()
		default:
			t.takeImport(w.line)
		}
	}
}

// missed returns a divergence if a waiting packet's instruction is over.
func (t *Thread) missed() error {
	if t.q.len() > 0 && t.q.front().count < t.cpu.Count {
		return t.diverged(t.q.front().String(), "none")
	}
	return nil
}
