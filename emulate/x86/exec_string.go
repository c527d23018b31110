package x86

import (
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// A repeated string instruction is one instruction that may stop between two
// iterations: registers then are as after the last complete one and RIP is
// still at the instruction. c.run.iters is one more than the iterations
// allowed, 0 for no bound (RunRep).

// counter returns RCX as the address size has it.
func (c *CPU) counter(op *Op) uint64 {
	if op.attr&attrA32 != 0 {
		return uint64(uint32(c.R[RCX]))
	}
	return c.R[RCX]
}

// addrReg returns RSI or RDI as the address size has it.
func (c *CPU) addrReg(op *Op, r uint8) uint64 {
	if op.attr&attrA32 != 0 {
		return uint64(uint32(c.R[r&31]))
	}
	return c.R[r&31]
}

func (c *CPU) setAddrReg(op *Op, r uint8, v uint64) {
	if op.attr&attrA32 != 0 {
		v = uint64(uint32(v))
	}
	c.R[r&31] = v
}

// srcAddr is the address of the source at RSI, which a segment override moves.
func (c *CPU) srcAddr(op *Op) uint64 { return c.addrReg(op, RSI) + c.R[op.seg&31] }

// stride is what one iteration adds to RSI and RDI.
func (c *CPU) stride(op *Op) uint64 {
	if c.flags&DF != 0 {
		return -uint64(op.size)
	}
	return uint64(op.size)
}

// repeat calls step, which does at most max iterations and says how many it did
// and whether to go on, until the count is used up. Without a REP prefix it is
// one iteration that leaves RCX alone.
func (c *CPU) repeat(op *Op, step func(c *CPU, op *Op, max uint64) (n uint64, more bool)) {
	if op.attr&(attrRep|attrRepne) == 0 {
		step(c, op, 1)
		return
	}
	if op.attr&attrA32 != 0 {
		c.R[RCX] = c.counter(op) // also when it is zero
	}
	left := c.run.iters - 1
	for n := c.counter(op); n > 0; {
		if left == 0 {
			panic(&Stop{Kind: StopYield, Err: errIterations})
		}
		k, more := step(c, op, min(n, left))
		n, left = n-k, left-k
		c.setAddrReg(op, RCX, n)
		if !more {
			return
		}
	}
}

func execMovs(c *CPU, op *Op) {
	c.truncate(op, RSI)
	c.truncate(op, RDI)
	c.repeat(op, stepMovs)
}

func execStos(c *CPU, op *Op) {
	c.truncate(op, RDI)
	c.repeat(op, stepStos)
}

// truncate clears the upper half of a register with 32-bit addresses before the
// first iteration, even if there is none or it faults, as processors with fast
// string operations do.
func (c *CPU) truncate(op *Op, r uint8) {
	if op.attr&attrA32 != 0 && op.attr&(attrRep|attrRepne) != 0 {
		c.R[r&31] = c.addrReg(op, r)
	}
}

func execLods(c *CPU, op *Op) { c.repeat(op, stepLods) }
func execCmps(c *CPU, op *Op) { c.repeat(op, stepCmps) }
func execScas(c *CPU, op *Op) { c.repeat(op, stepScas) }

// stepMovs moves as many elements as lie in one line on both sides, if the
// window has both, else one.
func stepMovs(c *CPU, op *Op, max uint64) (uint64, bool) {
	src, dst := c.srcAddr(op), c.addrReg(op, RDI)
	size := uint64(op.size)
	d := c.stride(op)
	if max > 1 && d == size {
		n := min(hwmodel.LineSize-src&lineMask, hwmodel.LineSize-dst&lineMask, max*size)
		n -= n % size
		s, w := c.entry(src), c.entry(dst)
		// Moving forward into one's own source repeats it: not what copy does.
		if n > 0 && s.R == src>>lineShift && w.W == dst>>lineShift && dst-src >= n {
			copy(unsafe.Slice((*byte)(unsafe.Add(w.P, dst&lineMask)), n),
				unsafe.Slice((*byte)(unsafe.Add(s.P, src&lineMask)), n))
			c.setAddrReg(op, RSI, c.R[RSI]+n)
			c.setAddrReg(op, RDI, c.R[RDI]+n)
			return n / size, true
		}
	}
	c.st(op, dst, op.size, c.ld(op, src, op.size))
	c.setAddrReg(op, RSI, c.R[RSI]+d)
	c.setAddrReg(op, RDI, c.R[RDI]+d)
	return 1, true
}

func stepStos(c *CPU, op *Op, max uint64) (uint64, bool) {
	dst := c.addrReg(op, RDI)
	size := uint64(op.size)
	d := c.stride(op)
	if max > 1 && d == size {
		n := min(hwmodel.LineSize-dst&lineMask, max*size)
		n -= n % size
		if w := c.entry(dst); n > 0 && w.W == dst>>lineShift {
			fill(unsafe.Slice((*byte)(unsafe.Add(w.P, dst&lineMask)), n), c.R[RAX], op.size)
			c.setAddrReg(op, RDI, c.R[RDI]+n)
			return n / size, true
		}
	}
	c.st(op, dst, op.size, c.R[RAX])
	c.setAddrReg(op, RDI, c.R[RDI]+d)
	return 1, true
}

// fill fills b with the low size bytes of v over and over.
func fill(b []byte, v uint64, size uint8) {
	if v<<(64-8*uint(size)) == 0 {
		clear(b)
		return
	}
	for i := range b {
		b[i] = byte(v >> (8 * (uint(i) & uint(size-1))))
	}
}

func stepLods(c *CPU, op *Op, _ uint64) (uint64, bool) {
	c.setReg(RAX, op.size, c.ld(op, c.srcAddr(op), op.size))
	c.setAddrReg(op, RSI, c.R[RSI]+c.stride(op))
	return 1, true
}

// goesOn is the condition of REPE and REPNE after a comparison.
func goesOn(op *Op, equal bool) bool { return equal == (op.attr&attrRep != 0) }

func stepCmps(c *CPU, op *Op, _ uint64) (uint64, bool) {
	a := c.ld(op, c.srcAddr(op), op.size)
	b := c.ld(op, c.addrReg(op, RDI), op.size)
	c.setSub(op.size, a, b, a-b)
	c.setAddrReg(op, RSI, c.R[RSI]+c.stride(op))
	c.setAddrReg(op, RDI, c.R[RDI]+c.stride(op))
	return 1, goesOn(op, a == b)
}

func stepScas(c *CPU, op *Op, _ uint64) (uint64, bool) {
	a := c.getReg(RAX, op.size)
	b := c.ld(op, c.addrReg(op, RDI), op.size)
	c.setSub(op.size, a, b, a-b)
	c.setAddrReg(op, RDI, c.R[RDI]+c.stride(op))
	return 1, goesOn(op, a == b)
}
