package racesim

import (
	"fmt"
	"sort"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// conduct collects what the program does to locks, threads and in signal
// handlers.
func (a *analysis) conduct(f *checkers.Facts) {
	c := a.pass.Conduct
	f.Unlocks, f.Destroys, f.Waits = a.missteps(c.Unlocks), a.missteps(c.Destroys), a.missteps(c.Waits)
	f.LooseWaits = a.missteps(a.looseWaits(c.Sites))
	for i := range c.Created {
		k := &c.Created[i]
		tt := a.pass.Threads[k.ID]
		if k.Detached || k.Joined || k.PC == 0 || tt == nil || !tt.Exited || !a.byProgram(k.Ctx, k.PC) {
			continue
		}
		f.Unjoined = append(f.Unjoined, checkers.Thread{ID: uint32(k.ID), Parent: uint32(k.Parent), Position: a.positionOf(k.Parent, k.Count),
			Created: a.ownFrames(k.Ctx, k.PC)})
	}
	f.Unsafe = a.unsafeCalls(c.Handlers)
	a.descriptors(f)
	f.Falsely = a.falsely
}

func (a *analysis) missteps(list []detect.Misstep) []checkers.LockMisuse {
	var out []checkers.LockMisuse
	for i := range list {
		m := &list[i]
		x := checkers.LockMisuse{Lock: a.lockName(uint64(m.Lock)), Thread: uint32(m.Thread), Position: a.positionOf(m.Thread, m.Count), Stack: a.ownFrames(m.Ctx, m.PC),
			Holder: uint32(m.Holder), Freed: m.Freed}
		if m.Holder != 0 {
			x.HeldAt = a.lockedAt(&m.Held)
		}
		if m.Taken.PC != 0 {
			x.TakenAt = a.lockedAt(&m.Taken)
		}
		out = append(out, x)
	}
	return out
}

func (a *analysis) lockedAt(s *races.LockSite) []report.Frame { return a.ownFrames(s.Ctx, s.PC) }

// byProgram says whether a call is made by the program's own code, or by the
// C++ library for it, and not by the C library or an OpenMP run-time for
// purposes of their own.
func (a *analysis) byProgram(ctx uint32, pc uint64) bool {
	f := a.ms.FuncAt(emulate.Addr(pc))
	if f == nil || !f.Runtime {
		return true
	}
	return f.Module.Kind == funcs.ModCxx || f.Library
}

// unsafeCalls lists the calls that signal handlers make to functions that may
// not be called there.
func (a *analysis) unsafeCalls(handlers []detect.Delivery) []checkers.UnsafeCall {
	if len(handlers) == 0 {
		return nil
	}
	by := map[funcs.NodeID]*detect.Delivery{}
	for i := range handlers {
		by[handlers[i].Node] = &handlers[i]
	}
	// Parents have smaller numbers than their children. Nodes that replaying adds
	// meanwhile aren't looked at.
	last := funcs.NodeID(a.tree.Len())
	under := make([]*detect.Delivery, last+1)
	index := map[callSite]int{}
	var out []checkers.UnsafeCall
	for id := funcs.NodeID(1); id <= last; id++ {
		n := a.tree.Node(id)
		if d := by[id]; d != nil {
			under[id] = d
			if a.tree.Class(id) != 0 {
				under[id] = nil // a handler of the run-time's own
			}
			continue
		}
		d := under[n.Parent]
		if under[id] = d; d == nil {
			continue
		}
		x, at, ok := a.unsafeCall(id, d)
		if !ok {
			continue
		}
		if i, ok := index[at]; ok {
			out[i].Certain = out[i].Certain || x.Certain
			continue
		}
		index[at] = len(out)
		x.Position = a.positionOf(d.Thread, d.Count)
		out = append(out, x)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Certain && !out[j].Certain })
	return out
}

// A callSite is where a user's function makes a call.
type callSite struct {
	user funcs.NodeID
	site emulate.Addr
}

// unsafeCall says whether the last call of a call path that a handler is on, as d
// says, may not be made there.
func (a *analysis) unsafeCall(id funcs.NodeID, d *detect.Delivery) (x checkers.UnsafeCall, at callSite, ok bool) {
	if a.tree.Class(id) == 0 {
		return x, at, false
	}
	name := a.unsafeName(id)
	if name == "" {
		return x, at, false
	}
	n := a.tree.Node(id)
	pl := a.tree.Place(n.Parent, n.Site)
	u := pl.User
	for u != 0 && u != d.Node {
		u = a.tree.Node(u).Parent
	}
	if u == 0 {
		return x, at, false // what the signal interrupted
	}
	certain := a.interrupts(d)
	x = checkers.UnsafeCall{Function: name, Signal: int(d.Signo), Thread: uint32(d.Thread), Stack: a.ownFrames(pl.User, uint64(pl.UserPC)), Certain: certain != "", Interrupted: certain}
	if called := a.calledFrom(id, pl.User); called != name {
		x.By = called
	}
	return x, callSite{pl.User, pl.UserPC}, true
}

// calledFrom names the function that a user's node called on the way to node id.
func (a *analysis) calledFrom(id, user funcs.NodeID) string {
	for {
		n := a.tree.Node(id)
		if n.Parent == user || n.Parent == 0 {
			if f := a.tree.Func(id); f != nil && f.PLT {
				return f.Linkage
			} else if f != nil {
				return f.Name
			}
			return ""
		}
		id = n.Parent
	}
}

