package x86

// Functions on 128-bit lanes, for the VEX forms of shuffles, packing and the
// like; see lane.

func lanePunpcklbw(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipb(a[0], b[0]), zipb(a[0]>>32, b[0]>>32)
}
func lanePunpckhbw(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipb(a[1], b[1]), zipb(a[1]>>32, b[1]>>32)
}
func lanePunpcklwd(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipw(a[0], b[0]), zipw(a[0]>>32, b[0]>>32)
}
func lanePunpckhwd(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipw(a[1], b[1]), zipw(a[1]>>32, b[1]>>32)
}
func lanePunpckldq(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipd(a[0], b[0]), zipd(a[0]>>32, b[0]>>32)
}
func lanePunpckhdq(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return zipd(a[1], b[1]), zipd(a[1]>>32, b[1]>>32)
}
func lanePunpcklqdq(a, b *[2]uint64, _ uint8) (uint64, uint64) { return a[0], b[0] }
func lanePunpckhqdq(a, b *[2]uint64, _ uint8) (uint64, uint64) { return a[1], b[1] }

func lanePshufd(_, b *[2]uint64, i uint8) (uint64, uint64) {
	s := dwordsOf(b)
	return uint64(s[i&3]) | uint64(s[i>>2&3])<<32, uint64(s[i>>4&3]) | uint64(s[i>>6])<<32
}

func laneShufps(a, b *[2]uint64, i uint8) (uint64, uint64) {
	v, s := dwordsOf(a), dwordsOf(b)
	return uint64(v[i&3]) | uint64(v[i>>2&3])<<32, uint64(s[i>>4&3]) | uint64(s[i>>6])<<32
}

func laneShufpd(a, b *[2]uint64, i uint8) (uint64, uint64) { return a[i&1], b[i>>1&1] }

func lanePshuflw(_, b *[2]uint64, i uint8) (uint64, uint64) { return shufw(b[0], i), b[1] }
func lanePshufhw(_, b *[2]uint64, i uint8) (uint64, uint64) { return b[0], shufw(b[1], i) }

func lanePshufb(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return shufBytes(bytesOf(a), b[0]), shufBytes(bytesOf(a), b[1])
}

func lanePalignr(a, b *[2]uint64, n uint8) (uint64, uint64) {
	if n >= 16 {
		return shiftBytesDown(a[0], a[1], n-16)
	}
	lo, hi := shiftBytesDown(b[0], b[1], n)
	l, h := shiftBytesUp(a[0], a[1], 16-n)
	return lo | l, hi | h
}

// lanePack makes a lane of a narrowing, laneHorizontal of a pairing.
func lanePack(f narrowing) lane {
	return func(a, b *[2]uint64, _ uint8) (uint64, uint64) {
		return f(a[0]) | f(a[1])<<32, f(b[0]) | f(b[1])<<32
	}
}

func laneHorizontal(f pairing) lane {
	return func(a, b *[2]uint64, _ uint8) (uint64, uint64) {
		return f(a[0]) | f(a[1])<<32, f(b[0]) | f(b[1])<<32
	}
}

// laneBlend makes a lane of a blend by an immediate; width is that of an element
// in bits.
func laneBlend(width uint) lane {
	el := ^uint64(0) >> (64 - width)
	n := 64 / width
	return func(a, b *[2]uint64, imm uint8) (uint64, uint64) {
		return pick(laneMask(imm, n, width, el), b[0], a[0]), pick(laneMask(imm>>n, n, width, el), b[1], a[1])
	}
}

func laneMovsldup(_, b *[2]uint64, _ uint8) (uint64, uint64) {
	return b[0]&0xffffffff | b[0]<<32, b[1]&0xffffffff | b[1]<<32
}

func laneMovshdup(_, b *[2]uint64, _ uint8) (uint64, uint64) {
	return b[0]>>32 | b[0]&^0xffffffff, b[1]>>32 | b[1]&^0xffffffff
}

func laneMovddup(_, b *[2]uint64, _ uint8) (uint64, uint64) { return b[0], b[0] }

// lanePermilps and lanePermilpd permute the elements of a by the low bits of
// those of b.
func lanePermilps(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	v, s := dwordsOf(a), dwordsOf(b)
	return uint64(v[s[0]&3]) | uint64(v[s[1]&3])<<32, uint64(v[s[2]&3]) | uint64(v[s[3]&3])<<32
}

func lanePermilpd(a, b *[2]uint64, _ uint8) (uint64, uint64) {
	return a[b[0]>>1&1], a[b[1]>>1&1]
}

func lanePermilpdImm(_, b *[2]uint64, i uint8) (uint64, uint64) { return b[i&1], b[i>>1&1] }

// Shifts whose counts are the elements of b.
func sllvd(a, b uint64) uint64 {
	return uint64(uint32(a)<<min(uint32(b), 32)) | uint64(uint32(a>>32)<<min(uint32(b>>32), 32))<<32
}

func srlvd(a, b uint64) uint64 {
	return uint64(uint32(a)>>min(uint32(b), 32)) | uint64(uint32(a>>32)>>min(uint32(b>>32), 32))<<32
}

func sravd(a, b uint64) uint64 {
	return uint64(uint32(int32(a)>>min(uint32(b), 31))) | uint64(uint32(int32(a>>32)>>min(uint32(b>>32), 31)))<<32
}

func sllvq(a, b uint64) uint64 { return a << min(b, 64) }
func srlvq(a, b uint64) uint64 { return a >> min(b, 64) }
