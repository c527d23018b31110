package x86

// Basic arithmetic and comparisons, with a register or memory.

// A fpOp is an operation of the form dst = dst op src.
type fpOp uint8

const (
	fpAdd fpOp = iota
	fpMul
	fpSub
	fpSubR // dst = src - dst
	fpDiv
	fpDivR
)

func (e *fpEnv) do(k fpOp, dst, src Float80) Float80 {
	switch k {
	case fpAdd:
		return e.add(dst, src)
	case fpMul:
		return e.mul(dst, src)
	case fpSub:
		return e.sub(dst, src)
	case fpSubR:
		return e.sub(src, dst)
	case fpDiv:
		return e.div(dst, src)
	}
	return e.div(src, dst)
}

// A fpLoad reads op's memory operand, exactly; denor is set if it is a
// denormal of its own format.
type fpLoad func(c *CPU, op *Op) (v Float80, denor bool)

func loadF32(c *CPU, op *Op) (Float80, bool) { return rawF32(c.ld32(op, c.ea(op))) }
func loadF64(c *CPU, op *Op) (Float80, bool) { return rawF64(c.ld64(op, c.ea(op))) }

func loadI16(c *CPU, op *Op) (Float80, bool) {
	return fromInt(int64(int16(c.ld16(op, c.ea(op))))), false
}

func loadI32(c *CPU, op *Op) (Float80, bool) {
	return fromInt(int64(int32(c.ld32(op, c.ea(op))))), false
}

// x87ArithMem is ST(0) = ST(0) op memory.
func x87ArithMem(k fpOp, load fpLoad) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		v, denor := load(c, op)
		if c.F.empty(0) {
			c.underflow(op, 0, 0)
			return
		}
		e := c.fpEnv()
		a := *c.F.st(0)
		r := e.do(k, a, v)
		if denor && e.exc&swIE == 0 && unpack(a).class < fpQNaN {
			e.exc |= swDE
		}
		if c.report(op, e.exc) == 0 {
			c.F.set(0, r)
		}
	}
}

// x87ArithST0 is ST(0) = ST(0) op ST(i).
func x87ArithST0(k fpOp) handler {
	return func(c *CPU, op *Op) { c.x87Arith(op, k, 0, op.src, 0) }
}

// x87ArithSTi is ST(i) = ST(i) op ST(0), then n pops.
func x87ArithSTi(k fpOp, n uint8) handler {
	return func(c *CPU, op *Op) { c.x87Arith(op, k, op.src, 0, n) }
}

func (c *CPU) x87Arith(op *Op, k fpOp, dst, src, pops uint8) {
	c.checkMF(op)
	f := &c.F
	if f.empty(dst) || f.empty(src) {
		c.underflow(op, dst, pops)
		return
	}
	e := c.fpEnv()
	r := e.do(k, *f.st(dst), *f.st(src))
	if c.report(op, e.exc) == 0 {
		f.set(dst, r)
		f.popN(pops)
	}
}

// codes gives the condition code bits of a comparison (SDM table 8-1).
func (o ordering) codes() uint16 {
	switch o {
	case fpLess:
		return swC0
	case fpEqual:
		return swC3
	case fpUnordered:
		return swC0 | swC2 | swC3
	}
	return 0
}

// flags gives ZF, PF, CF likewise.
func (o ordering) flags() uint64 {
	switch o {
	case fpLess:
		return CF
	case fpEqual:
		return ZF
	case fpUnordered:
		return ZF | PF | CF
	}
	return 0
}

func (f *FPU) setCC(cc uint16) { f.SW = f.SW&^(swC0|swC2|swC3) | cc }

// compared finishes a comparison.
func (c *CPU) compared(op *Op, o ordering, exc uint16, pops uint8) {
	stay := c.report(op, exc)
	c.F.setCC(o.codes()) // even if an exception isn't masked
	if stay == 0 {
		c.F.popN(pops)
	}
}

// x87CompareMem compares ST(0) with memory, then pops.
func x87CompareMem(load fpLoad, pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		v, denor := load(c, op)
		if c.F.empty(0) {
			c.compared(op, fpUnordered, stackUnderflow, pops)
			return
		}
		e := c.fpEnv()
		o := e.compare(*c.F.st(0), v, false)
		if denor && o != fpUnordered {
			e.exc |= swDE
		}
		c.compared(op, o, e.exc, pops)
	}
}

