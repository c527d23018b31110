package funcs

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
)

// A Tracker follows the calls of one thread: a shadow stack and, for every
// depth, the node of a shared Tree. It is the CPU's x86.CallSink. The replayer
// also tells it of what is neither call nor return: Push when a signal handler
// starts, Enter when a function that is reached by jumps was.
//
// Returns are matched by stack pointer, so that longjmp, exceptions, calls
// that never return and returns through pushed addresses leave the stack
// right at the next call, return or Current.
type Tracker struct {
	tree   *Tree
	thread emulate.ThreadID
	sink   AllocSink
	frames []shadow // outermost first; never empty
	cache  *callCache

	hook    int // index of the frame of the allocator function under way, or -1
	pending Alloc
	out     uint64 // posix_memalign: where the address goes

	watched  map[emulate.Addr]bool
	instance InstanceSink

	outward func(site, target emulate.Addr) bool // calls that are watched, too

	gor      *goStacks // nil: not a Go program
	resumeAt uint64    // see goRuntime.resume; 0: none
}

// A shadow is one frame of the shadow stack.
type shadow struct {
	sp    uint64 // RSP at the entry, where the return address is
	site  uint64
	entry uint64
	count uint64 // of the first instruction inside
	node  NodeID
	flags frameFlags
}

type frameFlags uint8

const (
	flagAlloc   frameFlags = 1 << iota // an allocator function
	flagWatched                        // an instance that somebody asked for
	flagSignal                         // a signal handler
	flagGo                             // moves the stacks of goroutines, or leaves one
)

// A callCache maps recent calls to nodes, direct-mapped.
type callCache [1024]struct {
	site, entry uint64
	parent      NodeID
	node        NodeID
	flags       frameFlags
}

// An InstanceSink learns of the instances of the functions given to Watch.
type InstanceSink interface {
	// Enter is called when the function is entered, before its first
	// instruction; level 0 of the tracker is its frame.
	Enter(t *Tracker, c *x86.CPU)
	// Leave is called when it returned (returned: by its own return), or when
	// its frame turned out to be gone. level 0 is still its frame. count is
	// that of the first instruction after it, at the earliest moment known.
	Leave(t *Tracker, c *x86.CPU, count emulate.Count, returned bool)
}

// NewTracker returns a tracker for a thread that hasn't started: Start must
// come before anything else. sink may be nil.
func NewTracker(tree *Tree, thread emulate.ThreadID, sink AllocSink) *Tracker {
	t := &Tracker{tree: tree, thread: thread, sink: sink, hook: -1,
		frames: []shadow{{sp: ^uint64(0)}}}
	if at := tree.ResumePoint(); at != 0 {
		t.gor, t.resumeAt = &goStacks{copier: uint64(tree.ms.goRun().copystack), left: tree.ms.goRun().leave}, uint64(at)
	}
	return t
}

// Start says where the thread begins, or where tracking begins if that is
// later: pc is the next instruction.
func (t *Tracker) Start(pc emulate.Addr, count emulate.Count) {
	entry := pc
	if t.tree.ms != nil {
		if f := t.tree.ms.FuncAt(pc); f != nil {
			entry = f.Entry
		}
	}
	t.frames = append(t.frames[:0], shadow{sp: ^uint64(0), entry: uint64(entry), count: uint64(count), node: t.tree.Root(entry)})
	t.hook = -1
}

// Begin is Start for a replay of the thread from its start: if the trace is of
// an experiment, calls are under way.
func (t *Tracker) Begin(th *replay.Thread) {
	stack := th.Session().Stack(th.ID())
	t.Start(emulate.Addr(th.CPU().RIP), th.Count())
	for i, f := range stack {
		if i == 0 {
			t.frames[0].entry, t.frames[0].node = uint64(f.Entry), t.tree.Root(f.Entry)
			continue
		}
		id := t.tree.Child(t.frames[i-1].node, f.Site, f.Entry)
		t.frames = append(t.frames, shadow{sp: uint64(f.SP), site: uint64(f.Site), entry: uint64(f.Entry), count: uint64(th.Count()), node: id})
	}
}

