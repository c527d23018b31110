package x86

// Shifts and rotates by their digit in the encoding; 6 is an alias of SHL.
const (
	shROL = iota
	shROR
	shRCL
	shRCR
	shSHL
	shSHR
	shSAL
	shSAR
)

func shiftImm(k uint8) handler {
	return func(c *CPU, op *Op) { c.shift(op, k, uint8(op.imm), true) }
}

func shiftCL(k uint8) handler {
	return func(c *CPU, op *Op) { c.shift(op, k, uint8(c.R[RCX]), false) }
}

// shift does shift or rotate k by n on op's ModRM.rm operand. n is masked to 5
// bits, or 6 for 64-bit operands. A masked count of zero changes no flags, but
// the operand is written (SDM volume 2, SAL/SAR/SHL/SHR). OF, which is defined
// for a count of one only, is what Intel processors make it: as for a count of
// one, but ROL and ROR of a register by an immediate keep it.
func (c *CPU) shift(op *Op, k, n uint8, imm bool) {
	if op.size == 8 {
		n &= 63
	} else {
		n &= 31
	}
	a := c.rmwLoad(op)
	if n == 0 {
		c.rmwStore(op, a)
		return
	}
	if k >= shSHL {
		r, cf, of := shifted(k, op.size, a, uint(n))
		c.rmwStore(op, r)
		c.setShift(op.size, r, cf, of)
		return
	}
	w := 8 * op.size
	mask := uint64(CF | OF)
	switch {
	case k >= shRCL && n%(w+1) == 0:
		mask = 0 // all the way round
	case k < shRCL && imm && op.attr&attrMem == 0 && n != 1:
		mask = CF
	}
	r, cf, of := c.rotated(k, op.size, a, uint(n))
	c.rmwStore(op, r)
	c.setFlags(mask, cf&1|of&1<<11)
}

// shifted returns the result of SHL, SHR or SAR of a by n, which isn't 0, and
// CF and OF in bit 0. OF is as for a count of one.
func shifted(k, size uint8, a uint64, n uint) (r, cf, of uint64) {
	w := 8 * uint(size)
	switch k {
	case shSHR:
		r, cf, of = a>>n, a>>(n-1), a>>(w-1)
	case shSAR:
		s := sext(a, size)
		r, cf = uint64(s>>n), uint64(s>>(n-1))
	default:
		r = a << n
		if n <= w {
			cf = a >> (w - n)
		}
		of = a>>(w-1) ^ a>>(w-2)
	}
	return r, cf & 1, of & 1
}

// rotated is shifted for ROL, ROR, RCL and RCR. A rotation by a multiple of
// the width still sets CF and OF.
func (c *CPU) rotated(k, size uint8, a uint64, n uint) (r, cf, of uint64) {
	w := 8 * uint(size)
	m := ^uint64(0) >> (64 - w)
	of = a>>(w-1) ^ a>>(w-2)
	switch k {
	case shROL:
		n %= w
		r = (a<<n | a>>(w-n)) & m
		cf = r
	case shROR:
		n %= w
		r = (a>>n | a<<(w-n)) & m
		cf = r >> (w - 1)
		of = a ^ a>>(w-1)
	case shRCL:
		r, cf = a, c.carry()
		for range n % (w + 1) {
			r, cf = (r<<1|cf)&m, r>>(w-1)&1
		}
	case shRCR:
		r, cf = a, c.carry()
		of = cf ^ a>>(w-1)
		for range n % (w + 1) {
			r, cf = r>>1|cf<<(w-1), r&1
		}
	}
	return r, cf & 1, of & 1
}

// shiftDouble is SHLD (left) and SHRD, by CL or an immediate.
func shiftDouble(left, cl bool) handler {
	return func(c *CPU, op *Op) {
		n := uint(op.imm)
		if cl {
			n = uint(c.R[RCX])
		}
		n &= 31
		if op.size == 8 {
			n = uint(op.imm) & 63
			if cl {
				n = uint(c.R[RCX]) & 63
			}
		}
		a, b := c.rmwLoad(op), c.getReg(op.dst, op.size)
		if n == 0 {
			c.rmwStore(op, a)
			return
		}
		r, cf := doubled(left, op.size, a, b, n)
		c.rmwStore(op, r)
		w := 8 * uint(op.size)
		of := a>>(w-1) ^ b // as for a count of one
		if left {
			of = a>>(w-1) ^ a>>(w-2)
		}
		c.setShift(op.size, r, cf&1, of&1)
	}
}

// doubled shifts a by n, filling from b. 16-bit operands with counts above 16,
// which the manual leaves undefined, go on into a again.
func doubled(left bool, size uint8, a, b uint64, n uint) (r, cf uint64) {
	w := 8 * uint(size)
	if size == 2 {
		if left {
			v := a<<32 | b<<16 | a
			return v << n >> 32 & 0xFFFF, v >> (48 - n)
		}
		v := a<<32 | b<<16 | a
		return v >> n & 0xFFFF, v >> (n - 1)
	}
	if left {
		return a<<n | b>>(w-n), a >> (w - n)
	}
	return a>>n | b<<(w-n), a >> (n - 1)
}
