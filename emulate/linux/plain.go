package linux

import (
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// Plain is the simplest implementation of Hooks: memory without caches, and
// nobody who listens. It runs guests for their own sake, in tests and to see
// what the processor alone costs; embed it to listen to some calls only.
type Plain struct {
	P    *Process
	wins []*hwmodel.Window // by unit
}

// Attach implements Hooks.
func (h *Plain) Attach(p *Process) {
	h.P = p
	h.wins = make([]*hwmodel.Window, p.Units())
	for i := range h.wins {
		h.wins[i] = new(hwmodel.Window)
		h.wins[i].Clear()
	}
}

// Line implements x86.Memory: every line that may be touched gets its tag.
// The units share memory, so all windows may hold a line at once.
func (h *Plain) Line(c *x86.CPU, line uint64, write bool) unsafe.Pointer {
	f, stop := h.P.AS.Translate(line>>(pageShift-hwmodel.LineShift), write)
	if stop != nil {
		stop.Addr = line << hwmodel.LineShift
		x86.Raise(stop)
	}
	p := unsafe.Pointer(&f.Data[line<<hwmodel.LineShift&pageMask])
	if write && f.Code {
		h.P.AS.CodeWritten(f)
	}
	c.Win.Allow(line, p, write)
	return p
}

// Code implements x86.Memory.
func (h *Plain) Code(_ *x86.CPU, pc uint64) []byte { return h.P.AS.Code(pc) }

// Orderable implements x86.Env.
func (h *Plain) Orderable(*x86.CPU, uint64, int) {
	if h.P.PreemptAtomic(h.P.cur) {
		x86.Raise(&x86.Stop{Kind: x86.StopYield})
	}
}

// Nondet implements x86.Env.
func (h *Plain) Nondet(_ *x86.CPU, what x86.NondetKind, dst uint8, _ int) {
	h.P.Nondet(h.P.cur, what, dst)
}

// SwitchIn implements Hooks.
func (h *Plain) SwitchIn(t *Thread, unit int) { t.CPU.Win = h.wins[unit] }

// drop forgets every line of pages [from, to).
func (h *Plain) drop(from, to uint64) {
	const perPage = PageSize / hwmodel.LineSize
	for _, w := range h.wins {
		if to-from > hwmodel.WindowSize/perPage {
			w.Clear()
			continue
		}
		for l := from * perPage; l < to*perPage; l++ {
			w.Drop(l)
		}
	}
}

// Unmap implements Hooks.
func (h *Plain) Unmap(addr emulate.Addr, n uint64) {
	h.drop(addr.Page(), addr.Page()+n>>pageShift)
}

// Protect implements Hooks.
func (h *Plain) Protect(addr emulate.Addr, n uint64, _ int) { h.Unmap(addr, n) }

// FrameChange implements Hooks.
func (h *Plain) FrameChange(page uint64, _ *Frame) { h.drop(page, page+1) }

// FrameCode implements Hooks. Aliases of the page may be anywhere.
func (h *Plain) FrameCode(uint64, *Frame) {
	for _, w := range h.wins {
		w.Clear()
	}
}

// The rest of Hooks has nothing to do.

func (h *Plain) SwitchOut(*Thread)                                          {}
func (h *Plain) Split(*Thread)                                              {}
func (h *Plain) ThreadStart(*Thread, emulate.ThreadID)                      {}
func (h *Plain) ThreadExit(*Thread, int, emulate.Addr)                      {}
func (h *Plain) SyscallEnter(*Thread, uint64, [6]uint64, []Object)          {}
func (h *Plain) SyscallExit(*Thread, uint64, uint64, Effects)               {}
func (h *Plain) Signal(*Thread, int, int32, emulate.Addr, emulate.ThreadID) {}
func (h *Plain) Context(*Thread)                                            {}
func (h *Plain) Fault(*Thread, *x86.Stop)                                   {}
func (h *Plain) Map(Mapping)                                                {}
func (h *Plain) KernelWrite(*Thread, emulate.Addr, *Frame, int, int)        {}
func (h *Plain) Module(Module)                                              {}

var _ Hooks = (*Plain)(nil)
