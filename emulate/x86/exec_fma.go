package x86

import (
	"math"
	"strings"
)

// FMA (SDM volume 2, VFMADD132PD and so on). The digits of a mnemonic say which
// operands are multiplied and which is added: 1 is ModRM.reg, which is also the
// destination, 2 VEX.vvvv and 3 ModRM.rm.

// An fmaKind is one of the twelve operations with its operand order.
type fmaKind struct {
	order     fmaOrder
	neg       uint8 // of even elements
	alternate uint8 // xored for odd ones
}

// An fmaOrder says which operands are multiplied.
type fmaOrder uint8

const (
	fma132 fmaOrder = iota
	fma213
	fma231
)

// operands sorts the three operands into factors and addend.
func (k *fmaKind) operands(one, two, three *[2]uint64) (a, b, c *[2]uint64) {
	switch k.order {
	case fma132:
		return one, three, two
	case fma213:
		return two, one, three
	}
	return two, three, one
}

// usualFMA is fma64 for the usual case, which ok reports; see usual64.
func usualFMA(a, b, c uint64, neg uint8) (r uint64, ok bool) {
	x := math.Float64frombits(a ^ uint64(neg&fmaNegProduct)<<63)
	z := math.Float64frombits(c ^ uint64(neg>>1)<<63)
	r = math.Float64bits(math.FMA(x, math.Float64frombits(b), z))
	return r, solid64(r) && plain64(a) && plain64(b) && plain64(c)
}

func (k fmaKind) packed64() handler {
	odd := k.neg ^ k.alternate
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		x, y, z := k.operands(&c.X[op.dst&15], &c.X[op.src2&15], s)
		var r [4]uint64
		if c.MXCSR&mxFastBits == mxFastWant {
			var ok [4]bool
			r[0], ok[0] = usualFMA(x[0], y[0], z[0], k.neg)
			r[1], ok[1] = usualFMA(x[1], y[1], z[1], odd)
			ok[2], ok[3] = true, true
			if op.size == 32 {
				u, v, w := k.operands(&c.Y[op.dst&15], &c.Y[op.src2&15], t)
				r[2], ok[2] = usualFMA(u[0], v[0], w[0], k.neg)
				r[3], ok[3] = usualFMA(u[1], v[1], w[1], odd)
			}
			if ok[0] && ok[1] && ok[2] && ok[3] {
				d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
				d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
				return
			}
			r = [4]uint64{}
		}
		var fl [4]uint32
		r[0], fl[0] = fma64(x[0], y[0], z[0], k.neg, c.MXCSR)
		r[1], fl[1] = fma64(x[1], y[1], z[1], k.neg^k.alternate, c.MXCSR)
		if op.size == 32 {
			x, y, z = k.operands(&c.Y[op.dst&15], &c.Y[op.src2&15], t)
			r[2], fl[2] = fma64(x[0], y[0], z[0], k.neg, c.MXCSR)
			r[3], fl[3] = fma64(x[1], y[1], z[1], k.neg^k.alternate, c.MXCSR)
		}
		c.fpCheck(fl[0] | fl[1] | fl[2] | fl[3])
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

// pair does two elements of 32 bits.
func (k *fmaKind) pair(a, b, c uint64, mx uint32) (uint64, uint32) {
	r0, f0 := fma32(uint32(a), uint32(b), uint32(c), k.neg, mx)
	r1, f1 := fma32(uint32(a>>32), uint32(b>>32), uint32(c>>32), k.neg^k.alternate, mx)
	return uint64(r0) | uint64(r1)<<32, f0 | f1
}

func (k fmaKind) packed32() handler {
	return func(c *CPU, op *Op) {
		s, t := c.vp(op)
		x, y, z := k.operands(&c.X[op.dst&15], &c.X[op.src2&15], s)
		var r [4]uint64
		var fl [4]uint32
		r[0], fl[0] = k.pair(x[0], y[0], z[0], c.MXCSR)
		r[1], fl[1] = k.pair(x[1], y[1], z[1], c.MXCSR)
		if op.size == 32 {
			x, y, z = k.operands(&c.Y[op.dst&15], &c.Y[op.src2&15], t)
			r[2], fl[2] = k.pair(x[0], y[0], z[0], c.MXCSR)
			r[3], fl[3] = k.pair(x[1], y[1], z[1], c.MXCSR)
		}
		c.fpCheck(fl[0] | fl[1] | fl[2] | fl[3])
		d, e := &c.X[op.dst&15], &c.Y[op.dst&15]
		d[0], d[1], e[0], e[1] = r[0], r[1], r[2], r[3]
	}
}

func (k fmaKind) scalar64() handler {
	return func(c *CPU, op *Op) {
		v := [2]uint64{c.xs64(op)}
		d := &c.X[op.dst&15]
		x, y, z := k.operands(d, &c.X[op.src2&15], &v)
		r, fl := fma64(x[0], y[0], z[0], k.neg, c.MXCSR)
		c.fpCheck(fl)
		c.setX(op, r, d[1])
	}
}

func (k fmaKind) scalar32() handler {
	return func(c *CPU, op *Op) {
		v := [2]uint64{uint64(c.xs32(op))}
		d := &c.X[op.dst&15]
		x, y, z := k.operands(d, &c.X[op.src2&15], &v)
		r, fl := fma32(uint32(x[0]), uint32(y[0]), uint32(z[0]), k.neg, c.MXCSR)
		c.fpCheck(fl)
		c.setX(op, low32(d[0], r), d[1])
	}
}

var _ = register(rowsFMA())

func rowsFMA() []row {
	var rows []row
	for i, order := range []string{"132", "213", "231"} {
		for _, o := range []struct {
			opcode         byte
			name           string
			neg, alternate uint8
		}{
			{0x96, "vfmaddsub", fmaNegAddend, fmaNegAddend},
			{0x97, "vfmsubadd", 0, fmaNegAddend},
			{0x98, "vfmadd", 0, 0},
			{0x9A, "vfmsub", fmaNegAddend, 0},
			{0x9C, "vfnmadd", fmaNegProduct, 0},
			{0x9E, "vfnmsub", fmaNegProduct | fmaNegAddend, 0},
		} {
			k := fmaKind{fmaOrder(i), o.neg, o.alternate}
			name := o.name + order
			enc := func(w string, add byte) string {
				return "VEX.66.0F38." + w + " " + hex2(o.opcode+byte(16*i)+add) + " /r"
			}
			packed, scalar := "vec:rw vecv:r vec/m:r | mxcsr:rw", "xmm:rw xmmv:r xmm/m32:r | mxcsr:rw"
			rows = append(rows,
				row{enc: enc("W0", 0), mnem: name + "ps", args: packed, fn: k.packed32(), cpu: "fma"},
				row{enc: enc("W1", 0), mnem: name + "pd", args: packed, fn: k.packed64(), cpu: "fma"})
			if o.opcode >= 0x98 {
				rows = append(rows,
					row{enc: enc("W0", 1), mnem: name + "ss", args: scalar, fn: k.scalar32(), cpu: "fma"},
					row{enc: enc("W1", 1), mnem: name + "sd", args: strings.Replace(scalar, "m32", "m64", 1), fn: k.scalar64(), cpu: "fma"})
			}
		}
	}
	return rows
}
