package x86

import (
	"fmt"
	"strings"
)

// OperandKind says what an Operand is.
type OperandKind uint8

const (
	_            OperandKind = iota
	OperandReg               // general register Reg
	OperandXMM               // XMM or, if Size is 32, YMM register Reg
	OperandMMX               // MMX register Reg
	OperandST                // ST(Reg)
	OperandMem               // memory, see Operand.Mem
	OperandImm               // Imm
	OperandTo                // the address that a relative branch goes to, in Imm
	OperandState             // other state, by Name: mxcsr, fpu, fpucw, fpusw, fsbase, gsbase, sreg
)

func (k OperandKind) String() string {
	switch k {
	case OperandReg:
		return "register"
	case OperandXMM:
		return "XMM register"
	case OperandMMX:
		return "MMX register"
	case OperandST:
		return "x87 register"
	case OperandMem:
		return "memory"
	case OperandImm:
		return "immediate"
	case OperandTo:
		return "target"
	case OperandState:
		return "state"
	}
	return "invalid"
}

// An Operand is one thing that an instruction reads or writes.
type Operand struct {
	Kind        OperandKind
	Read, Write bool
	Implicit    bool
	Size        int   // bytes; 0 if it has none (LEA's memory, states)
	Reg         uint8 // number, as an index of CPU.R or CPU.X
	High        bool  // bits 8 to 15 of Reg: AH, CH, DH, BH
	Clears      bool  // a vector register whose bits from Size to 32 bytes are set to 0
	Imm         int64
	Name        string
	Mem         MemExpr
	Elem        ElemAccess
}

// A MemExpr is an address: Seg + Base + Index<<Scale + Disp, where Seg, Base
// and Index are indices of CPU.R and RegZero stands for none. Addr32 truncates
// all but Seg to 32 bits.
type MemExpr struct {
	Base, Index, Scale, Seg uint8
	Disp                    int64 // RIP-relative addresses are absolute here
	Addr32                  bool
}

// Addr returns the address that m has with c's registers.
func (m *MemExpr) Addr(c *CPU) uint64 {
	a := c.R[m.Base&31] + c.R[m.Index&31]<<(m.Scale&3) + uint64(m.Disp)
	if m.Addr32 {
		a = uint64(uint32(a))
	}
	return a + c.R[m.Seg&31]
}

// Branch says how an instruction changes control flow.
type Branch uint8

const (
	BranchNone Branch = iota
	BranchJump
	BranchCond // may also go on
	BranchCall
	BranchRet
	BranchSyscall
	BranchTrap // INT3, UD2, HLT and other instructions that always fault
)

// An Info describes an instruction. Flags are masks of RFLAGS bits;
// FlagsUndefined is part of FlagsWritten.
type Info struct {
	Mnemonic string
	Len      int
	Operands []Operand // explicit ones first, as in Intel syntax
	Branch   Branch
	Lock     bool // an atomic read-modify-write: LOCK, or XCHG with memory
	Repeat   bool // a string instruction with REP, REPE or REPNE

	FlagsRead, FlagsWritten, FlagsUndefined uint64
}

// Describe decodes the instruction at pc, whose bytes code starts with. The
// error says that code ends too early or that the instruction isn't known.
func Describe(code []byte, pc uint64) (Info, error) {
	d := inst{code: code, pc: pc}
	f, err := d.decode()
	if err != nil {
		return Info{}, fmt.Errorf("x86: instruction at %#x (% x): %w", pc, code[:min(len(code), maxInst)], err)
	}
	op := buildOp(&d, f)
	in := Info{
		Mnemonic: f.mnem, Len: int(op.len), Branch: branchOf(f, &op),
		Lock:   op.attr&attrLock != 0,
		Repeat: op.attr&(attrRep|attrRepne) != 0 && stringInst[f.mnem],
	}
	u := written(&op, f)
	in.FlagsRead, in.FlagsWritten, in.FlagsUndefined = u.read, u.write, u.undef
	if stringInst[f.mnem] && !in.Repeat {
		in.FlagsRead &= DF
	}
	for i := range f.args {
		if f.args[i].kind == "rcx" && stringInst[f.mnem] && !in.Repeat {
			continue
		}
		in.Operands = append(in.Operands, f.describe(&d, &op, i))
	}
	return in, nil
}

func branchOf(f *form, op *Op) Branch {
	if op.attr&attrEnd == 0 {
		return BranchNone
	}
	switch m := f.mnem; {
	case m == "jmp":
		return BranchJump
	case m == "call":
		return BranchCall
	case m == "ret":
		return BranchRet
	case m == "syscall":
		return BranchSyscall
	case m[0] == 'j' || strings.HasPrefix(m, "loop"):
		return BranchCond
	}
	return BranchTrap
}

// bytes gives the size that an operand of the row has in op.
func (o *operand) bytes(d *inst, size int) int {
	switch size {
	case sizeV:
		return int(d.opSize())
	case sizeL:
		if d.long {
			return 32
		}
		return 16
	case sizeY:
		if d.w() {
			return 8
		}
		return 4
	case sizeD:
		if d.opsize && !d.w() {
			return 2
		}
		return 8
	}
	return size
}

