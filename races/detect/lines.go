package detect

import (
	"math/bits"

	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races"
)

// Memory that threads hand to one another is touched by several threads, and
// by each of them, while it has it, many times. What a thread does to a byte
// again, without having synchronised and without the line having flowed in
// anew, tells nothing new. So a line of which a thread has read every byte goes
// at full speed for reading until then.
//
// A thread that has made many accesses is said to be tired: for it, that holds
// for writing, too (before, stores are looked at for the sake of their
// instructions and values). And of lines that it touches most it says, in a
// coarse event, "from now on, until this thread synchronises, it may read (or
// write) anywhere in this line". Only if such an event conflicts with something
// do single accesses matter: then the line is a suspect, and another pass looks
// at it closely (Pass.Close).
const (
	// A thread may look at exactLooks accesses, and at one more for each
	// exactPer instructions, before it is tired.
	exactLooks = 100_000
	exactPer   = 1024
	// coarseAfter is the number of accesses after which a tired thread says all
	// of a line.
	coarseAfter = 1 << 14
)

// A lineState is what a thread did to a line that others touch, too, since it
// last synchronised and since the line last flowed in.
type lineState struct {
	line        uint64 // plus one; 0: an unused place
	gen         uint64 // of the follower, that the rest is of
	read, wrote uint64 // bytes
	count       uint32 // accesses, whatever was synchronised
	sync        uint64 // bytes of synchronisation variables
	close       bool   // never coarse: it does, or is a suspect
	relaxed     bool   // it is in lineTable.relaxed
	use         lineUse
}

const allBytes = ^uint64(0)

// limits say when a thread is tired; the zero value is what the constants say.
type limits struct {
	looks, per uint64
	coarse     uint32
	exact      bool // every access is looked at, and never by the line
	places     int  // of a thread's table, at most (0: by the number of threads)
}

func (l *limits) set() {
	if l.per == 0 {
		l.looks, l.per, l.coarse = exactLooks, exactPer, coarseAfter
	}
}

// A lineTable has the lines of a thread: open addressing.
type lineTable struct {
	places  []lineState
	shift   uint
	n       int
	relaxed []uint64 // lines that have tags although they are observed
	looks   uint64   // accesses that were looked at
	limit   uint64   // and how many the thread may have had by now
	told    bool     // that it is tired
	most    int      // places, at most
}

// tablePlaces bounds the places of all threads' tables together; a power of two.
// A place takes 56 bytes. manyPlaces and fewPlaces bound those of one.
const (
	tablePlaces = 1 << 22
	manyPlaces  = 1 << 17
	fewPlaces   = 1 << 12
)

// coarseEvery is the number of accesses looked at after which half as many to a
// line are enough to say all of it, down to coarseLeast.
const (
	coarseEvery = 1 << 21
	coarseLeast = 64
)

// after returns the number of accesses to a line after which a tired thread
// says all of it, if it has made so many to all lines.
func (l *limits) after(looks uint64) uint32 {
	if l.coarse <= coarseLeast {
		return l.coarse
	}
	return max(l.coarse>>bits.Len64(looks/coarseEvery), coarseLeast)
}

// table returns a table for one of n threads.
func (l *limits) table(n int) *lineTable {
	most := l.places
	if most == 0 {
		most = min(max(tablePlaces>>bits.Len(uint(n)), fewPlaces), manyPlaces)
	}
	first := min(most, 1<<10)
	return &lineTable{places: make([]lineState, first), shift: uint(64 - bits.Len(uint(first-1))), most: most}
}

func (t *lineTable) find(line uint64) *lineState {
	last := uint64(len(t.places) - 1)
	i := (line + 1) * 0x9E3779B97F4A7C15 >> t.shift & last
	for {
		p := &t.places[i]
		if p.line == line+1 || p.line == 0 {
			return p
		}
		i = (i + 1) & last
	}
}

func (t *lineTable) grow() {
	old := t.places
	t.places = make([]lineState, 2*len(old))
	t.shift = uint(64 - bits.Len(uint(len(t.places)-1)))
	for i := range old {
		if old[i].line != 0 {
			*t.find(old[i].line - 1) = old[i]
		}
	}
}

// forget makes room in a full table: what a thread did before it synchronised
// says nothing any more, and what it did since may be forgotten, too, in which
// case it is looked at again. Lines with many accesses stay.
func (f *follower) forget() {
	t := f.table
	keep := t.kept(func(s *lineState) bool { return s.gen == f.gen || s.count >= f.p.limits.coarse/2 })
	if len(keep) > len(t.places)/4 {
		f.synchronised()
		keep = t.kept(func(s *lineState) bool { return s.count >= f.p.limits.coarse/2 })
	}
	if len(keep) > len(t.places)/4 {
		keep = nil
	}
	clear(t.places)
	t.n = len(keep)
	for i := range keep {
		*t.find(keep[i].line - 1) = keep[i]
	}
}

func (t *lineTable) kept(yes func(*lineState) bool) (l []lineState) {
	for i := range t.places {
		if s := &t.places[i]; s.line != 0 && yes(s) {
			l = append(l, *s)
		}
	}
	return l
}

