package x86

// SSE4.1 and SSE4.2 instructions that are neither lane arithmetic, floating
// point nor string comparison.

// blend makes the handler of PBLENDW, BLENDPS and BLENDPD: each bit of the
// immediate selects a lane of the given width from the source.
func blend(width uint) handler {
	lane := ^uint64(0) >> (64 - width)
	n := 64 / width
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		d[0] = pick(laneMask(uint8(op.imm), n, width, lane), lo, d[0])
		d[1] = pick(laneMask(uint8(op.imm)>>n, n, width, lane), hi, d[1])
	}
}

func laneMask(imm uint8, n, width uint, lane uint64) uint64 {
	var m uint64
	for i := uint(0); i < n; i++ {
		m |= -uint64(imm>>i&1) & lane << (i * width)
	}
	return m
}

// blendBy makes the handler of PBLENDVB, BLENDVPS and BLENDVPD, which select by
// the top bits of XMM0's lanes; fill spreads those.
func blendBy(fill func(uint64) uint64) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		m := c.X[0]
		d := &c.X[op.dst&15]
		d[0], d[1] = pick(fill(m[0]), lo, d[0]), pick(fill(m[1]), hi, d[1])
	}
}

func fillB(m uint64) uint64 { return spreadB(m & signB) }
func fillD(m uint64) uint64 { return spreadD(m & signD) }
func fillQ(m uint64) uint64 { return uint64(int64(m) >> 63) }

// A widening makes two halves of a vector out of the low lanes of v.
type widening func(v uint64) (lo, hi uint64)

// extend makes the handler of a PMOVSX or PMOVZX that takes size bytes.
func extend(size int, f widening) handler {
	return func(c *CPU, op *Op) {
		var v uint64
		switch {
		case op.attr&attrMem == 0:
			v = c.X[op.src&15][0]
		case size == 2:
			v = uint64(c.ld16(op, c.ea(op)))
		case size == 4:
			v = uint64(c.ld32(op, c.ea(op)))
		default:
			v = c.ld64(op, c.ea(op))
		}
		lo, hi := f(v)
		c.X[op.dst&15] = [2]uint64{lo, hi}
	}
}

func movzxbw(v uint64) (uint64, uint64) { return spaceB(v), spaceB(v >> 32) }
func movzxwd(v uint64) (uint64, uint64) { return spaceW(v), spaceW(v >> 32) }
func movzxdq(v uint64) (uint64, uint64) { return v & 0xffffffff, v >> 32 }
func movzxbd(v uint64) (uint64, uint64) { return spaceW(spaceB(v)), spaceW(spaceB(v) >> 32) }
func movzxbq(v uint64) (uint64, uint64) { return v & 0xff, v >> 8 & 0xff }
func movzxwq(v uint64) (uint64, uint64) { return v & 0xffff, v >> 16 & 0xffff }

func movsxbw(v uint64) (uint64, uint64) {
	lo, hi := movzxbw(v)
	return lo | spreadB(lo<<8&signB), hi | spreadB(hi<<8&signB)
}

func movsxwd(v uint64) (uint64, uint64) {
	lo, hi := movzxwd(v)
	return lo | spreadW(lo<<16&signW), hi | spreadW(hi<<16&signW)
}

func movsxdq(v uint64) (uint64, uint64) {
	return uint64(int64(int32(v))), uint64(int64(int32(v >> 32)))
}

func movsxbd(v uint64) (uint64, uint64) {
	lo, _ := movsxbw(v)
	return movsxwd(lo)
}

func movsxbq(v uint64) (uint64, uint64) {
	return uint64(int64(int8(v))), uint64(int64(int8(v >> 8)))
}

func movsxwq(v uint64) (uint64, uint64) {
	return uint64(int64(int16(v))), uint64(int64(int16(v >> 16)))
}

// execPtest sets ZF if source and destination have no one in common, CF if the
// source has none outside the destination.
func execPtest(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	var f uint64
	if lo&d[0]|hi&d[1] == 0 {
		f = ZF
	}
	if lo&^d[0]|hi&^d[1] == 0 {
		f |= CF
	}
	c.setAllFlags(f)
}

// execInsertps takes a float from the source (imm 7..6; memory has just one),
// puts it at imm 5..4 and clears what imm 3..0 says.
func execInsertps(c *CPU, op *Op) {
	imm := uint8(op.imm)
	var v uint32
	if op.attr&attrMem != 0 {
		v = c.ld32(op, c.ea(op))
	} else {
		v = dwordsOf(&c.X[op.src&15])[imm>>6]
	}
	d := dwordsOf(&c.X[op.dst&15])
	d[imm>>4&3] = v
	for i := range d {
		if imm>>i&1 != 0 {
			d[i] = 0
		}
	}
}

// mpsadbw sums absolute differences of one group of four bytes of the source
// with eight overlapping ones of the destination.
func mpsadbw(d, s [2]uint64, imm uint8) [2]uint64 {
	var r [2]uint64
	a, b, to := bytesOf(&d), bytesOf(&s), wordsOf(&r)
	at, group := int(imm>>2&1)*4, int(imm&3)*4
	for i := range to {
		var sum int
		for k := range 4 {
			v := int(a[at+i+k]) - int(b[group+k])
			sum += max(v, -v)
		}
		to[i] = uint16(sum)
	}
	return r
}

// phminposuw finds the smallest word and its index.
func phminposuw(_, s [2]uint64, _ uint8) [2]uint64 {
	best := 0
	w := wordsOf(&s)
	for i := range w {
		if w[i] < w[best] {
			best = i
		}
	}
	return [2]uint64{uint64(w[best]) | uint64(best)<<16, 0}
}

// execDpps multiplies the pairs that the high half of the immediate selects,
// adds the products two by two, and puts the sum where the low half says. Each
// lane adds in its own order, which decides between NaNs: what real processors
// do, though the manual doesn't say it.
func execDpps(c *CPU, op *Op) {
	var s, r [2]uint64
	s[0], s[1] = c.xs(op)
	d := &c.X[op.dst&15]
	a, b, to := dwordsOf(d), dwordsOf(&s), dwordsOf(&r)
	mx, imm := c.MXCSR, uint8(op.imm)
	var p, q [4]uint32
	var fl, f uint32
	for i := range p {
		if imm>>(4+i)&1 != 0 {
			p[i], f = mul32(a[i], b[i], mx)
			fl |= f
		}
	}
	c.fpCheck(fl)
	fl = 0
	for i := range q {
		q[i], f = add32(p[i^1], p[i], mx)
		fl |= f
	}
	c.fpCheck(fl)
	fl = 0
	for i := range to {
		v, f := add32(q[i], q[i^2], mx)
		if fl |= f; imm>>i&1 != 0 {
			to[i] = v
		}
	}
	c.fpCheck(fl)
	*d = r
}

func execDppd(c *CPU, op *Op) {
	var s, p, r [2]uint64
	s[0], s[1] = c.xs(op)
	d := &c.X[op.dst&15]
	mx, imm := c.MXCSR, uint8(op.imm)
	var fl, f uint32
	for i := range p {
		if imm>>(4+i)&1 != 0 {
			p[i], f = mul64(d[i], s[i], mx)
			fl |= f
		}
	}
	c.fpCheck(fl)
	fl = 0
	for i := range r {
		v, f := add64(p[i], p[i^1], mx)
		if fl |= f; imm>>i&1 != 0 {
			r[i] = v
		}
	}
	c.fpCheck(fl)
	*d = r
}
