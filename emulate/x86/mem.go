package x86

import (
	"math/bits"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// ea returns the effective address of op's memory operand.
func (c *CPU) ea(op *Op) uint64 {
	a := c.R[op.base&31] + c.R[op.idx&31]<<(op.scale&3) + uint64(op.disp)
	if op.attr&attrA32 != 0 {
		a = uint64(uint32(a))
	}
	return a + c.R[op.seg&31]
}

// entry returns the window's entry for address a.
func (c *CPU) entry(a uint64) *hwmodel.Entry {
	return &c.Win[a>>hwmodel.LineShift%hwmodel.WindowSize]
}

const (
	lineMask  = hwmodel.LineSize - 1
	lineShift = hwmodel.LineShift
)

func (c *CPU) ld8(op *Op, a uint64) uint8 {
	if e := c.entry(a); e.R == a>>lineShift {
		return *(*uint8)(unsafe.Add(e.P, a&lineMask))
	}
	return uint8(c.missLoad(op, a, 1, Read))
}

func (c *CPU) ld16(op *Op, a uint64) uint16 {
	if e := c.entry(a); e.R == (a+1)>>lineShift {
		return *(*uint16)(unsafe.Add(e.P, a&lineMask))
	}
	return uint16(c.missLoad(op, a, 2, Read))
}

func (c *CPU) ld32(op *Op, a uint64) uint32 {
	if e := c.entry(a); e.R == (a+3)>>lineShift {
		return *(*uint32)(unsafe.Add(e.P, a&lineMask))
	}
	return uint32(c.missLoad(op, a, 4, Read))
}

func (c *CPU) ld64(op *Op, a uint64) uint64 {
	if e := c.entry(a); e.R == (a+7)>>lineShift {
		return *(*uint64)(unsafe.Add(e.P, a&lineMask))
	}
	return c.missLoad(op, a, 8, Read)
}

func (c *CPU) st8(op *Op, a uint64, v uint8) {
	if e := c.entry(a); e.W == a>>lineShift {
		*(*uint8)(unsafe.Add(e.P, a&lineMask)) = v
		return
	}
	c.missStore(op, a, 1, uint64(v))
}

func (c *CPU) st16(op *Op, a uint64, v uint16) {
	if e := c.entry(a); e.W == (a+1)>>lineShift {
		*(*uint16)(unsafe.Add(e.P, a&lineMask)) = v
		return
	}
	c.missStore(op, a, 2, uint64(v))
}

func (c *CPU) st32(op *Op, a uint64, v uint32) {
	if e := c.entry(a); e.W == (a+3)>>lineShift {
		*(*uint32)(unsafe.Add(e.P, a&lineMask)) = v
		return
	}
	c.missStore(op, a, 4, uint64(v))
}

func (c *CPU) st64(op *Op, a uint64, v uint64) {
	if e := c.entry(a); e.W == (a+7)>>lineShift {
		*(*uint64)(unsafe.Add(e.P, a&lineMask)) = v
		return
	}
	c.missStore(op, a, 8, v)
}

// ld loads size bytes (1, 2, 4 or 8), zero-extended.
func (c *CPU) ld(op *Op, a uint64, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.ld8(op, a))
	case 2:
		return uint64(c.ld16(op, a))
	case 4:
		return uint64(c.ld32(op, a))
	}
	return c.ld64(op, a)
}

// st stores the low size bytes (1, 2, 4 or 8) of v.
func (c *CPU) st(op *Op, a uint64, size uint8, v uint64) {
	switch size {
	case 1:
		c.st8(op, a, uint8(v))
	case 2:
		c.st16(op, a, uint16(v))
	case 4:
		c.st32(op, a, uint32(v))
	default:
		c.st64(op, a, v)
	}
}

// ldX loads 16 bytes, low quadword first, at any alignment.
func (c *CPU) ldX(op *Op, a uint64) [2]uint64 {
	if e := c.entry(a); e.R == (a+15)>>lineShift {
		p := (*[2]uint64)(unsafe.Add(e.P, a&lineMask)) // 8 bytes at a time: see loopgen's copy2
		return [2]uint64{p[0], p[1]}
	}
	lo := c.ld64(op, a)
	return [2]uint64{lo, c.ld64(op, a+8)}
}