// x87Compare compares ST(0) with ST(i), then pops.
func x87Compare(quiet bool, pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		f := &c.F
		if f.empty(0) || f.empty(op.src) {
			c.compared(op, fpUnordered, stackUnderflow, pops)
			return
		}
		e := c.fpEnv()
		o := e.compare(*f.st(0), *f.st(op.src), quiet)
		c.compared(op, o, e.exc, pops)
	}
}

// x87ComparePP is FCOMPP and FUCOMPP.
func x87ComparePP(quiet bool) handler {
	cmp := x87Compare(quiet, 2)
	return func(c *CPU, op *Op) {
		o := *op
		o.src = 1
		cmp(c, &o)
	}
}

// x87CompareFlags is FCOMI and its kin: the result goes to RFLAGS.
func x87CompareFlags(quiet bool, pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		f := &c.F
		o, exc := fpUnordered, uint16(stackUnderflow)
		if !f.empty(0) && !f.empty(op.src) {
			e := c.fpEnv()
			o = e.compare(*f.st(0), *f.st(op.src), quiet)
			exc = e.exc
		}
		c1 := f.SW & swC1
		stay := c.report(op, exc)
		if exc&swSF == 0 {
			f.SW |= c1
		}
		c.setAllFlags(o.flags())
		if stay == 0 {
			f.popN(pops)
		}
	}
}

func execFTST(c *CPU, op *Op) {
	c.checkMF(op)
	if c.F.empty(0) {
		c.compared(op, fpUnordered, stackUnderflow, 0)
		return
	}
	e := c.fpEnv()
	o := e.compare(*c.F.st(0), Float80{}, false)
	c.compared(op, o, e.exc, 0)
}

// execFXAM classifies ST(0) (SDM table 8-3 of volume 2, FXAM).
func execFXAM(c *CPU, op *Op) {
	c.checkMF(op)
	c.report(op, 0)
	f := &c.F
	v := *f.st(0)
	var cc uint16
	switch x := unpack(v); {
	case f.empty(0):
		cc = swC3 | swC0
	case x.class == fpUnsupported:
	case x.class == fpIsInf:
		cc = swC2 | swC0
	case x.class >= fpQNaN:
		cc = swC0
	case x.class == fpIsZero:
		cc = swC3
	case x.denor:
		cc = swC3 | swC2
	default:
		cc = swC2
	}
	f.setCC(cc)
	if v.SE>>15 != 0 {
		f.SW |= swC1
	}
}

func execFCHS(c *CPU, op *Op) { c.x87Sign(op, 0xffff, 0x8000) }
func execFABS(c *CPU, op *Op) { c.x87Sign(op, 0x7fff, 0) }

func (c *CPU) x87Sign(op *Op, and, xor uint16) {
	c.checkMF(op)
	if c.F.empty(0) {
		c.underflow(op, 0, 0)
		return
	}
	c.report(op, 0)
	p := c.F.st(0)
	p.SE = p.SE&and ^ xor
}

func execFSCALE(c *CPU, op *Op) {
	c.checkMF(op)
	f := &c.F
	if f.empty(0) || f.empty(1) {
		c.underflow(op, 0, 0)
		return
	}
	e := c.fpEnv()
	r := e.scale(*f.st(0), *f.st(1))
	if c.report(op, e.exc) == 0 {
		f.set(0, r)
	}
}

// x87Rem is FPREM and FPREM1.
func x87Rem(nearest bool) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		f := &c.F
		f.SW &^= swC2
		if f.empty(0) || f.empty(1) {
			c.underflow(op, 0, 0)
			return
		}
		e := c.fpEnv()
		r, cc := e.rem(*f.st(0), *f.st(1), nearest)
		if c.report(op, e.exc) == 0 {
			f.set(0, r)
			if cc != noQuotient {
				f.SW = f.SW&^swCC | cc
			}
		}
	}
}

func execFXTRACT(c *CPU, op *Op) {
	c.checkMF(op)
	f := &c.F
	if f.empty(0) || !f.empty(7) {
		exc := uint16(stackOverflow)
		if f.empty(0) {
			exc = stackUnderflow
		}
		if c.report(op, exc) == 0 {
			f.set(0, fpIndefinite)
			f.push(fpIndefinite)
		}
		return
	}
	e := c.fpEnv()
	exp, sig := e.extract(*f.st(0))
	if c.report(op, e.exc) == 0 {
		f.set(0, exp)
		f.push(sig)
	}
}
