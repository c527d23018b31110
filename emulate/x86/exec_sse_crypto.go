package x86

import "math/bits"

// Carry-less multiplication, AES and SHA.

// clmul multiplies polynomials over GF(2): a times each 4 bits of b, from a table.
func clmul(a, b uint64) (lo, hi uint64) {
	var tl, th [16]uint64 // a times 0 to 15, low and high word
	for i := 1; i < 16; i++ {
		h := i >> 1
		tl[i], th[i] = tl[h]<<1, th[h]<<1|tl[h]>>63
		if i&1 != 0 {
			tl[i] ^= a
		}
	}
	for s := 60; s >= 0; s -= 4 {
		hi, lo = hi<<4|lo>>60, lo<<4
		i := b >> s & 15
		lo ^= tl[i]
		hi ^= th[i]
	}
	return lo, hi
}

// pclmulqdq multiplies the halves that bits 0 and 4 of imm select.
func pclmulqdq(d, s [2]uint64, imm uint8) [2]uint64 {
	lo, hi := clmul(d[imm&1], s[imm>>4&1])
	return [2]uint64{lo, hi}
}

// aesSbox and aesInv are FIPS 197's S-box and its inverse.
var aesSbox, aesInv = aesBoxes()

func aesBoxes() (sbox, inv [256]uint8) {
	for i := range 256 {
		// i^254 is the multiplicative inverse, and 0 for 0.
		v, x := uint8(1), uint8(i)
		for e := 254; e != 0; e >>= 1 {
			if e&1 != 0 {
				v = aesMul(v, x)
			}
			x = aesMul(x, x)
		}
		v ^= bits.RotateLeft8(v, 1) ^ bits.RotateLeft8(v, 2) ^ bits.RotateLeft8(v, 3) ^ bits.RotateLeft8(v, 4) ^ 0x63
		sbox[i], inv[v] = v, uint8(i)
	}
	return sbox, inv
}

// aesMul multiplies in GF(2^8) modulo x^8+x^4+x^3+x+1.
func aesMul(a, b uint8) uint8 {
	var r uint8
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			r ^= a
		}
		a = a<<1 ^ a>>7*0x1b
	}
	return r
}

// aesShift does (Inv)ShiftRows and (Inv)SubBytes: byte row+4*column comes from
// step columns to the right, times the row.
func aesShift(v [2]uint64, box *[256]uint8, step int) [2]uint64 {
	var r [2]uint64
	from, to := bytesOf(&v), bytesOf(&r)
	for i := range to {
		row := i & 3
		to[i] = box[from[row|(i>>2+step*row)&3<<2]]
	}
	return r
}

// An aesTable has, for each byte, its column of four bytes times a circulant
// matrix whose first column is k; rows below are the same turned.
type aesTable [256]uint32

func newAESTable(k [4]uint8, box *[256]uint8) *aesTable {
	var t aesTable
	for i := range t {
		v := uint8(i)
		if box != nil {
			v = box[i]
		}
		for j := range k {
			t[i] |= uint32(aesMul(v, k[j])) << (8 * j)
		}
	}
	return &t
}

// aesRound does a round without the key: (Inv)ShiftRows with step as in aesShift,
// and what t has for each byte, (Inv)SubBytes and (Inv)MixColumns.
func aesRound(v [2]uint64, t *aesTable, step int) [2]uint64 {
	var r [2]uint64
	from, to := bytesOf(&v), dwordsOf(&r)
	for i := range to {
		to[i] = t[from[4*i&15]] ^ bits.RotateLeft32(t[from[(4*(i+step)+1)&15]], 8) ^
			bits.RotateLeft32(t[from[(4*(i+2*step)+2)&15]], 16) ^ bits.RotateLeft32(t[from[(4*(i+3*step)+3)&15]], 24)
	}
	return r
}

func xorX(a, b [2]uint64) [2]uint64 { return [2]uint64{a[0] ^ b[0], a[1] ^ b[1]} }

// The first columns of MixColumns and its inverse.
var (
	aesEncTable = newAESTable([4]uint8{2, 1, 1, 3}, &aesSbox)
	aesDecTable = newAESTable([4]uint8{14, 9, 13, 11}, &aesInv)
	aesImcTable = newAESTable([4]uint8{14, 9, 13, 11}, nil)
)

func aesenc(d, s [2]uint64, _ uint8) [2]uint64 { return xorX(aesRound(d, aesEncTable, 1), s) }

func aesenclast(d, s [2]uint64, _ uint8) [2]uint64 { return xorX(aesShift(d, &aesSbox, 1), s) }

func aesdec(d, s [2]uint64, _ uint8) [2]uint64 { return xorX(aesRound(d, aesDecTable, -1), s) }

