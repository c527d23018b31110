package x86

// The transcendental functions: sums of series to about 120 bits, rounded
// once. Processors promise an error below one unit in the last place (SDM
// volume 1, section 8.3.10), so a result may differ from theirs in its last
// bit; conform_x87_test.go measures how often. Arguments of the trigonometric
// functions are reduced with the 66-bit value of π that processors use (8.3.8).

var (
	widePi     = wide{exp: 1, hi: 0xc90fdaa22168c234, lo: 0xc4c6628b80dc1cd1}
	wideHalfPi = wide{exp: 0, hi: 0xc90fdaa22168c234, lo: 0xc4c6628b80dc1cd1}
	wideLn2    = wide{exp: -1, hi: 0xb17217f7d1cf79ab, lo: 0xc9e3b39803f2f6af}
	wide2Log2e = wide{exp: 1, hi: 0xb8aa3b295c17f0bb, lo: 0xbe87fed0691d3e88} // 2/ln 2
)

// atan16[k] is the arc tangent of k/16.
var atan16 = [17]wide{
	{},
	{exp: -5, hi: 0xffaaddb967ef4e36, lo: 0xcb2792dc0e2e0d51},
	{exp: -4, hi: 0xfeadd4d5617b6e32, lo: 0xc897989f3e888ef7},
	{exp: -3, hi: 0xbdcbda5e72d81134, lo: 0x7b0b4f881c9c7487},
	{exp: -3, hi: 0xfadbafc96406eb15, lo: 0x6dc79ef5f7a217e5},
	{exp: -2, hi: 0x9b13b9b83f5e5e69, lo: 0xc5abb498d27af328},
	{exp: -2, hi: 0xb7b0ca0f26f78473, lo: 0x8aa32122dcfe4483},
	{exp: -2, hi: 0xd327761e611fe5b6, lo: 0x427c95e9001e7136},
	{exp: -2, hi: 0xed63382b0dda7b45, lo: 0x6fe445ecbc3a8d03},
	{exp: -1, hi: 0x832bf4a6d9867e2a, lo: 0x4b6a09cb61a515c0},
	{exp: -1, hi: 0x8f005d5ef7f59f9b, lo: 0x5c835e1665c43747},
	{exp: -1, hi: 0x9a2f80e671bdda20, lo: 0x4226f8e2204ff3bc},
	{exp: -1, hi: 0xa4bc7d1934f70924, lo: 0x19a87f2a457dac9e},
	{exp: -1, hi: 0xaeac4c38b4d8c080, lo: 0x14725e2f3e52070a},
	{exp: -1, hi: 0xb8053e2bc2319e73, lo: 0xcb2da55210a4443d},
	{exp: -1, hi: 0xc0ce85b8ac526640, lo: 0x89dd62c46e92fa24},
	{exp: -1, hi: 0xc90fdaa22168c234, lo: 0xc4c6628b80dc1cd1},
}

// deliver rounds a result that is never exact, at full precision whatever
// precision control says.
func (e *fpEnv) deliver(r wide) Float80 {
	if r.zero() {
		return fpZero(r.neg)
	}
	return e.roundPrec(r.neg, r.exp, r.hi, r.lo|1, 64)
}

// tiny is the exponent below which sine and tangent deliver their argument and
// cosine one, whatever the rounding mode, as processors do.
const tiny = -68

// deliverAs delivers a itself as an inexact result.
func (e *fpEnv) deliverAs(a *fpNum) Float80 {
	r := e.roundPrec(a.neg, a.exp, a.man, 0, 64)
	e.exc |= swPE
	if a.exp < emin80 {
		e.exc |= swUE
	}
	return r
}

// reduce takes a multiple of π/2 off a finite x, |x| < 2^63: x = r + q·π/2 with
// |r| ≤ π/4, q modulo 4.
func reduce(x *fpNum) (r wide, q uint64) {
	// π/2 = p / 2^65, p of 66 bits; x = man·2^(exp+2) / 2^65.
	const ph, pl = 0x3, 0x243f6a8885a308d3
	if x.exp < -1 {
		return x.wide(), 0
	}
	hi, lo := uint64(0), x.man
	if x.exp == -1 {
		hi, lo = lo>>63, lo<<1
	} else {
		for range x.exp + 2 {
			hi, lo = hi<<1|lo>>63, lo<<1
			q <<= 1
			if hi > ph || hi == ph && lo >= pl {
				d := fix{hi, lo}.sub(fix{ph, pl})
				hi, lo = d.hi, d.lo
				q++
			}
		}
	}
	neg := x.neg
	if rest := (fix{ph, pl}).sub(fix{hi, lo}); rest.hi < hi || rest.hi == hi && rest.lo < lo {
		hi, lo = rest.hi, rest.lo
		q++
		neg = !neg
	}
	if x.neg {
		q = -q
	}
	return wide{neg, 127 - 65, hi, lo}.norm(), q & 3
}

