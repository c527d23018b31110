//go:build linux && amd64

package x86

import (
	"math"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// A translator translates one block.
type translator struct {
	assembler
	bc     *BlockCache
	block  *block
	missed []missed
	jumps  [2]uint32 // of the jumps to what follows: where their distances are
	outs   [2]uint32 // and the ways out that they take at first
	resume []uint32

	// What is known of the flags: that the host's are the guest's, and which
	// kind c.fop is (-1: not known, as after what the run loop executed).
	host hostFlags
	fop  int
	fp   bool // the host has the guest's MXCSR

	scratch inst
}

// hostFlags says which of the host's flags are the guest's.
type hostFlags uint8

const (
	hostNone hostFlags = iota
	hostNoCarry
	hostAll
)

// serve says whether they are enough for condition cc.
func (h hostFlags) serve(cc uint8) bool {
	return h == hostAll || h == hostNoCarry && cc&^1 != ccB && cc&^1 != ccBE
}

// or is what they are after guestFlags has seen to condition cc.
func (h hostFlags) or(cc uint8) hostFlags {
	if h.serve(cc) {
		return h
	}
	return hostAll
}

// A missed is a jump, whose distance ends at, out of the block before an Op.
type missed struct{ at, op int }

// Entry's fields and the window's index, as translated code uses them.
const (
	entryR = unsafe.Offsetof(hwmodel.Entry{}.R)
	entryW = unsafe.Offsetof(hwmodel.Entry{}.W)
	entryP = unsafe.Offsetof(hwmodel.Entry{}.P)
)

var _ [24]byte = [unsafe.Sizeof(hwmodel.Entry{})]byte{}

// all translates the block. It reports whether that is of use.
func (t *translator) all(c *CPU) bool {
	b := t.block
	n := int(b.n)
	t.fop = -1
	t.resume = make([]uint32, n+1)
	code := c.fetch(b.pc)
	t.aluImm(8, aluSub, inReg(hLeft), int32(n))
	t.miss(ccB, -1)
	done := 0
	for i := 0; i < n; i++ {
		op := &b.ops[i]
		last := i == n-1
		if i == n-2 && b.ops[i+1].code == codeJcc && unfused[op.code] != 0 {
			// The jump is translated as if it stood alone.
			if t.try(c, i, unfused[op.code], code) && t.end(i+1, codeJcc) {
				done += 2
			} else {
				t.giveUp(i)
			}
			break
		}
		ok := false
		if last && op.attr&attrEnd != 0 {
			if ok = t.end(i, op.code); !ok {
				t.giveUp(i)
			}
		} else if ok = t.try(c, i, op.code, code); !ok {
			t.giveUp(i)
			t.host, t.fop, t.fp = hostNone, -1, false
			t.resume[i+1] = uint32(t.pos())
		}
		if ok {
			done++
		}
	}
	if b.ops[n-1].attr&attrEnd == 0 {
		t.way(0)
	}
	if done*4 < n*3 && done < 6 && !translateAll {
		return false
	}
	t.exits()
	return true
}

// try translates Op i as code, unless it can't.
func (t *translator) try(c *CPU, i int, code uint16, bytes []byte) bool {
	op := &t.block.ops[i]
	at, host, fop, fp, m := t.pos(), t.host, t.fop, t.fp, len(t.missed)
	t.host = hostNone
	if t.one(i, op, code, host) {
		return true
	}
	t.b, t.missed = t.b[:at], t.missed[:m]
	if off := op.pc - t.block.pc; off < uint64(len(bytes)) && bytes != nil {
		if _, f, ok := decodeWith(&t.scratch, bytes[off:], op.pc); ok && f != nil {
			if t.form(i, op, &t.scratch, f, host) {
				return true
			}
			t.b, t.missed, t.host, t.fop, t.fp = t.b[:at], t.missed[:m], hostNone, fop, fp
			if t.vector(i, op, &t.scratch, f) {
				return true
			}
		}
	}
	t.b, t.missed = t.b[:at], t.missed[:m]
	t.host, t.fop, t.fp = host, fop, fp
	return false
}

// giveUp leaves the rest to the run loop, from Op i on.
func (t *translator) giveUp(i int) {
	t.bytes(0xE9)
	t.imm32(0)
	t.missed = append(t.missed, missed{t.pos(), i})
}

// miss leaves before Op i if the condition holds.
func (t *translator) miss(cc uint8, i int) {
	t.bytes(0x0F, 0x80|cc)
	t.imm32(0)
	t.missed = append(t.missed, missed{t.pos(), i})
}

// way goes on behind the block by way k.
func (t *translator) way(k int) {
	t.bytes(0xE9)
	t.jumps[k] = uint32(t.pos())
	t.imm32(0)
}

// exits writes the ways out, behind the block.
func (t *translator) exits() {
	self := uint64(uintptr(unsafe.Pointer(t.block)))
	stub := map[int]int{}
	var common []int // distances to the common part
	for _, m := range t.missed {
		at, ok := stub[m.op]
		if !ok {
			at = t.pos()
			stub[m.op] = at
			t.ins(8, 0xC7, 0, inReg(hCX)) // MOV, sign-extended
			t.imm32(int32(m.op))
			t.bytes(0xE9)
			t.imm32(0)
			common = append(common, t.pos())
		}
		t.distance(m.at, at)
	}
	at := t.pos()
	for _, c := range common {
		t.distance(c, at)
	}
	t.aluImm(8, aluAdd, inReg(hLeft), int32(t.block.n))
	t.set(hAX, self)
	t.jump(t.bc.native.leave)
	for k := range t.jumps {
		if t.jumps[k] == 0 {
			continue
		}
		t.outs[k] = uint32(t.pos())
		t.distance(int(t.jumps[k])+4, t.pos())
		t.ins(8, 0xC7, 0, inReg(hCX))
		t.imm32(int32(wayNext - k))
		t.set(hAX, self)
		t.jump(t.bc.native.leave)
	}
}

// distance sets the distance that ends at, to go to to.
func (t *translator) distance(at, to int) {
	v := uint32(int32(to - at))
	b := t.b[at-4:]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// get returns the host register that holds register r: its own, or scratch,
// into which it is loaded.
func (t *translator) get(r, scratch uint8) uint8 {
	p := atReg(r)
	if !p.mem {
		return p.reg
	}
	t.load(8, scratch, p)
	return scratch
}

// put makes register r what host register h holds.
func (t *translator) put(r, h uint8) {
	if p := atReg(r); p.mem || p.reg != h {
		t.store(8, p, h)
	}
}

// into returns the host register in which a result for register r is made: its
// own, or scratch. put brings it home.
func (t *translator) into(r, scratch uint8) uint8 {
	if p := atReg(r); !p.mem {
		return p.reg
	}
	return scratch
}

// addr computes an Op's address into AX. It uses CX and DX.
func (t *translator) addr(op *Op) {
	disp, far := op.disp, op.disp != int64(int32(op.disp))
	if op.base == RegZero && op.idx == RegZero {
		t.set(hAX, uint64(disp))
		return
	}
	if far {
		disp = 0
	}
	p := spot{mem: true, index: noIndex, scale: op.scale & 3, disp: int32(disp)}
	if op.idx != RegZero {
		p.index = t.get(op.idx, hCX)
	}
	if op.base != RegZero {
		p.reg = t.get(op.base, hAX)
		t.ins(8, 0x8D, hAX, p) // LEA
	} else {
		if p.index != hAX {
			t.load(8, hAX, inReg(p.index))
		}
		t.shiftImm(8, 4, inReg(hAX), p.scale)
		if disp != 0 {
			t.aluImm(8, aluAdd, inReg(hAX), int32(disp))
		}
	}
	if far {
		t.set(hDX, uint64(op.disp))
		t.alu(8, aluAdd, hAX, inReg(hDX))
	}
}

type need uint8

const (
	toRead need = 1 << iota
	toWrite
)

// window looks for the n bytes at AX in the window, or leaves before Op i. Then
// CX and AX together are the address where they are. It uses DX.
func (t *translator) window(n int, what need, i int) spot {
	t.load(4, hCX, inReg(hAX))
	t.shiftImm(4, 5, inReg(hCX), lineShift)
	if n == 1 {
		t.load(8, hDX, inReg(hAX))
	} else {
		t.ins(8, 0x8D, hDX, spot{mem: true, reg: hAX, index: noIndex, disp: int32(n - 1)})
	}
	t.aluImm(4, aluAnd, inReg(hCX), hwmodel.WindowSize-1)
	t.shiftImm(8, 5, inReg(hDX), lineShift)
	t.ins(8, 0x8D, hCX, spot{mem: true, reg: hCX, index: hCX, scale: 1}) // three words each
	t.aluImm(4, aluAnd, inReg(hAX), lineMask)
	e := spot{mem: true, reg: hWin, index: hCX, scale: 3}
	if what&toRead != 0 {
		e.disp = int32(entryR)
		t.alu(8, aluCmp, hDX, e)
		t.miss(ccE|1, i)
	}
	if what&toWrite != 0 {
		e.disp = int32(entryW)
		t.alu(8, aluCmp, hDX, e)
		t.miss(ccE|1, i)
	}
	e.disp = int32(entryP)
	t.load(8, hCX, e)
	return at(hCX, hAX)
}

// memory is addr and window.
func (t *translator) memory(op *Op, n int, what need, i int) spot {
	t.addr(op)
	return t.window(n, what, i)
}

// kind records which lazy flags the guest has now.
func (t *translator) kind(fop int, size uint8) {
	t.fop = fop | int(sizeLog(size))
	t.storeImm(1, atFop, int32(t.fop))
}

// guestFlags makes the host's flags those of the guest that condition cc asks
// for, or leaves before Op i. host says what they are. It uses AX and CX.
func (t *translator) guestFlags(host hostFlags, i int, cc uint8) {
	if host.serve(cc) {
		return
	}
	size := uint8(1) << (t.fop & 3)
	switch {
	case t.fop >= 0 && t.fop&^3 == fopSub:
		t.load(8, hAX, atFa)
		t.alu(size, aluCmp, hAX, atFb)
	case t.fop >= 0 && t.fop&^3 == fopLogic:
		t.aluImm(size, aluCmp, atFr, 0)
	case t.fop >= 0 && t.fop&^3 == fopAdd:
		t.load(8, hAX, atFa)
		t.alu(size, aluAdd, hAX, atFb)
	default:
		t.call(t.bc.native.flags)
		if t.fop < 0 || t.fop&^3 == fopMul {
			t.bytes(0xE3, 5) // JRCXZ over
			t.giveUp(i)
		}
	}
}

// end translates the block's last Op i, which goes elsewhere.
func (t *translator) end(i int, code uint16) bool {
	op := &t.block.ops[i]
	host := t.host
	switch code {
	case codeJmp:
		t.way(1)
	case codeJcc:
		t.guestFlags(host, i, op.aux)
		t.bytes(0x0F, 0x80|op.aux)
		t.jumps[1] = uint32(t.pos())
		t.imm32(0)
		t.way(0)
	case codeCallRel:
		t.unwatched(i)
		t.pushed(i, op.pc+uint64(op.len))
		t.way(1)
	case codeRet:
		t.unwatched(i)
		t.load(8, hAX, inReg(hosts[RSP]))
		p := t.window(8, toRead, i)
		t.load(8, hDX, p)
		t.lookUp(i)
		t.ins(8, 0x8D, hosts[RSP], spot{mem: true, reg: hosts[RSP], index: noIndex, disp: int32(8 + op.imm)})
		t.bytes(0xFF, 0xE1) // JMP RCX
	case codeJmpR:
		t.load(8, hDX, atReg(op.src))
		t.lookUp(i)
		t.bytes(0xFF, 0xE1)
	case codeJmpM:
		t.load(8, hDX, t.memory(op, 8, toRead, i))
		t.lookUp(i)
		t.bytes(0xFF, 0xE1)
	case codeCallEnd:
		return op.aux == indirectCall && t.calls(i, op)
	default:
		return false
	}
	return true
}

// unwatched leaves if somebody wants to know of calls and returns.
func (t *translator) unwatched(i int) {
	t.aluImm(8, aluCmp, atCalls, 0)
	t.miss(ccE|1, i)
}

// pushed pushes a constant. Nothing may fail after it.
func (t *translator) pushed(i int, v uint64) {
	sp := hosts[RSP]
	t.ins(8, 0x8D, hAX, spot{mem: true, reg: sp, index: noIndex, disp: -8})
	p := t.window(8, toWrite, i)
	if v == uint64(int64(int32(v))) {
		t.storeImm(8, p, int32(v))
	} else {
		t.set(hDX, v)
		t.store(8, p, hDX)
	}
	t.ins(8, 0x8D, sp, spot{mem: true, reg: sp, index: noIndex, disp: -8})
}

// lookUp finds the translated code of address DX, to CX, or leaves before Op i.
func (t *translator) lookUp(i int) {
	t.load(8, hCX, inReg(hDX))
	t.shiftImm(8, 5, inReg(hCX), 12)
	t.alu(4, aluXor, hCX, inReg(hDX))
	t.aluImm(4, aluAnd, inReg(hCX), fastBlocks-1)
	t.set(hAX, uint64(uintptr(unsafe.Pointer(&t.bc.fast))))
	t.load(8, hAX, spot{mem: true, reg: hAX, index: hCX, scale: 3})
	t.alu(8, aluCmp, hDX, spot{mem: true, reg: hAX, index: noIndex, disp: int32(unsafe.Offsetof(block{}.pc))})
	t.miss(ccE|1, i)
	t.load(8, hCX, spot{mem: true, reg: hAX, index: noIndex, disp: int32(unsafe.Offsetof(block{}.native))})
	t.ins(8, 0x85, hCX, inReg(hCX)) // TEST
	t.miss(ccE, i)
}

// fits says whether v is what its low 32 bits are, sign-extended.
func fits(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }
