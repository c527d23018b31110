package races

import (
	"encoding/binary"
	"math"

	"github.com/racesim/racesim/emulate"
)

// A PredictConfig says how a Predictor works. The zero value is usable.
type PredictConfig struct {
	// Locks is the memory of locks that events don't mark with OfLock. What
	// the lock functions do there is implied by OpLock and OpUnlock; seen as
	// mere memory it would order all critical sections as they were recorded.
	Locks []SyncVar
	// Sync are synchronisation variables: they order by what is read from
	// them, and no race on them is reported.
	Sync []SyncVar
	// Class and Suspect are as for a Detector.
	Class   func(emulate.Addr) uint64
	Suspect func(line uint64)
	// Block returns the heap block at an address, as of the last event (may be
	// nil).
	Block func(emulate.Addr) Block

	// History is the number of accesses kept per granule and thread (default
	// 8), Window the number of critical sections kept per lock and thread
	// (default 1024), MaxTries the number of pairs tried for each pair of
	// instructions (default 256), MaxThreads the number of threads (default
	// 256). What lies beyond isn't predicted.
	History, Window, MaxTries, MaxThreads int

	// Memory bounds what is kept, in bytes, about (default 1 GiB); see Given.
	Memory int64
}

// A Predictor finds sync-preserving races: pairs of conflicting accesses that
// some reordering of the recording brings next to each other, in which every
// read sees the write that it saw in the recording, threads do what they did
// up to there, and the critical sections of each lock that take place do so in
// the recorded order. Races that happens-before sees are among them; those
// that it misses because a critical section happened to come in between are
// the reason for a Predictor.
//
// For a pair (e1, e2), the smallest set of events that must have taken place
// before both is computed: everything before e1 and e2 in their threads,
// everything that a member depends on (its thread's past, creation, join,
// message, the write that it reads), and, as long as two critical sections of
// one lock have begun, all of the earlier one. The pair races if neither of
// the two is in the set (Mathur, Pavlogiannis, Viswanathan, POPL 2021,
// lemma 4.1). The set is a vector clock over the order "thread and reads-from".
//
// Unlike the paper's, its reads may see another write if what they read decides
// nothing (Event.Blind): a counter's increment takes place whoever came first.
// Who looks at the counter then sees what it saw.
//
// A thread may also enter the critical section around its access later than it
// did (Predictor.reversed).
//
// It differs from the paper in being bounded (see PredictConfig), in trying
// pairs one by one instead of advancing a queue for each pair of threads, and
// in keeping the order of readers' sections, too. Accesses by the run-time
// don't race. What its synchronisation functions read from one another is a
// dependence like any other, except for locks. A prediction is a candidate;
// whether the reordered execution is possible is to be checked by running it.
type Predictor struct {
	cfg     PredictConfig
	now     uint64 // events so far: the recorded order of critical sections
	threads map[emulate.ThreadID]*predThread
	slots   []*predThread
	clocks  []clock               // what moments know, by number; 0 is nothing
	sets    [][]heldMode          // sets of locks held, by number; 0 is none
	setByID map[string]lockSetNum // by their bytes
	pages   map[uint64]*predPage
	near    [64]*predPage // the last ones asked for, by the low bits
	locks   map[emulate.Addr]*predLock
	// contended are the locks that two threads took: others ask for nothing.
	contended []*predLock
	objects   map[Object]clock
	full      bool // more threads than MaxThreads
	alive     int  // threads that haven't ended
	joined    int  // threads, from the first slot: ended, and joined by the only one that hasn't
	unused    []clockNum
	used      int64 // bytes, without clocks
	pruneAt   int64 // check is due when there is more
	given     Given
	tries     map[candidateKey]int

	byKey map[candidateKey]*Candidate
	list  []*Candidate
	// maybe are the conflicts that only what threads read, or locks, keep
	// apart; see Possible.
	maybe     map[candidateKey]*possible
	maybeList []*possible
	hard      map[Object]clock
	recents   [4096]recent
	exits     map[uint64]Object       // by granule: whose end the kernel tells there
	outers    map[place]emulate.Count // of accesses in Samples; see Outer
	set       clock                   // scratch
}

