package x86

import "math/bits"

// An fpEnv is what one x87 operation needs to know and what it reports: the
// control word goes in, exceptions (and C1: the result was rounded away from
// zero) come out, as bits of the status word.
type fpEnv struct {
	cw  uint16
	exc uint16
}

// Rounding control, bits 11..10 of the control word.
const (
	x87Near = iota
	x87Down
	x87Up
	x87Zero
)

func (e *fpEnv) rc() uint16 { return e.cw >> 10 & 3 }

// prec is the number of significand bits that precision control asks for. The
// reserved encoding 1 acts as extended precision does.
func (e *fpEnv) prec() uint {
	switch e.cw >> 8 & 3 {
	case 0:
		return 24
	case 2:
		return 53
	}
	return 64
}

func (e *fpEnv) unmasked(bit uint16) bool { return e.cw&bit == 0 }

// Exponent bias and the range of exponents of normal numbers of each format.
const (
	bias80, emin80, emax80 = 16383, -16382, 16383
	bias64, emin64, emax64 = 1023, -1022, 1023
	bias32, emin32, emax32 = 127, -126, 127

	// biasAdjust is what the exponent of a result moves by when overflow or
	// underflow isn't masked (SDM volume 1, section 8.5.4).
	biasAdjust = 24576
)

// Some values.
var (
	fpIndefinite = Float80{0xc000000000000000, 0xffff} // the default NaN
	fpOne        = Float80{1 << 63, bias80}
)

func fpZero(neg bool) Float80 { return Float80{0, sign16(neg)} }
func fpInf(neg bool) Float80  { return Float80{1 << 63, 0x7fff | sign16(neg)} }

func sign16(neg bool) uint16 {
	if neg {
		return 0x8000
	}
	return 0
}

// An fpClass is what kind of value a Float80 is.
type fpClass uint8

const (
	fpFinite fpClass = iota // not zero
	fpIsZero
	fpIsInf
	fpQNaN
	fpSNaN
	fpUnsupported // unnormal, pseudo-infinity, pseudo-NaN
)

// An fpNum is an unpacked value: man × 2^(exp-63), bit 63 of man set, if class
// is fpFinite.
type fpNum struct {
	man   uint64
	exp   int32
	neg   bool
	denor bool // denormal or pseudo-denormal: raises DE
	class fpClass
}

func unpack(x Float80) fpNum {
	n := fpNum{man: x.Man, exp: int32(x.SE&0x7fff) - bias80, neg: x.SE>>15 != 0}
	switch e := x.SE & 0x7fff; {
	case e == 0x7fff:
		switch {
		case x.Man>>63 == 0:
			n.class = fpUnsupported
		case x.Man<<1 == 0:
			n.class = fpIsInf
		case x.Man>>62&1 != 0:
			n.class = fpQNaN
		default:
			n.class = fpSNaN
		}
	case e == 0:
		if x.Man == 0 {
			n.class = fpIsZero
			return n
		}
		s := bits.LeadingZeros64(x.Man)
		n.man <<= s
		n.exp = emin80 - int32(s)
		n.denor = true
	case x.Man>>63 == 0:
		n.class = fpUnsupported
	}
	return n
}

// nan says whether the operation on a and b has a NaN for its result without
// computing anything, and which (SDM volume 1, table 4-7): the NaN with the
// larger significand, quietened, but a quiet one before a signalling one.
func (e *fpEnv) nan(a, b Float80, x, y *fpNum) (Float80, bool) {
	if x.class < fpQNaN && y.class < fpQNaN {
		return Float80{}, false
	}
	if x.class == fpUnsupported || y.class == fpUnsupported {
		e.exc |= swIE
		return fpIndefinite, true
	}
	if x.class == fpSNaN || y.class == fpSNaN {
		e.exc |= swIE
	}
	pick := a
	switch {
	case x.class < fpQNaN:
		pick = b
	case y.class < fpQNaN:
	case x.class == fpSNaN && y.class == fpQNaN:
		pick = b
	case x.class == fpQNaN && y.class == fpSNaN:
	case b.Man > a.Man || b.Man == a.Man && b.SE < a.SE:
		pick = b
	}
	pick.Man |= 1 << 62
	return pick, true
}

// nan1 is nan for one operand.
func (e *fpEnv) nan1(a Float80, x *fpNum) (Float80, bool) {
	switch x.class {
	case fpUnsupported:
		e.exc |= swIE
		return fpIndefinite, true
	case fpSNaN:
		e.exc |= swIE
		a.Man |= 1 << 62
		return a, true
	case fpQNaN:
		return a, true
	}
	return a, false
}

func (e *fpEnv) invalid() Float80 {
	e.exc |= swIE
	return fpIndefinite
}

// denormals reports DE if an operand is denormal.
func (e *fpEnv) denormals(x, y *fpNum) {
	if x.denor || y.denor {
		e.exc |= swDE
	}
}

