package replay

import (
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// values gives a thread what it reads, of a trace whose log of reads is one of
// values: the next read packet's value if it is due at this very read, else
// what the predictor says. It is the thread's x86.Watcher, and sees every
// access, because no line has a tag; where an access lies in memory doesn't
// matter, so that all have the same bytes. A nil values does nothing.
type values struct {
	t    *Thread
	pred *hwmodel.Predictor
	also x86.Watcher // of Thread.Observe, nil: none
	line [hwmodel.LineSize]byte

	at      uint64 // the instruction that skipped is about
	skipped uint64 // its reads that were predicted, since the last one that wasn't
}

// Load serves x86.Watcher.
func (l *values) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, got uint64) uint64 {
	n := c.InstrCount()
	if l.t.s.orders.Loads() && !c.Atomic() {
		l.order(n, "a load")
	}
	if l.pred == nil {
		if l.also != nil {
			return l.also.Load(c, addr, size, kind, got)
		}
		return got
	}
	if n != l.at {
		l.at, l.skipped = n, 0
	}
	v, ok := l.pred.Predict(addr, size)
	if w := l.t.due(n); w != nil && w.line == readLine && w.skip == l.skipped {
		v, ok = w.min, true
		if v>>1>>(8*size-1) != 0 {
			l.t.raise("a read of a value of at most 8 bytes that fits", "one of %d bytes for %#x", size, v)
		}
		l.t.q.pop()
		l.t.stats.Reads++
		l.skipped = 0
	} else {
		l.skipped++
	}
	if !ok {
		l.t.raise(l.t.nextPacket(), "a read that nothing predicts")
	}
	l.pred.Loaded(addr, size, v)
	if l.also != nil {
		return l.also.Load(c, addr, size, kind, v)
	}
	return v
}

// Store serves x86.Watcher.
func (l *values) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	if l.t.s.orders.Stores() && !c.Atomic() {
		l.order(c.InstrCount(), "a store")
	}
	if l.pred != nil {
		l.pred.Stored(addr, size, v)
	}
	if l.also != nil {
		l.also.Store(c, addr, size, v)
	}
}

// order takes the orderable event that an access is.
func (l *values) order(count uint64, what string) {
	w := l.t.due(count)
	if w == nil || w.line != noLine {
		l.t.raise(l.t.nextPacket(), "%s, which is orderable", what)
	}
	l.t.stats.Orders++
	min := w.min
	l.t.q.pop()
	if l.t.event(min, count); l.t.err != nil {
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errDiverged})
	}
}

// reset forgets everything, at a key frame.
func (l *values) reset() {
	if l != nil {
		l.pred.Reset()
		l.skipped = 0
	}
}

// next says that the next instruction may have the count of the last.
func (l *values) next() {
	if l != nil {
		l.skipped = 0
	}
}

// clone returns a copy for a Snapshot.
func (l *values) clone() *values {
	if l == nil {
		return nil
	}
	return &values{pred: l.pred.Clone(), at: l.at, skipped: l.skipped}
}

// restore undoes what happened since clone.
func (l *values) restore(c *values) {
	if l != nil {
		l.pred, l.at, l.skipped = c.pred.Clone(), c.at, c.skipped
	}
}
