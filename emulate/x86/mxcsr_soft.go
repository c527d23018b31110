package x86

import "math/bits"

// This file is IEEE 754 arithmetic by integers, for the cases that the host's
// floating point can't do: other rounding modes, denormals, flags. Every
// function takes MXCSR and returns the result's bits and the exceptions met.
// Rules: SDM volume 1, sections 4.8, 4.9 and 11.5, appendix E.

// A floatFormat is an interchange format; values are held in the low bits of a
// uint64.
type floatFormat struct {
	frac uint // bits of the fraction
	bias int
	top  uint64 // largest biased exponent: infinities and NaNs
}

var (
	binary32 = floatFormat{23, 127, 0xff}
	binary64 = floatFormat{52, 1023, 0x7ff}
)

type floatClass uint8

const (
	fcZero floatClass = iota
	fcDenormal
	fcNormal
	fcInf
	fcQNaN
	fcSNaN
)

// An unpacked is a number sig * 2^(exp-63), with bit 63 of sig set if the number
// is finite and not zero.
type unpacked struct {
	sig   uint64
	exp   int
	neg   bool
	class floatClass
}

func (u *unpacked) nan() bool { return u.class >= fcQNaN }

// sign returns the format's sign bit.
func (f *floatFormat) sign() uint64 { return (f.top + 1) << f.frac }

func (f *floatFormat) quiet() uint64 { return 1 << (f.frac - 1) }

// indefinite is the NaN that masked invalid operations give.
func (f *floatFormat) indefinite() uint64 { return f.sign() | f.top<<f.frac | f.quiet() }

// inf returns an infinity.
func (f *floatFormat) inf(neg bool) uint64 { return f.signed(neg, f.top<<f.frac) }

func (f *floatFormat) signed(neg bool, b uint64) uint64 {
	if neg {
		b |= f.sign()
	}
	return b
}

// unpack takes b apart. Denormals count as zeros if MXCSR has DAZ.
func (f *floatFormat) unpack(b uint64, mx uint32) unpacked {
	u := unpacked{neg: b&f.sign() != 0}
	e := b >> f.frac & f.top
	m := b & (1<<f.frac - 1)
	switch {
	case e == f.top && m == 0:
		u.class = fcInf
	case e == f.top && m&f.quiet() != 0:
		u.class = fcQNaN
	case e == f.top:
		u.class = fcSNaN
	case e != 0:
		u.class = fcNormal
		u.exp = int(e) - f.bias
		u.sig = 1<<63 | m<<(63-f.frac)
	case m == 0 || mx&mxDAZ != 0:
		u.class = fcZero
	default:
		u.class = fcDenormal
		z := bits.LeadingZeros64(m)
		u.sig = m << z
		u.exp = 1 - f.bias + 63 - z - int(f.frac)
	}
	return u
}

// shiftJam shifts right and keeps lost ones visible in bit 0.
func shiftJam(v uint64, n uint) uint64 {
	switch {
	case n == 0:
		return v
	case n > 63:
		if v != 0 {
			return 1
		}
		return 0
	}
	r := v >> n
	if v<<(64-n) != 0 {
		r |= 1
	}
	return r
}

// roundDrop removes the low n bits (1..63) of v, rounding as rc says.
func roundDrop(v uint64, n uint, neg bool, rc uint32) (q uint64, inexact bool) {
	q = v >> n
	rest := v & (1<<n - 1)
	if rest == 0 {
		return q, false
	}
	half := uint64(1) << (n - 1)
	switch rc {
	case rcNearest:
		if rest > half || rest == half && q&1 != 0 {
			q++
		}
	case rcDown:
		if neg {
			q++
		}
	case rcUp:
		if !neg {
			q++
		}
	}
	return q, true
}

// round packs the number sig * 2^(exp-63) (bit 63 of sig set, bit 0 standing for
// everything below too), with overflow and underflow.
func (f *floatFormat) round(neg bool, exp int, sig uint64, mx uint32) (uint64, uint32) {
	rc := mx & mxRC >> mxRCShift
	drop := 63 - f.frac
	q, inexact := roundDrop(sig, drop, neg, rc)
	e := exp
	if q>>(f.frac+1) != 0 {
		q >>= 1
		e++
	}
	var fl uint32
	if inexact {
		fl = mxPE
	}
	switch {
	case e > f.bias:
		if mx&mxOM == 0 {
			return 0, fl | mxOE
		}
		if rc == rcZero || rc == rcDown && !neg || rc == rcUp && neg {
			return f.signed(neg, f.top<<f.frac-1), mxOE | mxPE
		}
		return f.inf(neg), mxOE | mxPE
	case e >= 1-f.bias:
		return f.signed(neg, uint64(e+f.bias)<<f.frac|q&(1<<f.frac-1)), fl
	case mx&mxUM == 0:
		return 0, fl | mxUE
	case mx&mxFTZ != 0:
		return f.signed(neg, 0), mxUE | mxPE
	}
	q, inexact = roundDrop(shiftJam(sig, uint(1-f.bias-exp)), drop, neg, rc)
	if inexact {
		return f.signed(neg, q), mxUE | mxPE
	}
	return f.signed(neg, q), 0
}

// A softOp is an operation on numbers that are not NaNs.
type softOp func(f *floatFormat, a, b *unpacked, mx uint32) (uint64, uint32)

