package x86

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A form is a row with its notation parsed.
//
// Plain register kinds (r32, xmm, mm, …) name ModRM.reg if the row has an
// operand that can be ModRM.rm, and ModRM.rm if the row has a /digit. In rows
// with "/r" and two plain registers the first is ModRM.reg and the second is
// ModRM.rm, which then must be a register (pmovmskb: "r32:w xmm:r"; movhlps).
// The row for the memory form of the same opcode stands beside it.
//
// A hex byte after a complete opcode is a fixed ModRM byte ("0F 01 D0",
// "D9 E8"); with "+i" its low three bits are a register ("D8 C0+i").
//
// The most specific form that matches wins: fixed ModRM before /digit before
// /r, F3 and F2 before 66 before NP before no prefix given, W given before not.
type form struct {
	*row
	opmap   uint8
	opcode  byte
	plusR   bool
	prefix  prefix
	w       int8 // -1: any
	vex     bool
	long    int8  // VEX.L, -1: any
	vec     bool  // has operands whose size VEX.L says
	vsib    bool  // its memory operand has a vector of indices
	modrm   bool  // has a ModRM byte
	digit   int8  // -1: none
	fixed   int16 // fixed ModRM byte, -1: none
	plusI   bool
	mod     modKind
	imms    []string
	args    []operand
	nArgs   int // explicit ones
	rmKind  int // index in args of the ModRM.rm operand, -1: none
	regKind int // index in args of the ModRM.reg operand, -1: none
	opKind  int // index in args of the opcode's register operand, -1: none
	vvvv    int // index in args of the VEX.vvvv operand, -1: none
	flags   flagUse
	v, y, d bool // has operands of kind v, y, d
	rmw     bool // reads and writes its ModRM.rm operand
	fixSize uint8

	pick     func(op *Op, f *form) // see select.go
	harmless bool                  // see block.go
	shift    bool                  // its use of flags depends on the count
}

type prefix uint8

const (
	prefixAny prefix = iota
	prefixNP
	prefix66
	prefixF3
	prefixF2
)

type modKind uint8

const (
	modAny modKind = iota
	modMem
	modReg
)

// An operand is one item of a row's Args.
type operand struct {
	kind        string
	read, write bool
	place       place
	class       regClass
	size        uint8 // bytes; sizeV, sizeY or sizeD when prefixes decide
	memSize     int   // bytes when it is memory
}

// Sizes that the prefixes decide: v is 2, 4 or 8 bytes, y 4 or 8, d 2 or 8
// (stack operations, whose default is 64 bits).
const (
	sizeL = 252 // 16 or 32 bytes, as VEX.L says
	sizeD = 253
	sizeV = 254
	sizeY = 255
)

// place says where an operand comes from.
type place uint8

const (
	placeFixed  place = iota // named by the row
	placeReg                 // ModRM.reg
	placeRM                  // ModRM.rm, register or memory as ModRM says
	placeOpcode              // low bits of the opcode or of a fixed ModRM
	placeImm
	placeRel
	placeMoffs
	placeSI   // memory at RSI
	placeDI   // memory at RDI
	placePush // memory below RSP
	placePop  // memory at RSP
	placeVVVV // VEX.vvvv
	placeIs4  // bits 7 to 4 of the immediate
)

// regClass says which registers an operand may be.
type regClass uint8

const (
	classNone regClass = iota
	classGPR
	classXMM
	classMM
	classST
	classSeg
	classCtl // fpusw, mxcsr, cr
)

// flagUse holds masks of RFLAGS bits.
type flagUse struct{ read, write, undef uint64 }

