package x86

import (
	"math"
	"math/bits"
)

// Fused multiply-add: a*b+c with one rounding (SDM volume 1, 14.5). neg says which
// of product and addend is negated first; NaNs keep their signs.

const (
	fmaNegProduct = 1 << iota
	fmaNegAddend
)

func fma64(a, b, c uint64, neg uint8, mx uint32) (uint64, uint32) {
	if mx&mxFastBits == mxFastWant && plain64(a) && plain64(b) && plain64(c) {
		x := math.Float64frombits(a ^ uint64(neg&fmaNegProduct)<<63)
		z := math.Float64frombits(c ^ uint64(neg>>1)<<63)
		if r := math.Float64bits(math.FMA(x, math.Float64frombits(b), z)); solid64(r) {
			return r, 0
		}
	}
	return binary64.fma(a, b, c, neg, mx)
}

func fma32(a, b, c uint32, neg uint8, mx uint32) (uint32, uint32) {
	if mx&mxHostBits == mxHostWant && plain32(a) && plain32(b) && plain32(c) {
		x := float64(math.Float32frombits(a ^ uint32(neg&fmaNegProduct)<<31))
		z := float64(math.Float32frombits(c ^ uint32(neg>>1)<<31))
		// The product is exact. The sum is rounded to odd, so that rounding it
		// once more to 24 bits gives what one rounding would.
		p := float64(x * float64(math.Float32frombits(b)))
		s := p + z
		t := s - p
		e := (p - (s - t)) + (z - t)
		v := s
		if e != 0 && s != 0 {
			if u := math.Float64bits(s); u&1 == 0 {
				if (e > 0) == (s > 0) {
					u++
				} else {
					u--
				}
				v = math.Float64frombits(u)
			}
		}
		f := float32(v)
		if r := math.Float32bits(f); solid32(r) {
			return r, hostResult(mx&mxPE != 0 || e == 0 && float64(f) == s)
		}
	}
	r, fl := binary32.fma(uint64(a), uint64(b), uint64(c), neg, mx)
	return uint32(r), fl
}

// fma does it by integers.
func (f *floatFormat) fma(a, b, c uint64, neg uint8, mx uint32) (uint64, uint32) {
	ua, ub, uc := f.unpack(a, mx), f.unpack(b, mx), f.unpack(c, mx)
	if ua.nan() || ub.nan() || uc.nan() {
		var fl uint32
		if ua.class == fcSNaN || ub.class == fcSNaN || uc.class == fcSNaN {
			fl = mxIE
		}
		switch {
		case ua.nan():
			return a | f.quiet(), fl
		case ub.nan():
			return b | f.quiet(), fl
		}
		return c | f.quiet(), fl
	}
	ua.neg = (ua.neg != ub.neg) != (neg&fmaNegProduct != 0)
	ub.neg = false
	uc.neg = uc.neg != (neg&fmaNegAddend != 0)
	r, fl := f.fmaNumbers(&ua, &ub, &uc, mx)
	if fl&mxIE == 0 && (ua.class == fcDenormal || ub.class == fcDenormal || uc.class == fcDenormal) {
		fl |= mxDE
		if mx&mxDM == 0 {
			fl &= mxPre
		}
	}
	return r, fl
}

func (f *floatFormat) fmaNumbers(a, b, c *unpacked, mx uint32) (uint64, uint32) {
	inf := a.class == fcInf || b.class == fcInf
	zero := a.class == fcZero || b.class == fcZero
	down := mx&mxRC>>mxRCShift == rcDown
	switch {
	case inf && zero, inf && c.class == fcInf && a.neg != c.neg:
		return f.indefinite(), mxIE
	case inf:
		return f.inf(a.neg), 0
	case c.class == fcInf:
		return f.inf(c.neg), 0
	case zero && c.class == fcZero:
		if a.neg == c.neg {
			return f.signed(a.neg, 0), 0
		}
		return f.signed(down, 0), 0
	case zero:
		return f.round(c.neg, c.exp, c.sig, mx)
	}
	// The product is hi:lo * 2^(exp-127), bit 127 or 126 set.
	hi, lo := bits.Mul64(a.sig, b.sig)
	exp := a.exp + b.exp + 1
	if hi>>63 == 0 {
		hi, lo, exp = hi<<1|lo>>63, lo<<1, exp-1
	}
	if c.class == fcZero {
		if lo != 0 {
			hi |= 1
		}
		return f.round(a.neg, exp, hi, mx)
	}
	// One bit of room on top; of 128 bits at least 20 are zeros at the bottom.
	p := [2]uint64{hi >> 1, lo>>1 | hi<<63}
	q := [2]uint64{c.sig >> 1, c.sig << 63}
	sign, other, e := a.neg, c.neg, exp
	if c.exp > exp || c.exp == exp && (q[0] > p[0] || q[0] == p[0] && q[1] > p[1]) {
		p, q = q, p
		sign, other = other, sign
		exp, e = c.exp, exp
	} else {
		e = c.exp
	}
	q = shiftJam128(q, uint(exp-e))
	var carry uint64
	if sign == other {
		p[1], carry = bits.Add64(p[1], q[1], 0)
		p[0], _ = bits.Add64(p[0], q[0], carry)
	} else {
		p[1], carry = bits.Sub64(p[1], q[1], 0)
		p[0], _ = bits.Sub64(p[0], q[0], carry)
		if p[0]|p[1] == 0 {
			return f.signed(down, 0), 0
		}
	}
	exp++
	if p[0] == 0 {
		p[0], p[1], exp = p[1], 0, exp-64
	}
	z := uint(bits.LeadingZeros64(p[0]))
	p[0], p[1], exp = p[0]<<z|p[1]>>(64-z), p[1]<<z, exp-int(z)
	if p[1] != 0 {
		p[0] |= 1
	}
	return f.round(sign, exp, p[0], mx)
}

// shiftJam128 is shiftJam for two words, the upper one first.
func shiftJam128(v [2]uint64, n uint) [2]uint64 {
	switch {
	case n == 0:
		return v
	case n < 64:
		lo := v[1]>>n | v[0]<<(64-n)
		if v[1]<<(64-n) != 0 {
			lo |= 1
		}
		return [2]uint64{v[0] >> n, lo}
	}
	lo := shiftJam(v[0], n-64)
	if v[1] != 0 {
		lo |= 1
	}
	return [2]uint64{0, lo}
}
