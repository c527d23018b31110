package racesim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// facts collects what the checkers look at, from a pass with Checks.
func (a *analysis) facts() *checkers.Facts {
	x := a.t.s.Exit()
	f := &checkers.Facts{Complete: a.t.Incomplete() == "" && x != nil && x.Signal == 0}
	f.Cycles = func(length int) [][]checkers.LockEdge { return a.cycles(a.pass.Detector.LockGraph(), length, nil) }
	if a.t.s.Deadlock() {
		f.Stuck = a.stuck()
	}
	h := a.pass.Heap
	a.heap = h
	if f.Complete {
		f.Lost = a.lost()
	}
	f.Freed = a.freed(h.Freed)
	f.Uninitialised = a.uninitialised(h.Unwritten)
	f.Beyond = a.beyond(h.Beyond)
	f.Frees = a.badFrees(h.Frees)
	a.conduct(f)
	a.queried(f)
	if h.Skipped > 0 {
		a.note("%d heap blocks weren't watched for reads of unwritten bytes, to save time", h.Skipped)
	}
	return f
}

// ownFrames renders a call path without the frames of the run-time and the
// standard library that come before the program's own.
func (a *analysis) ownFrames(ctx uint32, pc uint64) []report.Frame {
	all := a.tree.Stack(ctx, emulate.Addr(pc))
	first := 0
	for first < len(all) && (all[first].Runtime || all[first].Library) {
		first++
	}
	if first == len(all) {
		first = 0
	}
	var out []report.Frame
	for _, f := range all[first:] {
		out = append(out, reportFrame(f))
	}
	return out
}

func (a *analysis) positionOf(t emulate.ThreadID, c emulate.Count) string {
	if th, _, err := a.pass.Seek(t, c); err == nil {
		return th.Position().String()
	}
	return ""
}

func (a *analysis) badAccess(m *detect.Misuse) checkers.BadAccess {
	b := &m.Block
	x := checkers.BadAccess{Addr: uint64(m.Addr), Size: m.Size, Write: m.Write, Thread: uint32(m.Thread), Position: a.positionOf(m.Thread, m.Count),
		Stack: a.ownFrames(m.Ctx, m.PC),
		Block: checkers.Block{Addr: uint64(b.Addr), Size: b.Size, Count: 1, Thread: uint32(b.Thread), AllocatedAt: a.ownFrames(b.Ctx, b.Site)}}
	if b.Freed {
		x.Block.FreedAt, x.Block.FreeThread = a.ownFrames(b.FreeCtx, b.FreeSite), uint32(b.FreeThread)
	}
	return x
}

// Bounds of looking at accesses that run-time functions make to freed memory.
const (
	maxCalls    = 3   // calls looked at of those from one place
	maxAllCalls = 100 // and in all
)

// freed keeps the accesses to freed blocks that are the program's doing.
func (a *analysis) freed(list []detect.Misuse) []checkers.BadAccess {
	type place struct {
		node funcs.NodeID
		pc   emulate.Addr
	}
	var out []checkers.BadAccess
	looked, all, left := map[place]int{}, 0, maxIdle
	done := map[place]bool{}
	for i := range list {
		m := &list[i]
		pl := a.tree.Place(m.Ctx, emulate.Addr(m.PC))
		at := place{pl.User, pl.UserPC}
		if done[at] {
			continue
		}
		if pl.Category != 0 {
			if looked[at] == maxCalls {
				continue
			}
			if looked[at]++; all == maxAllCalls {
				a.note("only the first %d calls of run-time functions that touch freed memory were looked at", maxAllCalls)
				continue
			}
			all++
		}
		if a.deliberate(m) {
			done[at] = true
			x := a.badAccess(m)
			x.Idle = pl.Category == 0 && a.idle(m, &left)
			out = append(out, x)
		}
	}
	return out
}

// beyond keeps the accesses next to blocks that are the program's doing. Of
// run-time functions only what they write counts: they may read more than they
// use.
func (a *analysis) beyond(list []detect.Misuse) []checkers.BadAccess {
	kept := list[:0:0]
	for _, m := range list {
		if pl := a.tree.Place(m.Ctx, emulate.Addr(m.PC)); pl.Category == 0 || m.Write || m.Kernel {
			kept = append(kept, m)
		}
	}
	return a.freed(kept)
}

// badFrees renders blocks that were given back and can't be.
func (a *analysis) badFrees(list []detect.BadFree) []checkers.BadFree {
	var out []checkers.BadFree
	for i := range list {
		x := &list[i]
		b := &x.Block
		y := checkers.BadFree{Addr: uint64(x.Addr), Thread: uint32(x.Thread), Position: a.positionOf(x.Thread, x.Count), Stack: a.ownFrames(x.Ctx, x.PC)}
		switch x.Kind {
		case detect.FreedTwice:
			y.Kind = "twice"
		case detect.FreedInside:
			y.Kind = "inside"
		case detect.FreedOtherwise:
			y.Kind, y.By, y.For = "otherwise", x.Role.String(), b.Role.String()
		case detect.FreedForeign:
			if !a.pass.Foreign(x.Addr) {
				continue
			}
			y.Kind, y.What = "foreign", fmt.Sprintf("0x%x on a stack", uint64(x.Addr))
			if n := a.name(uint64(x.Addr)); n != "" {
				y.What = n
			} else if m := a.ms.ModuleAt(x.Addr); m != nil {
				y.What = "a constant or code of " + m.Name()
			}
		}
		if x.Kind != detect.FreedForeign {
			y.Block = checkers.Block{Addr: uint64(b.Addr), Size: b.Size, Count: 1, Thread: uint32(b.Thread), AllocatedAt: a.ownFrames(b.Ctx, b.Site)}
			if b.Freed {
				y.Block.FreedAt, y.Block.FreeThread = a.ownFrames(b.FreeCtx, b.FreeSite), uint32(b.FreeThread)
			}
		}
		out = append(out, y)
	}
	return out
}

