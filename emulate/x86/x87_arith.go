package x86

import "math/bits"

// The four operations and the square root: exact, then rounded once.

func (e *fpEnv) add(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	return e.addNum(a, b, &x, &y)
}

func (e *fpEnv) sub(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if y.class < fpQNaN { // a NaN keeps its sign
		y.neg = !y.neg
		b.SE ^= 0x8000
	}
	return e.addNum(a, b, &x, &y)
}

func (e *fpEnv) addNum(a, b Float80, x, y *fpNum) Float80 {
	if r, ok := e.nan(a, b, x, y); ok {
		return r
	}
	if x.class == fpIsInf && y.class == fpIsInf && x.neg != y.neg {
		return e.invalid()
	}
	e.denormals(x, y)
	switch {
	case x.class == fpIsInf:
		return a
	case y.class == fpIsInf:
		return b
	case x.class == fpIsZero && y.class == fpIsZero:
		if x.neg == y.neg {
			return a
		}
		return fpZero(e.rc() == x87Down)
	case x.class == fpIsZero:
		return e.round(y.neg, y.exp, y.man, 0)
	case y.class == fpIsZero:
		return e.round(x.neg, x.exp, x.man, 0)
	}
	if x.exp < y.exp {
		x, y = y, x
	}
	yh, yl := shiftRightSticky(y.man, 0, uint(x.exp-y.exp))
	if x.neg == y.neg {
		hi, c := bits.Add64(x.man, yh, 0)
		exp := x.exp
		if c != 0 {
			hi, yl = shiftRightSticky(hi, yl, 1)
			hi |= 1 << 63
			exp++
		}
		return e.round(x.neg, exp, hi, yl)
	}
	lo, borrow := bits.Sub64(0, yl, 0)
	hi, borrow := bits.Sub64(x.man, yh, borrow)
	neg := x.neg
	if borrow != 0 { // same exponent, y larger: lo is 0
		hi, neg = -hi, !neg
	}
	if hi|lo == 0 {
		return fpZero(e.rc() == x87Down)
	}
	return e.normRound(neg, x.exp, hi, lo)
}

func (e *fpEnv) mul(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	neg := x.neg != y.neg
	if x.class == fpIsInf && y.class == fpIsZero || x.class == fpIsZero && y.class == fpIsInf {
		return e.invalid()
	}
	e.denormals(&x, &y)
	switch {
	case x.class == fpIsInf || y.class == fpIsInf:
		return fpInf(neg)
	case x.class == fpIsZero || y.class == fpIsZero:
		return fpZero(neg)
	}
	hi, lo := bits.Mul64(x.man, y.man)
	exp := x.exp + y.exp + 1
	if hi>>63 == 0 {
		hi, lo, exp = hi<<1|lo>>63, lo<<1, exp-1
	}
	return e.round(neg, exp, hi, lo)
}

// div returns a/b.
func (e *fpEnv) div(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	neg := x.neg != y.neg
	if x.class == fpIsInf && y.class == fpIsInf || x.class == fpIsZero && y.class == fpIsZero {
		return e.invalid()
	}
	e.denormals(&x, &y)
	switch {
	case x.class == fpIsInf:
		return fpInf(neg)
	case y.class == fpIsInf || x.class == fpIsZero:
		return fpZero(neg)
	case y.class == fpIsZero:
		e.exc |= swZE
		return fpInf(neg)
	}
	exp := x.exp - y.exp
	var hi, r uint64
	if x.man >= y.man {
		hi, r = bits.Div64(x.man>>1, x.man<<63, y.man)
	} else {
		hi, r = bits.Div64(x.man, 0, y.man)
		exp--
	}
	lo, r := bits.Div64(r, 0, y.man)
	if r != 0 {
		lo |= 1
	}
	return e.round(neg, exp, hi, lo)
}

