package x86

import "math"

// Handlers of the scalar operations, which compilers emit for all floating-point
// code, and of the most usual packed ones. They do by themselves what add64 and
// the others in mxcsr_host.go do first: if the control bits are as programs have
// them, the precision flag stands already and neither an operand nor the result
// is near an edge, the host's result is the guest's.

// usual64 says that the host's result r of an operation on a and b is right and
// that no flag changes, given the control bits in mx.
func usual64(a, b, r uint64, mx uint32) bool {
	return mx&mxFastBits == mxFastWant && solid64(r) && plain64(a) && plain64(b)
}

func usual32(a, b, r uint32, mx uint32) bool {
	return mx&mxFastBits == mxFastWant && solid32(r) && plain32(a) && plain32(b)
}

func execAddsd(c *CPU, op *Op) {
	b := c.xs64(op)
	d := &c.X[op.dst&15]
	a := d[0]
	r := math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
	if usual64(a, b, r, c.MXCSR) {
		d[0] = r
		return
	}
	r, fl := add64(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = r
}

func execSubsd(c *CPU, op *Op) {
	b := c.xs64(op)
	d := &c.X[op.dst&15]
	a := d[0]
	r := math.Float64bits(math.Float64frombits(a) - math.Float64frombits(b))
	if usual64(a, b, r, c.MXCSR) {
		d[0] = r
		return
	}
	r, fl := sub64(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = r
}

func execMulsd(c *CPU, op *Op) {
	b := c.xs64(op)
	d := &c.X[op.dst&15]
	a := d[0]
	r := math.Float64bits(math.Float64frombits(a) * math.Float64frombits(b))
	if usual64(a, b, r, c.MXCSR) {
		d[0] = r
		return
	}
	r, fl := mul64(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = r
}

func execDivsd(c *CPU, op *Op) {
	b := c.xs64(op)
	d := &c.X[op.dst&15]
	a := d[0]
	r := math.Float64bits(math.Float64frombits(a) / math.Float64frombits(b))
	if usual64(a, b, r, c.MXCSR) {
		d[0] = r
		return
	}
	r, fl := div64(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = r
}

func execAddss(c *CPU, op *Op) {
	b := c.xs32(op)
	d := &c.X[op.dst&15]
	a := uint32(d[0])
	r := math.Float32bits(math.Float32frombits(a) + math.Float32frombits(b))
	if usual32(a, b, r, c.MXCSR) {
		d[0] = low32(d[0], r)
		return
	}
	r, fl := add32(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = low32(d[0], r)
}

func execSubss(c *CPU, op *Op) {
	b := c.xs32(op)
	d := &c.X[op.dst&15]
	a := uint32(d[0])
	r := math.Float32bits(math.Float32frombits(a) - math.Float32frombits(b))
	if usual32(a, b, r, c.MXCSR) {
		d[0] = low32(d[0], r)
		return
	}
	r, fl := sub32(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = low32(d[0], r)
}

func execMulss(c *CPU, op *Op) {
	b := c.xs32(op)
	d := &c.X[op.dst&15]
	a := uint32(d[0])
	r := math.Float32bits(math.Float32frombits(a) * math.Float32frombits(b))
	if usual32(a, b, r, c.MXCSR) {
		d[0] = low32(d[0], r)
		return
	}
	r, fl := mul32(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = low32(d[0], r)
}

func execDivss(c *CPU, op *Op) {
	b := c.xs32(op)
	d := &c.X[op.dst&15]
	a := uint32(d[0])
	r := math.Float32bits(math.Float32frombits(a) / math.Float32frombits(b))
	if usual32(a, b, r, c.MXCSR) {
		d[0] = low32(d[0], r)
		return
	}
	r, fl := div32(a, b, c.MXCSR)
	c.fpCheck(fl)
	d[0] = low32(d[0], r)
}

func execAddpd(c *CPU, op *Op) {
	s := c.xp(op)
	lo, hi := s[0], s[1]
	d := &c.X[op.dst&15]
	r0 := math.Float64bits(math.Float64frombits(d[0]) + math.Float64frombits(lo))
	r1 := math.Float64bits(math.Float64frombits(d[1]) + math.Float64frombits(hi))
	if usual64(d[0], lo, r0, c.MXCSR) && usual64(d[1], hi, r1, c.MXCSR) {
		d[0], d[1] = r0, r1
		return
	}
	r0, f0 := add64(d[0], lo, c.MXCSR)
	r1, f1 := add64(d[1], hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	d[0], d[1] = r0, r1
}

func execSubpd(c *CPU, op *Op) {
	s := c.xp(op)
	lo, hi := s[0], s[1]
	d := &c.X[op.dst&15]
	r0 := math.Float64bits(math.Float64frombits(d[0]) - math.Float64frombits(lo))
	r1 := math.Float64bits(math.Float64frombits(d[1]) - math.Float64frombits(hi))
	if usual64(d[0], lo, r0, c.MXCSR) && usual64(d[1], hi, r1, c.MXCSR) {
		d[0], d[1] = r0, r1
		return
	}
	r0, f0 := sub64(d[0], lo, c.MXCSR)
	r1, f1 := sub64(d[1], hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	d[0], d[1] = r0, r1
}

func execMulpd(c *CPU, op *Op) {
	s := c.xp(op)
	lo, hi := s[0], s[1]
	d := &c.X[op.dst&15]
	r0 := math.Float64bits(math.Float64frombits(d[0]) * math.Float64frombits(lo))
	r1 := math.Float64bits(math.Float64frombits(d[1]) * math.Float64frombits(hi))
	if usual64(d[0], lo, r0, c.MXCSR) && usual64(d[1], hi, r1, c.MXCSR) {
		d[0], d[1] = r0, r1
		return
	}
	r0, f0 := mul64(d[0], lo, c.MXCSR)
	r1, f1 := mul64(d[1], hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	d[0], d[1] = r0, r1
}

func execAddps(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	r0, f0 := addPair(d[0], lo, c.MXCSR)
	r1, f1 := addPair(d[1], hi, c.MXCSR)
	if f0|f1 != 0 {
		c.fpCheck(f0 | f1)
	}
	d[0], d[1] = r0, r1
}

// addPair works on two elements.
func addPair(a, b uint64, mx uint32) (uint64, uint32) {
	a0, a1, b0, b1 := uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
	r0 := math.Float32bits(math.Float32frombits(a0) + math.Float32frombits(b0))
	r1 := math.Float32bits(math.Float32frombits(a1) + math.Float32frombits(b1))
	if usual32(a0, b0, r0, mx) && usual32(a1, b1, r1, mx) {
		return uint64(r0) | uint64(r1)<<32, 0
	}
	return pair32(add32, a, b, mx)
}

func execSubps(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	r0, f0 := subPair(d[0], lo, c.MXCSR)
	r1, f1 := subPair(d[1], hi, c.MXCSR)
	if f0|f1 != 0 {
		c.fpCheck(f0 | f1)
	}
	d[0], d[1] = r0, r1
}

// subPair works on two elements.
func subPair(a, b uint64, mx uint32) (uint64, uint32) {
	a0, a1, b0, b1 := uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
	r0 := math.Float32bits(math.Float32frombits(a0) - math.Float32frombits(b0))
	r1 := math.Float32bits(math.Float32frombits(a1) - math.Float32frombits(b1))
	if usual32(a0, b0, r0, mx) && usual32(a1, b1, r1, mx) {
		return uint64(r0) | uint64(r1)<<32, 0
	}
	return pair32(sub32, a, b, mx)
}

func execMulps(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	r0, f0 := mulPair(d[0], lo, c.MXCSR)
	r1, f1 := mulPair(d[1], hi, c.MXCSR)
	if f0|f1 != 0 {
		c.fpCheck(f0 | f1)
	}
	d[0], d[1] = r0, r1
}

// mulPair works on two elements.
func mulPair(a, b uint64, mx uint32) (uint64, uint32) {
	a0, a1, b0, b1 := uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
	r0 := math.Float32bits(math.Float32frombits(a0) * math.Float32frombits(b0))
	r1 := math.Float32bits(math.Float32frombits(a1) * math.Float32frombits(b1))
	if usual32(a0, b0, r0, mx) && usual32(a1, b1, r1, mx) {
		return uint64(r0) | uint64(r1)<<32, 0
	}
	return pair32(mul32, a, b, mx)
}