// Tree returns the tree that the nodes belong to.
func (t *Tracker) Tree() *Tree { return t.tree }

// Thread returns the thread that is tracked.
func (t *Tracker) Thread() emulate.ThreadID { return t.thread }

// Clone returns a copy with the same stack, for a snapshot. It costs time and
// memory in proportion to the depth. It reports to the same sinks until
// SetSinks changes that.
func (t *Tracker) Clone() *Tracker {
	c := *t
	c.frames = append(make([]shadow, 0, len(t.frames)+16), t.frames...)
	c.cache = nil
	c.gor = t.gor.clone()
	return &c
}

// SetSinks replaces who learns of allocations; nil means nobody.
func (t *Tracker) SetSinks(sink AllocSink) { t.sink = sink }

// Watch reports the instances of the functions with these entries to sink,
// from now on. It replaces what was watched before.
func (t *Tracker) Watch(entries []emulate.Addr, sink InstanceSink) {
	t.instance = sink
	t.watched = map[emulate.Addr]bool{}
	for _, a := range entries {
		t.watched[a] = true
	}
	t.cache = nil
}

// WatchCalls also reports the calls that f wants, by the instruction and the
// function's first one, to the sink given to Watch, which comes before.
func (t *Tracker) WatchCalls(f func(site, target emulate.Addr) bool) {
	t.outward = f
	t.cache = nil
}

// Call serves x86.CallSink.
func (t *Tracker) Call(c *x86.CPU, site, target, sp uint64) {
	n := len(t.frames)
	if t.frames[n-1].sp <= sp {
		if t.gor != nil {
			t.dropGo(c, sp+1, false)
		} else {
			t.drop(c, sp+1, false)
		}
		n = len(t.frames)
	}
	parent := t.frames[n-1].node
	if t.cache == nil {
		t.cache = new(callCache)
	}
	e := &t.cache[(site^site>>10^target>>4^uint64(parent)*0x9e5)%uint64(len(t.cache))]
	if e.site != site || e.entry != target || e.parent != parent || e.node == 0 {
		e.site, e.entry, e.parent = site, target, parent
		e.node, e.flags = t.child(parent, site, target)
	}
	if n == cap(t.frames) {
		t.frames = append(t.frames, shadow{})
	} else {
		t.frames = t.frames[:n+1]
	}
	f := &t.frames[n]
	f.sp, f.site, f.entry, f.count = sp, site, target, c.InstrCount()+1
	f.node, f.flags = e.node, e.flags
	if e.flags != 0 {
		t.entered(c)
	}
}

// child asks the tree for a node, and what must be done on entering it.
func (t *Tracker) child(parent NodeID, site, target uint64) (NodeID, frameFlags) {
	id := t.tree.Child(parent, emulate.Addr(site), emulate.Addr(target))
	f := t.flags(id, target)
	if f&flagWatched == 0 && len(t.watched) > 0 && t.tree.ms != nil {
		if x := t.tree.ms.called(emulate.Addr(site), emulate.Addr(target)); x != nil && t.watched[x.Entry] {
			f |= flagWatched
		}
	}
	if f&flagWatched == 0 && t.outward != nil && t.outward(emulate.Addr(site), emulate.Addr(target)) {
		f |= flagWatched
	}
	return id, f
}

// flags says what must be done on entering a node's function.
func (t *Tracker) flags(id NodeID, target uint64) frameFlags {
	var f frameFlags
	if t.tree.node(id).role != NoAlloc {
		f |= flagAlloc
	}
	if t.gor != nil && (target == t.gor.copier || t.gor.left[target]) {
		f |= flagGo
	}
	if t.watched[emulate.Addr(target)] {
		f |= flagWatched
	} else if fn := t.tree.node(id).fn; len(t.watched) > 0 && fn != nil && fn.PLT {
		if x := t.tree.ms.ExportedIn(fn.Module.Life, fn.Linkage); x != nil && t.watched[x.Entry] {
			f |= flagWatched
		}
	}
	return f
}