// stX stores 16 bytes at any alignment.
func (c *CPU) stX(op *Op, a uint64, v [2]uint64) {
	if e := c.entry(a); e.W == (a+15)>>lineShift {
		p := (*[2]uint64)(unsafe.Add(e.P, a&lineMask))
		p[0], p[1] = v[0], v[1]
		return
	}
	c.probeStore(op, a, 16)
	c.st64(op, a, v[0])
	c.st64(op, a+8, v[1])
}

// ldXa and stXa are ldX and stX for legacy SSE operands, which fault when they
// aren't aligned.
func (c *CPU) ldXa(op *Op, a uint64) [2]uint64 {
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	return c.ldX(op, a)
}

func (c *CPU) stXa(op *Op, a uint64, v [2]uint64) {
	if a&15 != 0 {
		c.raise(op, VecGP)
	}
	c.stX(op, a, v)
}

// loadBytes and storeBytes move len(b) bytes. Either faults before anything is
// changed.
func (c *CPU) loadBytes(op *Op, a uint64, b []byte) {
	for len(b) >= 8 {
		*(*uint64)(unsafe.Pointer(&b[0])) = c.ld64(op, a)
		a, b = a+8, b[8:]
	}
	for i := range b {
		b[i] = c.ld8(op, a+uint64(i))
	}
}

func (c *CPU) storeBytes(op *Op, a uint64, b []byte) {
	c.probeStore(op, a, len(b))
	for len(b) >= 8 {
		c.st64(op, a, *(*uint64)(unsafe.Pointer(&b[0])))
		a, b = a+8, b[8:]
	}
	for i := range b {
		c.st8(op, a+uint64(i), b[i])
	}
}

// rm8 to rm64 return op's ModRM.rm operand, a general register or memory.
func (c *CPU) rm8(op *Op) uint8 {
	if op.attr&attrMem != 0 {
		return c.ld8(op, c.ea(op))
	}
	return c.reg8(op.src)
}

func (c *CPU) rm16(op *Op) uint16 {
	if op.attr&attrMem != 0 {
		return c.ld16(op, c.ea(op))
	}
	return uint16(c.R[op.src&31])
}

func (c *CPU) rm32(op *Op) uint32 {
	if op.attr&attrMem != 0 {
		return c.ld32(op, c.ea(op))
	}
	return uint32(c.R[op.src&31])
}

func (c *CPU) rm64(op *Op) uint64 {
	if op.attr&attrMem != 0 {
		return c.ld64(op, c.ea(op))
	}
	return c.R[op.src&31]
}

// rm returns op's ModRM.rm operand of op.size bytes, zero-extended.
func (c *CPU) rm(op *Op) uint64 {
	if op.attr&attrMem != 0 {
		return c.ld(op, c.ea(op), op.size)
	}
	return c.getReg(op.src, op.size)
}

// setRM writes op's ModRM.rm operand of op.size bytes.
func (c *CPU) setRM(op *Op, v uint64) {
	if op.attr&attrMem != 0 {
		c.st(op, c.ea(op), op.size, v)
		return
	}
	c.setReg(op.src, op.size, v)
}

// rmX returns op's ModRM.rm operand, an XMM register or 16 aligned bytes;
// rmXu the same without the demand to be aligned; xm32 and xm64 the low part
// of an XMM register or 4 or 8 bytes.
func (c *CPU) rmX(op *Op) [2]uint64 {
	if op.attr&attrMem != 0 {
		return c.ldXa(op, c.ea(op))
	}
	return c.X[op.src&15]
}

func (c *CPU) rmXu(op *Op) [2]uint64 {
	if op.attr&attrMem != 0 {
		return c.ldX(op, c.ea(op))
	}
	return c.X[op.src&15]
}

func (c *CPU) xm32(op *Op) uint32 {
	if op.attr&attrMem != 0 {
		return c.ld32(op, c.ea(op))
	}
	return uint32(c.X[op.src&15][0])
}

