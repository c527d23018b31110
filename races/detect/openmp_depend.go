package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// The depend clause orders tasks of one parent by the addresses that they name
// (OpenMP 5.0, 2.17.11): in comes after the last out; out and inout after all
// before; those of one set of mutexinoutset exclude each other, in any order;
// those of one of inoutset don't even that.

// An ompNode is a task with dependences.
type ompNode struct {
	id      uint64
	preds   []*ompNode
	mutexes []uint64
	users   int // of what it released: tasks that will acquire it, and lists
	done    bool
}

// ompSiblings are the children of a task, as far as later ones may depend on
// them.
type ompSiblings struct {
	at map[uint64]*ompItem
	// all are those whose dependences aren't known, all others wait for them.
	all *ompNode
}

// An ompItem is what was done to an address: the last set of tasks of a kind,
// and the one before.
type ompItem struct {
	kind    dependKind
	set     uint64 // number of a mutexinoutset
	members []*ompNode
	before  []*ompNode
}

// depends gives a new task its place among its siblings.
func (o *openmp) depends(fr *ompFrame, by, k *ompTask) {
	c := fr.call
	if len(c.depend) == 0 && !c.odd {
		return
	}
	k.node = &ompNode{id: k.id}
	k.node.preds = o.preds(by, c)
	for _, p := range k.node.preds {
		p.users++
	}
	s := by.siblings
	if c.odd {
		o.everything(s, k.node)
		return
	}
	for _, d := range c.depend {
		if d.addr == 0 && d.kind == dependOut { // omp_all_memory
			o.everything(s, k.node)
			return
		}
	}
	for _, d := range c.depend {
		it := o.item(s, d)
		if d.kind == dependMutex {
			k.node.mutexes = append(k.node.mutexes, it.set)
		}
		if n := len(it.members); n == 0 || it.members[n-1] != k.node {
			it.members = append(it.members, k.node)
			k.node.users++
		}
	}
}

// item returns the set that a new task with a dependence belongs to.
func (o *openmp) item(s *ompSiblings, d ompDepend) *ompItem {
	it := s.at[d.addr]
	if it == nil {
		it = &ompItem{kind: d.kind}
		s.at[d.addr] = it
	}
	if len(it.members) > 0 && (it.kind != d.kind || d.kind == dependOut) {
		for _, p := range it.before {
			o.unuse(p)
		}
		it.before, it.members, it.set = it.members, nil, 0
	}
	it.kind = d.kind
	if it.kind == dependMutex && it.set == 0 {
		o.made++
		it.set = o.made
	}
	return it
}

// everything makes a task one that all before come before, and all after after.
func (o *openmp) everything(s *ompSiblings, n *ompNode) {
	for _, it := range s.at {
		for _, p := range append(it.members[:len(it.members):len(it.members)], it.before...) {
			n.preds = append(n.preds, p) // which keeps it
		}
	}
	if s.all != nil {
		o.unuse(s.all)
	}
	clear(s.at)
	s.all = n
	n.users++
}

// preds returns the tasks that one with a call's dependences comes after.
func (o *openmp) preds(by *ompTask, c *ompCall) (out []*ompNode) {
	if by.siblings == nil {
		by.siblings = &ompSiblings{at: map[uint64]*ompItem{}}
	}
	s := by.siblings
	if s.all != nil {
		out = append(out, s.all)
	}
	if c.odd {
		for _, it := range s.at {
			out = append(append(out, it.members...), it.before...)
		}
		return out
	}
	for _, d := range c.depend {
		it := s.at[d.addr]
		switch {
		case it == nil:
		case it.kind == d.kind && d.kind != dependOut:
			out = append(out, it.before...)
		default:
			out = append(out, it.members...)
			if len(it.members) == 0 {
				out = append(out, it.before...)
			}
		}
	}
	return out
}

// await orders the task that a thread is about to execute after those that it
// depends on.
func (o *openmp) await(id emulate.ThreadID, n *ompNode) {
	if n == nil {
		return
	}
	o.awaitEvents(id)
	for _, p := range n.preds {
		o.awaitNode(id, p)
		o.unuse(p)
	}
	n.preds = nil
	for _, m := range n.mutexes {
		o.order(races.OpAcquire, id, ompObjMutex|m)
	}
}

// unuse notes that somebody needs what a task released no longer.
func (o *openmp) unuse(p *ompNode) {
	if p.users--; p.users == 0 && p.done {
		o.forget(0, ompObjDone|p.id)
	}
}

func (o *openmp) awaitNode(id emulate.ThreadID, p *ompNode) {
	o.order(races.OpAcquire, id, ompObjDone|p.id)
}

// done tells those that depend on a task that it has ended.
func (o *openmp) done(id emulate.ThreadID, n *ompNode) {
	if n == nil {
		return
	}
	n.done = true
	for _, m := range n.mutexes {
		o.order(races.OpRelease, id, ompObjMutex|m)
	}
	if n.users > 0 {
		o.order(races.OpRelease, id, ompObjDone|n.id)
	}
}
