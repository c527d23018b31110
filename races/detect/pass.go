package detect

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/traces"
)

// A Pass replays all threads of a recording side by side and feeds what they
// do to a races.Detector, in the order in which it was recorded.
//
// Every thread is replayed by its own goroutine, which turns one recorded slice
// after the other into a batch of events; batches are merged in the order of
// the slices. Only lines that two threads touched are observed.
type Pass struct {
	Session *replay.Session
	Tree    *funcs.Tree
	Sync    []races.SyncVar // known beforehand
	// Everything observes all lines, not only shared ones.
	Everything bool
	// Checks collects what checkers look at: Heap, and the ends of threads.
	Checks bool
	// Close are lines (address >> 6) that are looked at access by access; see
	// Suspects. NoCoarse does that to all lines.
	Close    map[uint64]bool
	NoCoarse bool
	// Atomics are instructions of the program whose accesses are atomic, beside
	// those that can be told by the functions that they are in.
	Atomics map[uint64]bool
	// Loose, if it isn't nil, says what an atomic access doesn't do, by the
	// source. Threads ask at the same time.
	Loose func(AtomicSite) races.Loose
	// NoRaces leaves accesses out of the detection.
	NoRaces bool
	// Together leaves the tasks of OpenMP that one thread executed in the order
	// in which it did.
	Together bool
	// Alone are parallel regions that have one thread; see Single.
	Alone map[RegionKey]bool
	// Marks is the number of places per thread, at most, from which Seek can
	// start; 0 means 32.
	Marks int
	// Memory is about what the pass may keep, in bytes; 0 means 4 GiB. See Given.
	Memory int64

	// Progress, if it isn't nil, is told how many of all recorded slices were
	// looked at.
	Progress func(done, total int)

	// Predict also looks for races in what could have been: see Predictor.
	Predict bool

	Detector *races.Detector
	// Predictor has what Predict found; nil without it.
	Predictor *races.Predictor
	// Contended says that two threads took the same lock, that atomic
	// instructions of two threads met, or that Sync has variables. Otherwise
	// there is nothing to predict.
	Contended bool
	// Suspects are lines that have to be looked at more closely: what was found
	// is right, but races in these lines may be missing.
	Suspects map[uint64]bool
	Threads  map[emulate.ThreadID]*ThreadTrack
	before   bool     // what comes is from when the trace doesn't have all threads yet
	Heap     *Heap    // nil without Checks
	Conduct  *Conduct // nil without Checks
	Lives    *Lifetimes
	// Cut says where the pass stopped early because the trace is incomplete.
	Cut string

	limits limits
	kept   atomic.Int64 // pages that marks keep
	visits visits
	class  func(emulate.Addr) uint64 // see races.Config

	joint     *Joint // of which it is a part, if it is
	lines     *replay.LineSet
	sync      []races.SyncVar   // known beforehand, the trace's too
	syncBytes map[uint64]uint64 // of synchronisation variables, by line
	log       eventLog
	foreseer  *foreseer                    // of the log, nil: not begun
	children  map[emulate.ThreadID][]birth // by parent
	jumps     []emulate.Addr
	held      map[emulate.ThreadID][]emulate.Addr
	takers    map[emulate.Addr]emulate.ThreadID // of locks: the first to take it
	locks     map[emulate.Addr]lockRole
	strings   map[emulate.Addr]*stringRole
	conducts  map[emulate.Addr]conductRole
	messages  map[emulate.Addr]messageRole
	uses      map[emulate.Addr][]primitiveUse
	golang    *golang // nil: not a Go program
	openmp    *openmp // nil: no OpenMP tasks to be told apart
	free      sync.Pool
}

// A ThreadTrack is what a pass keeps of one thread.
type ThreadTrack struct {
	ID     emulate.ThreadID
	Origin Origin
	marks  []mark
	Last   emulate.Count // how far it was replayed
	// Stack is the extent of its stack and thread control block, as mapped
	// when it started (0: unknown).
	Stack, StackEnd uint64
	// End is the thread's last state, with Checks, and EndCalls its stack then.
	End      *replay.Snapshot
	EndCalls *funcs.Tracker
	// Exited says that the thread ended itself, rather than the process it.
	Exited bool
	// Wants is the lock that it was waiting for at the end, 0: none.
	Wants emulate.Addr
	// Control is the address of its thread control block.
	Control uint64

	tasks       []TaskRun           // of OpenMP
	goroutines  []goRun             // of a Go program
	kernel      map[uint64]struct{} // pages that its system calls wrote to
	kernelLines map[uint64]struct{} // …and lines
	lines       map[uint64]lineUse  // with Checks: those that others wrote meanwhile
}

