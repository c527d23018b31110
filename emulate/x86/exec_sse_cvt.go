package x86

import "math"

// Conversions between floating point and integers (SDM volume 2, CVT*).
// Indefinite results of 32 and 64 bits are the most negative integers.

// truncating is MXCSR for the CVTT forms.
func truncating(mx uint32) uint32 { return mx | mxRC }

func execCvtss2sd(c *CPU, op *Op) {
	r, fl := widen32(c.xs32(op), c.MXCSR)
	c.fpCheck(fl)
	c.X[op.dst&15][0] = r
}

func execCvtsd2ss(c *CPU, op *Op) {
	r, fl := narrow64(c.xs64(op), c.MXCSR)
	c.fpCheck(fl)
	d := &c.X[op.dst&15]
	d[0] = low32(d[0], r)
}

func execCvtps2pd(c *CPU, op *Op) {
	v := c.xs64(op)
	r0, f0 := widen32(uint32(v), c.MXCSR)
	r1, f1 := widen32(uint32(v>>32), c.MXCSR)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

func execCvtpd2ps(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	r0, f0 := narrow64(lo, c.MXCSR)
	r1, f1 := narrow64(hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{uint64(r0) | uint64(r1)<<32, 0}
}

func execCvtdq2pd(c *CPU, op *Op) {
	v := c.xs64(op)
	r0, _ := fromInt64(int64(int32(v)), c.MXCSR)
	r1, _ := fromInt64(int64(int32(v>>32)), c.MXCSR)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

// pairFromInt converts two 32-bit integers to float32.
func pairFromInt(v uint64, mx uint32) (uint64, uint32) {
	r0, f0 := fromInt32(int64(int32(v)), mx)
	r1, f1 := fromInt32(int64(int32(v>>32)), mx)
	return uint64(r0) | uint64(r1)<<32, f0 | f1
}

func execCvtdq2ps(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	r0, f0 := pairFromInt(lo, c.MXCSR)
	r1, f1 := pairFromInt(hi, c.MXCSR)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

// pairToInt converts two float32 to 32-bit integers.
func pairToInt(v uint64, mx uint32) (uint64, uint32) {
	r0, f0 := toInt32(uint32(v), 32, mx)
	r1, f1 := toInt32(uint32(v>>32), 32, mx)
	return r0&0xffffffff | r1<<32, f0 | f1
}

func execCvtps2dq(c *CPU, op *Op)  { cvtps2dq(c, op, c.MXCSR) }
func execCvttps2dq(c *CPU, op *Op) { cvtps2dq(c, op, truncating(c.MXCSR)) }

func cvtps2dq(c *CPU, op *Op, mx uint32) {
	lo, hi := c.xs(op)
	r0, f0 := pairToInt(lo, mx)
	r1, f1 := pairToInt(hi, mx)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

func execCvtpd2dq(c *CPU, op *Op)  { cvtpd2dq(c, op, c.MXCSR) }
func execCvttpd2dq(c *CPU, op *Op) { cvtpd2dq(c, op, truncating(c.MXCSR)) }

func cvtpd2dq(c *CPU, op *Op, mx uint32) {
	lo, hi := c.xs(op)
	r0, f0 := toInt64(lo, 32, mx)
	r1, f1 := toInt64(hi, 32, mx)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{r0&0xffffffff | r1<<32, 0}
}

// The scalar forms convert from and to a general register of op.size bytes,
// which the row's ry or rmy operand gives.

func execCvtsi2sd(c *CPU, op *Op) {
	if op.size == 4 {
		i := int32(c.rm32(op))
		c.X[op.dst&15][0] = math.Float64bits(float64(i))
		return
	}
	i := int64(c.rm64(op))
	r, fl := fromInt64(i, c.MXCSR)
	if fl != 0 {
		c.fpCheck(fl)
	}
	c.X[op.dst&15][0] = r
}

func execCvtsi2ss(c *CPU, op *Op) {
	var i int64
	if op.size == 8 {
		i = int64(c.rm64(op))
	} else {
		i = int64(int32(c.rm32(op)))
	}
	r, fl := fromInt32(i, c.MXCSR)
	if fl != 0 {
		c.fpCheck(fl)
	}
	d := &c.X[op.dst&15]
	d[0] = low32(d[0], r)
}

func execCvtsd2si(c *CPU, op *Op) { cvtsd2si(c, op, c.xs64(op), c.MXCSR) }

// execCvttsd2si is every cast from double to integer.
func execCvttsd2si(c *CPU, op *Op) {
	const known = mxPE | mxPM // the precision flag stands and is masked
	v := c.xs64(op)
	if x := math.Float64frombits(v); c.MXCSR&known == known && x < 1<<31 && x > -1<<31 {
		c.setReg(op.dst, op.size, uint64(int64(x)))
		return
	}
	cvtsd2si(c, op, v, truncating(c.MXCSR))
}

func execCvtss2si(c *CPU, op *Op)  { cvtss2si(c, op, c.MXCSR) }
func execCvttss2si(c *CPU, op *Op) { cvtss2si(c, op, truncating(c.MXCSR)) }

func cvtsd2si(c *CPU, op *Op, v uint64, mx uint32) {
	r, fl := toInt64(v, uint(op.size)*8, mx)
	if fl != 0 {
		c.fpCheck(fl)
	}
	c.setReg(op.dst, op.size, r)
}

func cvtss2si(c *CPU, op *Op, mx uint32) {
	r, fl := toInt32(c.xs32(op), uint(op.size)*8, mx)
	if fl != 0 {
		c.fpCheck(fl)
	}
	c.setReg(op.dst, op.size, r)
}

// integral64 and integral32 round to an integral value (SSE4.1 ROUND*). Bit 3 of
// the immediate suppresses the precision exception.
func integral64(a uint64, imm uint8, mx uint32) (uint64, uint32) {
	r, fl := binary64.integral(a, mxFromRoundImm(mx, imm))
	if imm&8 != 0 {
		fl &^= mxPE
	}
	return r, fl
}

func integral32(a uint32, imm uint8, mx uint32) (uint32, uint32) {
	r, fl := binary32.integral(uint64(a), mxFromRoundImm(mx, imm))
	if imm&8 != 0 {
		fl &^= mxPE
	}
	return uint32(r), fl
}

func execRoundsd(c *CPU, op *Op) {
	r, fl := integral64(c.xs64(op), uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	c.X[op.dst&15][0] = r
}

func execRoundss(c *CPU, op *Op) {
	r, fl := integral32(c.xs32(op), uint8(op.imm), c.MXCSR)
	c.fpCheck(fl)
	d := &c.X[op.dst&15]
	d[0] = low32(d[0], r)
}

func execRoundpd(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	r0, f0 := integral64(lo, uint8(op.imm), c.MXCSR)
	r1, f1 := integral64(hi, uint8(op.imm), c.MXCSR)
	c.fpCheck(f0 | f1)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

func execRoundps(c *CPU, op *Op) {
	var s, r [2]uint64
	s[0], s[1] = c.xs(op)
	from, to := dwordsOf(&s), dwordsOf(&r)
	var fl, f uint32
	for i := range from {
		to[i], f = integral32(from[i], uint8(op.imm), c.MXCSR)
		fl |= f
	}
	c.fpCheck(fl)
	c.X[op.dst&15] = r
}
