package x86

import "math/bits"

// The eight operations of opcodes 00 to 3F, by their number in the encoding.
const (
	aluAdd = iota
	aluOr
	aluAdc
	aluSbb
	aluAnd
	aluSub
	aluXor
	aluCmp
)

// alu computes operation k on operands of size bytes. Bits above are garbage.
func (c *CPU) alu(k uint8, a, b uint64) uint64 {
	switch k {
	case aluAdd:
		return a + b
	case aluOr:
		return a | b
	case aluAdc:
		return a + b + c.carry()
	case aluSbb:
		return a - b - c.carry()
	case aluAnd:
		return a & b
	case aluXor:
		return a ^ b
	}
	return a - b
}

// aluFlags sets the flags of operation k with operands a, b and result r.
func (c *CPU) aluFlags(k, size uint8, a, b, r uint64) {
	switch k {
	case aluAdd, aluAdc:
		c.setAdd(size, a, b, r)
	case aluOr, aluAnd, aluXor:
		c.setLogic(size, r)
	default:
		c.setSub(size, a, b, r)
	}
}

// aluDest does operation k on the ModRM.rm operand and b, and stores the result there.
func (c *CPU) aluDest(op *Op, k uint8, b uint64) {
	if k == aluCmp {
		a := c.rm(op)
		c.setSub(op.size, a, b, a-b)
		return
	}
	a := c.rmwLoad(op)
	r := c.alu(k, a, b)
	c.rmwStore(op, r)
	c.aluFlags(k, op.size, a, b, r)
}

func aluMR(k uint8) handler {
	return func(c *CPU, op *Op) { c.aluDest(op, k, c.getReg(op.dst, op.size)) }
}

func aluMI(k uint8) handler {
	return func(c *CPU, op *Op) { c.aluDest(op, k, uint64(op.imm)) }
}

func aluRM(k uint8) handler {
	return func(c *CPU, op *Op) {
		b := c.rm(op)
		a := c.getReg(op.dst, op.size)
		r := c.alu(k, a, b)
		if k != aluCmp {
			c.setReg(op.dst, op.size, r)
		}
		c.aluFlags(k, op.size, a, b, r)
	}
}

// rmwStore stores what rmwLoad loaded and the instruction changed. It ends a
// LOCK operation.
func (c *CPU) rmwStore(op *Op, v uint64) {
	c.setRM(op, v)
	c.atomi = false
}

func execTestMR(c *CPU, op *Op) { c.setLogic(op.size, c.rm(op)&c.getReg(op.dst, op.size)) }
func execTestMI(c *CPU, op *Op) { c.setLogic(op.size, c.rm(op)&uint64(op.imm)) }

func execNot(c *CPU, op *Op) { c.rmwStore(op, ^c.rmwLoad(op)) }

func execNeg(c *CPU, op *Op) {
	a := c.rmwLoad(op)
	c.rmwStore(op, -a)
	c.setSub(op.size, 0, a, -a)
}

func execInc(c *CPU, op *Op) {
	a := c.rmwLoad(op)
	c.rmwStore(op, a+1)
	cf := c.carry()
	c.fop, c.fa, c.fb, c.fr = fopInc|sizeLog(op.size), a, cf, a+1
}

func execDec(c *CPU, op *Op) {
	a := c.rmwLoad(op)
	c.rmwStore(op, a-1)
	cf := c.carry()
	c.fop, c.fa, c.fb, c.fr = fopDec|sizeLog(op.size), a, cf, a-1
}

// setMul sets CF and OF if over, SF and PF from the low half of the product;
// ZF and AF become clear. (SF, ZF, AF, PF are undefined by the manual.)
func (c *CPU) setMul(size uint8, lo uint64, over bool) {
	f := parity(lo) | lo>>(8*uint(size)-1)&1<<7
	if over {
		f |= CF | OF
	}
	c.setAllFlags(f)
}

