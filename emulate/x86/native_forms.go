//go:build linux && amd64

package x86

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Instructions that the run loop has no case for, but calls handlers, are
// translated by what their form says.

// A formJob translates Op i, of form f and encoding d; see job.
type formJob func(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool

var formJobs map[string]formJob

func init() {
	formJobs = map[string]formJob{"imul": imulForm, "div": divForm, "idiv": divForm, "tzcnt": tzcntForm,
		"shl": shiftForm(digitSHL), "shr": shiftForm(digitSHR), "sar": shiftForm(digitSAR)}
	for k, m := range map[uint8]string{aluAdd: "add", aluOr: "or", aluAnd: "and", aluSub: "sub", aluXor: "xor", aluCmp: "cmp", testOp: "test"} {
		formJobs[m] = aluForm(k)
	}
	if cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		for _, m := range []string{"andn", "blsr", "blsmsk", "blsi", "bzhi", "shlx", "shrx", "sarx", "rorx"} {
			formJobs[m] = bmiForm
		}
	}
}

// form translates Op i by its form.
func (t *translator) form(i int, op *Op, d *inst, f *form, host hostFlags) bool {
	j := formJobs[f.mnem]
	if j == nil || op.attr&(attrLock|attrA32) != 0 || op.seg != RegZero || op.dst >= highByte || op.src >= highByte {
		return false
	}
	t.host = hostNone
	return j(t, i, op, d, f, host)
}

// aluForm is for the sizes and shapes that have no case.
func aluForm(k uint8) formJob {
	return func(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
		if f.nArgs != 2 || f.rmKind < 0 {
			return false
		}
		a := aluOp{k: k, size: op.size}
		x := *op
		switch {
		case f.hasImm() && op.mem():
			a.shape = shapeMI
		case f.hasImm():
			a.shape = shapeRI
		case op.mem() && f.toRM():
			a.shape = shapeMR
		case op.mem():
			a.shape = shapeRM
		default:
			a.shape = shapeRR
			if f.toRM() {
				x.dst, x.src = op.src, op.dst
			}
		}
		return a.translate(t, i, &x, host)
	}
}

// shiftForm is for bytes and words in registers, shifted by a constant.
func shiftForm(digit uint8) formJob {
	return func(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
		n := uint8(op.imm) & 31
		if op.mem() || !f.hasImm() || op.size > 2 || n == 0 || n >= 8*op.size {
			return false
		}
		r := t.changed(op.src, 8)
		if op.flagless() {
			t.shiftImm(op.size, digit, inReg(r), n)
		} else {
			t.shiftOverflow(digit, op.size, r)
			t.shiftImm(op.size, digit, inReg(r), n)
			t.shifted(op.size, r)
		}
		t.put(op.src, r)
		return true
	}
}

// imulForm is for three operands, of which one is in memory.
func imulForm(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
	if !op.mem() || f.nArgs != 3 || op.size < 4 {
		return false
	}
	t.load(op.size, hAX, t.memory(op, int(op.size), toRead, i))
	t.set(hDX, uint64(op.imm))
	t.product(op.size, hAX, hDX, !op.flagless())
	t.put(op.dst, hAX)
	return true
}

// divForm divides where that surely has no fault: unsigned, if the upper half
// is less than the divisor; signed, if the dividend is only sign-extended and
// the divisor neither 0 nor -1. The flags stay.
func divForm(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
	if op.size < 4 {
		return false
	}
	if op.mem() {
		t.load(op.size, hCX, t.memory(op, int(op.size), toRead, i))
	} else {
		t.load(op.size, hCX, atReg(op.src))
	}
	digit := uint8(6)
	if f.mnem == "idiv" {
		digit = 7
		t.ins(op.size, 0x8D, hAX, spot{mem: true, reg: hCX, index: noIndex, disp: 1})
		t.aluImm(op.size, aluCmp, inReg(hAX), 1)
		t.miss(ccBE, i)
		t.load(op.size, hAX, atReg(RAX))
		t.load(op.size, hDX, inReg(hAX))
		t.shiftImm(op.size, digitSAR, inReg(hDX), 8*op.size-1)
		t.alu(op.size, aluCmp, hDX, atReg(RDX))
		t.miss(ccE|1, i)
	} else {
		t.load(op.size, hDX, atReg(RDX))
		t.alu(op.size, aluCmp, hDX, inReg(hCX))
		t.miss(ccB|1, i)
		t.load(op.size, hAX, atReg(RAX))
	}
	t.ins(op.size, 0xF7, digit, inReg(hCX))
	t.put(RAX, hAX)
	t.put(RDX, hDX)
	return true
}

