package x86

// Shifts, shuffles, packing and unpacking (SSE2 and SSSE3).

// A laneShift moves the bits of each lane of a by n.
type laneShift func(a, n uint64) uint64

func sllw(a, n uint64) uint64 {
	if n > 15 {
		return 0
	}
	return a << n & (lowW * (0xffff << n & 0xffff))
}

func slld(a, n uint64) uint64 {
	if n > 31 {
		return 0
	}
	return a << n & (lowD * (0xffffffff << n & 0xffffffff))
}

func sllq(a, n uint64) uint64 { return a << n }

func srlw(a, n uint64) uint64 {
	if n > 15 {
		return 0
	}
	return a >> n & (lowW * (0xffff >> n))
}

func srld(a, n uint64) uint64 {
	if n > 31 {
		return 0
	}
	return a >> n & (lowD * (0xffffffff >> n))
}

func srlq(a, n uint64) uint64 { return a >> n }

func sraw(a, n uint64) uint64 {
	n = min(n, 15)
	keep := lowW * (uint64(0xffff) >> n)
	return a>>n&keep | spreadW(a&signW)&^keep
}

func srad(a, n uint64) uint64 {
	n = min(n, 31)
	keep := lowD * (uint64(0xffffffff) >> n)
	return a>>n&keep | spreadD(a&signD)&^keep
}

// packedShift makes the handler of a shift whose count is in xmm/m128: all of its
// low 64 bits count.
func packedShift(f laneShift) handler {
	return func(c *CPU, op *Op) {
		n, _ := c.xs(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(d[0], n), f(d[1], n)
	}
}

// packedShiftImm makes the handler of a shift by an immediate, of the ModRM.rm
// register.
func packedShiftImm(f laneShift) handler {
	return func(c *CPU, op *Op) {
		d := &c.X[op.src&15]
		n := uint64(uint8(op.imm))
		d[0], d[1] = f(d[0], n), f(d[1], n)
	}
}

func execPslldq(c *CPU, op *Op) {
	d := &c.X[op.src&15]
	d[0], d[1] = shiftBytesUp(d[0], d[1], uint8(op.imm))
}

func execPsrldq(c *CPU, op *Op) {
	d := &c.X[op.src&15]
	d[0], d[1] = shiftBytesDown(d[0], d[1], uint8(op.imm))
}

// Shifts by 64 and more give 0 in Go, so n may be anything.
func shiftBytesUp(lo, hi uint64, n uint8) (uint64, uint64) {
	s := uint64(n) * 8
	if s >= 64 {
		return 0, lo << (s - 64)
	}
	return lo << s, hi<<s | lo>>(64-s)
}

func shiftBytesDown(lo, hi uint64, n uint8) (uint64, uint64) {
	s := uint64(n) * 8
	if s >= 64 {
		return hi >> (s - 64), 0
	}
	return lo>>s | hi<<(64-s), hi >> s
}

// execPalignr takes 16 bytes out of destination and source put together.
func execPalignr(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	n := uint8(op.imm)
	if n >= 16 {
		d[0], d[1] = shiftBytesDown(d[0], d[1], n-16)
		return
	}
	lo, hi = shiftBytesDown(lo, hi, n)
	l, h := shiftBytesUp(d[0], d[1], 16-n)
	d[0], d[1] = lo|l, hi|h
}

func execPshufd(c *CPU, op *Op) {
	s := dwordsOf(c.xp(op))
	i := uint8(op.imm)
	d := &c.X[op.dst&15]
	d[0], d[1] = uint64(s[i&3])|uint64(s[i>>2&3])<<32, uint64(s[i>>4&3])|uint64(s[i>>6])<<32
}

func execShufps(c *CPU, op *Op) {
	s := dwordsOf(c.xp(op))
	i := uint8(op.imm)
	d := &c.X[op.dst&15]
	v := dwordsOf(d)
	d[0], d[1] = uint64(v[i&3])|uint64(v[i>>2&3])<<32, uint64(s[i>>4&3])|uint64(s[i>>6])<<32
}

func execShufpd(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	if op.imm&1 != 0 {
		d[0] = d[1]
	}
	d[1] = lo
	if op.imm&2 != 0 {
		d[1] = hi
	}
}

// shufw permutes the words of v.
func shufw(v uint64, i uint8) uint64 {
	return v>>(i&3<<4)&0xffff | v>>(i>>2&3<<4)&0xffff<<16 |
		v>>(i>>4&3<<4)&0xffff<<32 | v>>(i>>6<<4)&0xffff<<48
}

func execPshuflw(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = shufw(lo, uint8(op.imm)), hi
}

func execPshufhw(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = lo, shufw(hi, uint8(op.imm))
}

func execPshufb(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = shufBytes(bytesOf(d), lo), shufBytes(bytesOf(d), hi)
}

// shufBytes takes bytes of from as those of sel say; a top bit there means 0.
func shufBytes(from *[16]uint8, sel uint64) uint64 {
	var r uint64
	for i := 0; i < 64; i += 8 {
		r |= uint64(from[sel>>i&15]) << i
	}
	return r &^ spreadB(sel&signB)
}

// zipb, zipw and zipd interleave the lanes of the low 32 bits of a and b.
func zipb(a, b uint64) uint64 { return spaceB(a) | spaceB(b)<<8 }
func zipw(a, b uint64) uint64 { return spaceW(a) | spaceW(b)<<16 }
func zipd(a, b uint64) uint64 { return a&0xffffffff | b<<32 }

func spaceB(v uint64) uint64 {
	v = spaceW(v)
	return (v | v<<8) & 0x00ff00ff00ff00ff
}

func spaceW(v uint64) uint64 {
	v &= 0xffffffff
	return (v | v<<16) & 0x0000ffff0000ffff
}

func execPunpcklbw(c *CPU, op *Op) {
	lo, _ := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[0]
	d[0], d[1] = zipb(a, lo), zipb(a>>32, lo>>32)
}

func execPunpckhbw(c *CPU, op *Op) {
	_, hi := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[1]
	d[0], d[1] = zipb(a, hi), zipb(a>>32, hi>>32)
}

func execPunpcklwd(c *CPU, op *Op) {
	lo, _ := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[0]
	d[0], d[1] = zipw(a, lo), zipw(a>>32, lo>>32)
}

func execPunpckhwd(c *CPU, op *Op) {
	_, hi := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[1]
	d[0], d[1] = zipw(a, hi), zipw(a>>32, hi>>32)
}

// execPunpckldq is also UNPCKLPS; the other three have such twins too.
func execPunpckldq(c *CPU, op *Op) {
	lo, _ := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[0]
	d[0], d[1] = zipd(a, lo), zipd(a>>32, lo>>32)
}

func execPunpckhdq(c *CPU, op *Op) {
	_, hi := c.xs(op)
	d := &c.X[op.dst&15]
	a := d[1]
	d[0], d[1] = zipd(a, hi), zipd(a>>32, hi>>32)
}

func execPunpcklqdq(c *CPU, op *Op) {
	lo, _ := c.xs(op)
	c.X[op.dst&15][1] = lo
}

func execPunpckhqdq(c *CPU, op *Op) {
	_, hi := c.xs(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = d[1], hi
}

// A narrowing packs the two doublewords or four words of v into 32 bits.
type narrowing func(v uint64) uint64

func packsswb(v uint64) uint64 {
	return uint64(uint8(satB(int32(int16(v))))) | uint64(uint8(satB(int32(int16(v>>16)))))<<8 |
		uint64(uint8(satB(int32(int16(v>>32)))))<<16 | uint64(uint8(satB(int32(int16(v>>48)))))<<24
}

func packuswb(v uint64) uint64 {
	return uint64(satUB(int32(int16(v)))) | uint64(satUB(int32(int16(v>>16))))<<8 |
		uint64(satUB(int32(int16(v>>32))))<<16 | uint64(satUB(int32(int16(v>>48))))<<24
}

func packssdw(v uint64) uint64 {
	return uint64(uint16(satW(int32(v)))) | uint64(uint16(satW(int32(v>>32))))<<16
}

func packusdw(v uint64) uint64 {
	return uint64(satUW(int32(v))) | uint64(satUW(int32(v>>32)))<<16
}

// pack makes the handler of a PACK instruction.
func pack(f narrowing) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(d[0])|f(d[1])<<32, f(lo)|f(hi)<<32
	}
}

