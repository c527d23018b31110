package x86

// Packed integer arithmetic on the eight bytes, four words or two doublewords
// of a uint64, without taking it apart where that is possible. b, w, d, q in a
// name give the lane: 8, 16, 32, 64 bits; s and u say signed and unsigned.

// The top bit of each lane, and the lowest.
const (
	signB = 0x8080808080808080
	signW = 0x8000800080008000
	signD = 0x8000000080000000
	lowB  = 0x0101010101010101
	lowW  = 0x0001000100010001
	lowD  = 0x0000000100000001
)

// spreadB, spreadW and spreadD fill each lane with its top bit; the other bits
// of m are 0.
func spreadB(m uint64) uint64 { m >>= 7; return m<<8 - m }
func spreadW(m uint64) uint64 { m >>= 15; return m<<16 - m }
func spreadD(m uint64) uint64 { m >>= 31; return m<<32 - m }

// Addition keeps carries from crossing lanes by leaving the top bits out.
func addb(a, b uint64) uint64 { return (a&^signB + b&^signB) ^ (a^b)&signB }
func addw(a, b uint64) uint64 { return (a&^signW + b&^signW) ^ (a^b)&signW }
func addd(a, b uint64) uint64 { return (a&^signD + b&^signD) ^ (a^b)&signD }
func addq(a, b uint64) uint64 { return a + b }

func subb(a, b uint64) uint64 { return (a | signB - b&^signB) ^ (a^^b)&signB }
func subw(a, b uint64) uint64 { return (a | signW - b&^signW) ^ (a^^b)&signW }
func subd(a, b uint64) uint64 { return (a | signD - b&^signD) ^ (a^^b)&signD }
func subq(a, b uint64) uint64 { return a - b }

func and(a, b uint64) uint64  { return a & b }
func andn(a, b uint64) uint64 { return ^a & b }
func or(a, b uint64) uint64   { return a | b }
func xor(a, b uint64) uint64  { return a ^ b }

// Equality: a lane of a^b is 0 if adding 0x7f to its low bits doesn't reach the
// top bit and the top bit isn't set either.
func eqb(a, b uint64) uint64 {
	x := a ^ b
	return spreadB(^(x&^signB + ^uint64(signB) | x) & signB)
}

func eqw(a, b uint64) uint64 {
	x := a ^ b
	return spreadW(^(x&^signW + ^uint64(signW) | x) & signW)
}

func eqd(a, b uint64) uint64 {
	x := a ^ b
	return spreadD(^(x&^signD + ^uint64(signD) | x) & signD)
}

func eqq(a, b uint64) uint64 {
	if a == b {
		return ^uint64(0)
	}
	return 0
}

// Unsigned a < b is the borrow of a - b.
func ltub(a, b uint64) uint64 { return spreadB((^a&b | ^(a^b)&subb(a, b)) & signB) }
func ltuw(a, b uint64) uint64 { return spreadW((^a&b | ^(a^b)&subw(a, b)) & signW) }
func ltud(a, b uint64) uint64 { return spreadD((^a&b | ^(a^b)&subd(a, b)) & signD) }

// Signed a > b.
func gtb(a, b uint64) uint64 { return ltub(b^signB, a^signB) }
func gtw(a, b uint64) uint64 { return ltuw(b^signW, a^signW) }
func gtd(a, b uint64) uint64 { return ltud(b^signD, a^signD) }
func gtq(a, b uint64) uint64 {
	if int64(a) > int64(b) {
		return ^uint64(0)
	}
	return 0
}

// pick takes a where m has ones, else b.
func pick(m, a, b uint64) uint64 { return b ^ (a^b)&m }

func minub(a, b uint64) uint64 { return pick(ltub(a, b), a, b) }
func maxub(a, b uint64) uint64 { return pick(ltub(a, b), b, a) }
func minuw(a, b uint64) uint64 { return pick(ltuw(a, b), a, b) }
func maxuw(a, b uint64) uint64 { return pick(ltuw(a, b), b, a) }
func minud(a, b uint64) uint64 { return pick(ltud(a, b), a, b) }
func maxud(a, b uint64) uint64 { return pick(ltud(a, b), b, a) }
func minsb(a, b uint64) uint64 { return pick(gtb(a, b), b, a) }
func maxsb(a, b uint64) uint64 { return pick(gtb(a, b), a, b) }
func minsw(a, b uint64) uint64 { return pick(gtw(a, b), b, a) }
func maxsw(a, b uint64) uint64 { return pick(gtw(a, b), a, b) }
func minsd(a, b uint64) uint64 { return pick(gtd(a, b), b, a) }
func maxsd(a, b uint64) uint64 { return pick(gtd(a, b), a, b) }

// Saturating: unsigned sums stick at all ones, differences at 0.
func addusb(a, b uint64) uint64 {
	s := addb(a, b)
	return s | spreadB((a&b|(a|b)&^s)&signB)
}

func addusw(a, b uint64) uint64 {
	s := addw(a, b)
	return s | spreadW((a&b|(a|b)&^s)&signW)
}

func subusb(a, b uint64) uint64 { return subb(a, b) &^ ltub(a, b) }
func subusw(a, b uint64) uint64 { return subw(a, b) &^ ltuw(a, b) }

