package x86

import "math/bits"

// A wide is a number with 128 significant bits, (hi:lo) × 2^(exp-127): what
// the transcendental functions compute with before they round once. Bit 127 is
// set unless the number is zero. Results of add, mul and div are truncated.
type wide struct {
	neg    bool
	exp    int32
	hi, lo uint64
}

func (n *fpNum) wide() wide { return wide{n.neg, n.exp, n.man, 0} }

func wideInt(v int64) wide {
	if v == 0 {
		return wide{}
	}
	n := unpack(fromInt(v))
	return n.wide()
}

func (a wide) zero() bool { return a.hi == 0 }

func (a wide) norm() wide {
	if a.hi == 0 {
		if a.lo == 0 {
			return wide{}
		}
		a.hi, a.lo, a.exp = a.lo, 0, a.exp-64
	}
	if s := bits.LeadingZeros64(a.hi); s > 0 {
		a.hi, a.lo, a.exp = a.hi<<s|a.lo>>(64-s), a.lo<<s, a.exp-int32(s)
	}
	return a
}

func (a wide) minus() wide {
	a.neg = !a.neg
	return a
}

func (a wide) mul(b wide) wide {
	if a.zero() || b.zero() {
		return wide{}
	}
	r := wide{neg: a.neg != b.neg, exp: a.exp + b.exp + 1}
	r.hi, r.lo = mulHigh(a.hi, a.lo, b.hi, b.lo)
	return r.norm()
}

// mulHigh returns the upper half of a 128 by 128 bit product.
func mulHigh(ah, al, bh, bl uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(ah, bh)
	m1, _ := bits.Mul64(ah, bl)
	_, m1l := bits.Mul64(ah, bl)
	m2, m2l := bits.Mul64(al, bh)
	m3, _ := bits.Mul64(al, bl)
	s, c1 := bits.Add64(m1l, m2l, 0)
	_, c2 := bits.Add64(s, m3, 0)
	lo, c := bits.Add64(lo, m1, c1)
	hi += c
	lo, c = bits.Add64(lo, m2, c2)
	return hi + c, lo
}

func (a wide) add(b wide) wide {
	switch {
	case a.zero():
		return b
	case b.zero():
		return a
	}
	if a.exp < b.exp {
		a, b = b, a
	}
	bh, bl := shiftRightSticky(b.hi, b.lo, uint(a.exp-b.exp))
	if a.neg == b.neg {
		lo, c := bits.Add64(a.lo, bl, 0)
		hi, c := bits.Add64(a.hi, bh, c)
		if c != 0 {
			hi, lo = shiftRightSticky(hi, lo, 1)
			hi |= 1 << 63
			a.exp++
		}
		a.hi, a.lo = hi, lo
		return a
	}
	lo, c := bits.Sub64(a.lo, bl, 0)
	hi, c := bits.Sub64(a.hi, bh, c)
	if c != 0 {
		lo, c = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, c)
		a.neg = !a.neg
	}
	a.hi, a.lo = hi, lo
	return a.norm()
}

// div returns a/b; b isn't zero.
func (a wide) div(b wide) wide {
	if a.zero() {
		return wide{}
	}
	r := wide{neg: a.neg != b.neg, exp: a.exp - b.exp}
	nh, nl := a.hi, a.lo
	if nh > b.hi || nh == b.hi && nl >= b.lo {
		nh, nl = nh>>1, nh<<63|nl>>1
	} else {
		r.exp--
	}
	// Two steps of schoolbook division with 64-bit digits (Knuth, 4.3.1 D).
	var rh, rl uint64
	r.hi, rh, rl = divStep(nh, nl, b.hi, b.lo)
	r.lo, _, _ = divStep(rh, rl, b.hi, b.lo)
	return r.norm()
}

// divStep returns floor((n·2^64)/d) and the remainder, for n < d, d normalised.
func divStep(nh, nl, dh, dl uint64) (q, rh, rl uint64) {
	if nh == dh {
		q = ^uint64(0)
	} else {
		q, _ = bits.Div64(nh, nl, dh)
	}
	ph, pm := bits.Mul64(q, dh)
	th, pl := bits.Mul64(q, dl)
	pm, c := bits.Add64(pm, th, 0)
	ph += c
	rl, b := bits.Sub64(0, pl, 0)
	rh, b = bits.Sub64(nl, pm, b)
	top, _ := bits.Sub64(nh, ph, b)
	for int64(top) < 0 {
		q--
		rl, c = bits.Add64(rl, dl, 0)
		rh, c = bits.Add64(rh, dh, c)
		top += c
	}
	return q, rh, rl
}

// A fix is a fixed-point number in [0, 2): (hi:lo) / 2^127. Series are summed
// in it, by Horner's rule.
type fix struct{ hi, lo uint64 }

var fixOne = fix{1 << 63, 0}

// fix converts a number in [0, 2); what is below 2^-127 is lost.
func (a wide) fix() fix {
	hi, lo := shiftRightSticky(a.hi, a.lo, uint(-a.exp))
	return fix{hi, lo}
}

func (f fix) wide() wide { return wide{hi: f.hi, lo: f.lo}.norm() }

func (f fix) mul(g fix) fix {
	hi, lo := mulHigh(f.hi, f.lo, g.hi, g.lo)
	return fix{hi<<1 | lo>>63, lo << 1}
}

func (f fix) divInt(n uint64) fix {
	hi, r := f.hi/n, f.hi%n
	lo, _ := bits.Div64(r, f.lo, n)
	return fix{hi, lo}
}

func (f fix) add(g fix) fix {
	lo, c := bits.Add64(f.lo, g.lo, 0)
	hi, _ := bits.Add64(f.hi, g.hi, c)
	return fix{hi, lo}
}

func (f fix) sub(g fix) fix {
	lo, c := bits.Sub64(f.lo, g.lo, 0)
	hi, _ := bits.Sub64(f.hi, g.hi, c)
	return fix{hi, lo}
}
