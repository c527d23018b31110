package x86

import "math/bits"

// BMI1, BMI2, LZCNT and ADX (SDM volume 2). Flags left undefined are cleared,
// but for the parity flag and the adjust flag where processors differ.

const (
	fBLS   = "w:oszc u:ap"
	fCount = "w:zc u:osap"
)

var _ = register([]row{
	{enc: "F3 0F BC /r", mnem: "tzcnt", args: "rv:w rmv:r", flags: fCount, fn: execTzcnt, cpu: "bmi1"},
	{enc: "F3 0F BD /r", mnem: "lzcnt", args: "rv:w rmv:r", flags: fCount, fn: execLzcnt, cpu: "lzcnt"},
	{enc: "VEX.LZ.0F38 F2 /r", mnem: "andn", args: "ry:w yv:r rmy:r", flags: fBLS, fn: execAndn, cpu: "bmi1"},
	{enc: "VEX.LZ.0F38 F3 /1", mnem: "blsr", args: "yv:w rmy:r", flags: fBLS, fn: execBlsr, cpu: "bmi1"},
	{enc: "VEX.LZ.0F38 F3 /2", mnem: "blsmsk", args: "yv:w rmy:r", flags: fBLS, fn: execBlsmsk, cpu: "bmi1"},
	{enc: "VEX.LZ.0F38 F3 /3", mnem: "blsi", args: "yv:w rmy:r", flags: fBLS, fn: execBlsi, cpu: "bmi1"},
	{enc: "VEX.LZ.0F38 F7 /r", mnem: "bextr", args: "ry:w rmy:r yv:r", flags: "w:ozc u:sap", fn: execBextr, cpu: "bmi1"},
	{enc: "VEX.LZ.0F38 F5 /r", mnem: "bzhi", args: "ry:w rmy:r yv:r", flags: fBLS, fn: execBzhi, cpu: "bmi2"},
	{enc: "VEX.LZ.F2.0F38 F5 /r", mnem: "pdep", args: "ry:w yv:r rmy:r", fn: execPdep, cpu: "bmi2"},
	{enc: "VEX.LZ.F3.0F38 F5 /r", mnem: "pext", args: "ry:w yv:r rmy:r", fn: execPext, cpu: "bmi2"},
	{enc: "VEX.LZ.F2.0F38 F6 /r", mnem: "mulx", args: "ry:w yv:w rmy:r | rdx:r", fn: execMulx, cpu: "bmi2"},
	{enc: "VEX.LZ.F2.0F3A F0 /r ib", mnem: "rorx", args: "ry:w rmy:r imm:r", fn: execRorx, cpu: "bmi2"},
	{enc: "VEX.LZ.66.0F38 F7 /r", mnem: "shlx", args: "ry:w rmy:r yv:r", fn: execShlx, cpu: "bmi2"},
	{enc: "VEX.LZ.F3.0F38 F7 /r", mnem: "sarx", args: "ry:w rmy:r yv:r", fn: execSarx, cpu: "bmi2"},
	{enc: "VEX.LZ.F2.0F38 F7 /r", mnem: "shrx", args: "ry:w rmy:r yv:r", fn: execShrx, cpu: "bmi2"},
	{enc: "66 0F 38 F6 /r", mnem: "adcx", args: "ry:rw rmy:r", flags: "r:c w:c", fn: execAdcx, cpu: "adx"},
	{enc: "F3 0F 38 F6 /r", mnem: "adox", args: "ry:rw rmy:r", flags: "r:o w:o", fn: execAdox, cpu: "adx"},
})

// setBMI sets SF and ZF from the result, and CF; the other flags become 0.
func (c *CPU) setBMI(v uint64, size uint8, carry bool) {
	var f uint64
	if v == 0 {
		f = ZF
	}
	if v>>(8*size-1)&1 != 0 {
		f |= SF
	}
	if carry {
		f |= CF
	}
	c.setAllFlags(f)
}

func execTzcnt(c *CPU, op *Op) {
	v, n := c.rm(op), 8*uint64(op.size)
	r := min(uint64(bits.TrailingZeros64(v)), n)
	c.setReg(op.dst, op.size, r)
	c.setCount(r, n)
}

func execLzcnt(c *CPU, op *Op) {
	v, n := c.rm(op), 8*uint64(op.size)
	r := n - uint64(bits.Len64(v))
	c.setReg(op.dst, op.size, r)
	c.setCount(r, n)
}

// setCount sets the flags after a count r of the zeros of n bits.
func (c *CPU) setCount(r, n uint64) {
	var f uint64
	if r == n {
		f = CF
	}
	if r == 0 {
		f |= ZF
	}
	c.setAllFlags(f)
}

