package funcs

import (
	"sort"
	"strings"
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// An Alloc is a block that an allocator function handed out.
type Alloc struct {
	Thread emulate.ThreadID
	Node   NodeID        // the caller's; Tree.Class(Node).Own() means: the run-time's own block
	Site   emulate.Addr  // of the call, in the caller
	Count  emulate.Count // of the first instruction after the allocation
	Role   AllocRole
	Addr   emulate.Addr
	Size   uint64 // bytes, as asked for
	Zeroed bool
	// Old is the block whose content a realloc kept, 0 if none. Its Free came
	// before, when realloc was entered.
	Old emulate.Addr
	// Undo says that a realloc failed: Old was not freed after all. Addr is
	// Old, and Size isn't known.
	Undo bool
	// Waited says that a goroutine waited in the allocator function, and may
	// have been elsewhere since: what it asked for is what GoSink.Waits was told
	// last.
	Waited bool
	// Entry is the allocator function's.
	Entry emulate.Addr
}

// A Free is a block that was handed back.
type Free struct {
	Thread emulate.ThreadID
	Node   NodeID
	Site   emulate.Addr
	Count  emulate.Count // of the allocator function's first instruction
	Role   AllocRole
	Addr   emulate.Addr // never 0
}

// An AllocSink learns of allocations, in program order. Blocks that an
// allocator function gets from another (operator new from malloc) are
// reported once, as the outermost one's. A block is freed when the function
// that frees it is entered, before other threads can get it.
type AllocSink interface {
	Alloc(Alloc)
	Free(Free)
}

// Argument registers as indices of x86.CPU.R.
const (
	rAX = 0
	rDX = 2
	rSI = 6
	rDI = 7
)

// allocating notes the arguments of the allocator function that was just
// entered, and reports a free.
func (t *Tracker) allocating(c *x86.CPU) {
	f := &t.frames[len(t.frames)-1]
	role := t.tree.node(f.node).role
	caller := t.tree.node(f.node).parent
	a := Alloc{Thread: t.thread, Node: caller, Site: emulate.Addr(f.site), Role: role, Entry: emulate.Addr(f.entry)}
	di, si, dx := c.R[rDI], c.R[rSI], c.R[rDX]
	free := uint64(0)
	switch role {
	case RoleMalloc, RoleNew, RoleNewArray:
		a.Size = di
	case RoleGo:
		a.Size, a.Zeroed = c.R[rAX], true
	case RoleCalloc:
		a.Size, a.Zeroed = di*si, true
	case RoleRealloc:
		a.Size, free = si, di
	case RoleReallocArray:
		a.Size, free = si*dx, di
	case RoleMemalign:
		a.Size = si
	case RolePosixMemalign:
		a.Size, t.out = dx, di
	default:
		free = di
	}
	a.Old = emulate.Addr(free)
	t.pending = a
	if free != 0 {
		t.sink.Free(Free{Thread: t.thread, Node: caller, Site: a.Site, Count: emulate.Count(f.count), Role: role, Addr: emulate.Addr(free)})
	}
}

// allocated reports what the allocator function that returns just now gives.
func (t *Tracker) allocated(c *x86.CPU) {
	a := t.pending
	if t.sink == nil || a.Role.Frees() || a.Role == NoAlloc {
		return
	}
	a.Count = emulate.Count(c.InstrCount() + 1)
	a.Addr = emulate.Addr(c.R[rAX])
	if a.Role == RolePosixMemalign {
		if c.R[rAX] != 0 {
			return
		}
		a.Addr = emulate.Addr(peek(c, t.out))
	}
	if a.Addr == 0 {
		if a.Old == 0 || a.Size == 0 {
			return // out of memory; realloc(p, 0) frees
		}
		a.Addr, a.Undo = a.Old, true
	}
	t.sink.Alloc(a)
}

// peek reads 8 bytes that the thread has just written, or 0 if it can't.
func peek(c *x86.CPU, a uint64) (v uint64) {
	if c.Mem == nil {
		return 0
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*x86.Stop); !ok {
				panic(r)
			}
			v = 0
		}
	}()
	for i := uint64(0); i < 8; i++ {
		p := c.Mem.Line(c, (a+i)>>hwmodel.LineShift, false)
		v |= uint64(*(*byte)(unsafe.Add(p, (a+i)%hwmodel.LineSize))) << (8 * i)
	}
	return v
}

// JumpTargets returns the entries of allocator functions, and of others that
// also holds for, that functions of the program jump to instead of calling
// them, as optimisers do for a call that is the last thing a function does. A
// replayer marks them with BlockCache.Break and calls Tracker.Enter when it
// stops there.
func (t *Tree) JumpTargets(also func(*Func) bool) []emulate.Addr {
	if t.ms == nil {
		return nil
	}
	found := map[emulate.Addr]bool{}
	for _, m := range t.ms.All() {
		if m.obj == nil || m.Kind == ModLibc || m.Kind == ModAllocator || m.isGo() {
			continue // what it allocates and frees that way is its own
		}
		s := m.symbols()
		for i := range s.recs {
			if s.recs[i].plt {
				continue
			}
			f := m.funcOf(s, i)
			if m.Static && f.Runtime && !f.Library && !strings.HasPrefix(f.Linkage, "_Z") {
				continue
			}
			if r, _ := t.ms.Runtime(f); r.Alloc != NoAlloc {
				continue // operator delete ends in a jump to free
			}
			for _, j := range t.tailJumps(f) {
				r, _ := t.ms.Runtime(j.to)
				wanted := also != nil && also(j.to)
				if m.Kind == ModCxx && r.Alloc != RoleDelete && r.Alloc != RoleDeleteArray && !wanted {
					continue // that memory is its own; strings and containers are the program's
				}
				if r.Alloc != NoAlloc || wanted {
					found[j.to.Entry] = true
				}
			}
		}
	}
	out := make([]emulate.Addr, 0, len(found))
	for a := range found {
		out = append(out, a)
	}
	if at := t.ResumePoint(); at != 0 {
		out = append(out, at)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// InAllocator says whether an allocator function is under way, so that what
// the thread does is the allocator's business.
func (t *Tracker) InAllocator() bool { return t.hook >= 0 }
