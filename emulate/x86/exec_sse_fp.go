package x86

import "math"

// Floating-point arithmetic (SSE, SSE2, SSE3). Each element's result comes from
// a function that also says which exceptions it met; the handler reports them
// all to fpCheck before it writes its destination.

// A fp64 computes one element from the destination's and the source's.
type (
	fp64 func(a, b uint64, mx uint32) (uint64, uint32)
	fp32 func(a, b uint32, mx uint32) (uint32, uint32)
)

// scalarSD, scalarSS, packedPD and packedPS make handlers.
func scalarSD(f fp64) handler {
	return func(c *CPU, op *Op) {
		b := c.xs64(op)
		d := &c.X[op.dst&15]
		r, fl := f(d[0], b, c.MXCSR)
		c.fpCheck(fl)
		d[0] = r
	}
}

func scalarSS(f fp32) handler {
	return func(c *CPU, op *Op) {
		b := c.xs32(op)
		d := &c.X[op.dst&15]
		r, fl := f(uint32(d[0]), b, c.MXCSR)
		c.fpCheck(fl)
		d[0] = low32(d[0], r)
	}
}

func packedPD(f fp64) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		r0, f0 := f(d[0], lo, c.MXCSR)
		r1, f1 := f(d[1], hi, c.MXCSR)
		c.fpCheck(f0 | f1)
		d[0], d[1] = r0, r1
	}
}

// pair32 applies f to both halves of a and b.
func pair32(f fp32, a, b uint64, mx uint32) (uint64, uint32) {
	r0, f0 := f(uint32(a), uint32(b), mx)
	r1, f1 := f(uint32(a>>32), uint32(b>>32), mx)
	return uint64(r0) | uint64(r1)<<32, f0 | f1
}

func packedPS(f fp32) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		r0, f0 := pair32(f, d[0], lo, c.MXCSR)
		r1, f1 := pair32(f, d[1], hi, c.MXCSR)
		c.fpCheck(f0 | f1)
		d[0], d[1] = r0, r1
	}
}

// execAddsubpd subtracts in the even elements and adds in the odd ones.
func execAddsubpd(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	r0, f0 := sub64(d[0], lo, c.MXCSR)
	r1, f1 := add64(d[1], hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	d[0], d[1] = r0, r1
}

func execAddsubps(c *CPU, op *Op) {
	var s, r [2]uint64
	s[0], s[1] = c.xs(op)
	d := &c.X[op.dst&15]
	a, b, to := dwordsOf(d), dwordsOf(&s), dwordsOf(&r)
	var fl, f uint32
	for i := range a {
		if i&1 == 0 {
			to[i], f = sub32(a[i], b[i], c.MXCSR)
		} else {
			to[i], f = add32(a[i], b[i], c.MXCSR)
		}
		fl |= f
	}
	c.fpCheck(fl)
	*d = r
}

// horizontalPD and horizontalPS make HADDPD and its kin.
func horizontalPD(f fp64) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		r0, f0 := f(d[0], d[1], c.MXCSR)
		r1, f1 := f(lo, hi, c.MXCSR)
		c.fpCheck(f0 | f1)
		d[0], d[1] = r0, r1
	}
}

func horizontalPS(f fp32) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		r0, f0 := f(uint32(d[0]), uint32(d[0]>>32), c.MXCSR)
		r1, f1 := f(uint32(d[1]), uint32(d[1]>>32), c.MXCSR)
		r2, f2 := f(uint32(lo), uint32(lo>>32), c.MXCSR)
		r3, f3 := f(uint32(hi), uint32(hi>>32), c.MXCSR)
		c.fpCheck(f0 | f1 | f2 | f3)
		d[0], d[1] = uint64(r0)|uint64(r1)<<32, uint64(r2)|uint64(r3)<<32
	}
}

// cmp64 and cmp32 give all ones or zeros for predicate p.
func cmp64(a, b uint64, p uint8, mx uint32) (uint64, uint32) {
	ok, fl := binary64.compare(a, b, p, mx)
	if ok {
		return ^uint64(0), fl
	}
	return 0, fl
}

func cmp32(a, b uint32, p uint8, mx uint32) (uint32, uint32) {
	ok, fl := binary32.compare(uint64(a), uint64(b), p, mx)
	if ok {
		return ^uint32(0), fl
	}
	return 0, fl
}