// argumentRegs are the registers of the first six arguments (System V ABI,
// AMD64 supplement, 3.2.3), as indices of x86.CPU.R.
var argumentRegs = [...]int{7, 6, 2, 1, 8, 9}

// deliberate says whether an access to a freed block is the program's doing:
// its own code's, or that of a run-time function that it gave the block to.
// Functions that read strings in large pieces touch what lies next to them.
func (a *analysis) deliberate(m *detect.Misuse) bool {
	pl := a.tree.Place(m.Ctx, emulate.Addr(m.PC))
	if pl.Category == 0 {
		return true
	}
	if pl.User == 0 {
		return false
	}
	_, calls, err := a.pass.Seek(m.Thread, m.Count)
	if err != nil {
		return false
	}
	level := -1 // of the run-time function that the program called
	for i := 0; i < calls.Depth(); i++ {
		act := calls.Level(i)
		if act.Node == pl.User {
			break
		}
		level = i
	}
	if level < 0 || level == calls.Depth()-1 {
		return false
	}
	act := calls.Level(level)
	t, _, err := a.pass.Seek(m.Thread, act.Count)
	if err != nil {
		return false
	}
	in := func(v uint64) bool { return v >= uint64(m.Block.Addr) && v < uint64(m.Block.Addr)+m.Block.Size }
	fn := a.ms.FuncAt(act.Entry)
	for _, r := range argumentRegs {
		v := t.CPU().R[r]
		if in(v) {
			return true
		}
		// Objects of the C++ library point to their memory.
		if fn != nil && fn.Module.Kind == funcs.ModCxx {
			for o := uint64(0); o < 32; o += 8 {
				if p, ok := readWord(t.Memory().Read, v+o); ok && in(p) {
					return true
				}
			}
		}
	}
	return false
}

func readWord(read func(uint64, []byte) int, addr uint64) (v uint64, ok bool) {
	var b [8]byte
	if addr%8 != 0 || read(addr, b[:]) != len(b) {
		return 0, false
	}
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v, true
}

// maxCycles bounds the lock-order cycles that are reported.
const maxCycles = 100

// cycles lists the lock-order cycles of a graph that have an edge which wanted
// holds for; nil: all.
func (a *analysis) cycles(g *races.LockGraph, length int, wanted func(*races.LockEdge) bool) [][]checkers.LockEdge {
	d := a.pass.Detector
	keys := map[*races.LockEdge]string{}
	var out [][]checkers.LockEdge
	for _, c := range g.Cycles(races.CycleSearch{Limit: maxCycles, Length: length, Sets: d.Lockset,
		Concurrent: func(x, y *races.LockEdge) bool { return a.pass.Lives.Concurrent(x.Segment, y.Segment) },
		Same: func(e *races.LockEdge) string {
			k, ok := keys[e]
			if !ok {
				for _, f := range a.ownFrames(e.Taken.Ctx, e.Taken.PC) {
					k += f.Place() + " " + f.Function + ";"
				}
				keys[e] = k
			}
			return k
		}}) {
		if wanted != nil && !slices.ContainsFunc(c, wanted) {
			continue
		}
		var edges []checkers.LockEdge
		for _, e := range c {
			x := a.lockEdge(e)
			if wanted == nil {
				x.Position = a.positionOf(e.Taken.Thread, e.Taken.Count)
			}
			edges = append(edges, x)
		}
		out = append(out, edges)
	}
	return out
}

func (a *analysis) lockEdge(e *races.LockEdge) checkers.LockEdge {
	return checkers.LockEdge{Thread: uint32(e.Taken.Thread), ToShared: e.Mode.Shared(),
		FromStack: a.ownFrames(e.Held.Ctx, e.Held.PC), ToStack: a.ownFrames(e.Taken.Ctx, e.Taken.PC),
		FromName: a.lockName(a.lockAddr(e.From)), ToName: a.lockName(a.lockAddr(e.To))}
}

// stuck describes the threads of a deadlock.
func (a *analysis) stuck() []checkers.Stuck {
	holder := map[emulate.Addr]emulate.ThreadID{}
	for _, id := range a.t.s.Threads() {
		for _, l := range a.pass.Held(id) {
			holder[l] = id
		}
	}
	var out []checkers.Stuck
	for _, id := range a.t.s.Threads() {
		tt := a.pass.Threads[id]
		if tt == nil || tt.Exited || tt.EndCalls == nil {
			continue
		}
		act := tt.EndCalls.Level(0)
		x := checkers.Stuck{Thread: uint32(id), Position: a.positionOf(id, tt.Last), Stack: a.ownFrames(act.Node, uint64(act.Entry))}
		if tt.Wants != 0 {
			x.Lock, x.Holder = a.lockName(uint64(tt.Wants)), uint32(holder[tt.Wants])
		}
		out = append(out, x)
	}
	return out
}

func (a *analysis) lockName(addr uint64) string {
	if v, ok := a.ms.VarAt(emulate.Addr(addr)); ok {
		// Without the members that a mutex is made of.
		n := v.Path
		for _, inner := range []string{".__data", "._M_", ".super", ".std::"} {
			n, _, _ = strings.Cut(n, inner)
		}
		return n
	}
	if n := a.name(addr); n != "" {
		return n
	}
	return fmt.Sprintf("the lock at 0x%x", addr)
}
