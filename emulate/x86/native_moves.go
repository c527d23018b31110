//go:build linux && amd64

package x86

// moveJobs are moves, which leave the flags, extensions, and the stack.
func moveJobs() {
	// keeping is a job that leaves the host's flags too.
	keeping := func(code uint16, f func(t *translator, op *Op)) {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
			f(t, op)
			t.host = host
			return true
		}
	}
	keeping(codeNop, func(t *translator, op *Op) {})
	keeping(codeMov8, func(t *translator, op *Op) {
		t.store(1, atReg(op.dst), t.get(op.src, hAX))
	})
	keeping(codeMov32, func(t *translator, op *Op) { t.extend(op, op.src, 4, 0x8B) })
	keeping(codeMov64, func(t *translator, op *Op) {
		d := t.into(op.dst, hAX)
		if s := atReg(op.src); s.mem || s.reg != d {
			t.load(8, d, s)
		}
		t.put(op.dst, d)
	})
	keeping(codeMovI, func(t *translator, op *Op) { t.constant(op.dst, op.imm) })
	keeping(codeMovIrm, func(t *translator, op *Op) { t.constant(op.src, op.imm) })
	for code, x := range map[uint16]struct {
		size uint8
		op   opcode
	}{codeZx8: {4, 0x0FB6}, codeZx16: {4, 0x0FB7}, codeSx8to32: {4, 0x0FBE}, codeSx16to32: {4, 0x0FBF}, codeSx8to64: {8, 0x0FBE}, codeSx16to64: {8, 0x0FBF}, codeSx32to64: {8, 0x63}} {
		keeping(code, func(t *translator, op *Op) { t.extend(op, op.src, x.size, x.op) })
	}
	// Loads: the size, that of the result and the opcode.
	for _, l := range []struct {
		codes [2]uint16
		n     int
		size  uint8
		op    opcode
	}{
		{[2]uint16{codeLd8B, codeLd8X}, 1, 4, 0x0FB6}, {[2]uint16{codeLd16B, codeLd16X}, 2, 4, 0x0FB7},
		{[2]uint16{codeLd32B, codeLd32X}, 4, 4, 0x8B}, {[2]uint16{codeLd64B, codeLd64X}, 8, 8, 0x8B},
		{[2]uint16{codeLd8s32}, 1, 4, 0x0FBE}, {[2]uint16{codeLd8s64}, 1, 8, 0x0FBE}, {[2]uint16{codeLd16s32}, 2, 4, 0x0FBF},
		{[2]uint16{codeLd16s64}, 2, 8, 0x0FBF}, {[2]uint16{codeLd32s64}, 4, 8, 0x63},
	} {
		for _, code := range l.codes {
			if code == codeCall {
				continue
			}
			jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
				p := t.memory(op, l.n, toRead, i)
				d := t.into(op.dst, hAX)
				t.ins(l.size, l.op, d, p)
				t.put(op.dst, d)
				return true
			}
		}
	}
	jobs[codeLd8m] = func(t *translator, i int, op *Op, host hostFlags) bool {
		p := t.memory(op, 1, toRead, i)
		t.load(1, hAX, p)
		t.store(1, atReg(op.dst), hAX)
		return true
	}
	for n, codes := range [4][3]uint16{{codeSt8B, codeSt8X, codeStI8}, {codeSt16B, codeSt16X, codeStI16}, {codeSt32B, codeSt32X, codeStI32}, {codeSt64B, codeSt64X, codeStI64}} {
		size := uint8(1) << n
		reg := func(t *translator, i int, op *Op, host hostFlags) bool {
			p := t.memory(op, int(size), toWrite, i)
			t.store(size, p, t.get(op.dst, hDX))
			return true
		}
		jobs[codes[0]], jobs[codes[1]] = reg, reg
		jobs[codes[2]] = func(t *translator, i int, op *Op, host hostFlags) bool {
			if !fits(op.imm) {
				return false
			}
			p := t.memory(op, int(size), toWrite, i)
			t.storeImm(size, p, int32(op.imm))
			return true
		}
	}
	for code, size := range map[uint16]uint8{codeLea64B: 8, codeLea64X: 8, codeLea32: 4} {
		jobs[code] = func(t *translator, i int, op *Op, host hostFlags) bool {
			t.addr(op)
			if size == 4 {
				t.load(4, hAX, inReg(hAX))
			}
			t.put(op.dst, hAX)
			return true
		}
	}
	jobs[codePush] = func(t *translator, i int, op *Op, host hostFlags) bool { return t.push(i, op.dst) }
	jobs[codePushI] = func(t *translator, i int, op *Op, host hostFlags) bool {
		if !fits(op.imm) {
			return false
		}
		t.pushed(i, uint64(op.imm))
		return true
	}
	jobs[codePop] = func(t *translator, i int, op *Op, host hostFlags) bool {
		sp := hosts[RSP]
		t.load(8, hAX, inReg(sp))
		p := t.window(8, toRead, i)
		t.load(8, hDX, p)
		t.ins(8, 0x8D, sp, spot{mem: true, reg: sp, index: noIndex, disp: 8})
		t.put(op.dst, hDX)
		return true
	}
}

// extend makes op's destination what the host instruction x makes of register r.
func (t *translator) extend(op *Op, r, size uint8, x opcode) {
	d := t.into(op.dst, hAX)
	t.ins(size, x, d, atReg(r))
	t.put(op.dst, d)
}

// constant sets register r to v, all of it.
func (t *translator) constant(r uint8, v int64) {
	d := t.into(r, hAX)
	t.set(d, uint64(v))
	t.put(r, d)
}

func (t *translator) push(i int, r uint8) bool {
	sp := hosts[RSP]
	back := spot{mem: true, reg: sp, index: noIndex, disp: -8}
	t.ins(8, 0x8D, hAX, back)
	p := t.window(8, toWrite, i)
	t.store(8, p, t.get(r, hDX))
	t.ins(8, 0x8D, sp, back)
	return true
}
