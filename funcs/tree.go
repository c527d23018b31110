package funcs

import (
	"sync"
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
)

// A NodeID names a node of a Tree: one call path. 0 is none.
type NodeID = uint32

// A Node is one call path: the function entered last, and how.
type Node struct {
	Parent NodeID       // 0: a thread's first function
	Site   emulate.Addr // of the call instruction; of the interrupted one in a signal handler
	Entry  emulate.Addr // where control went
	Depth  int          // number of ancestors
	Signal bool         // it is a signal handler: Site was interrupted
}

// A Tree is the calling-context tree of one process: call paths as numbers.
// All threads share it. It is safe for concurrent use; a NodeID stays good.
//
// Recursion is folded so that the tree stays finite: a call whose site and
// target occur foldAt times among its ancestors already leads back to the
// nearest of them.
type Tree struct {
	ms     *Modules // nil: nothing is classified
	mu     sync.Mutex
	edges  map[edge]NodeID
	n      atomic.Uint32 // nodes, node 0 included
	chunks [maxChunks]atomic.Pointer[chunk]
	tails  sync.Map // *Func -> []tailJump
}

const (
	chunkBits = 12
	maxChunks = 1 << 12 // 16 Mi nodes
	foldAt    = 3
	// Beyond manyNodes nodes the first repetition folds, and at the limit
	// everything does.
	manyNodes = 1 << 20
)

type chunk [1 << chunkBits]node

// A node is a Node and what is known of it for good.
type node struct {
	parent, depth uint32
	site, entry   uint64
	fn            *Func // nil if unknown
	role          AllocRole
	place         Place // of code in the entered function itself
	signal        bool
}

type edge struct {
	parent      NodeID
	site, entry uint64
	signal      bool
}

// NewTree returns an empty tree. ms may be nil: then all code is the user's.
func NewTree(ms *Modules) *Tree {
	t := &Tree{ms: ms, edges: map[edge]NodeID{}}
	t.chunks[0].Store(new(chunk))
	t.n.Store(1)
	return t
}

// Modules returns what the tree classifies by; nil if by nothing.
func (t *Tree) Modules() *Modules { return t.ms }

// Len returns the number of nodes.
func (t *Tree) Len() int { return int(t.n.Load()) - 1 }

func (t *Tree) node(id NodeID) *node {
	return &t.chunks[id>>chunkBits].Load()[id&(1<<chunkBits-1)]
}

// Node returns a node; the zero Node for 0 and for numbers never given out.
func (t *Tree) Node(id NodeID) Node {
	if id == 0 || id >= t.n.Load() {
		return Node{}
	}
	n := t.node(id)
	return Node{Parent: n.parent, Site: emulate.Addr(n.site), Entry: emulate.Addr(n.entry), Depth: int(n.depth), Signal: n.signal}
}

// Func returns the function that a node entered, or nil if it is unknown.
func (t *Tree) Func(id NodeID) *Func {
	if id == 0 || id >= t.n.Load() {
		return nil
	}
	return t.node(id).fn
}

// Root returns the node of a thread that starts at entry.
func (t *Tree) Root(entry emulate.Addr) NodeID { return t.Child(0, 0, entry) }

// Child returns the node of a call from parent: the instruction at site to
// entry.
func (t *Tree) Child(parent NodeID, site, entry emulate.Addr) NodeID {
	return t.follow(edge{parent: parent, site: uint64(site), entry: uint64(entry)})
}

// Handler returns the node of a signal handler at entry that interrupted the
// instruction at site.
func (t *Tree) Handler(parent NodeID, site, entry emulate.Addr) NodeID {
	return t.follow(edge{parent: parent, site: uint64(site), entry: uint64(entry), signal: true})
}

// follow returns the node that an edge leads to.
func (t *Tree) follow(e edge) NodeID {
	t.mu.Lock()
	id, ok := t.edges[e]
	t.mu.Unlock()
	if ok {
		return id
	}
	// Names are looked up outside the lock; another thread may be faster.
	n := t.describe(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.edges[e]; ok {
		return id
	}
	if id, ok = t.fold(e); !ok {
		id = t.n.Load()
		c := &t.chunks[id>>chunkBits]
		if c.Load() == nil {
			c.Store(new(chunk))
		}
		if n.place.Category == 0 {
			n.place.User = id
		}
		*t.node(id) = n
		t.n.Store(id + 1)
	}
	t.edges[e] = id
	return id
}

// fold returns the ancestor that a repeated call leads back to.
func (t *Tree) fold(e edge) (NodeID, bool) {
	total := t.n.Load()
	limit := foldAt
	if total > manyNodes {
		limit = 1
	}
	seen, nearest := 0, NodeID(0)
	for id := e.parent; id != 0; {
		n := t.node(id)
		if n.entry == e.entry && (n.site == e.site || total > manyNodes) {
			if nearest == 0 {
				nearest = id
			}
			if seen++; seen >= limit {
				return nearest, true
			}
		}
		id = n.parent
	}
	if total>>chunkBits >= maxChunks-1 {
		return e.parent, e.parent != 0
	}
	return 0, false
}

// describe makes the node that e would be.
func (t *Tree) describe(e edge) node {
	n := node{parent: e.parent, site: e.site, entry: e.entry, signal: e.signal}
	if e.parent != 0 {
		n.depth = t.node(e.parent).depth + 1
	}
	if t.ms == nil {
		return n
	}
	n.fn = t.ms.FuncAt(emulate.Addr(e.entry))
	n.place, n.role = t.placeOfEntry(e, n.fn)
	return n
}
