package races

import (
	"sort"

	"github.com/racesim/racesim/emulate"
)

// Rules for the bytes of synchronisation variables
//
// A load acquires what the last store released, a store replaces it by what
// its thread has done (L := C, then a new epoch), an atomic update does both.
// A compare-and-exchange that failed only loads. A store narrower than the
// variable adds to what was released instead of replacing it.
//
// Loads and stores, atomic or not, don't conflict. An update that isn't atomic
// conflicts with another thread's atomic update, plain update or plain store
// if these are unordered. As the variable itself orders nearly everything that
// touches it, what an access learns from this very variable doesn't count when
// it is compared with an atomic update: neither the acquire of its own load
// half, nor that of plain loads of the variable before it, up to loadWindow
// instructions back and with no other synchronisation in between.
//
// Compilers also make an update from a plain load and a plain store. The
// detector takes them for one (Access.Paired) when the same thread, in the
// same calling context, loads and then stores exactly the same bytes within
// pairWindow instructions and no other synchronisation, and the value stored
// differs from the one loaded by 1 to pairDelta, and isn't zero, and the two
// aren't 0 and 1 (flags are handed to and fro by loads and stores, counters
// aren't). This is a heuristic: data flow isn't known here. Paired accesses
// conflict with updates, not with stores. Whatever the values, when an atomic
// update of another thread falls between such a load and its store, that
// update is lost, and the two conflict.
const (
	loadWindow = 64
	pairWindow = 8
	pairDelta  = 16
)

// A SyncVar is a range of bytes that serves for synchronisation.
type SyncVar struct {
	Addr emulate.Addr
	Size int // bytes, 1 to 64
	// Scope is the order that plain accesses and atomics contribute to that
	// don't say so themselves.
	Scope Scope
	// Lives says in which lives of its memory it is one: memory's first life
	// is 0, every Alloc and Reset that touches it starts another one. nil
	// means all of them.
	Lives []int
}

// A decl is a SyncVar that the detector knows.
type decl struct {
	SyncVar
	life   int
	atomic []int // lives in which an atomic access was seen, ascending
	late   bool  // found by an atomic access: earlier lives weren't counted
}

func (v *decl) active() bool {
	if v.Lives == nil {
		return true
	}
	i := sort.SearchInts(v.Lives, v.life)
	return i < len(v.Lives) && v.Lives[i] == v.life
}

// A syncGranule holds the synchronisation variables of one granule, cut into
// atoms: disjoint sets of bytes that no access seen so far tells apart.
type syncGranule struct {
	mask  uint8 // of all atoms
	atoms []atom
}

type atom struct {
	mask  uint8
	scope Scope
	decl  *decl
	clocks
	// loose is what was stored without being released (Loose): a load that sees
	// it doesn't come after, and yet is no part of an update that overlapped.
	loose clocks
}

// clear forgets the atoms that touch m and says whether none is left.
func (s *syncGranule) clear(m uint8) bool {
	keep := s.atoms[:0]
	s.mask = 0
	for _, a := range s.atoms {
		if a.mask&m == 0 {
			keep = append(keep, a)
			s.mask |= a.mask
		}
	}
	s.atoms = keep
	return len(keep) == 0
}

// add makes the bytes of m synchronisation bytes; atoms that m cuts are split.
func (s *syncGranule) add(m uint8, v *decl) {
	for i := 0; i < len(s.atoms); i++ {
		a := &s.atoms[i]
		in, out := a.mask&m, a.mask&^m
		if in != 0 && v.Scope != ScopeDefault {
			a.scope = v.Scope
		}
		if in != 0 && out != 0 {
			rest := atom{mask: out, scope: a.scope, decl: a.decl}
			rest.user.set(a.user)
			rest.full.set(a.full)
			rest.loose.user.set(a.loose.user)
			rest.loose.full.set(a.loose.full)
			a.mask = in
			s.atoms = append(s.atoms, rest)
		}
	}
	if m &^= s.mask; m != 0 {
		s.atoms = append(s.atoms, atom{mask: m, scope: v.Scope, decl: v})
		s.mask |= m
	}
}

