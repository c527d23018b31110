//go:build linux && amd64

package x86

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Fields of the CPU that translated code uses.
var (
	atFop   = field(unsafe.Offsetof(CPU{}.fop))
	atFa    = field(unsafe.Offsetof(CPU{}.fa))
	atFb    = field(unsafe.Offsetof(CPU{}.fb))
	atFr    = field(unsafe.Offsetof(CPU{}.fr))
	atFlags = field(unsafe.Offsetof(CPU{}.flags))
	atRIP   = field(unsafe.Offsetof(CPU{}.RIP))
	atMXCSR = field(unsafe.Offsetof(CPU{}.MXCSR))
	atHost  = field(unsafe.Offsetof(CPU{}.hostMXCSR))
	atLive  = field(unsafe.Offsetof(CPU{}.liveMXCSR))
	atCalls = field(unsafe.Offsetof(CPU{}.Calls)) // the interface's first word: nil if it is
)

// atReg is where a general register is while translated code runs.
func atReg(r uint8) spot {
	if r < 16 && hosts[r] != 0 {
		return inReg(hosts[r])
	}
	return field(unsafe.Offsetof(CPU{}.R) + 8*uintptr(r&31))
}

func atX(r uint8) spot { return field(unsafe.Offsetof(CPU{}.X) + 16*uintptr(r&15)) }
func atY(r uint8) spot { return field(unsafe.Offsetof(CPU{}.Y) + 16*uintptr(r&15)) }

// stubs writes what all translated code shares to the arena's begin.
func (n *arena) stubs() {
	a := assembler{base: uintptr(unsafe.Pointer(&n.mem[0]))}
	// leave returns to enterNative. AX and CX are its results.
	n.leave = a.here()
	for r, h := range hosts {
		if h != 0 {
			a.store(8, field(unsafe.Offsetof(CPU{}.R)+8*uintptr(r)), h)
		}
	}
	a.aluImm(1, aluCmp, atLive, 0)
	over := a.short(ccE)
	a.ins(0, 0x0FAE, 3, atMXCSR) // STMXCSR
	a.ins(0, 0x0FAE, 2, atHost)  // LDMXCSR
	a.storeImm(1, atLive, 0)
	a.land(over)
	if cpu.X86.HasAVX {
		a.bytes(0xC5, 0xF8, 0x77) // VZEROUPPER
	}
	a.bytes(0xC3)

	// fp makes the guest's MXCSR the host's. ZF says that it could, as no
	// exception is to be raised.
	n.fp = a.here()
	a.load(4, hAX, atMXCSR)
	a.ins(4, 0xF7, 2, inReg(hAX)) // NOT
	a.ins(4, 0xF7, 0, inReg(hAX)) // TEST
	a.imm32(0x1F80)
	over = a.short(ccE | 1)
	a.ins(0, 0x0FAE, 3, atHost)
	a.ins(0, 0x0FAE, 2, atMXCSR)
	a.storeImm(1, atLive, 1)
	a.alu(4, aluCmp, hAX, inReg(hAX))
	a.land(over)
	a.bytes(0xC3)

	n.flags = a.flagStubs()
	copy(n.mem, a.b)
	n.first = (len(a.b) + 63) &^ 63
	n.used = n.first
}

// flagStubs writes a subroutine that makes the host's flags those of the guest,
// from the lazy ones, and returns its address. It leaves CX 0, or, if it can't, 1.
// It changes AX, too.
func (a *assembler) flagStubs() uintptr {
	var cases [32]uintptr
	done := func() {
		a.set(hCX, 0) // MOV leaves the flags
		a.bytes(0xC3)
	}
	// overflow sets OF to bit 0 of CX and clobbers the other flags.
	overflow := func() {
		a.aluImm(4, aluAnd, inReg(hCX), 1)
		a.aluImm(1, aluAdd, inReg(hCX), 0x7F)
	}
	for i := range cases {
		cases[i] = a.here()
		size := uint8(1) << (i & 3)
		switch i &^ 3 {
		case fopNone:
			a.load(8, hAX, atFlags)
			a.load(4, hCX, inReg(hAX))
			a.shiftImm(4, 5, inReg(hCX), 11)
			overflow()
			a.bytes(0x88, 0xC4, 0x9E) // MOV AH, AL; SAHF
			done()
		case fopAdd, fopSub:
			// What was carried in is what the result differs by.
			k := uint8(aluAdc)
			if i&^3 == fopAdd {
				a.load(8, hAX, atFr)
				a.alu(8, aluSub, hAX, atFa)
				a.alu(8, aluSub, hAX, atFb)
			} else {
				k = aluSbb
				a.load(8, hAX, atFa)
				a.alu(8, aluSub, hAX, atFb)
				a.alu(8, aluSub, hAX, atFr)
			}
			a.shiftImm(4, 5, inReg(hAX), 1) // bit 0 to CF
			a.load(8, hAX, atFa)
			a.alu(size, k, hAX, atFb)
			done()
		case fopLogic:
			a.aluImm(size, aluCmp, atFr, 0)
			done()
		case fopInc, fopDec:
			a.load(8, hAX, atFb)
			a.shiftImm(4, 5, inReg(hAX), 1)
			a.load(8, hAX, atFa)
			a.ins(size, 0xFE|opcode(wideBit(size)), uint8(i&^3-fopInc)>>2, inReg(hAX)) // INC, DEC
			done()
		case fopShift:
			a.aluImm(size, aluCmp, atFr, 0)
			a.bytes(0x9F) // LAHF
			a.load(4, hCX, atFa)
			a.aluImm(4, aluAnd, inReg(hCX), 1)
			a.bytes(0x08, 0xCC) // OR AH, CL
			a.load(4, hCX, atFb)
			overflow()
			a.bytes(0x9E) // SAHF
			done()
		default:
			a.set(hCX, 1)
			a.bytes(0xC3)
		}
	}
	for a.pos()%8 != 0 {
		a.bytes(0x90)
	}
	table := a.here()
	for _, c := range cases {
		a.imm64(uint64(c))
	}
	entry := a.here()
	a.ins(4, 0x0FB6, hAX, atFop) // MOVZX
	a.set(hCX, uint64(table))
	a.ins(0, 0xFF, 4, spot{mem: true, reg: hCX, index: hAX, scale: 3}) // JMP
	return entry
}
