package funcs

import (
	"maps"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// The stacks of goroutines. A thread of a Go program changes from one stack to
// another: the scheduler resumes goroutines (see goRuntime.resume), and the
// run-time does its own work on a stack of the thread's. A tracker keeps the
// shadow stack of each goroutine that its thread left, for when it comes back.
// What a goroutine did meanwhile on another thread isn't known: then its stack
// begins where it was resumed.

// A GoSink learns of goroutines that a thread resumes.
type GoSink interface {
	// Resume is called when the thread is about to go on with the goroutine
	// whose structure (runtime.g) is at g, and whose stack is [lo, hi). known
	// says that the thread left it there, or that it never did: what it was in
	// then it is still in.
	Resume(g, lo, hi uint64, known bool)
	// Move is called when the stack of the goroutine on the thread was moved.
	Move(lo, hi uint64)
	// Left is called when a function returned that a goroutine was in when the
	// thread went on with it. The one that it returned to is the tracker's only
	// frame.
	Left(entry emulate.Addr, c *x86.CPU)
	// Depart is called when the thread leaves the goroutine. a isn't nil if that
	// came to wait in an allocator function, a.Entry. When it returns, be it on
	// another thread, Left is called, or Alloc with Alloc.Waited. stack are the
	// nodes of the functions that it is in, outermost first.
	Depart(g uint64, stack []NodeID, a *Alloc)
}

// goStacks is what a tracker knows of goroutines.
type goStacks struct {
	sink   GoSink
	copier uint64          // the function that moves stacks
	left   map[uint64]bool // …that leave one
	g      uint64          // the one on the thread; 0: none yet
	parked bool            // the thread has left it
	lo, hi uint64          // its stack
	saved  map[uint64]goStack
	moving uint64 // the goroutine whose stack it moves
}

// A goStack is the shadow stack of a goroutine that isn't running, and what the
// tracker knew of an allocation under way. frames isn't changed any more.
type goStack struct {
	frames  []shadow
	hook    int
	pending Alloc
	hi      uint64
}

// maxSaved bounds the goroutines whose stacks are kept.
const maxSaved = 4096

// ResumePoint is the instruction at which a replayer has to stop and call Enter
// for the tracker to follow goroutines; 0: not a Go program.
func (t *Tree) ResumePoint() emulate.Addr {
	if t.ms == nil {
		return 0
	}
	return t.ms.goRun().resume
}

// WatchGo reports goroutines to sink.
func (t *Tracker) WatchGo(sink GoSink) {
	if t.gor != nil {
		t.gor.sink = sink
	}
}

// Goroutine returns the address of the structure of the goroutine that the
// thread executes or executed last, 0 if none.
func (t *Tracker) Goroutine() uint64 {
	if t.gor == nil {
		return 0
	}
	return t.gor.g
}

// GoStack returns the bounds of the stack of that goroutine, 0 if there is none.
func (t *Tracker) GoStack() (lo, hi uint64) {
	if t.gor == nil {
		return 0, 0
	}
	return t.gor.lo, t.gor.hi
}

func (s *goStacks) clone() *goStacks {
	if s == nil {
		return nil
	}
	c := *s
	c.sink = nil
	c.saved = maps.Clone(s.saved)
	return &c
}

// in says whether sp is on the stack of the goroutine.
func (s *goStacks) in(sp uint64) bool { return sp >= s.lo && sp < s.hi }

// resume follows the thread to another goroutine, or back to the same one on a
// stack that has grown.
func (t *Tracker) resume(c *x86.CPU) {
	s := t.gor
	g, sp, pc := c.R[14], c.R[4], c.R[3]
	lo, hi := peek(c, g), peek(c, g+8)
	if g == s.g && s.hi != 0 && !s.parked {
		t.moved(sp, hi-s.hi)
		s.lo, s.hi = lo, hi
		if s.sink != nil {
			s.sink.Move(lo, hi)
		}
		return
	}
	t.leave()
	known := t.come(c, g, sp, pc, hi)
	s.g, s.lo, s.hi, s.parked = g, lo, hi, false
	if s.sink != nil {
		s.sink.Resume(g, lo, hi, known)
	}
}

// copied follows the move of a goroutine's stack. That of the goroutine on the
// thread moves, too, while the run-time works for it on another stack.
func (t *Tracker) copied(c *x86.CPU) {
	s := t.gor
	if s.moving != s.g || s.g == 0 || s.parked {
		return
	}
	lo, hi := peek(c, s.g), peek(c, s.g+8)
	for i := 1; i < len(t.frames); i++ {
		if f := &t.frames[i]; s.in(f.sp) {
			f.sp += hi - s.hi
		}
	}
	s.lo, s.hi = lo, hi
	if s.sink != nil {
		s.sink.Move(lo, hi)
	}
}

// moved keeps the frames of the goroutine that are alive now that its stack has
// been moved by the given distance, and its stack pointer is sp.
func (t *Tracker) moved(sp, by uint64) {
	s := t.gor
	n := 1
	for i := 1; i < len(t.frames); i++ {
		f := t.frames[i]
		if !s.in(f.sp) || f.sp+by < sp {
			continue
		}
		f.sp += by
		t.frames[n] = f
		if t.hook == i {
			t.hook = n
		}
		n++
	}
	t.frames = t.frames[:n]
	if t.hook >= n {
		t.hook = -1
	}
}

// leave keeps the stack of the goroutine that the thread executed. From now on,
// another one may.
func (t *Tracker) leave() {
	s := t.gor
	if s.g == 0 || s.parked {
		return
	}
	s.parked = true
	var asked *Alloc
	keep := goStack{frames: []shadow{t.frames[0]}, hook: -1, hi: s.hi}
	if t.hook == 0 {
		keep.hook, keep.pending = 0, t.pending
	}
	for i, f := range t.frames[1:] {
		if !s.in(f.sp) {
			continue
		}
		if t.hook == i+1 {
			keep.hook, keep.pending = len(keep.frames), t.pending
			if a := t.pending; !a.Waited {
				asked = &a
			}
			keep.pending.Waited = true
		}
		keep.frames = append(keep.frames, f)
	}
	if s.saved == nil || len(s.saved) >= maxSaved {
		s.saved = map[uint64]goStack{}
	}
	s.saved[s.g] = keep
	if s.sink == nil {
		return
	}
	var stack []NodeID
	// The last frame is of the switch itself.
	for _, f := range keep.frames[:len(keep.frames)-1] {
		stack = append(stack, f.node)
	}
	s.sink.Depart(s.g, stack, asked)
}

// come takes up what is known of the stack of goroutine g, and says whether that
// is still good: the goroutine goes on where the thread left it.
func (t *Tracker) come(c *x86.CPU, g, sp, pc, hi uint64) bool {
	t.hook = -1
	old, ok := t.gor.saved[g]
	delete(t.gor.saved, g)
	count := c.InstrCount()
	t.frames = t.frames[:0]
	by := hi - old.hi // its stack may have been moved
	ok = ok && func() bool {
		for i, f := range old.frames {
			if i > 0 {
				f.sp += by
			}
			if f.sp < sp {
				// The function that left it is left by the switch itself.
				return f.sp+8 == sp && pc > f.site && pc-f.site <= 15
			}
			// Where it began isn't to be gone back to: others ran in between.
			f.count = count
			if old.hook == i {
				t.hook, t.pending = i, old.pending
			}
			t.frames = append(t.frames, f)
		}
		return false
	}()
	if !ok || len(t.frames) == 0 {
		t.root(pc, count)
	}
	return ok
}

// root makes the function at pc the thread's only known frame.
func (t *Tracker) root(pc, count uint64) {
	t.hook = -1
	entry := emulate.Addr(pc)
	if t.tree.ms != nil {
		if f := t.tree.ms.FuncAt(entry); f != nil {
			entry = f.Entry
		}
	}
	id := t.tree.Root(entry)
	t.frames = append(t.frames[:0], shadow{sp: ^uint64(0), entry: uint64(entry), count: count, node: id})
	if t.tree.node(id).role == RoleGo {
		// It waited in there; the allocator functions that this one calls are
		// part of the same.
		t.hook, t.pending = 0, Alloc{Thread: t.thread, Role: RoleGo, Entry: entry, Waited: true}
	}
}

// dropGo is drop for a thread that changes stacks: only frames of the stack
// that sp is on can be told to be dead.
func (t *Tracker) dropGo(c *x86.CPU, sp uint64, exact bool) {
	s := t.gor
	on := s.in(sp)
	for n := len(t.frames) - 1; n > 0; n-- {
		f := &t.frames[n]
		if in := s.in(f.sp); in != on && !on || in == on && f.sp >= sp {
			return
		}
		t.pop(c, exact && f.sp+8 == sp)
	}
}

// oddRetGo is oddRet for a thread that changes stacks.
func (t *Tracker) oddRetGo(c *x86.CPU, target, sp uint64) {
	n := len(t.frames) - 1
	if n > 0 && t.frames[n].sp+8 == sp {
		for n > 0 && t.frames[n].sp+8 == sp {
			signal := t.frames[n].flags&flagSignal != 0
			t.pop(c, true)
			n--
			if signal {
				return
			}
		}
		return
	}
	if n > 0 {
		t.dropGo(c, sp, true)
	}
	if len(t.frames) == 1 && t.tree.ms != nil {
		// Out of the first function that is known.
		f := t.tree.node(t.frames[0].node).fn
		if g := t.tree.ms.FuncAt(emulate.Addr(target)); g != nil && g != f && goName(g.Linkage) != "runtime.goexit" {
			entry := emulate.Addr(t.frames[0].entry)
			t.root(target, c.InstrCount()+1)
			if s := t.gor.sink; s != nil {
				s.Left(entry, c)
			}
		}
	}
}
