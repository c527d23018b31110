package racesim

import (
	"fmt"
	"slices"

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

// Bounds of a stack in a report, in frames.
const (
	maxInner = 1000
	maxOuter = 24
)

// cut renders a stack without the middle of one that is very deep.
func (a *analysis) cut(all []funcs.Frame) []report.Frame {
	if n := len(all); n > maxInner+maxOuter {
		a.note("call stacks of more than %d frames are shown without their middle: there is one of %d", maxInner+maxOuter, n)
		all = append(slices.Clone(all[:maxInner]), all[n-maxOuter:]...)
	}
	var out []report.Frame
	for _, f := range all {
		out = append(out, reportFrame(f))
	}
	return out
}

func reportFrame(f funcs.Frame) report.Frame {
	r := report.Frame{Function: f.Function, File: f.File, Line: f.Line, Module: f.Module, Inlined: f.Inlined, Interrupted: f.Interrupted}
	if f.File == "" && f.Module != "" {
		r.Offset = fmt.Sprintf("0x%x", f.Offset)
	}
	return r
}

// frame is the program's own place of an access, for a report.
func (a *analysis) frame(x *races.Access) report.Frame { return reportFrame(a.ownFrame(x)) }

// ownFrame is the program's own place of an access: of the innermost frame that
// isn't the run-time's.
func (a *analysis) ownFrame(x *races.Access) funcs.Frame {
	all := a.tree.Stack(x.Ctx, emulate.Addr(x.PC))
	for _, f := range all {
		if !f.Runtime && !f.Library {
			return f
		}
	}
	for _, f := range all {
		if !f.Runtime {
			return f
		}
	}
	return all[0]
}

// access renders one side of a race; life says that it is an access to the life
// of an object, which has no value.
func (a *analysis) access(x *races.Access, life bool) report.Access {
	f := a.frame(x)
	r := report.Access{Thread: uint32(x.Thread), Op: x.Kind.String(), Atomic: x.Atomic,
		Function: f.Function, File: f.File, Line: f.Line, Stack: a.frames(x.Ctx, x.PC)}
	r.Locks = a.locks(x)
	if tt := a.pass.Threads[x.Thread]; tt != nil {
		r.ThreadName = tt.Origin.Name
		if o := &tt.Origin; o.Parent != 0 && o.Ctx != 0 {
			r.CreatedBy, r.CreatedAt = uint32(o.Parent), a.ownFrames(o.Ctx, o.PC)
		}
	}
	a.goroutine(&r, x)
	a.task(&r, x)
	if x.Kind != races.Free && !life {
		r.Value = number(x.Value, x.Size)
	}
	if t, calls, err := a.pass.Seek(x.Thread, x.Count); err == nil {
		r.Position = t.Position().String()
		// Call paths fold recursion; the thread itself has all of its frames.
		if calls.Current(t.CPU()) == x.Ctx {
			r.Stack = a.cut(a.tree.StackOf(calls, emulate.Addr(x.PC)))
		}
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

// locks names the program's locks that were held at an access.
func (a *analysis) locks(x *races.Access) []string {
	var out []string
	for _, id := range a.pass.Detector.Lockset(x.Locks) {
		addr := uint64(a.pass.Detector.LockAddr(id))
		if addr == 0 || a.tree.RuntimeData(addr) {
			continue
		}
		if n := a.lockName(addr); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
