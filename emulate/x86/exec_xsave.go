package x86

import "encoding/binary"

// The XSAVE family (SDM volume 1, chapter 13) for the three components that the
// processor has: x87, SSE and the upper halves of the YMM registers. The
// standard and the compacted format have them at the same places.

// Components, as bits of XCR0 and XSTATE_BV.
const (
	xcX87 = 1 << iota
	xcSSE
	xcAVX

	// XCR0 has the enabled components.
	XCR0 = xcX87 | xcSSE | xcAVX
)

// Offsets in the XSAVE area.
const (
	xsHeaderAt = 512 // XSTATE_BV, XCOMP_BV, 48 bytes of zeros
	xsCompAt   = 520
	xsAVXAt    = 576

	// XSaveSize is the length of an XSAVE area in bytes.
	XSaveSize = xsAVXAt + 256

	xsCompact = 1 << 63 // XCOMP_BV: the area has the compacted format
)

var _ = register([]row{
	{enc: "NP W0 0F AE /4", mnem: "xsave", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsave, cpu: "xsave"},
	{enc: "NP REX.W 0F AE /4", mnem: "xsave64", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsave, build: buildWide, cpu: "xsave"},
	{enc: "NP W0 0F AE /6", mnem: "xsaveopt", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsaveopt, cpu: "xsaveopt"},
	{enc: "NP REX.W 0F AE /6", mnem: "xsaveopt64", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsaveopt, build: buildWide, cpu: "xsaveopt"},
	{enc: "NP W0 0F C7 /4", mnem: "xsavec", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsavec, cpu: "xsavec"},
	{enc: "NP REX.W 0F C7 /4", mnem: "xsavec64", args: "mxs:rw | eax:r edx:r fpu:r mxcsr:r ymms:r", fn: execXsavec, build: buildWide, cpu: "xsavec"},
	{enc: "NP W0 0F AE /5", mnem: "xrstor", args: "mxs:r | eax:r edx:r fpu:rw mxcsr:rw ymms:rw", fn: execXrstor, cpu: "xsave"},
	{enc: "NP REX.W 0F AE /5", mnem: "xrstor64", args: "mxs:r | eax:r edx:r fpu:rw mxcsr:rw ymms:rw", fn: execXrstor, build: buildWide, cpu: "xsave"},
	// For the kernel alone.
	{enc: "NP 0F C7 /3", mnem: "xrstors", args: "m:-", fn: execGP, build: ends},
	{enc: "NP 0F C7 /5", mnem: "xsaves", args: "m:-", fn: execGP, build: ends},
	{enc: "NP 0F 01 D1", mnem: "xsetbv", fn: execGP, build: ends},
})

// XInUse says which components are not in their initial state, as XGETBV with
// ECX = 1 does.
func (c *CPU) XInUse() uint64 {
	var m uint64
	var init FPU
	init.Init()
	if c.F != init {
		m = xcX87
	}
	if c.X != [16][2]uint64{} {
		m |= xcSSE
	}
	if c.Y != [16][2]uint64{} {
		m |= xcAVX
	}
	return m
}

// PutXSave writes the XSAVE area with all components, in the standard format, to
// b, of XSaveSize bytes.
func (c *CPU) PutXSave(b []byte) {
	clear(b)
	c.putX87(b, true)
	c.putSSE(b)
	putLE32(b[fxMXCSR:], c.MXCSR)
	putLE32(b[fxMXCSR+4:], mxValid)
	c.putAVX(b[xsAVXAt:])
	binary.LittleEndian.PutUint64(b[xsHeaderAt:], c.XInUse()|xcX87|xcSSE)
}

// SetXSave restores what an XSAVE area in the standard format says; components
// that it doesn't have become initial. It reports false, with nothing changed, if
// the area is invalid.
func (c *CPU) SetXSave(b []byte) bool {
	le := binary.LittleEndian
	bv := le.Uint64(b[xsHeaderAt:])
	if bv&^XCR0 != 0 || le.Uint64(b[xsCompAt:]) != 0 || getLE32(b[fxMXCSR:])&^mxValid != 0 {
		return false
	}
	c.MXCSR = getLE32(b[fxMXCSR:])
	c.restore(b, XCR0, bv, true)
	return true
}

// putX87 writes the x87 component. Without wide the pointers have 32 bits.
func (c *CPU) putX87(b []byte, wide bool) {
	c.F.PutState(b[:FPUStateSize])
	if !wide {
		clear(b[12:16])
		clear(b[20:24])
	}
}

func (c *CPU) putSSE(b []byte) {
	for i := range c.X {
		*(*[16]byte)(b[fxXMM+16*i:]) = *bytesOf(&c.X[i])
	}
}

func (c *CPU) putAVX(b []byte) {
	for i := range c.Y {
		*(*[16]byte)(b[16*i:]) = *bytesOf(&c.Y[i])
	}
}

// restore sets the components in mask: those in bv from b, the others to their
// initial state. MXCSR isn't touched.
func (c *CPU) restore(b []byte, mask, bv uint64, wide bool) {
	if mask&xcX87 != 0 {
		c.F = FPU{}
		c.F.Init()
		if bv&xcX87 != 0 {
			if !wide {
				clear(b[12:16])
				clear(b[20:24])
			}
			c.F.SetState(b[:FPUStateSize])
		}
	}
	if mask&xcSSE != 0 {
		c.X = [16][2]uint64{}
		if bv&xcSSE != 0 {
			for i := range c.X {
				*bytesOf(&c.X[i]) = [16]byte(b[fxXMM+16*i:])
			}
		}
	}
	if mask&xcAVX != 0 {
		c.Y = [16][2]uint64{}
		if bv&xcAVX != 0 {
			for i := range c.Y {
				*bytesOf(&c.Y[i]) = [16]byte(b[xsAVXAt+16*i:])
			}
		}
	}
}

