package x86

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// Documented results, for hosts without the instructions; elsewhere
// TestFormsMatchProcessor compares many more.

func hexX(s string) [2]uint64 {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != 16 {
		panic("BUG: " + s)
	}
	return [2]uint64{binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b)}
}

// Gueron, "Intel Advanced Encryption Standard (AES) New Instructions Set" and
// Gueron and Kounavis, "Intel Carry-Less Multiplication Instruction".
func TestDocumentedCryptography(t *testing.T) {
	state, key := "7b5b54657374566563746f725d53475d", "48692853686179295b477565726f6e5d"
	for _, x := range []struct {
		name   string
		f      whole
		d, s   string
		imm    uint8
		result string
	}{
		{"aesenc", aesenc, state, key, 0, "a8311c2f9fdba3c58b104b58ded7e595"},
		{"aesenclast", aesenclast, state, key, 0, "c7fb881e938c5964177ec42553fdc611"},
		{"aesdec", aesdec, state, key, 0, "138ac342faea2787b58eb95eb730392a"},
		{"aesdeclast", aesdeclast, state, key, 0, "c5a391ef6b317f95d410637b72a593d0"},
		{"aeskeygenassist", aeskeygenassist, state, "3c4fcf098815f7aba6d2ae2816157e2b", 1, "01eb848beb848a013424b5e524b5e434"},
		{"pclmulqdq 00", pclmulqdq, state, key, 0x00, "1d4d84c85c3440c0929633d5d36f0451"},
		{"pclmulqdq 10", pclmulqdq, state, key, 0x10, "1bd17c8d556ab5a17fa540ac2a281315"},
		{"pclmulqdq 01", pclmulqdq, state, key, 0x01, "1a2bf6db3a30862fbabf262df4b7d5c9"},
		{"pclmulqdq 11", pclmulqdq, state, key, 0x11, "1d1e1f2c592e7c45d66ee03e410fd4ed"},
	} {
		if got := x.f(hexX(x.d), hexX(x.s), x.imm); got != hexX(x.result) {
			t.Errorf("%s: %016x%016x, want %s", x.name, got[1], got[0], x.result)
		}
	}
}

// FIPS 180-4: a block through SHA256MSG1, SHA256MSG2 and SHA256RNDS2 as in Intel's
// "SHA Extensions" gives what crypto/sha256 does.
func TestSHA256Instructions(t *testing.T) {
	var block [64]byte
	copy(block[:], "abc\x80")
	block[63] = 24
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	vec := func(i int) [2]uint64 { return fromDwords(w[i], w[i+1], w[i+2], w[i+3]) }
	for i := 16; i < 64; i += 4 {
		m := sha256msg1(vec(i-16), vec(i-12), 0)
		v := dwordsOf(&m)
		for k := range v {
			v[k] += w[i-7+k]
		}
		m = sha256msg2(m, vec(i-4), 0)
		copy(w[i:i+4], dwordsOf(&m)[:])
	}
	c := &CPU{}
	h := [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	c.X[1] = fromDwords(h[5], h[4], h[1], h[0]) // f, e, b, a
	c.X[2] = fromDwords(h[7], h[6], h[3], h[2]) // h, g, d, c
	for i := 0; i < 64; i += 2 {
		c.X[0] = fromDwords(w[i]+roundConstant(i), w[i+1]+roundConstant(i+1), 0, 0)
		execSha256rnds2(c, &Op{dst: 2, src: 1})
		c.X[1], c.X[2] = c.X[2], c.X[1]
	}
	a, b := dwordsOf(&c.X[1]), dwordsOf(&c.X[2])
	var sum [32]byte
	for i, v := range []uint32{a[3], a[2], b[3], b[2], a[1], a[0], b[1], b[0]} {
		binary.BigEndian.PutUint32(sum[4*i:], h[i]+v)
	}
	if want := sha256.Sum256([]byte("abc")); sum != want {
		t.Errorf("%x, want %x", sum, want)
	}
}

// roundConstant is the fraction of the cube root of the i-th prime (FIPS 180-4,
// 4.2.2), 32 bits.
func roundConstant(i int) uint32 {
	p := int64(1)
	for n := -1; n < i; {
		p++
		if big.NewInt(p).ProbablyPrime(0) {
			n++
		}
	}
	// floor(cbrt(p) * 2^32), of which the low 32 bits: by bisection.
	want := new(big.Int).Lsh(big.NewInt(p), 96)
	lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(16), 32)
	for one := big.NewInt(1); new(big.Int).Sub(hi, lo).Cmp(one) > 0; {
		m := new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)
		if new(big.Int).Exp(m, big.NewInt(3), nil).Cmp(want) <= 0 {
			lo = m
		} else {
			hi = m
		}
	}
	return uint32(lo.Uint64())
}

// Multiplication and addition with one rounding, against arithmetic with as many
// bits as it takes.
func TestFusedMultiplyAddRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	number := func() float64 { return math.Ldexp(r.Float64()+0.5, r.Intn(60)-30) * float64(1-2*r.Intn(2)) }
	exact := func(a, b, c float64) *big.Float {
		p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(a), big.NewFloat(b))
		return p.SetPrec(2000).Add(new(big.Float).SetPrec(2000).SetMode(big.ToNearestEven).Mul(big.NewFloat(a).SetPrec(2000), big.NewFloat(b)), big.NewFloat(c))
	}
	for range 20000 {
		a, b, c := number(), number(), number()
		if r.Intn(2) == 0 {
			c = -a * b * (1 + float64(r.Intn(3)-1)*0x1p-52) // cancels
		}
		want, _ := exact(a, b, c).Float64()
		for _, mx := range []uint32{MXCSRInit, MXCSRInit | mxPE} { // by integers and by the host
			if got, _ := fma64(math.Float64bits(a), math.Float64bits(b), math.Float64bits(c), 0, mx); got != math.Float64bits(want) {
				t.Fatalf("%g*%g+%g: %g, want %g", a, b, c, math.Float64frombits(got), want)
			}
		}
		x, y, z := float32(a), float32(b), float32(c)
		want32, _ := exact(float64(x), float64(y), float64(z)).Float32()
		if got, _ := fma32(math.Float32bits(x), math.Float32bits(y), math.Float32bits(z), 0, MXCSRInit); got != math.Float32bits(want32) {
			t.Fatalf("%g*%g+%g: %g, want %g", x, y, z, math.Float32frombits(got), want32)
		}
	}
}

// IEEE 754-2019, table 3.5.
func TestDocumentedHalves(t *testing.T) {
	for f, h := range map[float32]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65520: 0x7c00, 0x1p-14: 0x0400, 0x1p-24: 1, 0x1p-25: 0, 1.0 / 3: 0x3555} {
		if got, _ := toHalf(math.Float32bits(f), MXCSRInit); got != h {
			t.Errorf("%g is %#04x, want %#04x", f, got, h)
		}
		if h < 0x7c00 && h != 0x3555 && f != 0x1p-25 {
			if got, _ := fromHalf(h, MXCSRInit); got != math.Float32bits(f) {
				t.Errorf("%#04x is %g, want %g", h, math.Float32frombits(got), f)
			}
		}
	}
}