// NewPredictor returns a Predictor that has seen nothing.
func NewPredictor(cfg PredictConfig) *Predictor {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&cfg.History, 8)
	def(&cfg.Window, 1024)
	def(&cfg.MaxTries, 256)
	def(&cfg.MaxThreads, 256)
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	p := &Predictor{cfg: cfg, pruneAt: cfg.Memory / 8, threads: map[emulate.ThreadID]*predThread{}, pages: map[uint64]*predPage{},
		locks: map[emulate.Addr]*predLock{}, objects: map[Object]clock{},
		clocks: []clock{nil}, sets: [][]heldMode{nil}, setByID: map[string]lockSetNum{}, tries: map[candidateKey]int{}, byKey: map[candidateKey]*Candidate{},
		maybe: map[candidateKey]*possible{}, hard: map[Object]clock{}, exits: map[uint64]Object{}, outers: map[place]emulate.Count{}}
	for _, v := range cfg.Locks {
		p.markBytes(&v, func(g *predGranule, m uint8) { g.ignored |= m })
	}
	for _, v := range cfg.Sync {
		p.markBytes(&v, func(g *predGranule, m uint8) { g.syncs |= m })
	}
	return p
}

func (p *Predictor) markBytes(v *SyncVar, mark func(g *predGranule, m uint8)) {
	a := uint64(v.Addr)
	for end := a + uint64(max(v.Size, 1)); a < end; a = a&^7 + 8 {
		mark(p.granule(a), uint8(byteMask(a&7, min(end-a&^7, 8))))
	}
}

// granule returns the history of the 8 bytes around a, made if need be.
func (p *Predictor) granule(a uint64) *predGranule {
	num := a >> pageShift
	near := &p.near[num%uint64(len(p.near))]
	pg := *near
	if pg == nil || pg.num != num {
		if pg = p.pages[num]; pg == nil {
			pg = &predPage{num: num}
			p.pages[num] = pg
			p.used += predPageSize
		}
		pg.asked = p.now
		*near = pg
	}
	return &pg.gran[a>>granuleShift%pageGranules]
}

// Candidates lists what was found, in the order of discovery; their Reason is
// Predicted.
func (p *Predictor) Candidates() []*Candidate { return p.list }

// Feed takes the next event. The event is the caller's again when Feed
// returns.
func (p *Predictor) Feed(e *Event) {
	if p.full {
		return
	}
	if p.now++; p.now%predCheck == 0 {
		if p.check(); p.full {
			return
		}
	}
	if e.Op != OpAccess && e.Thread != 0 {
		p.thread(e.Thread).cut()
	}
	switch e.Op {
	case OpTired:
		p.thread(e.Thread).tired = true
	case OpWait:
		t := p.thread(e.Thread)
		if t.waits = nil; e.Value != 0 {
			t.waits = p.thread(emulate.ThreadID(e.Value))
		}
	case OpAccess:
		switch {
		case e.Flags&OfLock != 0:
		case e.Flags&Internal == 0:
			p.access(e)
		default:
			p.inside(e)
		}
	case OpAcquire:
		if e.Scope != ScopeInternal && !p.ofLock(e) {
			p.learn(p.thread(e.Thread), p.objects[Object{e.Object, e.Value}])
			p.must(p.thread(e.Thread), p.hard[Object{e.Object, e.Value}])
		}
	case OpRelease:
		if e.Scope != ScopeInternal && !p.ofLock(e) {
			p.post(p.thread(e.Thread), Object{e.Object, e.Value})
		}
	case OpThreadStart:
		t := p.thread(e.Thread)
		t.started = true
		if e.Value != 0 {
			parent := p.thread(emulate.ThreadID(e.Value))
			parent.n++
			p.learnMoment(t, parent.moment())
			p.mustStart(t, parent)
		}
	case OpThreadExit:
		for t := p.thread(e.Thread); len(t.held) > 0; { // robust ones are taken by others
			t.held[0].depth = 1
			p.unlock(&Event{Thread: e.Thread, Addr: t.held[0].addr})
		}
		p.post(p.thread(e.Thread), Object{ObjThread, uint64(e.Thread)})
		p.thread(e.Thread).last = p.thread(e.Thread).n
		if e.Addr != 0 {
			p.granule(uint64(e.Addr)).exit = true
			p.exits[uint64(e.Addr)>>granuleShift] = Object{ObjThread, uint64(e.Thread)}
			p.depend(p.thread(e.Thread), &Event{Kind: Write, Addr: e.Addr, N: 4})
		}
		if t := p.thread(e.Thread); !t.ended {
			t.ended = true
			p.alive--
		}
		p.joined = 0
	case OpJoin:
		p.learn(p.thread(e.Thread), p.objects[Object{ObjThread, e.Value}])
		p.must(p.thread(e.Thread), p.hard[Object{ObjThread, e.Value}])
	case OpAlloc, OpReset, OpFresh:
		p.forget(uint64(e.Addr), e.N)
	case OpForget:
		delete(p.objects, Object{e.Object, e.Value})
		delete(p.hard, Object{e.Object, e.Value})
	case OpLock:
		p.lock(e)
	case OpUnlock:
		p.unlock(e)
	}
}

