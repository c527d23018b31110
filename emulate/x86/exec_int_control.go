package x86

// next is the address of the instruction after op.
func (op *Op) next() uint64 { return op.pc + uint64(op.len) }

func (c *CPU) call(op *Op, target uint64) {
	sp := c.R[RSP] - 8
	c.st64(op, sp, op.next()) // done even if the target turns out to be no address
	c.target(op, target)
	c.R[RSP] = sp
	if c.Calls != nil {
		c.Calls.Call(c, op.pc, target, sp)
	}
	c.RIP = target
}

func execCallRel(c *CPU, op *Op) { c.call(op, uint64(op.imm)) }
func execCallInd(c *CPU, op *Op) { c.call(op, c.rm64(op)) }

func execRet(c *CPU, op *Op) {
	t := c.target(op, c.ld64(op, c.R[RSP]))
	c.R[RSP] += 8 + uint64(uint16(op.imm))
	if c.Calls != nil {
		c.Calls.Ret(c, op.pc, t, c.R[RSP])
	}
	c.RIP = t
}

func execJmpRel(c *CPU, op *Op) { c.RIP = uint64(op.imm) }
func execJmpInd(c *CPU, op *Op) { c.RIP = c.target(op, c.rm64(op)) }

// target checks an indirect branch's target; the branch itself faults if it is
// no address.
func (c *CPU) target(op *Op, t uint64) uint64 {
	if !canonical(t) {
		c.raise(op, VecGP)
	}
	return t
}

func (c *CPU) branch(op *Op, taken bool) {
	if taken {
		c.RIP = uint64(op.imm)
	} else {
		c.RIP = op.next()
	}
}

func execJcc(c *CPU, op *Op) { c.branch(op, c.cond(op.aux)) }

func execLoop(c *CPU, op *Op) {
	n := c.counter(op) - 1
	c.setAddrReg(op, RCX, n)
	go1 := c.counter(op) != 0
	switch op.aux {
	case loopE:
		go1 = go1 && c.cond(ccE)
	case loopNE:
		go1 = go1 && !c.cond(ccE)
	}
	c.branch(op, go1)
}

func execJrcxz(c *CPU, op *Op) { c.branch(op, c.counter(op) == 0) }

// execSyscall ends Run; whoever called it does the call and moves RIP.
func execSyscall(c *CPU, op *Op) { panic(&Stop{Kind: StopSyscall}) }

// execInt3 and execInt1 are traps: RIP is after them when they are delivered,
// which the caller of Run sees to. The Stop is at the instruction.
func execInt3(c *CPU, op *Op) { c.raise(op, VecBP) }
func execInt1(c *CPU, op *Op) { c.raise(op, VecDB) }

func nondet(what NondetKind) handler {
	return func(c *CPU, op *Op) { c.Env.Nondet(c, what, 0, 8) }
}

// execXgetbv is XGETBV: of XCR0, or with ECX = 1 of the components in use.
func execXgetbv(c *CPU, op *Op) {
	if uint32(c.R[RCX]) > 1 {
		c.raise(op, VecGP)
	}
	c.Env.Nondet(c, XGETBV, 0, 8)
}

// nondetReg is for RDRAND, RDSEED and RDPID, whose destination is ModRM.rm. Env
// sets the register in full; here it is narrowed, and CF says that it worked.
func nondetReg(what NondetKind) handler {
	return func(c *CPU, op *Op) {
		old := c.R[op.src&15]
		c.Env.Nondet(c, what, op.src, int(op.size))
		v := c.R[op.src&15]
		c.R[op.src&15] = old
		c.setReg(op.src, op.size, v)
		if what != RDPID {
			c.setAllFlags(CF)
		}
	}
}

func execMfence(c *CPU, op *Op) { c.Env.Orderable(c, 0, 0) }

// execClflush faults like a load of one byte.
func execClflush(c *CPU, op *Op) { c.ld8(op, c.ea(op)) }

func execRdFSBase(c *CPU, op *Op) { c.setReg(op.src, op.size, c.R[RegFS]) }
func execRdGSBase(c *CPU, op *Op) { c.setReg(op.src, op.size, c.R[RegGS]) }
func execWrFSBase(c *CPU, op *Op) { c.writeBase(op, RegFS) }
func execWrGSBase(c *CPU, op *Op) { c.writeBase(op, RegGS) }

func (c *CPU) writeBase(op *Op, r uint8) {
	v := c.getReg(op.src, op.size)
	if !canonical(v) {
		c.raise(op, VecGP)
	}
	c.R[r] = v
}
