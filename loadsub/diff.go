package loadsub

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/racesim/racesim/emulate/overlay"
)

// diff lists up to limit outputs in which got differs from want: memory that
// outlives the sections, registers and own stack that the recorded
// continuation reads, system calls, and how the participants ended.
func (p Pair) diff(want, got *overlay.Result, limit int) []Output {
	return diff([]*overlay.Section{p.A, p.B}, p.World, want, got, limit)
}

func diff(secs []*overlay.Section, w World, want, got *overlay.Result, limit int) []Output {
	var out []Output
	add := func(o Output) bool {
		out = append(out, o)
		return len(out) >= limit
	}
	for _, i := range byEnd(want, got) {
		w, g := &want.Ends[i], &got.Ends[i]
		if w.Outcome != g.Outcome {
			if add(Output{Name: fmt.Sprintf("the end of thread %d", secs[i].Thread), Want: endText(w), Got: endText(g)}) {
				return out
			}
		}
	}
	for i := range secs {
		w, g := &want.Ends[i], &got.Ends[i]
		for k := 0; k < max(len(w.Calls), len(g.Calls)); k++ {
			wc, gc := callText(w.Calls, k), callText(g.Calls, k)
			if wc != gc {
				if add(Output{Name: fmt.Sprintf("system call %d of thread %d", k+1, secs[i].Thread), Want: wc, Got: gc, Public: publicCall(w, g, k)}) {
					return out
				}
				break
			}
		}
		for _, o := range textDiff(int(secs[i].Thread), w.Texts, g.Texts, alike(w, g)) {
			if add(o) {
				return out
			}
		}
	}
	addrs := overlay.Differing(want, got)
	fresh := blocks{want: want, got: got}
	for i := 0; i < len(addrs); {
		a := addrs[i]
		if !outlives(secs, a) || fresh.at(a) {
			i++
			continue
		}
		if fresh.word(a &^ 7) {
			i++
			continue
		}
		base, size, text := w.cell(a, want, got)
		wv, _ := want.Uint(base, size)
		gv, _ := got.Uint(base, size)
		if add(Output{Name: nameOf(w.Name, base), Addr: base, Size: size, Want: text(wv), Got: text(gv)}) {
			return out
		}
		for i < len(addrs) && addrs[i] < base+uint64(size) {
			i++
		}
	}
	for i, s := range secs {
		if s.Live == nil || want.Ends[i].Outcome != overlay.Done || got.Ends[i].Outcome != overlay.Done {
			continue
		}
		if w, g := want.Ends[i].Left, got.Ends[i].Left; w != g {
			// Registers at different places have nothing in common.
			if add(Output{Name: fmt.Sprintf("what thread %d does next", s.Thread), Want: nextText(w), Got: nextText(g)}) {
				return out
			}
			continue
		}
		for r := 0; r < 16; r++ {
			if r == 4 {
				continue
			}
			wr, gr := pick(want.Ends[i].Regs[r], s.Live.GPR[r]), pick(got.Ends[i].Regs[r], s.Live.GPR[r])
			if wr != gr && !fresh.same(wr, gr, 0) {
				size := 8
				if s.Live.GPR[r] == 0x0f {
					size = 4
				}
				if add(Output{Name: RegisterName(s, r), Want: number(wr, size), Got: number(gr, size)}) {
					return out
				}
			}
			wx, gx := pickXMM(want.Ends[i].XMM[r], s.Live.XMM[r]), pickXMM(got.Ends[i].XMM[r], s.Live.XMM[r])
			if wx != gx {
				if add(Output{Name: XMMName(s, r), Want: xmmText(wx, s.Live.XMM[r]), Got: xmmText(gx, s.Live.XMM[r])}) {
					return out
				}
			}
			wy, gy := pickXMM(want.Ends[i].YMM[r], s.Live.YMM[r]), pickXMM(got.Ends[i].YMM[r], s.Live.YMM[r])
			if wy != gy {
				if add(Output{Name: YMMName(s, r), Want: fmt.Sprintf("%#x", wy), Got: fmt.Sprintf("%#x", gy)}) {
					return out
				}
			}
		}
	}
	return out
}

