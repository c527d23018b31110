package record

import (
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

const (
	pageShift    = 12
	linesPerPage = linux.PageSize / hwmodel.LineSize
)

// A place is where a virtual page's bytes and lines are, as Translate said.
type place struct {
	page  uint64 // number + 1; 0: the entry is empty
	frame *linux.Frame
	data  *[linux.PageSize]byte
	write bool // stores are allowed
}

// places is a direct-mapped cache of Translate's answers: without it, every
// miss of a window would touch page table and frame, too, which few host caches
// hold.
const places = 2048

// find returns where a page is, or raises the fault that it isn't there.
func (r *recorder) find(line uint64, write bool) *place {
	page := line / linesPerPage
	e := &r.places[page%places]
	if r.borrowed {
		e.page = 0
	}
	if e.page == page+1 && (e.write || !write) {
		return e
	}
	first := r.cfg.marks&MarkFaults != 0 && !r.as.Present(page)
	f, stop := r.as.Translate(page, write)
	if first && stop == nil {
		r.markFault(page)
	}
	if stop != nil {
		if stop.Kind == x86.StopFault {
			stop.Addr = line << hwmodel.LineShift // the processor knows the byte
		}
		x86.Raise(stop)
	}
	*e = place{page + 1, f, f.Data, write}
	return e
}

// Line serves x86.Memory: it is what happens when the running thread's window
// doesn't answer.
func (r *recorder) Line(c *x86.CPU, line uint64, write bool) unsafe.Pointer {
	e := r.find(line, write)
	i := line % linesPerPage
	l := &e.frame.HW[i]
	p := unsafe.Pointer(&e.data[i*hwmodel.LineSize])
	if write && e.frame.Code {
		r.as.CodeWritten(e.frame)
	}
	t := r.cur
	may := r.m.Access(r.unit, l, line, write)
	if r.tlb {
		r.entry = r.m.Translate(r.unit, r.as.ID(), e.page-1, &e.frame.HW[0])
	}
	if r.cfg.reads.Values() {
		if l.Touch(t.stream, line, write) {
			r.share(line, l)
		}
		if write && may && !e.frame.Code && !r.cfg.reads.SeesStores() && !r.cfg.orders.Stores() {
			r.win.AllowWrites(line, p)
		}
		return p
	}
	if e.frame.Outside != nil && r.cfg.reads.Kind != hwmodel.ReadsPage {
		return r.outside(c, e, l, line, write)
	}
	if r.cfg.reads.Kind == hwmodel.ReadsPage {
		r.acquire(e, line, write)
	} else if !t.know.Known(line, l) || !r.m.Remembers(r.unit) {
		if !t.sel.off && (r.holders == nil || !r.fetch(c, line, l, write)) {
			if err := r.imported(t, c.InstrCount(), line, e.data); err != nil {
				r.failed(err)
				x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
			}
		}
		if t.know.Forgot(line, l) {
			t.again++
		}
		t.imports++
		t.know.Learn(line, l)
		r.m.Remember(r.unit, write)
	}
	if r.hw.Prefetch > 0 && r.m.Missed(r.unit) {
		for k := uint64(1); k <= uint64(r.hw.Prefetch) && i+k < linesPerPage; k++ {
			r.m.Prefetch(r.unit, &e.frame.HW[i+k], line+k)
		}
	}
	if write {
		if r.cfg.LogMode == LogCCPReaders {
			r.upgrade(c, line, l)
		}
		r.m.Claim(t.know, line, l)
		may = may && !e.frame.Code
	}
	if r.holders != nil {
		r.holders.note(t, line, l)
	}
	if l.Touch(t.stream, line, write) {
		r.share(line, l)
	}
	if t.reads == nil {
		r.win.Allow(line, p, write && may)
	} else if write && may && !r.cfg.orders.Stores() {
		r.win.AllowWrites(line, p)
	}
	return p
}

// outside is Line for memory that processes of the host may change, too. Nothing of
// it is kept: each access comes here, and what isn't what the thread knows flows
// in. A load gets the bytes that were logged, a store goes where everybody sees
// it; after that nobody knows the line, since others may have stored there, too.
func (r *recorder) outside(c *x86.CPU, e *place, l *hwmodel.Line, line uint64, write bool) unsafe.Pointer {
	at := line % linesPerPage * hwmodel.LineSize
	live := (*[hwmodel.LineSize]byte)(e.data[at:])
	seen := (*[hwmodel.LineSize]byte)(e.frame.Outside[at:])
	if now := *live; now != *seen {
		*seen = now
		r.m.Invalidate(l)
	}
	t := r.cur
	if !t.know.Known(line, l) {
		entry, alias := r.m.Log(r.entry, t)
		if err := r.w.PutImportBy(t.stream, c.InstrCount(), line, seen, entry, alias); err != nil {
			r.failed(err)
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
		}
		t.know.Learn(line, l)
	}
	if l.Touch(t.stream, line, write) {
		r.share(line, l)
	}
	r.win.Drop(line)
	if write {
		r.m.Invalidate(l)
		return unsafe.Pointer(live)
	}
	return unsafe.Pointer(seen)
}

// imported logs a line that flows in from memory.
func (r *recorder) imported(t *thread, count, line uint64, page *[linux.PageSize]byte) error {
	if r.images != nil {
		n, err := r.image(line, page)
		if err != nil {
			return err
		}
		return r.w.Put(t.stream, count, r.named(&traces.Packet{Kind: traces.Memory, Line: line, Value: n}))
	}
	entry, alias := r.m.Log(r.entry, t)
	return r.w.PutImportBy(t.stream, count, line, (*[hwmodel.LineSize]byte)(page[line%linesPerPage*hwmodel.LineSize:]), entry, alias)
}

// share notes that threads share a line.
func (r *recorder) share(line uint64, l *hwmodel.Line) {
	r.shared.Add(line)
	r.shared.Add(l.Home())
}

// KernelWrite implements linux.Hooks.
func (r *recorder) KernelWrite(t *linux.Thread, addr emulate.Addr, f *linux.Frame, off, n int) {
	if n <= 0 {
		return
	}
	first := off / hwmodel.LineSize
	last := (off + n - 1) / hwmodel.LineSize
	for i := first; i <= last; i++ {
		l := &f.HW[i]
		r.m.Invalidate(l)
		if t != nil {
			line := addr.Page()*linesPerPage + uint64(i)
			if l.Touch(uint32(t.ID), line, true) {
				r.share(line, l)
			}
		}
	}
}

// kernelRead notes what the kernel read on a thread's behalf.
func (r *recorder) kernelRead(t *linux.Thread, reads []linux.Range) {
	for _, g := range reads {
		if g.N == 0 {
			continue
		}
		end := (uint64(g.Addr) + g.N - 1) >> hwmodel.LineShift
		for line := g.Addr.Line(); line <= end; {
			f, stop := r.as.Translate(line/linesPerPage, false)
			next := (line/linesPerPage + 1) * linesPerPage
			if stop != nil {
				line = next
				continue
			}
			for ; line < next && line <= end; line++ {
				l := &f.HW[line%linesPerPage]
				if l.Touch(uint32(t.ID), line, false) {
					r.share(line, l)
				}
			}
		}
	}
}

// FrameChange implements linux.Hooks.
func (r *recorder) FrameChange(page uint64, old *linux.Frame) {
	delete(r.tenants, old)
	r.m.DropPage(page)
	r.m.FlushPage(page)
	r.places[page%places] = place{}
}

// FrameCode implements linux.Hooks: nobody may write the frame's lines without
// asking.
func (r *recorder) FrameCode(page uint64, f *linux.Frame) {
	for i := range f.HW {
		r.m.DropWrites(&f.HW[i])
	}
	r.m.DropPage(page)
}

// Map implements linux.Hooks.
func (r *recorder) Map(m linux.Mapping) {
	r.put(0, 0, &traces.Packet{Kind: traces.Map, Min: r.min, Addr: uint64(m.Addr), N: m.N, Prot: int32(m.Prot),
		Shared: m.Shared, Path: m.Path, Offset: m.Offset, Alias: m.Alias, AliasOffset: m.AliasOffset})
}

// Unmap implements linux.Hooks.
func (r *recorder) Unmap(addr emulate.Addr, n uint64) {
	r.dropRange(addr, n)
	r.put(0, 0, &traces.Packet{Kind: traces.Unmap, Min: r.min, Addr: uint64(addr), N: n})
}

// Protect implements linux.Hooks.
func (r *recorder) Protect(addr emulate.Addr, n uint64, prot int) {
	r.dropRange(addr, n)
	r.put(0, 0, &traces.Packet{Kind: traces.Protect, Min: r.min, Addr: uint64(addr), N: n, Prot: int32(prot)})
}

// dropRange drops the tags of a range of pages.
func (r *recorder) dropRange(addr emulate.Addr, n uint64) {
	const few = 32 // pages; beyond, it is cheaper to drop everything
	if n > few<<pageShift {
		for u := range r.hw.Units() {
			r.m.Window(u).Clear()
			if f := r.m.FetchWindow(u); f != nil {
				f.Clear()
			}
		}
		r.m.FlushTLBs()
		clear(r.places[:])
		return
	}
	for page := addr.Page(); page < (uint64(addr)+n+linux.PageSize-1)>>pageShift; page++ {
		r.m.DropPage(page)
		r.m.FlushPage(page)
		r.places[page%places] = place{}
	}
}

// Module implements linux.Hooks.
func (r *recorder) Module(m linux.Module) {
	r.modules = append(r.modules, m)
	r.selects(m)
	r.put(0, 0, &traces.Packet{Kind: traces.Module, Min: r.min, Path: m.Path, Addr: uint64(m.Base),
		BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime})
	r.embed(m)
}