func aesdeclast(d, s [2]uint64, _ uint8) [2]uint64 { return xorX(aesShift(d, &aesInv, -1), s) }
func aesimc(_, s [2]uint64, _ uint8) [2]uint64     { return aesRound(s, aesImcTable, 0) }

func aeskeygenassist(_, s [2]uint64, imm uint8) [2]uint64 {
	var r [2]uint64
	from, to := dwordsOf(&s), dwordsOf(&r)
	for i := range 2 {
		x := from[2*i+1]
		x = uint32(aesSbox[x&0xff]) | uint32(aesSbox[x>>8&0xff])<<8 |
			uint32(aesSbox[x>>16&0xff])<<16 | uint32(aesSbox[x>>24])<<24
		to[2*i], to[2*i+1] = x, bits.RotateLeft32(x, -8)^uint32(imm)
	}
	return r
}

// sha1rnds4 does four rounds of SHA-1 (FIPS 180-4); the doublewords of d are
// d, c, b, a from the lowest.
func sha1rnds4(d, s [2]uint64, imm uint8) [2]uint64 {
	v, w := dwordsOf(&d), dwordsOf(&s)
	a, b, c, dd, e := v[3], v[2], v[1], v[0], uint32(0)
	for i := range 4 {
		var f, k uint32
		switch imm & 3 {
		case 0:
			f, k = b&c^^b&dd, 0x5a827999
		case 1:
			f, k = b^c^dd, 0x6ed9eba1
		case 2:
			f, k = b&c^b&dd^c&dd, 0x8f1bbcdc
		case 3:
			f, k = b^c^dd, 0xca62c1d6
		}
		t := f + bits.RotateLeft32(a, 5) + w[3-i] + e + k
		a, b, c, dd, e = t, a, bits.RotateLeft32(b, 30), c, dd
	}
	return fromDwords(dd, c, b, a)
}

func fromDwords(a, b, c, d uint32) [2]uint64 {
	return [2]uint64{uint64(a) | uint64(b)<<32, uint64(c) | uint64(d)<<32}
}

func sha1nexte(d, s [2]uint64, _ uint8) [2]uint64 {
	v := dwordsOf(&s)
	v[3] += bits.RotateLeft32(dwordsOf(&d)[3], 30)
	return s
}

func sha1msg1(d, s [2]uint64, _ uint8) [2]uint64 {
	return [2]uint64{d[0] ^ s[1], d[1] ^ d[0]}
}

func sha1msg2(d, s [2]uint64, _ uint8) [2]uint64 {
	v, w := dwordsOf(&d), dwordsOf(&s)
	w16 := bits.RotateLeft32(v[3]^w[2], 1)
	w17 := bits.RotateLeft32(v[2]^w[1], 1)
	w18 := bits.RotateLeft32(v[1]^w[0], 1)
	w19 := bits.RotateLeft32(v[0]^w16, 1)
	return fromDwords(w19, w18, w17, w16)
}

func sha256msg1(d, s [2]uint64, _ uint8) [2]uint64 {
	v, w := dwordsOf(&d), dwordsOf(&s)
	return fromDwords(v[0]+sigma0(v[1]), v[1]+sigma0(v[2]), v[2]+sigma0(v[3]), v[3]+sigma0(w[0]))
}

func sha256msg2(d, s [2]uint64, _ uint8) [2]uint64 {
	v, w := dwordsOf(&d), dwordsOf(&s)
	w16 := v[0] + sigma1(w[2])
	w17 := v[1] + sigma1(w[3])
	return fromDwords(w16, w17, v[2]+sigma1(w16), v[3]+sigma1(w17))
}

func sigma0(x uint32) uint32 {
	return bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
}

func sigma1(x uint32) uint32 {
	return bits.RotateLeft32(x, -17) ^ bits.RotateLeft32(x, -19) ^ x>>10
}

// execSha256rnds2 does two rounds; XMM0 has message plus constants, the
// destination c, d, g, h and the source a, b, e, f, both from the highest.
func execSha256rnds2(c *CPU, op *Op) {
	var s [2]uint64
	s[0], s[1] = c.xs(op)
	p, q, k := dwordsOf(&c.X[op.dst&15]), dwordsOf(&s), dwordsOf(&c.X[0])
	a, b, cc, d, e, f, g, h := q[3], q[2], p[3], p[2], q[1], q[0], p[1], p[0]
	for i := range 2 {
		t := e&f ^ ^e&g
		t += bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)
		t += k[i] + h
		u := a&b ^ a&cc ^ b&cc
		u += bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)
		a, b, cc, d, e, f, g, h = t+u, a, b, cc, t+d, e, f, g
	}
	c.X[op.dst&15] = fromDwords(f, e, b, a)
}
