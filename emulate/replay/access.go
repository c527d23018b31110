package replay

import (
	"fmt"
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// errDiverged ends the execution when a callback found a divergence, which is
// in Thread.err.
var errDiverged = fmt.Errorf("replay: divergence")

func (t *Thread) raise(expected, format string, args ...any) {
	t.diverged(expected, format, args...)
	x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errDiverged})
}

// writable returns a page that only this thread has, for changing.
func (t *Thread) writable(num uint64) *page {
	pg := t.mem.find(num)
	if pg != nil && pg.gen == t.mem.gen {
		return pg
	}
	own := t.mem.own(num)
	if pg != nil {
		for l := num * linesPerPage; l < (num+1)*linesPerPage; l++ {
			t.win.Drop(l) // its pointer is into the shared page
		}
	}
	return own
}

// Line serves x86.Memory from what the stream brought in.
func (t *Thread) Line(c *x86.CPU, line uint64, write bool) unsafe.Pointer {
	if t.fault != nil && t.fault.line == line && t.fault.write == write {
		s := t.fault.stop
		x86.Raise(&s)
	}
	if t.reads != nil {
		if write {
			t.invalidate(line / linesPerPage)
		}
		if t.onLine != nil {
			t.onLine(line)
		}
		return unsafe.Pointer(&t.reads.line)
	}
	pg := t.mem.find(line / linesPerPage)
	tag := !t.all && t.every == nil && (t.observed == nil || !t.observed.Has(line)) && !t.watched.has(line) && (t.fault == nil || t.fault.line != line)
	if pg == nil || pg.known>>(line&lineInPage)&1 == 0 || t.q.lines[line%lineCounts] != 0 || t.q.len() == 0 || t.q.pages != 0 {
		took := t.takeImport(line)
		if t.err != nil { // another thread's, that it depends on
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errDiverged})
		}
		if !took && (pg == nil || pg.known>>(line&lineInPage)&1 == 0) {
			t.unknown(line, write)
		}
		pg = t.mem.find(line / linesPerPage)
		// The same line may flow in again soon: it is shown elsewhere, too, and
		// written there.
		tag = tag && !t.q.waits(line)
	}
	if t.onLine != nil {
		t.onLine(line)
	}
	own := pg.gen == t.mem.gen
	if write {
		if !own {
			pg, own = t.writable(line/linesPerPage), true
		}
		t.invalidate(line / linesPerPage)
	}
	p := unsafe.Pointer(pg.line(line))
	if tag {
		t.win.Allow(line, p, own && !t.stores && !t.codes.has(line/linesPerPage))
	}
	return p
}

// unknown finds the content of a line that no packet brought in, or raises.
func (t *Thread) unknown(line uint64, write bool) {
	if t.Unknown != nil {
		if d := t.Unknown(t, line, write); d != nil {
			t.importLine(line, d)
			return
		}
	}
	verb := "a read"
	if write {
		verb = "a write"
	}
	t.raise("only accesses to memory that the stream brought in", "%s of line %v, which it didn't", verb, emulate.Addr(line<<hwmodel.LineShift))
}

// Code serves x86.Memory from the trace's code.
func (t *Thread) Code(c *x86.CPU, pc uint64) []byte {
	var b []byte
	if t.s.ownAt(pc>>PageShift, t.min) {
		b = t.ownCode(pc)
	} else {
		b = t.s.CodeAt(emulate.Addr(pc), t.min)
	}
	if b == nil {
		return nil
	}
	if num := pc >> PageShift; !t.codes.has(num) {
		t.codes.add(num)
		for l := num * linesPerPage; l < (num+1)*linesPerPage; l++ {
			t.win.DropWrite(l)
		}
	}
	return b
}

// invalidate drops what was decoded from a page, if anything was.
func (t *Thread) invalidate(num uint64) {
	if t.codes.has(num) {
		t.cpu.Blocks.Invalidate(num)
		delete(t.codes.pages, num)
	}
}

// codePages is a set of pages with decoded code: their lines get no write tag.
type codePages struct {
	pages  map[uint64]struct{}
	filter [64]uint64 // a bit for the low 12 bits of each page's number
}

func (c *codePages) has(num uint64) bool {
	if c.filter[num>>6%64]>>(num%64)&1 == 0 {
		return false
	}
	_, ok := c.pages[num]
	return ok
}

func (c *codePages) add(num uint64) {
	c.filter[num>>6%64] |= 1 << (num % 64)
	c.pages[num] = struct{}{}
}

// Orderable serves x86.Env: the event must be due now.
func (t *Thread) Orderable(c *x86.CPU, addr uint64, size int) {
	n := c.InstrCount()
	if !t.s.orders.Fences() {
		if t.OnOrder != nil {
			t.OnOrder(t, t.min, addr, size)
		}
		return
	}
	if t.orderOK || t.orderAt != n {
		w := t.due(n)
		switch {
		case w != nil && w.line == noLine:
			t.stats.Orders++
			t.order, t.orderAt = w.min, n
			min := w.min
			t.q.pop()
			t.event(min, n)
		case t.orderOK && t.orderAt == n && t.order != 0:
			// A Watcher had stopped the instruction after it asked.
		default:
			t.raise(t.nextPacket(), "an orderable instruction")
		}
	}
	t.orderOK = true
	m := t.order
	if t.OnOrder != nil {
		t.OnOrder(t, m, addr, size)
	}
}

// Nondet serves x86.Env with the recorded registers.
func (t *Thread) Nondet(c *x86.CPU, what x86.NondetKind, dst uint8, size int) {
	p := t.nondet
	if p == nil || p.count != c.InstrCount() || p.what != what {
		t.raise(t.nextPacket(), "a %v instruction", what)
	}
	t.nondet = nil
	if t.orderAt == c.InstrCount() {
		t.orderOK = true // it reads the clock: its order came as a packet
	}
	if !x86.SetNondetRegs(c, what, dst, p.regs) {
		t.raise("its results", "%d registers", len(p.regs))
	}
}
