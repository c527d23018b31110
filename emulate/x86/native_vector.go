//go:build linux && amd64

package x86

import "golang.org/x/sys/cpu"

// Vector instructions are executed by the host as they are, with XMM0 in the
// place of ModRM.reg, XMM1 in that of ModRM.rm and XMM2 in that of VEX.vvvv.

// hostHas says whether the host has what a row's cpu names.
func hostHas(feature string) bool {
	x := &cpu.X86
	switch feature {
	case "":
		return true
	case "sse3":
		return x.HasSSE3
	case "ssse3":
		return x.HasSSSE3
	case "sse41":
		return x.HasSSE41
	case "sse42":
		return x.HasSSE42
	case "avx":
		return x.HasAVX
	case "avx2":
		return x.HasAVX2
	case "fma":
		return x.HasFMA
	}
	return false
}

// notHost are vector instructions that aren't the same on all hosts, or have
// operands that their encoding doesn't name.
var notHost = map[string]bool{}

func init() {
	for _, m := range []string{"rcpps", "rcpss", "rsqrtps", "rsqrtss", "dpps", "dppd", "maskmovdqu", "maskmovps", "maskmovpd", "pmaskmovd", "pmaskmovq",
		"pblendvb", "blendvps", "blendvpd", "pcmpistri", "pcmpistrm", "pcmpestri", "pcmpestrm", "ptest", "testps", "testpd", "zeroupper", "zeroall"} {
		notHost[m], notHost["v"+m] = true, true
	}
}

// A vectorForm is what translation asks of a form.
type vectorForm struct {
	reg, rm, vvvv *operand // nil: there is none
	compares      bool     // sets ZF, PF and CF, and clears the others
	fp            bool     // uses MXCSR
	imm           bool
}

// vectorOf says how a form is translated. ok is false if it can't be.
func vectorOf(f *form) (v vectorForm, ok bool) {
	if notHost[f.mnem] || f.vsib || f.fixed >= 0 || f.digit >= 0 && f.rmKind < 0 || !hostHas(f.cpu) || f.opmap == 0 {
		return v, false
	}
	some := false
	for i := range f.args {
		a := &f.args[i]
		if a.class == classXMM {
			some = true
		}
		switch {
		case a.kind == "mxcsr" && i >= f.nArgs:
			v.fp = true
			continue
		case i >= f.nArgs:
			return v, false
		case a.class != classXMM && a.class != classGPR && a.place != placeImm && !(a.place == placeRM && a.class == classNone):
			return v, false
		}
		switch a.place {
		case placeReg:
			v.reg = a
		case placeRM:
			v.rm = a
		case placeVVVV:
			v.vvvv = a
		case placeImm:
			v.imm = true
		default:
			return v, false
		}
	}
	if u := f.flags; u.read != 0 || u.write|u.undef != 0 {
		switch f.mnem {
		case "comiss", "comisd", "ucomiss", "ucomisd", "vcomiss", "vcomisd", "vucomiss", "vucomisd":
			v.compares = true
		default:
			return v, false
		}
	}
	if f.vex && (!cpu.X86.HasAVX || v.vvvv != nil && v.vvvv.class == classGPR) {
		return v, false
	}
	return v, some
}

// vector translates Op i, which d and f are the encoding of.
func (t *translator) vector(i int, op *Op, d *inst, f *form) bool {
	v, ok := vectorOf(f)
	if !ok || op.attr&(attrLock|attrA32) != 0 || op.seg != RegZero {
		return false
	}
	t.host = hostNone
	wide := f.vec && d.long || f.vex && f.long == 1
	// Sizes of vector registers in this form: of 32 bytes only where it says so.
	long := func(a *operand) bool { return a.size == 32 || a.size == sizeL && wide }
	if v.fp && !t.fp {
		t.aluImm(1, aluCmp, atLive, 0)
		over := t.short(ccE | 1)
		t.call(t.bc.native.fp)
		t.miss(ccE|1, i)
		t.land(over)
		t.fp = true
	}
	// The memory operand first, as it may be missing.
	rm := inReg(1)
	memory := false
	if v.rm != nil {
		memory = op.attr&attrMem != 0
		switch {
		case memory:
			n := v.rm.memSize
			switch {
			case v.rm.size == sizeL || n == sizeL:
				n = 16
				if wide {
					n = 32
				}
			case n == sizeY || n == sizeV:
				n = int(op.size)
			}
			if n != 1 && n != 2 && n != 4 && n != 8 && n != 16 && n != 32 {
				return false
			}
			what := need(0)
			if v.rm.read {
				what |= toRead
			}
			if v.rm.write {
				what |= toWrite
			}
			if what == 0 {
				return false
			}
			t.addr(op)
			aligned := checksAlignment(f, n)
			if aligned {
				t.ins(1, 0xF6, 0, inReg(hAX)) // TEST
				t.bytes(byte(n - 1))
				t.miss(ccE|1, i)
			}
			rm = t.window(n, what, i)
			// On the host, a line needn't be aligned.
			switch {
			case aligned && v.rm.write: // a copy
				t.loadX(0, op.dst, f.vex, n == 32)
				t.copyX(0x11, 0, rm, f.vex, n == 32)
				return true
			case aligned && v.rm.class != classXMM: // MOVNTDQA
				return false
			case aligned:
				t.copyX(0x10, 1, rm, f.vex, n == 32)
				rm = inReg(1)
			}
		case v.rm.class == classGPR:
			if op.src >= highByte || v.rm.size == 1 || v.rm.size == 2 {
				return false
			}
			if rm = atReg(op.src); rm.mem && v.rm.write {
				rm = inReg(hDX)
			}
		default:
			t.loadX(1, op.src, f.vex, long(v.rm))
		}
	}
	if v.vvvv != nil {
		t.loadX(2, op.src2, true, long(v.vvvv))
	}
	reg := uint8(0)
	if v.reg != nil && v.reg.class == classGPR {
		if op.dst >= highByte || v.reg.read {
			return false
		}
		reg = hDX
	} else if v.reg != nil && v.reg.read {
		t.loadX(0, op.dst, f.vex, long(v.reg))
	} else if f.digit >= 0 {
		reg = uint8(f.digit)
	}
	t.again(d, f, reg, rm)
	if v.imm {
		t.bytes(byte(op.imm))
	}
	switch {
	case v.reg == nil || !v.reg.write:
	case v.reg.class == classGPR:
		t.put(op.dst, hDX) // 32 bits are zero-extended
	default:
		t.storeX(op.dst, 0, f.vex, long(v.reg))
	}
	if v.rm != nil && v.rm.write && !memory {
		if v.rm.class == classGPR {
			t.put(op.src, rm.reg) // 32 bits are zero-extended
		} else {
			t.storeX(op.src, 1, f.vex, long(v.rm))
		}
	}
	if v.vvvv != nil && v.vvvv.write {
		t.storeX(op.src2, 2, true, long(v.vvvv))
	}
	if v.compares {
		t.bytes(0x9F)                             // LAHF
		t.bytes(0x0F, 0xB6, 0xC4)                 // MOVZX EAX, AH
		t.aluImm(4, aluAnd, inReg(hAX), ZF|PF|CF) //
		t.load(8, hCX, atFlags)
		t.aluImm(8, aluAnd, inReg(hCX), ^int32(arithFlags))
		t.alu(8, aluOr, hAX, inReg(hCX))
		t.store(8, atFlags, hAX)
		t.storeImm(1, atFop, fopNone)
		t.fop = fopNone
	}
	return true
}

