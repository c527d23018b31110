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

// A strCompare is one PCMPxSTRx under way.
type strCompare struct {
	a, b   [16]int32 // elements of destination and source
	na, nb int       // valid ones
	n      int       // elements in 16 bytes
	imm    uint8
}

func (s *strCompare) set(a, b [2]uint64, imm uint8) {
	s.imm, s.n = imm, 16
	if imm&strWords != 0 {
		s.n = 8
	}
	s.fill(&s.a, &a)
	s.fill(&s.b, &b)
}

func (s *strCompare) fill(to *[16]int32, v *[2]uint64) {
	for i := range s.n {
		switch s.imm & (strWords | strSigned) {
		case 0:
			to[i] = int32(bytesOf(v)[i])
		case strSigned:
			to[i] = int32(int8(bytesOf(v)[i]))
		case strWords:
			to[i] = int32(wordsOf(v)[i])
		default:
			to[i] = int32(int16(wordsOf(v)[i]))
		}
	}
}

// implicit finds the lengths: up to the first zero element.
func (s *strCompare) implicit() {
	for s.na = 0; s.na < s.n && s.a[s.na] != 0; s.na++ {
	}
	for s.nb = 0; s.nb < s.n && s.b[s.nb] != 0; s.nb++ {
	}
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
	var r uint32
	for j := range s.n {
		if s.holds(j) {
			r |= 1 << j
		}
	}
	switch {
	case s.imm&strNegate == 0:
	case s.imm&strMasked == 0:
		r ^= 1<<s.n - 1
	default:
		r ^= 1<<s.nb - 1
	}
	return r
}

// holds evaluates the aggregation for element j of the source.
func (s *strCompare) holds(j int) bool {
	switch s.imm & strMode {
	case 0 << 2: // equal any
		for i := range s.na {
			if j < s.nb && s.a[i] == s.b[j] {
				return true
			}
		}
		return false
	case 1 << 2: // ranges
		for i := 0; i+1 < s.na; i += 2 {
			if j < s.nb && s.a[i] <= s.b[j] && s.b[j] <= s.a[i+1] {
				return true
			}
		}
		return false
	case 2 << 2: // equal each
		if j >= s.na || j >= s.nb {
			return j >= s.na && j >= s.nb
		}
		return s.a[j] == s.b[j]
	}
	// Equal ordered: the destination is found at j, as far as that can be seen.
	for i := 0; i < s.na && i+j < s.n; i++ {
		if i+j >= s.nb || s.a[i] != s.b[i+j] {
			return false
		}
	}
	return true
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
	lo, hi := c.xsu(op)
	s.set(c.X[op.dst&15], [2]uint64{lo, hi}, uint8(op.imm))
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
