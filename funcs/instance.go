package funcs

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// An Instance is one execution of a function, or of a section of one, with
// what flowed in and out (SPEC 4.1).
type Instance struct {
	Func   *Func // nil if unknown
	Thread emulate.ThreadID
	Node   NodeID
	Entry  emulate.Count // of the first instruction
	Exit   emulate.Count // one past the last
	CFA    emulate.Addr  // of the function's frame

	// Inputs and Outputs: registers first, then memory by address.
	Inputs, Outputs []Value
	// Uninit are reads of memory that the instance owned (its stack, blocks it
	// allocated) and had not written.
	Uninit  []Value
	Changes []Change // by others, seen in the middle
	// Returned says that the function ended by its own return; otherwise
	// registers are no outputs.
	Returned bool
	// Truncated says that the instance touched more memory than is kept.
	Truncated bool
	// Sections are the parts between which a loop went round, if
	// Recorder.Split was set: at least one.
	Sections []Section
}

// A Section is a part of an instance.
type Section struct {
	Start, End emulate.Count
	// Head is where control went back to before the section, 0 for the first.
	// Sections with one Head are iterations of one loop.
	Head      emulate.Addr
	Footprint *Footprint
}

// A Value is a location and what it held.
type Value struct {
	Name  string       // access path: conf.level, acct->balance, arg0->+8, heap(make)+8, ret
	Reg   Reg          // 0: memory
	Addr  emulate.Addr // memory only
	Size  int          // bytes
	Bytes []byte       // inputs: first read; outputs: last written
	Type  *Type        // nil if unknown
	Count emulate.Count
	PC    emulate.Addr // of the access; 0 for registers
	// Internal: the run-time's own business, such as a heap's free lists.
	Internal bool
	// Maybe: a register that may or may not be meant; the signature is
	// unknown.
	Maybe bool
}

// Kind returns how to read the value: by its type, else as an integer.
func (v Value) Kind() TypeKind {
	if v.Type == nil || v.Type.Size != int64(v.Size) {
		return TypeUint
	}
	return v.Type.Kind
}

// Uint returns up to 8 bytes as an unsigned integer.
func (v Value) Uint() uint64 {
	var b [8]byte
	copy(b[:], v.Bytes)
	return binary.LittleEndian.Uint64(b[:])
}

// Float returns the value as a number, ok if it is one: integers and floats of
// up to 8 bytes.
func (v Value) Float() (x float64, ok bool) {
	u := v.Uint()
	switch v.Kind() {
	case TypeFloat:
		switch v.Size {
		case 4:
			return float64(math.Float32frombits(uint32(u))), true
		case 8:
			return math.Float64frombits(u), true
		}
		return 0, false
	case TypeInt, TypeEnum, TypeChar:
		n := 64 - 8*min(v.Size, 8)
		return float64(int64(u<<n) >> n), v.Size <= 8
	case TypePointer, TypeStruct, TypeArray:
		return 0, false
	}
	return float64(u), v.Size <= 8
}

// String shows the value as its type asks for.
func (v Value) String() string {
	switch v.Kind() {
	case TypePointer:
		return fmt.Sprintf("0x%x", v.Uint())
	case TypeBool:
		if v.Size == 1 && v.Bytes[0] <= 1 {
			return fmt.Sprint(v.Bytes[0] == 1)
		}
	case TypeFloat:
		if x, ok := v.Float(); ok {
			return fmt.Sprint(x)
		}
	case TypeInt, TypeEnum, TypeChar:
		n := 64 - 8*min(v.Size, 8)
		return fmt.Sprint(int64(v.Uint()<<n) >> n)
	}
	if v.Size > 8 {
		return "0x" + hex.EncodeToString(v.Bytes)
	}
	u := v.Uint()
	if u > 1<<32 {
		return fmt.Sprintf("0x%x", u)
	}
	return fmt.Sprint(u)
}

// registers reads the registers of a parameter or result.
func registers(c *x86.CPU, p Param, name string) []Value {
	var out []Value
	for i, r := range p.Regs {
		v := Value{Name: name, Reg: r, Size: 8, Type: p.Type}
		if len(p.Regs) > 1 {
			v.Name = fmt.Sprintf("%s[%d:%d]", name, i*8, i*8+8)
			v.Type = nil
		} else if p.Type != nil && p.Class != ClassMemory && p.Type.Size > 0 && p.Type.Size <= 8 {
			v.Size = int(p.Type.Size)
		}
		switch n, ok := r.general(); {
		case ok:
			v.Bytes = le.AppendUint64(nil, c.R[n])
		case r == RegST0:
			top := c.F.StatusWord() >> 11 & 7
			st := c.F.R[top]
			v.Size = 10
			v.Bytes = le.AppendUint16(le.AppendUint64(nil, st.Man), st.SE)
		default:
			x, y := &c.X[r-RegXMM0], &c.Y[r-RegXMM0]
			v.Bytes = le.AppendUint64(nil, x[0])
			if p.Type != nil && p.Type.Vector && len(p.Regs) == 1 {
				v.Size = int(p.Type.Size)
				v.Bytes = le.AppendUint64(le.AppendUint64(le.AppendUint64(v.Bytes, x[1]), y[0]), y[1])
			}
		}
		v.Bytes = v.Bytes[:v.Size]
		out = append(out, v)
	}
	return out
}
