package x86

import "math/bits"

// PCMPISTRI, PCMPISTRM, PCMPESTRI and PCMPESTRM (SSE4.2).

// The immediate of the string comparisons (SDM volume 2, section 4.1).
const (
	strWords   = 1 << 0
	strSigned  = 1 << 1
	strMode    = 3 << 2 // any, ranges, each, ordered
	strNegate  = 1 << 4
	strMasked  = 1 << 5 // negate only valid elements
	strHighest = 1 << 6 // index of the last; mask of whole elements
)

// A strCompare is one PCMPxSTRx under way. Masks have a bit per element.
type strCompare struct {
	a, b   [2]uint64 // destination and source
	na, nb int       // valid elements
	n      int       // elements in 16 bytes
	imm    uint8
}

func (s *strCompare) words() bool { return s.imm&strWords != 0 }

// mask makes a mask of lanes that are all ones or zeros.
func (s *strCompare) mask(lo, hi uint64) uint32 {
	if s.words() {
		return uint32(moveMask(packsswb(lo) | packsswb(hi)<<32))
	}
	return uint32(moveMask(lo) | moveMask(hi)<<8)
}

// equal says which elements of x and y are equal.
func (s *strCompare) equal(x, y [2]uint64) uint32 {
	if s.words() {
		return s.mask(eqw(x[0], y[0]), eqw(x[1], y[1]))
	}
	return s.mask(eqb(x[0], y[0]), eqb(x[1], y[1]))
}

// less says which elements of x are less than those of y.
func (s *strCompare) less(x, y [2]uint64) uint32 {
	if s.words() {
		var bias uint64
		if s.imm&strSigned != 0 {
			bias = signW
		}
		return s.mask(ltuw(x[0]^bias, y[0]^bias), ltuw(x[1]^bias, y[1]^bias))
	}
	var bias uint64
	if s.imm&strSigned != 0 {
		bias = signB
	}
	return s.mask(ltub(x[0]^bias, y[0]^bias), ltub(x[1]^bias, y[1]^bias))
}

// pattern is element i of the destination, in all places.
func (s *strCompare) pattern(i int) [2]uint64 {
	var v uint64
	if s.words() {
		v = s.a[i>>2] >> (i & 3 * 16) & 0xffff * lowW
	} else {
		v = s.a[i>>3] >> (i & 7 * 8) & 0xff * lowB
	}
	return [2]uint64{v, v}
}

// implicit finds the lengths: up to the first zero element.
func (s *strCompare) implicit() {
	s.na = bits.TrailingZeros32(s.equal(s.a, [2]uint64{}) | 1<<s.n)
	s.nb = bits.TrailingZeros32(s.equal(s.b, [2]uint64{}) | 1<<s.n)
}

// explicit takes the lengths from EAX and EDX (RAX and RDX with REX.W): their
// absolute values, at most the number of elements.
func (s *strCompare) explicit(c *CPU, size uint8) {
	s.na = s.length(c.R[RAX], size)
	s.nb = s.length(c.R[RDX], size)
}

func (s *strCompare) length(v uint64, size uint8) int {
	l := int64(v)
	if size != 8 {
		l = int64(int32(v))
	}
	if l < 0 {
		l = -l
	}
	if l < 0 || l > int64(s.n) {
		return s.n
	}
	return int(l)
}

// result is the comparison's bit mask, IntRes2 of the manual.
func (s *strCompare) result() uint32 {
	r := s.aggregate()
	switch {
	case s.imm&strNegate == 0:
	case s.imm&strMasked == 0:
		r ^= 1<<s.n - 1
	default:
		r ^= 1<<s.nb - 1
	}
	return r
}

// aggregate is IntRes1: for which elements of the source the comparison with
// the destination holds.
func (s *strCompare) aggregate() (r uint32) {
	all, valid := uint32(1)<<s.n-1, uint32(1)<<s.nb-1
	switch s.imm & strMode {
	case 0 << 2: // equal to any element
		for i := range s.na {
			r |= s.equal(s.pattern(i), s.b)
		}
		return r & valid
	case 1 << 2: // in one of the ranges that pairs of elements give
		for i := 0; i+1 < s.na; i += 2 {
			r |= all &^ s.less(s.b, s.pattern(i)) &^ s.less(s.pattern(i+1), s.b)
		}
		return r & valid
	case 2 << 2: // equal to the element at the same place, or both ended
		both := uint32(1)<<min(s.na, s.nb) - 1
		ended := all &^ (1<<max(s.na, s.nb) - 1)
		return s.equal(s.a, s.b)&both | ended
	}
	// The whole destination is found here, as far as the source can be seen.
	r = all
	for i := range s.na {
		r &= s.equal(s.pattern(i), s.b)&valid>>i | all&^(all>>i)
	}
	return r
}

func (c *CPU) strFlags(s *strCompare, r uint32) {
	var f uint64
	if r != 0 {
		f |= CF
	}
	if s.nb < s.n {
		f |= ZF
	}
	if s.na < s.n {
		f |= SF
	}
	if r&1 != 0 {
		f |= OF
	}
	c.setAllFlags(f)
}

// strIndex puts the index of the first or last one of r in ECX.
func (c *CPU) strIndex(s *strCompare, r uint32) {
	i := s.n
	switch {
	case r == 0:
	case s.imm&strHighest != 0:
		i = bits.Len32(r) - 1
	default:
		i = bits.TrailingZeros32(r)
	}
	c.R[RCX] = uint64(i)
}

// strMask puts r in XMM0, as bits or as whole elements.
func (c *CPU) strMask(s *strCompare, r uint32) {
	var m [2]uint64
	switch {
	case s.imm&strHighest == 0:
		m[0] = uint64(r)
	case s.n == 16:
		for i := range bytesOf(&m) {
			bytesOf(&m)[i] = -uint8(r >> i & 1)
		}
	default:
		for i := range wordsOf(&m) {
			wordsOf(&m)[i] = -uint16(r >> i & 1)
		}
	}
	c.X[0] = m
}

// strSetup loads the operands; the memory one may have any alignment.
func (c *CPU) strSetup(op *Op, s *strCompare) {
	s.b[0], s.b[1] = c.xsu(op)
	d := &c.X[op.dst&15]
	s.a[0], s.a[1] = d[0], d[1]
	s.imm, s.n = uint8(op.imm), 16
	if s.words() {
		s.n = 8
	}
}

func execPcmpistri(c *CPU, op *Op) {
	var s strCompare
	c.strSetup(op, &s)
	s.implicit()
	r := s.result()
	c.strIndex(&s, r)
	c.strFlags(&s, r)
}

func execPcmpistrm(c *CPU, op *Op) {
	var s strCompare
	c.strSetup(op, &s)
	s.implicit()
	r := s.result()
	c.strMask(&s, r)
	c.strFlags(&s, r)
}

func execPcmpestri(c *CPU, op *Op) {
	var s strCompare
	c.strSetup(op, &s)
	s.explicit(c, op.aux)
	r := s.result()
	c.strIndex(&s, r)
	c.strFlags(&s, r)
}

func execPcmpestrm(c *CPU, op *Op) {
	var s strCompare
	c.strSetup(op, &s)
	s.explicit(c, op.aux)
	r := s.result()
	c.strMask(&s, r)
	c.strFlags(&s, r)
}

// buildExplicit notes REX.W, which gives the lengths' size, in aux.
func buildExplicit(d *inst, op *Op) {
	op.aux = 4
	if d.w() {
		op.aux = 8
	}
}
