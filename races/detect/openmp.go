package detect

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// OpenMP's tasks. Which thread executes a task, and after which other one, is
// chance: tasks are strands. They are seen by the functions of the run-time
// library that the compiler calls (libgomp's and libomp's), and by the calls
// that lead from the library to the program: those that get a task's data, or
// descriptor, execute it. What the library itself does to queues and counters
// meanwhile doesn't order for the user; what OpenMP promises does
// (openmp_order.go).
//
// Sources: OpenMP Application Programming Interface, version 5.0, chapter 2.10
// (tasking constructs), 2.17 (synchronisation), 2.18 (memory order, depend) and
// 2.19.5 (reductions); the entry points of libgomp (GCC 5 to 14) and libomp
// (LLVM 9 to 18).

// An ompOp says what a function means.
type ompOp uint8

const (
	_                      ompOp = iota
	ompOut                       // a call from the library to the program
	gompTask                     // GOMP_task(fn, data, copy, size, align, if, flags, depend, …)
	gompTaskloop                 // GOMP_taskloop(fn, data, copy, size, align, flags, …)
	ompTaskwait                  // waits for the children
	gompWaitFor                  // GOMP_taskwait_depend(depend)
	ompYield                     // executes anything meanwhile
	ompGroupStart                //
	ompGroupEnd                  // waits for the group's tasks
	ompBarrier                   // waits for all tasks
	ompSections                  // GOMP_sections_start(n) section, GOMP_sections_next() section; 0: no more
	ompSectionsEnd               //
	gompLoop                     // GOMP_loop_dynamic_start(…) and its like, GOMP_loop_dynamic_next(…) more
	gompLoopStart                // GOMP_loop_start(_, _, _, schedule, …) more: gompReductions, too
	kmpLoop                      // __kmpc_dispatch_init_4(_, _, schedule, …)
	kmpLoopNext                  // __kmpc_dispatch_next_4(…) more
	ompParallel                  // GOMP_parallel(fn, data, …): a region
	gompParallelReductions       // both
	gompReductions               // memory that it allocates has a place for each thread
	ompWho                       // says which thread executes it
	ompFulfil                    // omp_fulfill_event(event)
	kmpAlloc                     // __kmpc_omp_task_alloc(_, _, flags, size, shareds, routine) task
	kmpTask                      // __kmpc_omp_task(_, _, task)
	kmpTaskDepend                // __kmpc_omp_task_with_deps(_, _, task, n, depend, …)
	kmpWaitFor                   // __kmpc_omp_wait_deps(_, _, n, depend, …)
	kmpBegin                     // __kmpc_omp_task_begin_if0(_, _, task): what follows is the task
	kmpComplete                  // __kmpc_omp_task_complete_if0(_, _, task)
	kmpTaskloop                  // __kmpc_taskloop(_, _, task, if, _, _, _, nogroup, …)
	kmpParallel                  // __kmpc_fork_call(_, _, fn, …): a region
	kmpReduce                    // __kmpc_taskred_init(_, n, data) and its like
	kmpReduced                   // __kmpc_task_reduction_get_th_data(_, _, item) memory of this thread
	nOmpOps
)

// silent are the functions in which the library synchronises only for itself.
var silent = [nOmpOps]bool{gompTask: true, gompTaskloop: true, ompTaskwait: true, gompWaitFor: true, ompYield: true, ompGroupStart: true, ompGroupEnd: true,
	kmpAlloc: true, kmpTask: true, kmpTaskDepend: true, kmpWaitFor: true, kmpBegin: true, kmpComplete: true, kmpTaskloop: true, kmpReduced: true}

