package races

import (
	"slices"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A LockSite says where a thread took a lock.
type LockSite struct {
	Thread emulate.ThreadID
	PC     uint64
	Ctx    uint32
	Count  emulate.Count
}

// A LockEdge says that a thread took the lock To while it held From. Edges of
// the same locks, modes, thread, gates and segment are one.
type LockEdge struct {
	From, To LockID
	Mode     LockMode  // how To was taken
	HeldMode LockMode  // how From was held
	Segment  uint64    // what the event that took To gave as its Value: a part of the thread's life
	Held     LockSite  // where From had been taken, the first time
	Taken    LockSite  // where To was taken then
	Gates    LocksetID // the other locks held: they may make a cycle harmless
	Readable LocksetID // those of Gates held as one of many readers
	Count    uint64
}

type edgeKey struct {
	from, to LockID
	thread   emulate.ThreadID
	gates    LocksetID
	readable LocksetID
	shared   [2]bool // From, To
	segment  uint64
}

// A LockGraph is the order in which threads took locks.
type LockGraph struct {
	byKey map[edgeKey]*LockEdge
	edges []*LockEdge
}

func (g *LockGraph) add(h *heldLock, to LockID, at LockSite, gates, readable LocksetID, mode LockMode, segment uint64) {
	k := edgeKey{h.lock, to, at.Thread, gates, readable, [2]bool{h.mode.Shared(), mode.Shared()}, segment}
	if e := g.byKey[k]; e != nil {
		e.Count++
		return
	}
	e := &LockEdge{From: h.lock, To: to, Mode: mode, HeldMode: h.mode, Segment: segment, Held: h.at, Taken: at, Gates: gates, Readable: readable, Count: 1}
	g.byKey[k] = e
	g.edges = append(g.edges, e)
}

// LockGraph returns the order in which locks were taken so far.
func (d *Detector) LockGraph() *LockGraph { return &d.locks.graph }

// Edges lists the edges in the order in which they were first seen.
func (g *LockGraph) Edges() []*LockEdge { return g.edges }

// Cycles lists lock-order cycles, at most limit of them, of at most maxLen
// edges each (2 finds the inversion of two locks): every lock is taken while
// the one before it is held, all by different threads, and no two of these
// threads hold a common gate lock, which would keep them apart. One cycle is
// listed for each set of locks, with the edges seen first. sets tells the locks of
// a set, as Detector.Lockset does.
//
// A cycle is what could deadlock in another schedule, unless something else
// keeps the threads from running at the same time (creation, join, a barrier):
// that isn't looked at here, nor that shared holds don't exclude one another.
func (g *LockGraph) Cycles(limit, maxLen int, sets func(LocksetID) []LockID) [][]*LockEdge {
	out := map[LockID][]*LockEdge{}
	for _, e := range g.edges {
		out[e.From] = append(out[e.From], e)
	}
	starts := make([]LockID, 0, len(out))
	for l := range out {
		starts = append(starts, l)
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	s := cycleSearch{out: out, sets: sets, limit: limit, maxLen: maxLen, seen: map[string]bool{}, budget: 1 << 20}
	for _, l := range starts {
		s.start = l
		s.extend(l)
	}
	return s.found
}

type cycleSearch struct {
	out           map[LockID][]*LockEdge
	sets          func(LocksetID) []LockID
	limit, maxLen int
	start         LockID
	path          []*LockEdge
	seen          map[string]bool
	found         [][]*LockEdge
	budget        int // steps left
}

// extend tries all edges that leave the lock at; start is the cycle's smallest
// lock, so that each cycle is found once.
func (s *cycleSearch) extend(at LockID) {
	for _, e := range s.out[at] {
		if s.budget--; s.budget < 0 || len(s.found) >= s.limit {
			return
		}
		if e.To < s.start || !s.fits(e) {
			continue
		}
		s.path = append(s.path, e)
		if e.To == s.start {
			s.close()
		} else if len(s.path) < s.maxLen {
			s.extend(e.To)
		}
		s.path = s.path[:len(s.path)-1]
	}
}

// fits says whether e's thread could be in the cycle with those of the path.
func (s *cycleSearch) fits(e *LockEdge) bool {
	for _, o := range s.path {
		if o.Taken.Thread == e.Taken.Thread || o.From == e.From {
			return false
		}
		both := common(s.sets(o.Readable), s.sets(e.Readable)) // two readers don't exclude one another
		for _, g := range common(s.sets(o.Gates), s.sets(e.Gates)) {
			if !slices.Contains(both, g) {
				return false
			}
		}
	}
	return true
}

func (s *cycleSearch) close() {
	var key []byte
	for _, e := range s.path {
		key = append(key, byte(e.From), byte(e.From>>8), byte(e.From>>16), byte(e.From>>24))
	}
	if s.seen[string(key)] {
		return
	}
	s.seen[string(key)] = true
	s.found = append(s.found, append([]*LockEdge(nil), s.path...))
}
