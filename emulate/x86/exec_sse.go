package x86

import "unsafe"

// This file has what the handlers of SSE instructions share: operand access and
// the adapters that make a handler from a function on 64-bit halves. The
// adapters cost an indirect call per half, so instructions that programs
// execute often have handlers of their own.

// xs returns the 16 bytes of an XMM register or of aligned memory, low half
// first.
func (c *CPU) xs(op *Op) (lo, hi uint64) {
	if op.attr&attrMem != 0 {
		return c.xsMem(op)
	}
	return c.X[op.src&15][0], c.X[op.src&15][1]
}

// xsMem is the memory half of xs. An aligned operand lies in one line.
func (c *CPU) xsMem(op *Op) (lo, hi uint64) {
	a := c.ea(op)
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	if e := c.entry(a); e.R == a>>lineShift {
		p := (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
		return p[0], p[1]
	}
	lo = c.ld64(op, a)
	return lo, c.ld64(op, a+8)
}

// xp is xs for the handlers that programs execute most: it is inlined, and
// points to the operand where it lies. Nothing may be stored meanwhile.
func (c *CPU) xp(op *Op) *[2]uint64 {
	if op.attr&attrMem != 0 {
		return c.xpMem(op)
	}
	return &c.X[op.src&15]
}

func (c *CPU) xpMem(op *Op) *[2]uint64 {
	a := c.ea(op)
	if e := c.entry(a); e.R == a>>lineShift && a&15 == 0 {
		return (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
	}
	c.xt[0], c.xt[1] = c.xsMem(op)
	return &c.xt
}

// xsu is xs for instructions that take memory at any alignment.
func (c *CPU) xsu(op *Op) (lo, hi uint64) {
	if op.attr&attrMem == 0 {
		r := &c.X[op.src&15]
		return r[0], r[1]
	}
	a := c.ea(op)
	if e := c.entry(a); e.R == (a+15)>>lineShift {
		p := (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
		return p[0], p[1]
	}
	lo = c.ld64(op, a)
	return lo, c.ld64(op, a+8)
}

// xs64 returns the low half of an XMM register, or 8 bytes of memory.
func (c *CPU) xs64(op *Op) uint64 {
	if op.attr&attrMem != 0 {
		return c.xsMem64(op)
	}
	return c.X[op.src&15][0]
}

func (c *CPU) xsMem64(op *Op) uint64 { return c.ld64(op, c.ea(op)) }

// xs32 returns the low quarter of an XMM register, or 4 bytes of memory.
func (c *CPU) xs32(op *Op) uint32 {
	if op.attr&attrMem != 0 {
		return c.xsMem32(op)
	}
	return uint32(c.X[op.src&15][0])
}

func (c *CPU) xsMem32(op *Op) uint32 { return c.ld32(op, c.ea(op)) }

// xst stores an XMM register to aligned memory.
func (c *CPU) xst(op *Op) {
	a := c.ea(op)
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	r := &c.X[op.dst&15]
	if e := c.entry(a); e.W == a>>lineShift {
		p := (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
		p[0], p[1] = r[0], r[1]
		return
	}
	c.stX(op, a, *r)
}

// low32 replaces the low half of v.
func low32(v uint64, lo uint32) uint64 { return v&^0xffffffff | uint64(lo) }

// A half computes 64 bits of a packed integer result from those of the
// destination and of the source.
type half func(a, b uint64) uint64

// packed makes a handler for xmm, xmm/m128.
func packed(f half) handler {
	return func(c *CPU, op *Op) {
		lo, hi := c.xs(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(d[0], lo), f(d[1], hi)
	}
}

// A whole computes a 128-bit result from destination, source and immediate.
type whole func(d, s [2]uint64, imm uint8) [2]uint64

// packedWhole makes a handler for xmm, xmm/m128 and perhaps an immediate.
func packedWhole(f whole) handler {
	return func(c *CPU, op *Op) {
		var s [2]uint64
		s[0], s[1] = c.xs(op)
		d := &c.X[op.dst&15]
		*d = f(*d, s, uint8(op.imm))
	}
}

// Views of a 128-bit value as its lanes. The host is little-endian, as all
// that racesim runs on are.
func bytesOf(p *[2]uint64) *[16]uint8  { return (*[16]uint8)(unsafe.Pointer(p)) }
func wordsOf(p *[2]uint64) *[8]uint16  { return (*[8]uint16)(unsafe.Pointer(p)) }
func dwordsOf(p *[2]uint64) *[4]uint32 { return (*[4]uint32)(unsafe.Pointer(p)) }
