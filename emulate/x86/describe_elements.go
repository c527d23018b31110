package x86

import "strings"

// An ElemAccess says that an instruction accesses its memory operand by elements,
// those whose mask has its top bit set: masked moves and gathers. Size 0 means
// that it doesn't.
type ElemAccess struct {
	Size int   // of an element, bytes
	N    int   // elements
	Mask uint8 // vector register
	// For a gather, whose elements lie at Mem plus indices.
	index, scale uint8
	indexSize    int // bytes, 0: not a gather
}

// Each calls f with the address of every element that the instruction accesses
// through o, which has Elem, given the registers before it.
func (o *Operand) Each(c *CPU, f func(addr uint64)) {
	e := &o.Elem
	base := o.Mem.Addr(c)
	mask := c.ymm(e.Mask)
	for i := range e.N {
		if e.Size == 1 && bytesOf(&c.X[e.Mask&15])[i&15]&0x80 != 0 {
			f(base + uint64(i))
		}
		if e.Size == 1 || !mask.top(i, e.Size) {
			continue
		}
		if e.indexSize == 0 {
			f(base + uint64(i*e.Size))
			continue
		}
		idx := c.ymm(e.index)
		f(c.gathered(&o.Mem, e, idx.at(i, e.indexSize)))
	}
}

// gathered is the address of a gather's element.
func (c *CPU) gathered(m *MemExpr, e *ElemAccess, index uint64) uint64 {
	if e.indexSize == 4 {
		index = uint64(int64(int32(index)))
	}
	a := c.R[m.Base&31] + index<<e.scale + uint64(m.Disp)
	if m.Addr32 {
		a = uint64(uint32(a))
	}
	return a + c.R[m.Seg&31]
}

// VectorIndex returns the vector register that has a gather's indices, and
// whether the access is one.
func (e *ElemAccess) VectorIndex() (r uint8, ok bool) { return e.index, e.indexSize != 0 }

// elements describes the memory operand of a masked move or a gather.
func (f *form) elements(op *Op) ElemAccess {
	w := func(size int) ElemAccess { return ElemAccess{Size: size, N: int(op.size) / size, Mask: op.src2} }
	switch {
	case f.vsib:
		e := ElemAccess{Size: int(f.args[f.rmKind].size), Mask: op.src2, index: op.aux, scale: uint8(op.imm & 3), indexSize: 8}
		if f.opcode&1 == 0 {
			e.indexSize = 4
		}
		e.N = int(op.size) / max(e.Size, e.indexSize)
		return e
	case f.vex && strings.Contains(f.mnem, "maskmov"):
		switch f.mnem[len(f.mnem)-1] {
		case 's', 'd':
			if f.mnem != "vmaskmovpd" {
				return w(4)
			}
			return w(8)
		case 'q':
			return w(8)
		}
	}
	return ElemAccess{}
}
