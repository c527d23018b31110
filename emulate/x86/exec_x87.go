package x86

// What all x87 instructions share: waiting for a pending exception, stack
// faults, reporting exceptions, push and pop (SDM volume 1, chapter 8).

// checkMF raises #MF if an unmasked exception is pending, as waiting x87
// instructions and MMX instructions do before they start.
func (c *CPU) checkMF(op *Op) {
	if c.F.SW&swES != 0 {
		c.raise(op, VecMF)
	}
}

// empty says whether ST(i) is empty.
func (f *FPU) empty(i uint8) bool { return f.Full>>((f.top+i)&7)&1 == 0 }

// st returns ST(i), which may be empty.
func (f *FPU) st(i uint8) *Float80 { return &f.R[(f.top+i)&7] }

// set writes ST(i) and marks it in use.
func (f *FPU) set(i uint8, v Float80) {
	p := (f.top + i) & 7
	f.R[p] = v
	f.Full |= 1 << p
}

func (f *FPU) push(v Float80) {
	f.top = (f.top - 1) & 7
	f.set(0, v)
}

func (f *FPU) pop() {
	f.Full &^= 1 << f.top
	f.top = (f.top + 1) & 7
}

func (f *FPU) popN(n uint8) {
	for ; n > 0; n-- {
		f.pop()
	}
}

// Stack faults, as exceptions.
const (
	stackUnderflow = swIE | swSF
	stackOverflow  = swIE | swSF | swC1
)

// report puts the exceptions of op into the status word, C1 included, and
// returns those that forbid the result: unmasked ones that precede the
// operation. An unmasked overflow or underflow doesn't forbid a result in a
// register; for one in memory see reportStore.
func (c *CPU) report(op *Op, exc uint16) uint16 {
	f := &c.F
	f.SW &^= swC1
	f.IP = op.pc
	if exc == 0 {
		return 0
	}
	if exc&(swIE|swZE) != 0 { // nothing else is reported with these
		exc &= swIE | swZE | swSF | exc&swSF>>6*swC1
	} else if exc&swDE&^f.CW != 0 {
		exc = swDE
	}
	f.SW |= exc
	un := exc &^ f.CW & swExc
	if un != 0 {
		f.SW |= swES | swB
		c.lastOperand(op)
	}
	return un & (swIE | swZE | swDE)
}

// lastOperand records the opcode and operand address of an instruction with an
// unmasked exception. Like current processors we do so only then
// (FDP_EXCPTN_ONLY, SDM volume 1, section 8.1.8).
func (c *CPU) lastOperand(op *Op) {
	b := c.codeAt(op)
	for len(b) > 2 && b[0]&0xf8 != 0xd8 {
		b = b[1:]
	}
	if len(b) >= 2 {
		c.F.Op = uint16(b[0]&7)<<8 | uint16(b[1])
	}
	if op.attr&attrMem != 0 { // the offset, without the segment's base
		o := *op
		o.seg = RegZero
		if o.idx == RegFS || o.idx == RegGS {
			o.idx = RegZero
		}
		c.F.DP = c.ea(&o)
	}
}

// storable returns the exceptions that a store to memory reports, and whether
// it is done.
func (c *CPU) storable(exc uint16) (uint16, bool) {
	if c.F.CW&swIE == 0 && exc&swIE != 0 {
		return exc, false
	}
	if exc&^c.F.CW&(swOE|swUE) != 0 {
		// Stays undone; inexactness isn't reported (SDM 8.5.4, 8.5.5).
		return exc &^ (swPE | swC1), false
	}
	return exc, true
}

// underflow reports a stack underflow of an instruction whose masked response
// is to put the indefinite NaN into ST(dst) and pop n times.
func (c *CPU) underflow(op *Op, dst, n uint8) {
	if c.report(op, stackUnderflow) == 0 {
		c.F.set(dst, fpIndefinite)
		c.F.popN(n)
	}
}

// pushResult pushes the result of an operation with exceptions exc.
func (c *CPU) pushResult(op *Op, v Float80, exc uint16) {
	if !c.F.empty(7) {
		if c.report(op, stackOverflow) == 0 {
			c.F.push(fpIndefinite)
		}
		return
	}
	// A denormal is loaded even if that exception isn't masked.
	if c.report(op, exc)&swIE == 0 {
		c.F.push(v)
	}
}

func (c *CPU) fpEnv() fpEnv { return fpEnv{cw: c.F.CW} }

// x87Plain is a handler that waits, reports no exception and does f.
func x87Plain(f func(c *CPU)) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		c.report(op, 0)
		f(c)
	}
}

// x87Unary is a handler that replaces ST(0) by f of it.
func x87Unary(f func(e *fpEnv, a Float80) Float80) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		if c.F.empty(0) {
			c.underflow(op, 0, 0)
			return
		}
		e := c.fpEnv()
		r := f(&e, *c.F.st(0))
		if c.report(op, e.exc) == 0 {
			c.F.set(0, r)
		}
	}
}
