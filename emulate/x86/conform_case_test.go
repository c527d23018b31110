//go:build linux && amd64

package x86

import (
	"encoding/binary"
	"math/rand"
	"slices"
	"strings"
)

// A testCase is one encoding of a form, and what its registers must hold for
// its operands to lie where the test wants them.
type testCase struct {
	f       *form
	code    []byte
	size    int        // of operands of kind v and y, bytes
	vl      int        // of operands whose size VEX.L says, bytes
	vvvv    byte       // the register in VEX.vvvv
	index   int        // the vector register of a gather's indices
	target  uint64     // effective address of the memory operand; 0: there is none
	memSize int        // bytes at target
	fixed   [16]bool   // registers whose value matters for an address
	regs    [16]uint64 // and the values
	seg     uint8      // RegFS, RegGS, or RegZero
	rep     byte       // F2, F3 or 0
	rel32   []int      // unused offsets
	rmReg   int        // ModRM.rm if it is a register, -1
	regReg  int        // ModRM.reg if it is a register operand, -1
	addr32  bool
}

// A caseMaker makes encodings.
type caseMaker struct {
	*rand.Rand
}

func (m caseMaker) chance(n int) bool { return m.Intn(n) == 0 }

// address picks where a memory operand lies: mostly inside the data, at any
// alignment, sometimes at an edge, rarely nowhere.
func (m caseMaker) address(align bool, size int) uint64 {
	var a uint64
	switch k := m.Intn(40); {
	case k == 0: // straddles into the read-only page, or lies in it
		a = roAddr - uint64(m.Intn(size+1))
	case k == 1: // straddles the lower end, or the upper end
		a = dataAddr - uint64(m.Intn(size+1))
		if m.chance(2) {
			a = roAddr + roSize - uint64(m.Intn(size+1))
		}
	case k == 2:
		a = 0x10000 + uint64(m.Intn(64))
	case k < 6: // across pages
		a = dataAddr + 0x2000 - uint64(m.Intn(size+1))
	case k < 12: // across lines
		a = dataAddr + 0x1000 + 64*uint64(m.Intn(32)) - uint64(m.Intn(size+1))
	default:
		a = dataAddr + 0x800 + uint64(m.Intn(0x2000))
	}
	if align && !m.chance(8) {
		a &^= 31
	}
	return a
}

// make builds one encoding of f. It returns nil if it can't be one.
func (m caseMaker) make(f *form) *testCase {
	t := &testCase{f: f, seg: RegZero, rmReg: -1, regReg: -1, size: 4, vl: 16}
	if f.long == 1 || f.long < 0 && m.chance(2) {
		t.vl = 32
	}
	var rex byte
	opsize := f.prefix == prefix66 && !f.vex
	switch {
	case f.w == 1:
		t.size = 8
	case f.w == 0:
	case f.d:
		t.size = []int{2, 8, 8}[m.Intn(3)]
	case f.v && f.prefix == prefix66:
		t.size = []int{2, 8}[m.Intn(2)]
	case f.v && f.prefix != prefixNP:
		t.size = []int{2, 4, 8}[m.Intn(3)]
	case f.v || f.y:
		t.size = []int{4, 8}[m.Intn(2)]
	default: // W has no effect
		if m.chance(12) {
			rex |= 0x48
		}
	}
	if f.v && f.prefix != prefixNP && f.w != 0 && t.size != 8 && !opsize {
		opsize = t.size == 2
	}
	if f.w == 1 || (f.v || f.y) && t.size == 8 {
		rex |= 0x48
	}
	if f.d {
		opsize = t.size == 2
	} else if f.prefix == prefixAny && !f.v && f.opmap == 0 && m.chance(24) {
		opsize = true
	}
	if m.chance(10) {
		rex |= 0x40
	}
	tail, ok := m.operands(t, &rex)
	if !ok {
		return nil
	}
	var pre []byte
	if opsize {
		pre = append(pre, 0x66)
	}
	switch {
	case f.vex:
	case f.prefix == prefixF3:
		pre = append(pre, 0xF3)
	case f.prefix == prefixF2:
		pre = append(pre, 0xF2)
	case f.prefix == prefixAny:
		if isString(f) && !strings.Contains(f.mnem, "mask") && m.chance(2) {
			t.rep = []byte{0xF3, 0xF3, 0xF2}[m.Intn(3)]
			pre = append(pre, t.rep)
		}
	}
	mem := t.target != 0
	if t.seg == RegFS {
		pre = append(pre, 0x64)
	} else if t.seg == RegGS {
		pre = append(pre, 0x65)
	} else if m.chance(40) {
		pre = append(pre, []byte{0x2E, 0x36, 0x3E, 0x26}[m.Intn(4)])
	}
	if t.addr32 {
		pre = append(pre, 0x67)
	}
	if lockable[f.mnem] && mem && m.chance(4) || m.chance(200) {
		pre = append(pre, 0xF0)
	}
	m.Shuffle(len(pre), func(i, j int) { pre[i], pre[j] = pre[j], pre[i] })
	code := pre
	if f.vex {
		code = append(code, m.vex(t, rex)...)
	} else if rex != 0 {
		code = append(code, rex)
	}
	switch f.opmap {
	case 1:
		code = append(code, 0x0F)
	case 2:
		code = append(code, 0x0F, 0x38)
	case 3:
		code = append(code, 0x0F, 0x3A)
	}
	t.code = append(code, tail...)
	g := inst{code: t.code, pc: testPC}
	if h, err := g.decode(); err == nil && h.row != f.row && g.off != len(t.code) {
		return nil // prefixes made it another instruction, of other length
	} else if err != nil && strings.Contains(err.Error(), "end before") {
		return nil
	}
	return t
}

