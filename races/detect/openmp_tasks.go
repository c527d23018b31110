package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// How tasks begin and end.

// maxLoops bounds the loops of one function whose tasks aren't known to have
// been executed.
const maxLoops = 64

// out takes in a call from the library to the program.
func (o *openmp) out(id emulate.ThreadID, th *ompThread, fr *ompFrame) {
	c, cur := fr.call, th.cur
	var top *ompFrame
	if n := len(th.frames) - 2; n >= 0 {
		top = &th.frames[n]
	}
	var k *ompTask
	if b := o.blockOf(c.arg[0]); b != nil && b.fn == c.fn && !b.began {
		k = b
	} else if t := o.tasks[c.arg[1]]; t != nil && t.fn == c.fn && (!t.began || t.flags&kmpTied == 0) {
		k = t
	}
	switch {
	case k == nil && th.last != nil && th.last.ptr != 0 && th.last.ptr == c.arg[1] && th.last.strand != th.cur.strand:
		// What destroys the task's copies of variables, which is part of it.
		l := th.last
		x := o.deferred(l.parent)
		o.created--
		x.group, x.inner, x.node, x.region, x.run, x.fn = l.group, l.group, l.node, l.region, l.run, c.fn
		o.start(id, th, fr, x)
		o.order(races.OpAcquire, id, ompObjStart|l.id)
	case k != nil && top != nil && top.next == k && (top.op == kmpTask || top.op == kmpTaskDepend):
		k.began = true
		delete(o.tasks, k.ptr)
		o.include(id, th, fr, cur, k)
	case k != nil && k.region != nil && o.p.Alone[k.region.key]:
		delete(o.tasks, k.ptr)
		o.include(id, th, fr, cur, k)
	case k != nil:
		o.start(id, th, fr, k)
	case top != nil && (top.op == gompTask || top.op == gompTaskloop) && top.call.arg[0] == c.fn:
		o.include(id, th, fr, cur, top.next)
	case len(o.loops[c.fn]) > 0:
		l := o.loops[c.fn]
		r := l[len(l)-1].region
		if top != nil && top.op == kmpTaskloop || r != nil && o.p.Alone[r.key] {
			o.include(id, th, fr, cur, nil)
			return
		}
		x := o.deferred(l[len(l)-1].parent)
		x.region, x.run = r, l[len(l)-1].run
		x.group, x.inner = l[len(l)-1].group, l[len(l)-1].group
		x.fn, x.ptr, x.size, x.flags = c.fn, c.arg[1], l[len(l)-1].size, kmpTied
		o.start(id, th, fr, x)
		for _, p := range l {
			o.order(races.OpAcquire, id, ompObjStart|p.id)
		}
	case top != nil && silent[top.op]: // a copy constructor, say
	default:
		th.cur = o.implicit(cur)
		th.cur.run = TaskRun{From: o.now, SP: c.sp}
		o.join(th, top, c)
	}
}

// begin takes in that a parallel region begins.
func (o *openmp) begin(id emulate.ThreadID, th *ompThread, fr *ompFrame, fn, data uint64) {
	fr.region = &ompRegion{key: RegionKey{id, th.begun}, fn: fn, data: data}
	th.begun++
	o.regions[fn] = append(o.regions[fn], fr.region)
}

// join takes in that a thread begins to execute its part of a region.
func (o *openmp) join(th *ompThread, top *ompFrame, c *ompCall) {
	th.cur.region = nil
	if top != nil && top.region != nil && top.region.fn == c.fn {
		th.cur.region = top.region
		top.region.members++
		return
	}
	for _, r := range o.regions[c.fn] {
		if r.data == 0 || r.data == c.arg[0] {
			th.cur.region = r
			r.members++
		}
	}
}

// over takes in the end of a region.
func (o *openmp) over(r *ompRegion) {
	if r == nil {
		return
	}
	l := o.regions[r.fn]
	for i := range l {
		if l[i] == r {
			o.regions[r.fn] = append(l[:i:i], l[i+1:]...)
			break
		}
	}
	if r.members == 1 && r.tasks > 0 {
		o.single[r.key] = true
	}
}

// Single returns the parallel regions whose tasks one thread executed since there
// was no other: they aren't strands. The pass has to be repeated with Alone.
func (p *Pass) Single() map[RegionKey]bool {
	if p.openmp == nil {
		return nil
	}
	return p.openmp.single
}

// include takes in that the creator of a task executes it at once. as is what
// is known of its dependences.
func (o *openmp) include(id emulate.ThreadID, th *ompThread, fr *ompFrame, cur, as *ompTask) {
	x := o.included(cur)
	if as != nil {
		o.created--
		as.began = true
		x.node = as.node
		o.await(id, as.node)
	}
	th.cur, fr.started, th.last = x, x, nil
	x.run = o.site
	if as != nil {
		x.run = as.run
	}
	o.runs(id, fr, x)
}

