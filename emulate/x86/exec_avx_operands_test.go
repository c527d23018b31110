//go:build linux && amd64

package x86

import (
	"testing"

	"github.com/racesim/racesim/hwmodel"
)

// vecByte names a byte of a vector register: register<<5 | byte.
type vecBytes [16 * 32]bool

// What Describe doesn't say is read can't change the result of an instruction
// with VEX, and what it doesn't say is written doesn't change.
func TestVEXOperandsAreDescribed(t *testing.T) {
	m := caseMaker{newRand(3)}
	mem := &testMemory{}
	m.Read(mem.dataBytes())
	saved := append([]byte(nil), mem.dataBytes()...)
	c := &CPU{Win: new(hwmodel.Window), Mem: mem, Env: mem, Blocks: NewBlockCache()}
	for _, f := range allForms(t) {
		if !f.vex {
			continue
		}
		for range 20 {
			tc := m.make(f)
			if tc == nil || tc.rel32 != nil {
				continue
			}
			in, err := Describe(tc.code, testPC)
			if err != nil {
				continue
			}
			var s machine
			m.state(&s, tc)
			setMask(&s)
			var readV, writeV vecBytes
			var readR, writeR [16]bool
			for _, o := range in.Operands {
				switch o.Kind {
				case OperandXMM:
					for b := range 32 {
						i := int(o.Reg)<<5 | b
						readV[i] = readV[i] || o.Read && b < o.Size
						writeV[i] = writeV[i] || o.Write && (b < o.Size || o.Clears)
					}
				case OperandReg:
					readR[o.Reg&15] = readR[o.Reg&15] || o.Read || o.Write && o.Size < 4
					writeR[o.Reg&15] = writeR[o.Reg&15] || o.Write
				case OperandMem:
					for _, r := range []uint8{o.Mem.Base, o.Mem.Index} {
						if r < 16 {
							readR[r] = true
						}
					}
				case OperandState:
					if o.Name == "ymms" {
						for i := range writeV {
							writeV[i] = true
							readV[i] = true // which half isn't said
						}
					}
				}
			}
			if f.vsib { // the indices aren't an operand
				for b := range 32 {
					readV[tc.index<<5|b] = true
				}
			}
			noise := s
			var other machine
			m.state(&other, tc)
			for i := range readV {
				if !readV[i] {
					*vecAt(&noise, i) = *vecAt(&other, i)
				}
			}
			for i := range readR {
				if !readR[i] {
					noise.r[i] = other.r[i]
				}
			}
			run := func(s *machine) (machine, Stop) {
				copy(mem.dataBytes(), saved)
				copy(mem.code[testPC-codeAddr:], append(append([]byte(nil), tc.code...), 0xEB, 0xFE))
				s.set(c)
				c.Win.Clear()
				c.Blocks.InvalidateAll()
				stop := c.Run(1)
				var after machine
				after.get(c)
				return after, stop
			}
			a, stopA := run(&s)
			memA := append([]byte(nil), mem.dataBytes()...)
			b, stopB := run(&noise)
			if stopA.Kind != stopB.Kind {
				t.Fatalf("%v [% x]: %v, %v with other values of what it doesn't read", in, tc.code, stopA, stopB)
			}
			if stopA.Kind != StopLimit {
				continue
			}
			if string(memA) != string(mem.dataBytes()) {
				t.Errorf("%v [% x]: memory depends on what it doesn't read", in, tc.code)
			}
			for i := range writeV {
				switch {
				case writeV[i] && *vecAt(&a, i) != *vecAt(&b, i):
					t.Fatalf("%v [% x]: byte %d of ymm%d depends on what it doesn't read", in, tc.code, i&31, i>>5)
				case !writeV[i] && *vecAt(&a, i) != *vecAt(&s, i):
					t.Fatalf("%v [% x]: byte %d of ymm%d is written", in, tc.code, i&31, i>>5)
				}
			}
			for i := range writeR {
				switch {
				case writeR[i] && a.r[i] != b.r[i]:
					t.Fatalf("%v [% x]: %s depends on what it doesn't read", in, tc.code, regNames[i])
				case !writeR[i] && a.r[i] != s.r[i]:
					t.Fatalf("%v [% x]: %s is written", in, tc.code, regNames[i])
				}
			}
		}
	}
}

// setMask masks all floating-point exceptions.
func setMask(s *machine) { s.fx[24], s.fx[25] = s.fx[24]|0x80, s.fx[25]|0x1f }

func vecAt(s *machine, i int) *byte {
	if i&31 < 16 {
		return &s.xmm(i >> 5)[i&15]
	}
	return &s.upper(i >> 5)[i&15]
}
