package x86

// Masked moves and gathers: accesses of single elements, of which those that the
// mask leaves out touch no memory and can't fault (SDM volume 2, VMASKMOV,
// VPMASKMOV, VGATHERDPS and so on).

// A ymm is a whole register as elements.
type ymm [4]uint64

func (c *CPU) ymm(r uint8) ymm {
	x, y := &c.X[r&15], &c.Y[r&15]
	return ymm{x[0], x[1], y[0], y[1]}
}

// at returns element i of size (4 or 8) bytes.
func (v *ymm) at(i, size int) uint64 {
	if size == 8 {
		return v[i]
	}
	return v[i>>1] >> (i & 1 * 32) & 0xffffffff
}

func (v *ymm) set(i, size int, e uint64) {
	if size == 8 {
		v[i] = e
		return
	}
	s := i & 1 * 32
	v[i>>1] = v[i>>1]&^(0xffffffff<<s) | e&0xffffffff<<s
}

// top says whether the top bit of element i is set.
func (v *ymm) top(i, size int) bool { return v.at(i, size)>>(8*size-1) != 0 }

func (v *ymm) halves() (lo, hi [2]uint64) { return [2]uint64(v[:2]), [2]uint64(v[2:]) }

// maskLoad makes VMASKMOVPS and the like from memory, for elements of size bytes.
func maskLoad(size int) handler {
	return func(c *CPU, op *Op) {
		a, m := c.ea(op), c.ymm(op.src2)
		var r ymm
		for i := range int(op.size) / size {
			if m.top(i, size) {
				r.set(i, size, c.ld(op, a+uint64(i*size), uint8(size)))
			}
		}
		c.setV(op, [2]uint64(r[:2]), [2]uint64(r[2:]))
	}
}

// maskedStore makes VMASKMOVPS and the like to memory.
func maskedStore(size int) handler {
	return func(c *CPU, op *Op) {
		a, m, v := c.ea(op), c.ymm(op.src2), c.ymm(op.dst)
		n := int(op.size) / size
		for i := range n {
			if m.top(i, size) {
				c.probeStore(op, a+uint64(i*size), size)
			}
		}
		for i := range n {
			if m.top(i, size) {
				c.st(op, a+uint64(i*size), uint8(size), v.at(i, size))
			}
		}
	}
}

// gather makes a gather of elements of size bytes at indices of isize bytes.
// What has been loaded when an element faults stays loaded, and its mask
// cleared; see CPU.stopped.
func gather(size, isize int) handler {
	return func(c *CPU, op *Op) {
		if op.dst == op.src2 || op.dst == op.aux || op.src2 == op.aux {
			c.raise(op, VecUD)
		}
		n := int(op.size) / max(size, isize)
		d, m, idx := c.ymm(op.dst), c.ymm(op.src2), c.ymm(op.aux)
		if op.size == 16 {
			m[2], m[3] = 0, 0
		}
		// A mask is its top bit, or all ones, while the element isn't done.
		for i := range int(op.size) / size {
			e := uint64(0)
			if m.top(i, size) {
				e = ^e
			}
			m.set(i, size, e)
		}
		c.part = partial{gather: true, dst: op.dst & 15, mask: op.src2 & 15}
		for i := range n {
			c.part.lo, c.part.hi = d.halves()
			c.part.mlo, c.part.mhi = m.halves()
			c.part.active = true
			if m.at(i, size) != 0 {
				x := idx.at(i, isize)
				if isize == 4 {
					x = uint64(int64(int32(x)))
				}
				a := c.R[op.base&31] + x<<(op.imm&3) + uint64(op.disp)
				if op.attr&attrA32 != 0 {
					a = uint64(uint32(a))
				}
				d.set(i, size, c.ld(op, a+c.R[op.seg&31], uint8(size)))
				if op.size == 16 {
					d[2], d[3] = 0, 0
				}
			}
			m.set(i, size, 0)
		}
		c.part.active = false
		for i := n * size / 8; i < 4; i++ {
			d[i] = 0 // above the elements
		}
		c.X[op.dst&15], c.Y[op.dst&15] = d.halves()
		c.X[op.src2&15], c.Y[op.src2&15] = [2]uint64{}, [2]uint64{}
	}
}

// settle keeps what an instruction had done when it faulted; of one that was
// stopped otherwise nothing stays, because it starts over.
func (c *CPU) settle(fault bool) {
	p := &c.part
	if !p.active {
		return
	}
	p.active = false
	if !fault {
		return
	}
	c.MXCSR |= p.mxcsr
	if p.gather {
		c.X[p.dst], c.Y[p.dst] = p.lo, p.hi
		c.X[p.mask], c.Y[p.mask] = p.mlo, p.mhi
	}
}