// execPinsrw and its kin put a general register or memory into one lane.
func execPinsrb(c *CPU, op *Op) {
	var v uint8
	if op.attr&attrMem != 0 {
		v = c.ld8(op, c.ea(op))
	} else {
		v = uint8(c.R[op.src&31])
	}
	bytesOf(&c.X[op.dst&15])[op.imm&15] = v
}

func execPinsrw(c *CPU, op *Op) { wordsOf(&c.X[op.dst&15])[op.imm&7] = c.rm16(op) }

func execPinsrd(c *CPU, op *Op) {
	if op.size == 8 {
		c.X[op.dst&15][op.imm&1] = c.rm64(op)
		return
	}
	dwordsOf(&c.X[op.dst&15])[op.imm&3] = c.rm32(op)
}

// execPextrwReg is 66 0F C5: from ModRM.rm to ModRM.reg.
func execPextrwReg(c *CPU, op *Op) {
	c.R[op.dst&31] = uint64(wordsOf(&c.X[op.src&15])[op.imm&7])
}

// execPextrb and the others (SSE4.1) go from ModRM.reg to ModRM.rm, and clear
// the rest of a register.
func execPextrb(c *CPU, op *Op) {
	v := bytesOf(&c.X[op.dst&15])[op.imm&15]
	if op.attr&attrMem != 0 {
		c.st8(op, c.ea(op), v)
		return
	}
	c.R[op.src&31] = uint64(v)
}

func execPextrw(c *CPU, op *Op) {
	v := wordsOf(&c.X[op.dst&15])[op.imm&7]
	if op.attr&attrMem != 0 {
		c.st16(op, c.ea(op), v)
		return
	}
	c.R[op.src&31] = uint64(v)
}

// execPextrd is PEXTRD, PEXTRQ and EXTRACTPS.
func execPextrd(c *CPU, op *Op) {
	if op.size == 8 {
		c.setRM(op, c.X[op.dst&15][op.imm&1])
		return
	}
	c.setRM(op, uint64(dwordsOf(&c.X[op.dst&15])[op.imm&3]))
}
