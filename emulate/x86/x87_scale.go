package x86

import "math/bits"

// Remainders, scaling and taking apart.

// rem is FPREM (nearest false) and FPREM1 (nearest true): a - b·q. If the
// exponents lie too far apart the reduction is partial: C2 is reported and the
// caller is to go on. cc holds C2, and else the low three bits of q in C0, C3,
// C1 (SDM volume 2, FPREM).
func (e *fpEnv) rem(a, b Float80, nearest bool) (r Float80, cc uint16) {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r, noQuotient
	}
	if x.class == fpIsInf || y.class == fpIsZero {
		return e.invalid(), noQuotient
	}
	e.denormals(&x, &y)
	if x.class == fpIsZero || y.class == fpIsInf {
		return normalBits(a, &x), 0
	}
	d := x.exp - y.exp
	if d < -1 || d < 0 && !nearest {
		return e.exact(x.neg, x.exp, x.man), 0
	}
	if d >= 64 {
		// The step that processors take: a number of bits from 32 to 63 that
		// leaves a multiple of 32 to do.
		n := d&0x1f | 0x20
		_, m := remMan(x.man, y.man, n)
		return e.exact(x.neg, y.exp+d-n, m), swC2
	}
	var q, m uint64
	if d < 0 { // half of b or more may remain: q is 0 or 1
		q, m = 0, x.man
	} else {
		q, m = remMan(x.man, y.man, d)
	}
	neg := x.neg
	exp := y.exp
	if nearest {
		// Compare the remainder with b-remainder, exactly.
		switch {
		case d < 0: // remainder is x, half as large as its significand says
			if x.man > y.man { // x > b/2
				q = 1
				// b - x = (2·y - x)/2 in units of 2^(x.exp-63)
				lo, borrow := bits.Sub64(y.man<<1, x.man, 0)
				hi := y.man>>63 - borrow
				neg, exp = !neg, x.exp
				if hi != 0 {
					return e.exact(neg, exp+1, lo>>1|hi<<63), quotientBits(q)
				}
				m = lo
			} else {
				exp = x.exp
			}
		case m > y.man-m || m == y.man-m && q&1 != 0:
			q++
			m = y.man - m
			neg = !neg
		}
	}
	if m == 0 {
		return fpZero(x.neg), quotientBits(q)
	}
	return e.exact(neg, exp, m), quotientBits(q)
}

// noQuotient, as condition codes, leaves C0 and C3 as they are.
const noQuotient = 1

func quotientBits(q uint64) (cc uint16) {
	if q&1 != 0 {
		cc |= swC1
	}
	if q&2 != 0 {
		cc |= swC3
	}
	if q&4 != 0 {
		cc |= swC0
	}
	return cc
}

// remMan divides x·2^n by y, both with bit 63 set, n below 64: the low 64 bits
// of the quotient, and the remainder.
func remMan(x, y uint64, n int32) (q, r uint64) {
	if x >= y {
		q, x = 1, x-y
	}
	if n == 0 {
		return q, x
	}
	q2, r := bits.Div64(x>>(64-n), x<<n, y)
	return q<<n + q2, r
}

// exact delivers a value that needs no rounding at full precision; it may
// underflow.
func (e *fpEnv) exact(neg bool, exp int32, m uint64) Float80 {
	if m == 0 {
		return fpZero(neg)
	}
	s := bits.LeadingZeros64(m)
	return e.roundPrec(neg, exp-int32(s), m<<s, 0, 64)
}

// normalBits returns a itself, a pseudo-denormal as the normal number it is.
func normalBits(a Float80, x *fpNum) Float80 {
	if x.denor && a.Man>>63 != 0 {
		a.SE |= 1
	}
	return a
}

// scale is FSCALE: a × 2^b, b truncated to an integer.
func (e *fpEnv) scale(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	switch y.class {
	case fpIsInf:
		if y.neg && x.class == fpIsInf || !y.neg && x.class == fpIsZero {
			return e.invalid()
		}
		e.denormals(&x, &y)
		if y.neg {
			return fpZero(x.neg)
		}
		return fpInf(x.neg)
	}
	e.denormals(&x, &y)
	if x.class != fpFinite {
		return a
	}
	n := int32(0)
	if y.class == fpFinite && y.exp >= 0 {
		if y.exp >= 17 {
			n = 1 << 17
		} else {
			n = int32(y.man >> (63 - y.exp))
		}
		if y.neg {
			n = -n
		}
	}
	if y.class == fpIsZero { // also a denormal comes back as it is
		return normalBits(a, &x)
	}
	return e.roundPrec(x.neg, x.exp+n, x.man, 0, 64)
}

// extract is FXTRACT: the exponent as a value, and the significand.
func (e *fpEnv) extract(a Float80) (exp, sig Float80) {
	x := unpack(a)
	if r, ok := e.nan1(a, &x); ok {
		return r, r
	}
	switch x.class {
	case fpIsZero:
		e.exc |= swZE
		return fpInf(true), a
	case fpIsInf:
		return fpInf(false), a
	}
	e.denormals(&x, &x)
	return fromInt(int64(x.exp)), Float80{x.man, bias80 | sign16(x.neg)}
}