// sawAtomic notes that an atomic access touched m.
func (s *syncGranule) sawAtomic(m uint8) {
	for i := range s.atoms {
		a := &s.atoms[i]
		if v := a.decl; a.mask&m != 0 && (len(v.atomic) == 0 || v.atomic[len(v.atomic)-1] != v.life) {
			v.atomic = append(v.atomic, v.life)
		}
	}
}

// DeclareSync says that v serves for synchronisation: since it is used by
// atomic instructions somewhere in the recording, or because an experiment
// showed it. Variables should be declared before the first event; one that
// turns out by an atomic access counts from that access on.
func (d *Detector) DeclareSync(v SyncVar) { d.declare(&v) }

func (d *Detector) declare(v *SyncVar) *decl {
	if v.Size < 1 {
		v.Size = 1
	}
	page := uint64(v.Addr) >> pageShift
	for _, o := range d.decls[page] {
		if o.Addr == v.Addr && o.Size == v.Size {
			if o.active() && o.Scope == v.Scope {
				return o
			}
			if v.Scope != ScopeDefault {
				o.Scope = v.Scope
			}
			if o.Lives != nil && !o.active() {
				o.Lives = append(o.Lives, o.life)
				sort.Ints(o.Lives)
			}
			d.install(o)
			return o
		}
	}
	n := &decl{SyncVar: *v}
	d.declList = append(d.declList, n)
	for p := page; p <= (uint64(v.Addr)+uint64(v.Size)-1)>>pageShift; p++ {
		d.decls[p] = append(d.decls[p], n)
		if d.pages[p] != nil {
			d.install(n)
		}
	}
	return n
}

// install puts v into the shadow memory, if it is one in this life.
func (d *Detector) install(v *decl) {
	if !v.active() {
		return
	}
	end := uint64(v.Addr) + uint64(v.Size)
	for a := uint64(v.Addr); a < end; a = a&^7 + 8 {
		g := d.granule(a)
		if g.sync == nil {
			g.sync = &syncGranule{}
		}
		g.sync.add(uint8(byteMask(a&7, min(end-a&^7, 8))), v)
	}
}

// installDecls puts the variables declared on virtual page v into its shadow.
func (d *Detector) installDecls(v uint64, p *shadowPage) {
	base := v << pageShift
	for _, o := range d.decls[v] {
		if !o.active() {
			continue
		}
		lo, hi := max(uint64(o.Addr), base), min(uint64(o.Addr)+uint64(o.Size), base+1<<pageShift)
		for a := lo; a < hi; a = a&^7 + 8 {
			g := &p.gran[a>>granuleShift%pageGranules]
			m := uint8(byteMask(a&7, min(hi-a&^7, 8)))
			if g.sync == nil {
				g.sync = &syncGranule{}
			}
			if g.sync.mask&m != m {
				g.sync.add(m, o)
			}
		}
	}
}

// newLives starts another life of the variables that [lo, hi) touches.
func (d *Detector) newLives(lo, hi uint64) {
	if len(d.decls) == 0 {
		return
	}
	first, last := lo>>pageShift, (hi-1)>>pageShift
	each := func(p uint64) {
		for _, o := range d.decls[p] {
			if uint64(o.Addr) < hi && uint64(o.Addr)+uint64(o.Size) > lo && (uint64(o.Addr)>>pageShift == p || lo>>pageShift == p) {
				o.life++
			}
		}
	}
	if last-first >= uint64(len(d.decls)) {
		for p := range d.decls {
			if p >= first && p <= last {
				each(p)
			}
		}
		return
	}
	for p := first; p <= last; p++ {
		each(p)
	}
}

