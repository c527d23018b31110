//go:build linux && amd64

package x86

import (
	"math"
	"math/rand/v2"
	"strings"
)

// Values at the edges of the formats, both signs added when used.
var (
	edges32 = []uint32{
		0, 1, 2, 0x7fffff, 0x7ffffe, 0x400000, 0x800000, 0x800001, 0xffffff, 0x1000000, // zero, denormals, least normals
		0x3f800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0x3f000000, 0x3fc00000, 0x40200000, 0x33800000, 0x34000000,
		0x4b000000, 0x4b000001, 0x4affffff, 0x4b7fffff, 0x4b800000, // about 2^23, 2^24
		0x4effffff, 0x4f000000, 0x4f000001, 0x5effffff, 0x5f000000, 0x5f000001, 0x5f800000, // about 2^31, 2^63
		0x7f000000, 0x7f7fffff, 0x7f7ffffe, 0x7e800000, 0x00c00000, 0x20000000, 0x1fffffff, 0x5f7fffff,
		0x7f800000, 0x7f800001, 0x7fa00000, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff, 0x7f812345, 0x7fc54321, // infinity, NaNs
	}
	edges64 = []uint64{
		0, 1, 2, 0xfffffffffffff, 0xffffffffffffe, 0x8000000000000, 0x10000000000000, 0x10000000000001, 0x1fffffffffffff, 0x20000000000000,
		0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x4000000000000000, 0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
		0x3ca0000000000000, 0x3cb0000000000000, 0x4330000000000000, 0x4330000000000001, 0x432fffffffffffff, 0x433fffffffffffff, 0x4340000000000000,
		0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000, 0x41e0000000100000, 0x41e0000000200000, 0x43dfffffffffffff, 0x43e0000000000000, 0x43e0000000000001,
		0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x47f0000000000000, 0x3810000000000000, 0x380fffffffffffff, 0x380fffffe0000000, 0x36a0000000000000, 0x3690000000000000, 0x3690000000000001, // float32's range
		0x7fe0000000000000, 0x7fefffffffffffff, 0x7feffffffffffffe, 0x1ff0000000000000, 0x2000000000000000, 0x1fffffffffffffff, 0x5fefffffffffffff,
		0x7ff0000000000000, 0x7ff0000000000001, 0x7ff4000000000000, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7ff8000000000001, 0x7fffffffffffffff, 0x7ff0000012345678, 0x7ff8000087654321,
	}
	edges16 = []uint16{0, 1, 2, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xff7f, 0xff80, 0xfffe, 0xffff}
)

func random32(rng *rand.Rand) uint32 {
	switch rng.IntN(8) {
	case 0, 1:
		return edges32[rng.IntN(len(edges32))] | rng.Uint32()&(1<<31)
	case 2: // near one another
		return 0x3f800000 + rng.Uint32()&0x1ffffff | rng.Uint32()&(1<<31)
	case 3: // small integers and halves
		return math.Float32bits(float32(rng.IntN(200)-100) / 2)
	case 4: // few significant bits
		return rng.Uint32() & 0xfff80000
	case 5: // about the denormals
		return rng.Uint32() & 0x81ffffff
	case 6: // the range of integers
		return 0x3f000000 + rng.Uint32()%0x20000000 | rng.Uint32()&(1<<31)
	}
	return rng.Uint32()
}

func random64(rng *rand.Rand) uint64 {
	switch rng.IntN(9) {
	case 0, 1:
		return edges64[rng.IntN(len(edges64))] | rng.Uint64()&(1<<63)
	case 2:
		return 0x3ff0000000000000 + rng.Uint64()&0x3fffffffffffff | rng.Uint64()&(1<<63)
	case 3:
		return math.Float64bits(float64(rng.IntN(200)-100) / 2)
	case 4:
		return rng.Uint64() & 0xffff000000000000
	case 5:
		return rng.Uint64() & 0x803fffffffffffff
	case 6: // the range of integers
		return 0x3fe0000000000000 + rng.Uint64()%0x0420000000000000 | rng.Uint64()&(1<<63)
	case 7: // the range of float32
		return 0x3680000000000000 + rng.Uint64()%0x1200000000000000 | rng.Uint64()&(1<<63)
	}
	return rng.Uint64()
}

// fillKind says what the vectors of a state hold.
type fillKind int

const (
	fillRandom fillKind = iota
	fillEdges
	fillFloat32
	fillFloat64
	fillText
	fillSmall // shift counts
)

