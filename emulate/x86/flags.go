package x86

// Bits of RFLAGS (SDM volume 1, 3.4.3).
const (
	CF = 1 << 0
	PF = 1 << 2
	AF = 1 << 4
	ZF = 1 << 6
	SF = 1 << 7
	TF = 1 << 8
	IF = 1 << 9
	DF = 1 << 10
	OF = 1 << 11
	AC = 1 << 18
	ID = 1 << 21

	arithFlags = CF | PF | AF | ZF | SF | OF
	// userFlags are what POPF changes at privilege level 3.
	userFlags = arithFlags | TF | DF | AC | ID
	// fixedFlags always read as set in user mode.
	fixedFlags = IF | 2
)

// Lazy flags: fop says how the arithmetic flags follow from fa, fb and fr
// (bits above the operand size are ignored). fopNone: they are in c.flags.
// The low two bits of fop are the logarithm of the operand size.
const (
	fopNone  = iota << 2
	fopAdd   // fr = fa + fb (+ carry)
	fopSub   // fr = fa - fb (- borrow)
	fopLogic // fr; CF, OF and AF clear
	fopInc   // fr = fa + 1; CF is fb
	fopDec   // fr = fa - 1; CF is fb
	fopShift // fr; CF is fa bit 0, OF is fb bit 0, AF clear
	fopMul   // fr = fa * fb, signed; CF and OF: it doesn't fit; ZF and AF clear
)

// sizeLog gives the logarithm of an operand size.
func sizeLog(size uint8) uint8 {
	switch size {
	case 1:
		return 0
	case 2:
		return 1
	case 4:
		return 2
	}
	return 3
}

func (c *CPU) setAdd(size uint8, a, b, r uint64) {
	c.fop, c.fa, c.fb, c.fr = fopAdd|sizeLog(size), a, b, r
}

func (c *CPU) setSub(size uint8, a, b, r uint64) {
	c.fop, c.fa, c.fb, c.fr = fopSub|sizeLog(size), a, b, r
}

func (c *CPU) setLogic(size uint8, r uint64) {
	c.fop, c.fr = fopLogic|sizeLog(size), r
}

// setShift sets SF, ZF and PF from r, and CF and OF from bit 0 of cf and of.
func (c *CPU) setShift(size uint8, r, cf, of uint64) {
	c.fop, c.fa, c.fb, c.fr = fopShift|sizeLog(size), cf, of, r
}

// setFlags sets the arithmetic flags among mask to bits.
func (c *CPU) setFlags(mask, bits uint64) {
	c.materialise()
	c.flags = c.flags&^mask | bits&mask
}

// setAllFlags sets all six arithmetic flags.
func (c *CPU) setAllFlags(bits uint64) {
	c.fop = fopNone
	c.flags = c.flags&^arithFlags | bits
}

// Flags returns RFLAGS.
func (c *CPU) Flags() uint64 {
	c.materialise()
	return c.flags | fixedFlags
}

// SetFlags sets RFLAGS, as far as a user program can.
func (c *CPU) SetFlags(v uint64) {
	c.fop = fopNone
	c.flags = v&userFlags | fixedFlags
}

// materialise brings the arithmetic flags into c.flags.
func (c *CPU) materialise() {
	if c.fop == fopNone {
		return
	}
	c.flags = c.flags&^arithFlags | c.lazy()
	c.fop = fopNone
}

// lazy computes the arithmetic flags; fop isn't fopNone.
func (c *CPU) lazy() uint64 {
	top := uint(8)<<(c.fop&3) - 1 // the sign bit
	a, b, r := c.fa, c.fb, c.fr
	f := parity(r) | r>>top&1<<7
	if r<<(63-top) == 0 {
		f |= ZF
	}
	switch c.fop &^ 3 {
	case fopAdd:
		f |= (a&b | (a|b)&^r) >> top & 1
		f |= (a ^ b ^ r) & AF
		f |= (a ^ r) & (b ^ r) >> top & 1 << 11
	case fopSub:
		f |= (^a&b | (^a|b)&r) >> top & 1
		f |= (a ^ b ^ r) & AF
		f |= (a ^ b) & (a ^ r) >> top & 1 << 11
	case fopInc:
		f |= b & 1
		f |= (a ^ 1 ^ r) & AF
		f |= (^a & r) >> top & 1 << 11
	case fopDec:
		f |= b & 1
		f |= (a ^ 1 ^ r) & AF
		f |= (a &^ r) >> top & 1 << 11
	case fopShift:
		f |= a&1 | b&1<<11
	case fopMul:
		f &^= ZF
		if c.mulOver() {
			f |= CF | OF
		}
	}
	return f
}

