package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// Conduct is how the program treats locks, threads, signals and descriptors, as
// far as that can be wrong by itself. A pass with Checks collects it; it is
// complete when the pass has run.
//
// What happened before the trace begins isn't known of a process that was
// forked: Inherited says so, and then only what the trace itself shows counts.
type Conduct struct {
	Inherited bool

	// Unlocks are locks given up by a thread that doesn't have them, Destroys
	// locks that somebody has while they are destroyed or their memory is given
	// back, Waits condition waits of threads that don't have the mutex.
	Unlocks, Destroys, Waits []Misstep
	// Sites are the places that wait for a condition with no time limit, each
	// once.
	Sites []Misstep
	// Created are the threads that were created.
	Created []Creation
	// Handlers are nodes of signal handlers: each first delivery by a node.
	Handlers []Delivery
	Files    Files

	p     *Pass
	said  map[said]bool
	by    map[emulate.ThreadID]int // index in Created
	seen  map[funcs.NodeID]bool    // of Handlers
	gifts map[gift]bool
}

// A gift says that the call at pc gave up a lock.
type gift struct {
	pc   uint64
	lock emulate.Addr
}

// maxGifts bounds the calls that are remembered.
const maxGifts = 1 << 16

// Gives says whether the call at pc gave up a lock: as far as is remembered, it
// did.
func (x *Conduct) Gives(pc uint64, lock emulate.Addr) bool { return x.gifts[gift{pc, lock}] }

// A Misstep is a call that shouldn't have been.
type Misstep struct {
	Thread emulate.ThreadID
	Ctx    uint32 // the caller
	PC     uint64 // of the call
	Count  emulate.Count
	Lock   emulate.Addr
	// Holder has the lock, since Held; 0: nobody.
	Holder emulate.ThreadID
	Held   races.LockSite
	// Freed: the memory of the lock is given back.
	Freed bool
	// Mutex of the wait (Sites, Waits), and where the thread took it.
	Taken races.LockSite
}

// A Creation is the start of a thread by another.
type Creation struct {
	ID, Parent       emulate.ThreadID
	Ctx              uint32 // the caller of pthread_create
	PC               uint64
	Count            emulate.Count
	Detached, Joined bool
	// Control is how the program names the thread; By detached or joined it,
	// before its instruction Released.
	Control  uint64
	By       emulate.ThreadID
	Released emulate.Count
}

// A Delivery is a signal's arrival: Node is the handler's, its parent what was
// interrupted.
type Delivery struct {
	Thread emulate.ThreadID
	Node   funcs.NodeID
	Signo  int32
	Count  emulate.Count
}

func newConduct(p *Pass) *Conduct {
	return &Conduct{Inherited: p.Session.Reader().Header().Parent != 0, p: p, said: map[said]bool{}, by: map[emulate.ThreadID]int{}, seen: map[funcs.NodeID]bool{}, gifts: map[gift]bool{}}
}

// A conductRole says which rule of conduct a function is subject to.
type conductRole uint8

const (
	_            conductRole = iota
	roleDestroy              // (lock): nobody may have it
	roleCreate               // (where the thread's name goes, attributes, …)
	roleCreate11             // (where the thread's name goes, …)
	roleDetach               // (thread)
	roleUsable               // (block): how much of it may be used
)

var conductFuncs = []roleOf[conductRole]{
	{roleDestroy, []string{"pthread_mutex_destroy", "__pthread_mutex_destroy", "pthread_rwlock_destroy", "__pthread_rwlock_destroy", "pthread_spin_destroy", "mtx_destroy"}},
	{roleCreate, []string{"pthread_create", "__pthread_create"}},
	{roleCreate11, []string{"thrd_create"}},
	{roleDetach, []string{"pthread_detach", "__pthread_detach", "thrd_detach"}},
	{roleUsable, []string{"malloc_usable_size"}},
}

// A conductCall is a call of such a function under way.
type conductCall struct {
	depth    int
	role     conductRole
	arg      uint64
	detached bool
	child    emulate.ThreadID
}

// Of the attributes of a thread (glibc, x86-64, struct pthread_attr): where the
// flags are, and the one of threads that start detached.
const (
	attrFlags    = 8
	attrDetached = 1
)

// enterConduct notes the call of a function that has a rule of conduct.
func (f *follower) enterConduct(r conductRole, t *funcs.Tracker, c *x86.CPU) {
	if n := len(f.conduct); n > 0 {
		return // one calls the other
	}
	k := conductCall{depth: t.Depth(), role: r, arg: c.R[x86.RDI]}
	switch r {
	case roleDestroy:
		f.caller(noteDestroy, k.arg, t)
	case roleDetach:
		f.caller(noteDetach, k.arg, t)
	case roleCreate11:
		f.born = 0
	case roleCreate:
		f.born = 0
		if attr := c.R[x86.RSI]; attr != 0 {
			v, ok := readUint(f.t.Memory().Read, attr+attrFlags, 4)
			k.detached = !ok || v&attrDetached != 0
		}
	}
	f.conduct = append(f.conduct, k)
}

