package x86

// MMX: the same lane functions on the 64-bit registers that lie in the x87
// registers' significands (SDM volume 1, chapter 9).

// mmStart does what precedes every MMX instruction's work. It comes after the
// memory operand's load, whose fault must find the x87 state unchanged; see
// mmOperand.
func (c *CPU) mmStart() {
	c.F.EnterMMX()
}

// mmOperand returns the MM register or 8 bytes of memory and switches to MMX.
func (c *CPU) mmOperand(op *Op) uint64 {
	c.F.Check()
	if op.attr&attrMem != 0 {
		v := c.ld64(op, c.ea(op))
		c.mmStart()
		return v
	}
	c.mmStart()
	return c.F.MMX(op.src)
}

// mmHalf makes the handler for mm, mm/m64.
func mmHalf(f half) handler {
	return func(c *CPU, op *Op) {
		s := c.mmOperand(op)
		c.F.SetMMX(op.dst, f(c.F.MMX(op.dst), s))
	}
}

// mmUnpackLow makes the handlers of the low unpacks, which load 4 bytes.
func mmUnpackLow(f half) handler {
	return func(c *CPU, op *Op) {
		c.F.Check()
		var s uint64
		if op.attr&attrMem != 0 {
			s = uint64(c.ld32(op, c.ea(op)))
		} else {
			s = c.F.MMX(op.src)
		}
		c.mmStart()
		c.F.SetMMX(op.dst, f(c.F.MMX(op.dst), s))
	}
}

func unpackHigh(f half) half {
	return func(a, b uint64) uint64 { return f(a>>32, b>>32) }
}

// packBoth and pairBoth put the results of both operands side by side.
func packBoth(f narrowing) half {
	return func(a, b uint64) uint64 { return f(a) | f(b)<<32 }
}

func pairBoth(f pairing) half {
	return func(a, b uint64) uint64 { return f(a) | f(b)<<32 }
}

func mmShiftImm(f laneShift) handler {
	return func(c *CPU, op *Op) {
		c.F.Check()
		c.mmStart()
		c.F.SetMMX(op.src, f(c.F.MMX(op.src), uint64(uint8(op.imm))))
	}
}

func pshufbMM(a, b uint64) uint64 {
	var r uint64
	for i := 0; i < 64; i += 8 {
		if k := b >> i; k&0x80 == 0 {
			r |= a >> (k & 7 << 3) & 0xff << i
		}
	}
	return r
}

func execPalignrMM(c *CPU, op *Op) {
	s := c.mmOperand(op)
	lo, _ := shiftBytesDown(s, c.F.MMX(op.dst), uint8(op.imm))
	c.F.SetMMX(op.dst, lo)
}

func execMovdToMM(c *CPU, op *Op) {
	c.F.Check()
	var v uint64
	if op.size == 8 {
		v = c.rm64(op)
	} else {
		v = uint64(c.rm32(op))
	}
	c.mmStart()
	c.F.SetMMX(op.dst, v)
}

func execMovdFromMM(c *CPU, op *Op) {
	c.F.Check()
	c.setRM(op, c.F.MMX(op.dst))
	c.mmStart()
}

func execMovqMM(c *CPU, op *Op) { c.F.SetMMX(op.dst, c.mmOperand(op)) }

func execMovqMMStore(c *CPU, op *Op) {
	c.F.Check()
	v := c.F.MMX(op.dst)
	if op.attr&attrMem != 0 {
		c.st64(op, c.ea(op), v)
		c.mmStart()
		return
	}
	c.mmStart()
	c.F.SetMMX(op.src, v)
}

func execMaskmovq(c *CPU, op *Op) {
	c.F.Check()
	v, m := [2]uint64{c.F.MMX(op.dst)}, [2]uint64{c.F.MMX(op.src)}
	c.maskStore(op, bytesOf(&v)[:8], bytesOf(&m)[:8])
	c.mmStart()
}

func execMovdq2q(c *CPU, op *Op) {
	c.F.Check()
	c.mmStart()
	c.F.SetMMX(op.dst, c.X[op.src&15][0])
}

func execMovq2dq(c *CPU, op *Op) {
	c.F.Check()
	c.mmStart()
	c.X[op.dst&15] = [2]uint64{c.F.MMX(op.src), 0}
}

func execPmovmskbMM(c *CPU, op *Op) {
	c.F.Check()
	c.mmStart()
	c.R[op.dst&31] = moveMask(c.F.MMX(op.src))
}

func execPinsrwMM(c *CPU, op *Op) {
	c.F.Check()
	v := uint64(c.rm16(op))
	c.mmStart()
	s := uint(op.imm&3) * 16
	c.F.SetMMX(op.dst, c.F.MMX(op.dst)&^(0xffff<<s)|v<<s)
}

func execPextrwMM(c *CPU, op *Op) {
	c.F.Check()
	c.mmStart()
	c.R[op.dst&31] = c.F.MMX(op.src) >> (uint(op.imm&3) * 16) & 0xffff
}

func execPshufw(c *CPU, op *Op) {
	s := c.mmOperand(op)
	c.F.SetMMX(op.dst, shufw(s, uint8(op.imm)))
}

// execEmms marks all x87 registers empty.
func execEmms(c *CPU, _ *Op) {
	c.F.Check()
	c.F.EnterMMX()
	c.F.Full = 0
}

// cvtpiOperand is the operand of CVTPI2PS and CVTPI2PD, which leave the x87 state
// alone if it is in memory.
func (c *CPU) cvtpiOperand(op *Op) uint64 {
	if op.attr&attrMem != 0 {
		return c.ld64(op, c.ea(op))
	}
	return c.mmOperand(op)
}

func execCvtpi2ps(c *CPU, op *Op) {
	s := c.cvtpiOperand(op)
	r, fl := pairFromInt(s, c.MXCSR)
	c.fpCheck(fl)
	c.X[op.dst&15][0] = r
}

func execCvtpi2pd(c *CPU, op *Op) {
	s := c.cvtpiOperand(op)
	r0, _ := fromInt64(int64(int32(s)), c.MXCSR)
	r1, _ := fromInt64(int64(int32(s>>32)), c.MXCSR)
	c.X[op.dst&15] = [2]uint64{r0, r1}
}

func execCvtps2pi(c *CPU, op *Op)  { cvtps2pi(c, op, c.MXCSR) }
func execCvttps2pi(c *CPU, op *Op) { cvtps2pi(c, op, truncating(c.MXCSR)) }

func cvtps2pi(c *CPU, op *Op, mx uint32) {
	c.F.Check()
	r, fl := pairToInt(c.xs64(op), mx)
	c.mmStart() // a floating-point exception comes after the switch
	c.fpCheck(fl)
	c.F.SetMMX(op.dst, r)
}

func execCvtpd2pi(c *CPU, op *Op)  { cvtpd2pi(c, op, c.MXCSR) }
func execCvttpd2pi(c *CPU, op *Op) { cvtpd2pi(c, op, truncating(c.MXCSR)) }

func cvtpd2pi(c *CPU, op *Op, mx uint32) {
	c.F.Check()
	lo, hi := c.xs(op)
	r0, f0 := toInt64(lo, 32, mx)
	r1, f1 := toInt64(hi, 32, mx)
	c.mmStart()
	c.fpCheck(f0 | f1)
	c.F.SetMMX(op.dst, r0&0xffffffff|r1<<32)
}