// vex makes the VEX prefix; rex has R, X, B and W as a REX prefix would.
func (m caseMaker) vex(t *testCase, rex byte) []byte {
	f := t.f
	reg := byte(0)
	if f.vvvv >= 0 || m.chance(100) {
		reg = byte(m.Intn(16))
		t.vvvv = reg
	}
	last := ^reg & 15 << 3
	if t.vl == 32 {
		last |= 4
	}
	switch f.prefix {
	case prefix66:
		last |= 1
	case prefixF3:
		last |= 2
	case prefixF2:
		last |= 3
	}
	if f.opmap == vexMaps+1 && rex&0xB == 0 && m.chance(2) {
		return []byte{0xC5, last | ^rex>>2&1<<7}
	}
	return []byte{0xC4, ^rex&7<<5 | f.opmap - vexMaps, last | rex>>3&1<<7}
}

// isString says whether f is a string instruction.
func isString(f *form) bool {
	return slices.ContainsFunc(f.args, func(o operand) bool {
		return o.place == placeSI || o.place == placeDI
	})
}

// operands makes the opcode and what follows it, and chooses registers.
func (m caseMaker) operands(t *testCase, rex *byte) (tail []byte, ok bool) {
	f := t.f
	op := f.opcode
	if f.plusR || f.opKind >= 0 && !f.plusI {
		if f.plusR {
			op += byte(m.Intn(8))
		}
		if m.chance(2) {
			*rex |= 0x41
		}
	}
	tail = append(tail, op)
	if f.modrm {
		tail = append(tail, m.modRM(t, rex)...)
	}
	t.addr32 = t.addr32 || isString(f) && m.chance(16)
	for _, k := range f.imms {
		n := 0
		switch k {
		case "ib", "cb":
			n = 1
		case "iw":
			n = 2
		case "id", "cd":
			n = 4
		case "io":
			n = 8
		case "iz":
			n = min(t.size, 4)
			if !f.v && !f.d {
				n = 4
			}
		case "mo":
			t.target, t.memSize = m.address(false, t.size), t.size
			n = 8
			v := t.target
			tail = binary.LittleEndian.AppendUint64(tail, v)
			continue
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], m.value(n))
		if f.mnem == "enter" {
			b[1] &= 3
		}
		if f.mnem == "ret" {
			b[1] = 0
		}
		tail = append(tail, b[:n]...)
	}
	return tail, true
}

// modRM makes ModRM, SIB and displacement.
func (m caseMaker) modRM(t *testCase, rex *byte) []byte {
	f := t.f
	if f.fixed >= 0 {
		b := byte(f.fixed)
		if f.plusI {
			i := byte(m.Intn(8))
			if m.chance(2) {
				i &= 1
			}
			b += i
		}
		return []byte{b}
	}
	reg := byte(m.Intn(8))
	if f.digit >= 0 {
		reg = byte(f.digit)
	} else if f.regKind >= 0 {
		switch f.args[f.regKind].class {
		case classSeg:
			reg = byte(m.Intn(6))
		case classGPR, classXMM:
			if m.chance(2) {
				*rex |= 0x44
			}
		}
		t.regReg = int(reg | *rex&4<<1)
	}
	if f.mod == modReg || f.mod == modAny && m.chance(2) {
		rm := byte(m.Intn(8))
		if f.rmKind < 0 || f.args[f.rmKind].class != classMM {
			if m.chance(2) {
				*rex |= 0x41
			}
		}
		t.rmReg = int(rm | *rex&1<<3)
		return []byte{0xC0 | reg<<3 | rm}
	}
	size := 8
	if f.rmKind >= 0 {
		o := f.args[f.rmKind]
		switch {
		case o.memSize == sizeL:
			size = t.vl
		case o.size >= sizeD && o.memSize >= sizeD:
			size = t.size
		case o.memSize > 0:
			size = o.memSize
		}
	}
	t.memSize = size
	if f.vsib {
		return m.gathered(t, reg<<3, rex)
	}
	t.target = m.address(size >= 16, size)
	if size == XSaveSize && !m.chance(8) {
		t.target &^= 63
	}
	return m.memory(t, reg<<3, rex)
}