func execAndn(c *CPU, op *Op) {
	v := c.rm(op) &^ c.R[op.src2&31]
	c.setReg(op.dst, op.size, v)
	c.setBMI(c.getReg(op.dst, op.size), op.size, false)
}

func execBlsr(c *CPU, op *Op) {
	v := c.rm(op)
	c.setReg(op.src2, op.size, v&(v-1))
	c.setBMI(v&(v-1), op.size, v == 0)
}

func execBlsmsk(c *CPU, op *Op) {
	v := c.rm(op)
	c.setReg(op.src2, op.size, v^(v-1))
	c.setBMI(c.getReg(op.src2, op.size), op.size, v == 0)
}

func execBlsi(c *CPU, op *Op) {
	v := c.rm(op)
	c.setReg(op.src2, op.size, v&-v)
	c.setBMI(v&-v, op.size, v != 0)
}

// execBextr takes the bits that start (bits 7 to 0) and length (15 to 8) say.
func execBextr(c *CPU, op *Op) {
	v, k := c.rm(op), c.R[op.src2&31]
	v >>= k & 0xff
	if n := k >> 8 & 0xff; n < 64 {
		v &= 1<<n - 1
	}
	c.setReg(op.dst, op.size, v)
	c.setBMI(v, op.size, false)
}

// execBzhi clears the bits from the index on.
func execBzhi(c *CPU, op *Op) {
	v, n := c.rm(op), c.R[op.src2&31]&0xff
	out := n >= 8*uint64(op.size)
	if !out {
		v &= 1<<n - 1
	}
	c.setReg(op.dst, op.size, v)
	c.setBMI(v, op.size, out)
}

func execPdep(c *CPU, op *Op) {
	mask, v := c.rm(op), c.getReg(op.src2, op.size)
	var r uint64
	for ; mask != 0; mask &= mask - 1 {
		r |= mask & -mask & -(v & 1)
		v >>= 1
	}
	c.setReg(op.dst, op.size, r)
}

func execPext(c *CPU, op *Op) {
	mask, v := c.rm(op), c.getReg(op.src2, op.size)
	var r uint64
	for i := 0; mask != 0; i++ {
		r |= v >> bits.TrailingZeros64(mask) & 1 << i
		mask &= mask - 1
	}
	c.setReg(op.dst, op.size, r)
}

// execMulx multiplies with RDX. If both destinations are one register, it gets the
// upper half.
func execMulx(c *CPU, op *Op) {
	v := c.rm(op)
	if op.size == 8 {
		hi, lo := bits.Mul64(c.R[RDX], v)
		c.R[op.src2&31] = lo
		c.R[op.dst&31] = hi
		return
	}
	p := uint64(uint32(c.R[RDX])) * v
	c.R[op.src2&31] = uint64(uint32(p))
	c.R[op.dst&31] = p >> 32
}

func execRorx(c *CPU, op *Op) {
	v := c.rm(op)
	if op.size == 8 {
		c.R[op.dst&31] = bits.RotateLeft64(v, -int(op.imm&63))
		return
	}
	c.R[op.dst&31] = uint64(bits.RotateLeft32(uint32(v), -int(op.imm&31)))
}

func execShlx(c *CPU, op *Op) {
	v, n := c.rm(op), c.R[op.src2&31]
	c.setReg(op.dst, op.size, v<<(n&uint64(8*op.size-1)))
}

func execShrx(c *CPU, op *Op) {
	v, n := c.rm(op), c.R[op.src2&31]
	c.setReg(op.dst, op.size, v>>(n&uint64(8*op.size-1)))
}

func execSarx(c *CPU, op *Op) {
	v, n := c.rm(op), c.R[op.src2&31]
	if op.size == 4 {
		c.R[op.dst&31] = uint64(uint32(int32(v) >> (n & 31)))
		return
	}
	c.R[op.dst&31] = uint64(int64(v) >> (n & 63))
}

func execAdcx(c *CPU, op *Op) { c.addFlag(op, CF) }
func execAdox(c *CPU, op *Op) { c.addFlag(op, OF) }

// addFlag adds with carry in and out of one flag; the others stay.
func (c *CPU) addFlag(op *Op, flag uint64) {
	v := c.rm(op)
	f := c.Flags()
	var in uint64
	if f&flag != 0 {
		in = 1
	}
	var r, out uint64
	if op.size == 8 {
		r, out = bits.Add64(c.R[op.dst&31], v, in)
	} else {
		r = uint64(uint32(c.R[op.dst&31])) + v + in
		r, out = uint64(uint32(r)), r>>32
	}
	c.R[op.dst&31] = r
	f &^= flag
	if out != 0 {
		f |= flag
	}
	c.SetFlags(f)
}
