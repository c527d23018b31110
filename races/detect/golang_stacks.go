package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
)

// A goroutine that goes on on another thread is in functions there that this
// thread never saw it enter: the stack begins with the innermost one, and as
// each returns, with the next one out. Once threads' events are merged, it is
// known where the other thread left the goroutine, and call paths are completed.

// A graft says which node the outermost function of a thread's call paths really
// is.
type graft struct {
	stack []funcs.NodeID // of the goroutine when it was left, outermost first
	at    int            // the index there of that function
	root  funcs.NodeID   // which node it has on the thread
	whole map[funcs.NodeID]funcs.NodeID
	last  [2]funcs.NodeID // the last one that was looked up, and what it is
}

// maxGoStack is the depth from which on stacks aren't completed.
const maxGoStack = 1000

// joinStack takes in that a thread goes on with g.
func (o *golang) joinStack(id emulate.ThreadID, g *Goroutine, n *note) {
	delete(o.grafts, id)
	if at := len(g.stack) - int(n.size); at >= 0 {
		o.graft(id, &graft{stack: g.stack, at: at, root: n.ctx})
	}
}

// graft makes x the graft of a thread if it fits and changes anything.
func (o *golang) graft(id emulate.ThreadID, x *graft) {
	t := o.p.Tree
	if f := t.Func(x.root); f == nil || f != t.Func(x.stack[x.at]) {
		delete(o.grafts, id)
	} else if x.at == 0 && x.stack[0] == x.root {
		delete(o.grafts, id)
	} else {
		x.whole = map[funcs.NodeID]funcs.NodeID{x.root: x.stack[x.at]}
		o.grafts[id] = x
	}
}

// returned takes in that the outermost function that a thread knew of has
// returned to one of the given node.
func (o *golang) returned(id emulate.ThreadID, to funcs.NodeID) {
	if x := o.grafts[id]; x == nil {
	} else if x.at == 0 {
		delete(o.grafts, id)
	} else {
		o.graft(id, &graft{stack: x.stack, at: x.at - 1, root: to})
	}
}

// stack completes the stack of a goroutine that a thread leaves.
func (o *golang) stack(id emulate.ThreadID, known []funcs.NodeID) []funcs.NodeID {
	x := o.grafts[id]
	if x == nil || len(known) == 0 || known[0] != x.root {
		if len(known) > maxGoStack {
			return nil
		}
		return known
	}
	if x.at+len(known) > maxGoStack {
		return nil
	}
	out := append([]funcs.NodeID(nil), x.stack[:x.at+1]...)
	for _, n := range known[1:] {
		out = append(out, o.whole(id, n))
	}
	return out
}

// whole returns the node of a thread's call path with what precedes it on other
// threads.
func (o *golang) whole(id emulate.ThreadID, n funcs.NodeID) funcs.NodeID {
	if len(o.grafts) == 0 {
		return n
	}
	x := o.grafts[id]
	if x == nil || n == 0 {
		return n
	}
	if x.last[0] != n {
		x.last = [2]funcs.NodeID{n, x.complete(o.p.Tree, n)}
	}
	return x.last[1]
}

func (x *graft) complete(t *funcs.Tree, n funcs.NodeID) funcs.NodeID {
	if w, ok := x.whole[n]; ok {
		return w
	}
	w, node := n, t.Node(n)
	if node.Parent != 0 {
		switch p := x.complete(t, node.Parent); {
		case p == node.Parent:
		case node.Signal:
			w = t.Handler(p, node.Site, node.Entry)
		default:
			w = t.Child(p, node.Site, node.Entry)
		}
	}
	x.whole[n] = w
	return w
}
