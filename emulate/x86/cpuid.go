package x86

// CPUIDLeaf returns what the CPUID instruction puts into EAX, EBX, ECX and EDX: an
// Intel processor of the level x86-64-v2, without XSAVE (so no AVX), BMI, LZCNT,
// RDRAND, ERMS and FSRM. Leaves it doesn't have are all zero. Fields that name
// the running processor (initial APIC number) are zero: one socket, one core.
// (SDM volume 2, CPUID.)
func CPUIDLeaf(leaf, sub uint32) (a, b, c, d uint32) {
	switch leaf {
	case 0:
		a = 0xD
		b, d, c = 0x756E6547, 0x49656E69, 0x6C65746E // GenuineIntel
	case 1:
		a = 0x000206A7 // family 6, model 42, stepping 7
		b = 8 << 8     // CLFLUSH moves 8 quadwords; one logical processor
		c = cpuid1C
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
		}
	case 0xB:
		c = sub & 0xFF // one thread, one core: no more levels
		if sub < 2 {
			b = 1
			c |= (sub + 1) << 8
		}
	case 0x80000000:
		a = 0x80000008
	case 0x80000001:
		c = 1 << 0                        // LAHF and SAHF in 64-bit mode
		d = 1<<11 | 1<<20 | 1<<27 | 1<<29 // SYSCALL, NX, RDTSCP, 64-bit mode
	case 0x80000002, 0x80000003, 0x80000004:
		return brandLeaf(leaf - 0x80000002)
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

const brand = "racesim x86-64-v2"

// brandLeaf is part i of the brand string, 16 bytes each.
func brandLeaf(i uint32) (a, b, c, d uint32) {
	var s [48]byte
	copy(s[:], brand)
	var w [4]uint32
	for k := range w {
		p := s[16*i+4*uint32(k):]
		w[k] = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
	}
	return w[0], w[1], w[2], w[3]
}