// A batch is what one thread did in one slice.
type batch struct {
	events []races.Event
	notes  []note
	err    error
}

// Run replays and detects. The error is a divergence or a damaged trace.
func (p *Pass) Run(ctx context.Context) error {
	sched, err := p.Session.Schedule()
	if err != nil {
		return err
	}
	if err := p.prepare(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feeds := p.start(ctx)
	for i := range sched {
		s := &sched[i]
		var b *batch
		select {
		case b = <-feeds[s.Thread]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b == nil {
			continue // the thread's stream ended before: the trace is cut off
		}
		p.before = s.Min < p.Session.Begin()
		p.merge(s.Thread, b)
		if p.Progress != nil {
			p.Progress(i+1, len(sched))
		}
		if b.err != nil {
			return b.err
		}
		b.events, b.notes = b.events[:0], b.notes[:0]
		p.free.Put(b)
	}
	// What is left are ends that the process's end brought.
	for _, id := range p.Session.Threads() {
		p.holds(id)
		for {
			select {
			case b, more := <-feeds[id]:
				if b != nil && b.err != nil {
					return b.err
				}
				if more {
					continue
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			break
		}
	}
	if p.joint == nil {
		p.Detector.Finish()
	}
	if p.Predictor != nil {
		p.Predictor.Finish()
	}
	return nil
}

// prepare sets up what Run needs.
func (p *Pass) prepare() error {
	p.lines = p.Session.Shared()
	if p.Everything {
		p.lines = nil
	}
	sync := append([]races.SyncVar(nil), p.Sync...)
	for _, a := range p.Session.Atomics() {
		if a.N >= 1 && a.N <= 64 {
			sync = append(sync, races.SyncVar{Addr: emulate.Addr(a.Addr), Size: int(a.N)})
		}
	}
	p.syncBytes = p.bytesOfSync()
	p.limits.set()
	p.Suspects = map[uint64]bool{}
	canon := p.canon()
	// A suspect would have to be looked at under all its addresses.
	p.NoCoarse = p.NoCoarse || canon != nil
	if p.golang = newGolang(p); p.golang != nil && p.joint == nil {
		p.lines = nil // goroutines share more than threads do
		p.log.full = true
	}
	if p.openmp = newOpenMP(p); p.openmp != nil && p.small() {
		p.lines = nil // tasks share more than threads do
	}
	p.Contended = len(p.Sync) > 0 && p.golang == nil
	if p.joint == nil {
		c := races.Config{Sync: sync, Canon: canon, Class: p.class, Suspect: p.suspect, Memory: p.memory() / shadowShare}
		if p.golang != nil {
			c.MaxSlots = goSlots
		}
		if p.openmp != nil {
			c.MaxSlots = ompSlots
		}
		p.Detector = races.New(c)
	}
	p.sync = sync
	if p.Predict {
		p.Predictor = p.newPredictor(p.suspect, p.Detector)
		p.log.full = true
	}
	p.held = map[emulate.ThreadID][]emulate.Addr{}
	p.takers = map[emulate.Addr]emulate.ThreadID{}
	p.Threads = map[emulate.ThreadID]*ThreadTrack{}
	p.Lives = newLifetimes()
	if p.Checks {
		p.Heap, p.Conduct = newHeap(p), newConduct(p)
		p.conducts = entriesOf(p.Tree.Modules(), conductFuncs)
	}

	p.locks = entriesOf(p.Tree.Modules(), lockFuncs)
	p.uses = useEntries(p.Tree.Modules())
	p.messages = entriesOf(p.Tree.Modules(), messageFuncs)
	p.jumps = p.Tree.JumpTargets(func(f *funcs.Func) bool {
		return p.openmp.hook(f.Entry) != 0
	})
	// Libraries jump to these through pointers, too, which no code shows.
	for _, m := range []iter.Seq[emulate.Addr]{maps.Keys(p.locks), maps.Keys(p.conducts), maps.Keys(p.uses)} {
		p.jumps = slices.AppendSeq(p.jumps, m)
	}
	p.strings = stringEntries(p.Tree.Modules())

	return p.births()
}

// start makes a goroutine for each thread, which sends its batches.
func (p *Pass) start(ctx context.Context) map[emulate.ThreadID]chan *batch {
	feeds := map[emulate.ThreadID]chan *batch{}
	for _, id := range p.Session.Threads() {
		tt := &ThreadTrack{ID: id}
		p.Threads[id] = tt
		ch := make(chan *batch, 2)
		feeds[id] = ch
	}
	for id, ch := range feeds {
		go p.follow(ctx, p.Threads[id], ch)
	}
	for _, b := range p.children[0] {
		for _, e := range p.born(b, 0) {
			p.feed(&e)
		}
	}
	return feeds
}

// merge takes in what a thread did in its next slice.
func (p *Pass) merge(id emulate.ThreadID, b *batch) {
	notes := b.notes
	for k := range b.events {
		for len(notes) > 0 && notes[0].at <= k {
			p.remark(id, &notes[0])
			notes = notes[1:]
		}
		e := &b.events[k]
		if p.golang != nil {
			e.Ctx = p.golang.whole(id, e.Ctx)
		}
		p.feed(e)
	}
	for i := range notes {
		p.remark(id, &notes[i])
	}
}

// remark takes in what isn't for the detector.
func (p *Pass) remark(id emulate.ThreadID, n *note) {
	switch {
	case n.kind >= noteOmpEnter:
		p.openmp.take(id, n)
	case n.kind >= noteGoNew:
		if n.kind == noteGoNew || n.kind == noteGoLeave {
			n.ctx = p.golang.whole(id, n.ctx)
		}
		p.golang.take(id, n)
	case n.kind == noteJoin:
		if p.Conduct != nil {
			p.Conduct.joined(id, n)
		}
		p.Lives.join(id, n.addr, n.count)
	case n.kind == noteName:
		p.name(id, n)
	case n.kind == noteMessage:
		p.Lives.message(id, n)
	case n.kind == noteAwait:
		e := races.Event{Op: races.OpWait, Thread: id}
		if u := p.Lives.control[n.addr]; n.addr != 0 && u != id {
			e.Value = uint64(u)
		}
		p.feed(&e)
	case p.Heap != nil && !p.Conduct.note(id, n):
		p.Heap.note(id, n)
	}
}

// feed gives an event to all who want it.
func (p *Pass) feed(e *races.Event) {
	switch e.Op {
	case races.OpUse, races.OpRenew:
		// Addresses and numbers are those of one process.
		if p.joint == nil && !p.NoRaces && !p.before {
			p.Detector.Feed(e)
		}
		return
	case races.OpAccess:
		if p.before {
			return
		}
		if p.golang != nil && len(p.golang.inside) > 0 && p.golang.inside[e.Thread] {
			return
		}
		if p.Heap != nil {
			p.Heap.access(e)
		}
		if p.NoRaces {
			return
		}
		e.Flags &^= allocatorAccess
		if p.openmp != nil && p.openmp.access(e) {
			return
		}
		if e.Scope == scopeByOwner {
			p.attribute(e)
			if p.golang != nil && e.Flags&races.Internal != 0 {
				return
			}
		}
		// What the run-time does for itself, as when threads begin and end, keeps
		// nothing of the program's in an order.
		if (e.Flags&races.Atomic != 0 || e.Typed) && (e.Flags&races.Internal == 0 || e.Scope == races.ScopeUser) && !p.Contended {
			p.take(e)
		}
	case races.OpThreadStart:
		if tt := p.Threads[e.Thread]; tt != nil { // else another process's
			p.Lives.start(e.Thread, emulate.ThreadID(e.Value), tt.Control, e.Count)
		}
	case races.OpThreadExit:
		p.holds(e.Thread)
	case races.OpLock:
		e.Value = p.Lives.Now(e.Thread)
		p.take(e)
	case races.OpFree:
		if p.openmp != nil {
			p.openmp.freed(e)
		}
		if p.Conduct != nil {
			p.Conduct.freeing(e)
		}
	case races.OpAlloc:
		if p.golang != nil {
			p.golang.allocated(e)
		}
		if p.openmp != nil {
			p.openmp.allocated(e)
		}
	case races.OpReset:
		if p.Heap != nil {
			p.Heap.reset(uint64(e.Addr), e.N)
		}
	}
	if p.joint != nil {
		p.joint.feed(p, e)
		return
	}
	if e.Scope == scopeOfTasks {
		e.Scope = races.ScopeInternal
		p.Detector.Feed(e)
		e.Scope = races.ScopeUser
	} else {
		p.Detector.Feed(e)
	}
	if p.Predictor == nil {
		if e.Op == races.OpAccess && e.Flags&races.Atomic == 0 && !e.Typed && p.Detector.Alone() {
			return // nothing that could come in another order
		}
		if p.log.add(e) && p.Contended {
			p.early()
		}
		return
	}
	p.Predictor.Feed(e)
}

// take notes that a thread took a lock, or used a variable that synchronises.
func (p *Pass) take(e *races.Event) {
	if first := p.takers[e.Addr]; first == 0 {
		p.takers[e.Addr] = e.Thread
	} else if first != e.Thread && p.golang == nil {
		p.Contended = true
	}
}

// Births returns the threads that a thread created, in order, with the number
// of the orderable event of each.
func (p *Pass) Births(parent emulate.ThreadID) (ids []emulate.ThreadID, mins []uint64) {
	for _, b := range p.children[parent] {
		if p.Threads[b.id] != nil {
			ids, mins = append(ids, b.id), append(mins, b.min)
		}
	}
	return ids, mins
}

// newPredictor returns a predictor; blocks knows the heap.
func (p *Pass) newPredictor(suspect func(line uint64), blocks *races.Detector) *races.Predictor {
	c := races.PredictConfig{Sync: p.sync, Class: p.class, Suspect: suspect, Block: blocks.BlockAt}
	c.Memory = p.memory() / predictShare
	if p.limits.exact {
		c.History, c.MaxTries = 1<<20, 1<<20
	}
	return races.NewPredictor(c)
}

// PredictAgain does for a pass that has run without Predict what Predict would
// have done. It returns false if it can't, because there was too much to keep.
func (p *Pass) PredictAgain() bool {
	if p.log.full {
		return false
	}
	p.early()
	f := p.foreseer
	p.foreseer = nil
	p.Predictor = f.end(&p.log)
	for l := range f.suspects {
		p.suspect(l)
	}
	p.log = eventLog{full: true}
	return true
}

// holds notes the locks that a thread holds when it ends.
func (p *Pass) holds(id emulate.ThreadID) {
	if _, ok := p.held[id]; ok {
		return
	}
	var l []emulate.Addr
	for _, k := range p.Detector.Lockset(p.Detector.Locks(id)) {
		l = append(l, p.Detector.LockAddr(k))
	}
	p.held[id] = l
}

// Held returns the locks that a thread held at the end.
func (p *Pass) Held(id emulate.ThreadID) []emulate.Addr { return p.held[id] }

// Candidates lists the conflicts that were found, then those predicted.
func (p *Pass) Candidates() []*races.Candidate {
	l := p.Detector.Candidates()
	if p.Predictor != nil {
		l = append(l[:len(l):len(l)], p.Predictor.Candidates()...)
	}
	return l
}

// scopeByOwner marks an access by a run-time function that counts as the
// user's if the memory is the user's. The detector never sees it.
const scopeByOwner races.Scope = 0xff

// scopeOfTasks marks what an OpenMP run-time does to keep its tasks: it orders
// threads, as far as a Predictor is concerned, but not what they execute.
const scopeOfTasks races.Scope = 0xfe

// attribute decides whose an access by a run-time function is: the run-time's
// own if it is to the run-time's data or to a block that the run-time
// allocated for itself.
func (p *Pass) attribute(e *races.Event) {
	e.Scope = races.ScopeUser
	if p.Tree.RuntimeData(uint64(e.Addr)) {
		e.Flags, e.Scope = e.Flags|races.Internal, races.ScopeInternal
		return
	}
	if b := p.Detector.BlockAt(e.Addr); b.ID != 0 && p.Tree.Class(b.Ctx).Own() {
		e.Flags, e.Scope = e.Flags|races.Internal, races.ScopeInternal
	}
}

// Canon returns a function that maps mappings of the same memory to one
// address outside the guest's address space; nil if there are none.
func Canon(s *replay.Session) func(uint64) uint64 {
	type region struct{ lo, hi, to uint64 }
	var rs []region
	for _, m := range s.EveryMapping() {
		if m.Alias != 0 {
			rs = append(rs, region{uint64(m.Addr), uint64(m.Addr) + m.N, 1<<63 | m.Alias<<40 + m.AliasOffset})
		}
	}
	if len(rs) == 0 {
		return nil
	}
	return func(a uint64) uint64 {
		for i := len(rs) - 1; i >= 0; i-- {
			if r := &rs[i]; a >= r.lo && a < r.hi {
				return r.to + a - r.lo
			}
		}
		return a
	}
}

func (p *Pass) canon() func(emulate.Addr) emulate.Addr {
	c := Canon(p.Session)
	if c == nil {
		return nil
	}
	return func(a emulate.Addr) emulate.Addr { return emulate.Addr(c(uint64(a))) }
}

// follow replays one thread and sends a batch for each of its slices.
func (p *Pass) follow(ctx context.Context, tt *ThreadTrack, out chan<- *batch) {
	defer close(out)
	f := &follower{p: p, tt: tt, table: p.limits.table(len(p.Session.Threads()))}
	send := func(b *batch) bool {
		select {
		case out <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	t, err := p.Session.Thread(tt.ID)
	if err != nil {
		send(&batch{err: err})
		return
	}
	f.t = t
	if p.Checks && p.golang == nil { // Go's memory is its collector's
		f.watch = newWatch(f)
	}
	f.calls = funcs.NewTracker(p.Tree, tt.ID, f)
	f.calls.Begin(t)
	var entries []emulate.Addr
	for a := range p.locks {
		entries = append(entries, a)
	}
	for a := range p.strings {
		entries = append(entries, a)
	}
	for a := range p.conducts {
		entries = append(entries, a)
	}
	for a := range p.uses {
		entries = append(entries, a)
	}
	if p.golang != nil {
		f.goer = &goFollower{roles: map[uint64]goRole{}, parked: map[uint64][]goCall{}}
		for a := range p.golang.hooks {
			entries = append(entries, a)
		}
		f.calls.WatchGo(f)
	}
	if p.openmp != nil {
		f.omp = &ompFollower{}
		for a := range p.openmp.hooks {
			entries = append(entries, a)
		}
	}
	f.calls.Watch(entries, f)
	if f.omp != nil {
		f.calls.WatchCalls(p.Tree.Modules().LeavesOpenMP)
	}
	for _, a := range p.jumps {
		t.CPU().Blocks.Break(uint64(a))
	}
	t.CPU().Calls = f.calls
	t.Observe(p.lines, p.lines == nil, f)
	t.OnImport = func(_ *replay.Thread, line uint64, _ *[64]byte) { f.imported(line) }
	t.Want = replay.Kinds(traces.SyscallEnter, traces.SyscallExit, traces.Signal, traces.Context, traces.Switch, traces.Exit)
	marks := p.marker(tt)
	f.b = p.batch()
	for {
		f.rip = t.CPU().RIP
		ev, err := t.Step()
		if err == nil && ev.Stop != nil {
			f.calls.Enter(t.CPU())
			continue
		}
		if err != nil {
			f.flush()
			if !errors.Is(err, io.EOF) {
				f.b.err = err
			}
			tt.Last = t.Count()
			marks.account(t)
			if n := len(f.lockCalls); n > 0 {
				switch l := &f.lockCalls[n-1]; l.role {
				case roleLock, roleShared:
					tt.Wants = emulate.Addr(l.lock)
				}
			}
			if p.Checks && f.b.err == nil {
				tt.End, tt.EndCalls = t.Snapshot(), f.calls.Clone()
				tt.keepLines(f.table)
			}
			send(f.b)
			return
		}
		switch ev.Kind {
		case traces.Switch:
			if ev.Packet.Min < p.Session.Begins() {
				continue
			}
			if ev.Packet.In {
				marks.pass(t, f.calls)
				continue
			}
			f.flush()
			if !send(f.b) {
				return
			}
			f.b = p.batch()
		case traces.Exit:
			f.flush()
			tt.Exited = f.call.nr == sysExit
			f.orphan()
			f.add(races.Event{Op: races.OpThreadExit, Addr: emulate.Addr(ev.Packet.Addr)})
		default:
			f.packet(&ev)
		}
	}
}

func (p *Pass) batch() *batch {
	if b, ok := p.free.Get().(*batch); ok {
		return b
	}
	return &batch{}
}

// Distance returns how many instructions Seek replays to get somewhere, at most,
// unless marks had to be thinned out for want of memory. It depends on the
// recording alone.
func (p *Pass) Distance(id emulate.ThreadID, count emulate.Count) uint64 {
	return uint64(count) % p.between(id)
}
