package x86

// Moves between XMM registers, memory and general registers (SDM volume 2,
// MOVAPS to MOVUPS, PMOVMSKB, MASKMOVDQU, LDMXCSR, FXSAVE).

// execMovaLoad is MOVAPS, MOVAPD and MOVDQA with the register as destination.
func execMovaLoad(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = lo, hi
}

// execMovaStore is the opposite direction.
func execMovaStore(c *CPU, op *Op) {
	if op.attr&attrMem == 0 {
		s, d := &c.X[op.dst&15], &c.X[op.src&15]
		d[0], d[1] = s[0], s[1]
		return
	}
	c.xst(op)
}

// execMovuLoad is MOVUPS, MOVUPD, MOVDQU and LDDQU.
func execMovuLoad(c *CPU, op *Op) {
	lo, hi := c.xsu(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = lo, hi
}

func execMovuStore(c *CPU, op *Op) {
	if op.attr&attrMem == 0 {
		s, d := &c.X[op.dst&15], &c.X[op.src&15]
		d[0], d[1] = s[0], s[1]
		return
	}
	c.stX(op, c.ea(op), c.X[op.dst&15])
}

// execMovssReg and execMovsdReg merge; the memory forms clear the rest.
func execMovssReg(c *CPU, op *Op) {
	d := &c.X[op.dst&15]
	d[0] = low32(d[0], uint32(c.X[op.src&15][0]))
}

func execMovsdReg(c *CPU, op *Op) { c.X[op.dst&15][0] = c.X[op.src&15][0] }

func execMovssLoad(c *CPU, op *Op) {
	v := uint64(c.ld32(op, c.ea(op)))
	d := &c.X[op.dst&15]
	d[0], d[1] = v, 0
}

// execMovsdLoad is MOVSD from memory and MOVQ xmm, xmm/m64.
func execMovsdLoad(c *CPU, op *Op) {
	v := c.xs64(op)
	d := &c.X[op.dst&15]
	d[0], d[1] = v, 0
}

// execMovssStore is the memory form and, as F3 0F 11 with a register, the
// merging one.
func execMovssStore(c *CPU, op *Op) {
	v := uint32(c.X[op.dst&15][0])
	if op.attr&attrMem == 0 {
		d := &c.X[op.src&15]
		d[0] = low32(d[0], v)
		return
	}
	c.st32(op, c.ea(op), v)
}

func execMovsdStore(c *CPU, op *Op) {
	v := c.X[op.dst&15][0]
	if op.attr&attrMem == 0 {
		c.X[op.src&15][0] = v
		return
	}
	c.st64(op, c.ea(op), v)
}

// execMovqStore is 66 0F D6: unlike MOVSD it clears the upper half of a
// register.
func execMovqStore(c *CPU, op *Op) {
	v := c.X[op.dst&15][0]
	if op.attr&attrMem == 0 {
		c.X[op.src&15] = [2]uint64{v, 0}
		return
	}
	c.st64(op, c.ea(op), v)
}

// execMovdToX is MOVD and MOVQ from a general register or memory.
func execMovdToX(c *CPU, op *Op) {
	var v uint64
	if op.size == 8 {
		v = c.rm64(op)
	} else {
		v = uint64(c.rm32(op))
	}
	d := &c.X[op.dst&15]
	d[0], d[1] = v, 0
}

func execMovdFromX(c *CPU, op *Op) {
	c.setRM(op, c.X[op.dst&15][0])
}

// execMovLow and execMovHigh load one half from memory and keep the other.
func execMovLow(c *CPU, op *Op)  { c.X[op.dst&15][0] = c.ld64(op, c.ea(op)) }
func execMovHigh(c *CPU, op *Op) { c.X[op.dst&15][1] = c.ld64(op, c.ea(op)) }

func execMovLowStore(c *CPU, op *Op)  { c.st64(op, c.ea(op), c.X[op.dst&15][0]) }
func execMovHighStore(c *CPU, op *Op) { c.st64(op, c.ea(op), c.X[op.dst&15][1]) }

func execMovhlps(c *CPU, op *Op) { c.X[op.dst&15][0] = c.X[op.src&15][1] }
func execMovlhps(c *CPU, op *Op) { c.X[op.dst&15][1] = c.X[op.src&15][0] }

func execMovsldup(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	c.X[op.dst&15] = [2]uint64{lo&0xffffffff | lo<<32, hi&0xffffffff | hi<<32}
}

func execMovshdup(c *CPU, op *Op) {
	lo, hi := c.xs(op)
	c.X[op.dst&15] = [2]uint64{lo>>32 | lo&^0xffffffff, hi>>32 | hi&^0xffffffff}
}

func execMovddup(c *CPU, op *Op) {
	v := c.xs64(op)
	c.X[op.dst&15] = [2]uint64{v, v}
}

// execMovnti stores a general register.
func execMovnti(c *CPU, op *Op) { c.st(op, c.ea(op), op.size, c.R[op.dst&31]) }

// execMovmskps and its kin collect sign bits.
func execMovmskps(c *CPU, op *Op) {
	s := &c.X[op.src&15]
	c.R[op.dst&31] = s[0]>>31&1 | s[0]>>63<<1 | s[1]>>31&1<<2 | s[1]>>63<<3
}

func execMovmskpd(c *CPU, op *Op) {
	s := &c.X[op.src&15]
	c.R[op.dst&31] = s[0]>>63 | s[1]>>63<<1
}

func execPmovmskb(c *CPU, op *Op) {
	s := &c.X[op.src&15]
	c.R[op.dst&31] = moveMask(s[0]) | moveMask(s[1])<<8
}

// moveMask collects the sign bits of eight bytes: the multiplication adds eight
// shifted copies, in whose top byte each bit arrives once.
func moveMask(v uint64) uint64 {
	return v & signB * 0x0002040810204081 >> 56
}

// execMaskmovdqu stores the bytes of the first register whose mask byte, in the
// second, has its top bit set, at RDI.
func execMaskmovdqu(c *CPU, op *Op) {
	v, m := c.X[op.dst&15], c.X[op.src&15]
	c.maskStore(op, bytesOf(&v)[:], bytesOf(&m)[:])
}

func (c *CPU) maskStore(op *Op, v, mask []uint8) {
	a := c.R[RDI]
	if op.attr&attrA32 != 0 {
		a = uint64(uint32(a))
	}
	a += c.R[op.seg&31]
	for i, m := range mask {
		if m&0x80 != 0 {
			c.probeStore(op, a+uint64(i), 1)
		}
	}
	for i, m := range mask {
		if m&0x80 != 0 {
			c.st8(op, a+uint64(i), v[i])
		}
	}
}

func execLdmxcsr(c *CPU, op *Op) { c.setMXCSR(c.ld32(op, c.ea(op))) }
func execStmxcsr(c *CPU, op *Op) { c.st32(op, c.ea(op), c.MXCSR) }

// Offsets in the FXSAVE image (SDM volume 1, section 10.5.1).
const (
	fxMXCSR = 24
	fxXMM   = 160
	fxSize  = 416 // what FXSAVE writes; the rest of the 512 bytes is left alone
)

// execFxsave saves the x87 and SSE state. Without REX.W the instruction and
// operand pointers have 32 bits, and selectors that are always 0 here.
func execFxsave(c *CPU, op *Op) {
	a := c.ea(op)
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	var b [fxSize]byte
	c.F.PutState(b[:FPUStateSize])
	if op.size != 8 {
		clear(b[12:16])
		clear(b[20:24])
	}
	putLE32(b[fxMXCSR:], c.MXCSR)
	putLE32(b[fxMXCSR+4:], mxValid)
	for i := range c.X {
		*(*[16]byte)(b[fxXMM+16*i:]) = *bytesOf(&c.X[i])
	}
	c.probeStore(op, a, 512) // it tries all of its operand
	c.storeBytes(op, a, b[:])
}

func execFxrstor(c *CPU, op *Op) {
	a := c.ea(op)
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	var b [fxSize]byte
	c.ld64(op, a+512-8) // it reads all 512 bytes
	c.loadBytes(op, a, b[:])
	mx := getLE32(b[fxMXCSR:])
	if mx&^mxValid != 0 {
		c.raise(op, VecGP)
	}
	if op.size != 8 {
		clear(b[12:16])
		clear(b[20:24])
	}
	c.F.SetState(b[:FPUStateSize])
	c.MXCSR = mx
	for i := range c.X {
		*bytesOf(&c.X[i]) = [16]byte(b[fxXMM+16*i:])
	}
}

func putLE32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func getLE32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// buildWide sets the operand size to that of the REX.W forms of FXSAVE.
func buildWide(_ *inst, op *Op) { op.size = 8 }