func execMul(c *CPU, op *Op) {
	b, a := c.rm(op), c.getReg(RAX, op.size)
	switch op.size {
	case 1:
		r := a * b
		c.setReg(RAX, 2, r)
		c.setMul(1, r, r>>8 != 0)
	case 8:
		hi, lo := bits.Mul64(a, b)
		c.R[RAX], c.R[RDX] = lo, hi
		c.setMul(8, lo, hi != 0)
	default:
		r := a * b
		n := 8 * uint(op.size)
		c.setReg(RAX, op.size, r)
		c.setReg(RDX, op.size, r>>n)
		c.setMul(op.size, r, r>>n != 0)
	}
}

// sext sign-extends the low size bytes of v.
func sext(v uint64, size uint8) int64 {
	n := 64 - 8*uint(size)
	return int64(v<<n) >> n
}

// mulSigned returns the 128-bit product of a and b.
func mulSigned(a, b int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return hi, lo
}

func execIMul1(c *CPU, op *Op) {
	b, a := sext(c.rm(op), op.size), sext(c.getReg(RAX, op.size), op.size)
	if op.size == 8 {
		hi, lo := mulSigned(a, b)
		c.R[RAX], c.R[RDX] = lo, hi
		c.setMul(8, lo, int64(hi) != int64(lo)>>63)
		return
	}
	r := uint64(a * b)
	if op.size == 1 {
		c.setReg(RAX, 2, r)
	} else {
		c.setReg(RAX, op.size, r)
		c.setReg(RDX, op.size, r>>(8*op.size))
	}
	c.setMul(op.size, r, int64(r) != sext(r, op.size))
}

func (c *CPU) imulTo(op *Op, a, b uint64) {
	x, y := sext(a, op.size), sext(b, op.size)
	hi, lo := mulSigned(x, y)
	over := int64(hi) != int64(lo)>>63 || int64(lo) != sext(lo, op.size)
	c.setReg(op.dst, op.size, lo)
	c.setMul(op.size, lo, over)
}

func execIMul2(c *CPU, op *Op) { c.imulTo(op, c.rm(op), c.getReg(op.dst, op.size)) }
func execIMul3(c *CPU, op *Op) { c.imulTo(op, c.rm(op), uint64(op.imm)) }

// execDiv leaves the flags alone, as Intel processors do (the manual calls
// them undefined).
func execDiv(c *CPU, op *Op) {
	b := c.rm(op)
	if op.size == 8 {
		if b <= c.R[RDX] {
			c.raise(op, VecDE)
		}
		c.R[RAX], c.R[RDX] = bits.Div64(c.R[RDX], c.R[RAX], b)
		return
	}
	n := 8 * uint(op.size)
	var a uint64
	if op.size == 1 {
		a = c.getReg(RAX, 2)
	} else {
		a = c.getReg(RDX, op.size)<<n | c.getReg(RAX, op.size)
	}
	if b == 0 || a/b>>n != 0 {
		c.raise(op, VecDE)
	}
	c.setQuotient(op, a/b, a%b)
}

func (c *CPU) setQuotient(op *Op, q, r uint64) {
	if op.size == 1 {
		c.setReg(RAX, 2, q&0xFF|r<<8)
		return
	}
	c.setReg(RAX, op.size, q)
	c.setReg(RDX, op.size, r)
}

func execIDiv(c *CPU, op *Op) {
	b := sext(c.rm(op), op.size)
	if b == 0 {
		c.raise(op, VecDE)
	}
	if op.size == 8 {
		c.idiv64(op, b)
		return
	}
	n := 8 * uint(op.size)
	var a int64
	if op.size == 1 {
		a = sext(c.getReg(RAX, 2), 2)
	} else {
		a = sext(c.getReg(RDX, op.size)<<n|c.getReg(RAX, op.size), 2*op.size)
	}
	if a == -1<<63 && b == -1 {
		c.raise(op, VecDE)
	}
	q, r := a/b, a%b
	if q != sext(uint64(q), op.size) {
		c.raise(op, VecDE)
	}
	c.setQuotient(op, uint64(q), uint64(r))
}

