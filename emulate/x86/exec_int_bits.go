package x86

import (
	"hash/crc32"
	"math/bits"
	"sync"
)

// What bit tests do with the bit.
const (
	btTest = iota
	btSet
	btReset
	btFlip
)

func changeBit(k uint8, v, mask uint64) uint64 {
	switch k {
	case btSet:
		return v | mask
	case btReset:
		return v &^ mask
	case btFlip:
		return v ^ mask
	}
	return v
}

// setBit sets CF to bit n of v; the other flags stay.
func (c *CPU) setBit(v uint64, n uint) { c.setFlags(CF, v>>n&1) }

func bitTestImm(k uint8) handler {
	return func(c *CPU, op *Op) {
		n := uint(op.imm) & (8*uint(op.size) - 1)
		if k == btTest {
			c.setBit(c.rm(op), n)
			return
		}
		v := c.rmwLoad(op)
		c.rmwStore(op, changeBit(k, v, 1<<n))
		c.setBit(v, n)
	}
}

// bitTest is the form whose bit number is in a register: with a memory operand
// it is signed and reaches beyond the operand.
func bitTest(k uint8) handler {
	return func(c *CPU, op *Op) {
		i := sext(c.R[op.dst&31], op.size)
		w := int64(8 * op.size)
		n := uint(i & (w - 1))
		if op.attr&attrMem == 0 {
			v := c.getReg(op.src, op.size)
			if k != btTest {
				c.setReg(op.src, op.size, changeBit(k, v, 1<<n))
			}
			c.setBit(v, n)
			return
		}
		a := c.bitAddr(op)
		if k == btTest {
			c.setBit(c.ld(op, a, op.size), n)
			return
		}
		var v uint64
		switch {
		case op.attr&attrLock != 0:
			c.lockAt(op, a, int(op.size))
			v = c.ldUpdate(op, a, op.size)
		case c.pend.Size != 0:
			v = c.pend.Value
		default:
			v = c.ldUpdate(op, a, op.size)
		}
		c.st(op, a, op.size, changeBit(k, v, 1<<n))
		c.atomi = false
		c.setBit(v, n)
	}
}

// bitOffsets are the bit tests that store; with a register as the bit number
// their operand is at bitAddr.
var bitOffsets = map[string]bool{"bts": true, "btr": true, "btc": true}

// bitAddr returns the address of the operand that holds the bit of a bit test
// with a register.
func (c *CPU) bitAddr(op *Op) uint64 {
	i := sext(c.R[op.dst&31], op.size)
	w := int64(8 * op.size)
	a := c.ea(op)
	off := uint64((i &^ (w - 1)) >> 3)
	if op.attr&attrA32 != 0 {
		seg := c.R[op.seg&31]
		return uint64(uint32(a-seg+off)) + seg
	}
	return a + off
}

// execBSF and execBSR leave the destination alone if the source is zero. The
// flags beside ZF are undefined; here they follow from the source as for a
// comparison with zero, except CF and OF, which are clear.
func execBSF(c *CPU, op *Op) {
	v := c.rm(op)
	if v != 0 {
		c.setReg(op.dst, op.size, uint64(bits.TrailingZeros64(v)))
	}
	c.setScan(v)
}

func execBSR(c *CPU, op *Op) {
	v := c.rm(op)
	if v != 0 {
		c.setReg(op.dst, op.size, uint64(bits.Len64(v)-1))
	}
	c.setScan(v)
}

func (c *CPU) setScan(v uint64) {
	if v == 0 {
		c.setFlags(ZF, ZF)
		return
	}
	c.setFlags(ZF, 0)
}

func execPopcnt(c *CPU, op *Op) {
	v := c.rm(op)
	c.setReg(op.dst, op.size, uint64(bits.OnesCount64(v)))
	var f uint64
	if v == 0 {
		f = ZF
	}
	c.setAllFlags(f)
}

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func crc32Add(crc uint32, v uint64, size uint8) uint64 {
	t := castagnoli()
	for range size {
		crc = t[uint8(crc)^uint8(v)] ^ crc>>8
		v >>= 8
	}
	return uint64(crc)
}

// crc32Of accumulates size bytes; the row's operand size is the destination's.
func crc32Of(size uint8) handler {
	return func(c *CPU, op *Op) {
		c.R[op.dst&31] = crc32Add(uint32(c.R[op.dst&31]), uint64(c.rm8(op)), size)
	}
}

func execCRC32v(c *CPU, op *Op) {
	c.R[op.dst&31] = crc32Add(uint32(c.R[op.dst&31]), c.rm(op), op.size)
}

// execBswap: with a 16-bit operand size, undefined, it is still one of 32 bits
// here.
// bswapSize notes an operand-size prefix, with which the result is undefined:
// processors write zero.
func bswapSize(d *inst, op *Op) {
	if d.opsize && !d.w() {
		op.size = 2
	}
}

func execBswap(c *CPU, op *Op) {
	if op.size == 2 {
		c.setReg(op.dst, 2, 0)
	} else if op.size == 8 {
		c.R[op.dst&31] = bits.ReverseBytes64(c.R[op.dst&31])
	} else {
		c.R[op.dst&31] = uint64(bits.ReverseBytes32(uint32(c.R[op.dst&31])))
	}
}
