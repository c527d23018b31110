package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// What tasks order, told in the order of the recording. A task that may be
// executed later, by anybody, is a strand: it comes after what its creator did
// until it was made, and before what its creator, a group or a barrier waits
// for. One that is executed at once, by who made it, goes on with its creator's
// strand, and so do the implicit tasks of a region with that of their thread.
//
// A barrier waits for all tasks. Each of its threads comes after the tasks that
// it executed itself, while it waits there or before, and what the library does
// to release the threads orders these.

// An ompTask is a task.
type ompTask struct {
	id       uint64
	strand   uint64 // 0: the thread's own code
	parent   *ompTask
	group    *ompGroup // that it is a member of
	inner    *ompGroup // that its next children are members of
	fn       uint64
	ptr      uint64 // libomp: its descriptor, of size bytes
	size     uint64
	flags    uint64
	began    bool
	ended    bool
	looped   bool // libomp: it stands for those of a loop
	run      TaskRun
	whose    bool     // it knows which thread executes it
	asked    bool     // it may: an implicit one
	section  *section // that it executes
	sections bool     // it has executed some
	any      bool     // libomp: the iterations of its loop go to any thread
	chunks   int      // of a loop, that it has executed as sections
	rested   bool     // tasks were executed while it waited
	prev     *ompTask

	region   *ompRegion
	node     *ompNode // its place among its siblings, nil without dependences
	siblings *ompSiblings
	block    races.Event // libgomp: the allocation of its memory
}

// libomp's flags of a task.
const (
	kmpTied  = 1 << 0
	kmpFinal = 1 << 1
)

// An ompGroup is a taskgroup, or the implicit one of a taskloop.
type ompGroup struct {
	id    uint64
	outer *ompGroup
}

// An ompRegion is a parallel region.
type ompRegion struct {
	key      RegionKey
	fn, data uint64
	members  int // threads that executed it
	tasks    int // of it that were executed
}

// A RegionKey names a parallel region: the thread that began it, and how many it
// had begun before.
type RegionKey struct {
	Thread emulate.ThreadID
	N      int
}

// An ompFrame is a call under way, with what it means.
type ompFrame struct {
	op      ompOp
	call    *ompCall
	before  *ompTask   // that the thread executed when it was called
	made    []*ompTask // by it
	next    *ompTask   // that it makes
	started *ompTask   // ompOut: that it executes
	group   *ompGroup  // kmpTaskloop, gompTaskloop: the implicit one
	preds   []*ompNode
	region  *ompRegion
}

// An ompThread is one thread.
type ompThread struct {
	cur     *ompTask
	frames  []ompFrame
	low     uint64   // the lowest address of its stack that was accessed since it was new
	strand  uint64   // that it executes
	lo, hi  uint64   // its stack
	begun   int      // regions
	control uint64   // its FS base
	last    *ompTask // that it has executed
}

// ompSlots bounds the strands that are told apart at a time.
const ompSlots = 512

// An openmp is what a pass knows of the tasks of an OpenMP program.
type openmp struct {
	p        *Pass
	hooks    map[emulate.Addr]ompOp
	threads  map[emulate.ThreadID]*ompThread
	blocks   map[emulate.Addr]*ompTask // libgomp: tasks by their memory
	tasks    map[uint64]*ompTask       // libomp: …by their descriptors
	loops    map[uint64][]*ompTask     // libomp: by function, those that stand for a loop's
	regions  map[uint64][]*ompRegion   // under way, by function
	single   map[RegionKey]bool        // those with tasks that one thread executed
	sizes    map[uint64]uint64         // of what is reduced
	owned    []memoryOf                // memory that has a place for each thread
	made     uint64
	site     TaskRun       // where it was called, what is being told
	now      emulate.Count // of what is being told
	begun    int
	numbered uint64
	created  int
	events   bool // there were some that tasks wait for
	tlsSize  uint64
}

// A memoryOf is a range of memory.
type memoryOf struct{ lo, hi uint64 }

// newOpenMP returns nil for programs without tasks.
func newOpenMP(p *Pass) *openmp {
	if p.Together || p.joint != nil || p.golang != nil {
		return nil
	}
	hooks := ompEntries(p.Tree.Modules())
	if hooks == nil {
		return nil
	}
	return &openmp{p: p, hooks: hooks, threads: map[emulate.ThreadID]*ompThread{}, blocks: map[emulate.Addr]*ompTask{}, tasks: map[uint64]*ompTask{},
		loops: map[uint64][]*ompTask{}, regions: map[uint64][]*ompRegion{}, single: map[RegionKey]bool{}, sizes: map[uint64]uint64{}, tlsSize: p.Tree.Modules().ThreadLocals()}
}

