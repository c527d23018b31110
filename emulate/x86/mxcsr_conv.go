package x86

import "math/bits"

// order compares a and b. unordered is set if one is a NaN; fl has the
// denormal exception, and the invalid one for signalling NaNs, or for all NaNs
// if the comparison is a signalling one.
func (f *floatFormat) order(a, b uint64, signalling bool, mx uint32) (less, equal, unordered bool, fl uint32) {
	ua, ub := f.unpack(a, mx), f.unpack(b, mx)
	if ua.nan() || ub.nan() {
		if signalling || ua.class == fcSNaN || ub.class == fcSNaN {
			fl = mxIE
		}
		return false, false, true, fl
	}
	if ua.class == fcDenormal || ub.class == fcDenormal {
		fl = mxDE
	}
	if ua.class == fcZero {
		a = 0
	}
	if ub.class == fcZero {
		b = 0
	}
	return f.key(a) < f.key(b), a == b, false, fl
}

// key maps a number's bits to an integer in the same order.
func (f *floatFormat) key(b uint64) int64 {
	if b&f.sign() != 0 {
		return -int64(b &^ f.sign())
	}
	return int64(b)
}

// flushed is b, or a zero of its sign if b is denormal and DAZ is set.
func (f *floatFormat) flushed(b uint64, mx uint32) uint64 {
	if mx&mxDAZ != 0 && b>>f.frac&f.top == 0 {
		b &= f.sign()
	}
	return b
}

// minmax does MINPS and MAXPS: the second operand is the answer whenever the
// comparison isn't true.
func (f *floatFormat) minmax(a, b uint64, max bool, mx uint32) (uint64, uint32) {
	less, equal, unordered, fl := f.order(a, b, true, mx)
	if !unordered && !equal && less != max {
		return f.flushed(a, mx), fl
	}
	return f.flushed(b, mx), fl
}

// compare evaluates predicate p (0..7) of CMPPS.
func (f *floatFormat) compare(a, b uint64, p uint8, mx uint32) (bool, uint32) {
	signalling := p&3 == 1 || p&3 == 2 // LT, LE and their negations
	less, equal, unordered, fl := f.order(a, b, signalling, mx)
	var r bool
	switch p & 3 {
	case 0:
		r = equal
	case 1:
		r = less
	case 2:
		r = less || equal
	case 3:
		r = unordered
	}
	return r != (p&4 != 0), fl
}

// integral rounds to an integral value in the same format, as ROUNDPS does.
// Denormal operands are not reported.
func (f *floatFormat) integral(a uint64, mx uint32) (uint64, uint32) {
	u := f.unpack(a, mx)
	switch {
	case u.class == fcSNaN:
		return a | f.quiet(), mxIE
	case u.class == fcZero:
		return f.signed(u.neg, 0), 0
	case u.class >= fcInf || u.exp >= int(f.frac):
		return a, 0
	}
	rc := mx & mxRC >> mxRCShift
	v, inexact := u.integer(rc)
	var fl uint32
	if inexact {
		fl = mxPE
	}
	if v == 0 {
		return f.signed(u.neg, 0), fl
	}
	z := bits.LeadingZeros64(v)
	r, _ := f.round(u.neg, 63-z, v<<z, mx)
	return r, fl
}

// integer is the magnitude of u, whose exponent is at most 63, rounded.
func (u *unpacked) integer(rc uint32) (v uint64, inexact bool) {
	switch n := 63 - u.exp; {
	case n == 0:
		return u.sig, false
	case n < 64:
		return roundDrop(u.sig, uint(n), u.neg, rc)
	default:
		return roundDrop(shiftJam(u.sig, uint(n-62)), 62, u.neg, rc)
	}
}

// toInt converts to a signed integer of the given number of bits (32 or 64). If
// it doesn't fit the answer is the most negative one, and the exception invalid.
func (f *floatFormat) toInt(a uint64, size uint, mx uint32) (uint64, uint32) {
	u := f.unpack(a, mx)
	bad := uint64(1) << (size - 1)
	if u.class == fcZero {
		return 0, 0
	}
	if u.class >= fcInf || u.exp > 63 {
		return bad, mxIE
	}
	v, inexact := u.integer(mx & mxRC >> mxRCShift)
	if v > bad || v == bad && !u.neg {
		return bad, mxIE
	}
	var fl uint32
	if inexact {
		fl = mxPE
	}
	if u.neg {
		v = -v
	}
	return v, fl
}

// fromInt converts a signed integer.
func (f *floatFormat) fromInt(i int64, mx uint32) (uint64, uint32) {
	if i == 0 {
		return 0, 0
	}
	v := uint64(i)
	if i < 0 {
		v = -v
	}
	z := bits.LeadingZeros64(v)
	return f.round(i < 0, 63-z, v<<z, mx)
}

// convert changes the format from f to g.
func (f *floatFormat) convert(g *floatFormat, a uint64, mx uint32) (uint64, uint32) {
	u := f.unpack(a, mx)
	switch {
	case u.nan():
		// The payload keeps its most significant bits.
		m := a << (63 - f.frac) &^ (1 << 63) >> (63 - g.frac)
		r := g.signed(u.neg, g.top<<g.frac|g.quiet()|m)
		if u.class == fcSNaN {
			return r, mxIE
		}
		return r, 0
	case u.class == fcInf:
		return g.inf(u.neg), 0
	case u.class == fcZero:
		return g.signed(u.neg, 0), 0
	}
	r, fl := g.round(u.neg, u.exp, u.sig, mx)
	if u.class == fcDenormal {
		fl |= mxDE
		if mx&mxDM == 0 {
			fl &= mxPre
		}
	}
	return r, fl
}
