package racesim

import (
	"fmt"
	"math"
	"regexp"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
)

// features turns instances into samples for a model. Only the registers and
// the parts of the frame that are live after sec count; values that look like pointers in any instance are pointers in
// all.
func features(all []instance, sec *overlay.Section) []classify.Sample {
	out := make([]classify.Sample, len(all))
	type number struct {
		sample *map[string]classify.Value
		v      uint64
		size   int
		point  string
	}
	numbers := map[string][]number{}
	pointers, nonzero := map[string]int{}, map[string]int{}
	for i := range all {
		x := &all[i]
		s := &out[i]
		s.Inputs, s.Outputs = map[string]classify.Value{}, map[string]classify.Value{}
		put := func(m *map[string]classify.Value, name string, v uint64, size int, point string) {
			numbers[name] = append(numbers[name], number{m, v, size, point})
			if v != 0 {
				nonzero[name]++
				if size == 8 && point != "" {
					pointers[name]++
				}
			}
		}
		x.general(sec, func(name string, r, size int) {
			put(&s.Inputs, name, cut(x.Entry.R[r], size), size, x.Entry.Point[r])
			put(&s.Outputs, name, cut(x.Exit.R[r], size), size, x.Exit.Point[r])
		})
		x.real(sec, func(name string, r, size int) {
			s.Inputs[name], s.Outputs[name] = realValue(x.Entry.X[r][0], size), realValue(x.Exit.X[r][0], size)
		})
		times := map[string]int{}
		for k := range x.Mem {
			m := &x.Mem[k]
			if m.Frame && (sec.Live == nil || !sec.Live.Has(uint64(m.Off)+sec.SP)) {
				continue
			}
			times[m.Name]++
			n := times[m.Name]
			if n > maxAlike {
				continue
			}
			name := m.Name
			if n > 1 {
				name = fmt.Sprintf("%s#%d", m.Name, n)
			}
			if m.Real {
				s.Outputs[name] = realValue(m.Value, m.Size)
				if m.Input {
					s.Inputs[name] = realValue(m.Pre, m.Size)
				}
				continue
			}
			put(&s.Outputs, name, m.Value, m.Size, m.Point)
			if m.Input {
				put(&s.Inputs, name, m.Pre, m.Size, m.PrePoint)
			}
		}
	}
	for name, ns := range numbers {
		pointer := 2*pointers[name] > nonzero[name]
		for _, n := range ns {
			if pointer {
				(*n.sample)[name] = classify.Value{Kind: classify.Pointer, Text: pointerKind(n.v, n.point)}
			} else {
				(*n.sample)[name] = classify.Value{Kind: classify.Number, Num: float64(signed(n.v, n.size))}
			}
		}
	}
	return out
}

// maxAlike bounds the outputs with one name, such as elements of an array.
const maxAlike = 4

// general calls f with the live general registers of an instance.
func (x *instance) general(sec *overlay.Section, f func(name string, r, size int)) {
	if sec.Live == nil {
		return
	}
	for r := 0; r < 16; r++ {
		if m := sec.Live.GPR[r]; m != 0 && r != x86.RSP && !(sec.End == overlay.EndReturn && preserved[r]) {
			f(loadsub.RegisterName(sec, r), r, width(uint16(m)))
		}
	}
}

// real calls f with the live registers that hold a float or a double.
func (x *instance) real(sec *overlay.Section, f func(name string, r, size int)) {
	if sec.Live == nil {
		return
	}
	for r := 0; r < 16; r++ {
		if m := sec.Live.XMM[r]; m != 0 {
			if size := width(m); size == 4 || size == 8 {
				f(loadsub.XMMName(sec, r), r, size)
			}
		}
	}
}

// preserved are the registers that a function gives back as it got them.
var preserved = map[int]bool{x86.RBX: true, x86.RBP: true, x86.R12: true, x86.R13: true, x86.R14: true, x86.R15: true}

// width returns the number of bytes up to the last one in a mask, as a power
// of two.
func width(m uint16) int {
	n := 1
	for m>>n != 0 {
		n *= 2
	}
	return n
}

func cut(v uint64, size int) uint64 {
	if size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

func signed(v uint64, size int) int64 {
	n := 64 - 8*min(size, 8)
	return int64(v<<n) >> n
}

func realValue(v uint64, size int) classify.Value {
	if size == 4 {
		return classify.Value{Kind: classify.Real, Num: float64(math.Float32frombits(uint32(v)))}
	}
	return classify.Value{Kind: classify.Real, Num: math.Float64frombits(v)}
}

var indices = regexp.MustCompile(`\[\d+\]`)

// feature names a location so that instances agree on it: elements of an array
// are alike, heap blocks are known by who allocated them. real says that it
// holds a floating-point number.
func (a *analysis) feature(addr, sp uint64) (name string, real bool) {
	if v, ok := a.ms.VarAt(emulate.Addr(addr)); ok {
		p := v.Place
		return indices.ReplaceAllString(v.Path, "[*]"), p != nil && p.Kind == funcs.TypeFloat && (p.Size == 4 || p.Size == 8)
	}
	if b := a.pass.Detector.BlockAt(emulate.Addr(addr)); b.ID != 0 {
		where := "heap"
		if s := a.allocated(b); len(s) > 0 {
			// Not by its line, which moves from build to build.
			where = "heap(" + s[0].Function + ")"
		}
		if off := addr - uint64(b.Addr); b.Size <= 256 {
			return fmt.Sprintf("%s+%d", where, off), false
		}
		return where + "+*", false
	}
	if m, off, ok := a.ms.DataAt(emulate.Addr(addr)); ok {
		return fmt.Sprintf("%s+0x%x", m.Name(), off), false
	}
	if inFrame(addr, sp) {
		return fmt.Sprintf("the frame%+d", int64(addr-sp)), false
	}
	if addr-sp < maxStack {
		return "a caller's frame", false
	}
	return "memory", false
}

// maxStack bounds what counts as a stack, in bytes.
const maxStack = 8 << 20

// inFrame reports whether an address is below sp, where a function's own frame
// and those of its callees are.
func inFrame(addr, sp uint64) bool { return addr < sp && sp-addr < maxStack }

// region says what kind of memory an address is in, "" if in none.
func (a *analysis) region(addr uint64) string {
	if addr < 1<<12 {
		return ""
	}
	if a.maps == nil {
		for _, m := range a.t.s.EveryMapping() {
			kind := "heap"
			switch {
			case m.Path == "[stack]":
				kind = "stack"
			case m.Path != "" && m.Path[0] == '/' && m.Prot&4 != 0:
				kind = "code"
			case m.Path != "" && m.Path[0] == '/':
				kind = "global"
			}
			a.maps = append(a.maps, mapped{uint64(m.Addr), uint64(m.Addr) + m.N, kind})
		}
		a.maps = append(a.maps, mapped{}) // not nil
	}
	for _, t := range a.pass.Threads {
		if addr >= t.Stack && addr < t.StackEnd {
			return "stack"
		}
	}
	for i := len(a.maps) - 1; i >= 0; i-- {
		if m := &a.maps[i]; addr >= m.lo && addr < m.hi {
			return m.kind
		}
	}
	return ""
}

type mapped struct {
	lo, hi uint64
	kind   string
}

func pointerKind(v uint64, region string) string {
	switch {
	case v == 0:
		return "null"
	case region != "":
		return region
	}
	return "wild"
}
