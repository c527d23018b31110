package x86

import (
	"math"
	"math/rand/v2"
	"testing"
)

// edgy64 and edgy32 make numbers of all classes and close exponents.
func edgy64(rng *rand.Rand) uint64 {
	switch rng.IntN(4) {
	case 0:
		return rng.Uint64()
	case 1:
		return rng.Uint64()&0x8000000000000001 | uint64(rng.IntN(3))<<62&^(1<<63) | uint64(rng.IntN(0x800))<<52
	case 2:
		return math.Float64bits(float64(rng.IntN(2000)-1000) / 8)
	}
	return 0x3ff0000000000000 + rng.Uint64()&0x1fffffffffffff | rng.Uint64()&(1<<63)
}

func edgy32(rng *rand.Rand) uint32 {
	switch rng.IntN(4) {
	case 0:
		return rng.Uint32()
	case 1:
		return rng.Uint32()&0x80000001 | uint32(rng.IntN(0x100))<<23
	case 2:
		return math.Float32bits(float32(rng.IntN(2000)-1000) / 8)
	}
	return 0x3f800000 + rng.Uint32()&0xffffff | rng.Uint32()&(1<<31)
}

// The host's floating point is used where it gives what the integer arithmetic
// gives, results and exceptions alike. The latter is compared with the real
// processor in exec_sse_test.go, where there is one.
func TestHostArithmeticAgreesWithIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	ops64 := map[string]struct {
		host fp64
		soft softOp
	}{"add": {add64, softAdd}, "sub": {sub64, softSub}, "mul": {mul64, softMul}, "div": {div64, softDiv}}
	ops32 := map[string]struct {
		host fp32
		soft softOp
	}{"add": {add32, softAdd}, "sub": {sub32, softSub}, "mul": {mul32, softMul}, "div": {div32, softDiv}}
	for range 100000 {
		mx := uint32(mxMasks) | rng.Uint32()&(mxExc|mxDAZ|mxFTZ)
		a, b := edgy64(rng), edgy64(rng)
		// The fast path leaves out a precision flag that stands already.
		for name, op := range ops64 {
			r, fl := op.host(a, b, mx)
			wantR, wantFl := binary64.binary(op.soft, a, b, mx)
			if r != wantR || fl|mx&mxPE != wantFl|mx&mxPE {
				t.Fatalf("%s %#x, %#x with MXCSR %#x: %#x, flags %#x; want %#x, %#x", name, a, b, mx, r, fl, wantR, wantFl)
			}
		}
		r, fl := root64(0, a, mx)
		if wantR, wantFl := binary64.sqrt(a, mx); r != wantR || fl|mx&mxPE != wantFl|mx&mxPE {
			t.Fatalf("square root of %#x with MXCSR %#x: %#x, flags %#x; want %#x, %#x", a, mx, r, fl, wantR, wantFl)
		}
		x, y := edgy32(rng), edgy32(rng)
		for name, op := range ops32 {
			r, fl := op.host(x, y, mx)
			wantR, wantFl := soft32(op.soft, x, y, mx)
			if r != wantR || fl|mx&mxPE != wantFl|mx&mxPE {
				t.Fatalf("%s %#x, %#x with MXCSR %#x: %#x, flags %#x; want %#x, %#x", name, x, y, mx, r, fl, wantR, wantFl)
			}
		}
		q, fl := root32(0, x, mx)
		if wantR, wantFl := binary32.sqrt(uint64(x), mx); uint64(q) != wantR || fl|mx&mxPE != wantFl|mx&mxPE {
			t.Fatalf("square root of %#x with MXCSR %#x: %#x, flags %#x; want %#x, %#x", x, mx, q, fl, wantR, wantFl)
		}
		n, fl := narrow64(a, mx)
		if wantR, wantFl := binary64.convert(&binary32, a, mx); uint64(n) != wantR || fl != wantFl {
			t.Fatalf("%#x to binary32 with MXCSR %#x: %#x, flags %#x; want %#x, %#x", a, mx, n, fl, wantR, wantFl)
		}
		for _, size := range []uint{32, 64} {
			rc := mx | rng.Uint32()&mxRC
			i, fl := toInt64(a, size, rc)
			if wantI, wantFl := binary64.toInt(a, size, rc); (i^wantI)<<(64-size) != 0 || fl != wantFl {
				t.Fatalf("%#x to %d bits with MXCSR %#x: %#x, flags %#x; want %#x, %#x", a, size, rc, i, fl, wantI, wantFl)
			}
		}
	}
}

// An unmasked exception ends the instruction before it changes anything but
// the flags in MXCSR.
func TestUnmaskedExceptionRaisesXM(t *testing.T) {
	c := &CPU{MXCSR: MXCSRInit &^ mxZM}
	c.X[1] = [2]uint64{math.Float64bits(1), 5}
	op := Op{dst: 1, src: 2, fn: execDivsd}
	defer func() {
		s, ok := recover().(*Stop)
		if !ok || s.Kind != StopFault || s.Vector != VecXM {
			t.Fatalf("1/0 gave %+v, want #XM", s)
		}
		if c.MXCSR != MXCSRInit&^mxZM|mxZE || c.X[1] != [2]uint64{math.Float64bits(1), 5} {
			t.Errorf("MXCSR %#x, destination %#x", c.MXCSR, c.X[1])
		}
	}()
	op.fn(c, &op)
}

// BenchmarkSSE measures handlers without the run loop.
func BenchmarkSSE(b *testing.B) {
	c := &CPU{MXCSR: MXCSRInit | mxPE}
	for i := range c.X {
		c.X[i] = [2]uint64{math.Float64bits(1.5 + float64(i)), math.Float64bits(2.5)}
	}
	for _, x := range []struct {
		name string
		fn   handler
	}{
		{"pxor", execPxor}, {"pcmpeqb", execPcmpeqb}, {"pmovmskb", execPmovmskb}, {"pshufd", execPshufd}, {"pshufb", execPshufb},
		{"psrldq", execPsrldq}, {"pslld", packedShiftImm(slld)}, {"pminsw", packed(minsw)}, {"psadbw", execPsadbw},
		{"movaps", execMovaLoad}, {"addsd", execAddsd}, {"mulsd", execMulsd}, {"divsd", execDivsd}, {"addps", execAddps},
		{"sqrtsd", scalarSD(root64)}, {"ucomisd", execUcomisd}, {"cvtsi2sd", execCvtsi2sd}, {"cvttsd2si", execCvttsd2si}, {"pcmpistri", execPcmpistri},
	} {
		b.Run(x.name, func(b *testing.B) {
			op := Op{dst: 3, src: 4, size: 8, imm: 0x0a, fn: x.fn}
			save := c.X
			for range b.N {
				op.fn(c, &op)
				c.X[3][0] = save[3][0]
			}
			c.X = save
		})
	}
	b.Run("addsd exact", func(b *testing.B) {
		c.MXCSR = MXCSRInit
		op := Op{dst: 3, src: 4, fn: execAddsd}
		for range b.N {
			op.fn(c, &op)
		}
	})
	b.Run("mulsd by integers", func(b *testing.B) {
		c.MXCSR = MXCSRInit | 1<<mxRCShift
		op := Op{dst: 3, src: 4, fn: execMulsd}
		for range b.N {
			op.fn(c, &op)
			c.X[3][0] = 0x3ff8000000000000
		}
	})
}