// Full says whether there were too many threads: then nothing was predicted
// from the moment on at which the last one started.
func (p *Predictor) Full() bool { return p.full }

// ofLock says whether the futex of e is part of a lock.
func (p *Predictor) ofLock(e *Event) bool {
	return e.Flags&OfLock != 0 || e.Object == ObjFutex && p.granule(e.Value).ignored&(1<<(e.Value&7)) != 0
}

func (p *Predictor) thread(id emulate.ThreadID) *predThread {
	t := p.threads[id]
	if t == nil {
		p.full = p.full || len(p.slots) >= p.cfg.MaxThreads
		t = &predThread{id: id, slot: len(p.slots)}
		p.alive++
		p.joined = 0
		p.threads[id] = t
		p.slots = append(p.slots, t)
	}
	return t
}

func (t *predThread) moment() moment { return moment{t.n, t.knows, uint16(t.slot)} }

// newClock gives c, which must not change any more, a number.
func (p *Predictor) newClock(c clock) clockNum {
	if n := len(p.unused); n > 0 {
		k := p.unused[n-1]
		p.unused = p.unused[:n-1]
		p.clocks[k] = c
		return k
	}
	p.clocks = append(p.clocks, c)
	return clockNum(len(p.clocks) - 1)
}

// lockSet gives a set of locks its number.
func (p *Predictor) lockSet(held []heldSection) lockSetNum {
	if len(held) == 0 {
		return 0
	}
	var key []byte
	var set []heldMode
	for _, h := range held {
		set = append(set, heldMode{h.addr, h.shared})
		key = binary.LittleEndian.AppendUint64(key, uint64(h.addr)<<1|uint64(b2u(h.shared)))
	}
	n, ok := p.setByID[string(key)]
	if !ok {
		p.sets = append(p.sets, set)
		n = lockSetNum(len(p.sets) - 1)
		p.setByID[string(key)] = n
	}
	return n
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// learn adds what c has to what t's next events depend on.
func (p *Predictor) learn(t *predThread, c clock) {
	own := t.slot < len(c)
	var mine uint32
	if own {
		mine, c[t.slot] = c[t.slot], 0
	}
	t.pure = false
	if k := p.clocks[t.knows]; k.news(c) {
		n := append(make(clock, 0, max(len(k), len(c))), k...)
		n.grow(len(c))
		n.join(c)
		t.knows = p.newClock(n)
	}
	if own {
		c[t.slot] = mine
	}
}

// learnMoment is learn for what m depends on, and m.
func (p *Predictor) learnMoment(t *predThread, m moment) {
	slot := int(m.slot)
	if slot == t.slot {
		return
	}
	if k := p.clocks[t.knows]; slot < len(k) && k[slot] >= m.n {
		return // what m depends on came along
	}
	c := append(p.set[:0], p.clocks[m.knows]...)
	c.grow(slot + 1)
	c[m.slot] = m.n
	p.set = c
	p.learn(t, c)
}

// post makes everything that t did available at o.
func (p *Predictor) post(t *predThread, o Object) {
	t.n++
	c := p.objects[o]
	k := p.clocks[t.knows]
	c.grow(max(len(k), t.slot+1))
	c.join(k)
	c[t.slot] = max(c[t.slot], t.n)
	p.objects[o] = c
	p.mustPost(t, o)
}

// forget ends the history of the n bytes at a.
func (p *Predictor) forget(a, n uint64) {
	if n == 0 {
		return
	}
	for l := range p.locks {
		if uint64(l) >= a && uint64(l) < a+n {
			delete(p.locks, l)
		}
	}
	first, last := a>>granuleShift, (a+n-1)>>granuleShift
	if last/pageGranules-first/pageGranules >= uint64(len(p.pages)) {
		for _, pg := range p.pages {
			p.used -= pg.forget(first, last)
		}
		return
	}
	for num := first / pageGranules; num <= last/pageGranules; num++ {
		if pg := p.pages[num]; pg != nil {
			p.used -= pg.forget(first, last)
		}
	}
}

// forget ends the history of the granules from first to last, as far as they
// are in the page, and returns the bytes that it took.
func (pg *predPage) forget(first, last uint64) (freed int64) {
	base := pg.num * pageGranules
	if last < base || first >= base+pageGranules {
		return 0
	}
	for i := max(first, base) - base; i <= min(last, base+pageGranules-1)-base; i++ {
		g := &pg.gran[i]
		freed += int64(cap(g.writes))*predWriteSize + int64(cap(g.list))*predAccessSize
		g.writes, g.list = nil, nil
	}
	return freed
}

func (p *Predictor) lock(e *Event) {
	t := p.thread(e.Thread)
	l := p.locks[e.Addr]
	if l == nil {
		l = &predLock{}
		p.locks[e.Addr] = l
	}
	for i := range t.held {
		if t.held[i].lock == l {
			t.held[i].depth++
			return
		}
	}
	if len(t.held) == 0 {
		t.outer, t.pure = t.moment(), true
	}
	t.n++
	for len(l.threads) <= t.slot {
		l.threads = append(l.threads, predSections{})
	}
	s := &l.threads[t.slot]
	if s.dropped == 0 && len(s.list) == 0 {
		if l.users++; l.users == 2 {
			p.contended = append(p.contended, l)
		}
	}
	t.sections++
	if len(s.list) >= 2*p.cfg.Window {
		s.dropped += len(s.list) - p.cfg.Window
		s.list = append(s.list[:0], s.list[len(s.list)-p.cfg.Window:]...)
	}
	t.enters(emulate.Count(e.N))
	t.held = append(t.held, heldSection{l, e.Addr, e.Mode.Shared(), 1, s.dropped + len(s.list)})
	p.used -= int64(cap(s.list)) * predSectionSize
	s.list = append(s.list, section{start: t.n, at: p.now})
	p.used += int64(cap(s.list)) * predSectionSize
	t.locks = p.lockSet(t.held)
}

func (p *Predictor) unlock(e *Event) {
	t := p.thread(e.Thread)
	for i := range t.held {
		h := &t.held[i]
		if h.addr != e.Addr {
			continue
		}
		if h.depth--; h.depth > 0 {
			return
		}
		t.n++
		s := &h.lock.threads[t.slot]
		if j := h.index - s.dropped; j >= 0 {
			s.list[j].end = t.moment()
		}
		t.held = append(t.held[:i], t.held[i+1:]...)
		t.locks = p.lockSet(t.held)
		t.pure = false // on the way from the outermost lock, this one was needed, too
		return
	}
}

// access handles one access, granule by granule.
func (p *Predictor) access(e *Event) {
	t := p.thread(e.Thread)
	if p.alive == 1 && p.alone(t) && e.Flags&Atomic == 0 && !e.Typed {
		return
	}
	t.n++
	before := t.moment()
	before.n--
	v := e.Value
	a, end := uint64(e.Addr), uint64(e.Addr)+e.N
	if e.Flags&Coarse != 0 {
		a, v = a&^(lineSize-1), 0
		end = a + lineSize
	}
	for a < end {
		next := min(a&^7+8, end)
		p.piece(t, a, uint8(byteMask(a&7, next-a&^7)), before, e, v)
		if v >>= 8 * (next - a) & 63; next-a == 8 {
			v = 0
		}
		a = next
	}
}

// piece handles what an access does to the bytes m of a's granule.
func (p *Predictor) piece(t *predThread, a uint64, m uint8, before moment, e *Event, v uint64) {
	g := p.granule(a)
	m &^= g.ignored
	if m == 0 {
		return
	}
	if e.Flags&Atomic != 0 || e.Typed {
		g.syncs |= m
	}
	coarse := e.Flags&Coarse != 0
	if coarse {
		if m &^= g.syncs; m == 0 {
			return
		}
	}
	if data := m &^ g.syncs; data != 0 {
		x := predAccess{bits: uint8(accessBits(e)), pc: e.PC, ctx: e.Ctx, count: e.Count, value: v,
			mask: data, before: before, at: uint32(min(p.now, math.MaxUint32)), locks: t.locks, sections: t.sections, outer: t.outer, pure: t.pure && len(t.held) > 0}
		if coarse {
			x.bits |= bitCoarse
		}
		p.compare(g, a, &x)
		p.keep(g, &x)
	}
	kind := e.Kind
	if coarse && kind == Write {
		kind = Update // it stands for reads, too
	}
	if e.Blind && !coarse {
		p.blind(t, g, m)
		return
	}
	p.through(t, g, m, kind)
}

// through notes what t reads from others at the bytes m, and what it leaves
// there for them.
func (p *Predictor) through(t *predThread, g *predGranule, m uint8, kind Kind) {
	if kind == Read || kind == Update {
		t.pure = false
		for i := range g.writes {
			if g.writes[i].mask&m != 0 {
				p.learnMoment(t, p.read(t, g.writes[i].moment))
				if d := g.writes[i].deps; d != 0 {
					p.learn(t, p.clocks[d])
				}
			}
		}
	}
	if kind == Write || kind == Update {
		p.write(g, predWrite{m, t.moment(), 0})
	}
}

// read returns the moment that t learns of when it reads what was written at m:
// the end of the critical section if t is in one of the same lock, as that has to
// be over by then. So t learns once of all that was written in it.
func (p *Predictor) read(t *predThread, m moment) moment {
	if int(m.slot) == t.slot {
		return m
	}
	w := p.slots[m.slot].written(m)
	if k := p.clocks[t.knows]; int(m.slot) < len(k) && k[m.slot] >= w.n {
		return w
	}
	for i := range t.held {
		if l := t.held[i].lock; int(m.slot) < len(l.threads) {
			if c, _ := l.threads[m.slot].before(m.n); c != nil && c.end.n >= w.n {
				return c.end
			}
		}
	}
	return w
}

func (p *Predictor) write(g *predGranule, n predWrite) {
	keep, was := g.writes[:0], cap(g.writes)
	for _, w := range g.writes {
		if w.mask &^= n.mask; w.mask != 0 {
			keep = append(keep, w)
		}
	}
	g.writes = append(keep, n)
	p.used += int64(cap(g.writes)-was) * predWriteSize
}

// blind is through for an update that t does whatever it finds there: t depends
// on nothing, only what it leaves there does.
func (p *Predictor) blind(t *predThread, g *predGranule, m uint8) {
	var deps clock
	for i := range g.writes {
		w := &g.writes[i]
		if w.mask&m == 0 {
			continue
		}
		from := p.slots[w.slot].written(w.moment)
		for _, c := range []clock{p.clocks[from.knows], p.clocks[w.deps]} {
			deps.grow(len(c))
			deps.join(c)
		}
		deps.grow(int(from.slot) + 1)
		deps[from.slot] = max(deps[from.slot], from.n)
	}
	n := predWrite{m, t.moment(), 0}
	if k := p.clocks[t.knows]; k.news(deps) {
		n.deps = p.newClock(deps)
	}
	p.write(g, n)
}

// inside handles an access by the run-time for its own purposes. In functions
// that synchronise, what is read is why the caller goes on. Elsewhere that is
// so only for the words by which the kernel says that a thread has ended.
func (p *Predictor) inside(e *Event) {
	exit := p.granule(uint64(e.Addr)).exit
	if exit && e.Kind != Write {
		p.must(p.thread(e.Thread), p.hard[p.exits[uint64(e.Addr)>>granuleShift]])
	}
	if e.Scope == ScopeUser || exit {
		p.depend(p.thread(e.Thread), e)
	}
}

// depend handles an access that can't race.
func (p *Predictor) depend(t *predThread, e *Event) {
	t.n++
	for a, end := uint64(e.Addr), uint64(e.Addr)+e.N; a < end; {
		next := min(a&^7+8, end)
		g := p.granule(a)
		p.through(t, g, uint8(byteMask(a&7, next-a&^7))&^g.ignored, e.Kind)
		a = next
	}
}

// keep enters x into the list, unless it is there already: the same access
// again with nothing learnt and no lock taken since.
func (p *Predictor) keep(g *predGranule, x *predAccess) {
	own, oldest := 0, 0
	same, oldestSame := 0, 0 // of the same instruction
	for i := range g.list {
		o := &g.list[i]
		if o.before.slot != x.before.slot {
			continue
		}
		if o.pc == x.pc && o.mask == x.mask && o.bits == x.bits && o.before.knows == x.before.knows && o.sections == x.sections && o.locks == x.locks {
			return
		}
		if own == 0 {
			oldest = i
		}
		own++
		if o.pc == x.pc && o.mask == x.mask {
			if same == 0 {
				oldestSame = i
			}
			same++
		}
	}
	if own >= p.cfg.History {
		// What one instruction does again and again doesn't displace the others.
		if 2*same >= p.cfg.History {
			oldest = oldestSame
		}
		g.list = append(g.list[:oldest], g.list[oldest+1:]...)
	}
	was := cap(g.list)
	g.list = append(g.list, *x)
	p.used += int64(cap(g.list)-was) * predAccessSize
}

// compare looks for races of x with earlier accesses to a's granule by other
// threads.
func (p *Predictor) compare(g *predGranule, a uint64, x *predAccess) {
	k, read := p.clocks[x.before.knows], x.read()
	for i := range g.list {
		o := &g.list[i]
		s := o.before.slot
		if s == x.before.slot || o.mask&x.mask == 0 || read && o.read() {
			continue
		}
		if int(s) < len(k) && k[s] > o.before.n {
			p.possible(a, o, x) // x depends on it
			continue
		}
		if !shareLock(p.sets[o.locks], p.sets[x.locks]) && !p.try(a, o, x) {
			p.possible(a, o, x)
		}
	}
}

// shareLock says whether a common lock keeps two accesses apart.
func shareLock(a, b []heldMode) bool {
	for _, x := range a {
		for _, y := range b {
			if x.addr == y.addr && !(x.shared && y.shared) {
				return true
			}
		}
	}
	return false
}

// try reports first and second, accesses to a's granule, if they race, and says
// whether they are known to.
func (p *Predictor) try(a uint64, first, second *predAccess) bool {
	x, y := p.expand(first, a), p.expand(second, a)
	addr, size, key := p.keyOf(a, first, second, &x, &y)
	coarse := first.coarse() || second.coarse()
	c := p.byKey[key]
	if c != nil && !coarse {
		c.Count++
		if len(c.Samples) >= possibleSamples {
			return true
		}
	}
	if p.tries[key] >= p.cfg.MaxTries {
		return c != nil
	}
	p.tries[key]++
	if !p.races(first, second) && !p.reversed(first, second) {
		return c != nil
	}
	if coarse {
		if p.cfg.Suspect != nil {
			p.cfg.Suspect(uint64(addr) >> lineShift)
		}
		return true
	}
	p.sampled(first)
	p.sampled(second)
	if c != nil {
		c.Samples = append(c.Samples, Pair{x, y})
		return true
	}
	c = &Candidate{ID: len(p.list), Reason: Predicted, Order: ScopeUser, Count: 1, First: x, Second: y, Addr: addr, Size: size, Samples: []Pair{{x, y}}, Block: p.block(addr)}
	p.byKey[key] = c
	p.list = append(p.list, c)
	return true
}