// Signed ones stick at the extreme with a's sign.
func addsb(a, b uint64) uint64 {
	s := addb(a, b)
	return pick(spreadB(^(a^b)&(a^s)&signB), extremeB(a), s)
}

func addsw(a, b uint64) uint64 {
	s := addw(a, b)
	return pick(spreadW(^(a^b)&(a^s)&signW), extremeW(a), s)
}

func subsb(a, b uint64) uint64 {
	s := subb(a, b)
	return pick(spreadB((a^b)&(a^s)&signB), extremeB(a), s)
}

func subsw(a, b uint64) uint64 {
	s := subw(a, b)
	return pick(spreadW((a^b)&(a^s)&signW), extremeW(a), s)
}

// extremeB and extremeW give the largest number of each lane's sign.
func extremeB(a uint64) uint64 { return a>>7&lowB + ^uint64(signB) }
func extremeW(a uint64) uint64 { return a>>15&lowW + ^uint64(signW) }

// Averages round up.
func avgb(a, b uint64) uint64 { return a | b - (a^b)>>1&^signB }
func avgw(a, b uint64) uint64 { return a | b - (a^b)>>1&^signW }

// Absolute values and signs (SSSE3). The first operand of abs is not used.
func absb(_, b uint64) uint64 { m := spreadB(b & signB); return subb(b^m, m) }
func absw(_, b uint64) uint64 { m := spreadW(b & signW); return subw(b^m, m) }
func absd(_, b uint64) uint64 { m := spreadD(b & signD); return subd(b^m, m) }

func psignb(a, b uint64) uint64 {
	m := spreadB(b & signB)
	return subb(a^m, m) &^ eqb(b, 0)
}

func psignw(a, b uint64) uint64 {
	m := spreadW(b & signW)
	return subw(a^m, m) &^ eqw(b, 0)
}

func psignd(a, b uint64) uint64 {
	m := spreadD(b & signD)
	return subd(a^m, m) &^ eqd(b, 0)
}

// The products. Lane i of a word vector is a >> 16i.
func mullw(a, b uint64) uint64 {
	return uint64(uint16(a)*uint16(b)) |
		uint64(uint16(a>>16)*uint16(b>>16))<<16 |
		uint64(uint16(a>>32)*uint16(b>>32))<<32 |
		uint64(uint16(a>>48)*uint16(b>>48))<<48
}

// mulsw is the signed product of words i of a and b.
func mulsw(a, b uint64, i uint) int32 { return int32(int16(a>>(16*i))) * int32(int16(b>>(16*i))) }

func mulhw(a, b uint64) uint64 {
	return uint64(uint16(mulsw(a, b, 0)>>16)) | uint64(uint16(mulsw(a, b, 1)>>16))<<16 |
		uint64(uint16(mulsw(a, b, 2)>>16))<<32 | uint64(uint16(mulsw(a, b, 3)>>16))<<48
}

func mulhuw(a, b uint64) uint64 {
	var r uint64
	for i := 0; i < 64; i += 16 {
		r |= a >> i & 0xffff * (b >> i & 0xffff) >> 16 << i
	}
	return r
}

// mulhrsw rounds the product of two fractions (SSSE3).
func mulhrsw(a, b uint64) uint64 {
	var r uint64
	for i := uint(0); i < 4; i++ {
		r |= uint64(uint16((mulsw(a, b, i)>>14+1)>>1)) << (16 * i)
	}
	return r
}

func maddwd(a, b uint64) uint64 {
	return uint64(uint32(mulsw(a, b, 0)+mulsw(a, b, 1))) | uint64(uint32(mulsw(a, b, 2)+mulsw(a, b, 3)))<<32
}

// maddubsw multiplies unsigned bytes of a by signed ones of b and adds pairs.
func maddubsw(a, b uint64) uint64 {
	var r uint64
	for i := 0; i < 64; i += 16 {
		s := int32(uint8(a>>i))*int32(int8(b>>i)) + int32(uint8(a>>(i+8)))*int32(int8(b>>(i+8)))
		r |= uint64(uint16(satW(s))) << i
	}
	return r
}

func muludq(a, b uint64) uint64 { return a & 0xffffffff * (b & 0xffffffff) }
func muldq(a, b uint64) uint64  { return uint64(int64(int32(a)) * int64(int32(b))) }
func mulld(a, b uint64) uint64 {
	return uint64(uint32(a)*uint32(b)) | uint64(uint32(a>>32)*uint32(b>>32))<<32
}

// sadbw sums the absolute differences of eight bytes.
func sadbw(a, b uint64) uint64 {
	d := subb(maxub(a, b), minub(a, b))
	d = d&0x00ff00ff00ff00ff + d>>8&0x00ff00ff00ff00ff
	return d * lowW >> 48
}

// satB to satUW saturate one number.
func satB(v int32) int8   { return int8(max(-0x80, min(0x7f, v))) }
func satUB(v int32) uint8 { return uint8(max(0, min(0xff, v))) }
func satW(v int32) int16  { return int16(max(-0x8000, min(0x7fff, v))) }
func satUW(v int32) uint16 {
	return uint16(max(0, min(0xffff, v)))
}