// Ret serves x86.CallSink.
func (t *Tracker) Ret(c *x86.CPU, site, target, sp uint64) {
	n := len(t.frames) - 1
	top := &t.frames[n]
	if top.sp+8 == sp && top.flags == 0 && t.frames[n-1].sp >= sp {
		t.frames = t.frames[:n]
		return
	}
	t.oddRet(c, target, sp)
}

// oddRet handles returns from frames that somebody watches, from several
// frames at once, and from none.
func (t *Tracker) oddRet(c *x86.CPU, target, sp uint64) {
	if t.gor != nil {
		t.oddRetGo(c, target, sp)
		return
	}
	n := len(t.frames) - 1
	top := &t.frames[n]
	if top.sp+8 == sp {
		// Tail calls share one return address.
		for n > 0 && t.frames[n].sp+8 == sp {
			signal := t.frames[n].flags&flagSignal != 0
			t.pop(c, true)
			n--
			if signal {
				return // the interrupted code may be on another stack
			}
		}
		if t.frames[n].sp < sp {
			t.drop(c, sp, false)
		}
		return
	}
	if top.sp < sp {
		t.drop(c, sp, true)
		return
	}
	// Below the top frame: a jump through a pushed address, unless a frame
	// further out called from just before target: a handler on another stack
	// was left by longjmp.
	for i := n; i > 0; i-- {
		f := &t.frames[i]
		if f.sp+8 == sp && target > f.site && target-f.site <= 15 {
			for len(t.frames) > i {
				t.pop(c, len(t.frames) == i+1)
			}
			return
		}
	}
}

// drop removes the frames below sp, which are dead. exact says that the last
// of them returned if its slot was just below sp.
func (t *Tracker) drop(c *x86.CPU, sp uint64, exact bool) {
	for n := len(t.frames) - 1; n > 0 && t.frames[n].sp < sp; n-- {
		t.pop(c, exact && t.frames[n].sp+8 == sp)
	}
}

// pop removes the top frame. returned says that it returned as it should.
func (t *Tracker) pop(c *x86.CPU, returned bool) {
	n := len(t.frames) - 1
	f := &t.frames[n]
	if f.flags&(flagAlloc|flagWatched|flagGo) != 0 {
		if f.flags&flagGo != 0 && f.entry == t.gor.copier {
			t.copied(c)
		}
		if t.hook == n {
			t.hook = -1
			if returned {
				t.allocated(c)
			}
		}
		if f.flags&flagWatched != 0 && t.instance != nil {
			t.instance.Leave(t, c, emulate.Count(c.InstrCount()+1), returned)
		}
	}
	t.frames = t.frames[:n]
}

// entered does what the flags of the new top frame ask for.
func (t *Tracker) entered(c *x86.CPU) {
	n := len(t.frames) - 1
	f := &t.frames[n]
	if f.flags&flagGo != 0 {
		if f.entry == t.gor.copier {
			t.gor.moving = c.R[rAX]
		} else {
			t.leave()
		}
	}
	if f.flags&flagAlloc != 0 && t.hook < 0 && t.sink != nil {
		t.hook = n
		t.allocating(c)
	}
	if f.flags&flagWatched != 0 && t.instance != nil {
		t.instance.Enter(t, c)
	}
}

// Enter says that control is at the first instruction of a function, c.RIP,
// whichever way it came. The replayer calls it where it stopped at one of
// Tree.JumpTargets. After a call it does nothing; after a jump it makes the
// function a callee of the one that jumped.
func (t *Tracker) Enter(c *x86.CPU) {
	pc, sp := c.RIP, c.R[4]
	if t.gor != nil && pc == t.resumeAt {
		t.resume(c)
		return
	}
	t.trim(c, sp)
	top := &t.frames[len(t.frames)-1]
	if top.sp == sp && top.entry == pc {
		return
	}
	if top.sp == sp && t.tree.ms != nil {
		// Through a stub of the same name.
		f, g := t.tree.node(top.node).fn, t.tree.ms.FuncAt(emulate.Addr(pc))
		if f != nil && g != nil && (f.Linkage == g.Linkage && f.Linkage != "" || f.PLT && t.tree.ms.ExportedIn(f.Module.Life, f.Linkage) == g) {
			return
		}
	}
	site := top.entry
	if f := t.tree.node(top.node).fn; f != nil && t.tree.ms != nil {
		if f.PLT {
			// It is the function behind the stub that jumped.
			if x := t.tree.ms.ExportedIn(f.Module.Life, f.Linkage); x != nil {
				f, site = x, uint64(x.Entry)
			}
		}
		if g := t.tree.ms.FuncAt(emulate.Addr(pc)); g != nil {
			if g.PLT {
				if x := t.tree.ms.ExportedIn(g.Module.Life, g.Linkage); x != nil {
					g = x
				}
			}
			if j, ok := t.tree.tailTo(f, g); ok {
				site = uint64(j.pc)
			}
		}
	}
	id, flags := t.child(top.node, site, pc)
	t.frames = append(t.frames, shadow{sp: sp, site: site, entry: pc, count: c.InstrCount(), node: id, flags: flags})
	if flags != 0 {
		t.entered(c)
	}
}