// tzcntForm is for flags that are seen: ZF says that the result is 0, CF that the
// operand was.
func tzcntForm(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
	if op.size < 4 {
		return false
	}
	if op.mem() {
		t.load(op.size, hDX, t.memory(op, int(op.size), toRead, i))
	} else {
		t.load(op.size, hDX, atReg(op.src))
	}
	t.set(hCX, uint64(8*op.size))
	t.ins(op.size, 0x0FBC, hAX, inReg(hDX)) // BSF
	t.ins(4, 0x0F44, hAX, inReg(hCX))       // CMOVE
	if op.flagless() {
		t.put(op.dst, hAX)
		return true
	}
	t.load(4, hCX, inReg(hDX))
	t.aluImm(4, aluAnd, inReg(hCX), 1)
	t.shiftImm(4, digitSHL, inReg(hCX), 6)
	t.ins(op.size, 0x85, hDX, inReg(hDX)) // TEST
	t.set(hDX, 0)
	t.ins(1, 0x0F94, 0, inReg(hDX)) // SETE
	t.alu(4, aluOr, hCX, inReg(hDX))
	t.put(op.dst, hAX)
	t.allFlags(hCX)
	return true
}

// allFlags makes register r, whose bits are where RFLAGS has them, all of the
// arithmetic flags. It uses DX.
func (t *translator) allFlags(r uint8) {
	t.load(8, hDX, atFlags)
	t.aluImm(8, aluAnd, inReg(hDX), ^int32(arithFlags))
	t.alu(8, aluOr, hDX, inReg(r))
	t.store(8, atFlags, hDX)
	t.storeImm(1, atFop, fopNone)
	t.fop = fopNone
}

// bmiForm executes an instruction of general registers with a VEX prefix as it
// is: AX for ModRM.reg, DX for ModRM.rm, CX for VEX.vvvv.
func bmiForm(t *translator, i int, op *Op, d *inst, f *form, host hostFlags) bool {
	if !f.vex || op.size < 4 {
		return false
	}
	if op.mem() {
		t.load(op.size, hDX, t.memory(op, int(op.size), toRead, i))
	} else {
		t.load(op.size, hDX, atReg(op.src))
	}
	if f.vvvv >= 0 && f.args[f.vvvv].read {
		t.load(op.size, hCX, atReg(op.src2))
	}
	p, vvvv := vexPrefix(d), ^uint8(hCX)&15
	if f.vvvv < 0 {
		vvvv = 15
	}
	reg := uint8(hAX)
	if f.digit >= 0 {
		reg = uint8(f.digit)
	}
	t.bytes(0xC4, 0xE0|(d.opmap-vexMaps), p|vvvv<<3, d.opcode)
	t.modrm(reg, inReg(hDX))
	if f.hasImm() {
		t.bytes(byte(op.imm))
	}
	to, from := op.dst, uint8(hAX)
	if f.digit >= 0 {
		to, from = op.src2, hCX
	}
	if f.flags.write == 0 || op.flagless() {
		t.put(to, from)
		return true
	}
	// The result may be in AX, which LAHF changes.
	t.load(8, hDX, inReg(from))
	t.bytes(0x9F)             // LAHF
	t.bytes(0x0F, 0xB6, 0xCC) // MOVZX ECX, AH
	t.put(to, hDX)
	t.aluImm(4, aluAnd, inReg(hCX), SF|ZF|CF)
	t.allFlags(hCX)
	return true
}

// calls translates an indirect call, the block's last Op i. Nothing is changed
// before it is sure to be done: until then the target is kept in RIP, which the
// run loop doesn't read inside a block, and the place of the return address in
// the CPU.
func (t *translator) calls(i int, op *Op) bool {
	if op.attr&(attrA32|attrLock) != 0 || op.seg != RegZero {
		return false
	}
	if op.mem() {
		t.load(8, hDX, t.memory(op, 8, toRead, i))
	} else {
		t.load(8, hDX, atReg(op.src))
	}
	t.store(8, atRIP, hDX)
	t.unwatched(i)
	sp := hosts[RSP]
	back := spot{mem: true, reg: sp, index: noIndex, disp: -8}
	t.ins(8, 0x8D, hAX, back)
	t.ins(8, 0x8D, hAX, t.window(8, toWrite, i))
	t.store(8, atPlace, hAX)
	t.load(8, hDX, atRIP)
	t.lookUp(i)
	t.load(8, hAX, atPlace)
	t.set(hDX, op.pc+uint64(op.len))
	t.store(8, at(hAX, noIndex), hDX)
	t.ins(8, 0x8D, sp, back)
	t.bytes(0xFF, 0xE1) // JMP RCX
	return true
}

var atPlace = field(unsafe.Offsetof(CPU{}.place))
