package funcs

import (
	"debug/dwarf"
	"fmt"
)

// ArgClass is how the System V ABI passes a value (psABI 3.2.3).
type ArgClass uint8

const (
	_            ArgClass = iota
	ClassVoid             // nothing
	ClassInteger          // general registers: integers, pointers, small structs
	ClassSSE              // XMM registers: float, double, small structs of them
	ClassMixed            // a struct with one quadword of each
	ClassX87              // long double: memory as parameter, ST0 as result
	ClassMemory           // the stack; as a result, memory that the caller provides
)

func (c ArgClass) String() string {
	switch c {
	case ClassVoid:
		return "void"
	case ClassInteger:
		return "integer"
	case ClassSSE:
		return "sse"
	case ClassMixed:
		return "mixed"
	case ClassX87:
		return "x87"
	case ClassMemory:
		return "memory"
	}
	return "invalid"
}

// A Reg is a register that carries an argument or a result.
type Reg uint8

const (
	_ Reg = iota
	RegRAX
	RegRDX
	RegRCX
	RegRSI
	RegRDI
	RegR8
	RegR9
	RegXMM0
	RegXMM1
	RegXMM2
	RegXMM3
	RegXMM4
	RegXMM5
	RegXMM6
	RegXMM7
	RegST0
)

var regNames = [...]string{"invalid", "rax", "rdx", "rcx", "rsi", "rdi", "r8", "r9",
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "st0"}

func (r Reg) String() string {
	if int(r) < len(regNames) {
		return regNames[r]
	}
	return "invalid"
}

// intArgs and sseArgs are the argument registers in order.
var (
	intArgs = [...]Reg{RegRDI, RegRSI, RegRDX, RegRCX, RegR8, RegR9}
	sseArgs = [...]Reg{RegXMM0, RegXMM1, RegXMM2, RegXMM3, RegXMM4, RegXMM5, RegXMM6, RegXMM7}
)

// A Param is one parameter, or the result.
type Param struct {
	Name  string // "this" included; "" for the result and where unknown
	Type  *Type  // nil if unknown
	Class ArgClass
	Regs  []Reg // one per quadword, or one for a vector; empty: in memory, or nothing
	Stack int64 // offset from RSP+8 at the entry, if ClassMemory
}

// A Signature is how a function is called.
type Signature struct {
	// Known is false if debugging information doesn't say; then Params are
	// the six integer registers, and Result is RAX.
	Known    bool
	Params   []Param
	Result   Param
	Variadic bool
}

// Signature returns how f takes its arguments and gives its result: as its
// debugging information says, else as little as the ABI says. The optimiser's
// copies of functions (.constprop, .isra) may differ, and are not Known.
func (ms *Modules) Signature(f *Func) Signature {
	if f == nil || f.Module == nil {
		return unknownSignature()
	}
	g := f.Module.debug()
	if g == nil || clones.MatchString(f.Linkage) {
		return unknownSignature()
	}
	u, s := g.subAt(uint64(f.Entry) - f.Module.bias)
	if s == nil || !within(s.ranges, uint64(f.Entry)-f.Module.bias) {
		return unknownSignature()
	}
	g.load(u)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.signature(s)
}

func unknownSignature() Signature {
	s := Signature{Result: Param{Class: ClassInteger, Regs: []Reg{RegRAX}}}
	for i, r := range intArgs {
		s.Params = append(s.Params, Param{Name: fmt.Sprintf("arg%d", i), Class: ClassInteger, Regs: []Reg{r}})
	}
	return s
}