// hook says what the function at an address means.
func (o *openmp) hook(a emulate.Addr) ompOp {
	if o == nil {
		return 0
	}
	return o.hooks[a]
}

// smallRun is the number of instructions up to which all memory of a program with
// tasks is observed, and not only what threads share.
const smallRun = 300_000_000

// small says whether the recording is short.
func (p *Pass) small() bool {
	n := uint64(0)
	for _, id := range p.Session.Threads() {
		n += uint64(p.Session.Last(id))
	}
	return n <= smallRun
}

func (o *openmp) thread(id emulate.ThreadID) *ompThread {
	th := o.threads[id]
	if th == nil {
		tt := o.p.Threads[id]
		th = &ompThread{lo: tt.Stack, hi: tt.StackEnd}
		if th.lo == 0 {
			th.lo, th.hi = o.p.firstStack()
		}
		th.low = th.lo // what it did before isn't known
		th.cur = o.implicit(nil)
		o.threads[id] = th
	}
	return th
}

// implicit returns a new task that goes on with the strand of one.
func (o *openmp) implicit(of *ompTask) *ompTask {
	o.made++
	k := &ompTask{id: o.made, began: true}
	if of != nil {
		k.strand, k.whose, k.region = of.strand, of.whose, of.region
	}
	return k
}

// included is implicit for a task that its creator executes at once.
func (o *openmp) included(by *ompTask) *ompTask {
	k := o.implicit(by)
	k.parent, k.group, k.inner = by, by.inner, by.inner
	return k
}

// deferred returns a new task that is executed some time.
func (o *openmp) deferred(by *ompTask) *ompTask {
	o.made++
	o.created++
	return &ompTask{id: o.made, parent: by, group: by.inner, inner: by.inner, region: by.region, run: o.site}
}

// take takes in what a thread told.
func (o *openmp) take(id emulate.ThreadID, n *note) {
	th := o.thread(id)
	o.now = n.count
	o.site = TaskRun{By: id, Ctx: o.p.Tree.Node(n.ctx).Parent, PC: uint64(o.p.Tree.Node(n.ctx).Site)}
	th.control = n.omp.control
	if n.kind == noteOmpEnter {
		o.enter(id, th, n.omp)
		return
	}
	k := len(th.frames) - 1
	if k < 0 {
		return
	}
	fr := th.frames[k]
	o.leave(id, th, &fr, n.omp)
	th.frames = th.frames[:k]
}

func (o *openmp) enter(id emulate.ThreadID, th *ompThread, c *ompCall) {
	th.frames = append(th.frames, ompFrame{op: c.op, call: c, before: th.cur})
	fr := &th.frames[len(th.frames)-1]
	cur := th.cur
	switch c.op {
	case ompOut:
		o.out(id, th, fr)
	case gompTask:
		fr.next = o.deferred(cur)
		fr.next.fn, fr.next.flags = c.arg[0], c.arg[6]
		o.depends(fr, cur, fr.next)
	case gompTaskloop:
		if c.arg[5]&gompNoGroup == 0 {
			o.openGroup(fr, cur)
		}
	case gompWaitFor, kmpWaitFor:
		fr.preds = o.preds(cur, c)
	case ompGroupStart:
		o.made++
		cur.inner = &ompGroup{id: o.made, outer: cur.inner}
	case ompSections:
		o.endSection(id, th)
	case kmpLoop:
		cur.chunks, cur.any = 0, kmpAny(c.arg[2])
	case ompBarrier, ompSectionsEnd:
		o.nextSection(id, th, false)
		o.rest(id, cur)
	case ompParallel, gompParallelReductions:
		o.begin(id, th, fr, c.arg[0], c.arg[1])
	case kmpParallel:
		o.begin(id, th, fr, c.arg[2], 0)
	case kmpReduce:
		for _, m := range c.items {
			o.sizes[m.lo] = m.hi - m.lo
		}
	case ompWho:
		cur.asked = true
		if cur.strand != 0 && !cur.whose {
			cur.whose = true
			o.order(races.OpAcquire, id, ompObjOwner|uint64(id))
		}
	case ompFulfil:
		o.events = true
		o.order(races.OpRelease, id, ompObjEvent)
	case kmpTask, kmpTaskDepend:
		if k := o.tasks[c.arg[2]]; k != nil && !k.began {
			fr.next = k
			o.depends(fr, cur, k)
			o.order(races.OpRelease, id, ompObjStart|k.id)
		}
	case kmpBegin:
		k := o.tasks[c.arg[2]]
		x := o.included(cur)
		if k != nil {
			delete(o.tasks, k.ptr)
			x.ptr = k.ptr
		}
		x.prev = cur
		th.cur, fr.before = x, x
	case kmpComplete:
		if cur.prev != nil {
			o.end(id, cur)
			th.cur, fr.before = cur.prev, cur.prev
		}
	case kmpTaskloop:
		k := o.tasks[c.arg[2]]
		if k == nil {
			break
		}
		delete(o.tasks, k.ptr)
		k.looped, k.parent = true, cur
		if uint32(c.arg[7]) == 0 {
			o.openGroup(fr, cur)
		}
		k.group, k.inner = cur.inner, cur.inner
		o.order(races.OpRelease, id, ompObjStart|k.id)
		l := append(o.loops[k.fn], k)
		if len(l) > maxLoops {
			l = l[1:]
		}
		o.loops[k.fn] = l
		fr.next = k
	}
}

