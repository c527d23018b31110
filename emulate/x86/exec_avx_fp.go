package x86

import "math"

// Floating point of AVX; the elements' functions are those of the SSE forms.

func vfp64(f fp64) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		a := &c.X[op.src2&15]
		var r [4]uint64
		var f0, f1, f2, f3 uint32
		r[0], f0 = f(a[0], s[0], c.MXCSR)
		r[1], f1 = f(a[1], s[1], c.MXCSR)
		if op.size == 32 {
			a = &c.Y[op.src2&15]
			r[2], f2 = f(a[0], t[0], c.MXCSR)
			r[3], f3 = f(a[1], t[1], c.MXCSR)
		}
		c.fpCheck(f0 | f1 | f2 | f3)
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

func vfp32(f fp32) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		a := &c.X[op.src2&15]
		var r [4]uint64
		var f0, f1, f2, f3 uint32
		r[0], f0 = pair32(f, a[0], s[0], c.MXCSR)
		r[1], f1 = pair32(f, a[1], s[1], c.MXCSR)
		if op.size == 32 {
			a = &c.Y[op.src2&15]
			r[2], f2 = pair32(f, a[0], t[0], c.MXCSR)
			r[3], f3 = pair32(f, a[1], t[1], c.MXCSR)
		}
		c.fpCheck(f0 | f1 | f2 | f3)
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

// The most frequent packed forms do the usual case by themselves; see usual64.

func execVaddpd(c *CPU, op *Op) {
	s, t := c.vp(op)
	a, b := &c.X[op.src2&15], &c.Y[op.src2&15]
	var r [4]uint64
	r[0], r[1] = addF64(a[0], s[0]), addF64(a[1], s[1])
	ok := usual64(a[0], s[0], r[0], c.MXCSR) && usual64(a[1], s[1], r[1], c.MXCSR)
	if op.size == 32 {
		r[2], r[3] = addF64(b[0], t[0]), addF64(b[1], t[1])
		ok = ok && usual64(b[0], t[0], r[2], c.MXCSR) && usual64(b[1], t[1], r[3], c.MXCSR)
	}
	if !ok {
		slowVaddpd(c, op)
		return
	}
	d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
	d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
}

func execVsubpd(c *CPU, op *Op) {
	s, t := c.vp(op)
	a, b := &c.X[op.src2&15], &c.Y[op.src2&15]
	var r [4]uint64
	r[0], r[1] = subF64(a[0], s[0]), subF64(a[1], s[1])
	ok := usual64(a[0], s[0], r[0], c.MXCSR) && usual64(a[1], s[1], r[1], c.MXCSR)
	if op.size == 32 {
		r[2], r[3] = subF64(b[0], t[0]), subF64(b[1], t[1])
		ok = ok && usual64(b[0], t[0], r[2], c.MXCSR) && usual64(b[1], t[1], r[3], c.MXCSR)
	}
	if !ok {
		slowVsubpd(c, op)
		return
	}
	d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
	d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
}

func execVmulpd(c *CPU, op *Op) {
	s, t := c.vp(op)
	a, b := &c.X[op.src2&15], &c.Y[op.src2&15]
	var r [4]uint64
	r[0], r[1] = mulF64(a[0], s[0]), mulF64(a[1], s[1])
	ok := usual64(a[0], s[0], r[0], c.MXCSR) && usual64(a[1], s[1], r[1], c.MXCSR)
	if op.size == 32 {
		r[2], r[3] = mulF64(b[0], t[0]), mulF64(b[1], t[1])
		ok = ok && usual64(b[0], t[0], r[2], c.MXCSR) && usual64(b[1], t[1], r[3], c.MXCSR)
	}
	if !ok {
		slowVmulpd(c, op)
		return
	}
	d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
	d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
}

var slowVaddpd, slowVsubpd, slowVmulpd = vfp64(add64), vfp64(sub64), vfp64(mul64)

func addF64(a, b uint64) uint64 {
	return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
}

func subF64(a, b uint64) uint64 {
	return math.Float64bits(math.Float64frombits(a) - math.Float64frombits(b))
}