// publicCall reports whether the world notices that the k-th calls of two
// executions differ. What one of them hasn't done it may still do, and if one of
// them ends, the other may do so later, unless both came to the same kind of end.
func publicCall(x, y *overlay.End, k int) bool {
	if k >= len(x.Calls) || k >= len(y.Calls) {
		more := x
		if k >= len(x.Calls) {
			more = y
		}
		return alike(x, y) && !more.Calls[k].Inward()
	}
	a, b := &x.Calls[k], &y.Calls[k]
	return a.Ends() == b.Ends() && !(a.Inward() && b.Inward())
}

// alike reports whether two executions of a section came to the same kind of end.
func alike(x, y *overlay.End) bool {
	return x.Outcome == overlay.Done && y.Outcome == overlay.Done && x.Left == y.Left && x.Exited == y.Exited
}

func nextText(left bool) string {
	if left {
		return "leaves the loop"
	}
	return "goes round again"
}

// byEnd lists the participants, those first that crash: others wait for them.
func byEnd(results ...*overlay.Result) []int {
	var crashed, others []int
	for i := range results[0].Ends {
		n := 0
		for _, r := range results {
			if r.Ends[i].Outcome == overlay.Crashed {
				n++
			}
		}
		if n > 0 {
			crashed = append(crashed, i)
		} else {
			others = append(others, i)
		}
	}
	return append(crashed, others...)
}

// Outlives reports whether a byte that a section wrote is an output of it.
func Outlives(s *overlay.Section, addr uint64) bool { return outlives([]*overlay.Section{s}, addr) }

// outlives reports whether a byte is an output: not in a dead part of a stack.
func outlives(secs []*overlay.Section, addr uint64) bool {
	for _, s := range secs {
		if !s.OnStack(addr) {
			continue
		}
		if s.Live == nil || s.End == overlay.EndReturn {
			return false
		}
		return s.Live.Has(addr)
	}
	return true
}

var regNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// RegisterName is what general register r is called at the end of a section.
func RegisterName(s *overlay.Section, r int) string {
	if s.End == overlay.EndReturn && r == 0 {
		return "the return value"
	}
	return regNames[r]
}

// XMMName is what register r is called at the end of a section.
func XMMName(s *overlay.Section, r int) string {
	if s.End == overlay.EndReturn && r == 0 {
		return "the return value"
	}
	return fmt.Sprintf("xmm%d", r)
}

// YMMName is what the upper half of register r is called at the end of a section.
func YMMName(s *overlay.Section, r int) string {
	if s.End == overlay.EndReturn && r == 0 {
		return "the return value, upper half"
	}
	return fmt.Sprintf("ymm%d, upper half", r)
}

// xmmText prints the bytes of an XMM register that count: a double or a float
// as a number.
func xmmText(v [2]uint64, mask uint16) string {
	switch mask {
	case 0x00ff:
		return fmt.Sprint(math.Float64frombits(v[0]))
	case 0x000f:
		return fmt.Sprint(math.Float32frombits(uint32(v[0])))
	}
	return fmt.Sprintf("%#x", v)
}

// pick keeps the bytes of v that mask has a bit for.
func pick(v uint64, mask uint8) uint64 {
	var keep uint64
	for b := 0; b < 8; b++ {
		if mask>>b&1 != 0 {
			keep |= 0xff << (8 * b)
		}
	}
	return v & keep
}

func pickXMM(v [2]uint64, mask uint16) [2]uint64 {
	return [2]uint64{pick(v[0], uint8(mask)), pick(v[1], uint8(mask>>8))}
}

// A Scalar is a variable, or the part of one, that holds a single value.
type Scalar struct {
	Addr  uint64
	Size  int // bytes: 1, 2, 4 or 8
	Float bool
}

// cell returns the value that a byte belongs to, and how to show it: that of a
// variable whose type is known, else the half of an aligned word that differs
// between two results, or all of the word.
func (w World) cell(a uint64, want, got *overlay.Result) (base uint64, size int, text func(v uint64) string) {
	if base, size, text, ok := w.scalar(a); ok {
		return base, size, text
	}
	base, size = a&^7, 8
	wv, _ := want.Uint(base, size)
	gv, _ := got.Uint(base, size)
	if wv>>32 == gv>>32 {
		size = 4
	} else if uint32(wv) == uint32(gv) {
		base, size = base+4, 4
	}
	return base, size, func(v uint64) string { return number(v, size) }
}