// SyncVars lists the variables that atomic accesses were seen on, each with
// the lives of its memory in which they were (nil, all, for one that wasn't
// declared before). Declared to another Detector for
// the same events, they are synchronisation variables there only in these.
func (d *Detector) SyncVars() []SyncVar {
	var l []SyncVar
	for _, o := range d.declList {
		switch {
		case len(o.atomic) == 0:
		case o.late:
			l = append(l, SyncVar{Addr: o.Addr, Size: o.Size, Scope: o.Scope})
		default:
			l = append(l, SyncVar{o.Addr, o.Size, o.Scope, append([]int(nil), o.atomic...)})
		}
	}
	return l
}

// A syncLoad is a plain load of a synchronisation variable, remembered to
// judge an update of the same bytes soon after.
type syncLoad struct {
	valid bool
	g     *granule
	mask  uint64
	count emulate.Count
	value uint64
	ctx   uint32
	// before is what the thread knew before this load and those of the same
	// bytes before it; learnt says whether they changed that.
	before clocks
	learnt bool
	// seen is what the thread knew after the load, and what the load saw without
	// acquiring it; sees says that there was such.
	seen clocks
	sees bool
}

// sync handles the bytes m of g, all part of synchronisation variables. v is
// the value as of the lowest byte of the access in this granule.
func (d *Detector) sync(t *thread, g *granule, a uint64, m, orig uint64, e *Event, v uint64, locks LocksetID) (released bool) {
	if len(g.cells) == 0 {
		d.wasFreed(g, a)
	}
	bitsOf := accessBits(e)
	atomic := e.Flags&Atomic != 0
	scope := e.Scope
	ld := &t.load
	near := ld.valid && ld.g == g && ld.mask == m && e.Count >= ld.count && e.Count-ld.count <= loadWindow
	pair := near && e.Kind == Write && !atomic && ld.ctx == e.Ctx && e.Count-ld.count <= pairWindow
	paired := pair && looksUpdated(ld.value, v, m)
	if paired {
		bitsOf = bitsOf&^bitsKind | uint64(Update-1) | bitPaired
	}
	// What the thread knew without this variable.
	before := &t.clocks
	if near && ld.learnt {
		before = &ld.before
	}
	after := &t.clocks
	if near && ld.sees {
		after = &ld.seen
	}
	d.syncConflicts(t, g, a, m, orig, bitsOf, pair, before, after, e, v, locks)

	if atomic {
		g.sync.sawAtomic(uint8(m))
	}
	if e.Kind == Read && !atomic {
		t.remember(g, m, e, v, scope)
	} else if e.Kind != Free {
		ld.valid = false
	}
	if (e.Kind == Read || e.Kind == Update) && e.Loose&NoAcquire == 0 {
		for i := range g.sync.atoms {
			if l := &g.sync.atoms[i]; l.mask&uint8(m) != 0 {
				t.acquire(&l.clocks, scopeOf(scope, l.scope, e))
			}
		}
	}
	d.keepSync(t, g, m, orig, bitsOf, e, v, locks)
	if e.Kind == Write || e.Kind == Update {
		released = true
		for i := range g.sync.atoms {
			l := &g.sync.atoms[i]
			switch s := scopeOf(scope, l.scope, e); {
			case l.mask&uint8(m) == 0:
			case e.Loose&NoRelease != 0:
				l.loose.release(&t.clocks, s)
			case l.mask&^uint8(m) == 0 && (e.Kind == Write || e.Loose&NoAcquire == 0):
				l.overwrite(&t.clocks, s)
			default:
				l.release(&t.clocks, s)
			}
		}
	}
	return released
}

// scopeOf decides a synchronisation's scope: the event's, else the variable's,
// else what the access is.
func scopeOf(event, variable Scope, e *Event) Scope {
	switch {
	case event != ScopeDefault:
		return event
	case variable != ScopeDefault:
		return variable
	case e.Flags&Internal != 0:
		return ScopeInternal
	}
	return ScopeUser
}

// LooksUpdated says whether storing v over old, both of size bytes, looks like a
// counter's update.
func LooksUpdated(old, v uint64, size int) bool {
	return looksUpdated(old, v, 1<<size-1)
}

