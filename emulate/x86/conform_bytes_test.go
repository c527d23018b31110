//go:build linux && amd64

package x86

import (
	"bytes"
	"strings"
	"testing"
)

// TestRandomBytesMatchProcessor decodes random bytes: any prefixes in any
// order before any opcode. Whatever the decoder takes for an instruction is
// executed on the processor as well, which must agree on its length, operands
// and faults. RACESIM_CONFORM_BYTES is the number of tries (default 20000).
func TestRandomBytesMatchProcessor(t *testing.T) {
	count, seed := envInt(t, "RACESIM_CONFORM_BYTES", 20000), envInt(t, "RACESIM_CONFORM_SEED", 1)
	withNative(t, func(n *native) {
		x, err := newConformer(n, int64(seed))
		if err != nil {
			t.Fatal(err)
		}
		done, faults, bad := 0, 0, 0
		for range count {
			code, f := x.randomCode()
			if f == nil {
				continue
			}
			c := &testCase{f: f, code: code, seg: RegZero, rmReg: -1, regReg: -1}
			// The operand may be anything; these only relax what isn't defined.
			c.memSize = 512
			if isString(f) {
				c.rep = 0xF3 // a small count
			}
			var s machine
			x.state(&s, c)
			for i := range s.r { // memory operands often lie in the data
				if x.chance(2) && (i != RCX || !isString(f)) {
					s.r[i] = dataAddr + 0x1000 + uint64(x.Intn(0x1000))
				}
			}
			v, err := x.run(c, s)
			if err != nil {
				t.Fatalf("% x: %v", code, err)
			}
			done++
			if !v.trap.stepped() {
				faults++
			}
			if v.diff != "" {
				if bad++; bad <= 10 {
					t.Errorf("% x, taken for %s %s: %s\n\t%s", code, f.enc, f.mnem, v.diff, s.describe(f))
				}
			}
		}
		t.Logf("%d of %d tries were instructions; %d faults, %d differ", done, count, faults, bad)
	})
}

// randomCode returns random bytes that the decoder takes for an instruction
// that can be compared, cut to its length.
func (x *conformer) randomCode() ([]byte, *form) {
	var code []byte
	for range x.Intn(4) {
		code = append(code, []byte{0x66, 0x66, 0xF2, 0xF3, 0x67, 0xF0, 0x2E, 0x3E, 0x64, 0x65, 0x48, 0x40 | byte(x.Intn(16))}[x.Intn(12)])
	}
	switch x.Intn(6) {
	case 0:
	case 4:
		code = append(code, 0xC5, byte(x.Intn(256)))
		if x.chance(2) {
			code[len(code)-1] |= 0x78
		}
	case 5:
		code = append(code, 0xC4, byte(x.Intn(8)<<5+1+x.Intn(3)), byte(x.Intn(256)))
		if x.chance(2) {
			code[len(code)-1] |= 0x78
		}
	case 1, 2:
		code = append(code, 0x0F)
	case 3:
		code = append(code, 0x0F, []byte{0x38, 0x3A}[x.Intn(2)])
	}
	code = append(code, byte(x.Intn(256)), byte(x.Intn(256)))
	if x.chance(2) {
		code[len(code)-1] |= 0xC0
	}
	for range 8 {
		code = append(code, byte(x.Intn(256)))
	}
	d := inst{code: code, pc: testPC}
	f, err := d.decode()
	if err != nil || d.off > len(code) {
		return nil, nil
	}
	code = code[:d.off]
	if notComparable[f.mnem] != "" || isTranscendental[f.mnem] || f.mnem == "popf" || f.mnem == "pushf" || f.mnem == "enter" || f.mnem == "fldenv" || f.mnem == "frstor" {
		return nil, nil
	}
	if strings.HasPrefix(f.mnem, "xsave") || strings.HasPrefix(f.mnem, "xrstor") {
		return nil, nil // RDX:RAX would ask for components that only the host has
	}
	for _, b := range [][]byte{{0x0F, 0x05}, {0x0F, 0x34}, {0xCD}} { // never enter the kernel, whatever the length
		if bytes.Contains(code, b) {
			return nil, nil
		}
	}
	return code, f
}
