package x86

// Moves, broadcasts, permutations, masked moves and gathers of AVX and AVX2.

// execVmovLoad is VMOVUPS, VMOVDQU and the like, and with a register VMOVAPS.
func execVmovLoad(c *CPU, op *Op) {
	s, t := c.vp(op)
	d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
	d[0], d[1] = s[0], s[1]
	if op.size != 32 {
		e[0], e[1] = 0, 0
		return
	}
	e[0], e[1] = t[0], t[1]
}

func execVmovStore(c *CPU, op *Op) {
	s, t := &c.X[op.dst&15], &c.Y[op.dst&15]
	if op.attr&attrMem == 0 {
		d, e := &c.X[op.src&15], &c.Y[op.src&15]
		*d = *s
		if op.size == 32 {
			*e = *t
		} else {
			*e = [2]uint64{}
		}
		return
	}
	if op.size == 32 {
		c.stY(op, c.ea(op), s, t)
		return
	}
	c.stX(op, c.ea(op), *s)
}

// execVmovaLoad and execVmovaStore fault when memory isn't aligned.
func execVmovaLoad(c *CPU, op *Op) {
	c.checkAligned(op)
	execVmovLoad(c, op)
}

func execVmovaStore(c *CPU, op *Op) {
	c.checkAligned(op)
	execVmovStore(c, op)
}

func (c *CPU) checkAligned(op *Op) {
	if op.attr&attrMem != 0 && c.ea(op)&uint64(op.size-1) != 0 {
		c.raise(op, VecGP)
	}
}

// upperZero makes the VEX form of an instruction whose destination is
// ModRM.reg and which sets the low 16 bytes as its SSE form does.
func upperZero(f handler) handler {
	return func(c *CPU, op *Op) {
		f(c, op)
		c.Y[op.dst&15] = [2]uint64{}
	}
}

// VMOVSS and VMOVSD between registers take the rest from the first source.
func execVmovssReg(c *CPU, op *Op) {
	a := &c.X[op.src2&15]
	c.setX(op, low32(a[0], uint32(c.X[op.src&15][0])), a[1])
}

func execVmovsdReg(c *CPU, op *Op) { c.setX(op, c.X[op.src&15][0], c.X[op.src2&15][1]) }

// execVmovssRev and execVmovsdRev are opcode 11, with the destination in
// ModRM.rm.
func execVmovssRev(c *CPU, op *Op) {
	a := &c.X[op.src2&15]
	lo, hi := low32(a[0], uint32(c.X[op.dst&15][0])), a[1]
	c.X[op.src&15], c.Y[op.src&15] = [2]uint64{lo, hi}, [2]uint64{}
}

func execVmovsdRev(c *CPU, op *Op) {
	lo, hi := c.X[op.dst&15][0], c.X[op.src2&15][1]
	c.X[op.src&15], c.Y[op.src&15] = [2]uint64{lo, hi}, [2]uint64{}
}

func execVmovqStore(c *CPU, op *Op) {
	execMovqStore(c, op)
	if op.attr&attrMem == 0 {
		c.Y[op.src&15] = [2]uint64{}
	}
}

func execVmovLow(c *CPU, op *Op)  { c.setX(op, c.ld64(op, c.ea(op)), c.X[op.src2&15][1]) }
func execVmovHigh(c *CPU, op *Op) { c.setX(op, c.X[op.src2&15][0], c.ld64(op, c.ea(op))) }
func execVmovhlps(c *CPU, op *Op) { c.setX(op, c.X[op.src&15][1], c.X[op.src2&15][1]) }
func execVmovlhps(c *CPU, op *Op) { c.setX(op, c.X[op.src2&15][0], c.X[op.src&15][0]) }

// execVmovddup128 takes 8 bytes; the 256-bit form is a lane function.
func execVmovddup128(c *CPU, op *Op) {
	v := c.xs64(op)
	c.setX(op, v, v)
}

func execVmovmskps(c *CPU, op *Op) {
	m := maskPS(&c.X[op.src&15])
	if op.size == 32 {
		m |= maskPS(&c.Y[op.src&15]) << 4
	}
	c.R[op.dst&31] = m
}

