//go:build linux && amd64

package x86

import "golang.org/x/sys/cpu"

func miscJobs() {
	always := func(code uint16, f func(t *translator, op *Op)) {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
			f(t, op)
			return true
		}
	}
	always(codeZero, func(t *translator, op *Op) { t.constant(op.dst, 0) })
	always(codeZeroF, func(t *translator, op *Op) {
		t.constant(op.dst, 0)
		t.storeImm(8, atFr, 0)
		t.kind(fopLogic, 8)
	})
	always(codeCdq, func(t *translator, op *Op) {
		t.load(4, hAX, atReg(RAX))
		t.shiftImm(4, digitSAR, inReg(hAX), 31)
		t.put(RDX, hAX)
	})
	always(codeCqo, func(t *translator, op *Op) {
		t.load(8, hAX, atReg(RAX))
		t.shiftImm(8, digitSAR, inReg(hAX), 63)
		t.put(RDX, hAX)
	})
	always(codeMul64, func(t *translator, op *Op) {
		t.load(8, hAX, atReg(RAX))
		t.ins(8, 0xF7, 4, atReg(op.src))
		t.put(RDX, hDX)
		t.put(RAX, hAX)
	})
	always(codeMulx64, func(t *translator, op *Op) {
		t.load(8, hAX, atReg(RDX))
		t.ins(8, 0xF7, 4, atReg(op.src))
		t.put(op.src2, hAX)
		t.put(op.dst, hDX)
	})
	for k, size := range [...]uint8{4, 8} {
		of := func(a, b uint16) uint16 { return [...]uint16{a, b}[k] }
		jobs[of(codeNeg32, codeNeg64)] = unary(func(t *translator, op *Op, d uint8) { t.ins(size, 0xF7, 3, inReg(d)) }, size)
		jobs[of(codeNot32, codeNot64)] = unary(func(t *translator, op *Op, d uint8) { t.ins(size, 0xF7, 2, inReg(d)) }, size)
		always(of(codeNeg32F, codeNeg64F), func(t *translator, op *Op) {
			d := t.changed(op.src, size)
			t.storeImm(8, atFa, 0)
			t.store(8, atFb, d)
			t.ins(size, 0xF7, 3, inReg(d))
			t.store(8, atFr, d)
			t.put(op.src, d)
			t.kind(fopSub, size)
			t.host = hostAll
		})
		jobs[of(codeBswap32, codeBswap64)] = func(t *translator, i int, op *Op, host hostFlags) bool {
			d := t.into(op.dst, hAX)
			t.load(size, d, atReg(op.dst))
			w := uint8(0x40)
			if size == 8 {
				w = 0x48
			}
			t.bytes(w|d>>3, 0x0F, 0xC8|d&7)
			t.put(op.dst, d)
			t.host = host
			return true
		}
		for _, c := range []struct {
			code uint16
			live bool
		}{{of(codeImul32RR, codeImul64RR), false}, {of(codeImul32RRF, codeImul64RRF), true}} {
			always(c.code, func(t *translator, op *Op) {
				y := t.get(op.src, hDX)
				d := t.into(op.dst, hAX)
				if p := atReg(op.dst); p.mem {
					t.load(8, d, p)
				}
				t.product(size, d, y, c.live)
				t.put(op.dst, d)
			})
		}
		for _, c := range []struct {
			code uint16
			live bool
		}{{of(codeImul32RRI, codeImul64RRI), false}, {of(codeImul32RRIF, codeImul64RRIF), true}} {
			always(c.code, func(t *translator, op *Op) {
				t.set(hDX, uint64(op.imm))
				t.load(8, hAX, atReg(op.src))
				t.product(size, hAX, hDX, c.live)
				t.put(op.dst, hAX)
			})
		}
		jobs[of(codeImul32RMF, codeImul64RMF)] = func(t *translator, i int, op *Op, host hostFlags) bool {
			p := t.memory(op, int(size), toRead, i)
			t.load(size, hDX, p)
			d := t.into(op.dst, hAX)
			if p := atReg(op.dst); p.mem {
				t.load(8, d, p)
			}
			t.product(size, d, hDX, !op.flagless())
			t.put(op.dst, d)
			return true
		}
		jobs[of(codeCmov32, codeCmov64)] = func(t *translator, i int, op *Op, host hostFlags) bool {
			t.guestFlags(host, i, op.aux)
			d := t.into(op.dst, hAX)
			if p := atReg(op.dst); p.mem {
				t.load(8, d, p)
			}
			t.ins(size, 0x0F40|opcode(op.aux), d, atReg(op.src))
			t.put(op.dst, d)
			t.host = host.or(op.aux)
			return true
		}
		jobs[of(codeCmovM32, codeCmovM64)] = func(t *translator, i int, op *Op, host hostFlags) bool {
			p := t.memory(op, int(size), toRead, i)
			t.load(size, hDX, p)
			t.guestFlags(hostNone, i, op.aux)
			d := t.into(op.dst, hAX)
			if p := atReg(op.dst); p.mem {
				t.load(8, d, p)
			}
			t.ins(size, 0x0F40|opcode(op.aux), d, inReg(hDX))
			t.put(op.dst, d)
			t.host = hostAll
			return true
		}
		for code, x := range map[uint16]opcode{of(codeBsf32, codeBsf64): 0x0FBC, of(codeBsr32, codeBsr64): 0x0FBD} {
			always(code, func(t *translator, op *Op) {
				t.load(size, hDX, atReg(op.src))
				t.ins(size, 0x85, hDX, inReg(hDX)) // TEST
				over := t.short(ccE)
				t.ins(size, x, hAX, inReg(hDX))
				t.put(op.dst, hAX)
				t.land(over)
			})
		}
		always(of(codeTzcnt32, codeTzcnt64), func(t *translator, op *Op) {
			t.set(hDX, uint64(8*size))
			t.ins(size, 0x0FBC, hAX, atReg(op.src)) // BSF, which leaves ZF if there is none
			t.ins(4, 0x0F44, hAX, inReg(hDX))       // CMOVE
			t.put(op.dst, hAX)
		})
		always(of(codeAndn32, codeAndn64), func(t *translator, op *Op) {
			t.load(size, hAX, atReg(op.src2))
			t.ins(size, 0xF7, 2, inReg(hAX))
			t.alu(size, aluAnd, hAX, atReg(op.src))
			t.put(op.dst, hAX)
		})
		always(of(codeBlsr32, codeBlsr64), func(t *translator, op *Op) {
			t.load(size, hDX, atReg(op.src))
			t.ins(size, 0x8D, hAX, spot{mem: true, reg: hDX, index: noIndex, disp: -1})
			t.alu(size, aluAnd, hAX, inReg(hDX))
			t.put(op.src2, hAX)
		})
	}
	if cpu.X86.HasAVX {
		always(codeVzeroupper, func(t *translator, op *Op) {
			t.bytes(0xC5, 0xF8, 0x57, 0xC0) // VXORPS
			for r := uint8(0); r < 16; r += 2 {
				t.bytes(0xC5, 0xFC, 0x11) // VMOVUPS, 32 bytes
				t.modrm(0, atY(r))
			}
		})
	}
	jobs[codeSet] = func(t *translator, i int, op *Op, host hostFlags) bool {
		t.guestFlags(host, i, op.aux)
		t.ins(1, 0x0F90|opcode(op.aux), 0, atReg(op.src))
		t.host = host.or(op.aux)
		return true
	}
	for code, c := range map[uint16]struct {
		digit, size uint8
	}{codeIncF32: {0, 4}, codeIncF64: {0, 8}, codeDecF32: {1, 4}, codeDecF64: {1, 8}} {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool { return t.count(i, op, c.digit, c.size, host) }
	}
}

