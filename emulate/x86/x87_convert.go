package x86

import "math/bits"

// Conversions between the register format and the formats in memory.

// rawF32 widens a single, exactly: a signalling NaN stays one. denor is set if
// it is a denormal single, which no longer shows.
func rawF32(v uint32) (r Float80, denor bool) {
	s := uint16(v>>16) & 0x8000
	return widen(s, int32(v>>23&0xff), uint64(v&(1<<23-1))<<40, 0xff, bias32)
}

// rawF64 widens a double, likewise.
func rawF64(v uint64) (r Float80, denor bool) {
	s := uint16(v>>48) & 0x8000
	return widen(s, int32(v>>52&0x7ff), v&(1<<52-1)<<11, 0x7ff, bias64)
}

// widen takes a fraction aligned below bit 63.
func widen(sign uint16, exp int32, frac uint64, special, bias int32) (r Float80, denor bool) {
	switch {
	case exp == special:
		return Float80{1<<63 | frac, sign | 0x7fff}, false
	case exp == 0 && frac == 0:
		return Float80{0, sign}, false
	case exp == 0:
		n := bits.LeadingZeros64(frac)
		return Float80{frac << n, sign | uint16(bias80-bias+1-int32(n))}, true
	}
	return Float80{1<<63 | frac, sign | uint16(exp-bias+bias80)}, false
}

// toF32 rounds to a single, as a store does: precision control has no say.
func (e *fpEnv) toF32(a Float80) uint32 {
	s, exp, m := e.narrow(a, fpFormat{24, emin32, emax32, 0})
	return uint32(s)<<16 | uint32(exp)<<23 | uint32(m<<1>>41)
}

// toF64 rounds to a double.
func (e *fpEnv) toF64(a Float80) uint64 {
	s, exp, m := e.narrow(a, fpFormat{53, emin64, emax64, 0})
	return uint64(s)<<48 | uint64(exp)<<52 | m<<1>>12
}

// narrow returns the sign (bit 15), the biased exponent and the significand
// with its integer bit at 63.
func (e *fpEnv) narrow(a Float80, fm fpFormat) (sign uint16, exp int32, m uint64) {
	x := unpack(a)
	sign = a.SE & 0x8000
	special := 2*fm.emax + 1
	if x.class >= fpQNaN {
		r, _ := e.nan1(a, &x)
		return r.SE & 0x8000, special, r.Man
	}
	switch x.class {
	case fpIsZero:
		return sign, 0, 0
	case fpIsInf:
		return sign, special, 0
	}
	m, exp, inf := e.roundTo(x.neg, x.exp, x.man, 0, fm)
	switch {
	case inf:
		return sign, special, 0
	case m>>63 == 0:
		return sign, 0, m
	}
	return sign, exp + fm.emax, m
}

// fromInt converts an integer, exactly.
func fromInt(v int64) Float80 {
	if v == 0 {
		return Float80{}
	}
	u, s := uint64(v), uint16(0)
	if v < 0 {
		u, s = -u, 0x8000
	}
	n := bits.LeadingZeros64(u)
	return Float80{u << n, s | uint16(bias80+63-n)}
}

// integral rounds the magnitude of a finite value to an integer by rc, and
// reports PE and C1. ok is false if it has more than 64 bits.
func (e *fpEnv) integral(x *fpNum, rc uint16) (v uint64, ok bool) {
	if x.class == fpIsZero {
		return 0, true
	}
	if x.exp > 63 {
		return 0, false
	}
	t := fpEnv{cw: rc << 10}
	hi, lo := shiftRightSticky(x.man, 0, uint(63-x.exp))
	v, carry, inexact, up := t.roundBits(x.neg, hi, lo, 64)
	if carry {
		return 0, false
	}
	if inexact {
		e.exc |= swPE
		if up {
			e.exc |= swC1
		}
	}
	return v, true
}

// toInt converts to a signed integer of size bytes (2, 4, 8). What doesn't fit
// raises IE alone and gives the integer indefinite.
func (e *fpEnv) toInt(a Float80, size int, truncate bool) int64 {
	x := unpack(a)
	rc := e.rc()
	if truncate {
		rc = x87Zero
	}
	indefinite := int64(-1) << (8*size - 1)
	limit := uint64(1) << (8*size - 1)
	if x.class <= fpIsZero {
		t := fpEnv{cw: e.cw}
		v, ok := t.integral(&x, rc)
		if ok && (v < limit || v == limit && x.neg) {
			e.exc |= t.exc
			if x.neg {
				return -int64(v)
			}
			return int64(v)
		}
	}
	e.exc |= swIE
	return indefinite
}

// toBCD converts to eighteen packed decimal digits and a sign: the low eight
// bytes and the upper two.
func (e *fpEnv) toBCD(a Float80) (lo uint64, hi uint16) {
	x := unpack(a)
	if x.class <= fpIsZero {
		t := fpEnv{cw: e.cw}
		v, ok := t.integral(&x, e.rc())
		if ok && v < 1e18 {
			e.exc |= t.exc
			for i := 0; i < 16; i++ {
				lo |= v % 10 << (4 * i)
				v /= 10
			}
			return lo, uint16(v%10|v/10<<4) | sign16(x.neg)
		}
	}
	e.exc |= swIE
	return 0xc000000000000000, 0xffff
}

// fromBCD converts eighteen packed decimal digits. Digits above 9 give what
// the arithmetic gives.
func fromBCD(lo uint64, hi uint16) Float80 {
	var v uint64
	for i := 1; i >= 0; i-- {
		v = v*10 + uint64(hi>>(4*i)&15)
	}
	for i := 15; i >= 0; i-- {
		v = v*10 + lo>>(4*i)&15
	}
	r := fromInt(int64(v))
	r.SE |= hi & 0x8000
	return r
}

// roundInt is FRNDINT.
func (e *fpEnv) roundInt(a Float80) Float80 {
	x := unpack(a)
	if x.class >= fpQNaN {
		r, _ := e.nan1(a, &x)
		return r
	}
	e.denormals(&x, &x)
	if x.class != fpFinite || x.exp >= 63 {
		return a
	}
	v, _ := e.integral(&x, e.rc())
	r := fromInt(int64(v)) // below 2^63, or 2^63 itself, rounded up
	if v>>63 != 0 {
		r = Float80{v, bias80 + 63}
	}
	r.SE |= sign16(x.neg)
	return r
}