func (c *CPU) xm64(op *Op) uint64 {
	if op.attr&attrMem != 0 {
		return c.ld64(op, c.ea(op))
	}
	return c.X[op.src&15][0]
}

// reg8 returns a byte register; r may be highByte+0..3.
func (c *CPU) reg8(r uint8) uint8 {
	if r >= highByte {
		return uint8(c.R[(r-highByte)&3] >> 8)
	}
	return uint8(c.R[r&31])
}

func (c *CPU) setReg8(r uint8, v uint8) {
	if r >= highByte {
		p := &c.R[(r-highByte)&3]
		*p = *p&^0xFF00 | uint64(v)<<8
		return
	}
	p := &c.R[r&31]
	*p = *p&^0xFF | uint64(v)
}

// getReg returns a general register's low size bytes, zero-extended.
func (c *CPU) getReg(r, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.reg8(r))
	case 2:
		return uint64(uint16(c.R[r&31]))
	case 4:
		return uint64(uint32(c.R[r&31]))
	}
	return c.R[r&31]
}

// setReg writes a general register: 4 bytes clear the upper half, 1 and 2
// leave the rest (SDM volume 1, 3.4.1.1).
func (c *CPU) setReg(r, size uint8, v uint64) {
	switch size {
	case 1:
		c.setReg8(r, uint8(v))
	case 2:
		c.R[r&31] = c.R[r&31]&^0xFFFF | v&0xFFFF
	case 4:
		c.R[r&31] = v & 0xFFFFFFFF
	default:
		c.R[r&31] = v
	}
}

// canonical says whether a is an address at all (48-bit virtual addresses).
func canonical(a uint64) bool { return uint64(int64(a)<<16>>16) == a }

// line asks Mem for the line of a, an address of the access under way.
func (c *CPU) line(a uint64, write bool) unsafe.Pointer {
	if !canonical(a) {
		panic(&Stop{Kind: StopFault, Vector: VecGP})
	}
	c.run.addr = a
	return c.Mem.Line(c, a>>lineShift, write)
}

// missLoad is what loads of size bytes (1, 2, 4, 8) do that the window doesn't
// answer.
func (c *CPU) missLoad(op *Op, a uint64, size int, kind AccessKind) uint64 {
	c.cur = op
	n := hwmodel.LineSize - int(a&lineMask)
	if n >= size {
		return c.loadPiece(a, size, kind)
	}
	if kind == Read {
		if v, ok := c.loadAcross(a, size); ok {
			return v
		}
	}
	lo := c.loadPiece(a, n, kind)
	return lo | c.loadPiece(a+uint64(n), size-n, kind)<<(8*n)
}

// loadAcross loads size (2, 4 or 8) bytes across two lines that the window both
// holds.
func (c *CPU) loadAcross(a uint64, size int) (v uint64, ok bool) {
	l := a >> lineShift
	e, f := c.entry(a), c.entry(a+lineMask)
	if e.R != l || f.R != l+1 {
		return 0, false
	}
	// The last 8 bytes of one line and the first of the other.
	n := hwmodel.LineSize - a&lineMask
	v = *(*uint64)(unsafe.Add(e.P, hwmodel.LineSize-8))>>(64-8*n) | *(*uint64)(f.P)<<(8*n)
	return v & (1<<(8*size-1)<<1 - 1), true
}

// loadPiece loads size bytes (1 to 8) that lie in one line.
func (c *CPU) loadPiece(a uint64, size int, kind AccessKind) uint64 {
	p := unsafe.Add(c.line(a, kind == Update), a&lineMask)
	var v uint64
	switch size {
	case 1:
		v = uint64(*(*uint8)(p))
	case 2:
		v = uint64(*(*uint16)(p))
	case 4:
		v = uint64(*(*uint32)(p))
	case 8:
		v = *(*uint64)(p)
	default:
		for i := range size {
			v |= uint64(*(*uint8)(unsafe.Add(p, i))) << (8 * i)
		}
	}
	if c.Watch != nil {
		v = c.Watch.Load(c, a, size, kind, v)
	}
	return v
}

