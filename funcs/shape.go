package funcs

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// maxShape bounds the code that a Shape looks at, in bytes.
const maxShape = 1 << 14

// farAway: immediates from here on may be addresses.
const farAway = 1 << 16

// Shape describes the function that holds pc by its code: a number that is the
// same wherever the linker puts the function and what it refers to, and the
// index of the instruction at pc. It stands for a name where there is none. ok
// is false if the code can't be read.
func (ms *Modules) Shape(pc emulate.Addr) (shape uint64, index int, ok bool) {
	f := ms.FuncAt(pc)
	if f == nil || f.Module == nil || f.Module.obj == nil || f.End <= f.Entry {
		return 0, 0, false
	}
	lo := uint64(f.Entry) - f.Module.bias
	code := f.Module.obj.bytesAt(lo, int(min(f.End-f.Entry, maxShape)))
	h := xxh3.New()
	number := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	for at, n := 0, 0; at < len(code); n++ {
		if f.Entry+emulate.Addr(at) == pc {
			index = n
		}
		in, err := x86.Describe(code[at:], lo+uint64(at))
		if err != nil || in.Len == 0 {
			break // what comes isn't known
		}
		h.WriteString(in.Mnemonic)
		for i := range in.Operands {
			o := &in.Operands[i]
			number(uint64(o.Kind)<<16 | uint64(o.Size)<<8 | uint64(o.Reg))
			switch o.Kind {
			case x86.OperandMem:
				m := &o.Mem
				if m.Base == x86.RegZero && m.Index == x86.RegZero && m.Seg == x86.RegZero {
					break // an address
				}
				number(uint64(m.Base)<<24 | uint64(m.Index)<<16 | uint64(m.Scale)<<8 | uint64(m.Seg))
				if m.Disp > -farAway && m.Disp < farAway {
					number(uint64(m.Disp))
				}
			case x86.OperandImm:
				if o.Imm > -farAway && o.Imm < farAway {
					number(uint64(o.Imm))
				}
			case x86.OperandTo:
				if to := uint64(o.Imm) - lo; to < uint64(len(code)) {
					number(to)
				}
			}
		}
		at += in.Len
	}
	return h.Sum64(), index, true
}