// product does d = d * y.
func (t *translator) product(size, d, y uint8, live bool) {
	if live {
		t.store(8, atFa, d)
		t.store(8, atFb, y)
	}
	t.ins(size, 0x0FAF, d, inReg(y))
	if live {
		t.store(8, atFr, d)
		t.kind(fopMul, size)
	}
}

// count is INC and DEC, which leave CF: it goes to fb.
func (t *translator) count(i int, op *Op, digit, size uint8, host hostFlags) bool {
	var over int
	counted := t.fop >= fopInc && t.fop < fopShift // then fb is CF already
	if !counted && host == hostNone && t.fop < 0 {
		t.ins(4, 0x0FB6, hAX, atFop)
		t.aluImm(4, aluSub, inReg(hAX), fopInc)
		t.aluImm(4, aluCmp, inReg(hAX), fopShift-fopInc)
		over = t.short(ccB)
	}
	if !counted {
		t.guestFlags(host, i, ccB)
		t.set(hDX, 0)
		t.ins(1, 0x0F92, 0, inReg(hDX)) // SETB
		t.store(8, atFb, hDX)
	}
	if over != 0 {
		t.land(over)
	}
	d := t.changed(op.src, 8)
	t.store(8, atFa, d)
	t.ins(size, 0xFF, digit, inReg(d))
	t.store(8, atFr, d)
	t.put(op.src, d)
	t.kind(fopInc+4*int(digit), size)
	t.host = hostNoCarry
	return true
}
