package x86

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// bigOf is a finite x, exactly.
func bigOf(x Float80) *big.Float {
	n := unpack(x)
	r := new(big.Float).SetPrec(64)
	if n.class != fpFinite {
		return r
	}
	r.SetUint64(n.man)
	r.SetMantExp(r, int(n.exp)-63)
	if n.neg {
		r.Neg(r)
	}
	return r
}

func randomFloat80(r *rand.Rand) Float80 {
	m := r.Uint64() | 1<<63
	if r.Intn(3) == 0 {
		m = m >> 40 << 40
	}
	return Float80{m, uint16(bias80-100+r.Intn(200)) | uint16(r.Intn(2))<<15}
}

func TestArithmeticIsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	modes := [4]big.RoundingMode{x87Near: big.ToNearestEven, x87Down: big.ToNegativeInf, x87Up: big.ToPositiveInf, x87Zero: big.ToZero}
	precs := []struct {
		pc   uint16
		bits uint
	}{{0, 24}, {2, 53}, {3, 64}}
	for range 100000 {
		a, b := randomFloat80(r), randomFloat80(r)
		rc, p := uint16(r.Intn(4)), precs[r.Intn(3)]
		e := fpEnv{cw: cwInit&^0xf00 | rc<<10 | p.pc<<8}
		want := new(big.Float).SetPrec(p.bits).SetMode(modes[rc])
		var got Float80
		k := r.Intn(5)
		switch k {
		case 0:
			got = e.add(a, b)
			want.Add(bigOf(a), bigOf(b))
		case 1:
			got = e.sub(a, b)
			want.Sub(bigOf(a), bigOf(b))
		case 2:
			got = e.mul(a, b)
			want.Mul(bigOf(a), bigOf(b))
		case 3:
			got = e.div(a, b)
			want.Quo(bigOf(a), bigOf(b))
		case 4:
			a.SE &= 0x7fff
			got = e.sqrt(a)
			// big.Float has a square root to nearest only: check by bounds.
			root := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).Set(bigOf(a)))
			want.Set(root)
		}
		if bigOf(got).Cmp(want) != 0 {
			t.Fatalf("operation %d of %x, %x, rounding %d, %d bits: %x, want %v", k, a, b, rc, p.bits, got, want)
		}
		if exact := want.Acc() == big.Exact; k < 4 && exact != (e.exc&swPE == 0) {
			t.Fatalf("operation %d of %x, %x: inexact %v", k, a, b, e.exc&swPE != 0)
		}
	}
}

func TestWideOperationsAreGoodTo120Bits(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	toBig := func(w wide) *big.Float {
		i := new(big.Int).SetUint64(w.hi)
		i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(w.lo))
		f := new(big.Float).SetPrec(300).SetInt(i)
		f.SetMantExp(f, int(w.exp)-127)
		if w.neg {
			f.Neg(f)
		}
		return f
	}
	random := func() wide {
		return wide{r.Intn(2) == 0, int32(r.Intn(40) - 20), r.Uint64() | 1<<63, r.Uint64()}
	}
	for range 20000 {
		a, b := random(), random()
		x, y := toBig(a), toBig(b)
		for k, c := range []struct{ got, want *big.Float }{
			{toBig(a.mul(b)), new(big.Float).SetPrec(300).Mul(x, y)},
			{toBig(a.div(b)), new(big.Float).SetPrec(300).Quo(x, y)},
			{toBig(a.add(b)), new(big.Float).SetPrec(300).Add(x, y)},
		} {
			d := new(big.Float).Sub(c.got, c.want)
			scale := c.want
			if k == 2 && x.MantExp(nil) > c.want.MantExp(nil) {
				scale = x
			}
			if d.Sign() != 0 && d.MantExp(nil) > scale.MantExp(nil)-120 {
				t.Fatalf("operation %d of %+v, %+v: %g, want %g", k, a, b, c.got, c.want)
			}
		}
	}
}

func TestTranscendentalsAgreeWithMath(t *testing.T) {
	of := func(v float64) Float80 {
		r, _ := rawF64(math.Float64bits(v))
		return r
	}
	for _, v := range []float64{1e-6, 0.1, 0.3, 0.5, 0.7, 0.785, 0.9, 0.999} {
		for _, c := range []struct {
			name string
			got  func(e *fpEnv) Float80
			want float64
		}{
			{"f2xm1", func(e *fpEnv) Float80 { return e.f2xm1(of(v)) }, math.Expm1(v * math.Ln2)},
			{"f2xm1 of the negative", func(e *fpEnv) Float80 { return e.f2xm1(of(-v)) }, math.Expm1(-v * math.Ln2)},
			{"fyl2x", func(e *fpEnv) Float80 { return e.yl2x(of(v), of(3)) }, 3 * math.Log2(v)},
			{"fyl2xp1", func(e *fpEnv) Float80 { return e.yl2xp1(of(v/4), of(1)) }, math.Log1p(v/4) / math.Ln2},
			{"fpatan", func(e *fpEnv) Float80 { return e.patan(of(v), of(1)) }, math.Atan2(1, v)},
			{"fpatan of the negative", func(e *fpEnv) Float80 { return e.patan(of(-v), of(-2)) }, math.Atan2(-2, -v)},
			{"fsin", func(e *fpEnv) Float80 { x := unpack(of(v)); return e.sin(of(v), &x) }, math.Sin(v)},
			{"fcos", func(e *fpEnv) Float80 { x := unpack(of(v)); return e.cos(of(v), &x) }, math.Cos(v)},
			{"fptan", func(e *fpEnv) Float80 { x := unpack(of(v)); r, _ := e.tan(of(v), &x); return r }, math.Tan(v)},
		} {
			e := fpEnv{cw: cwInit}
			got, _ := bigOf(c.got(&e)).Float64()
			if math.Abs(got-c.want) > 4e-16*math.Abs(c.want) {
				t.Errorf("%s of %v: %v, want %v", c.name, v, got, c.want)
			}
		}
	}
}

func TestFPUStateSurvives(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 1000 {
		var f, g FPU
		for i := range f.R {
			f.R[i] = Float80{r.Uint64(), uint16(r.Uint32())}
		}
		f.SetControlWord(uint16(r.Uint32()))
		f.SetStatusWord(uint16(r.Uint32()))
		f.Full, f.Op, f.IP, f.DP = uint8(r.Uint32()), uint16(r.Uint32())&0x7ff, r.Uint64(), r.Uint64()
		b := make([]byte, FPUStateSize)
		f.PutState(b)
		g.SetState(b)
		if f != g {
			t.Fatalf("%+v came back as %+v", f, g)
		}
		tags := f.TagWord()
		g.SetTagWord(tags)
		if g.Full != f.Full {
			t.Fatalf("tags %04x: registers in use %02x, want %02x", tags, g.Full, f.Full)
		}
	}
}
