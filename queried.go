package racesim

import (
	"sort"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races/detect"
)

// queried collects what the queries of the rules file look at, beside what the
// built-in checkers do.
func (a *analysis) queried(f *checkers.Facts) {
	r := a.o.Rules
	if r.Wants("locks") {
		for _, e := range a.pass.Detector.LockGraph().Edges() {
			x := a.lockEdge(e)
			x.Position = a.positionOf(e.Taken.Thread, e.Taken.Count)
			f.Pairs = append(f.Pairs, x)
		}
	}
	c := a.pass.Conduct
	if r.Wants("threads") {
		for i := range c.Created {
			k := &c.Created[i]
			if k.PC == 0 {
				continue
			}
			tt := a.pass.Threads[k.ID]
			f.Threads = append(f.Threads, checkers.Thread{ID: uint32(k.ID), Parent: uint32(k.Parent), Position: a.positionOf(k.Parent, k.Count), Created: a.ownFrames(k.Ctx, k.PC),
				Joined: k.Joined, Detached: k.Detached, Ended: tt != nil && tt.Exited})
		}
	}
	if r.Wants("descriptors") {
		var open []*detect.OpenFile
		for _, o := range c.Files.Open {
			open = append(open, o)
		}
		sort.Slice(open, func(i, j int) bool { return open[i].FD < open[j].FD })
		for _, o := range open {
			f.Open = append(f.Open, checkers.OpenFile{FD: int(o.FD), Call: fileCallName(o.Nr), Thread: uint32(o.Thread), Position: a.positionOf(o.Thread, o.Count), Opened: a.ownFrames(o.Ctx, o.PC)})
		}
	}
	if r.Wants("calls") {
		f.Calls = a.calls(c.Handlers)
	}
}

// calls lists the call paths on which the program's own code calls a function.
func (a *analysis) calls(handlers []detect.Delivery) []checkers.Call {
	by := map[funcs.NodeID]bool{}
	for i := range handlers {
		by[handlers[i].Node] = true
	}
	var out []checkers.Call
	under := make([]bool, a.tree.Len()+1)
	for id := funcs.NodeID(1); int(id) <= a.tree.Len(); id++ {
		n := a.tree.Node(id)
		under[id] = by[id] || under[n.Parent]
		if by[id] {
			continue
		}
		if c, ok := a.call(id, under[n.Parent]); ok {
			out = append(out, c)
		}
	}
	return out
}

// call describes the last call of a call path, if the program's own code makes it.
func (a *analysis) call(id funcs.NodeID, handler bool) (c checkers.Call, ok bool) {
	n, fn := a.tree.Node(id), a.tree.Func(id)
	if n.Parent == 0 || fn == nil || a.tree.Class(n.Parent) != 0 {
		return c, false
	}
	if g := a.ms.FuncAt(emulate.Addr(n.Site)); g != nil && g.Runtime && !g.Library {
		return c, false
	}
	name, lib := fn.Name, fn.Runtime
	if fn.PLT {
		if x := a.ms.ExportedIn(fn.Module.Life, fn.Linkage); x != nil {
			name, lib = x.Name, x.Runtime
		}
	}
	return checkers.Call{Callee: name, Library: lib, Handler: handler, Stack: a.ownFrames(n.Parent, uint64(n.Site))}, true
}