// checksAlignment says whether a memory operand of n bytes must be aligned.
func checksAlignment(f *form, n int) bool {
	switch {
	case n < 16:
		return false
	case f.vex:
		return aligning[f.mnem[1:]]
	}
	switch f.mnem {
	case "movups", "movupd", "movdqu", "lddqu":
		return false
	}
	return true
}

// aligning are the instructions whose memory operand must be aligned with VEX, too.
var aligning = map[string]bool{"movaps": true, "movapd": true, "movdqa": true, "movntps": true, "movntpd": true, "movntdq": true, "movntdqa": true}

// again writes the instruction that d is with other operands. Its immediate
// isn't written.
func (t *translator) again(d *inst, f *form, reg uint8, rm spot) {
	rexX := uint8(0)
	if rm.mem && rm.index != noIndex {
		rexX = rm.index >> 3 & 1
	}
	if !f.vex {
		op := opcode(d.opcode)
		switch d.opmap {
		case 1:
			op |= 0x0F00
		case 2:
			op |= 0x0F3800
		case 3:
			op |= 0x0F3A00
		}
		switch {
		case d.rep == 0xF3:
			op |= preF3
		case d.rep == 0xF2:
			op |= preF2
		case d.opsize:
			op |= pre66
		}
		size := uint8(4)
		if d.w() {
			size = 8
		}
		t.ins(size, op, reg, rm)
		return
	}
	t.bytes(0xC4, (^reg>>3&1)<<7|(^rexX&1)<<6|(^rm.reg>>3&1)<<5|(d.opmap-vexMaps))
	p := vexPrefix(d)
	if d.long {
		p |= 4
	}
	vvvv := uint8(15)
	if f.vvvv >= 0 {
		vvvv = ^uint8(2) & 15
	}
	t.bytes(p|vvvv<<3, d.opcode)
	t.modrm(reg, rm)
}

// loadX loads vector register r of the guest into x of the host, with VEX or not
// as what follows; long: 32 bytes.
func (t *translator) loadX(x, r uint8, vex, long bool) {
	if t.copyX(0x10, x, atX(r), vex, false); !vex {
		return
	}
	if long {
		t.bytes(0xC4, 0xE3, (^x&15)<<3|5, 0x18) // VINSERTF128 x, x, upper half, 1
		t.modrm(x, atY(r))
		t.bytes(1)
	}
}

// copyX is MOVUPS between x and memory; op is 0x10 for a load, 0x11 for a store.
func (t *translator) copyX(op byte, x uint8, p spot, vex, long bool) {
	switch {
	case !vex:
		t.ins(0, 0x0F00|opcode(op), x, p)
	case long:
		t.bytes(0xC5, 0xFC, op)
		t.modrm(x, p)
	default:
		t.bytes(0xC5, 0xF8, op)
		t.modrm(x, p)
	}
}

// storeX is the reverse. With VEX, the upper half is cleared if it isn't long.
func (t *translator) storeX(r, x uint8, vex, long bool) {
	if t.copyX(0x11, x, atX(r), vex, false); !vex {
		return
	}
	if long {
		t.bytes(0xC4, 0xE3, 0x7D, 0x19) // VEXTRACTF128
		t.modrm(x, atY(r))
		t.bytes(1)
		return
	}
	for k := range int32(2) {
		p := atY(r)
		p.disp += 8 * k
		t.storeImm(8, p, 0)
	}
}

// vexPrefix is what the last byte of a VEX prefix says of d: pp and W (Intel
// SDM volume 2, 2.3.5), without vvvv and L.
func vexPrefix(d *inst) uint8 {
	p := uint8(0)
	switch {
	case d.rep == 0xF3:
		p = 2
	case d.rep == 0xF2:
		p = 3
	case d.opsize:
		p = 1
	}
	if d.w() {
		p |= 0x80
	}
	return p
}
