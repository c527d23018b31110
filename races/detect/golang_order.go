package detect

import (
	"sort"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// What goroutines order, told in the order of the recording.

// A Goroutine is one goroutine of a Go program.
type Goroutine struct {
	ID     uint64 // as the run-time counts; its own numbers if that isn't known
	Parent uint64 // which made it, 0: the run-time
	// Ctx and PC are where it was made; 0: by the run-time.
	Ctx uint32
	PC  uint64
	// Entry is its function.
	Entry emulate.Addr

	strand uint64         // 0: it is the run-time's own, and has no clock
	woken  uint64         // the object that it was woken by last
	rest   bool           // too many: it shares its clock; see golang.resume
	final  bool           // it executes finalizers
	alloc  *note          // the allocation under way, if it waited there; noteGoLeave
	stack  []funcs.NodeID // of the functions that it was in when its thread left it
}

// A goRun says which goroutine a thread executes from an instruction on.
type goRun struct {
	from emulate.Count
	g    *Goroutine
}

// Bounds of what is kept, per recording.
const (
	maxStrands  = 1000 // goroutines alive with a clock of their own
	goSlots     = 1024 // slots of clocks
	maxGoBuffer = 1024 // places of a channel's buffer that are told apart
)

// restStrand numbers the clock that all goroutines share which a thread
// executes beyond maxStrands, timerStrand that of the timers it runs.
func restStrand(id emulate.ThreadID) uint64  { return 1<<63 | uint64(id) }
func timerStrand(id emulate.ThreadID) uint64 { return 1<<62 | uint64(id) }

// A golang is what a pass knows of a Go program.
type golang struct {
	p       *Pass
	hooks   map[emulate.Addr]goHook
	channel map[emulate.Addr]bool
	layout  funcs.GoLayout
	// inlines says that functions expanded in place are known. If not, locks
	// are the atomic instructions that they are made of, in all functions.
	inlines bool

	gs    map[uint64]*Goroutine // by the address of its structure
	cur   map[emulate.ThreadID]*Goroutine
	chans map[uint64]*goChan
	// inside are threads whose goroutine went on in an allocator function: until
	// that returns, it clears memory that nobody has yet.
	inside map[emulate.ThreadID]bool
	grafts map[emulate.ThreadID]*graft
	coro   map[emulate.ThreadID]bool // threads that switch from one side of a coroutine to the other
	live   int                       // with a clock of their own
	made   uint64
	nchan  uint64
	full   bool // there were more than maxStrands
}

// A goChan is a channel with a buffer.
type goChan struct {
	id    uint64
	size  uint64
	count uint64 // what was in it when its lock was given up last
	sent  uint64
	recvd uint64
}

// newGolang returns nil for programs that aren't Go's.
func newGolang(p *Pass) *golang {
	ms := p.Tree.Modules()
	hooks, channel := goEntries(ms)
	if hooks == nil {
		return nil
	}
	return &golang{p: p, hooks: hooks, channel: channel, layout: ms.GoLayout(), inlines: ms.GoInlines(), gs: map[uint64]*Goroutine{},
		cur: map[emulate.ThreadID]*Goroutine{}, chans: map[uint64]*goChan{}, inside: map[emulate.ThreadID]bool{}, coro: map[emulate.ThreadID]bool{}, grafts: map[emulate.ThreadID]*graft{}}
}

// ownStacks says whether threads' stacks are taken from the run-time's heap. If
// there is C code, they are the C library's.
func (o *golang) ownStacks() bool {
	return o != nil && o.p.Tree.Modules().GoFunc("x_cgo_thread_start") == 0
}

// systemGoroutines are functions of goroutines that never execute the program's
// code.
var systemGoroutines = []string{"runtime.bgsweep", "runtime.bgscavenge", "runtime.forcegchelper", "runtime.gcBgMarkWorker"}

// finalizerGoroutines execute functions for objects that nobody has any more:
// whatever was done to them was done before.
var finalizerGoroutines = []string{"runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups", "runtime.(*cleanupQueue)"}

func hasAnyPrefix(s string, l []string) bool {
	for _, p := range l {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// make takes in a new goroutine. strand is of who made it.
func (o *golang) make(id emulate.ThreadID, n *note) {
	o.made++
	g := &Goroutine{ID: n.size, Ctx: n.ctx, PC: n.pc, Entry: emulate.Addr(n.old)}
	if g.ID == 0 {
		g.ID = o.made
	}
	if by := o.cur[id]; by != nil {
		g.Parent = by.ID
	}
	o.gs[n.addr] = g
	name := ""
	if f := o.p.Tree.Modules().FuncAt(g.Entry); f != nil {
		name = f.Name
	}
	if hasAnyPrefix(name, systemGoroutines) {
		return
	}
	g.final = hasAnyPrefix(name, finalizerGoroutines)
	if o.live >= maxStrands {
		o.full = true
		g.rest, g.strand = true, restStrand(id)
	} else {
		o.live++
		g.strand = uint64(id)<<40 | o.made
	}
	o.feed(races.Event{Op: races.OpSpawn, Thread: id, Strand: g.strand})
}

// resume takes in that a thread goes on with a goroutine.
func (o *golang) resume(id emulate.ThreadID, n *note) {
	g := o.gs[n.addr]
	if g == nil { // made before the recording's beginning, or by C code
		o.made++
		g = &Goroutine{ID: o.made, strand: uint64(id)<<40 | o.made}
		o.live++
		o.gs[n.addr] = g
		o.feed(races.Event{Op: races.OpSpawn, Thread: id, Strand: g.strand})
	}
	if o.cur[id] != g {
		tt := o.p.Threads[id]
		tt.goroutines = append(tt.goroutines, goRun{n.count, g})
	}
	o.cur[id] = g
	o.enter(id, g.alloc != nil)
	o.joinStack(id, g, n)
	if to := restStrand(id); g.rest && g.strand != to {
		o.feed(races.Event{Op: races.OpHand, Thread: id, Value: g.strand, Strand: to})
		g.strand = to
	}
	o.feed(races.Event{Op: races.OpSwitch, Thread: id, Strand: g.strand})
	if o.coro[id] {
		delete(o.coro, id)
		o.order(races.OpAcquire, id, 0, goObjCoro|uint64(id))
	}
	if g.final {
		o.feed(races.Event{Op: races.OpGather, Thread: id})
	}
}

func (o *golang) end(n *note) {
	g := o.gs[n.addr]
	if g == nil {
		return
	}
	delete(o.gs, n.addr)
	if g.strand != 0 && !g.rest {
		o.live--
		o.feed(races.Event{Op: races.OpStrandEnd, Strand: g.strand})
	}
}

func (o *golang) feed(e races.Event) { o.p.feed(&e) }

// take takes in what a thread told.
func (o *golang) take(id emulate.ThreadID, n *note) {
	switch n.kind {
	case noteGoNew:
		o.make(id, n)
	case noteGoResume:
		o.resume(id, n)
	case noteGoEnd:
		o.end(n)
	case noteGoCoro:
		o.coro[id] = true
		o.order(races.OpRelease, id, 0, goObjCoro|uint64(id))
	case noteGoTimer:
		o.feed(races.Event{Op: races.OpSwitch, Thread: id, Strand: timerStrand(id)})
		o.order(races.OpAcquire, id, 0, goObjTimer|n.addr)
	case noteGoTimerEnd:
		s := uint64(0)
		if g := o.cur[id]; g != nil {
			s = g.strand
		}
		o.feed(races.Event{Op: races.OpSwitch, Thread: id, Strand: s})
	case noteGoWake:
		if g := o.gs[n.addr]; g != nil && g.strand != 0 {
			o.order(races.OpAcquire, id, g.strand, n.old)
			g.woken = n.old
		}
	case noteGoGot:
		// Whoever is woken may find that others were faster, and that more was
		// given meanwhile.
		if g := o.cur[id]; g != nil && g.woken != 0 {
			o.order(races.OpAcquire, id, 0, g.woken)
		}
	case noteGoChan:
		o.unlocked(id, n)
	case noteGoSend, noteGoRecv:
		o.meet(id, n)
	case noteGoOuter:
		o.returned(id, n.ctx)
	case noteGoLeave:
		if g := o.gs[n.addr]; g != nil {
			g.stack = o.stack(id, n.stack)
			if n.old != 0 {
				k := *n
				k.stack = nil
				g.alloc = &k
			}
		}
		o.enter(id, false)
	case noteGoAlloc:
		if g := o.cur[id]; g != nil && g.alloc != nil && g.alloc.old == n.old {
			o.alloc(id, g.alloc, n)
			g.alloc = nil
			o.enter(id, false)
		}
	}
}

// enter says whether a thread's goroutine is in an allocator function in which
// it waited.
func (o *golang) enter(id emulate.ThreadID, is bool) {
	if is {
		o.inside[id] = true
	} else if len(o.inside) > 0 {
		delete(o.inside, id)
	}
}

// alloc takes in that a goroutine was given memory which it has waited for, on
// another thread maybe than where it asked.
func (o *golang) alloc(id emulate.ThreadID, asked, got *note) {
	if got.addr == 0 || asked.size == 0 {
		return
	}
	e := races.Event{Op: races.OpAlloc, Thread: id, Addr: emulate.Addr(got.addr), N: asked.size, Ctx: asked.ctx, PC: asked.pc, Count: got.count}
	if o.p.Tree.Class(asked.ctx).Own() {
		e.Flags |= races.Internal
	}
	o.feed(e)
}

func (o *golang) order(op races.Op, id emulate.ThreadID, strand, object uint64) {
	o.feed(races.Event{Op: op, Thread: id, Strand: strand, Object: races.ObjOther, Value: object, Scope: races.ScopeUser})
}

func (o *golang) chanAt(addr, size uint64) *goChan {
	c := o.chans[addr]
	if c == nil {
		o.nchan++
		c = &goChan{id: o.nchan, size: min(max(size, 1), maxGoBuffer)}
		o.chans[addr] = c
	}
	return c
}

// place is where the n-th value goes in the buffer.
func (c *goChan) place(n uint64) uint64 { return goObjSlot | c.id<<10 | n%c.size }

// exchange makes a strand (0: the thread's) acquire what the last user of a
// place left there, and leave there what it did: the k-th receive comes after
// the k-th send, and before the send that takes its place.
func (o *golang) exchange(id emulate.ThreadID, strand, place uint64) {
	o.order(races.OpAcquire, id, strand, place)
	o.order(races.OpRelease, id, strand, place)
}

// unlocked takes in what was done to a channel with a buffer while it was
// locked.
func (o *golang) unlocked(id emulate.ThreadID, n *note) {
	c := o.chanAt(n.addr, n.size)
	switch n.old - c.count {
	case 0:
	case 1:
		o.exchange(id, 0, c.place(c.sent))
		c.sent++
	case ^uint64(0):
		o.exchange(id, 0, c.place(c.recvd))
		c.recvd++
	default: // something was missed: it is as full as it is
		c.sent = c.recvd + n.old
		for k := uint64(0); k < c.size; k++ {
			o.exchange(id, 0, c.place(k))
		}
	}
	c.count = n.old
}

// meet takes in that a thread's goroutine sends to one that waits, or receives
// from one.
func (o *golang) meet(id emulate.ThreadID, n *note) {
	g := o.gs[n.old]
	if g == nil || g.strand == 0 {
		return
	}
	if n.size == 0 {
		// Both go on when both have come.
		place := goObjMeet | n.addr
		o.order(races.OpRelease, id, 0, place)
		o.order(races.OpRelease, id, g.strand, place)
		o.order(races.OpAcquire, id, 0, place)
		o.order(races.OpAcquire, id, g.strand, place)
		o.feed(races.Event{Op: races.OpForget, Thread: id, Object: races.ObjOther, Value: place})
		return
	}
	c := o.chanAt(n.addr, n.size)
	if n.kind == noteGoSend { // as if by way of the buffer, which is empty
		o.exchange(id, 0, c.place(c.sent))
		c.sent++
		o.exchange(id, g.strand, c.place(c.recvd))
		c.recvd++
		return
	}
	o.exchange(id, 0, c.place(c.recvd)) // from the buffer, which is full,
	c.recvd++
	o.exchange(id, g.strand, c.place(c.sent)) // and the other's value takes the place
	c.sent++
}

// allocated forgets the channel that was where memory is handed out anew.
func (o *golang) allocated(e *races.Event) {
	if o.inside[e.Thread] && e.Flags&races.Internal == 0 { // not any more: this is the next one
		o.cur[e.Thread].alloc = nil
		o.enter(e.Thread, false)
	}
	c := o.chans[uint64(e.Addr)]
	if c == nil {
		return
	}
	for k := uint64(0); k < c.size; k++ {
		o.feed(races.Event{Op: races.OpForget, Thread: e.Thread, Object: races.ObjOther, Value: c.place(k)})
	}
	delete(o.chans, uint64(e.Addr))
}

// Goroutine returns the goroutine that a thread executed at an instruction, nil
// if it was none.
func (p *Pass) Goroutine(id emulate.ThreadID, at emulate.Count) *Goroutine {
	tt := p.Threads[id]
	if tt == nil {
		return nil
	}
	l := tt.goroutines
	i := sort.Search(len(l), func(i int) bool { return l[i].from > at })
	if i == 0 {
		return nil
	}
	return l[i-1].g
}

// Switches says whether a thread changes to another goroutine between two
// instructions.
func (p *Pass) Switches(id emulate.ThreadID, from, to emulate.Count) bool {
	tt := p.Threads[id]
	if tt == nil {
		return false
	}
	l := tt.goroutines
	i := sort.Search(len(l), func(i int) bool { return l[i].from > from })
	return i < len(l) && l[i].from < to
}

// Breaks lists where a thread changes to another goroutine from one instruction
// to another; see loadsub.Breaker.
func (p *Pass) Breaks(id emulate.ThreadID, from, to emulate.Count) (out []emulate.Count) {
	tt := p.Threads[id]
	if tt == nil {
		return nil
	}
	l := tt.goroutines
	for i := sort.Search(len(l), func(i int) bool { return l[i].from >= from }); i < len(l) && l[i].from < to; i++ {
		out = append(out, l[i].from)
	}
	return out
}

// Crowded says that there were more goroutines at a time than are told apart.
func (p *Pass) Crowded() bool { return p.golang != nil && p.golang.full }