func (g *debugInfo) signature(s *subprogram) Signature {
	sig := Signature{Known: true, Result: Param{Type: voidType, Class: ClassVoid}}
	sig.Variadic = s.variadic
	ints, sses, stack := intArgs[:], sseArgs[:], int64(0)
	if s.typ != 0 {
		t := g.typeAt(s.typ)
		classes := classify(t)
		sig.Result = Param{Type: t, Class: summary(classes)}
		switch sig.Result.Class {
		case ClassMemory:
			sig.Result.Regs = []Reg{RegRAX} // the address
			ints = ints[1:]                 // which RDI brought
		case ClassX87:
			sig.Result.Regs = []Reg{RegST0}
		default:
			gr, xr := []Reg{RegRAX, RegRDX}, []Reg{RegXMM0, RegXMM1}
			for _, c := range classes {
				if c == ClassInteger {
					sig.Result.Regs, gr = append(sig.Result.Regs, gr[0]), gr[1:]
				} else if c == ClassSSE {
					sig.Result.Regs, xr = append(sig.Result.Regs, xr[0]), xr[1:]
				}
			}
		}
	}
	for i, off := range s.params {
		p := Param{Name: fmt.Sprintf("arg%d", i)}
		classes := []ArgClass{ClassInteger}
		size := int64(8)
		if e := g.entry(off); e != nil {
			if n, _ := g.attr(e, dwarf.AttrName, 0).(string); n != "" {
				p.Name = n
			}
			if o, ok := g.attr(e, dwarf.AttrType, 0).(dwarf.Offset); ok {
				p.Type = g.typeAt(o)
				classes = classify(p.Type)
				size = max(p.Type.Size, 8)
			}
		}
		p.Class = summary(classes)
		var regs []Reg
		ni, ns := ints, sses
		fits := p.Class != ClassMemory && p.Class != ClassX87
		for _, c := range classes {
			switch {
			case !fits:
			case c == ClassInteger && len(ni) > 0:
				regs, ni = append(regs, ni[0]), ni[1:]
			case c == ClassSSE && len(ns) > 0:
				regs, ns = append(regs, ns[0]), ns[1:]
			default:
				fits = false
			}
		}
		if fits {
			p.Regs, ints, sses = regs, ni, ns
		} else {
			if p.Type != nil && (p.Class == ClassMemory && p.Type.ByMemory) && len(ints) > 0 {
				// A non-trivial object: its address is passed.
				p.Class, p.Regs, ints = ClassInteger, []Reg{ints[0]}, ints[1:]
				sig.Params = append(sig.Params, p)
				continue
			}
			p.Class, p.Stack = ClassMemory, stack
			stack += (size + 7) &^ 7
		}
		sig.Params = append(sig.Params, p)
	}
	return sig
}

// classify returns the class of each quadword of a value of type t.
func classify(t *Type) []ArgClass {
	switch t.Kind {
	case TypeVoid:
		return nil
	case TypeFloat:
		if t.Size == 16 {
			return []ArgClass{ClassX87}
		}
		return []ArgClass{ClassSSE}
	case TypeStruct, TypeArray:
		if t.Vector && (t.Size == 8 || t.Size == 16 || t.Size == 32) {
			return []ArgClass{ClassSSE} // SSEUP: one register
		}
		if t.Size > 16 || t.Size < 0 || t.ByMemory {
			return []ArgClass{ClassMemory}
		}
		if t.Size == 0 {
			return nil
		}
		out := make([]ArgClass, (t.Size+7)/8)
		if !classifyInto(t, 0, out, 0) {
			return []ArgClass{ClassMemory}
		}
		for i := range out {
			if out[i] == 0 {
				out[i] = ClassSSE // padding only
			}
		}
		return out
	case TypeOther:
		if t.Size == 16 {
			return []ArgClass{ClassInteger, ClassInteger}
		}
	case TypeInt, TypeUint:
		if t.Size == 16 {
			return []ArgClass{ClassInteger, ClassInteger}
		}
	}
	return []ArgClass{ClassInteger}
}

// classifyInto merges the classes of t at off into out; false means memory.
func classifyInto(t *Type, off int64, out []ArgClass, depth int) bool {
	if depth > 16 {
		return false
	}
	switch t.Kind {
	case TypeStruct:
		for _, f := range t.Fields {
			if f.Type == nil || f.Offset < 0 || !classifyInto(f.Type, off+f.Offset, out, depth+1) {
				return false
			}
		}
		return true
	case TypeArray:
		if t.Elem == nil || t.Elem.Size <= 0 {
			return true
		}
		for i := int64(0); i < t.Count && i < 16; i++ {
			if !classifyInto(t.Elem, off+i*t.Elem.Size, out, depth+1) {
				return false
			}
		}
		return true
	case TypeFloat:
		if t.Size == 16 {
			return false // x87 inside a struct of at most 16 bytes: rare, in memory as parameter
		}
	}
	i := off / 8
	if i >= int64(len(out)) {
		return t.Size == 0
	}
	c := ClassInteger
	if t.Kind == TypeFloat {
		c = ClassSSE
	}
	if out[i] == 0 || c == ClassInteger {
		out[i] = c
	}
	if t.Size == 16 && i+1 < int64(len(out)) {
		out[i+1] = ClassInteger
	}
	return true
}

func summary(c []ArgClass) ArgClass {
	switch {
	case len(c) == 0:
		return ClassVoid
	case len(c) == 2 && c[0] != c[1]:
		return ClassMixed
	}
	return c[0]
}

// general returns the index of r in x86.CPU.R.
func (r Reg) general() (n int, ok bool) {
	switch r {
	case RegRAX:
		return 0, true
	case RegRCX:
		return 1, true
	case RegRDX:
		return 2, true
	case RegRSI:
		return 6, true
	case RegRDI:
		return 7, true
	case RegR8:
		return 8, true
	case RegR9:
		return 9, true
	}
	return 0, false
}
