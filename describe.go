package racesim

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// frames renders a call path for a report, innermost first.
func (a *analysis) frames(ctx uint32, pc uint64) []report.Frame {
	var out []report.Frame
	for _, f := range a.tree.Stack(ctx, emulate.Addr(pc)) {
		out = append(out, reportFrame(f))
	}
	return out
}

func reportFrame(f funcs.Frame) report.Frame {
	return report.Frame{Function: f.Function, File: f.File, Line: f.Line, Module: f.Module, Inlined: f.Inlined}
}

// frame is the program's own place of an access: of the innermost frame that
// isn't the run-time's.
func (a *analysis) frame(x *races.Access) report.Frame {
	all := a.tree.Stack(x.Ctx, emulate.Addr(x.PC))
	for _, f := range all {
		if !f.Runtime && !f.Library {
			return reportFrame(f)
		}
	}
	for _, f := range all {
		if !f.Runtime {
			return reportFrame(f)
		}
	}
	return reportFrame(all[0])
}

// location names the memory of a candidate.
func (a *analysis) location(c *races.Candidate) report.Location {
	l := report.Location{Kind: "unknown", Size: c.Size, Address: fmt.Sprintf("0x%x", uint64(c.Addr))}
	if b := c.Block; b.ID != 0 {
		l.Kind = "heap"
		l.Offset = int64(c.Addr - b.Addr)
		l.AllocatedAt = a.allocated(b)
		if len(l.AllocatedAt) > 0 {
			f := l.AllocatedAt[0]
			l.Symbol = fmt.Sprintf("heap(%s:%d)", filepath.Base(f.File), f.Line)
			if f.File == "" {
				l.Symbol = fmt.Sprintf("heap(%s)", f.Function)
			}
		}
		return l
	}
	if v, ok := a.ms.VarAtSize(c.Addr, c.Size); ok {
		l.Kind, l.Symbol, l.Type = "global", v.Path, v.Type
		if v.Type == "" {
			l.Offset = v.Offset
		}
		return l
	}
	for _, tt := range a.pass.Threads {
		if uint64(c.Addr) >= tt.Stack && uint64(c.Addr) < tt.StackEnd {
			a.stackLocation(&l, c, tt.ID)
			return l
		}
	}
	for _, m := range a.t.s.Mappings(^uint64(0)) {
		if c.Addr >= m.Addr && uint64(c.Addr) < uint64(m.Addr)+m.N {
			switch {
			case m.Path == "[stack]":
				a.stackLocation(&l, c, 1)
			case m.Path == "[heap]":
				l.Kind = "heap"
			default:
				l.Kind = "mapped"
				l.Symbol = m.Path
				if l.Symbol != "" {
					l.Offset = int64(c.Addr-m.Addr) + int64(m.Offset)
				}
			}
			return l
		}
	}
	return l
}

// stackLocation names a variable on the stack of thread owner, if one of the
// two accesses happened while its frame was there.
func (a *analysis) stackLocation(l *report.Location, c *races.Candidate, owner emulate.ThreadID) {
	l.Kind = "stack"
	count := a.pass.Threads[owner].Last
	for _, x := range []*races.Access{&c.First, &c.Second} {
		if x.Thread == owner {
			count = x.Count
		}
	}
	if count == a.pass.Threads[owner].Last {
		// The owner only waits: any moment at which it was inside serves. The
		// last slice before the access is one.
		count = a.before(owner, c.Second.Thread, c.Second.Count)
	}
	_, calls, err := a.pass.Seek(owner, count)
	if err != nil {
		return
	}
	level, ok := calls.LevelOf(c.Addr)
	if !ok {
		return
	}
	act := calls.Level(level)
	pc := act.Entry
	if level > 0 {
		pc = calls.Level(level - 1).Site
	} else if owner == c.First.Thread {
		pc = emulate.Addr(c.First.PC)
	} else if owner == c.Second.Thread {
		pc = emulate.Addr(c.Second.PC)
	}
	if v, ok := a.ms.LocalAt(pc, act.CFA(), c.Addr); ok {
		l.Symbol, l.Type = v.Path, v.Type
	} else if f := a.ms.FuncAt(act.Entry); f != nil {
		l.Symbol = "frame of " + f.Name
	}
}

// allocated renders where a block was allocated, innermost first, without the
// allocator itself.
func (a *analysis) allocated(b races.Block) []report.Frame {
	var out []report.Frame
	for _, f := range a.tree.Stack(b.Ctx, emulate.Addr(b.PC)) {
		if len(out) > 0 || !f.Runtime {
			out = append(out, reportFrame(f))
		}
	}
	return out
}

// access renders one side of a race.
func (a *analysis) access(x *races.Access) report.Access {
	f := a.frame(x)
	r := report.Access{Thread: uint32(x.Thread), Op: x.Kind.String(), Atomic: x.Atomic,
		Function: f.Function, File: f.File, Line: f.Line, Stack: a.frames(x.Ctx, x.PC)}
	if x.Kind != races.Free {
		r.Value = number(x.Value, x.Size)
	}
	if t, _, err := a.pass.Seek(x.Thread, x.Count); err == nil {
		r.Position = t.Position().String()
	} else {
		r.Position = fmt.Sprintf("thread %d, instruction %d", x.Thread, x.Count)
	}
	return r
}

// number prints a value: small ones as signed decimals.
func number(v uint64, size int) string {
	if size > 0 && size < 8 {
		v &= 1<<(8*size) - 1
		if s := int64(v<<(64-8*size)) >> (64 - 8*size); s > -1<<24 && s < 1<<24 {
			return fmt.Sprint(s)
		}
	} else if s := int64(v); s > -1<<24 && s < 1<<24 {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("0x%x", v)
}

// root is the variable without members and indices, for grouping.
func root(l *report.Location) string {
	s := l.Symbol
	if l.Kind == "global" || l.Kind == "stack" {
		if i := strings.IndexAny(s, ".["); i > 0 {
			s = s[:i]
		}
		return l.Kind + ":" + s
	}
	return fmt.Sprintf("%s:%s:%d", l.Kind, s, l.Offset)
}

// fingerprint identifies a race across runs, seeds and builds with shifted
// lines: by variable, functions and operations.
func fingerprint(r *report.Race) string {
	var sides []string
	for k := range r.Accesses {
		x := &r.Accesses[k]
		sides = append(sides, x.Function+"|"+filepath.Base(x.File)+"|"+x.Op)
	}
	sort.Strings(sides)
	where := ""
	if l := &r.Location; l.Kind == "heap" && len(l.AllocatedAt) > 0 {
		where = "heap:" + l.AllocatedAt[0].Function + fmt.Sprintf("+%d", l.Offset)
	} else {
		where = root(l)
	}
	return fmt.Sprintf("%012x", xxh3.HashString(where+"\n"+strings.Join(sides, "\n"))>>16)
}