// forms returns the lookup structure: forms by map and opcode, most specific
// first. A row that can't be parsed is a bug.
var forms = sync.OnceValue(func() *[7][256][]*form {
	t := new([7][256][]*form)
	for i := range tables {
		f, err := parseRow(&tables[i])
		if err != nil {
			panic(fmt.Sprintf("BUG: x86: instruction row %q %q: %v", tables[i].enc, tables[i].mnem, err))
		}
		n := 1
		if f.plusR {
			n = 8
		}
		for k := range n {
			l := &t[f.opmap][int(f.opcode)+k]
			*l = append(*l, f)
		}
	}
	for m := range t {
		for o := range t[m] {
			slices.SortStableFunc(t[m][o], func(a, b *form) int { return b.rank() - a.rank() })
		}
	}
	return t
})

func (f *form) rank() int {
	r := 0
	if f.fixed >= 0 {
		r += 32
		if !f.plusI {
			r += 32
		}
	}
	if f.digit >= 0 {
		r += 16
	}
	r += [...]int{prefixAny: 0, prefixNP: 2, prefix66: 4, prefixF3: 6, prefixF2: 6}[f.prefix]
	if f.w >= 0 {
		r++
	}
	return r
}

// matches says whether the instruction, of which prefixes and opcode (and
// ModRM, if there is one) are taken, has this form.
func (f *form) matches(d *inst) bool {
	switch f.prefix {
	case prefixNP:
		if d.rep != 0 || d.opsize {
			return false
		}
	case prefix66:
		if d.rep != 0 || !d.opsize {
			return false
		}
	case prefixF3:
		if d.rep != 0xF3 {
			return false
		}
	case prefixF2:
		if d.rep != 0xF2 {
			return false
		}
	}
	if f.w >= 0 && (f.w == 1) != d.w() {
		return false
	}
	if f.vex && (f.long >= 0 && (f.long == 1) != d.long || f.vvvv < 0 && d.vvvv != 0) {
		return false
	}
	if f.vsib && !d.hasSIB {
		return false
	}
	if !f.modrm {
		return true
	}
	if f.fixed >= 0 {
		if f.plusI {
			return int16(d.modrm&^7) == f.fixed
		}
		return int16(d.modrm) == f.fixed
	}
	if f.digit >= 0 && d.modrm>>3&7 != byte(f.digit) {
		return false
	}
	switch f.mod {
	case modMem:
		return d.mod != 3
	case modReg:
		return d.mod == 3
	}
	return true
}

func parseRow(r *row) (*form, error) {
	f := &form{row: r, w: -1, long: -1, digit: -1, fixed: -1, rmKind: -1, regKind: -1, opKind: -1, vvvv: -1}
	if err := f.parseEnc(r.enc); err != nil {
		return nil, err
	}
	if err := f.parseArgs(r.args); err != nil {
		return nil, err
	}
	if err := f.flags.parse(r.flags); err != nil {
		return nil, err
	}
	if r.fn == nil && r.build == nil {
		return nil, fmt.Errorf("neither fn nor build")
	}
	f.pick, f.harmless, f.shift = pickers[r.mnem], harmless[r.mnem] || f.harmlessVector(), shifts[r.mnem]
	return f, nil
}