var gompFuncs = []roleOf[ompOp]{
	{gompTask, []string{"GOMP_task"}},
	{gompTaskloop, []string{"GOMP_taskloop", "GOMP_taskloop_ull"}},
	{ompTaskwait, []string{"GOMP_taskwait"}},
	{gompWaitFor, []string{"GOMP_taskwait_depend"}},
	{ompYield, []string{"GOMP_taskyield"}},
	{ompGroupStart, []string{"GOMP_taskgroup_start"}},
	{ompGroupEnd, []string{"GOMP_taskgroup_end"}},
	{ompBarrier, []string{"GOMP_barrier", "GOMP_barrier_cancel", "GOMP_loop_end", "GOMP_loop_end_cancel", "GOMP_sections_end", "GOMP_sections_end_cancel",
		"GOMP_parallel_end", "GOMP_single_copy_start", "GOMP_single_copy_end", "GOMP_workshare_task_reduction_unregister"}},
	{ompSections, []string{"GOMP_sections_start", "GOMP_sections_next"}},
	{ompSectionsEnd, []string{"GOMP_sections_end_nowait", "GOMP_loop_end_nowait"}},
	{gompLoop, gompLoops()},
	{ompParallel, []string{"GOMP_parallel", "GOMP_parallel_loop_static", "GOMP_parallel_loop_dynamic", "GOMP_parallel_loop_guided", "GOMP_parallel_loop_runtime",
		"GOMP_parallel_loop_nonmonotonic_dynamic", "GOMP_parallel_loop_nonmonotonic_guided", "GOMP_parallel_loop_nonmonotonic_runtime",
		"GOMP_parallel_loop_maybe_nonmonotonic_runtime", "GOMP_parallel_sections"}},
	{gompParallelReductions, []string{"GOMP_parallel_reductions"}},
	{gompLoopStart, []string{"GOMP_loop_start", "GOMP_loop_ull_start"}},
	{gompReductions, []string{"GOMP_taskgroup_reduction_register", "GOMP_loop_ordered_start",
		"GOMP_loop_ull_ordered_start", "GOMP_loop_doacross_start", "GOMP_loop_ull_doacross_start", "GOMP_sections2_start", "GOMP_scope_start"}},
}

var kmpFuncs = []roleOf[ompOp]{
	{kmpAlloc, []string{"__kmpc_omp_task_alloc", "__kmpc_omp_target_task_alloc"}},
	{kmpTask, []string{"__kmpc_omp_task", "__kmpc_omp_task_parts"}},
	{kmpTaskDepend, []string{"__kmpc_omp_task_with_deps"}},
	{kmpWaitFor, []string{"__kmpc_omp_wait_deps", "__kmpc_omp_taskwait_deps_51"}},
	{kmpBegin, []string{"__kmpc_omp_task_begin_if0"}},
	{kmpComplete, []string{"__kmpc_omp_task_complete_if0"}},
	{kmpTaskloop, []string{"__kmpc_taskloop", "__kmpc_taskloop_5"}},
	{kmpParallel, []string{"__kmpc_fork_call"}},
	{kmpReduce, []string{"__kmpc_taskred_init", "__kmpc_taskred_modifier_init", "__kmpc_task_reduction_init", "__kmpc_task_reduction_modifier_init"}},
	{kmpReduced, []string{"__kmpc_task_reduction_get_th_data"}},
	{kmpLoop, []string{"__kmpc_dispatch_init_4", "__kmpc_dispatch_init_4u", "__kmpc_dispatch_init_8", "__kmpc_dispatch_init_8u"}},
	{kmpLoopNext, []string{"__kmpc_dispatch_next_4", "__kmpc_dispatch_next_4u", "__kmpc_dispatch_next_8", "__kmpc_dispatch_next_8u"}},
	{ompTaskwait, []string{"__kmpc_omp_taskwait"}},
	{ompYield, []string{"__kmpc_omp_taskyield"}},
	{ompGroupStart, []string{"__kmpc_taskgroup"}},
	{ompGroupEnd, []string{"__kmpc_end_taskgroup"}},
	{ompBarrier, []string{"__kmpc_barrier", "__kmpc_cancel_barrier", "__kmpc_barrier_master", "__kmpc_barrier_master_nowait", "__kmpc_reduce", "__kmpc_end_reduce",
		"__kmpc_reduce_nowait", "__kmpc_copyprivate"}},
}