func mulF64(a, b uint64) uint64 {
	return math.Float64bits(math.Float64frombits(a) * math.Float64frombits(b))
}

// vpair makes a packed form of a function on pairs of elements.
func vpair(f func(a, b uint64, mx uint32) (uint64, uint32)) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		a := &c.X[op.src2&15]
		var r [4]uint64
		var f0, f1, f2, f3 uint32
		r[0], f0 = f(a[0], s[0], c.MXCSR)
		r[1], f1 = f(a[1], s[1], c.MXCSR)
		if op.size == 32 {
			a = &c.Y[op.src2&15]
			r[2], f2 = f(a[0], t[0], c.MXCSR)
			r[3], f3 = f(a[1], t[1], c.MXCSR)
		}
		if fl := f0 | f1 | f2 | f3; fl != 0 {
			c.fpCheck(fl)
		}
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

// vscalar64 and vscalar32 take what is above the element from the first source.
func vscalar64(f fp64) handler {
	return func(c *CPU, op *Op) {
		b := c.xs64(op)
		a := &c.X[op.src2&15]
		r, fl := f(a[0], b, c.MXCSR)
		c.fpCheck(fl)
		c.setX(op, r, a[1])
	}
}

func vscalar32(f fp32) handler {
	return func(c *CPU, op *Op) {
		b := c.xs32(op)
		a := &c.X[op.src2&15]
		r, fl := f(uint32(a[0]), b, c.MXCSR)
		c.fpCheck(fl)
		c.setX(op, low32(a[0], r), a[1])
	}
}

// A laneFP is a lane that may meet floating-point exceptions.
type laneFP func(a, b *[2]uint64, imm uint8, mx uint32) (lo, hi uint64, fl uint32)

func vlaneFP(f laneFP) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		var r [4]uint64
		var f0, f1 uint32
		r[0], r[1], f0 = f(&c.X[op.src2&15], s, uint8(op.imm), c.MXCSR)
		if op.size == 32 {
			r[2], r[3], f1 = f(&c.Y[op.src2&15], t, uint8(op.imm), c.MXCSR)
		}
		c.fpCheck(f0 | f1)
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

func laneAddsubpd(a, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
	r0, f0 := sub64(a[0], b[0], mx)
	r1, f1 := add64(a[1], b[1], mx)
	return r0, r1, f0 | f1
}

func laneAddsubps(a, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
	pair := func(a, b uint64) (uint64, uint32) {
		r0, f0 := sub32(uint32(a), uint32(b), mx)
		r1, f1 := add32(uint32(a>>32), uint32(b>>32), mx)
		return uint64(r0) | uint64(r1)<<32, f0 | f1
	}
	r0, f0 := pair(a[0], b[0])
	r1, f1 := pair(a[1], b[1])
	return r0, r1, f0 | f1
}

func laneHorizontalPD(f fp64) laneFP {
	return func(a, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
		r0, f0 := f(a[0], a[1], mx)
		r1, f1 := f(b[0], b[1], mx)
		return r0, r1, f0 | f1
	}
}

func laneHorizontalPS(f fp32) laneFP {
	return func(a, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
		r0, f0 := f(uint32(a[0]), uint32(a[0]>>32), mx)
		r1, f1 := f(uint32(a[1]), uint32(a[1]>>32), mx)
		r2, f2 := f(uint32(b[0]), uint32(b[0]>>32), mx)
		r3, f3 := f(uint32(b[1]), uint32(b[1]>>32), mx)
		return uint64(r0) | uint64(r1)<<32, uint64(r2) | uint64(r3)<<32, f0 | f1 | f2 | f3
	}
}

func laneRoundpd(_, b *[2]uint64, imm uint8, mx uint32) (uint64, uint64, uint32) {
	r0, f0 := integral64(b[0], imm, mx)
	r1, f1 := integral64(b[1], imm, mx)
	return r0, r1, f0 | f1
}