func (f *form) parseEnc(enc string) error {
	var bytes []byte
	for _, t := range strings.Fields(enc) {
		first := len(bytes) == 0
		switch {
		case strings.HasPrefix(t, "VEX."):
			if err := f.parseVEX(t[4:]); err != nil {
				return err
			}
		case t == "NP":
			f.prefix = prefixNP
		case t == "66" && first && !f.vex:
			f.prefix = prefix66
		case t == "F3" && first && !f.vex:
			f.prefix = prefixF3
		case t == "F2" && first && !f.vex:
			f.prefix = prefixF2
		case t == "REX.W" || t == "W1":
			f.w = 1
		case t == "W0":
			f.w = 0
		case t == "/r":
			f.modrm = true
		case t[0] == '/':
			if len(t) != 2 || t[1] < '0' || t[1] > '7' {
				return fmt.Errorf("token %q: want /0 to /7 or /r", t)
			}
			f.modrm, f.digit = true, int8(t[1]-'0')
		case t == "+r":
			f.plusR = true
		case t == "ib" || t == "iw" || t == "id" || t == "io" || t == "iz" || t == "cb" || t == "cd" || t == "mo":
			f.imms = append(f.imms, t)
		default:
			if h, ok := strings.CutSuffix(t, "+i"); ok {
				t, f.plusI = h, true
			}
			if h, ok := strings.CutSuffix(t, "+r"); ok {
				t, f.plusR = h, true
			}
			b, err := strconv.ParseUint(t, 16, 8)
			if err != nil || len(t) != 2 {
				return fmt.Errorf("token %q isn't known", t)
			}
			bytes = append(bytes, byte(b))
		}
	}
	if !f.vex && len(bytes) > 1 && bytes[0] == 0x0F {
		f.opmap, bytes = 1, bytes[1:]
		if len(bytes) > 1 && bytes[0] == 0x38 {
			f.opmap, bytes = 2, bytes[1:]
		} else if len(bytes) > 1 && bytes[0] == 0x3A {
			f.opmap, bytes = 3, bytes[1:]
		}
	}
	switch len(bytes) {
	case 1:
	case 2:
		f.fixed, f.modrm = int16(bytes[1]), true
	default:
		return fmt.Errorf("%d opcode bytes", len(bytes))
	}
	f.opcode = bytes[0]
	return nil
}

func (f *form) parseVEX(s string) error {
	f.vex, f.prefix = true, prefixNP
	for _, t := range strings.Split(s, ".") {
		switch t {
		case "128", "LZ":
			f.long = 0
		case "256":
			f.long = 1
		case "LIG", "WIG":
		case "66":
			f.prefix = prefix66
		case "F3":
			f.prefix = prefixF3
		case "F2":
			f.prefix = prefixF2
		case "0F":
			f.opmap = vexMaps + 1
		case "0F38":
			f.opmap = vexMaps + 2
		case "0F3A":
			f.opmap = vexMaps + 3
		case "W0":
			f.w = 0
		case "W1":
			f.w = 1
		default:
			return fmt.Errorf("VEX field %q isn't known", t)
		}
	}
	if f.opmap == 0 {
		return fmt.Errorf("VEX.%s names no opcode map", s)
	}
	return nil
}

