package x86

import "unsafe"

// This file has what the handlers of instructions with a VEX prefix share: the
// operands and the adapters that make a handler from a function on 64-bit halves,
// on 128-bit lanes or on elements. The destination's upper half is set to 0 by
// the 128-bit forms (SDM volume 1, 14.1.4). Memory operands may lie at any
// address unless the instruction says otherwise.

// vp points to the two 16-byte lanes of the ModRM.rm operand of op.size (16 or
// 32) bytes, where they lie. Of 16 bytes, only lo means anything. Nothing may be
// stored meanwhile.
func (c *CPU) vp(op *Op) (lo, hi *[2]uint64) {
	if op.attr&attrMem != 0 {
		return c.vpMem(op)
	}
	return &c.X[op.src&15], &c.Y[op.src&15]
}

func (c *CPU) vpMem(op *Op) (lo, hi *[2]uint64) {
	if op.size == 32 {
		return c.lanesAt(op, c.ea(op))
	}
	return c.laneAt(op, c.ea(op)), &c.yt
}

// laneAt points to 16 bytes of memory, or to a copy of them.
func (c *CPU) laneAt(op *Op, a uint64) *[2]uint64 {
	if e := c.entry(a); e.R == (a+15)>>lineShift {
		return (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
	}
	c.xt[0] = c.ld64(op, a)
	c.xt[1] = c.ld64(op, a+8)
	return &c.xt
}

// lanesAt is laneAt for 32 bytes.
func (c *CPU) lanesAt(op *Op, a uint64) (lo, hi *[2]uint64) {
	if e := c.entry(a); e.R == (a+31)>>lineShift {
		p := (*[4]uint64)(unsafe.Add(e.P, a&lineMask))
		return (*[2]uint64)(p[:2]), (*[2]uint64)(p[2:])
	}
	c.missLanes(op, a)
	return &c.xt, &c.yt
}

func (c *CPU) missLanes(op *Op, a uint64) {
	c.xt[0] = c.ld64(op, a)
	c.xt[1] = c.ld64(op, a+8)
	c.yt[0] = c.ld64(op, a+16)
	c.yt[1] = c.ld64(op, a+24)
}

// stY stores 32 bytes at any alignment.
func (c *CPU) stY(op *Op, a uint64, lo, hi *[2]uint64) {
	if e := c.entry(a); e.W == (a+31)>>lineShift {
		p := (*[4]uint64)(unsafe.Add(e.P, a&lineMask))
		p[0], p[1], p[2], p[3] = lo[0], lo[1], hi[0], hi[1]
		return
	}
	c.probeStore(op, a, 32)
	c.st64(op, a, lo[0])
	c.st64(op, a+8, lo[1])
	c.st64(op, a+16, hi[0])
	c.st64(op, a+24, hi[1])
}

// vsX is a ModRM.rm operand of 16 bytes whatever op.size is.
func (c *CPU) vsX(op *Op) *[2]uint64 {
	if op.attr&attrMem != 0 {
		return c.laneAt(op, c.ea(op))
	}
	return &c.X[op.src&15]
}

// setV sets the destination to two lanes, of which hi only counts if the
// instruction has 256 bits.
func (c *CPU) setV(op *Op, lo, hi [2]uint64) {
	if op.size != 32 {
		hi = [2]uint64{}
	}
	c.X[op.dst&15], c.Y[op.dst&15] = lo, hi
}

// setX sets the destination to 16 bytes and 16 zeros.
func (c *CPU) setX(op *Op, lo, hi uint64) {
	r := op.dst & 15
	c.X[r] = [2]uint64{lo, hi}
	c.Y[r] = [2]uint64{}
}

// vhalf makes the handler of vec, vecv, vec/m from a function on halves; vhalf1
// of vec, vec/m, where the function's first argument doesn't matter.
func vhalf(f half) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		a, d := &c.X[op.src2&15], &c.X[op.dst&15]
		d[0], d[1] = f(a[0], s[0]), f(a[1], s[1])
		d = &c.Y[op.dst&15]
		if op.size != 32 {
			d[0], d[1] = 0, 0
			return
		}
		a = &c.Y[op.src2&15]
		d[0], d[1] = f(a[0], t[0]), f(a[1], t[1])
	}
}

func vhalf1(f half) handler { return vhalf(f) }

// A lane computes 128 bits from those of the first and second source and the
// immediate.
type lane func(a, b *[2]uint64, imm uint8) (lo, hi uint64)

// vlane makes the handler of vec, vecv, vec/m and perhaps imm. The immediate is
// shifted right by shift for the upper lane.
func vlane(f lane, shift ...uint) handler {
	n := uint(0)
	if len(shift) > 0 {
		n = shift[0]
	}
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(&c.X[op.src2&15], s, uint8(op.imm))
		d = &c.Y[op.dst&15]
		if op.size != 32 {
			d[0], d[1] = 0, 0
			return
		}
		d[0], d[1] = f(&c.Y[op.src2&15], t, uint8(op.imm)>>n)
	}
}

// vlane1 makes the handler of vec, vec/m and perhaps imm; the function gets the
// source twice.
func vlane1(f lane) handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		d := &c.X[op.dst&15]
		d[0], d[1] = f(s, s, uint8(op.imm))
		d = &c.Y[op.dst&15]
		if op.size != 32 {
			d[0], d[1] = 0, 0
			return
		}
		d[0], d[1] = f(t, t, uint8(op.imm))
	}
}

// wholeLane makes a lane of a whole.
func wholeLane(f whole) lane {
	return func(a, b *[2]uint64, imm uint8) (uint64, uint64) {
		r := f(*a, *b, imm)
		return r[0], r[1]
	}
}

// vshift makes the handler of a shift by a count in xmm/m128; vshiftImm by an
// immediate, whose destination is in VEX.vvvv.
func vshift(f laneShift) handler {
	return func(c *CPU, op *Op) {
		n := c.vsX(op)[0]
		a, b := &c.X[op.src2&15], &c.Y[op.src2&15]
		c.setV(op, [2]uint64{f(a[0], n), f(a[1], n)}, [2]uint64{f(b[0], n), f(b[1], n)})
	}
}

func vshiftImm(f laneShift) handler {
	return func(c *CPU, op *Op) {
		n := uint64(uint8(op.imm))
		a, b := &c.X[op.src&15], &c.Y[op.src&15]
		d, e := &c.X[op.src2&15], &c.Y[op.src2&15]
		d[0], d[1] = f(a[0], n), f(a[1], n)
		if op.size != 32 {
			e[0], e[1] = 0, 0
			return
		}
		e[0], e[1] = f(b[0], n), f(b[1], n)
	}
}

// vshiftBytes makes VPSLLDQ and VPSRLDQ.
func vshiftBytes(f func(lo, hi uint64, n uint8) (uint64, uint64)) handler {
	return func(c *CPU, op *Op) {
		n := uint8(op.imm)
		a, b := &c.X[op.src&15], &c.Y[op.src&15]
		d, e := &c.X[op.src2&15], &c.Y[op.src2&15]
		d[0], d[1] = f(a[0], a[1], n)
		if op.size != 32 {
			e[0], e[1] = 0, 0
			return
		}
		e[0], e[1] = f(b[0], b[1], n)
	}
}

// A partial is what an instruction has done when its access to memory faults, and
// which stays done: the elements of a gather, flags in MXCSR. See CPU.stopped.
type partial struct {
	active   bool
	gather   bool
	dst      uint8
	mask     uint8
	lo, hi   [2]uint64 // of dst
	mlo, mhi [2]uint64 // of mask
	mxcsr    uint32    // flags
}