// runs notes where the execution of a task begins.
func (o *openmp) runs(id emulate.ThreadID, fr *ompFrame, k *ompTask) {
	if k.run.Task == 0 {
		o.numbered++
		k.run.Task = o.numbered
	}
	k.run.From, k.run.SP, k.run.to = o.now, fr.call.sp, 0
	o.p.Threads[id].began(k.run)
}

// start takes in that a thread begins to execute a task, or goes on with one that
// is untied.
func (o *openmp) start(id emulate.ThreadID, th *ompThread, fr *ompFrame, k *ompTask) {
	first := !k.began
	k.began = true
	if first {
		o.begun++
		k.strand = k.id
		if k.region != nil {
			k.region.tasks++
		}
	}
	if th.cur.whose {
		o.order(races.OpRelease, id, ompObjOwner|uint64(id))
	}
	o.fresh(id, th, fr.call.sp)
	o.p.feed(&races.Event{Op: races.OpSwitch, Thread: id, Strand: k.strand, Value: 1})
	th.strand = k.strand
	o.order(races.OpAcquire, id, ompObjStart|k.id)
	if first {
		o.await(id, k.node)
		switch {
		case k.block.N != 0:
			o.p.feed(&races.Event{Op: races.OpFresh, Thread: id, Addr: k.block.Addr, N: k.block.N})
		case k.size != 0:
			o.p.feed(&races.Event{Op: races.OpFresh, Thread: id, Addr: emulate.Addr(k.ptr), N: k.size})
		}
	}
	th.cur, fr.started = k, k
	o.runs(id, fr, k)
}

// finish takes in that a thread has executed a task.
func (o *openmp) finish(id emulate.ThreadID, th *ompThread, fr *ompFrame) {
	k := fr.started
	o.p.Threads[id].over(o.now)
	o.order(races.OpRelease, id, ompObjStart|k.id) // an untied one may go on
	o.release(id, k)
	seen := map[*ompTask]bool{}
	for _, w := range th.frames {
		if b := w.before; b != k && !seen[b] {
			seen[b] = true
			b.rested = true
			o.order(races.OpRelease, id, ompObjRest|b.id)
		}
	}
	if k.whose {
		o.order(races.OpRelease, id, ompObjOwner|uint64(id))
	}
	if k.ptr == 0 || k.flags&kmpTied != 0 {
		o.end(id, k)
	}
	o.fresh(id, th, fr.call.sp)
	th.cur = fr.before
	th.strand = th.cur.strand
	o.p.feed(&races.Event{Op: races.OpSwitch, Thread: id, Strand: th.strand, Value: 1})
	if k.ended {
		o.p.feed(&races.Event{Op: races.OpStrandEnd, Thread: id, Strand: k.strand})
		delete(o.tasks, k.ptr)
		delete(o.blocks, k.block.Addr)
	}
	if l := th.last; l != nil && l.ended && l != k {
		o.forget(id, ompObjStart|l.id)
	}
	th.last = k
	if th.cur.whose {
		o.order(races.OpAcquire, id, ompObjOwner|uint64(id))
	}
	if n := len(th.frames) - 2; n < 0 || !silent[th.frames[n].op] {
		o.rest(id, th.cur)
	}
}

// release makes what a task did known to all that wait for it.
func (o *openmp) release(id emulate.ThreadID, k *ompTask) {
	if p := k.parent; p != nil && !p.ended {
		o.order(races.OpRelease, id, ompObjChildren|p.id)
	}
	if k.group != nil {
		o.order(races.OpRelease, id, ompObjGroup|k.group.id)
	}
	o.done(id, k.node)
}

// end takes in that a task has no more children.
func (o *openmp) end(id emulate.ThreadID, k *ompTask) {
	k.ended = true
	o.forget(id, ompObjChildren|k.id)
	if k.rested {
		o.forget(id, ompObjRest|k.id)
	}
	k.siblings = nil
}

// unloop forgets a loop whose tasks have all ended.
func (o *openmp) unloop(k *ompTask) {
	if k == nil {
		return
	}
	l := o.loops[k.fn]
	for i := range l {
		if l[i] == k {
			o.loops[k.fn] = append(l[:i:i], l[i+1:]...)
			return
		}
	}
}

// Lost says that tasks were made, and executed otherwise than is known.
func (p *Pass) Lost() bool {
	return p.openmp != nil && p.openmp.created > 0 && p.openmp.begun == 0
}