func (o *openmp) openGroup(fr *ompFrame, cur *ompTask) {
	o.made++
	fr.group = &ompGroup{id: o.made, outer: cur.inner}
	cur.inner = fr.group
}

func (o *openmp) closeGroup(id emulate.ThreadID, cur *ompTask) {
	g := cur.inner
	if g == nil || g == cur.group {
		return
	}
	o.order(races.OpAcquire, id, ompObjGroup|g.id)
	o.forget(id, ompObjGroup|g.id)
	o.awaitEvents(id)
	cur.inner = g.outer
}

// awaitEvents orders what follows after the events that were fulfilled.
func (o *openmp) awaitEvents(id emulate.ThreadID) {
	if o.events {
		o.order(races.OpAcquire, id, ompObjEvent)
	}
}

// rest orders a task that waits at a barrier after those that its thread
// executed while it waited elsewhere.
func (o *openmp) rest(id emulate.ThreadID, k *ompTask) {
	o.awaitEvents(id)
	if k.rested {
		o.order(races.OpAcquire, id, ompObjRest|k.id)
	}
}

func (o *openmp) leave(id emulate.ThreadID, th *ompThread, fr *ompFrame, c *ompCall) {
	cur := th.cur
	switch fr.op {
	case ompOut:
		switch k := fr.started; {
		case k == nil && th.cur != fr.before: // of a region
			o.nextSection(id, th, false)
			o.end(id, th.cur)
			th.cur = fr.before
			o.rest(id, th.cur)
		case k == nil: // what it did is done before a task that is being made
			if n := len(th.frames) - 2; n >= 0 {
				for _, m := range th.frames[n].made {
					if !m.began {
						o.order(races.OpRelease, id, ompObjStart|m.id)
					}
				}
			}
		case k.strand != k.id:
			o.p.Threads[id].over(o.now)
			o.done(id, k.node)
			o.end(id, k)
			th.cur = fr.before
		default:
			o.finish(id, th, fr)
		}
		return
	case ompSections:
		o.nextSection(id, th, c.returned && uint32(c.result) != 0)
	case gompLoop, kmpLoopNext:
		if fr.op == gompLoop || cur.any {
			o.nextChunk(id, th, c.returned && c.result&0xff != 0)
		}
	case gompLoopStart:
		o.nextChunk(id, th, c.returned && c.result&0xff != 0 && gompAny(c.arg[3]))
	case gompTask:
		if c.arg[6]&gompDetach != 0 {
			o.awaitEvents(id)
		}
	case ompTaskwait:
		o.order(races.OpAcquire, id, ompObjChildren|cur.id)
		o.awaitEvents(id)
	case gompWaitFor, kmpWaitFor:
		for _, p := range fr.preds {
			o.awaitNode(id, p)
		}
		o.awaitEvents(id)
	case ompGroupEnd:
		o.closeGroup(id, cur)
	case gompTaskloop, kmpTaskloop:
		if fr.group != nil {
			for cur.inner != nil && cur.inner != fr.group && cur.inner != cur.group {
				o.closeGroup(id, cur)
			}
			if cur.inner == fr.group {
				o.closeGroup(id, cur)
			}
			o.unloop(fr.next)
		}
	case kmpAlloc:
		o.alloc(id, cur, c)
	case ompParallel, gompParallelReductions, kmpParallel:
		o.over(fr.region)
	case kmpReduced:
		n, known := o.sizes[c.arg[2]]
		if !known {
			n = reducedSize
		}
		if c.result != 0 && !o.owns(c.result, n) {
			o.owned = append(o.owned, memoryOf{c.result, c.result + n})
		}
	}
}