// describe returns operand i of the form as the instruction has it.
func (f *form) describe(d *inst, op *Op, i int) Operand {
	a := &f.args[i]
	o := Operand{Read: a.read, Write: a.write, Implicit: i >= f.nArgs, Size: a.bytes(d, int(a.size)), Name: a.kind}
	none := MemExpr{Base: RegZero, Index: RegZero, Seg: RegZero, Addr32: d.addr32}
	switch a.place {
	case placeImm, placeRel:
		o.Kind, o.Imm, o.Name, o.Size = OperandImm, d.imm, "", 0
		if a.place == placeRel {
			o.Kind, o.Imm = OperandTo, op.imm
		}
		return o
	case placeRM:
		if d.mod != 3 {
			o.Kind, o.Name, o.Size = OperandMem, "", a.bytes(d, a.memSize)
			o.Elem = f.elements(op)
			o.Mem = MemExpr{Base: op.base, Index: op.idx, Scale: op.scale, Seg: op.seg, Disp: op.disp, Addr32: d.addr32}
			if f.mnem == "lea" {
				o.Mem.Seg = RegZero
				if op.idx >= RegZero {
					o.Mem.Index = RegZero
				}
			}
			return o
		}
		return f.register(o, a, op.src)
	case placeReg, placeOpcode:
		return f.register(o, a, op.dst)
	case placeVVVV:
		return f.register(o, a, op.src2)
	case placeIs4:
		return f.register(o, a, uint8(d.imm)>>4)
	}
	o.Kind, o.Mem = OperandMem, none
	switch a.place {
	case placeMoffs:
		o.Mem.Disp, o.Mem.Seg = op.disp, d.seg
	case placeSI:
		o.Mem.Base, o.Mem.Seg = RSI, d.seg
	case placeDI:
		o.Mem.Base = RDI
		if strings.Contains(f.mnem, "maskmov") && a.class == classNone && f.regKind >= 0 && f.args[f.regKind].class == classXMM {
			o.Mem.Seg, o.Elem = d.seg, ElemAccess{Size: 1, N: a.bytes(d, int(a.size)), Mask: op.src, indexSize: 0}
		}
	case placePush:
		o.Mem.Base, o.Mem.Disp, o.Mem.Addr32 = RSP, -int64(o.Size), false
	case placePop:
		o.Mem.Base, o.Mem.Addr32 = RSP, false
		if f.mnem == "leave" {
			o.Mem.Base = RBP
		}
	default:
		return f.register(o, a, fixedRegs[a.kind])
	}
	o.Name = ""
	return o
}

// fixedRegs gives the numbers of the registers that rows name.
var fixedRegs = map[string]uint8{
	"al": RAX, "ah": highByte, "ax": RAX, "eax": RAX, "rax": RAX, "av": RAX, "cl": RCX, "ecx": RCX, "rcx": RCX,
	"dx": RDX, "edx": RDX, "rdx": RDX, "dv": RDX, "ebx": RBX, "rbx": RBX, "rsp": RSP, "rbp": RBP, "rsi": RSI,
	"rdi": RDI, "r11": R11, "xmm0": 0, "st0": 0, "st1": 1,
}

func (f *form) register(o Operand, a *operand, r uint8) Operand {
	o.Reg = r
	switch a.class {
	case classGPR:
		o.Kind = OperandReg
		if r >= highByte {
			o.Reg, o.High = r-highByte, true
		}
	case classXMM:
		o.Kind = OperandXMM
		o.Clears = f.vex && o.Write && o.Size < 32
	case classMM:
		o.Kind = OperandMMX
	case classST:
		o.Kind = OperandST
	default:
		o.Kind, o.Reg = OperandState, 0
		return o
	}
	o.Name = ""
	return o
}

var gprNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// RegName returns the name of general register r (an index of CPU.R) of size
// bytes: 1, 2, 4 or 8.
func RegName(r uint8, size int) string {
	switch r {
	case RegFS:
		return "fs"
	case RegGS:
		return "gs"
	}
	if r >= 16 {
		return "?"
	}
	n := gprNames[r]
	switch {
	case r >= 8 && size < 8:
		return n + map[int]string{1: "b", 2: "w", 4: "d"}[size]
	case size == 4:
		return "e" + n[1:]
	case size == 2:
		return n[1:]
	case size == 1 && r < 4:
		return n[1:2] + "l"
	case size == 1:
		return n[1:] + "l"
	}
	return n
}

// String writes the instruction in Intel's syntax, without implicit operands.
func (in Info) String() string {
	var b strings.Builder
	if in.Lock && in.Mnemonic != "xchg" {
		b.WriteString("lock ")
	}
	if in.Repeat {
		b.WriteString("rep ")
	}
	b.WriteString(in.Mnemonic)
	sep := " "
	for _, o := range in.Operands {
		if o.Implicit {
			continue
		}
		b.WriteString(sep + o.String())
		sep = ", "
	}
	return b.String()
}

func (o Operand) String() string {
	switch o.Kind {
	case OperandReg:
		if o.High {
			return string("acdb"[o.Reg&3]) + "h"
		}
		return RegName(o.Reg, o.Size)
	case OperandXMM:
		if o.Size == 32 {
			return fmt.Sprintf("ymm%d", o.Reg)
		}
		return fmt.Sprintf("xmm%d", o.Reg)
	case OperandMMX:
		return fmt.Sprintf("mm%d", o.Reg)
	case OperandST:
		return fmt.Sprintf("st(%d)", o.Reg)
	case OperandImm, OperandTo:
		return fmt.Sprintf("%#x", o.Imm)
	case OperandMem:
		return o.Mem.String()
	}
	return o.Name
}

func (m MemExpr) String() string {
	var parts []string
	for _, r := range []uint8{m.Seg, m.Base} {
		if r != RegZero {
			parts = append(parts, RegName(r, 8))
		}
	}
	if m.Index != RegZero {
		s := RegName(m.Index, 8)
		if m.Scale > 0 {
			s += fmt.Sprintf("*%d", 1<<m.Scale)
		}
		parts = append(parts, s)
	}
	if s := strings.Join(parts, "+"); s != "" {
		if m.Disp == 0 {
			return "[" + s + "]"
		}
		return fmt.Sprintf("[%s%+#x]", s, m.Disp)
	}
	return fmt.Sprintf("[%#x]", uint64(m.Disp))
}