// leaveConduct notes what such a function did.
func (f *follower) leaveConduct(t *funcs.Tracker, c *x86.CPU, returned bool) {
	for n := len(f.conduct); n > 0 && f.conduct[n-1].depth >= t.Depth(); n-- {
		k := f.conduct[n-1]
		f.conduct = f.conduct[:n-1]
		if k.depth != t.Depth() || !returned {
			continue
		}
		switch k.role {
		case roleCreate, roleCreate11:
			if f.born != 0 && uint32(c.R[x86.RAX]) == 0 {
				n := f.callNote(noteCreate, uint64(f.born), t)
				n.own = k.detached
				f.note(n)
			}
		case roleUsable:
			if n := c.R[x86.RAX]; n != 0 && f.watch != nil {
				f.watch.grown(k.arg, n)
			}
		}
	}
}

// callNote is a note about the call of the function that the tracker is in.
func (f *follower) callNote(kind noteKind, addr uint64, t *funcs.Tracker) note {
	a := t.Level(0)
	return note{kind: kind, addr: addr, ctx: f.p.Tree.Node(a.Node).Parent, pc: uint64(a.Site), count: a.Count}
}

func (f *follower) caller(kind noteKind, addr uint64, t *funcs.Tracker) {
	f.flush()
	f.note(f.callNote(kind, addr, t))
}

// note takes in a note of a thread, in the order of the recording. It returns
// false if it is for somebody else.
func (x *Conduct) note(id emulate.ThreadID, n *note) bool {
	at := emulate.Addr(n.addr)
	m := Misstep{Thread: id, Ctx: n.ctx, PC: n.pc, Count: n.count, Lock: at}
	d := x.p.Detector
	switch n.kind {
	case noteUnlock:
		if g := (gift{n.pc, at}); len(x.gifts) < maxGifts {
			x.gifts[g] = true
		}
		if d.Holds(id, at) || !x.judge(n) {
			return true
		}
		if m.Holder, m.Held = d.Holder(at); m.Holder == 0 && (n.own || x.Inherited && !d.KnownLock(at)) {
			return true
		}
		x.once(&x.Unlocks, n, m)
	case noteDestroy:
		if m.Holder, m.Held = d.Holder(at); m.Holder != 0 && x.judge(n) {
			x.once(&x.Destroys, n, m)
		}
	case noteWait, noteTimedWait:
		if !x.judge(n) {
			return true
		}
		switch site, held := d.HeldAt(id, at); {
		case held:
			m.Taken = site
			if n.kind == noteWait {
				n.kind = noteWaitSite
				x.once(&x.Sites, n, m)
			}
		case x.Inherited && !d.KnownLock(at):
		default:
			m.Holder, m.Held = d.Holder(at)
			x.once(&x.Waits, n, m)
		}
	case noteCreate:
		c := x.creation(emulate.ThreadID(n.addr))
		c.Parent, c.Ctx, c.PC, c.Count = id, n.ctx, n.pc, n.count
		c.Detached = c.Detached || n.own
	case noteDetach:
		// Perhaps by itself, before its creator knows of it.
		if u := x.p.Lives.control[n.addr]; u != 0 {
			c := x.creation(u)
			c.Detached, c.Control, c.By, c.Released = true, n.addr, id, n.count
		}
	case noteHandler:
		if node := n.ctx; !x.seen[node] {
			x.seen[node] = true
			x.Handlers = append(x.Handlers, Delivery{Thread: id, Node: node, Signo: int32(n.addr), Count: n.count})
		}
	case noteFile:
		x.Files.note(id, n)
	default:
		return false
	}
	return true
}

// creation returns what is known of a thread's creation.
func (x *Conduct) creation(u emulate.ThreadID) *Creation {
	i, ok := x.by[u]
	if !ok {
		i = len(x.Created)
		x.by[u] = i
		x.Created = append(x.Created, Creation{ID: u})
	}
	return &x.Created[i]
}

// joined notes that a thread was joined.
func (x *Conduct) joined(id emulate.ThreadID, n *note) {
	if u := x.p.Lives.control[n.addr]; u != 0 {
		c := x.creation(u)
		c.Joined, c.Control, c.By, c.Released = true, n.addr, id, n.count
	}
}

// judge says whether a call is the program's own, not one that a run-time
// library makes on its own account.
func (x *Conduct) judge(n *note) bool {
	return x.p.Tree.Place(n.ctx, emulate.Addr(n.pc)).User != 0
}

// once keeps the first misstep of a kind at a place.
func (x *Conduct) once(list *[]Misstep, n *note, m Misstep) {
	s := said{n.kind, n.ctx, n.pc}
	if !x.said[s] {
		x.said[s] = true
		*list = append(*list, m)
	}
}

// freeing looks for locks in a block that is about to be given back.
func (x *Conduct) freeing(e *races.Event) {
	b := x.p.Detector.BlockAt(e.Addr)
	if b.ID == 0 || b.Addr != e.Addr || e.Flags&races.Internal != 0 {
		return
	}
	holder, site, lock := x.p.Detector.HeldIn(e.Addr, b.Size)
	if holder == 0 {
		return
	}
	n := note{kind: noteDestroy, ctx: e.Ctx, pc: e.PC}
	if x.judge(&n) {
		x.once(&x.Destroys, &n, Misstep{Thread: e.Thread, Ctx: e.Ctx, PC: e.PC, Count: e.Count, Lock: lock, Holder: holder, Held: site, Freed: true})
	}
}

// readUint reads a little-endian number of size bytes.
func readUint(read func(uint64, []byte) int, addr uint64, size int) (v uint64, ok bool) {
	var b [8]byte
	if read(addr, b[:size]) != size {
		return 0, false
	}
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, true
}
