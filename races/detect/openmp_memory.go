package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// Memory that tasks share because of who executed them, and not because the
// program says so, isn't shared.

// firstStack returns the extent of the process's first stack: what is mapped as
// such, and what it may grow into.
func (p *Pass) firstStack() (lo, hi uint64) {
	start := uint64(0)
	for _, m := range p.Session.EveryMapping() {
		if m.Path == "[stack]" {
			start, hi = uint64(m.Addr), uint64(m.Addr)+m.N
			break
		}
	}
	lo = start - min(start, growth)
	for _, m := range p.Session.EveryMapping() {
		if end := uint64(m.Addr) + m.N; end <= start {
			lo = max(lo, end)
		}
	}
	return lo, hi
}

// growth is how far a stack may grow, in bytes: 8 MiB is usual.
const growth = 1 << 28

// fresh makes the part of a thread's stack below sp new memory: it was another
// task's.
func (o *openmp) fresh(id emulate.ThreadID, th *ompThread, sp uint64) {
	if th.low < sp {
		o.p.feed(&races.Event{Op: races.OpFresh, Thread: id, Addr: emulate.Addr(th.low), N: sp - th.low})
	}
	th.low = ^uint64(0)
}

// reducedSize is the number of bytes that a thread's place of a reduction's
// memory is taken to have if that isn't known.
const reducedSize = 4096

// owns says whether n bytes at a are known to have a place for each thread.
func (o *openmp) owns(a, n uint64) bool {
	for _, m := range o.owned {
		if a >= m.lo && a+n <= m.hi {
			return true
		}
	}
	return false
}

// alloc takes in that libomp made a task's descriptor.
func (o *openmp) alloc(id emulate.ThreadID, cur *ompTask, c *ompCall) {
	ptr := c.result
	if !c.returned || ptr == 0 {
		return
	}
	if old := o.tasks[ptr]; old != nil && old.began && !old.ended { // an untied one
		o.end(id, old)
		o.p.feed(&races.Event{Op: races.OpStrandEnd, Thread: id, Strand: old.strand})
	}
	k := o.deferred(cur)
	k.ptr, k.size, k.fn, k.flags = ptr, c.arg[3]+c.arg[4], c.arg[5], c.arg[2]
	o.tasks[ptr] = k
	o.p.feed(&races.Event{Op: races.OpFresh, Thread: id, Addr: emulate.Addr(ptr), N: k.size})
}

// allocated takes in a new block: the library's for a task is the task's.
func (o *openmp) allocated(e *races.Event) {
	delete(o.blocks, e.Addr)
	if len(o.owned) > 0 {
		o.disown(uint64(e.Addr), uint64(e.Addr)+e.N)
	}
	th := o.threads[e.Thread]
	if th == nil || len(th.frames) == 0 || !o.ompLibrary(e) {
		return
	}
	fr := &th.frames[len(th.frames)-1]
	var k *ompTask
	switch fr.op {
	case gompTask:
		k = fr.next
		if len(fr.made) > 0 { // which of the blocks is the task's isn't known yet
			c := *k
			k = &c
		}
	case gompTaskloop:
		k = o.deferred(th.cur)
		o.created-- // perhaps none
		k.fn, k.flags = fr.call.arg[0], fr.call.arg[5]
	case gompReductions, gompLoopStart, gompParallelReductions:
		o.owned = append(o.owned, memoryOf{uint64(e.Addr), uint64(e.Addr) + e.N})
		return
	default:
		return
	}
	k.block = *e
	fr.made = append(fr.made, k)
	o.blocks[e.Addr] = k
	if k.id != 0 {
		o.order(races.OpRelease, e.Thread, ompObjStart|k.id)
	}
}

// freed takes in that a block is given back.
func (o *openmp) freed(e *races.Event) {
	delete(o.blocks, e.Addr)
}

// disown ends what is known of memory that is used for something else.
func (o *openmp) disown(lo, hi uint64) {
	keep := o.owned[:0]
	for _, m := range o.owned {
		if m.hi <= lo || hi <= m.lo {
			keep = append(keep, m)
		}
	}
	o.owned = keep
}

// blockOf returns the task whose memory holds an address, or ends there.
func (o *openmp) blockOf(a uint64) *ompTask {
	if k := o.blocks[emulate.Addr(a)]; k != nil {
		return k
	}
	for _, x := range [...]uint64{a, a - 1} {
		if b := o.p.Detector.BlockAt(emulate.Addr(x)); b.ID != 0 {
			if k := o.blocks[b.Addr]; k != nil {
				return k
			}
		}
	}
	return nil
}

// access takes in an access, and says whether it doesn't count: a thread's own
// variables are those of all tasks that it executes, one after the other.
func (o *openmp) access(e *races.Event) bool {
	th := o.threads[e.Thread]
	if th == nil {
		return false
	}
	a := uint64(e.Addr)
	local := a >= th.control-o.tlsSize && a < th.control+threadControl
	if a >= th.lo && a < th.hi && !local {
		if e.Flags&races.Coarse != 0 {
			a &^= 1<<lineShift - 1
		}
		th.low = min(th.low, a)
		return th.strand != 0 && e.Flags&races.Internal == 0 && o.ofSection(e.Thread, th, a)
	}
	if e.Flags&races.Internal != 0 {
		return false
	}
	if guard := a - th.control; local && guard >= guards && guard < guards+guardSize {
		return th.strand != 0
	}
	th.cur.asked = th.cur.asked || local
	if th.strand == 0 {
		return false
	}
	if local {
		if !th.cur.whose {
			th.cur.whose = true
			o.order(races.OpAcquire, e.Thread, ompObjOwner|uint64(e.Thread))
		}
		return true
	}
	if o.owns(a, 1) || o.ofSection(e.Thread, th, a) {
		return true
	}
	return len(th.frames) > 1 && th.frames[len(th.frames)-2].op == kmpReduced
}

// threadControl is about the size of what lies behind a thread's FS base
// (glibc's struct pthread), in bytes.
const threadControl = 0x900

// guards is where, from the FS base, the words are that protect stacks and
// pointers (glibc): to look at them tells nothing of the thread.
const (
	guards    = 0x28
	guardSize = 16
)