// xsMask is the components that an instruction works on.
func (c *CPU) xsMask() uint64 {
	return (c.R[RDX]<<32 | c.R[RAX]&0xffffffff) & XCR0
}

// xsArea checks the alignment of the operand and returns its address.
func (c *CPU) xsArea(op *Op) uint64 {
	a := c.ea(op)
	if a&63 != 0 {
		c.raise(op, VecGP)
	}
	return a
}

// save stores the components in write; mask, which write is in, decides about
// MXCSR.
func (c *CPU) save(op *Op, a, mask, write uint64) {
	var b [XSaveSize]byte
	c.PutXSave(b[:])
	if op.size != 8 {
		c.putX87(b[:], false)
		putLE32(b[fxMXCSR:], c.MXCSR)
		putLE32(b[fxMXCSR+4:], mxValid)
	}
	if write&xcX87 != 0 {
		c.storeBytes(op, a, b[:fxMXCSR])
		c.storeBytes(op, a+fxMXCSR+8, b[fxMXCSR+8:fxXMM])
	}
	if mask&(xcSSE|xcAVX) != 0 {
		c.storeBytes(op, a+fxMXCSR, b[fxMXCSR:fxMXCSR+8])
	}
	if write&xcSSE != 0 {
		c.storeBytes(op, a+fxXMM, b[fxXMM:fxSize])
	}
	if write&xcAVX != 0 {
		c.storeBytes(op, a+xsAVXAt, b[xsAVXAt:])
	}
}

// probeSave makes sure that save, with the same arguments, and the header's store
// can be done.
func (c *CPU) probeSave(op *Op, a, mask, write uint64) {
	c.probeStore(op, a+xsHeaderAt, 16)
	if write&xcX87 != 0 {
		c.probeStore(op, a, fxXMM)
	}
	if mask&(xcSSE|xcAVX) != 0 {
		c.probeStore(op, a+fxMXCSR, 8)
	}
	if write&xcSSE != 0 {
		c.probeStore(op, a+fxXMM, fxSize-fxXMM)
	}
	if write&xcAVX != 0 {
		c.probeStore(op, a+xsAVXAt, XSaveSize-xsAVXAt)
	}
}

func execXsave(c *CPU, op *Op)    { c.xsave(op, XCR0) }
func execXsaveopt(c *CPU, op *Op) { c.xsave(op, c.XInUse()) }

// xsave is XSAVE and XSAVEOPT, which leaves out what is in its initial state. That
// processors may also leave out what hasn't changed since the last XRSTOR isn't
// made use of.
func (c *CPU) xsave(op *Op, write uint64) {
	a, mask := c.xsArea(op), c.xsMask()
	c.probeSave(op, a, mask, mask&write)
	bv := c.ld64(op, a+xsHeaderAt)
	c.save(op, a, mask, mask&write)
	c.st64(op, a+xsHeaderAt, bv&^mask|mask&c.XInUse())
}

// execXsavec counts SSE as used when MXCSR isn't initial, and stores MXCSR with
// it alone.
func execXsavec(c *CPU, op *Op) {
	a, mask := c.xsArea(op), c.xsMask()
	used := c.XInUse()
	if c.MXCSR != MXCSRInit {
		used |= xcSSE
	}
	c.probeSave(op, a, mask&used&xcSSE, mask&used)
	c.save(op, a, mask&used&xcSSE, mask&used)
	c.st64(op, a+xsHeaderAt, mask&used)
	c.st64(op, a+xsCompAt, mask|xsCompact)
}

func execXrstor(c *CPU, op *Op) {
	a, mask := c.xsArea(op), c.xsMask()
	var b [XSaveSize]byte
	c.loadBytes(op, a+xsHeaderAt, b[xsHeaderAt:xsAVXAt])
	le := binary.LittleEndian
	bv, comp := le.Uint64(b[xsHeaderAt:]), le.Uint64(b[xsCompAt:])
	compact := comp&xsCompact != 0
	bad := bv&^XCR0 != 0
	for i, v := range b[xsCompAt+8 : xsAVXAt] {
		bad = bad || v != 0 && (compact || i < 8)
	}
	if compact {
		bad = bad || comp&^(xsCompact|XCR0) != 0 || bv&^comp != 0
	} else {
		bad = bad || comp != 0
	}
	if bad {
		c.raise(op, VecGP)
	}
	// MXCSR becomes initial when the compacted format has no SSE state (13.8.2;
	// some processors leave it alone if AVX state is there).
	mx := c.MXCSR
	if compact && mask&xcSSE != 0 {
		mx = MXCSRInit
	}
	if !compact && mask&(xcSSE|xcAVX) != 0 || compact && mask&bv&xcSSE != 0 {
		if mx = c.ld32(op, a+fxMXCSR); mx&^mxValid != 0 {
			c.raise(op, VecGP)
		}
	}
	from := mask & bv
	if from&xcX87 != 0 {
		c.loadBytes(op, a, b[:fxXMM])
	}
	if from&xcSSE != 0 {
		c.loadBytes(op, a+fxXMM, b[fxXMM:fxSize])
	}
	if from&xcAVX != 0 {
		c.loadBytes(op, a+xsAVXAt, b[xsAVXAt:])
	}
	c.restore(b[:], mask, from, op.size == 8)
	c.MXCSR = mx
}