func (e *fpEnv) sqrt(a Float80) Float80 {
	x := unpack(a)
	if r, ok := e.nan1(a, &x); ok {
		return r
	}
	if x.class == fpIsZero {
		return a
	}
	if x.neg {
		return e.invalid()
	}
	e.denormals(&x, &x)
	if x.class == fpIsInf {
		return a
	}
	// The radicand is a 128-bit integer with its top bit in 127 or 126, so its
	// integer root has 64 bits.
	hi, lo := x.man, uint64(0)
	exp := x.exp
	if exp&1 == 0 {
		hi, lo = hi>>1, hi<<63
	}
	root, rem := sqrt128(hi, lo)
	switch { // the exact root never lies halfway between two 64-bit ones
	case rem.hi == 0 && rem.lo == 0:
		lo = 0
	case rem.hi != 0 || rem.lo > root:
		lo = 0xc << 60
	default:
		lo = 0x4 << 60
	}
	return e.round(false, exp>>1, root, lo)
}

type uint128 struct{ hi, lo uint64 }

// sqrt128 returns the integer square root of hi:lo, at least 2^126, and what
// remains.
func sqrt128(hi, lo uint64) (root uint64, rem uint128) {
	// The root's upper half by the schoolbook method on hi, then the lower by
	// one division (Zimmermann, "Karatsuba Square Root", 1999).
	s, r := sqrt64(hi) // s has 32 bits, r ≤ 2s
	// q, u = (r<<32 | lo>>32) / 2s
	q, u := bits.Div64(r>>32, r<<32|lo>>32, 2*s)
	root = s<<32 + q
	rh, rl := u>>32, u<<32|lo&0xffffffff
	if q>>32 != 0 { // q may reach 2^32: then root overflows into 2^64 or s
		q = 1<<32 - 1
		root = s<<32 + q
		// recompute the remainder directly
		ph, pl := bits.Mul64(root, root)
		var b uint64
		rl, b = bits.Sub64(lo, pl, 0)
		rh, _ = bits.Sub64(hi, ph, b)
		return root, uint128{rh, rl}
	}
	qh, ql := bits.Mul64(q, q)
	var b uint64
	rl, b = bits.Sub64(rl, ql, 0)
	rh, b = bits.Sub64(rh, qh, b)
	if b != 0 { // one too large: add 2·root-1
		var c uint64
		rl, c = bits.Add64(rl, root<<1-1, 0)
		rh, _ = bits.Add64(rh, root>>63, c)
		root--
	}
	return root, uint128{rh, rl}
}

// sqrt64 returns the integer square root of v and what remains.
func sqrt64(v uint64) (root, rem uint64) {
	for s := 62; s >= 0; s -= 2 {
		rem = rem<<2 | v>>s&3
		if t := root<<2 | 1; rem >= t {
			rem -= t
			root = root<<1 | 1
		} else {
			root <<= 1
		}
	}
	return root, rem
}

// A ordering is the result of a comparison.
type ordering uint8

const (
	fpLess ordering = iota
	fpEqual
	fpGreater
	fpUnordered
)

// compare compares a with b. A quiet NaN raises IE unless quiet is set.
func (e *fpEnv) compare(a, b Float80, quiet bool) ordering {
	x, y := unpack(a), unpack(b)
	if x.class >= fpQNaN || y.class >= fpQNaN {
		if !quiet || x.class > fpQNaN || y.class > fpQNaN {
			e.exc |= swIE
		}
		return fpUnordered
	}
	e.denormals(&x, &y)
	if x.class == fpIsZero && y.class == fpIsZero {
		return fpEqual
	}
	less := false
	switch {
	case x.class == fpIsZero:
		less = !y.neg
	case y.class == fpIsZero:
		less = x.neg
	case x.neg != y.neg:
		less = x.neg
	case x.class == y.class && x.exp == y.exp && x.man == y.man:
		return fpEqual
	default:
		small := x.class != fpIsInf && (y.class == fpIsInf || x.exp < y.exp || x.exp == y.exp && x.man < y.man)
		less = small != x.neg
	}
	if less {
		return fpLess
	}
	return fpGreater
}