func execCmpsd(c *CPU, op *Op) {
	b := c.xs64(op)
	d := &c.X[op.dst&15]
	r, fl := cmp64(d[0], b, uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	d[0] = r
}

func execCmpss(c *CPU, op *Op) {
	b := c.xs32(op)
	d := &c.X[op.dst&15]
	r, fl := cmp32(uint32(d[0]), b, uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	d[0] = low32(d[0], r)
}

func execCmppd(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	r0, f0 := cmp64(d[0], lo, uint8(op.imm), c.MXCSR)
	r1, f1 := cmp64(d[1], hi, uint8(op.imm), c.MXCSR)
	c.fpCheck(f0 | f1)
	d[0], d[1] = r0, r1
}

func execCmpps(c *CPU, op *Op) {
	var s, r [2]uint64
	s[0], s[1] = c.xs(op)
	d := &c.X[op.dst&15]
	a, b, to := dwordsOf(d), dwordsOf(&s), dwordsOf(&r)
	var fl, f uint32
	for i := range a {
		to[i], f = cmp32(a[i], b[i], uint8(op.imm), c.MXCSR)
		fl |= f
	}
	c.fpCheck(fl)
	*d = r
}

// setOrder sets the flags as COMISD does.
func (c *CPU) setOrder(less, equal, unordered bool) {
	switch {
	case unordered:
		c.setAllFlags(ZF | PF | CF)
	case less:
		c.setAllFlags(CF)
	case equal:
		c.setAllFlags(ZF)
	default:
		c.setAllFlags(0)
	}
}

// execUcomisd and the like: COMISD signals quiet NaNs too.
func execUcomisd(c *CPU, op *Op) { comisd(c, op, false) }
func execComisd(c *CPU, op *Op)  { comisd(c, op, true) }
func execUcomiss(c *CPU, op *Op) { comiss(c, op, false) }
func execComiss(c *CPU, op *Op)  { comiss(c, op, true) }

func comisd(c *CPU, op *Op, signalling bool) {
	b := c.xs64(op)
	a := c.X[op.dst&15][0]
	if plain64(a) && plain64(b) {
		switch x, y := math.Float64frombits(a), math.Float64frombits(b); {
		case x < y:
			c.setAllFlags(CF)
			return
		case x > y:
			c.setAllFlags(0)
			return
		case x == y:
			c.setAllFlags(ZF)
			return
		}
	}
	less, equal, unordered, fl := binary64.order(a, b, signalling, c.MXCSR)
	c.fpCheck(fl)
	c.setOrder(less, equal, unordered)
}

func comiss(c *CPU, op *Op, signalling bool) {
	b := c.xs32(op)
	a := uint32(c.X[op.dst&15][0])
	if x, y := math.Float32frombits(a), math.Float32frombits(b); x == x && y == y && plain32(a) && plain32(b) {
		c.setOrder(x < y, x == y, false)
		return
	}
	less, equal, unordered, fl := binary32.order(uint64(a), uint64(b), signalling, c.MXCSR)
	c.fpCheck(fl)
	c.setOrder(less, equal, unordered)
}

// rcp32 is RCPSS as Intel processors compute it: a table of 2048 entries, each
// the reciprocal of the middle of its interval, rounded to 13 bits. Denormals
// are taken as zeros and made zeros whatever MXCSR says; no exceptions.
func rcp32(_, b uint32, _ uint32) (uint32, uint32) {
	sign, e, m := b&(1<<31), b>>23&0xff, b&(1<<23-1)
	switch {
	case e == 0xff && m != 0:
		return b | 1<<22, 0
	case e == 0xff:
		return sign, 0
	case e == 0:
		return sign | 0xff<<23, 0
	}
	mid := 1 + (float64(m>>12)+0.5)/2048
	t := uint32(math.Floor(8192/mid+0.5)) - 4096
	if e >= 253 {
		return sign, 0
	}
	return sign | (253-e)<<23 | t<<11, 0
}

// rsqrt32 is RSQRTSS in the same way, with 1024 entries for even and as many for
// odd exponents.
func rsqrt32(_, b uint32, _ uint32) (uint32, uint32) {
	e, m := b>>23&0xff, b&(1<<23-1)
	switch {
	case e == 0xff && m != 0:
		return b | 1<<22, 0
	case e == 0:
		return b&(1<<31) | 0xff<<23, 0
	case b>>31 != 0:
		return 0xffc00000, 0
	case e == 0xff:
		return 0, 0
	}
	mid := 1 + (float64(m>>13)+0.5)/1024
	if e&1 == 0 {
		mid *= 2
	}
	t := uint32(math.Floor(8192/math.Sqrt(mid)+0.5)) - 4096
	return (380-e)/2<<23 | t<<11, 0
}
