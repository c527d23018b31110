package races

import "github.com/racesim/racesim/emulate"

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

// With returns a graph that has, of g's edges, those that keep doesn't turn
// down, and others. g stays as it is.
func (g *LockGraph) With(others []*LockEdge, keep func(*LockEdge) bool) *LockGraph {
	out := &LockGraph{}
	for _, e := range g.edges {
		if keep(e) {
			out.edges = append(out.edges, e)
		}
	}
	out.edges = append(out.edges, others...)
	return out
}
