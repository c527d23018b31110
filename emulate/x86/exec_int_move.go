package x86

import "math/bits"

func execMovMR(c *CPU, op *Op) { c.setRM(op, c.getReg(op.dst, op.size)) }
func execMovRM(c *CPU, op *Op) { c.setReg(op.dst, op.size, c.rm(op)) }
func execMovMI(c *CPU, op *Op) { c.setRM(op, uint64(op.imm)) }
func execMovOI(c *CPU, op *Op) { c.setReg(op.dst, op.size, uint64(op.imm)) }

// selectors are the segment registers ES, CS, SS, DS, FS, GS of a 64-bit Linux
// program.
var selectors = [8]uint64{1: 0x33, 2: 0x2B}

func execMovFromSreg(c *CPU, op *Op) {
	if op.dst > 5 {
		c.raise(op, VecUD)
	}
	if op.attr&attrMem != 0 {
		c.st16(op, c.ea(op), uint16(selectors[op.dst&7]))
		return
	}
	c.setReg(op.src, op.size, selectors[op.dst&7])
}

// movExtend is MOVZX and MOVSX from a source of size bytes.
func movExtend(size uint8, signed bool) handler {
	return func(c *CPU, op *Op) {
		var v uint64
		if op.attr&attrMem != 0 {
			v = c.ld(op, c.ea(op), size)
		} else {
			v = c.getReg(op.src, size)
		}
		if signed {
			v = uint64(sext(v, size))
		}
		c.setReg(op.dst, op.size, v)
	}
}

func reverseBytes(v uint64, size uint8) uint64 { return bits.ReverseBytes64(v) >> (64 - 8*uint(size)) }

func execMovbeLoad(c *CPU, op *Op) { c.setReg(op.dst, op.size, reverseBytes(c.rm(op), op.size)) }
func execMovbeStore(c *CPU, op *Op) {
	c.setRM(op, reverseBytes(c.getReg(op.dst, op.size), op.size))
}

// execLea ignores segment bases.
func execLea(c *CPU, op *Op) {
	a := c.R[op.base&31] + uint64(op.disp)
	if op.idx < RegZero {
		a += c.R[op.idx&31] << (op.scale & 3)
	}
	if op.attr&attrA32 != 0 {
		a = uint64(uint32(a))
	}
	c.setReg(op.dst, op.size, a)
}

func execXchg(c *CPU, op *Op) {
	a, b := c.rmwLoad(op), c.getReg(op.dst, op.size)
	c.rmwStore(op, b)
	c.setReg(op.dst, op.size, a)
}

func execXchgAcc(c *CPU, op *Op) {
	a, b := c.getReg(RAX, op.size), c.getReg(op.dst, op.size)
	c.setReg(RAX, op.size, b)
	c.setReg(op.dst, op.size, a)
}

func execNop(c *CPU, op *Op) {}

// push stores before it changes RSP, so that a fault leaves it.
func (c *CPU) push(op *Op, size uint8, v uint64) {
	sp := c.R[RSP] - uint64(size)
	c.st(op, sp, size, v)
	c.R[RSP] = sp
}

func execPushO(c *CPU, op *Op)    { c.push(op, op.size, c.R[op.dst&31]) }
func execPushM(c *CPU, op *Op)    { c.push(op, op.size, c.rm(op)) }
func execPushf(c *CPU, op *Op)    { c.push(op, op.size, c.Flags()&^(1<<16|1<<17)) }
func execPushSreg(c *CPU, op *Op) { c.push(op, op.size, 0) }

func execPushI(c *CPU, op *Op) { c.push(op, op.size, uint64(op.imm)) }

func execPopO(c *CPU, op *Op) {
	v := c.ld(op, c.R[RSP], op.size)
	c.R[RSP] += uint64(op.size)
	c.setReg(op.dst, op.size, v)
}

// execPopM: RSP as a base in the address is the incremented one (SDM volume 2, POP).
func execPopM(c *CPU, op *Op) {
	sp := c.R[RSP]
	v := c.ld(op, sp, op.size)
	if op.attr&attrMem == 0 {
		c.R[RSP] = sp + uint64(op.size)
		c.setReg(op.src, op.size, v)
		return
	}
	a := c.ea(op)
	if op.base == RSP {
		a += uint64(op.size)
	}
	c.st(op, a, op.size, v)
	c.R[RSP] = sp + uint64(op.size)
}

func execPopf(c *CPU, op *Op) {
	v := c.ld(op, c.R[RSP], op.size)
	c.R[RSP] += uint64(op.size)
	if op.size == 2 {
		v = v&0xFFFF | c.Flags()&^0xFFFF
	}
	traced := c.flags&TF != 0
	c.SetFlags(v)
	if v&TF != 0 && !traced {
		// From the next instruction on; see single.
		c.base += uint64(op.n) + 1
		c.RIP = op.next()
		c.cur = nil
		panic(&Stop{Kind: stopTrace})
	}
}

// execEnter supports nesting levels too. All loads and stores come before the
// registers change.
func execEnter(c *CPU, op *Op) {
	n := uint64(op.size)
	level := uint64(op.aux & 31)
	sp, bp := c.R[RSP], c.R[RBP]
	c.probeStore(op, sp-n*(level+1), int(n*(level+1)))
	c.probeStore(op, sp-n*(level+1)-uint64(uint16(op.imm)), int(n)) // it tries its final stack pointer
	sp -= n
	c.st(op, sp, op.size, bp)
	frame := sp
	for i := uint64(1); i < level; i++ {
		sp -= n
		c.st(op, sp, op.size, c.ld(op, bp-n*i, op.size))
	}
	if level > 0 {
		sp -= n
		c.st(op, sp, op.size, frame)
	}
	c.setReg(RBP, op.size, frame)
	c.R[RSP] = sp - uint64(uint16(op.imm))
}

func execLeave(c *CPU, op *Op) {
	bp := c.R[RBP]
	v := c.ld(op, bp, op.size)
	c.R[RSP] = bp + uint64(op.size)
	c.setReg(RBP, op.size, v)
}

// execCmov always reads its source, and always writes a 32-bit destination.
func execCmov(c *CPU, op *Op) {
	v := c.rm(op)
	if !c.cond(op.aux) {
		v = c.getReg(op.dst, op.size)
	}
	c.setReg(op.dst, op.size, v)
}

func execSetcc(c *CPU, op *Op) {
	var v uint64
	if c.cond(op.aux) {
		v = 1
	}
	c.setRM(op, v)
}

func execXlat(c *CPU, op *Op) {
	a := c.R[RBX] + c.R[RAX]&0xFF
	if op.attr&attrA32 != 0 {
		a = uint64(uint32(a))
	}
	c.setReg8(RAX, c.ld8(op, a+c.R[op.seg&31]))
}