// state returns what is known of a line, made if need be.
func (f *follower) state(line uint64) *lineState {
	t := f.table
	s := t.find(line)
	if s.line == 0 {
		if t.n++; t.n > len(t.places)/2 {
			if len(t.places) < t.most {
				t.grow()
			} else {
				f.forget()
				t.n++
			}
			s = t.find(line)
		}
		sync := f.p.syncBytes[line]
		*s = lineState{line: line + 1, sync: sync, close: sync != 0 || f.p.Close[line] || f.p.NoCoarse || f.p.limits.exact}
	}
	if s.gen != f.gen {
		s.gen, s.read, s.wrote = f.gen, 0, 0
	}
	return s
}

// imported forgets what the thread did to a line: others have written it.
func (f *follower) imported(line uint64) {
	if s := f.table.find(line); s.line != 0 {
		s.read, s.wrote, s.count = 0, 0, 0
		s.use.imports++
	}
}

// synchronised ends what accesses before say of those from now on.
func (f *follower) synchronised() {
	f.gen++
	t := f.table
	for _, l := range t.relaxed {
		f.t.Tighten(l)
		t.find(l).relaxed = false
	}
	t.relaxed = t.relaxed[:0]
}

// tired says whether the thread has made many accesses to such lines. It says
// so to the others when that happens first.
func (f *follower) tired() bool {
	t := f.table
	if t.looks < t.limit {
		return false
	}
	if !t.told {
		t.told = true
		f.b.events = append(f.b.events, races.Event{Op: races.OpTired, Thread: f.tt.ID})
	}
	t.limit = f.p.limits.looks + uint64(f.t.Count())/f.p.limits.per
	return t.looks >= t.limit
}

// readBefore reports whether a load of the bytes m adds nothing.
func (f *follower) readBefore(s *lineState, m uint64) bool {
	if s.read&m != m || f.p.limits.exact {
		return false
	}
	f.table.looks++
	if s.read == allBytes {
		f.relax(s)
	}
	return true
}

// writtenBefore reports whether a store to the bytes m adds nothing.
func (f *follower) writtenBefore(s *lineState, m uint64) bool {
	if s.wrote&m != m || s.sync&m != 0 || f.p.limits.exact || !f.tired() {
		return false
	}
	f.table.looks++
	if s.wrote == allBytes {
		f.relax(s)
	}
	return true
}

// relax gives a line the speed that what is known of it allows.
func (f *follower) relax(s *lineState) {
	if s.sync != 0 {
		return
	}
	f.t.Relax(s.line-1, s.wrote == allBytes && f.tired())
	// What it does there isn't seen any more.
	s.use.read |= s.read
	s.use.wrote |= s.wrote
	if !s.relaxed {
		s.relaxed = true
		f.table.relaxed = append(f.table.relaxed, s.line-1)
	}
}

// look notes that e, an access to the bytes m of s's line, is looked at, and
// makes it stand for the whole line if there were too many of them.
func (f *follower) look(s *lineState, e *races.Event, m uint64) {
	const others = races.Atomic | races.Internal | races.Kernel | races.OfLock | allocatorAccess
	f.table.looks++
	s.count++
	if e.Flags&others != 0 || e.Typed || s.gen != f.gen {
		return
	}
	if s.count >= f.p.limits.after(f.table.looks) && !s.close && f.tired() {
		m = allBytes
		e.Flags |= races.Coarse
		if e.Kind == races.Update {
			e.Kind = races.Write
		}
	}
	if e.Kind == races.Read {
		s.read |= m
	} else {
		s.wrote |= m
	}
}

// bytesOf returns a bit for each of size bytes at addr in their line.
func bytesOf(addr uint64, size int) uint64 {
	return (allBytes >> (64 - size)) << (addr & (1<<lineShift - 1))
}

// suspect notes that a line must be looked at access by access, as it isn't.
func (p *Pass) suspect(line uint64) { p.Suspects[line] = true }

// bytesOfSync returns the bytes of synchronisation variables, by line.
func (p *Pass) bytesOfSync() map[uint64]uint64 {
	m := map[uint64]uint64{}
	add := func(addr, n uint64) {
		for end := addr + max(n, 1); addr < end; {
			next := min(addr|(1<<lineShift-1)+1, end)
			m[addr>>lineShift] |= bytesOf(addr, int(next-addr))
			addr = next
		}
	}
	for _, a := range p.Session.Atomics() {
		add(a.Addr, a.N)
	}
	for i := range p.Sync {
		add(uint64(p.Sync[i].Addr), uint64(p.Sync[i].Size))
	}
	return m
}

// waited keeps back a plain load of a synchronisation variable that adds
// nothing: to an update right after it, it is the first half.
func (f *follower) waited(e *races.Event) {
	f.loaded(e)
	f.last, f.lastKept = *e, true
}

// resume emits the load that waited kept back, if e updates what it loaded.
func (f *follower) resume(e *races.Event) {
	if f.lastKept && f.last.Addr == e.Addr && f.last.N == e.N {
		f.b.events = append(f.b.events, f.last)
	}
	f.lastKept = false
}

// updates reports whether the instruction at pc, which stores, loads the same
// memory first.
func (f *follower) updates(c *x86.CPU, pc uint64) bool {
	u, known := f.rmw[pc]
	if !known {
		if in, err := x86.Describe(f.t.Code(c, pc), pc); err == nil {
			for i := range in.Operands {
				o := &in.Operands[i]
				u = u || o.Kind == x86.OperandMem && o.Read && o.Write
			}
		}
		if f.rmw == nil {
			f.rmw = map[uint64]bool{}
		}
		f.rmw[pc] = u
	}
	return u
}