func laneRoundps(_, b *[2]uint64, imm uint8, mx uint32) (uint64, uint64, uint32) {
	var r [2]uint64
	from, to := dwordsOf(b), dwordsOf(&r)
	var fl, f uint32
	for i := range from {
		to[i], f = integral32(from[i], imm, mx)
		fl |= f
	}
	return r[0], r[1], fl
}

func execVroundsd(c *CPU, op *Op) {
	r, fl := integral64(c.xs64(op), uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	c.setX(op, r, c.X[op.src2&15][1])
}

func execVroundss(c *CPU, op *Op) {
	r, fl := integral32(c.xs32(op), uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	a := &c.X[op.src2&15]
	c.setX(op, low32(a[0], r), a[1])
}

// The 32 predicates of VCMPPS (SDM volume 2, table 3-1): for which of less,
// equal, greater and unordered they are true, in this order from bit 0. Those
// from 16 differ in which quiet NaNs are signalled.
var vcmpTrue = [16]uint8{2, 1, 3, 8, 13, 14, 12, 7, 10, 9, 11, 0, 5, 6, 4, 15}

// vcmpSignals has a bit for each predicate that signals quiet NaNs.
const vcmpSignals = 0x6666 | 0x9999<<16

// vcompare evaluates predicate p (0..31).
func (f *floatFormat) vcompare(a, b uint64, p uint8, mx uint32) (bool, uint32) {
	less, equal, unordered, fl := f.order(a, b, uint32(vcmpSignals)>>(p&31)&1 != 0, mx)
	i := 2
	switch {
	case unordered:
		i = 3
	case less:
		i = 0
	case equal:
		i = 1
	}
	return vcmpTrue[p&15]>>i&1 != 0, fl
}

func vcmp64(a, b uint64, p uint8, mx uint32) (uint64, uint32) {
	ok, fl := binary64.vcompare(a, b, p, mx)
	if ok {
		return ^uint64(0), fl
	}
	return 0, fl
}

func vcmp32(a, b uint32, p uint8, mx uint32) (uint32, uint32) {
	ok, fl := binary32.vcompare(uint64(a), uint64(b), p, mx)
	if ok {
		return ^uint32(0), fl
	}
	return 0, fl
}

func laneCmppd(a, b *[2]uint64, imm uint8, mx uint32) (uint64, uint64, uint32) {
	r0, f0 := vcmp64(a[0], b[0], imm, mx)
	r1, f1 := vcmp64(a[1], b[1], imm, mx)
	return r0, r1, f0 | f1
}

func laneCmpps(a, b *[2]uint64, imm uint8, mx uint32) (uint64, uint64, uint32) {
	var r [2]uint64
	x, y, to := dwordsOf(a), dwordsOf(b), dwordsOf(&r)
	var fl, f uint32
	for i := range to {
		to[i], f = vcmp32(x[i], y[i], imm, mx)
		fl |= f
	}
	return r[0], r[1], fl
}

func execVcmpsd(c *CPU, op *Op) {
	b := c.xs64(op)
	a := &c.X[op.src2&15]
	r, fl := vcmp64(a[0], b, uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	c.setX(op, r, a[1])
}

func execVcmpss(c *CPU, op *Op) {
	b := c.xs32(op)
	a := &c.X[op.src2&15]
	r, fl := vcmp32(uint32(a[0]), b, uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	c.setX(op, low32(a[0], r), a[1])
}

// execVdpps is execDpps for one or two lanes; an exception in one keeps both
// from going on.
func execVdpps(c *CPU, op *Op) {
	s, t := c.vp(op)
	from := [2]*[2]uint64{s, t}
	first := [2]*[2]uint64{&c.X[op.src2&15], &c.Y[op.src2&15]}
	n := int(op.size) / 16
	mx, imm := c.MXCSR, uint8(op.imm)
	var p, q [2][4]uint32
	var fl, f uint32
	for l := range n {
		a, b := dwordsOf(first[l]), dwordsOf(from[l])
		for i := range a {
			if imm>>(4+i)&1 != 0 {
				p[l][i], f = mul32(a[i], b[i], mx)
				fl |= f
			}
		}
	}
	c.fpCheck(fl)
	fl = 0
	for l := range n {
		for i := range q[l] {
			q[l][i], f = add32(p[l][i^1], p[l][i], mx)
			fl |= f
		}
	}
	c.fpCheck(fl)
	fl = 0
	var r [2][2]uint64
	for l := range n {
		to := dwordsOf(&r[l])
		for i := range to {
			v, f := add32(q[l][i], q[l][i^2], mx)
			if fl |= f; imm>>i&1 != 0 {
				to[i] = v
			}
		}
	}
	c.fpCheck(fl)
	c.setV(op, r[0], r[1])
}

func execVdppd(c *CPU, op *Op) {
	s := c.vsX(op)
	a := &c.X[op.src2&15]
	var p, r [2]uint64
	mx, imm := c.MXCSR, uint8(op.imm)
	var fl, f uint32
	for i := range p {
		if imm>>(4+i)&1 != 0 {
			p[i], f = mul64(a[i], s[i], mx)
			fl |= f
		}
	}
	c.fpCheck(fl)
	fl = 0
	for i := range r {
		v, f := add64(p[i], p[i^1], mx)
		if fl |= f; imm>>i&1 != 0 {
			r[i] = v
		}
	}
	c.fpCheck(fl)
	c.setX(op, r[0], r[1])
}

// Conversions. Those that widen take half as much as they give.

// vhalfSize is a ModRM.rm operand of half of op.size: 8 or 16 bytes.
func (c *CPU) vhalfSize(op *Op) (lo, hi uint64) {
	if op.size == 32 {
		s := c.vsX(op)
		return s[0], s[1]
	}
	return c.xs64(op), 0
}

func execVcvtps2pd(c *CPU, op *Op) {
	lo, hi := c.vhalfSize(op)
	r0, f0 := widen32(uint32(lo), c.MXCSR)
	r1, f1 := widen32(uint32(lo>>32), c.MXCSR)
	r2, f2 := widen32(uint32(hi), c.MXCSR)
	r3, f3 := widen32(uint32(hi>>32), c.MXCSR)
	c.fpCheck(f0 | f1 | f2 | f3)
	c.setV(op, [2]uint64{r0, r1}, [2]uint64{r2, r3})
}

func execVcvtdq2pd(c *CPU, op *Op) {
	lo, hi := c.vhalfSize(op)
	conv := func(v uint64) [2]uint64 {
		return [2]uint64{math.Float64bits(float64(int32(v))), math.Float64bits(float64(int32(v >> 32)))}
	}
	c.setV(op, conv(lo), conv(hi))
}

// vnarrow makes a conversion from float64 to a type of 32 bits.
func vnarrow(f func(a uint64, mx uint32) (uint32, uint32)) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		r0, f0 := f(s[0], c.MXCSR)
		r1, f1 := f(s[1], c.MXCSR)
		var r2, r3, f2, f3 uint32
		if op.size == 32 {
			r2, f2 = f(t[0], c.MXCSR)
			r3, f3 = f(t[1], c.MXCSR)
		}
		c.fpCheck(f0 | f1 | f2 | f3)
		c.setX(op, uint64(r0)|uint64(r1)<<32, uint64(r2)|uint64(r3)<<32)
	}
}

func pd2dq(a uint64, mx uint32) (uint32, uint32) {
	r, fl := toInt64(a, 32, mx)
	return uint32(r), fl
}

func tpd2dq(a uint64, mx uint32) (uint32, uint32) { return pd2dq(a, truncating(mx)) }

func laneCvtdq2ps(_, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
	r0, f0 := pairFromInt(b[0], mx)
	r1, f1 := pairFromInt(b[1], mx)
	return r0, r1, f0 | f1
}

func laneCvtps2dq(_, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
	r0, f0 := pairToInt(b[0], mx)
	r1, f1 := pairToInt(b[1], mx)
	return r0, r1, f0 | f1
}

func laneCvttps2dq(_, b *[2]uint64, _ uint8, mx uint32) (uint64, uint64, uint32) {
	return laneCvtps2dq(nil, b, 0, truncating(mx))
}

func execVcvtss2sd(c *CPU, op *Op) {
	r, fl := widen32(c.xs32(op), c.MXCSR)
	c.fpCheck(fl)
	c.setX(op, r, c.X[op.src2&15][1])
}

func execVcvtsd2ss(c *CPU, op *Op) {
	r, fl := narrow64(c.xs64(op), c.MXCSR)
	c.fpCheck(fl)
	a := &c.X[op.src2&15]
	c.setX(op, low32(a[0], r), a[1])
}

// signedRM is a general register or memory of op.size (4 or 8) bytes.
func (c *CPU) signedRM(op *Op) int64 {
	if op.size == 8 {
		return int64(c.rm64(op))
	}
	return int64(int32(c.rm32(op)))
}

func execVcvtsi2sd(c *CPU, op *Op) {
	r, fl := fromInt64(c.signedRM(op), c.MXCSR)
	c.fpCheck(fl)
	c.setX(op, r, c.X[op.src2&15][1])
}

func execVcvtsi2ss(c *CPU, op *Op) {
	r, fl := fromInt32(c.signedRM(op), c.MXCSR)
	c.fpCheck(fl)
	a := &c.X[op.src2&15]
	c.setX(op, low32(a[0], r), a[1])
}

// F16C. Conversions to half precision round as the immediate or MXCSR says; FTZ
// doesn't apply to them, nor DAZ to those from it (SDM volume 1, 14.4).

var binary16 = floatFormat{10, 15, 0x1f}

func fromHalf(h uint16, mx uint32) (uint32, uint32) {
	r, fl := binary16.convert(&binary32, uint64(h), mx&^mxDAZ)
	return uint32(r), fl &^ mxDE
}

func toHalf(a uint32, mx uint32) (uint16, uint32) {
	r, fl := binary32.convert(&binary16, uint64(a), mx&^mxFTZ)
	if fl&mxUE != 0 && mx&mxUM == 0 && !plain32(a) {
		fl |= mxPE // what processors report of denormals, be they exact or not
	}
	return uint16(r), fl
}

func execVcvtph2ps(c *CPU, op *Op) {
	lo, hi := c.vhalfSize(op)
	var fl uint32
	conv := func(v uint64) uint64 {
		a, f := fromHalf(uint16(v), c.MXCSR)
		b, g := fromHalf(uint16(v>>16), c.MXCSR)
		fl |= f | g
		return uint64(a) | uint64(b)<<32
	}
	a, b := [2]uint64{conv(lo), conv(lo >> 32)}, [2]uint64{conv(hi), conv(hi >> 32)}
	c.fpCheck(fl)
	c.setV(op, a, b)
}

func execVcvtps2ph(c *CPU, op *Op) {
	mx := mxFromRoundImm(c.MXCSR, uint8(op.imm))
	var fl uint32
	conv := func(v uint64) uint64 {
		a, f := toHalf(uint32(v), mx)
		b, g := toHalf(uint32(v>>32), mx)
		fl |= f | g
		return uint64(a) | uint64(b)<<16
	}
	s, t := &c.X[op.dst&15], &c.Y[op.dst&15]
	lo := conv(s[0]) | conv(s[1])<<32
	var hi uint64
	if op.size == 32 {
		hi = conv(t[0]) | conv(t[1])<<32
	}
	if op.attr&attrMem != 0 {
		// If the store faults, what the conversion met stays in MXCSR all the same.
		a := c.ea(op)
		if fl&^(c.MXCSR>>mxMaskShift)&mxExc != 0 {
			c.fpCheck(fl)
		}
		c.part = partial{active: true, mxcsr: fl}
		c.probeStore(op, a, int(op.size/2))
		c.part.active = false
		c.fpCheck(fl)
		if op.size == 32 {
			c.stX(op, a, [2]uint64{lo, hi})
		} else {
			c.st64(op, a, lo)
		}
		return
	}
	c.fpCheck(fl)
	c.X[op.src&15], c.Y[op.src&15] = [2]uint64{lo, hi}, [2]uint64{}
}