// Push says that a signal handler at entry is about to execute, with its
// return address at sp. The interrupted instruction is at pc.
func (t *Tracker) Push(c *x86.CPU, pc, entry, sp uint64) {
	parent := t.frames[len(t.frames)-1].node
	id := t.tree.Handler(parent, emulate.Addr(pc), emulate.Addr(entry))
	flags := t.flags(id, entry)
	t.frames = append(t.frames, shadow{sp: sp, site: pc, entry: entry, count: c.InstrCount(), node: id, flags: flags&^flagAlloc | flagSignal})
	if flags&flagWatched != 0 {
		t.entered(c)
	}
}

// trim removes the frames that a stack pointer of sp shows to be dead. The
// stack that a signal handler interrupted is left alone.
func (t *Tracker) trim(c *x86.CPU, sp uint64) {
	if t.gor != nil {
		if n := len(t.frames) - 1; n > 0 && t.frames[n].flags&flagSignal == 0 {
			t.dropGo(c, sp, false)
		}
		return
	}
	for n := len(t.frames) - 1; n > 0 && t.frames[n].sp < sp && t.frames[n].flags&flagSignal == 0; n-- {
		t.pop(c, false)
	}
}

// Current returns the node that c is in, between or inside instructions.
func (t *Tracker) Current(c *x86.CPU) NodeID {
	if f := &t.frames[len(t.frames)-1]; f.sp >= c.R[4] {
		return f.node
	}
	t.trim(c, c.R[4])
	return t.frames[len(t.frames)-1].node
}

// Node returns the node of the innermost frame.
func (t *Tracker) Node() NodeID { return t.frames[len(t.frames)-1].node }

// Depth returns the number of frames, at least 1: the thread's first function.
func (t *Tracker) Depth() int { return len(t.frames) }

// An Activation is one frame of a thread's stack.
type Activation struct {
	Node  NodeID
	Entry emulate.Addr  // of the function
	Site  emulate.Addr  // of the call
	Count emulate.Count // of the first instruction in it
	SP    emulate.Addr  // RSP at the entry: the return address is there
	// Signal says that it is a signal handler: Site was interrupted.
	Signal bool
}

// CFA returns the canonical frame address, for Modules.LocalAt.
func (a Activation) CFA() emulate.Addr { return a.SP + 8 }

// Level returns a frame: 0 is the innermost, Depth()-1 the thread's first.
func (t *Tracker) Level(n int) Activation {
	f := &t.frames[len(t.frames)-1-n]
	return Activation{Node: f.node, Entry: emulate.Addr(f.entry), Site: emulate.Addr(f.site), Count: emulate.Count(f.count), SP: emulate.Addr(f.sp), Signal: f.flags&flagSignal != 0}
}

// LevelOf returns the level of the frame that holds stack address a: the
// innermost one whose CFA is above it. ok is false if a is above the stack's
// known part.
func (t *Tracker) LevelOf(a emulate.Addr) (level int, ok bool) {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if f := &t.frames[i]; f.sp != ^uint64(0) && uint64(a) < f.sp+8 {
			return len(t.frames) - 1 - i, true
		}
	}
	return 0, false
}