// looksUpdated says whether storing v to the bytes m after loading old looks
// like a counter's update.
func looksUpdated(old, v, m uint64) bool {
	n := popcount(m)
	if n < 8 {
		old &= 1<<(8*n) - 1
		v &= 1<<(8*n) - 1
	}
	delta := v - old
	if v < old {
		delta = old - v
	}
	return v != 0 && delta >= 1 && delta <= pairDelta && (old > 1 || v > 1)
}

// remember notes a plain load for later, before it acquires.
func (t *thread) remember(g *granule, m uint64, e *Event, v uint64, scope Scope) {
	ld := &t.load
	if !ld.valid || ld.g != g || ld.mask != m {
		ld.valid, ld.g, ld.mask, ld.learnt, ld.sees = true, g, m, false, false
	}
	for i := range g.sync.atoms {
		if l := &g.sync.atoms[i]; l.mask&uint8(m) != 0 && (e.Loose&NoAcquire != 0 || len(l.loose.full) > 0) {
			if !ld.sees {
				ld.seen.user.set(t.user)
				ld.seen.full.set(t.full)
				ld.sees = true
			}
			ld.seen.user.grow(max(len(l.user), len(l.loose.user)))
			ld.seen.full.grow(max(len(l.full), len(l.loose.full)))
			ld.seen.acquire(&l.clocks, ScopeUser)
			ld.seen.acquire(&l.loose, ScopeUser)
		}
	}
	if !ld.learnt {
		for i := range g.sync.atoms {
			if l := &g.sync.atoms[i]; l.mask&uint8(m) != 0 && t.news(&l.clocks, scopeOf(scope, l.scope, e)) {
				ld.before.user.set(t.user)
				ld.before.full.set(t.full)
				ld.learnt = true
				break
			}
		}
	}
	ld.count, ld.value, ld.ctx = e.Count, v, e.Ctx
}

// syncConflicts compares an access to the bytes m of synchronisation variables
// with the cells of other threads.
func (d *Detector) syncConflicts(t *thread, g *granule, a, m, orig, b uint64, pair bool, before, after *clocks, e *Event, v uint64, locks LocksetID) {
	kind := Kind(b&bitsKind) + 1
	atomic := b&uint64(Atomic) != 0
	for i := range g.cells {
		c := &g.cells[i]
		cb := c.bits()
		if c.mask()&m == 0 || c.slot() == t.slot {
			continue
		}
		ck, cAtomic := c.kind(), cb&uint64(Atomic) != 0
		base := after
		switch {
		case kind == Free || ck == Free:
			base = &t.clocks
		case kind == Read || ck == Read:
			continue
		case kind == Update && !atomic || ck == Update && !cAtomic:
			if (b|cb)&bitPaired != 0 && (kind != Update || ck != Update) {
				continue // a pair against a store
			}
			if atomic || cAtomic {
				base = before
			}
		case pair && ck == Update && cAtomic:
			// An atomic update since the load, unless the load knew of it.
		default:
			continue
		}
		if d.ordered(c, b, base) {
			continue
		}
		d.conflict(t, c, a, m, orig, b, e, v, locks)
	}
}

// keepSync enters an access to synchronisation bytes into the cells. It
// replaces what the same thread did before in the same way.
func (d *Detector) keepSync(t *thread, g *granule, m, orig, b uint64, e *Event, v uint64, locks LocksetID) {
	keep := g.cells[:0]
	for _, c := range g.cells {
		if c.mask()&m != 0 && (c.bits()^b)&^bitStale == 0 &&
			(c.slot() == t.slot || b&uint64(Atomic) != 0 && d.ordered(&c, b, &t.clocks)) {
			if c.head &^= m; c.mask() == 0 {
				continue
			}
		}
		keep = append(keep, c)
	}
	g.cells = keep
	d.put(g, newCell(t, m, orig, b, e, v, locks))
}