func maskPS(s *[2]uint64) uint64 {
	return s[0]>>31&1 | s[0]>>63<<1 | s[1]>>31&1<<2 | s[1]>>63<<3
}

func execVmovmskpd(c *CPU, op *Op) {
	s := &c.X[op.src&15]
	m := s[0]>>63 | s[1]>>63<<1
	if op.size == 32 {
		s = &c.Y[op.src&15]
		m |= s[0]>>63<<2 | s[1]>>63<<3
	}
	c.R[op.dst&31] = m
}

func execVpmovmskb(c *CPU, op *Op) {
	s := &c.X[op.src&15]
	m := moveMask(s[0]) | moveMask(s[1])<<8
	if op.size == 32 {
		s = &c.Y[op.src&15]
		m |= moveMask(s[0])<<16 | moveMask(s[1])<<24
	}
	c.R[op.dst&31] = m
}

// VZEROUPPER and VZEROALL.
func execVzero(c *CPU, op *Op) {
	c.Y = [16][2]uint64{}
	if op.size == 32 {
		c.X = [16][2]uint64{}
	}
}

// Broadcasts of an element of size bytes, from memory or the low end of an XMM
// register.
func broadcast(size int) handler {
	return func(c *CPU, op *Op) {
		v := c.element(op, size)
		switch size {
		case 1:
			v = v & 0xff * lowB
		case 2:
			v = v & 0xffff * lowW
		case 4:
			v = v & 0xffffffff * lowD
		}
		c.setV(op, [2]uint64{v, v}, [2]uint64{v, v})
	}
}

// element is a ModRM.rm operand of size bytes; above them may be anything.
func (c *CPU) element(op *Op, size int) uint64 {
	if op.attr&attrMem == 0 {
		return c.X[op.src&15][0]
	}
	return c.ld(op, c.ea(op), uint8(size))
}

// execVbroadcast128 is VBROADCASTF128 and VBROADCASTI128.
func execVbroadcast128(c *CPU, op *Op) {
	v := *c.vsX(op)
	c.X[op.dst&15], c.Y[op.dst&15] = v, v
}

// execVinsert128 is VINSERTF128 and VINSERTI128, execVextract128 the opposite.
func execVinsert128(c *CPU, op *Op) {
	v := *c.vsX(op)
	lo, hi := c.X[op.src2&15], c.Y[op.src2&15]
	if op.imm&1 == 0 {
		lo = v
	} else {
		hi = v
	}
	c.X[op.dst&15], c.Y[op.dst&15] = lo, hi
}

func execVextract128(c *CPU, op *Op) {
	v := c.X[op.dst&15]
	if op.imm&1 != 0 {
		v = c.Y[op.dst&15]
	}
	if op.attr&attrMem != 0 {
		c.stX(op, c.ea(op), v)
		return
	}
	c.X[op.src&15], c.Y[op.src&15] = v, [2]uint64{}
}

// execVperm128 is VPERM2F128 and VPERM2I128.
func execVperm128(c *CPU, op *Op) {
	s, t := c.vp(op)
	from := [4][2]uint64{c.X[op.src2&15], c.Y[op.src2&15], *s, *t}
	get := func(i uint8) [2]uint64 {
		if i&8 != 0 {
			return [2]uint64{}
		}
		return from[i&3]
	}
	i := uint8(op.imm)
	c.X[op.dst&15], c.Y[op.dst&15] = get(i), get(i>>4)
}

// execVpermq is VPERMQ and VPERMPD, execVpermd VPERMD and VPERMPS.
func execVpermq(c *CPU, op *Op) {
	s, t := c.vp(op)
	v := [4]uint64{s[0], s[1], t[0], t[1]}
	i := uint8(op.imm)
	c.X[op.dst&15], c.Y[op.dst&15] = [2]uint64{v[i&3], v[i>>2&3]}, [2]uint64{v[i>>4&3], v[i>>6]}
}