func fillWord(kind fillKind, rng *rand.Rand) uint64 {
	switch kind {
	case fillEdges:
		var v uint64
		for i := 0; i < 64; i += 16 {
			v |= uint64(edges16[rng.IntN(len(edges16))]) << i
		}
		return v
	case fillFloat32:
		return uint64(random32(rng)) | uint64(random32(rng))<<32
	case fillFloat64:
		return random64(rng)
	case fillText:
		var v uint64
		for i := 0; i < 64; i += 8 {
			v |= uint64("\x00aabbbccd\xe0\xff"[rng.IntN(11)]) << i
		}
		if rng.IntN(2) == 0 {
			v |= 0x6161616161616161 // hardly a zero
		}
		return v
	case fillSmall:
		return uint64(rng.IntN(70))
	}
	return rng.Uint64()
}

func fillFor(f *form, rng *rand.Rand) fillKind {
	has := func(subs ...string) bool {
		for _, s := range subs {
			if strings.Contains(f.mnem, s) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasPrefix(f.mnem, "pcmpi"), strings.HasPrefix(f.mnem, "pcmpe") && has("str"):
		return fillText
	case has("si2", "pi2", "dq2"):
		return fillKind(rng.IntN(2))
	case has("ps2", "ss2") || has("ps", "ss") && !has("2"):
		if f.mnem[0] != 'p' || rng.IntN(2) == 0 {
			return fillFloat32
		}
	case has("pd2", "sd2") || has("pd", "sd") && !has("2"):
		if f.mnem[0] != 'p' || rng.IntN(2) == 0 {
			return fillFloat64
		}
	case strings.HasPrefix(f.mnem, "ps"):
		return [...]fillKind{fillRandom, fillEdges, fillSmall}[rng.IntN(3)]
	}
	return fillKind(rng.IntN(2))
}

// sseInput makes the n-th state to run f from.
func sseInput(s *sseState, f *form, rng *rand.Rand, n int) {
	kind := fillFor(f, rng)
	for i := range s.XMM {
		k := kind
		if k == fillSmall && i == 1 {
			k = fillRandom
		}
		s.XMM[i] = [2]uint64{fillWord(k, rng), fillWord(k, rng)}
		if k != kind || kind == fillSmall && rng.IntN(2) == 0 {
			s.XMM[i][1] = 0
		}
	}
	for i := range s.MM {
		s.MM[i] = fillWord(kind, rng)
	}
	for i := range s.Mem {
		s.Mem[i] = fillWord(kind, rng)
	}
	// Operands that almost cancel, are equal or nearly so.
	flip := uint64(0)
	if rng.IntN(2) == 0 {
		flip = map[fillKind]uint64{fillFloat32: signD, fillFloat64: 1 << 63}[kind]
	}
	switch rng.IntN(6) {
	case 0:
		s.XMM[2] = [2]uint64{s.XMM[1][0] ^ flip, s.XMM[1][1] ^ flip}
		s.Mem[2], s.Mem[3] = s.XMM[2][0], s.XMM[2][1]
	case 1:
		bit := rng.Uint64() & rng.Uint64() & rng.Uint64() & rng.Uint64() & rng.Uint64()
		s.XMM[2] = [2]uint64{s.XMM[1][0] ^ flip ^ bit, s.XMM[1][1] ^ flip ^ bit}
		s.Mem[2], s.Mem[3] = s.XMM[2][0], s.XMM[2][1]
	}
	for i := range s.GPR {
		s.GPR[i] = rng.Uint64()
		switch rng.IntN(4) {
		case 0:
			s.GPR[i] = uint64(int64(int32(s.GPR[i])))
		case 1:
			s.GPR[i] = uint64(rng.IntN(40) - 20)
		case 2:
			s.GPR[i] >>= rng.IntN(64)
		}
	}
	s.GPR[4], s.GPR[5] = sseData+16, sseData+16
	if n%16 == 15 {
		s.GPR[4]++ // not aligned
	}
	s.Flags = rng.Uint64() & arithFlags
	s.MXCSR = MXCSRInit | rng.Uint32()&mxExc
	if hasMXCSR(f) {
		s.MXCSR = sseControl(rng)
	}
	if f.mnem == "ldmxcsr" && rng.IntN(4) != 0 {
		s.Mem[2] &= 0xffff
	}
	s.Status = uint16(rng.IntN(8)) << 11
	s.Tags = uint16(rng.IntN(256))
}

// sseControl makes a value of MXCSR: mostly what programs have.
func sseControl(rng *rand.Rand) uint32 {
	mx := rng.Uint32() & mxExc
	if rng.IntN(2) == 0 {
		mx |= mxPE
	}
	if rng.IntN(3) == 0 {
		mx |= rng.Uint32() & mxRC
	}
	if rng.IntN(4) == 0 {
		mx |= rng.Uint32() & (mxDAZ | mxFTZ)
	}
	if rng.IntN(6) == 0 {
		return mx | rng.Uint32()&mxMasks
	}
	return mx | mxMasks
}