func (c *CPU) idiv64(op *Op, b int64) {
	hi, lo := c.R[RDX], c.R[RAX]
	negA, negB := int64(hi) < 0, b < 0
	if negA {
		var carry uint64
		lo, carry = bits.Add64(^lo, 1, 0)
		hi = ^hi + carry
	}
	ub := uint64(b)
	if negB {
		ub = -ub
	}
	if hi >= ub {
		c.raise(op, VecDE)
	}
	q, r := bits.Div64(hi, lo, ub)
	if negA != negB {
		if q > 1<<63 {
			c.raise(op, VecDE)
		}
		q = -q
	} else if q >= 1<<63 {
		c.raise(op, VecDE)
	}
	if negA {
		r = -r
	}
	c.R[RAX], c.R[RDX] = q, r
}

// execCBW is CBW, CWDE or CDQE; execCWD is CWD, CDQ or CQO.
func execCBW(c *CPU, op *Op) { c.setReg(RAX, op.size, uint64(sext(c.R[RAX], op.size/2))) }
func execCWD(c *CPU, op *Op) { c.setReg(RDX, op.size, uint64(sext(c.R[RAX], op.size)>>63)) }

func execXadd(c *CPU, op *Op) {
	a, b := c.rmwLoad(op), c.getReg(op.dst, op.size)
	r := a + b
	if op.attr&attrMem != 0 {
		c.rmwStore(op, r)
		c.setReg(op.dst, op.size, a)
	} else {
		c.setReg(op.dst, op.size, a) // first: for XADD of a register with itself the sum stays
		c.setReg(op.src, op.size, r)
	}
	c.setAdd(op.size, a, b, r)
}

// execCmpxchg always stores, as the processor does: what was there if the
// comparison fails.
func execCmpxchg(c *CPU, op *Op) {
	a, acc := c.rmwLoad(op), c.getReg(RAX, op.size)
	if a == acc {
		c.rmwStore(op, c.getReg(op.dst, op.size))
	} else {
		if op.attr&attrMem != 0 {
			c.rmwStore(op, a)
		}
		c.setReg(RAX, op.size, a)
	}
	c.setSub(op.size, acc, a, acc-a)
}

func execCmpxchg8b(c *CPU, op *Op) {
	acc := c.R[RDX]<<32 | uint64(uint32(c.R[RAX]))
	a := c.rmwLoad(op)
	if a == acc {
		c.rmwStore(op, c.R[RCX]<<32|uint64(uint32(c.R[RBX])))
		c.setFlags(ZF, ZF)
		return
	}
	c.rmwStore(op, a)
	c.setReg(RAX, 4, a)
	c.setReg(RDX, 4, a>>32)
	c.setFlags(ZF, 0)
}

func execCmpxchg16b(c *CPU, op *Op) {
	addr := c.ea(op)
	if addr&15 != 0 {
		c.raise(op, VecGP)
	}
	if op.attr&attrLock != 0 {
		c.lockAt(op, addr, 16)
	}
	lo := c.ldUpdate(op, addr, 8)
	hi := c.ldUpdate(op, addr+8, 8)
	if lo == c.R[RAX] && hi == c.R[RDX] {
		c.stX(op, addr, [2]uint64{c.R[RBX], c.R[RCX]})
		c.setFlags(ZF, ZF)
	} else {
		c.stX(op, addr, [2]uint64{lo, hi})
		c.R[RAX], c.R[RDX] = lo, hi
		c.setFlags(ZF, 0)
	}
	c.atomi = false
}

func execCMC(c *CPU, op *Op) { c.materialise(); c.flags ^= CF }
func execCLC(c *CPU, op *Op) { c.setFlags(CF, 0) }
func execSTC(c *CPU, op *Op) { c.setFlags(CF, CF) }
func execCLD(c *CPU, op *Op) { c.flags &^= DF }
func execSTD(c *CPU, op *Op) { c.flags |= DF }

const ahFlags = SF | ZF | AF | PF | CF

func execSAHF(c *CPU, op *Op) { c.setFlags(ahFlags, c.R[RAX]>>8) }
func execLAHF(c *CPU, op *Op) { c.setReg8(highByte, uint8(c.Flags()&ahFlags|2)) }