// scalar returns the variable with a single value that a byte belongs to, and how
// to show it.
func (w World) scalar(a uint64) (base uint64, size int, text func(v uint64) string, ok bool) {
	if w.Scalar == nil {
		return 0, 0, nil, false
	}
	s, ok := w.Scalar(a)
	switch {
	case !ok:
		return 0, 0, nil, false
	case s.Float && s.Size == 4:
		text = func(v uint64) string { return fmt.Sprint(math.Float32frombits(uint32(v))) }
	case s.Float:
		text = func(v uint64) string { return fmt.Sprint(math.Float64frombits(v)) }
	default:
		text = func(v uint64) string { return number(v, s.Size) }
	}
	return s.Addr, s.Size, text, true
}

func nameOf(name func(uint64) string, addr uint64) string {
	if name != nil {
		if n := name(addr); n != "" {
			return n
		}
	}
	return fmt.Sprintf("memory at 0x%x", addr)
}

// number prints small values as signed decimals and others in hexadecimal.
func number(v uint64, size int) string {
	s := int64(v)
	switch size {
	case 1:
		s = int64(int8(v))
	case 2:
		s = int64(int16(v))
	case 4:
		s = int64(int32(v))
	}
	if s > -1<<24 && s < 1<<24 {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("0x%x", v)
}

func endText(e *overlay.End) string {
	if e.Outcome == overlay.Done {
		return "completion"
	}
	return e.Outcome.String() + " (" + e.Detail + ")"
}

func callText(calls []overlay.Call, k int) string {
	if k >= len(calls) {
		return "none"
	}
	c := calls[k]
	if len(c.Data) > 0 {
		d := c.Data
		if len(d) > 40 {
			d = d[:40]
		}
		return fmt.Sprintf("%s(%d, %q)", overlay.CallName(c.NR), int32(c.Args[0]), d)
	}
	var args []string
	for _, a := range c.Args[:c.Takes()] {
		args = append(args, number(a, 8))
	}
	return fmt.Sprintf("%s(%s)", overlay.CallName(c.NR), strings.Join(args, ", "))
}

// textDiff compares what a participant put into the buffers of streams. What
// one of two put there so far it may continue, unless both came as far.
func textDiff(thread int, want, got []overlay.Text, asFar bool) []Output {
	var out []Output
	for i, k := 0, 0; i < len(want) || k < len(got); {
		var w, g overlay.Text
		switch {
		case k == len(got) || i < len(want) && want[i].FD < got[k].FD:
			w = want[i]
			g.FD = w.FD
			i++
		case i == len(want) || got[k].FD < want[i].FD:
			g = got[k]
			w.FD = g.FD
			k++
		default:
			w, g = want[i], got[k]
			i++
			k++
		}
		if !bytes.Equal(w.Data, g.Data) {
			at := 0
			for at < len(w.Data) && at < len(g.Data) && w.Data[at] == g.Data[at] {
				at++
			}
			out = append(out, Output{Name: fmt.Sprintf("what thread %d writes to descriptor %d", thread, w.FD), Want: textText(w, at), Got: textText(g, at),
				Public: asFar || at < len(w.Data) && at < len(g.Data)})
		}
	}
	return out
}

// Bounds of the text that is shown, in bytes.
const (
	maxQuoted = 40
	before    = 12 // of what is the same
)

// textText quotes a text, from shortly before place at.
func textText(t overlay.Text, at int) string {
	if len(t.Data) == 0 {
		return "nothing"
	}
	d, head, tail := t.Data, "", ""
	if at = min(at, len(d)); at > before+len("…") {
		d, head = d[at-before:], "…"
	}
	if len(d) > maxQuoted {
		d, tail = d[:maxQuoted], "…"
	}
	return head + fmt.Sprintf("%q", d) + tail
}
