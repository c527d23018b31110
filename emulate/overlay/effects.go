package overlay

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Locations of a thread's state are bytes of one address space: memory where
// it is, and registers at addresses that no memory can have. They are below
// those that stand for memory with several mappings.
const (
	// LocReg + 8*r is general register r, 8 bytes.
	LocReg uint64 = 1 << 63
	// LocXMM + 16*r is XMM register r, 16 bytes; LocYMM + 16*r, which follow, is
	// the upper half of YMM register r.
	LocXMM = LocReg + 0x1000
	LocYMM = LocXMM + xmmSize
	vecEnd = LocYMM + xmmSize
	// LocFlag + i is bit i of RFLAGS.
	LocFlag = LocReg + 0x2000
	// LocOther is everything else taken together: x87, MMX, MXCSR.
	LocOther = LocReg + 0x3000
	locEnd   = LocReg + 0x4000
)

// IsMemory reports whether a location is memory.
func IsMemory(loc uint64) bool { return loc < LocReg || loc >= locEnd }

// An Insn is what an instruction reads and writes, as far as its bytes tell.
// RSP is left out: what a section's stack pointer is doesn't depend on values.
type Insn struct {
	Mnemonic string
	Branch   x86.Branch
	Lock     bool
	// Opaque: the instruction isn't known; it may read everything.
	Opaque bool

	reads  []Span // registers and flags whose values matter
	addrs  []Span // registers that memory operands are found with
	writes []Span // what is overwritten completely
	adds   bool   // LocOther changes, without losing all of what it was
	mems   []memOperand
	// The copied operands: a register span, or an index into mems.
	copies   bool
	from, to copyOperand
	str      bool // a string instruction: memory from the changes of RSI and RDI
	// save and restore: FXSAVE and FXRSTOR, which copy all XMM registers; with ymm
	// XSAVE and XRSTOR, which copy the upper halves too.
	save, restore, ymm bool
	// elems is the memory operand of a masked move or a gather, which isn't in mems.
	elems *x86.Operand
}

// The XMM registers within the area of FXSAVE (Intel SDM volume 1, 10.5.1), and
// the upper halves of the YMM registers within that of XSAVE (13.4.3), bytes.
const (
	fxXMM   = 160
	xsYMM   = 576
	xmmSize = 256
)

type memOperand struct {
	read, write bool
	size        uint64
	expr        x86.MemExpr
}

type copyOperand struct {
	reg Span
	mem int  // 1 + index, 0: none
	ymm bool // reg is the lower half of a YMM register
}

// copying lists the instructions that put bytes of one operand into another as
// they are, the rest of the other becoming zero.
var copying = map[string]bool{"mov": true, "movzx": true, "push": true, "pop": true, "movaps": true, "movups": true, "movapd": true,
	"movupd": true, "movdqa": true, "movdqu": true, "lddqu": true, "movntps": true, "movntpd": true, "movntdq": true, "movntdqa": true,
	"movss": true, "movsd": true, "movq": true, "movd": true, "movnti": true}

// isCopying and isClearing take the AVX names with them.
func isCopying(mnem string) bool  { return copying[mnem] || copying[strings.TrimPrefix(mnem, "v")] }
func isClearing(mnem string) bool { return clearing[mnem] || clearing[strings.TrimPrefix(mnem, "v")] }

// clearing lists the instructions whose result doesn't depend on a register
// when both operands are the same one. With SBB only CF matters.
var clearing = map[string]bool{"xor": true, "sub": true, "sbb": true, "pxor": true, "xorps": true, "xorpd": true,
	"psubb": true, "psubw": true, "psubd": true, "psubq": true, "pcmpeqb": true, "pcmpeqw": true, "pcmpeqd": true, "pcmpeqq": true,
	"pcmpgtb": true, "pcmpgtw": true, "pcmpgtd": true, "pcmpgtq": true, "pandn": true, "andnps": true, "andnpd": true}

// newInsn describes the instruction whose bytes code starts with.
func newInsn(code []byte, pc uint64) *Insn {
	info, err := x86.Describe(code, pc)
	if err != nil {
		return &Insn{Mnemonic: "?", Opaque: true}
	}
	in := &Insn{Mnemonic: info.Mnemonic, Branch: info.Branch, Lock: info.Lock}
	same := isClearing(info.Mnemonic) && sameRegister(&info)
	var refs []copyOperand // of the operands, in order
	for i := range info.Operands {
		refs = append(refs, in.operand(&info.Operands[i], same))
	}
	for bit := uint64(0); bit < 32; bit++ {
		if info.FlagsRead>>bit&1 != 0 {
			in.reads = append(in.reads, Span{LocFlag + bit, 1})
		}
		if info.FlagsWritten>>bit&1 != 0 {
			in.writes = append(in.writes, Span{LocFlag + bit, 1})
		}
	}
	switch info.Mnemonic {
	case "xsave", "xsave64", "xsaveopt", "xsaveopt64", "xsavec", "xsavec64":
		in.save, in.ymm = true, true
	case "xrstor", "xrstor64":
		in.restore, in.ymm = true, true
		in.writes = append(in.writes, Span{LocXMM, 2 * xmmSize})
	case "vzeroupper":
		in.writes = append(in.writes, Span{LocYMM, xmmSize})
	case "vzeroall":
		in.writes = append(in.writes, Span{LocXMM, 2 * xmmSize})
	case "fxsave", "fxsave64":
		in.save = true
	case "fxrstor", "fxrstor64":
		in.restore = true
		in.writes = append(in.writes, Span{LocXMM, xmmSize})
	}
	in.str = isString(info.Mnemonic) && len(in.mems) > 0
	in.copy(&info, refs)
	return in
}

