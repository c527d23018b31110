//go:build linux && amd64

package x86

// The digits of shifts and rotates in their opcodes.
const (
	digitROL = 0
	digitROR = 1
	digitSHL = 4
	digitSHR = 5
	digitSAR = 7
)

func shiftJobs() {
	for n, c := range []struct{ i, cl, iF, clF [2]uint16 }{
		{i: [2]uint16{codeShl32I, codeShl64I}, cl: [2]uint16{codeShl32CL, codeShl64CL}, iF: [2]uint16{codeShl32IF, codeShl64IF}, clF: [2]uint16{codeShl32CLF, codeShl64CLF}},
		{i: [2]uint16{codeShr32I, codeShr64I}, cl: [2]uint16{codeShr32CL, codeShr64CL}, iF: [2]uint16{codeShr32IF, codeShr64IF}, clF: [2]uint16{codeShr32CLF, codeShr64CLF}},
		{i: [2]uint16{codeSar32I, codeSar64I}, cl: [2]uint16{codeSar32CL, codeSar64CL}, iF: [2]uint16{codeSar32IF, codeSar64IF}, clF: [2]uint16{codeSar32CLF, codeSar64CLF}},
	} {
		digit := [...]uint8{digitSHL, digitSHR, digitSAR}[n]
		for k, size := range [...]uint8{4, 8} {
			jobs[c.i[k]] = unary(func(t *translator, op *Op, d uint8) { t.shiftImm(size, digit, inReg(d), uint8(op.imm)&(8*size-1)) }, size)
			jobs[c.cl[k]] = func(t *translator, i int, op *Op, host hostFlags) bool {
				t.load(4, hCX, atReg(RCX))
				d := t.changed(op.src, size)
				t.ins(size, 0xD3, digit, inReg(d))
				t.put(op.src, d)
				return true
			}
			jobs[c.iF[k]] = func(t *translator, i int, op *Op, host hostFlags) bool {
				d := t.changed(op.src, size)
				t.shiftOverflow(digit, size, d)
				t.shiftImm(size, digit, inReg(d), uint8(op.imm)&(8*size-1))
				t.shifted(size, d)
				t.put(op.src, d)
				return true
			}
			jobs[c.clF[k]] = func(t *translator, i int, op *Op, host hostFlags) bool {
				d := t.changed(op.src, size)
				t.load(4, hCX, atReg(RCX))
				t.aluImm(4, aluAnd, inReg(hCX), int32(8*size-1))
				over := t.short(ccE)
				t.shiftOverflow(digit, size, d)
				t.ins(size, 0xD3, digit, inReg(d))
				t.shifted(size, d)
				t.land(over)
				t.put(op.src, d)
				t.fop = -1
				return true
			}
		}
	}
	for code, size := range map[uint16]uint8{codeRol32I: 4, codeRol64I: 8} {
		jobs[code] = unary(func(t *translator, op *Op, d uint8) { t.shiftImm(size, digitROL, inReg(d), uint8(op.imm)&(8*size-1)) }, size)
	}
	jobs[codeShr16I] = unary(func(t *translator, op *Op, d uint8) { t.shiftImm(2, digitSHR, inReg(d), uint8(op.imm)&31) }, 8)
	for code, size := range map[uint16]uint8{codeRorx32: 4, codeRorx64: 8} {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
			t.load(size, hAX, atReg(op.src))
			t.shiftImm(size, digitROR, inReg(hAX), uint8(op.imm)&(8*size-1))
			t.put(op.dst, hAX)
			return true
		}
	}
	for code, x := range map[uint16]struct{ size, digit uint8 }{codeShlx32: {4, digitSHL}, codeShlx64: {8, digitSHL}, codeShrx32: {4, digitSHR}, codeShrx64: {8, digitSHR}} {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
			t.load(x.size, hAX, atReg(op.src))
			t.load(4, hCX, atReg(op.src2))
			t.ins(x.size, 0xD3, x.digit, inReg(hAX))
			t.put(op.dst, hAX)
			return true
		}
	}
}

// unary is a job that changes register op.src, of which f gets the host's.
func unary(f func(t *translator, op *Op, d uint8), size uint8) job {
	return func(t *translator, i int, op *Op, host hostFlags) bool {
		d := t.changed(op.src, size)
		f(t, op, d)
		t.put(op.src, d)
		return true
	}
}

// changed returns the host register in which register r is changed: its own, or
// AX. A shift of 32 bits by zero clears the upper half in the run loop, but the
// host's instruction needn't, so that half is cleared here.
func (t *translator) changed(r, size uint8) uint8 {
	d := t.into(r, hAX)
	if p := atReg(r); p.mem || size == 4 {
		t.load(size, d, p)
	}
	return d
}

// shiftOverflow records OF as the run loop does, from the value that is to be
// shifted: as for a count of one. It uses DX.
func (t *translator) shiftOverflow(digit, size, d uint8) {
	switch digit {
	case digitSAR:
		t.storeImm(8, atFb, 0)
	case digitSHR:
		t.load(8, hDX, inReg(d))
		t.shiftImm(size, digitSHR, inReg(hDX), 8*size-1)
		t.store(8, atFb, hDX)
	default:
		t.load(8, hDX, inReg(d))
		t.shiftImm(size, digitSHL, inReg(hDX), 1)
		t.alu(size, aluXor, hDX, inReg(d))
		t.shiftImm(size, digitSHR, inReg(hDX), 8*size-1)
		t.store(8, atFb, hDX)
	}
}

// shifted records the other flags, right behind the shift.
func (t *translator) shifted(size, d uint8) {
	t.ins(1, 0x0F92, 0, atFa) // SETB
	t.store(8, atFr, d)
	t.kind(fopShift, size)
}