// Both libraries have these. A task that asks which thread executes it may use
// memory of that thread's own, as its next one may.
var ompFuncs = []roleOf[ompOp]{
	{ompWho, []string{"omp_get_thread_num", "pthread_self", "gettid", "sched_getcpu", "thrd_current", "omp_get_place_num", "omp_get_ancestor_thread_num",
		"__kmpc_threadprivate_cached", "__kmpc_threadprivate", "__tls_get_addr"}},
	{ompFulfil, []string{"omp_fulfill_event"}},
}

// gompLoops are the functions that hand out the iterations of loops whose schedule
// says that any thread may get them, but for those with an ordered clause.
func gompLoops() (out []string) {
	for _, kind := range []string{"dynamic", "guided", "runtime", "nonmonotonic_dynamic", "nonmonotonic_guided", "nonmonotonic_runtime", "maybe_nonmonotonic_runtime"} {
		for _, word := range []string{"GOMP_loop_", "GOMP_loop_ull_"} {
			out = append(out, word+kind+"_start", word+kind+"_next")
		}
	}
	return out
}

// ompCreates are the functions by which a program makes tasks, sections, or loops
// whose iterations go to any thread.
var ompCreates = func() map[string]bool {
	m := map[string]bool{"GOMP_sections_start": true, "GOMP_sections_next": true, "GOMP_task": true, "GOMP_taskloop": true, "GOMP_taskloop_ull": true, "GOMP_loop_start": true,
		"GOMP_loop_ull_start": true, "__kmpc_omp_task_alloc": true, "__kmpc_dispatch_next_4": true, "__kmpc_dispatch_next_4u": true, "__kmpc_dispatch_next_8": true, "__kmpc_dispatch_next_8u": true}
	for _, n := range gompLoops() {
		m[n] = true
	}
	return m
}()

// ompAcross are the functions by which iterations of a loop wait for others of it.
var ompAcross = map[string]bool{"GOMP_doacross_post": true, "GOMP_doacross_wait": true, "GOMP_doacross_ull_post": true, "GOMP_doacross_ull_wait": true, "__kmpc_doacross_post": true, "__kmpc_doacross_wait": true}

// ompEntries returns the entries of these functions if the program makes tasks;
// nil if not. libomp has functions of libgomp's names, which aren't followed.
func ompEntries(ms *funcs.Modules) map[emulate.Addr]ompOp {
	if ms == nil || !ms.Calls(func(n string) bool { return ompCreates[n] }) {
		return nil
	}
	gomp := ms.Exported("GOMP_task")
	kmp := ms.Exported("__kmpc_omp_task_alloc")
	m := map[emulate.Addr]ompOp{}
	add := func(rows []roleOf[ompOp]) {
		for a, op := range entriesOf(ms, rows) {
			m[a] = op
		}
	}
	switch {
	case kmp != nil:
		add(kmpFuncs)
	case gomp != nil:
		add(gompFuncs)
	default:
		return nil
	}
	add(ompFuncs)
	if ms.Calls(func(n string) bool { return ompAcross[n] }) {
		for a, op := range m {
			if op == gompLoop || op == kmpLoopNext {
				delete(m, a)
			}
		}
	}
	return m
}

// An ompFollower is what a follower of a thread knows of the library's functions
// that are under way.
type ompFollower struct {
	calls []*ompCall
}

// silent says whether what the library does now synchronises only for itself.
func (o *ompFollower) silent() bool {
	n := len(o.calls)
	return n > 0 && silent[o.calls[n-1].op]
}

// An ompCall is a call of such a function.
type ompCall struct {
	op       ompOp
	depth    int
	fn       uint64    // ompOut: what is called
	arg      [8]uint64 // the first ones, some from the stack
	sp       uint64
	control  uint64 // FS base
	depend   []ompDepend
	odd      bool // its dependences couldn't be read
	result   uint64
	returned bool
	own      bool       // called by the library itself
	items    []memoryOf // kmpReduce: what is reduced
}

