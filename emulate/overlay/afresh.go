package overlay

import (
	"errors"

	"github.com/racesim/racesim/emulate/x86"
)

// A thread that has left its recorded path may call the allocator where the
// recording doesn't know what it finds there: an arena that nobody used, a
// symbol that wasn't bound. What an allocator promises is known all the same
// (ISO C17, 7.22.3): a block of its own, or that it takes one back. So the call
// is undone and answered: blocks come from memory that nothing else has.

// An undoing is what a call of the allocator changed so far.
type undoing struct {
	regs  [32]uint64 // at its entry, see x86.CPU
	sum   uint64
	lines map[uint64]line // of the overlay, as they were; mask 0: not there
	lost  bool            // others ran meanwhile
}

// strange says whether the allocator just entered gets a block that it didn't
// give out.
func (p *participant) strange() bool {
	if p.alloc.sp == 0 || len(p.run.heap.afresh) == 0 {
		return false
	}
	switch p.alloc.kind {
	case HeapFree, HeapRealloc, HeapReallocN:
		return p.run.heap.afresh[p.alloc.undo.regs[x86.RDI]]
	}
	return false
}

// begins notes what a call must be undone to.
func (p *participant) begins() {
	p.alloc.undo = undoing{regs: p.cpu.R, sum: p.sum, lines: map[uint64]line{}}
}

// changes keeps a line of the overlay before a call of the allocator changes it.
func (p *participant) changes(n uint64, l *line) {
	if p.alloc.sp == 0 || p.alloc.undo.lines == nil {
		return
	}
	if _, ok := p.alloc.undo.lines[n]; !ok {
		p.alloc.undo.lines[n] = *l
	}
}

// afresh undoes the call of the allocator under way and answers it. It returns
// false if that isn't possible.
func (p *participant) afresh() bool {
	a, h := &p.alloc, p.run.heap
	if a.sp == 0 || a.undo.lines == nil || a.undo.lost || a.size > maxAfresh || a.kind == HeapGo || p.run.directed {
		return false
	}
	ret, ok := p.peekWord(a.sp)
	if !ok {
		return false
	}
	for n, old := range a.undo.lines {
		*p.run.mem.own(n) = old
	}
	p.sum = a.undo.sum
	result := uint64(0)
	if a.kind != HeapFree {
		result = p.run.mapAnonymous(a.size+afreshHead) + afreshHead
		h.afresh[result] = true
	}
	switch old := a.undo.regs[x86.RDI]; a.kind {
	case HeapOut:
		p.put(a.out, 8, result)
		result = 0
	case HeapRealloc, HeapReallocN:
		if !p.copies(result, old, min(a.size, a.was)) {
			return false
		}
	}
	if p.run.log != nil {
		p.run.log.fail(errAfresh)
	}
	p.assumed++
	if !p.diverged {
		p.diverge("an allocator whose state isn't known")
	}
	p.returnFrom(result, ret)
	return true
}

// copies moves n bytes that must be known, if only as never written.
func (p *participant) copies(to, from, n uint64) bool {
	for i := uint64(0); i < n; i++ {
		b, ok := p.peek(from + i)
		if !ok && !overlaps(p.run.fresh, from+i, 1) {
			return false
		}
		p.put(to+i, 1, uint64(b))
	}
	return true
}

// put stores as the participant, outside of its code.
func (p *participant) put(addr uint64, size int, v uint64) {
	if !p.ownStack(addr) {
		p.change(addr, size, v)
	}
	for i := 0; i < size; i++ {
		p.run.mem.Set(p.canonAddr(addr+uint64(i)), byte(v>>(8*i)))
	}
	for i := uint64(0); i < uint64(size); i++ {
		p.run.wrote(p, p.canon((addr+i)>>6), 1<<((addr+i)&63))
	}
}

// returnFrom leaves the allocator's function as its caller expects it.
func (p *participant) returnFrom(result, ret uint64) {
	c, a := p.cpu, &p.alloc
	s := c.State()
	s.R = a.undo.regs
	s.R[x86.RSP], s.R[x86.RAX], s.RIP = a.sp+8, result, ret
	s.Pending = x86.Pending{}
	c.SetState(s)
	sp := a.sp
	p.allocated()
	if p.quietSP != 0 && sp+8 > p.quietSP {
		p.quietSP = 0
	}
	if p.locking.sp != 0 && sp+8 > p.locking.sp {
		p.locking = locking{}
	}
}

const (
	maxAfresh  = 1 << 30
	afreshHead = 64 // bytes before a block; more than any alignment that size alone asks for
)

var errStrange = errors.New("a block of the experiment's own, given to the allocator")

// errAfresh is why a run that did so can't be kept as a trace.
var errAfresh = errors.New("overlay: an allocation that the recording can't answer")