// isString reports whether the mnemonic is one of the string instructions that
// Linux programs can execute.
func isString(m string) bool {
	switch m {
	case "movs", "stos", "lods", "scas", "cmps":
		return true
	}
	return false
}

func sameRegister(info *x86.Info) bool {
	if len(info.Operands) < 2 {
		return false
	}
	a, b := &info.Operands[0], &info.Operands[1]
	if len(info.Operands) > 2 && info.Mnemonic[0] == 'v' {
		a, b = b, &info.Operands[2]
	}
	return a.Kind == b.Kind && a.Reg == b.Reg && a.High == b.High && (a.Kind == x86.OperandReg || a.Kind == x86.OperandXMM)
}

// operand adds what one operand reads and writes.
func (in *Insn) operand(o *x86.Operand, same bool) copyOperand {
	switch o.Kind {
	case x86.OperandReg:
		if o.Reg == x86.RSP || o.Reg >= 16 {
			return copyOperand{}
		}
		s := Span{LocReg + 8*uint64(o.Reg), uint64(o.Size)}
		if o.High {
			s.Addr++
		}
		if o.Read && !same {
			in.reads = append(in.reads, s)
		}
		if o.Write {
			w := s
			if w.N == 4 { // writing 32 bits clears the others
				w.N = 8
			}
			if !strings.HasPrefix(in.Mnemonic, "cmov") {
				in.writes = append(in.writes, w)
			} else {
				in.writes = append(in.writes, s)
			}
		}
		return copyOperand{reg: s}
	case x86.OperandXMM:
		s := Span{LocXMM + 16*uint64(o.Reg), min(uint64(o.Size), 16)}
		upper := Span{LocYMM + 16*uint64(o.Reg), 16}
		if o.Read && !same {
			in.reads = append(in.reads, s)
			if o.Size == 32 {
				in.reads = append(in.reads, upper)
			}
		}
		if o.Write {
			if o.Clears {
				in.writes = append(in.writes, Span{s.Addr, 16})
			} else {
				in.writes = append(in.writes, s)
			}
			if o.Clears || o.Size == 32 {
				in.writes = append(in.writes, upper)
			}
		}
		return copyOperand{reg: s, ymm: o.Size == 32}
	case x86.OperandMem:
		for _, r := range []uint8{o.Mem.Base, o.Mem.Index} {
			if r < 16 && r != x86.RSP {
				in.addrs = append(in.addrs, Span{LocReg + 8*uint64(r), 8})
			}
		}
		if r, ok := o.Elem.VectorIndex(); ok {
			in.addrs = append(in.addrs, Span{LocXMM + 16*uint64(r), 16}, Span{LocYMM + 16*uint64(r), 16})
		}
		if !o.Read && !o.Write {
			return copyOperand{}
		}
		if o.Elem.Size > 0 {
			in.elems = new(*o)
			return copyOperand{}
		}
		in.mems = append(in.mems, memOperand{o.Read, o.Write, uint64(o.Size), o.Mem})
		return copyOperand{mem: len(in.mems)}
	case x86.OperandMMX, x86.OperandST, x86.OperandState:
		if o.Name == "fsbase" || o.Name == "gsbase" || o.Name == "sreg" || o.Name == "ymms" {
			return copyOperand{}
		}
		if o.Read {
			in.reads = append(in.reads, Span{LocOther, 1})
		}
		if o.Write {
			in.adds = true
		}
	}
	return copyOperand{}
}

// copy recognises instructions that only move bytes.
func (in *Insn) copy(info *x86.Info, refs []copyOperand) {
	if !isCopying(in.Mnemonic) || in.str || len(in.reads)+len(in.mems) == 0 || in.adds {
		return
	}
	var from, to []copyOperand
	for i, r := range refs {
		o := &info.Operands[i]
		if r == (copyOperand{}) {
			continue
		}
		switch {
		case o.Read && o.Write:
			return
		case o.Read:
			from = append(from, r)
		case o.Write:
			to = append(to, r)
		}
	}
	if len(from) != 1 || len(to) != 1 {
		return
	}
	in.copies, in.from, in.to = true, from[0], to[0]
	for _, s := range in.reads {
		if s == from[0].reg {
			in.reads = nil
			break
		}
	}
}

