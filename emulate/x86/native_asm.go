//go:build linux && amd64

package x86

import "encoding/binary"

// The host's registers by their numbers. Translated code keeps the CPU, the
// window and the instructions left to execute in three of them; hAX, hCX and
// hDX are free between two guest instructions, hSP is the goroutine's stack.
const (
	hAX = iota
	hCX
	hDX
	hCPU
	hSP
	hBP
	hSI
	hDI
	h8
	h9
	h10
	h11
	h12
	hLeft // the instructions that may still be executed
	hWin
	h15
)

// hosts gives the host register that a general register of the guest lives in
// while translated code runs; 0: none, it stays in CPU.R. native_amd64.s loads
// them.
var hosts = [16]uint8{RAX: h8, RCX: h9, RDX: h10, RBX: h11, RSP: h12, RBP: hBP, RSI: hSI, RDI: hDI, R8: h15}

// A spot is an operand of a host instruction: a register, or memory at a base
// with an index (noIndex: none) and a displacement.
type spot struct {
	mem   bool
	reg   uint8 // the register or base
	index uint8
	scale uint8
	disp  int32
}

const noIndex = hSP

func inReg(r uint8) spot { return spot{reg: r, index: noIndex} }

// field is a field of the CPU, at off from its start.
func field(off uintptr) spot {
	return spot{mem: true, reg: hCPU, index: noIndex, disp: int32(off)}
}

// at is memory at base and index.
func at(base, index uint8) spot { return spot{mem: true, reg: base, index: index} }

// An assembler writes host instructions that will be executed at base.
type assembler struct {
	b    []byte
	base uintptr
}

func (a *assembler) bytes(b ...byte) { a.b = append(a.b, b...) }
func (a *assembler) imm32(v int32)   { a.b = binary.LittleEndian.AppendUint32(a.b, uint32(v)) }
func (a *assembler) imm64(v uint64)  { a.b = binary.LittleEndian.AppendUint64(a.b, v) }
func (a *assembler) pos() int        { return len(a.b) }
func (a *assembler) here() uintptr   { return a.base + uintptr(len(a.b)) }

// Opcodes of one or two bytes are numbers: 0x0F40 is 0F 40. Bits above are the
// mandatory prefix and the map 0F 38 or 0F 3A.
type opcode uint32

const (
	pre66 opcode = 0x66 << 24
	preF3 opcode = 0xF3 << 24
	preF2 opcode = 0xF2 << 24
)

// ins writes an instruction of operands of size bytes (1, 2, 4, 8; 0: the size
// isn't in the encoding) with ModRM: reg and p. Of one byte, op is already the
// opcode for bytes.
func (a *assembler) ins(size uint8, op opcode, reg uint8, p spot) {
	if size == 2 {
		a.bytes(0x66)
	}
	if p := byte(op >> 24); p != 0 {
		a.bytes(p)
	}
	rex := reg >> 3 & 1 << 2
	if size == 8 {
		rex |= 8
	}
	rex |= p.reg >> 3 & 1
	if p.mem && p.index != noIndex {
		rex |= p.index >> 3 & 1 << 1
	}
	if rex != 0 || size == 1 || op == 0x0FB6 || op == 0x0FBE || op>>4 == 0x0F9 {
		a.bytes(0x40 | rex)
	}
	if b := byte(op >> 16); b != 0 {
		a.bytes(b)
	}
	if b := byte(op >> 8); b != 0 {
		a.bytes(b)
	}
	a.bytes(byte(op))
	a.modrm(reg, p)
}

// modrm writes ModRM, SIB and displacement.
func (a *assembler) modrm(reg uint8, p spot) {
	reg = reg & 7 << 3
	if !p.mem {
		a.bytes(0xC0 | reg | p.reg&7)
		return
	}
	mod := uint8(2)
	switch {
	case p.disp == 0 && p.reg&7 != 5:
		mod = 0
	case p.disp == int32(int8(p.disp)):
		mod = 1
	}
	if p.index != noIndex || p.reg&7 == 4 {
		a.bytes(mod<<6|reg|4, p.scale<<6|p.index&7<<3|p.reg&7)
	} else {
		a.bytes(mod<<6 | reg | p.reg&7)
	}
	switch mod {
	case 1:
		a.bytes(byte(p.disp))
	case 2:
		a.imm32(p.disp)
	}
}

// The operations of the first eight rows of opcodes are numbered like aluAdd to
// aluCmp.

// alu does reg = reg k p.
func (a *assembler) alu(size, k, reg uint8, p spot) {
	a.ins(size, opcode(k<<3|2|wideBit(size)), reg, p)
}

// aluTo does p = p k reg.
func (a *assembler) aluTo(size, k uint8, p spot, reg uint8) {
	a.ins(size, opcode(k<<3|wideBit(size)), reg, p)
}

// aluImm does p = p k v, v sign-extended.
func (a *assembler) aluImm(size, k uint8, p spot, v int32) {
	switch {
	case size == 1:
		a.ins(1, 0x80, k, p)
		a.bytes(byte(v))
	case v == int32(int8(v)):
		a.ins(size, 0x83, k, p)
		a.bytes(byte(v))
	default:
		a.ins(size, 0x81, k, p)
		a.immOf(size, v)
	}
}

func (a *assembler) immOf(size uint8, v int32) {
	switch size {
	case 1:
		a.bytes(byte(v))
	case 2:
		a.bytes(byte(v), byte(v>>8))
	default:
		a.imm32(v)
	}
}

func wideBit(size uint8) uint8 {
	if size == 1 {
		return 0
	}
	return 1
}

func (a *assembler) load(size, reg uint8, p spot) { a.ins(size, 0x8A|opcode(wideBit(size)), reg, p) }
func (a *assembler) store(size uint8, p spot, reg uint8) {
	a.ins(size, 0x88|opcode(wideBit(size)), reg, p)
}

// storeImm stores v, sign-extended.
func (a *assembler) storeImm(size uint8, p spot, v int32) {
	a.ins(size, 0xC6|opcode(wideBit(size)), 0, p)
	a.immOf(size, v)
}

// set loads a constant.
func (a *assembler) set(reg uint8, v uint64) {
	switch {
	case v == uint64(uint32(v)):
		if reg >= 8 {
			a.bytes(0x41)
		}
		a.bytes(0xB8 | reg&7)
		a.imm32(int32(v))
	case v == uint64(int64(int32(v))):
		a.ins(8, 0xC7, 0, inReg(reg))
		a.imm32(int32(v))
	default:
		a.bytes(0x48|reg>>3, 0xB8|reg&7)
		a.imm64(v)
	}
}

// shiftImm does p = p shifted by n; k is the digit of the opcode: 0 ROL, 1 ROR,
// 4 SHL, 5 SHR, 7 SAR.
func (a *assembler) shiftImm(size, k uint8, p spot, n uint8) {
	a.ins(size, 0xC0|opcode(wideBit(size)), k, p)
	a.bytes(n)
}

// jump writes a jump to an address; its last four bytes are the distance.
func (a *assembler) jump(to uintptr) {
	a.bytes(0xE9)
	a.rel(to)
}

func (a *assembler) call(to uintptr) {
	a.bytes(0xE8)
	a.rel(to)
}

// rel writes the distance from behind it to an address.
func (a *assembler) rel(to uintptr) { a.imm32(int32(int64(to) - int64(a.here()) - 4)) }

// short writes a conditional jump over what follows until land gets its result.
func (a *assembler) short(cc uint8) int {
	a.bytes(0x70|cc, 0)
	return a.pos()
}

func (a *assembler) land(from int) { a.b[from-1] = byte(a.pos() - from) }