// kinds gives, for each operand kind: class of the register it may be, its
// size in bytes, its size as memory (0: can't be memory), and place.
var kinds = map[string]operand{
	"r8": {class: classGPR, size: 1, place: placeReg}, "r16": {class: classGPR, size: 2, place: placeReg},
	"r32": {class: classGPR, size: 4, place: placeReg}, "r64": {class: classGPR, size: 8, place: placeReg},
	"rv": {class: classGPR, size: sizeV, place: placeReg}, "ry": {class: classGPR, size: sizeY, place: placeReg},
	"rm8": {class: classGPR, size: 1, place: placeRM}, "rm16": {class: classGPR, size: 2, place: placeRM},
	"rm32": {class: classGPR, size: 4, place: placeRM}, "rm64": {class: classGPR, size: 8, place: placeRM},
	"rmv": {class: classGPR, size: sizeV, place: placeRM}, "rmy": {class: classGPR, size: sizeY, place: placeRM},
	"r32/m8": {class: classGPR, size: 4, memSize: 1, place: placeRM}, "r32/m16": {class: classGPR, size: 4, memSize: 2, place: placeRM},
	"m": {place: placeRM, memSize: -1}, "mv": {place: placeRM, size: sizeV}, "my": {place: placeRM, size: sizeY},
	"m8": {place: placeRM, size: 1}, "m16": {place: placeRM, size: 2}, "m32": {place: placeRM, size: 4},
	"m64": {place: placeRM, size: 8}, "m80": {place: placeRM, size: 10}, "m128": {place: placeRM, size: 16},
	"m224": {place: placeRM, size: 28}, "m256": {place: placeRM, size: 32},
	"m864": {place: placeRM, size: 108, memSize: 108}, "m4096": {place: placeRM, memSize: 512}, "mxs": {place: placeRM, memSize: XSaveSize}, "m512": {place: placeRM, size: 64, memSize: 512},
	"xmm": {class: classXMM, size: 16, place: placeReg}, "mm": {class: classMM, size: 8, place: placeReg},
	"xmm/m8": {class: classXMM, size: 16, memSize: 1, place: placeRM}, "xmm/m16": {class: classXMM, size: 16, memSize: 2, place: placeRM},
	"xmm/m32": {class: classXMM, size: 16, memSize: 4, place: placeRM}, "xmm/m64": {class: classXMM, size: 16, memSize: 8, place: placeRM},
	"xmm/m128": {class: classXMM, size: 16, place: placeRM},
	"vec":      {class: classXMM, size: sizeL, place: placeReg}, "vec/m": {class: classXMM, size: sizeL, place: placeRM},
	"mvec": {place: placeRM, size: sizeL}, "vecv": {class: classXMM, size: sizeL, place: placeVVVV}, "vec4": {class: classXMM, size: sizeL, place: placeIs4},
	"ymm": {class: classXMM, size: 32, place: placeReg}, "ymmv": {class: classXMM, size: 32, place: placeVVVV}, "xmmv": {class: classXMM, size: 16, place: placeVVVV},
	"ymm/m256": {class: classXMM, size: 32, place: placeRM}, "yv": {class: classGPR, size: sizeY, place: placeVVVV},
	"xmm.rm": {class: classXMM, size: 16, place: placeRM}, // never memory
	"vm32":   {place: placeRM, size: 4}, "vm64": {place: placeRM, size: 8},
	"mm/m32": {class: classMM, size: 8, memSize: 4, place: placeRM}, "mm/m64": {class: classMM, size: 8, place: placeRM},
	"imm": {place: placeImm}, "rel": {place: placeRel}, "moffs": {place: placeMoffs, size: sizeV}, "moffs8": {place: placeMoffs, size: 1},
	"o8": {class: classGPR, size: 1, place: placeOpcode}, "ov": {class: classGPR, size: sizeV, place: placeOpcode}, "oy": {class: classGPR, size: sizeY, place: placeOpcode},
	"od": {class: classGPR, size: sizeD, place: placeOpcode}, "rmd": {class: classGPR, size: sizeD, place: placeRM},
	"o64":  {class: classGPR, size: 8, place: placeOpcode},
	"sreg": {class: classSeg, size: 2, place: placeReg}, "cr": {class: classCtl, size: 8, place: placeReg},
	"al": {class: classGPR, size: 1}, "ah": {class: classGPR, size: 1}, "ax": {class: classGPR, size: 2}, "eax": {class: classGPR, size: 4}, "rax": {class: classGPR, size: 8}, "av": {class: classGPR, size: sizeV},
	"cl": {class: classGPR, size: 1}, "ecx": {class: classGPR, size: 4}, "rcx": {class: classGPR, size: 8},
	"dx": {class: classGPR, size: 2}, "edx": {class: classGPR, size: 4}, "rdx": {class: classGPR, size: 8}, "dv": {class: classGPR, size: sizeV},
	"ebx": {class: classGPR, size: 4}, "rbx": {class: classGPR, size: 8}, "rsp": {class: classGPR, size: 8}, "rbp": {class: classGPR, size: 8},
	"rsi": {class: classGPR, size: 8}, "rdi": {class: classGPR, size: 8}, "r11": {class: classGPR, size: 8},
	"xmm0": {class: classXMM, size: 16}, "st0": {class: classST, size: 10}, "st1": {class: classST, size: 10},
	"st(i)": {class: classST, size: 10, place: placeOpcode}, "fpusw": {class: classCtl, size: 2}, "fpucw": {class: classCtl, size: 2},
	"fpu": {class: classCtl}, "mxcsr": {class: classCtl, size: 4}, "ymms": {class: classCtl}, "fsbase": {class: classCtl, size: 8}, "gsbase": {class: classCtl, size: 8},
	"si8": {place: placeSI, size: 1}, "siv": {place: placeSI, size: sizeV},
	"di8": {place: placeDI, size: 1}, "div": {place: placeDI, size: sizeV}, "di64": {place: placeDI, size: 8}, "di128": {place: placeDI, size: 16},
	"push": {place: placePush, size: 8}, "pop": {place: placePop, size: 8}, "pushd": {place: placePush, size: sizeD}, "popd": {place: placePop, size: sizeD},
}

