package x86

import (
	"testing"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// fxMemory is eight lines from address 0 on.
type fxMemory [512]byte

func (m *fxMemory) Line(c *CPU, line uint64, write bool) unsafe.Pointer {
	if line >= 8 {
		Raise(&Stop{Kind: StopFault, Vector: VecPF, Addr: line << lineShift})
	}
	return unsafe.Pointer(&m[line<<lineShift])
}

func (m *fxMemory) Code(c *CPU, pc uint64) []byte { return nil }

func TestFxsaveIsUndoneByFxrstor(t *testing.T) {
	m := new(fxMemory)
	for i := range m {
		m[i] = 0xee
	}
	c := &CPU{Win: new(hwmodel.Window), Mem: m, MXCSR: 0x9fa5}
	c.Win.Clear()
	for i := range c.X {
		c.X[i] = [2]uint64{uint64(i)<<32 | 1, ^uint64(i)}
	}
	c.F.Init()
	c.F.SetStatusWord(5<<11 | swC0)
	c.F.Full = 0x81
	for i := range c.F.R {
		c.F.R[i] = Float80{uint64(i) + 1<<63, uint16(i)}
	}
	c.F.IP, c.F.DP = 0x123456789abc, 0xfedcba987
	op := Op{attr: attrMem, base: RegZero, idx: RegZero, seg: RegZero, size: 8}
	execFxsave(c, &op)
	if m[fxMXCSR] != 0xa5 || m[fxMXCSR+4] != 0xff || m[fxXMM+16*3+4] != 3 || m[4] != 0x81 || m[fxSize] != 0xee {
		t.Errorf("image % x", m[:])
	}
	got := &CPU{Win: c.Win, Mem: m}
	execFxrstor(got, &op)
	if got.X != c.X || got.MXCSR != c.MXCSR || got.F != c.F {
		t.Errorf("restored\n%+v\nsaved\n%+v", got.F, c.F)
	}
	m[fxMXCSR+2] = 1
	wantGP(t, "reserved bit of MXCSR", func() { execFxrstor(got, &op) })
	op.disp = 8
	wantGP(t, "misaligned image", func() { execFxsave(got, &op) })
	if got.X != c.X || got.F != c.F {
		t.Error("a fault changed the state")
	}
}

func wantGP(t *testing.T, what string, f func()) {
	defer func() {
		if s, _ := recover().(*Stop); s == nil || s.Vector != VecGP {
			t.Errorf("%s: got %+v, want #GP", what, s)
		}
	}()
	f()
}