// A Step is one executed instruction of a section.
type Step struct {
	*Insn
	At emulate.Count
	PC uint64
	// mem has the memory operands in the order of Insn.mems.
	mem [2]Span
	// elems has the elements that a masked move or a gather accesses.
	elems []Span
	// Call is the system call that the instruction is, -1 for others.
	Call int32
}

// Reads calls f with every location whose value the instruction uses, apart
// from what it merely copies. addr says that it is used to find memory.
func (s *Step) Reads(f func(sp Span, addr bool)) {
	for _, sp := range s.addrs {
		f(sp, true)
	}
	for _, sp := range s.reads {
		f(sp, false)
	}
	for i := range s.mems {
		if s.mems[i].read && i < len(s.mem) && !(s.copies && s.from.mem == i+1) && !s.moves() && !s.restore {
			f(s.mem[i], false)
		}
	}
	if s.elems != nil && s.Insn.elems.Read {
		for _, sp := range s.elems {
			f(sp, false)
		}
	}
}

// Writes calls f with every location that the instruction overwrites.
func (s *Step) Writes(f func(sp Span)) {
	for _, sp := range s.writes {
		f(sp)
	}
	for i := range s.mems {
		if s.mems[i].write && i < len(s.mem) {
			f(s.mem[i])
		}
	}
	if s.elems != nil && s.Insn.elems.Write {
		for _, sp := range s.elems {
			f(sp)
		}
	}
}

// moves reports whether the instruction is a string move.
func (s *Step) moves() bool { return s.Mnemonic == "movs" && s.mem[0].N == s.mem[1].N }

// Copies calls f for each run of bytes that the instruction copies, in place.
func (s *Step) Copies(f func(from, to, n uint64)) {
	switch {
	case s.save:
		f(LocXMM, s.mem[0].Addr+fxXMM, xmmSize)
		if s.ymm {
			f(LocYMM, s.mem[0].Addr+xsYMM, xmmSize)
		}
	case s.restore:
		f(s.mem[0].Addr+fxXMM, LocXMM, xmmSize)
		if s.ymm {
			f(s.mem[0].Addr+xsYMM, LocYMM, xmmSize)
		}
	case s.moves():
		f(s.mem[1].Addr, s.mem[0].Addr, s.mem[0].N)
	case s.copies:
		a, b := s.span(&s.from), s.span(&s.to)
		f(a.Addr, b.Addr, min(a.N, b.N))
		if s.from.ymm || s.to.ymm {
			f(s.from.upper(a), s.to.upper(b), 16)
		}
	}
}

// upper is where the upper 16 of 32 bytes lie, the lower of which are at sp.
func (o *copyOperand) upper(sp Span) uint64 {
	if o.mem > 0 {
		return sp.Addr + 16
	}
	return sp.Addr + (LocYMM - LocXMM)
}

func (s *Step) span(o *copyOperand) Span {
	if o.mem > 0 {
		return s.mem[min(o.mem, len(s.mem))-1]
	}
	return o.reg
}

// Loads returns the memory that the instruction reads.
func (s *Step) Loads(f func(sp Span)) {
	for i := range s.mems {
		if s.mems[i].read && i < len(s.mem) {
			f(s.mem[i])
		}
	}
	if s.elems != nil && s.Insn.elems.Read {
		for _, sp := range s.elems {
			f(sp)
		}
	}
}

// Mixes reports whether the instruction changes LocOther in part.
func (s *Step) Mixes() bool { return s.adds }

// resolve fills in the addresses of memory operands from the registers before
// the instruction; finish does so for string instructions, afterwards.
func (s *Step) resolve(c *x86.CPU) {
	for i := range s.mems {
		if i < len(s.mem) {
			s.mem[i] = Span{s.mems[i].expr.Addr(c), s.mems[i].size}
		}
	}
	if o := s.Insn.elems; o != nil {
		s.elems = make([]Span, 0, o.Elem.N)
		o.Each(c, func(a uint64) { s.elems = append(s.elems, Span{a, uint64(o.Elem.Size)}) })
	}
}

// finish gives string instructions the memory that they went over.
func (s *Step) finish(before *[32]uint64, after *x86.CPU) {
	if !s.str {
		return
	}
	for i := range s.mems {
		if i >= len(s.mem) {
			return
		}
		r := s.mems[i].expr.Base & 31
		a, b := before[r], after.R[r]
		if b >= a {
			s.mem[i].N = b - a
		} else { // downwards: the bytes end after the first element
			s.mem[i].N = a - b
			s.mem[i].Addr -= a - b - s.mems[i].size
		}
	}
}