// gathered encodes a base in the middle of the data and a vector of indices.
func (m caseMaker) gathered(t *testCase, reg byte, rex *byte) []byte {
	t.target = dataAddr + 0x2000
	t.index = m.Intn(16)
	base := byte(m.Intn(16))
	if m.chance(20) {
		base = 5 // with mod 0: no base
	}
	mod := byte(m.Intn(3))
	d := uint64(int64(int8(m.Intn(256))))
	switch {
	case mod == 0 && base&7 == 5:
		d = t.target
	case mod == 0:
		d = 0
	}
	t.regs[base], t.fixed[base] = t.target-d, true
	*rex |= 0x40 | base>>3 | byte(t.index)>>3<<1
	b := []byte{mod<<6 | reg | 4, byte(m.Intn(4))<<6 | byte(t.index)&7<<3 | base&7}
	switch {
	case mod == 1:
		b = append(b, byte(d))
	case mod == 2 || base&7 == 5:
		b = binary.LittleEndian.AppendUint32(b, uint32(d))
	}
	return b
}

// memory encodes an address that is t.target, by one of the addressing forms,
// and says what registers must hold.
func (m caseMaker) memory(t *testCase, reg byte, rex *byte) []byte {
	if m.chance(16) {
		t.seg = []uint8{RegFS, RegGS}[m.Intn(2)]
	}
	t.addr32 = m.chance(16)
	a := t.target
	switch t.seg {
	case RegFS:
		a -= testFSBase
	case RegGS:
		a -= testGSBase
	}
	disp32 := func(b []byte, v uint64) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	kind := m.Intn(16)
	switch {
	case kind == 0: // absolute
		t.addr32 = t.addr32 && t.seg == RegZero
		return disp32([]byte{reg | 4, 0x25}, a)
	case kind == 1 && t.seg == RegZero: // RIP-relative; the caller knows the length only later
		t.addr32 = false
		t.rel32 = []int{1}
		return disp32([]byte{reg | 5}, 0)
	}
	base := byte(m.Intn(16))
	idx := byte(4) // none
	var scale byte
	if kind < 8 {
		idx, scale = byte(m.Intn(16)), byte(m.Intn(4))
		if idx == base || t.regReg == int(idx) && strings.HasPrefix(t.f.mnem, "bt") {
			idx = 4
		}
	}
	if t.regReg == int(base) && strings.HasPrefix(t.f.mnem, "bt") {
		base = (base + 1) & 15
		if idx == base {
			idx = 4
		}
	}
	var d int64
	mod := byte(m.Intn(3))
	switch mod {
	case 0:
		if base&7 == 5 {
			mod = 1
		}
	case 1:
		d = int64(int8(m.Intn(256)))
	case 2:
		d = int64(int32(m.Uint32()))
		if m.chance(2) {
			d = int64(int16(d))
		}
	}
	v := a - uint64(d)
	if idx != 4 {
		x := m.value(8)
		if m.chance(2) {
			x = uint64(m.Intn(64))
		}
		t.regs[idx], t.fixed[idx] = x, true
		v -= x << scale
	}
	if t.addr32 && t.seg == RegZero {
		v = v&0xffffffff | m.Uint64()<<32
	} else {
		t.addr32 = false
	}
	t.regs[base], t.fixed[base] = v, true
	*rex |= base >> 3
	*rex |= idx >> 3 << 1
	if *rex != 0 {
		*rex |= 0x40
	}
	var b []byte
	if idx != 4 || base&7 == 4 {
		b = []byte{mod<<6 | reg | 4, scale<<6 | idx&7<<3 | base&7}
	} else {
		b = []byte{mod<<6 | reg | base&7}
	}
	switch mod {
	case 1:
		b = append(b, byte(d))
	case 2:
		b = disp32(b, uint64(d))
	}
	return b
}

// value returns an integer of n bytes that is often a special one.
func (m caseMaker) value(n int) uint64 {
	var v uint64
	switch m.Intn(8) {
	case 0:
		v = uint64(m.Intn(4))
	case 1:
		v = -uint64(m.Intn(4))
	case 2:
		v = 1<<(8*n-1) + uint64(m.Intn(3)) - 1
	case 3:
		v = 1 << m.Intn(64)
	case 4:
		v = uint64(m.Intn(128))
	case 5:
		v = m.Uint64() >> m.Intn(64)
	default:
		v = m.Uint64()
	}
	if n < 8 {
		v &= 1<<(8*n) - 1
	}
	return v
}
