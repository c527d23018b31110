package x86

// Loads, stores, exchanges and constants.

// x87Load pushes a memory operand of 4 or 8 bytes, or an integer.
func x87Load(load fpLoad) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		v, denor := load(c, op)
		var exc uint16
		if denor {
			exc = swDE
		}
		if v.SE&0x7fff == 0x7fff && v.Man<<1 != 0 && v.Man>>62&1 == 0 {
			exc, v.Man = swIE, v.Man|1<<62
		}
		c.pushResult(op, v, exc)
	}
}

func loadI64(c *CPU, op *Op) (Float80, bool) {
	return fromInt(int64(c.ld64(op, c.ea(op)))), false
}

func loadF80(c *CPU, op *Op) (Float80, bool) {
	a := c.ea(op)
	lo := c.ld64(op, a)
	return Float80{lo, c.ld16(op, a+8)}, false
}

// execFLD80 pushes a value in register format: nothing is checked.
func execFLD80(c *CPU, op *Op) {
	c.checkMF(op)
	v, _ := loadF80(c, op)
	c.pushResult(op, v, 0)
}

func execFBLD(c *CPU, op *Op) {
	c.checkMF(op)
	v, _ := loadF80(c, op)
	c.pushResult(op, fromBCD(v.Man, v.SE), 0)
}

func execFLDSTi(c *CPU, op *Op) {
	c.checkMF(op)
	f := &c.F
	if f.empty(op.src) {
		if c.report(op, stackUnderflow) == 0 {
			f.push(fpIndefinite)
		}
		return
	}
	c.pushResult(op, *f.st(op.src), 0)
}

// x87Const pushes a constant, of which rest is what follows the 64 bits of man:
// rounding control decides, without PE (SDM volume 2, FLD1).
func x87Const(v Float80, rest uint64) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		r := v
		if rest != 0 {
			e := c.fpEnv()
			r = e.roundPrec(false, int32(v.SE)-bias80, v.Man, rest, 64)
		}
		c.pushResult(op, r, 0)
	}
}

// A fpStore rounds v to a format in memory, stores it and says which
// exceptions that raises; it stores nothing if that is what storable says.
type fpStore func(c *CPU, op *Op, v Float80) (exc uint16, done bool)

func storeF32(c *CPU, op *Op, v Float80) (uint16, bool) {
	e := c.fpEnv()
	r := e.toF32(v)
	exc, ok := c.storable(e.exc)
	if ok {
		c.st32(op, c.ea(op), r)
	}
	return exc, ok
}

func storeF64(c *CPU, op *Op, v Float80) (uint16, bool) {
	e := c.fpEnv()
	r := e.toF64(v)
	exc, ok := c.storable(e.exc)
	if ok {
		c.st64(op, c.ea(op), r)
	}
	return exc, ok
}

func storeF80(c *CPU, op *Op, v Float80) (uint16, bool) {
	c.store80(op, v)
	return 0, true
}

func storeBCD(c *CPU, op *Op, v Float80) (uint16, bool) {
	e := c.fpEnv()
	lo, hi := e.toBCD(v)
	exc, ok := c.storable(e.exc)
	if ok {
		c.store80(op, Float80{lo, hi})
	}
	return exc, ok
}

func (c *CPU) store80(op *Op, v Float80) {
	a := c.ea(op)
	c.probeStore(op, a, 10)
	c.st64(op, a, v.Man)
	c.st16(op, a+8, v.SE)
}

// storeInt stores an integer of op.size bytes.
func storeInt(truncate bool) fpStore {
	return func(c *CPU, op *Op, v Float80) (uint16, bool) {
		e := c.fpEnv()
		r := e.toInt(v, int(op.size), truncate)
		exc, ok := c.storable(e.exc)
		if ok {
			c.st(op, c.ea(op), op.size, uint64(r))
		}
		return exc, ok
	}
}

// x87Store stores ST(0) to memory, then pops.
func x87Store(store fpStore, pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		f := &c.F
		v, extra := *f.st(0), uint16(0)
		if f.empty(0) {
			v, extra = fpIndefinite, stackUnderflow
			if f.CW&swIE == 0 {
				c.report(op, extra)
				return
			}
		}
		exc, done := store(c, op, v)
		c.report(op, exc|extra)
		if done {
			f.popN(pops)
		}
	}
}

// x87StoreSTi is FST and FSTP to a register.
func x87StoreSTi(pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		if c.F.empty(0) {
			c.underflow(op, op.src, pops)
			return
		}
		c.report(op, 0)
		c.F.set(op.src, *c.F.st(0))
		c.F.popN(pops)
	}
}

func execFXCH(c *CPU, op *Op) {
	c.checkMF(op)
	f := &c.F
	a, b, exc := *f.st(0), *f.st(op.src), uint16(0)
	if f.empty(0) {
		a, exc = fpIndefinite, stackUnderflow
	}
	if f.empty(op.src) {
		b, exc = fpIndefinite, stackUnderflow
	}
	if c.report(op, exc) == 0 {
		f.set(0, b)
		f.set(op.src, a)
	}
}

// x87Cmov is FCMOVcc.
func x87Cmov(cc uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		f := &c.F
		if f.empty(0) || f.empty(op.src) {
			c.underflow(op, 0, 0)
			return
		}
		f.IP = op.pc // C1 stays
		if c.cond(cc) {
			f.set(0, *f.st(op.src))
		}
	}
}

func execFINCSTP(c *CPU, op *Op) {
	c.checkMF(op)
	c.report(op, 0)
	c.F.top = (c.F.top + 1) & 7
}

func execFDECSTP(c *CPU, op *Op) {
	c.checkMF(op)
	c.report(op, 0)
	c.F.top = (c.F.top - 1) & 7
}

// x87Free is FFREE, and FFREEP, which pops too.
func x87Free(pops uint8) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		c.report(op, 0)
		c.F.Full &^= 1 << ((c.F.top + op.src) & 7)
		c.F.popN(pops)
	}
}