// sinSeries is sin r, |r| ≤ π/4; r isn't zero.
func sinSeries(r wide) wide {
	z := r.mul(r).fix()
	t := fixOne
	for k := uint64(17); k > 0; k-- {
		t = fixOne.sub(z.mul(t).divInt(2 * k * (2*k + 1)))
	}
	if t == fixOne { // a little less, for directed rounding
		t = fix{1<<63 - 1, ^uint64(0)}
	}
	return r.mul(t.wide())
}

func cosSeries(r wide) wide {
	z := r.mul(r).fix()
	t := fixOne
	for k := uint64(18); k > 0; k-- {
		t = fixOne.sub(z.mul(t).divInt(2 * k * (2*k - 1)))
	}
	if t == fixOne {
		t = fix{1<<63 - 1, ^uint64(0)}
	}
	return t.wide()
}

// sinCos is sin and cos of r + q·π/2.
func sinCos(r wide, q uint64) (sin, cos wide) {
	if r.zero() {
		sin, cos = wide{neg: r.neg}, wide{hi: 1 << 63}
	} else {
		sin, cos = sinSeries(r), cosSeries(r)
	}
	switch q {
	case 1:
		sin, cos = cos, sin.minus()
	case 2:
		sin, cos = sin.minus(), cos.minus()
	case 3:
		sin, cos = cos.minus(), sin
	}
	return sin, cos
}

// atan is the arc tangent of y/x for wide y, x ≥ 0, not both 0.
func atan(y, x wide) wide {
	if y.exp > x.exp || y.exp == x.exp && (y.hi > x.hi || y.hi == x.hi && y.lo > x.lo) {
		return wideHalfPi.add(atan(x, y).minus())
	}
	// k/16 is about y/x: atan(y/x) = atan(k/16) + atan((16y-kx)/(16x+ky)).
	k := int64(0)
	if d := x.exp - y.exp; d <= 5 {
		k = int64((y.hi>>32*16>>d + x.hi>>33) / (x.hi >> 32))
	}
	t := y.div(x)
	if k > 0 {
		y.exp += 4
		n := y.add(wideInt(k).mul(x).minus())
		y.exp -= 4
		x.exp += 4
		t = n.div(x.add(wideInt(k).mul(y)))
	}
	if t.zero() {
		return atan16[k]
	}
	z := t.mul(t).fix()
	s := fix{}
	for i := int64(14); i >= 0; i-- {
		s = fixOne.divInt(uint64(2*i + 1)).sub(z.mul(s))
	}
	if s == fixOne {
		s = fix{1<<63 - 1, ^uint64(0)}
	}
	return atan16[k].add(t.mul(s.wide()))
}

// exp2m1 is 2^x - 1, |x| ≤ 1; x isn't zero.
func exp2m1(x wide) wide {
	y := x.mul(wideLn2)
	a := y
	a.neg = false
	z := a.fix()
	t := fixOne
	for k := uint64(34); k > 1; k-- {
		u := z.mul(t).divInt(k)
		if x.neg {
			t = fixOne.sub(u)
		} else {
			t = fixOne.add(u)
		}
	}
	return y.mul(t.wide())
}

// atanhLog2 is log2((1+s)/(1-s)), |s| below 0.18: 2/ln 2 × atanh s.
func atanhLog2(s wide) wide {
	if s.zero() {
		return wide{}
	}
	z := s.mul(s).fix()
	t := fix{}
	for k := int64(26); k >= 0; k-- {
		t = fixOne.divInt(uint64(2*k + 1)).add(z.mul(t))
	}
	return s.mul(t.wide()).mul(wide2Log2e)
}

// log2 is the binary logarithm of a finite positive x; exact says whether it is
// an integer.
func log2(x *fpNum) (r wide, exact bool) {
	m := wide{hi: x.man}
	k := x.exp
	if x.man == 1<<63 {
		return wideInt(int64(k)), true
	}
	if x.man > 0xb504f333f9de6484 { // √2
		m.exp = -1
		k++
	}
	one := wide{hi: 1 << 63}
	s := m.add(one.minus()).div(m.add(one))
	return wideInt(int64(k)).add(atanhLog2(s)), false
}