func execVpermd(c *CPU, op *Op) {
	s, t := c.vp(op)
	a, b := *dwordsOf(s), *dwordsOf(t)
	v := [8]uint32{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]}
	get := func(i *[2]uint64) [2]uint64 {
		return [2]uint64{uint64(v[i[0]&7]) | uint64(v[i[0]>>32&7])<<32, uint64(v[i[1]&7]) | uint64(v[i[1]>>32&7])<<32}
	}
	c.X[op.dst&15], c.Y[op.dst&15] = get(&c.X[op.src2&15]), get(&c.Y[op.src2&15])
}

// vextend makes the handler of a VPMOVSX or VPMOVZX. Each 128 bits of result
// come from size bytes.
func vextend(size int, f widening) handler {
	return func(c *CPU, op *Op) {
		var v, w uint64
		total := size
		if op.size == 32 {
			total = 2 * size
		}
		switch {
		case op.attr&attrMem == 0:
			s := &c.X[op.src&15]
			v, w = s[0], s[1]
		case total == 16:
			s := c.laneAt(op, c.ea(op))
			v, w = s[0], s[1]
		default:
			v = c.ld(op, c.ea(op), uint8(total))
		}
		if size < 8 {
			w = v >> (8 * uint(size))
		}
		a, b := f(v)
		x, y := f(w)
		c.setV(op, [2]uint64{a, b}, [2]uint64{x, y})
	}
}

// vblendBy makes VPBLENDVB and its kin; the mask is the register in the
// immediate.
func vblendBy(fill func(uint64) uint64) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		i := uint8(op.imm) >> 4
		a, b, m, n := &c.X[op.src2&15], &c.Y[op.src2&15], &c.X[i], &c.Y[i]
		c.setV(op, [2]uint64{pick(fill(m[0]), s[0], a[0]), pick(fill(m[1]), s[1], a[1])},
			[2]uint64{pick(fill(n[0]), t[0], b[0]), pick(fill(n[1]), t[1], b[1])})
	}
}

// vtest makes VPTEST, VTESTPS and VTESTPD; of each half only the bits in mask
// count.
func vtest(mask uint64) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		a, b := &c.X[op.dst&15], &c.Y[op.dst&15]
		z := s[0]&a[0] | s[1]&a[1]
		n := s[0]&^a[0] | s[1]&^a[1]
		if op.size == 32 {
			z |= t[0]&b[0] | t[1]&b[1]
			n |= t[0]&^b[0] | t[1]&^b[1]
		}
		var f uint64
		if z&mask == 0 {
			f = ZF
		}
		if n&mask == 0 {
			f |= CF
		}
		c.setAllFlags(f)
	}
}

// VPINSRB and its kin put a general register or memory into one lane of the
// first source.
func execVpinsrb(c *CPU, op *Op) {
	var b uint8
	if op.attr&attrMem != 0 {
		b = c.ld8(op, c.ea(op))
	} else {
		b = uint8(c.R[op.src&31])
	}
	v := c.X[op.src2&15]
	bytesOf(&v)[op.imm&15] = b
	c.setX(op, v[0], v[1])
}

func execVpinsrw(c *CPU, op *Op) {
	w := c.rm16(op)
	v := c.X[op.src2&15]
	wordsOf(&v)[op.imm&7] = w
	c.setX(op, v[0], v[1])
}

func execVpinsrd(c *CPU, op *Op) {
	if op.size == 8 {
		q := c.rm64(op)
		v := c.X[op.src2&15]
		v[op.imm&1] = q
		c.setX(op, v[0], v[1])
		return
	}
	x := c.rm32(op)
	v := c.X[op.src2&15]
	dwordsOf(&v)[op.imm&3] = x
	c.setX(op, v[0], v[1])
}

func execVinsertps(c *CPU, op *Op) {
	imm := uint8(op.imm)
	var x uint32
	if op.attr&attrMem != 0 {
		x = c.ld32(op, c.ea(op))
	} else {
		x = dwordsOf(&c.X[op.src&15])[imm>>6]
	}
	v := c.X[op.src2&15]
	d := dwordsOf(&v)
	d[imm>>4&3] = x
	for i := range d {
		if imm>>i&1 != 0 {
			d[i] = 0
		}
	}
	c.setX(op, v[0], v[1])
}