// nanOf picks the NaN that an operation with a NaN operand gives: the first
// operand if it is one, else the second, made quiet.
func (f *floatFormat) nanOf(a, b uint64, ua, ub *unpacked) (uint64, uint32) {
	var fl uint32
	if ua.class == fcSNaN || ub.class == fcSNaN {
		fl = mxIE
	}
	if ua.nan() {
		return a | f.quiet(), fl
	}
	return b | f.quiet(), fl
}

// binary does op on a and b.
func (f *floatFormat) binary(op softOp, a, b uint64, mx uint32) (uint64, uint32) {
	ua, ub := f.unpack(a, mx), f.unpack(b, mx)
	if ua.nan() || ub.nan() {
		return f.nanOf(a, b, &ua, &ub)
	}
	r, fl := op(f, &ua, &ub, mx)
	if fl&(mxIE|mxZE) == 0 && (ua.class == fcDenormal || ub.class == fcDenormal) {
		fl |= mxDE
		if mx&mxDM == 0 {
			fl &= mxPre
		}
	}
	return r, fl
}

func softSub(f *floatFormat, a, b *unpacked, mx uint32) (uint64, uint32) {
	n := *b
	n.neg = !n.neg
	return softAdd(f, a, &n, mx)
}

func softAdd(f *floatFormat, a, b *unpacked, mx uint32) (uint64, uint32) {
	switch {
	case a.class == fcInf && b.class == fcInf && a.neg != b.neg:
		return f.indefinite(), mxIE
	case a.class == fcInf:
		return f.inf(a.neg), 0
	case b.class == fcInf:
		return f.inf(b.neg), 0
	case a.class == fcZero && b.class == fcZero:
		if a.neg == b.neg {
			return f.signed(a.neg, 0), 0
		}
		return f.signed(mx&mxRC>>mxRCShift == rcDown, 0), 0
	case a.class == fcZero:
		return f.round(b.neg, b.exp, b.sig, mx)
	case b.class == fcZero:
		return f.round(a.neg, a.exp, a.sig, mx)
	}
	if a.exp < b.exp || a.exp == b.exp && a.sig < b.sig {
		a, b = b, a
	}
	// The low bits of sig are free: a shift by one loses nothing.
	x, y := a.sig>>1, shiftJam(b.sig>>1, uint(a.exp-b.exp))
	if a.neg == b.neg {
		x += y
	} else {
		x -= y
		if x == 0 {
			return f.signed(mx&mxRC>>mxRCShift == rcDown, 0), 0
		}
	}
	z := bits.LeadingZeros64(x)
	return f.round(a.neg, a.exp+1-z, x<<z, mx)
}

func softMul(f *floatFormat, a, b *unpacked, mx uint32) (uint64, uint32) {
	neg := a.neg != b.neg
	switch {
	case a.class == fcInf && b.class == fcZero || a.class == fcZero && b.class == fcInf:
		return f.indefinite(), mxIE
	case a.class == fcInf || b.class == fcInf:
		return f.inf(neg), 0
	case a.class == fcZero || b.class == fcZero:
		return f.signed(neg, 0), 0
	}
	hi, lo := bits.Mul64(a.sig, b.sig)
	exp := a.exp + b.exp + 1
	if hi>>63 == 0 {
		hi, lo = hi<<1|lo>>63, lo<<1
		exp--
	}
	if lo != 0 {
		hi |= 1
	}
	return f.round(neg, exp, hi, mx)
}

func softDiv(f *floatFormat, a, b *unpacked, mx uint32) (uint64, uint32) {
	neg := a.neg != b.neg
	switch {
	case a.class == b.class && (a.class == fcInf || a.class == fcZero):
		return f.indefinite(), mxIE
	case a.class == fcInf:
		return f.inf(neg), 0
	case a.class == fcZero || b.class == fcInf:
		return f.signed(neg, 0), 0
	case b.class == fcZero:
		return f.inf(neg), mxZE
	}
	hi, lo, exp := a.sig, uint64(0), a.exp-b.exp-1
	if hi >= b.sig {
		hi, lo, exp = hi>>1, hi<<63, exp+1
	}
	q, rem := bits.Div64(hi, lo, b.sig)
	if rem != 0 {
		q |= 1
	}
	return f.round(neg, exp, q, mx)
}

// sqrt is the square root of a.
func (f *floatFormat) sqrt(a uint64, mx uint32) (uint64, uint32) {
	u := f.unpack(a, mx)
	switch {
	case u.class == fcSNaN:
		return a | f.quiet(), mxIE
	case u.class == fcQNaN:
		return a, 0
	case u.class == fcZero:
		return f.signed(u.neg, 0), 0
	case u.neg:
		return f.indefinite(), mxIE
	case u.class == fcInf:
		return a, 0
	}
	hi, lo := u.sig>>1, u.sig<<63
	if u.exp&1 != 0 {
		hi, lo = u.sig, 0
	}
	q := uint64(1) << 63
	for bit := q >> 1; bit != 0; bit >>= 1 {
		t := q | bit
		if h, l := bits.Mul64(t, t); h < hi || h == hi && l <= lo {
			q = t
		}
	}
	if h, l := bits.Mul64(q, q); h != hi || l != lo {
		q |= 1
	}
	r, fl := f.round(false, u.exp>>1, q, mx)
	if u.class == fcDenormal {
		fl |= mxDE
		if mx&mxDM == 0 {
			fl &= mxPre
		}
	}
	return r, fl
}
