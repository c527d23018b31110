package x86

import "fmt"

// maxInst is the longest an instruction may be, in bytes (SDM 2.3.11).
const maxInst = 15

// An inst is one instruction taken apart but not yet looked up: prefixes,
// opcode, ModRM, SIB, displacement and immediate (SDM volume 2, chapter 2).
type inst struct {
	code []byte // the bytes from pc on; may be longer than the instruction
	pc   uint64
	off  int // bytes taken so far

	rex    byte // the REX prefix, 0 if there is none
	opsize bool // 66
	addr32 bool // 67
	lock   bool // F0
	rep    byte // F2, F3 or 0: the last of them
	seg    uint8

	opmap  uint8 // 0 one-byte, 1 0F, 2 0F 38, 3 0F 3A; plus vexMaps with VEX
	opcode byte

	// What a VEX prefix says. Its R, X, B and W go to rex, its pp to opsize and
	// rep, as if there were such prefixes.
	vex     bool
	long    bool  // L: 256 bits
	vvvv    uint8 // the register, 0 if the field isn't used
	illegal bool  // prefixes before VEX that must not be there

	hasModRM bool
	modrm    byte
	mod      uint8 // 0..3; 3: rm is a register
	reg      uint8 // with REX.R
	rm       uint8 // with REX.B; meaningful when mod is 3

	// The address when mod isn't 3, as in Op.
	base, idx, scale uint8
	sib              byte // the SIB byte, if ModRM says there is one
	hasSIB           bool
	ripRel           bool
	disp             int64

	imm, imm2 int64 // sign-extended; imm2 only for ENTER
	target    bool  // imm is relative to the end of the instruction
}

// w says whether REX.W is set.
func (d *inst) w() bool { return d.rex&8 != 0 }

// opSize returns the size in bytes of operands of kind v: 2, 4 or 8.
func (d *inst) opSize() uint8 {
	switch {
	case d.w():
		return 8
	case d.opsize:
		return 2
	}
	return 4
}

// errShort is what the parser panics with when the bytes run out. It doesn't
// leave the package's decoder.
type errShort struct{}

func (d *inst) u8() byte {
	if d.off >= len(d.code) || d.off >= maxInst {
		panic(errShort{})
	}
	b := d.code[d.off]
	d.off++
	return b
}

func (d *inst) signed(n int) int64 {
	var v uint64
	for i := range n {
		v |= uint64(d.u8()) << (8 * i)
	}
	shift := 64 - 8*n
	return int64(v<<shift) >> shift
}

// parse takes prefixes, REX and opcode.
func (d *inst) parse() {
	d.seg = RegZero
	for {
		b := d.u8()
		switch b {
		case 0x66:
			d.opsize = true
		case 0x67:
			d.addr32 = true
		case 0xF0:
			d.lock = true
		case 0xF2, 0xF3:
			d.rep = b
		case 0x2E, 0x36, 0x3E, 0x26:
			// CS, SS, DS, ES: no effect in 64-bit mode (SDM 3.3.7.1), also
			// branch hints and NOTRACK. They don't cancel FS or GS.
		case 0x64:
			d.seg = RegFS
		case 0x65:
			d.seg = RegGS
		default:
			if b&0xF0 == 0x40 {
				d.rex = b
				b = d.u8()
				if isPrefix(b) { // a REX that isn't last is ignored
					d.rex = 0
					d.off--
					continue
				}
			}
			d.takeOpcode(b)
			return
		}
	}
}

func isPrefix(b byte) bool {
	switch b {
	case 0x66, 0x67, 0xF0, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65:
		return true
	}
	return b&0xF0 == 0x40
}

// vexMaps is what is added to the opcode map of instructions with VEX.
const vexMaps = 3

func (d *inst) takeOpcode(b byte) {
	if b == 0xC4 || b == 0xC5 {
		d.takeVEX(b)
		return
	}
	if b == 0x0F {
		d.opmap = 1
		b = d.u8()
		switch b {
		case 0x38:
			d.opmap = 2
			b = d.u8()
		case 0x3A:
			d.opmap = 3
			b = d.u8()
		}
	}
	d.opcode = b
}

// takeVEX takes a VEX prefix, of which b is the first byte, and the opcode
// (SDM volume 2, 2.3.5). C4 and C5 are nothing else in 64-bit mode.
func (d *inst) takeVEX(b byte) {
	d.illegal = d.rex != 0 || d.opsize || d.rep != 0 || d.lock
	d.vex, d.rex, d.opmap = true, 0x40, 1
	p := d.u8()
	if b == 0xC4 {
		d.rex |= ^p >> 5 & 7 // R, X and B are inverted
		d.opmap = p & 31
		if d.opmap == 0 || d.opmap > 3 {
			d.opmap = 0
			d.illegal = true
		}
		p = d.u8()
		d.rex |= p >> 7 << 3
	} else {
		d.rex |= ^p >> 7 << 2
	}
	d.vvvv = ^p >> 3 & 15
	d.long = p&4 != 0
	d.opsize = p&3 == 1
	d.rep = [4]byte{0, 0, 0xF3, 0xF2}[p&3]
	d.opmap += vexMaps
	d.opcode = d.u8()
}

// takeModRM takes ModRM, SIB and displacement (SDM tables 2-2, 2-3).
func (d *inst) takeModRM() {
	m := d.u8()
	d.hasModRM = true
	d.modrm = m
	d.mod = m >> 6
	d.reg = m>>3&7 | d.rex&4<<1
	d.rm = m&7 | d.rex&1<<3
	d.base, d.idx, d.scale = RegZero, RegZero, 0
	if d.mod == 3 {
		return
	}
	if m&7 == 4 {
		s := d.u8()
		d.sib, d.hasSIB = s, true
		d.scale = s >> 6
		d.base = s&7 | d.rex&1<<3
		if i := s>>3&7 | d.rex&2<<2; i != RSP {
			d.idx = i
		} else {
			d.scale = 0
		}
		if s&7 == 5 && d.mod == 0 {
			d.base = RegZero
			d.disp = d.signed(4)
			return
		}
	} else if m&7 == 5 && d.mod == 0 {
		d.ripRel = true
		d.disp = d.signed(4)
		return
	} else {
		d.base = d.rm
	}
	switch d.mod {
	case 1:
		d.disp = d.signed(1)
	case 2:
		d.disp = d.signed(4)
	}
}

func (d *inst) String() string {
	return fmt.Sprintf("% x at %#x", d.code[:min(d.off, len(d.code))], d.pc)
}

// General registers by their architectural number.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// highByte is what is added to the number of AH, CH, DH, BH's full register
// (0..3) to name the high byte in Op.dst or Op.src: 20..23.
const highByte = 20
