package record

import (
	"bytes"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Executed code is in the trace. Most of it is a module's: of a page that is as
// the module's file has it, the trace gets only the lines that are executed, and
// a hash by which whoever has the file knows that it is the same. Any other page
// is logged whole, when it is executed first and when it has changed since, or,
// with CodeLogLine, by lines that flow into threads.

// A codePage is a page of code as the trace has it.
type codePage struct {
	bytes []byte // nil: can't be executed any more
	part  bool   // only lines are in the trace
	lines uint64 // a bit each
	own   bool   // each thread has it in its stream, as far as it executes it; bytes are those of the first time
}

// Code serves x86.Memory. The page's content goes to the process stream when
// it is first decoded and when it has changed since.
func (r *recorder) Code(c *x86.CPU, pc uint64) []byte {
	page := pc >> pageShift
	b := r.as.Code(pc &^ (linux.PageSize - 1))
	old := r.code[page]
	if old != nil && (bytes.Equal(b, old.bytes) || old.own && b != nil) || old == nil && b == nil {
		if b == nil {
			return nil
		}
		return b[pc%linux.PageSize:]
	}
	if old != nil {
		// A replay of this thread must notice at this very instruction: it does
		// so at orderable events.
		r.min++
	}
	e := &codePage{bytes: bytes.Clone(b)}
	e.part = old == nil && r.ofModule(page, b)
	e.own = !e.part && b != nil && r.cfg.CodeLog == CodeLogLine
	r.code[page] = e
	if e.own {
		r.put(0, 0, &traces.Packet{Kind: traces.CodeOwn, Min: r.min, Addr: page << pageShift})
	} else if e.part {
		r.put(0, 0, &traces.Packet{Kind: traces.CodePage, Min: r.min, Addr: page << pageShift, Hash: xxh3.Hash(b)})
	} else {
		r.put(0, 0, &traces.Packet{Kind: traces.Code, Min: r.min, Addr: page << pageShift, Bytes: b})
	}
	if old != nil {
		r.event(r.cur, &traces.Packet{Kind: traces.Switch, Unit: uint32(r.unit)})
		r.event(r.cur, &traces.Packet{Kind: traces.Switch, Unit: uint32(r.unit), In: true})
	}
	if b == nil {
		return nil
	}
	return b[pc%linux.PageSize:]
}

// CodeUsed implements x86.CodeUser.
func (r *recorder) CodeUsed(pc, n uint64) {
	end := (pc + n - 1) >> hwmodel.LineShift
	for line := pc >> hwmodel.LineShift; line <= end; line++ {
		e := r.code[line/linesPerPage]
		if e == nil || !e.part || e.lines>>(line%linesPerPage)&1 != 0 {
			continue
		}
		first := line
		for ; ; line++ { // as many as are new, of this page
			e.lines |= 1 << (line % linesPerPage)
			if next := line + 1; next > end || next%linesPerPage == 0 || e.lines>>(next%linesPerPage)&1 != 0 {
				break
			}
		}
		at := first % linesPerPage * hwmodel.LineSize
		r.put(0, 0, &traces.Packet{Kind: traces.CodeLines, Line: first, Bytes: e.bytes[at:][:(line-first+1)*hwmodel.LineSize]})
	}
}

// ofModule says whether a page is as the file of a module has it.
func (r *recorder) ofModule(page uint64, b []byte) bool {
	if len(b) != linux.PageSize {
		return false
	}
	at := emulate.Addr(page << pageShift)
	for _, v := range r.as.Mappings() {
		if at < v.Addr || at >= v.Addr+emulate.Addr(v.N) {
			continue
		}
		for _, m := range r.modules {
			if m.Path == v.Path {
				return sameInFile(v.Path, int64(v.Offset+uint64(at-v.Addr)), b)
			}
		}
		return false
	}
	return false
}

// sameInFile says whether a file has a page's bytes at off. Behind its end are
// zeros.
func sameInFile(path string, off int64, page []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var have [linux.PageSize]byte
	f.ReadAt(have[:], off) // what can't be read isn't equal
	return bytes.Equal(have[:], page)
}
