package x86

import "fmt"

// A Level is what CPUID says of the processor: a micro-architecture level of the
// System V ABI. What can be executed doesn't depend on it.
type Level uint8

// The levels. Level3 also has what processors with AVX2 usually have: AES,
// PCLMULQDQ (both with 256 bits too), SHA, ADX, RDRAND, RDSEED, RDPID, CLFLUSHOPT,
// CLWB and all of XSAVE.
const (
	_ Level = iota
	Level1
	Level2
	Level3
)

// String returns the level's name, "x86-64-v2".
func (l Level) String() string {
	if l < Level1 || l > Level3 {
		return "invalid"
	}
	return "x86-64-v" + string('0'+rune(l))
}

// ParseLevel reads "v1", "v2" and "v3", also with "x86-64-" before it.
func ParseLevel(s string) (Level, error) {
	for l := Level1; l <= Level3; l++ {
		if n := l.String(); s == n || "x86-64-"+s == n {
			return l, nil
		}
	}
	return 0, fmt.Errorf("processor level %q: want v1, v2 or v3", s)
}

// CPUID returns what the CPUID instruction puts into EAX, EBX, ECX and EDX: an
// Intel processor of level l. It has no AVX-512, and no ERMS and FSRM, because
// REP MOVS is slower here than vectors. Leaves it doesn't have are all zero. Fields that name
// the running processor (initial APIC number) are zero: one socket, one core.
// (SDM volume 2, CPUID.)
func (l Level) CPUID(leaf, sub uint32) (a, b, c, d uint32) {
	switch leaf {
	case 0:
		a = 0xD
		b, d, c = 0x756E6547, 0x49656E69, 0x6C65746E // GenuineIntel
	case 1:
		a = 0x000206A7 // family 6, model 42, stepping 7
		if l == Level3 {
			a = 0x000306C3 // model 60, stepping 3
		}
		b = 8 << 8 // CLFLUSH moves 8 quadwords; one logical processor
		c = [...]uint32{Level1: 0, Level2: cpuid1C, Level3: cpuid1C | cpuid1C3}[l]
		d = cpuid1D
	case 2:
		a = 0x00FEFF01 // no descriptors: see leaf 4 (FF) and leaf 18 (FE)
	case 4:
		return cacheLeaf(sub)
	case 6:
		a = 4 // the APIC timer always runs
	case 7:
		if sub == 0 {
			b = 1<<0 | 1<<1 // FSGSBASE, TSC_ADJUST
			if l == Level3 {
				b |= cpuid7B3
				c = cpuid7C3
			}
		}
	case 0xB:
		c = sub & 0xFF // one thread, one core: no more levels
		if sub < 2 {
			b = 1
			c |= (sub + 1) << 8
		}
	case 0xD:
		if l == Level3 {
			return xsaveLeaf(sub)
		}
	case 0x80000000:
		a = 0x80000008
	case 0x80000001:
		if l >= Level2 {
			c = 1 << 0 // LAHF and SAHF in 64-bit mode
		}
		if l == Level3 {
			c |= 1<<5 | 1<<8 // LZCNT, PREFETCHW
		}
		d = 1<<11 | 1<<20 | 1<<27 | 1<<29 // SYSCALL, NX, RDTSCP, 64-bit mode
	case 0x80000002, 0x80000003, 0x80000004:
		return l.brandLeaf(leaf - 0x80000002)
	case 0x80000006:
		c = 256<<16 | 6<<12 | 64 // L2: 256 KiB, 8 ways, 64-byte lines
	case 0x80000007:
		d = 1 << 8 // invariant TSC
	case 0x80000008:
		a = 48<<8 | 46 // 48 bits of virtual, 46 of physical address
	}
	return a, b, c, d
}

// Feature bits of leaf 1.
const (
	cpuid1C = 1<<0 | // SSE3
		1<<9 | // SSSE3
		1<<13 | // CMPXCHG16B
		1<<19 | // SSE4.1
		1<<20 | // SSE4.2
		1<<23 // POPCNT

	cpuid1C3 = 1<<1 | // PCLMULQDQ
		1<<12 | // FMA
		1<<22 | // MOVBE
		1<<25 | // AES
		1<<26 | // XSAVE
		1<<27 | // and the system uses it
		1<<28 | // AVX
		1<<29 | // F16C
		1<<30 // RDRAND

	cpuid1D = 1<<0 | // x87
		1<<4 | // TSC
		1<<5 | // MSR
		1<<6 | // PAE
		1<<8 | // CMPXCHG8B
		1<<9 | // APIC
		1<<11 | // SYSENTER
		1<<13 | // global pages
		1<<15 | // CMOV
		1<<19 | // CLFLUSH
		1<<23 | // MMX
		1<<24 | // FXSR
		1<<25 | // SSE
		1<<26 // SSE2
)

// Feature bits of leaf 7.
const (
	cpuid7B3 = 1<<3 | // BMI1
		1<<5 | // AVX2
		1<<8 | // BMI2
		1<<18 | // RDSEED
		1<<19 | // ADX
		1<<23 | // CLFLUSHOPT
		1<<24 | // CLWB
		1<<29 // SHA

	cpuid7C3 = 1<<9 | // VAES
		1<<10 | // VPCLMULQDQ
		1<<22 // RDPID
)

// xsaveLeaf is leaf 13.
func xsaveLeaf(sub uint32) (a, b, c, d uint32) {
	switch sub {
	case 0:
		return XCR0, XSaveSize, XSaveSize, 0
	case 1:
		return 1<<0 | 1<<1 | 1<<2, XSaveSize, 0, 0 // XSAVEOPT, XSAVEC, XGETBV with ECX = 1
	case 2:
		return XSaveSize - xsAVXAt, xsAVXAt, 0, 0
	}
	return 0, 0, 0, 0
}

// cacheLeaf is leaf 4: level 1 data and instructions of 32 KiB, level 2 of
// 256 KiB, level 3 of 8 MiB.
func cacheLeaf(sub uint32) (a, b, c, d uint32) {
	var kind, level, ways, sets uint32
	switch sub {
	case 0:
		kind, level, ways, sets = 1, 1, 8, 64
	case 1:
		kind, level, ways, sets = 2, 1, 8, 64
	case 2:
		kind, level, ways, sets = 3, 2, 8, 512
	case 3:
		kind, level, ways, sets = 3, 3, 16, 8192
	default:
		return 0, 0, 0, 0
	}
	a = kind | level<<5 | 1<<8
	b = (ways-1)<<22 | 63 // 64-byte lines, one partition
	return a, b, sets - 1, 0
}

// brandLeaf is part i of the brand string, 16 bytes each.
func (l Level) brandLeaf(i uint32) (a, b, c, d uint32) {
	var s [48]byte
	copy(s[:], "racesim "+l.String())
	var w [4]uint32
	for k := range w {
		p := s[16*i+4*uint32(k):]
		w[k] = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
	}
	return w[0], w[1], w[2], w[3]
}
