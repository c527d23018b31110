//go:build linux && amd64

package x86

import (
	"encoding/binary"
	"testing"
)

// TestTranscendentalsWithinOneUnit compares the transcendental instructions
// with the processor's on arguments of common size, rounding to nearest, and
// reports how many results have the same bits. RACESIM_CONFORM_TRANS is the
// number of arguments for each (default 2000).
func TestTranscendentalsWithinOneUnit(t *testing.T) {
	count := envInt(t, "RACESIM_CONFORM_TRANS", 2000)
	withNative(t, func(n *native) {
		x, err := newConformer(n, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			name     string
			code     byte  // after D9
			min, max int   // exponents of the arguments
			positive bool  // ST(0) is
			result   uint8 // which register has it
		}{
			{"fsin", 0xFE, -10, 3, false, 0},
			{"fsin, large", 0xFE, 4, 62, false, 0},
			{"fcos", 0xFF, -10, 3, false, 0},
			{"fcos, large", 0xFF, 4, 62, false, 0},
			{"fptan", 0xF2, -10, 3, false, 1},
			{"fpatan", 0xF3, -5, 5, false, 0},
			{"f2xm1", 0xF0, -10, -1, false, 0},
			{"fyl2x", 0xF1, -20, 20, true, 0},
			{"fyl2xp1", 0xF9, -10, -2, false, 0},
		} {
			same, worst := 0, uint64(0)
			for range count {
				arg := func() Float80 {
					e := bias80 + f.min + x.Intn(f.max-f.min+1)
					return Float80{x.Uint64() | 1<<63, uint16(e) | uint16(x.Intn(2))<<15}
				}
				a, b := arg(), arg()
				if f.positive {
					a.SE &= 0x7fff
				}
				p, e, err := x.x87Op(f.code, a, b, f.result)
				if err != nil {
					t.Fatal(err)
				}
				if p == e {
					same++
					continue
				}
				d := p.Man - e.Man
				if p.SE != e.SE { // to the other side of a power of two
					d = p.Man<<1 - e.Man<<1
				}
				if d = min(d, -d); d > worst {
					worst = d
				}
				if d > 1 {
					t.Errorf("%s of %v, %v: processor %v, emulator %v", f.name, a, b, p, e)
				}
			}
			rate := 100 * float64(same) / float64(count)
			t.Logf("%-12s %5.1f %% of %d results have the processor's bits; worst difference %d unit", f.name, rate, count, worst)
			if rate < 80 {
				t.Errorf("%s: only %.1f %% of the results have the processor's bits", f.name, rate)
			}
		}
	})
}

// x87Op executes D9 code on ST(0) = a, ST(1) = b and returns ST(result) of
// both.
func (x *conformer) x87Op(code byte, a, b Float80, result uint8) (proc, emu Float80, err error) {
	le := binary.LittleEndian
	s := machine{rip: testPC, flags: fixedFlags, fs: testFSBase, gs: testGSBase}
	s.r[RSP] = dataAddr + 0x1000
	le.PutUint32(s.fx[24:], mxMasks)
	le.PutUint16(s.fx[0:], cwInit)
	s.fx[4] = 3
	for i, v := range []Float80{a, b} {
		le.PutUint64(s.fx[32+16*i:], v.Man)
		le.PutUint16(s.fx[40+16*i:], v.SE)
	}
	c := []byte{0xD9, code, 0xEB, 0xFE}
	copy(x.mem.code[testPC-codeAddr:], c)
	if err := x.n.write(testPC, c); err != nil {
		return proc, emu, err
	}
	var after machine
	if _, err := x.native(&s, &after, false); err != nil {
		return proc, emu, err
	}
	mine, _ := x.emulate(&testCase{}, &s)
	get := func(m *machine) Float80 {
		p := m.fx[32+16*int(result):]
		return Float80{le.Uint64(p), le.Uint16(p[8:])}
	}
	return get(&after), get(&mine), nil
}