func (f *form) parseArgs(args string) error {
	explicit := true
	for _, t := range strings.Fields(args) {
		if t == "|" {
			explicit = false
			continue
		}
		name, action, ok := strings.Cut(t, ":")
		if !ok {
			return fmt.Errorf("operand %q: want kind:action", t)
		}
		o, ok := kinds[name]
		if !ok {
			return fmt.Errorf("operand kind %q isn't known", name)
		}
		o.kind = name
		switch action {
		case "r":
			o.read = true
		case "w":
			o.write = true
		case "rw":
			o.read, o.write = true, true
		case "-":
		default:
			return fmt.Errorf("operand %q: action %q isn't r, w, rw or -", t, action)
		}
		if o.memSize == 0 {
			o.memSize = int(o.size)
		}
		if o.memSize < 0 {
			o.memSize = 0
		}
		f.args = append(f.args, o)
		if explicit {
			f.nArgs++
		}
	}
	f.placeArgs()
	return nil
}

func (f *form) placeArgs() {
	canRM := slices.ContainsFunc(f.args[:f.nArgs], func(o operand) bool { return o.place == placeRM })
	for i := range f.args {
		o := &f.args[i]
		if i < f.nArgs && o.place == placeReg && (f.digit >= 0 || !canRM && f.regKind >= 0) {
			o.place = placeRM
			f.mod = modReg
		}
		switch o.place {
		case placeReg:
			f.regKind = i
		case placeRM:
			f.rmKind = i
			f.rmw = o.read && o.write
			if o.class == classNone {
				f.mod = modMem
			}
			if o.kind == "xmm.rm" {
				f.mod = modReg
			}
		case placeOpcode:
			f.opKind = i
		case placeVVVV:
			f.vvvv = i
		}
		f.vec = f.vec || o.size == sizeL
		f.vsib = f.vsib || o.kind == "vm32" || o.kind == "vm64"
		f.v = f.v || o.size == sizeV
		f.y = f.y || o.size == sizeY
		f.d = f.d || o.size == sizeD
	}
	switch {
	case f.rmKind >= 0:
		f.fixSize = uint8(min(f.args[f.rmKind].memSize, 255))
	case f.nArgs > 0:
		f.fixSize = f.args[0].size
	case len(f.args) > 0:
		f.fixSize = f.args[0].size
	}
}

func (u *flagUse) parse(s string) error {
	for _, t := range strings.Fields(s) {
		key, letters, ok := strings.Cut(t, ":")
		if !ok {
			return fmt.Errorf("flags %q: want key:letters", t)
		}
		var m uint64
		for _, l := range letters {
			i := strings.IndexRune("oszapcdAI", l)
			if i < 0 {
				return fmt.Errorf("flag %q isn't known", l)
			}
			m |= [...]uint64{OF, SF, ZF, AF, PF, CF, DF, AC, ID}[i]
		}
		switch key {
		case "r":
			u.read |= m
		case "w", "0", "1":
			u.write |= m
		case "u":
			u.undef |= m
			u.write |= m
		default:
			return fmt.Errorf("flags key %q isn't r, w, 0, 1 or u", key)
		}
	}
	return nil
}
