package record

import (
	"slices"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A log of pages: a page is held by one thread that may write it, or by any
// number that may read it. A thread that acquires one gets what it doesn't know
// of it: lines that changed since it held the page last, or, if the thread that
// wrote it last is recorded and knows all of it, only when that one gave it up.

// tenants are those of one page.
type tenants struct {
	writer  *thread   // who may write, nil: nobody
	readers []*thread // who may read, the writer among them
	last    *thread   // who wrote last
	in      *recorder // the process that last is of
}

// acquire makes the running thread hold the page of line, and know its bytes.
func (r *recorder) acquire(e *place, line uint64, write bool) {
	h := r.tenants[e.frame]
	if h == nil {
		h = &tenants{}
		r.tenants[e.frame] = h
	}
	t := r.cur
	if h.writer != t {
		holds := h.writer == nil && slices.Contains(h.readers, t)
		if write {
			holds = false
			h.writer, h.readers = t, append(h.readers[:0], t)
		} else if !holds {
			h.writer, h.readers = nil, append(h.readers, t)
		}
		if !holds {
			r.m.DropPage(e.page - 1)
			r.logPage(h, e)
		}
	}
	if !t.know.Known(line, &e.frame.HW[line%linesPerPage]) {
		r.logPage(h, e) // the kernel wrote there, or a key frame came
	}
	if write {
		h.last, h.in = t, r
	}
}

// logPage logs what the running thread doesn't know of a page.
func (r *recorder) logPage(h *tenants, e *place) {
	t, num := r.cur, e.page-1
	p := traces.Packet{Kind: traces.Page, N: num}
	first := num * linesPerPage
	for i := range e.frame.HW {
		l := &e.frame.HW[i]
		b := e.data[i*hwmodel.LineSize:][:hwmodel.LineSize]
		switch {
		case t.know.Known(first+uint64(i), l):
			p.Mask |= 1 << i
			continue
		case *(*[hwmodel.LineSize]byte)(b) == [hwmodel.LineSize]byte{}:
			p.Own |= 1 << i
		default:
			r.pageBuf = append(r.pageBuf, b...)
		}
	}
	p.Bytes = r.pageBuf
	r.pageBuf = r.pageBuf[:0]
	if p.Mask == ^uint64(0) {
		return
	}
	if w := h.last; w != nil && w != t && h.in == r && w.knowsPage(first, e.frame) {
		p = traces.Packet{Kind: traces.PageFrom, N: num, Thread: w.stream, Value: w.min}
	}
	for i := range e.frame.HW {
		if l := &e.frame.HW[i]; !t.know.Known(first+uint64(i), l) {
			if t.know.Forgot(first+uint64(i), l) {
				t.again++
			}
			t.imports++
			t.know.Learn(first+uint64(i), l)
		}
	}
	if err := r.w.Put(t.stream, t.t.CPU.InstrCount(), &p); err != nil && !r.ended {
		r.failed(err)
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: err})
	}
}

// knowsPage says whether a thread's stream holds the page that begins with line
// first in its present version.
func (t *thread) knowsPage(first uint64, f *linux.Frame) bool {
	for i := range f.HW {
		if !t.know.Known(first+uint64(i), &f.HW[i]) {
			return false
		}
	}
	return true
}