// roundBits rounds the 128-bit significand hi:lo, whose bit 127 may be clear,
// to the topmost p bits of hi. A carry out of hi is reported.
func (e *fpEnv) roundBits(neg bool, hi, lo uint64, p uint) (m uint64, carry, inexact, up bool) {
	var half, rest bool // the first bit cut off, and whether any below is set
	if p == 64 {
		m, half, rest = hi, lo>>63 != 0, lo<<1 != 0
	} else {
		s := 64 - p
		m = hi >> s << s
		half = hi>>(s-1)&1 != 0
		rest = hi<<(p+1) != 0 || lo != 0
	}
	inexact = half || rest
	if !inexact {
		return m, false, false, false
	}
	ulp := uint64(1) << (64 - p)
	switch e.rc() {
	case x87Near:
		up = half && (rest || m&ulp != 0)
	case x87Down:
		up = neg
	case x87Up:
		up = !neg
	}
	if up {
		m += ulp
		carry = m == 0
	}
	return m, carry, true, up
}

// A fpFormat is where results are rounded to.
type fpFormat struct {
	prec       uint
	emin, emax int32
	adjust     int32 // biasAdjust for the format; 0 if results aren't adjusted (stores)
}

// roundTo rounds the value hi:lo × 2^(exp-127), bit 127 set, lowest bit sticky,
// to fm, and reports OE, UE, PE and C1. The result is m × 2^(exp-63): bit 63 of
// m is set unless the result is denormal (then exp is emin) or zero; it is
// infinite if inf is set.
func (e *fpEnv) roundTo(neg bool, exp int32, hi, lo uint64, fm fpFormat) (m uint64, rexp int32, inf bool) {
	m, carry, inexact, up := e.roundBits(neg, hi, lo, fm.prec)
	rexp = exp
	if carry {
		m, rexp = 1<<63, exp+1
	}
	switch {
	case rexp > fm.emax:
		e.exc |= swOE
		if e.unmasked(swOE) {
			if fm.adjust == 0 || rexp-fm.adjust <= fm.emax {
				rexp -= fm.adjust
				break
			}
			// FSCALE alone can leave even the adjusted range.
			e.exc |= swPE | swC1
			return 1 << 63, fm.emax, true
		}
		e.exc |= swPE
		rc := e.rc()
		if rc == x87Zero || rc == x87Down && !neg || rc == x87Up && neg {
			return ^uint64(0) << (64 - fm.prec), fm.emax, false
		}
		e.exc |= swC1
		return 1 << 63, fm.emax, true
	case rexp < fm.emin:
		if e.unmasked(swUE) {
			e.exc |= swUE
			switch {
			case fm.adjust == 0: // a store, which isn't done
			case rexp+fm.adjust >= fm.emin:
				rexp += fm.adjust
				if inexact {
					e.exc |= swPE
					if up {
						e.exc |= swC1
					}
				}
				return m, rexp, false
			default: // FSCALE again
				e.exc |= swPE
				return 0, fm.emin, false
			}
		}
		hi, lo = shiftRightSticky(hi, lo, uint(fm.emin-exp))
		m, _, inexact, up = e.roundBits(neg, hi, lo, fm.prec)
		rexp = fm.emin
		if inexact {
			e.exc |= swUE
		}
	}
	if inexact {
		e.exc |= swPE
		if up {
			e.exc |= swC1
		}
	}
	return m, rexp, false
}

// shiftRightSticky shifts hi:lo right by n bits; what falls out stays as the
// lowest bit.
func shiftRightSticky(hi, lo uint64, n uint) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		out := lo << (64 - n)
		lo = lo>>n | hi<<(64-n)
		hi >>= n
		if out != 0 {
			lo |= 1
		}
		return hi, lo
	case n < 128:
		out := lo
		if n > 64 {
			out |= hi << (128 - n)
		}
		lo = hi >> (n - 64)
		if out != 0 {
			lo |= 1
		}
		return 0, lo
	}
	if hi|lo != 0 {
		return 0, 1
	}
	return 0, 0
}

// round rounds hi:lo × 2^(exp-127) as precision and rounding control say.
func (e *fpEnv) round(neg bool, exp int32, hi, lo uint64) Float80 {
	return e.roundPrec(neg, exp, hi, lo, e.prec())
}

// roundPrec is round with a given number of significand bits.
func (e *fpEnv) roundPrec(neg bool, exp int32, hi, lo uint64, prec uint) Float80 {
	m, exp, inf := e.roundTo(neg, exp, hi, lo, fpFormat{prec, emin80, emax80, biasAdjust})
	if inf {
		return fpInf(neg)
	}
	if m>>63 == 0 {
		return Float80{m, sign16(neg)}
	}
	return Float80{m, uint16(exp+bias80) | sign16(neg)}
}

// normRound is round for a significand that isn't normalised or even zero.
func (e *fpEnv) normRound(neg bool, exp int32, hi, lo uint64) Float80 {
	if hi|lo == 0 {
		return fpZero(neg)
	}
	if hi == 0 {
		hi, lo, exp = lo, 0, exp-64
	}
	if s := bits.LeadingZeros64(hi); s > 0 {
		hi, lo, exp = hi<<s|lo>>(64-s), lo<<s, exp-int32(s)
	}
	return e.round(neg, exp, hi, lo)
}
