package record

import (
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// values logs what a thread reads value by value, as far as it isn't predicted,
// and the order of its accesses, if the memory model wants it. It is the
// thread's x86.Watcher: no line gets a read tag, so it sees every load, and no
// write tag if stores matter, too.
type values struct {
	r    *recorder
	t    *thread
	pred *hwmodel.Predictor // nil: lines or pages are logged

	at      uint64 // the instruction that skipped is about
	skipped uint64 // its reads that were predicted, since the last one that wasn't
}

// Load serves x86.Watcher.
func (l *values) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	n := c.InstrCount()
	if l.r.cfg.orders.Loads() && !c.Atomic() { // atomic ones have their number
		l.r.order(n)
	}
	if l.pred == nil {
		return v
	}
	if n != l.at {
		l.at, l.skipped = n, 0
	}
	if l.t.sel.off {
		return v // a key frame begins anew
	}
	if p, ok := l.pred.Predict(addr, size); ok && p == v {
		l.skipped++
	} else {
		if err := l.r.w.PutRead(l.t.stream, n, l.skipped, v); err != nil && !l.r.ended {
			l.r.failed(err)
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
		}
		l.skipped = 0
	}
	l.pred.Loaded(addr, size, v)
	return v
}

// Store serves x86.Watcher.
func (l *values) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	if l.r.cfg.orders.Stores() && !c.Atomic() {
		l.r.order(c.InstrCount())
	}
	if l.pred != nil {
		l.pred.Stored(addr, size, v)
	}
}

// reset forgets everything, at a key frame.
func (l *values) reset() {
	if l.pred != nil {
		l.pred.Reset()
	}
	l.skipped = 0
}