// missStore is what stores of size bytes (1, 2, 4, 8) do that the window
// doesn't answer.
func (c *CPU) missStore(op *Op, a uint64, size int, v uint64) {
	c.cur = op
	n := hwmodel.LineSize - int(a&lineMask)
	if n >= size {
		c.storePiece(a, size, v)
		return
	}
	if c.storeAcross(a, size, v) {
		return
	}
	c.line(a, true) // both must be there before either changes
	c.line(a+uint64(n), true)
	c.storePiece(a, n, v)
	c.storePiece(a+uint64(n), size-n, v>>(8*n))
}

// storeAcross is loadAcross for stores.
func (c *CPU) storeAcross(a uint64, size int, v uint64) bool {
	l := a >> lineShift
	e, f := c.entry(a), c.entry(a+lineMask)
	if e.W != l || f.W != l+1 {
		return false
	}
	n := hwmodel.LineSize - int(a&lineMask)
	for i := range n {
		*(*uint8)(unsafe.Add(e.P, hwmodel.LineSize-n+i)) = uint8(v >> (8 * i))
	}
	for i := range size - n {
		*(*uint8)(unsafe.Add(f.P, i)) = uint8(v >> (8 * (n + i)))
	}
	return true
}

func (c *CPU) storePiece(a uint64, size int, v uint64) {
	p := unsafe.Add(c.line(a, true), a&lineMask)
	if c.Watch != nil {
		c.Watch.Store(c, a, size, v&(1<<(8*size-1)<<1-1))
	}
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	case 8:
		*(*uint64)(p) = v
	default:
		for i := range size {
			*(*uint8)(unsafe.Add(p, i)) = uint8(v >> (8 * i))
		}
	}
}

// probeStore makes sure that n bytes can be stored at a, so that a store in
// several pieces faults before the first.
func (c *CPU) probeStore(op *Op, a uint64, n int) {
	c.cur = op
	if n <= 0 {
		return
	}
	end := a + uint64(n) - 1
	for l := a; ; l = l&^lineMask + hwmodel.LineSize {
		if e := c.entry(l); e.W != l>>lineShift {
			c.line(l, true)
		}
		if l>>lineShift == end>>lineShift {
			return
		}
	}
}

// rmwLoad loads op's memory operand of op.size bytes, which the same
// instruction then stores with setRM. It returns the register if op has none.
// The load half may have been executed before (see RunSplit).
func (c *CPU) rmwLoad(op *Op) uint64 {
	if op.attr&attrMem == 0 {
		return c.getReg(op.src, op.size)
	}
	a := c.ea(op)
	if op.attr&attrLock != 0 {
		c.lockAt(op, a, int(op.size))
	} else if c.pend.Size != 0 {
		return c.pend.Value
	}
	return c.ldUpdate(op, a, op.size)
}

// ldUpdate is ld for the load half of a read-modify-write instruction.
func (c *CPU) ldUpdate(op *Op, a uint64, size uint8) uint64 {
	if e := c.entry(a); e.R == (a+uint64(size)-1)>>lineShift {
		p := unsafe.Add(e.P, a&lineMask)
		switch size {
		case 1:
			return uint64(*(*uint8)(p))
		case 2:
			return uint64(*(*uint16)(p))
		case 4:
			return uint64(*(*uint32)(p))
		}
		return *(*uint64)(p)
	}
	return c.missLoad(op, a, int(size), Update)
}

// lockAt begins a LOCK operation of size bytes at a. The run loop ends it.
func (c *CPU) lockAt(op *Op, a uint64, size int) {
	c.cur = op
	c.Env.Orderable(c, a, size)
	c.atomi = true
}

// Atomic says whether the access under way belongs to an atomic instruction.
func (c *CPU) Atomic() bool { return c.atomi }

// parity returns PF if the low byte of v has an even number of ones.
func parity(v uint64) uint64 { return uint64(^bits.OnesCount8(uint8(v))&1) << 2 }