// An ompDepend is one item of a depend clause.
type ompDepend struct {
	addr uint64
	kind dependKind
}

type dependKind uint8

const (
	dependIn       dependKind = iota
	dependOut                 // and inout
	dependMutex               // mutexinoutset
	dependInOutSet            //
)

// enterOmp takes in a call, and says whether nobody else has to.
func (f *follower) enterOmp(op ompOp, t *funcs.Tracker, c *x86.CPU) bool {
	l := t.Level(0)
	out := op == 0 && f.p.Tree.Modules().LeavesOpenMP(l.Site, l.Entry)
	if op == 0 && !out {
		return false
	}
	k := &ompCall{op: op, depth: t.Depth(), fn: uint64(l.Entry), sp: c.R[x86.RSP], control: c.R[x86.RegFS],
		arg: [8]uint64{c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX], c.R[x86.RCX], c.R[x86.R8], c.R[x86.R9]}}
	if out {
		k.op = ompOut
	} else {
		k.own = f.inOpenMP(l.Site)
	}
	if op == ompWho && k.own {
		return false
	}
	for i := uint64(0); i < 2; i++ {
		k.arg[6+i], _ = f.peek(k.sp+8+8*i, 8)
	}
	switch op {
	case gompTask:
		if k.arg[6]&gompDepend != 0 {
			k.gompDepends(f, k.arg[7])
		}
	case gompWaitFor:
		k.gompDepends(f, k.arg[0])
	case kmpTaskDepend:
		k.kmpDepends(f, k.arg[3], k.arg[4])
	case kmpWaitFor:
		k.kmpDepends(f, k.arg[2], k.arg[3])
	case kmpReduce:
		k.kmpItems(f, f.p.Tree.Func(l.Node))
	}
	f.omp.calls = append(f.omp.calls, k)
	f.ompNote(noteOmpEnter, k)
	return out || op != ompBarrier && op != ompWho
}

// leaveOmp takes in the end of calls.
func (f *follower) leaveOmp(t *funcs.Tracker, c *x86.CPU, returned bool) {
	o := f.omp
	for n := len(o.calls); n > 0 && o.calls[n-1].depth >= t.Depth(); n-- {
		k := o.calls[n-1]
		o.calls = o.calls[:n-1]
		k.returned = returned && k.depth == t.Depth()
		k.result = c.R[x86.RAX]
		f.ompNote(noteOmpLeave, k)
	}
}

func (f *follower) ompNote(kind noteKind, k *ompCall) {
	f.flush()
	f.synchronised()
	x := *k // the call goes on while others read this
	f.note(note{kind: kind, ctx: f.calls.Node(), count: f.t.Count(), omp: &x})
}

// Flags of GOMP_task and GOMP_taskloop (libgomp, gomp-constants.h).
const (
	gompFinal   = 1 << 1
	gompDepend  = 1 << 3
	gompNoGroup = 1 << 11
	gompDetach  = 1 << 13
)

// maxDepends bounds the items of a depend clause that are read.
const maxDepends = 4096

// gompDepends reads a depend array: its length and the number of out and inout
// items, then the items; or 0, the length, the numbers of out, mutexinoutset and
// in items, then the items, the last of which are objects (address, kind).
func (k *ompCall) gompDepends(f *follower, at uint64) {
	var h [5]uint64
	ok := true
	word := func(a uint64) uint64 {
		v, known := f.peek(a, 8)
		ok = ok && known
		return v
	}
	for i := range h[:2] {
		h[i] = word(at + 8*uint64(i))
	}
	n, first := h[0], uint64(2)
	outs, mutexes, ins := h[1], uint64(0), n-h[1]
	if h[0] == 0 {
		for i := range h {
			h[i] = word(at + 8*uint64(i))
		}
		n, first, outs, mutexes, ins = h[1], 5, h[2], h[3], h[4]
	}
	if !ok || n > maxDepends {
		k.odd = true
		return
	}
	for i := uint64(0); i < n; i++ {
		d := ompDepend{addr: word(at + 8*(first+i))}
		switch {
		case i < outs:
			d.kind = dependOut
		case i < outs+mutexes:
			d.kind = dependMutex
		case i < outs+mutexes+ins:
			d.kind = dependIn
		default:
			object := d.addr
			d.addr = word(object)
			d.kind = [...]dependKind{dependOut, dependIn, dependOut, dependOut, dependMutex, dependInOutSet, dependOut, dependOut}[word(object+8)&7]
		}
		k.depend = append(k.depend, d)
	}
	k.odd = !ok
}