// interrupts names the function, one that isn't reentrant, that a signal
// arrived in; "" if it is none.
func (a *analysis) interrupts(d *detect.Delivery) string {
	n := a.tree.Node(d.Node)
	if f := a.ms.FuncAt(n.Site); f != nil && f.Runtime {
		if name := a.unsafeFunc(f); name != "" {
			return name
		}
	}
	for id := n.Parent; id != 0 && a.tree.Class(id) != 0; id = a.tree.Node(id).Parent {
		if name := a.unsafeName(id); name != "" {
			return name
		}
	}
	return ""
}

// unsafeName names the function that a node of the run-time enters if signal
// handlers may not call it.
func (a *analysis) unsafeName(id funcs.NodeID) string {
	f := a.tree.Func(id)
	if f == nil {
		return ""
	}
	if f.PLT {
		if x := a.ms.ExportedIn(f.Module.Life, f.Linkage); x != nil {
			f = x
		}
	}
	if name := a.unsafeFunc(f); name != "" {
		return name
	}
	// What the user's function jumped to left no node of its own.
	n := a.tree.Node(id)
	if p := a.tree.Func(n.Parent); p != nil && !p.Contains(n.Site) {
		if g := a.ms.FuncAt(n.Site); g != nil && g.Runtime {
			return a.unsafeFunc(g)
		}
	}
	return ""
}

func (a *analysis) unsafeFunc(f *funcs.Func) string {
	if r, ok := a.ms.Runtime(f); ok && r.Alloc != funcs.NoAlloc {
		return r.Name
	}
	if !f.Runtime {
		return ""
	}
	for _, n := range append([]string{f.Linkage}, f.Aliases...) {
		if checkers.UnsafeInHandlers(n) {
			return n
		}
	}
	return ""
}

// falsely names what is on lines that threads use different parts of.
func (a *analysis) falsely(transfers, uses int) []checkers.SharedLine {
	var out []checkers.SharedLine
	for _, l := range a.pass.Falsely(transfers, uses) {
		x := checkers.SharedLine{Transfers: l.Transfers}
		own := true // of the run-time alone
		for _, u := range l.Users {
			own = a.lineUser(&x, &u) && own
		}
		if !own {
			out = append(out, x)
		}
	}
	return out
}

// lineUser adds a thread to those that use a line, and says whether what it uses
// is the run-time's.
func (a *analysis) lineUser(x *checkers.SharedLine, u *detect.LineUser) bool {
	name := a.name(uint64(u.Addr))
	if name == "" {
		name = fmt.Sprintf("memory at 0x%x", uint64(u.Addr))
	}
	b := a.pass.Detector.BlockAt(u.Addr)
	if b.ID != 0 && x.AllocatedAt == nil {
		x.AllocatedAt = a.ownFrames(b.Ctx, b.PC)
	}
	x.Users = append(x.Users, checkers.LineUser{Thread: uint32(u.Thread), Name: name, Writes: u.Writes})
	return a.tree.RuntimeData(uint64(u.Addr)) || b.ID != 0 && a.tree.Class(b.Ctx).Own()
}

// looseWaits keeps the waits for a condition that nothing repeats while the
// mutex is held: in no function from the one that took it to the wait does
// control come back without giving it up.
func (a *analysis) looseWaits(list []detect.Misstep) []detect.Misstep {
	var out []detect.Misstep
	for _, m := range list {
		taken := map[funcs.NodeID]bool{}
		for id := m.Taken.Ctx; id != 0; id = a.tree.Node(id).Parent {
			taken[id] = true
		}
		loose := true
		for id, pc := m.Ctx, emulate.Addr(m.PC); id != 0 && loose; {
			f := a.ms.FuncAt(pc)
			if f == nil || f.End <= f.Entry {
				loose = false
				break
			}
			if !f.PLT { // else it only jumps
				again, known := loadsub.Again(a.codeAt, uint64(f.Entry), uint64(f.End), uint64(pc), func(site, target uint64) bool { return !a.unlocks(target) || !a.gives(site, m.Lock) })
				loose = !again && known
			}
			if taken[id] {
				break
			}
			n := a.tree.Node(id)
			id, pc = n.Parent, n.Site
		}
		if loose {
			out = append(out, m)
		}
	}
	return out
}

// gives says whether the call at site gave up a lock in the recording.
func (a *analysis) gives(site uint64, lock emulate.Addr) bool {
	if a.then != nil {
		return a.then.gives(site, lock)
	}
	return a.pass.Conduct.Gives(site, lock)
}

// codeAt returns at least the instruction at pc as the module's file has it.
func (a *analysis) codeAt(pc uint64) []byte {
	return a.fileBytes(pc, pc+15)
}

// unlocks says whether a function gives up a mutex.
func (a *analysis) unlocks(target uint64) bool {
	f := a.ms.FuncAt(emulate.Addr(target))
	if f == nil {
		return false
	}
	switch f.Linkage {
	case "pthread_mutex_unlock", "__pthread_mutex_unlock", "mtx_unlock":
		return true
	}
	return false
}