// mulOver says whether the product of fopMul doesn't fit its operands' size.
func (c *CPU) mulOver() bool {
	size := uint8(1) << (c.fop & 3)
	hi, lo := mulSigned(sext(c.fa, size), sext(c.fb, size))
	return int64(hi) != int64(lo)>>63 || int64(lo) != sext(lo, size)
}

// carry returns CF as 0 or 1.
func (c *CPU) carry() uint64 {
	if c.fop == fopNone {
		return c.flags & CF
	}
	top := uint(8)<<(c.fop&3) - 1
	a, b, r := c.fa, c.fb, c.fr
	switch c.fop &^ 3 {
	case fopAdd:
		return (a&b | (a|b)&^r) >> top & 1
	case fopSub:
		return (^a&b | (^a|b)&r) >> top & 1
	case fopInc, fopDec:
		return b & 1
	case fopShift:
		return a & 1
	case fopMul:
		if c.mulOver() {
			return 1
		}
	}
	return 0
}

// Conditions as the low four bits of Jcc, SETcc and CMOVcc encode them; odd
// ones are the negations (SDM volume 1, appendix B).
const (
	ccO  = 0
	ccB  = 2
	ccE  = 4
	ccBE = 6
	ccS  = 8
	ccP  = 10
	ccL  = 12
	ccLE = 14
)

// cond says whether condition cc holds.
func (c *CPU) cond(cc uint8) bool {
	top := 63 - (uint(8)<<(c.fop&3) - 1) // shift that brings the sign bit to bit 63
	var r bool
	switch {
	case c.fop&^3 == fopSub && cc < 16:
		a, b := c.fa<<(top&63), c.fb<<(top&63)
		d := c.fr << (top & 63)
		switch cc &^ 1 {
		case ccE:
			r = d == 0
		case ccS:
			r = int64(d) < 0
		case ccP:
			r = parity(c.fr) != 0
		case ccO:
			r = int64((a^b)&(a^d)) < 0
		case ccB:
			r = int64(^a&b|(^a|b)&d) < 0
		case ccBE:
			r = int64(^a&b|(^a|b)&d) < 0 || d == 0
		case ccL:
			r = int64((a^b)&(a^d)^d) < 0
		case ccLE:
			r = int64((a^b)&(a^d)^d) < 0 || d == 0
		}
	case c.fop&^3 == fopLogic:
		d := c.fr << (top & 63)
		switch cc &^ 1 {
		case ccE, ccBE:
			r = d == 0
		case ccS, ccL:
			r = int64(d) < 0
		case ccLE:
			r = int64(d) <= 0
		case ccP:
			r = parity(c.fr) != 0
		}
	default:
		f := c.flags
		if c.fop != fopNone {
			f = c.lazy()
		}
		r = condFlags(cc, f)
	}
	return r != (cc&1 != 0)
}

// condFlags evaluates the condition cc, taken as its even form, on flags f.
func condFlags(cc uint8, f uint64) bool {
	switch cc &^ 1 {
	case ccO:
		return f&OF != 0
	case ccB:
		return f&CF != 0
	case ccE:
		return f&ZF != 0
	case ccBE:
		return f&(CF|ZF) != 0
	case ccS:
		return f&SF != 0
	case ccP:
		return f&PF != 0
	case ccL:
		return (f>>7^f>>11)&1 != 0
	}
	return (f>>7^f>>11)&1 != 0 || f&ZF != 0
}