// kmpDepends reads n dependences: address, length and flags, 24 bytes.
func (k *ompCall) kmpDepends(f *follower, n, at uint64) {
	n = uint64(uint32(n))
	if n > maxDepends {
		k.odd = true
		return
	}
	for i := uint64(0); i < n; i++ {
		addr, ok := f.peek(at+24*i, 8)
		flags, ok2 := f.peek(at+24*i+16, 1)
		if !ok || !ok2 {
			k.odd = true
			return
		}
		d := ompDepend{addr: addr, kind: dependOut}
		switch {
		case flags&2 != 0 || flags&0x80 != 0:
		case flags&4 != 0:
			d.kind = dependMutex
		case flags&8 != 0:
			d.kind = dependInOutSet
		case flags&1 != 0:
			d.kind = dependIn
		}
		k.depend = append(k.depend, d)
	}
}

// kmpItems reads what is reduced, of each: its address, in newer functions that of
// the original, then its size (libomp, kmp_taskred_input and kmp_task_red_input).
func (k *ompCall) kmpItems(f *follower, fn *funcs.Func) {
	if fn == nil {
		return
	}
	n, at := k.arg[1], k.arg[2]
	if strings.Contains(fn.Linkage, "modifier") {
		n, at = k.arg[3], k.arg[4]
	}
	stride, size := uint64(56), uint64(16)
	if strings.Contains(fn.Linkage, "task_reduction") {
		stride, size = 48, 8
	}
	for n = min(uint64(uint32(n)), maxDepends); n > 0; n, at = n-1, at+stride {
		a, _ := f.peek(at, 8)
		b, _ := f.peek(at+size, 8)
		k.items = append(k.items, memoryOf{a, a + b})
	}
}

// What is synchronised through is told apart by the top bits of its number.
const (
	ompObjStart    = 0x81 << 56 // what was done before a task was made
	ompObjDone     = 0x82 << 56 // …by a task
	ompObjChildren = 0x83 << 56 // …by a task's children
	ompObjGroup    = 0x84 << 56 // …by a group's tasks
	ompObjRest     = 0x85 << 56 // …by tasks that a thread executed while another one waited
	ompObjOwner    = 0x86 << 56 // …by tasks that know which thread executes them
	ompObjMutex    = 0x87 << 56 // …by a set of tasks that exclude each other
	ompObjSections = 0x89 << 56 // …by a thread's sections
	ompObjEvent    = 0x88 << 56 // …before events were fulfilled
)

// order makes the strand that a thread executes acquire from, or release to, an
// object.
func (o *openmp) order(op races.Op, id emulate.ThreadID, object uint64) {
	o.p.feed(&races.Event{Op: op, Thread: id, Object: races.ObjOther, Value: object, Scope: races.ScopeUser})
}

func (o *openmp) forget(id emulate.ThreadID, object uint64) {
	o.p.feed(&races.Event{Op: races.OpForget, Thread: id, Object: races.ObjOther, Value: object})
}

// ompLibrary says whether a block was allocated by the library for itself.
func (o *openmp) ompLibrary(e *races.Event) bool {
	if e.Flags&races.Internal == 0 {
		return false
	}
	f := o.p.Tree.Func(e.Ctx)
	return f == nil || !strings.HasPrefix(f.Linkage, "omp_")
}
