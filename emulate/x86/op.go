package x86

// An Op is one decoded instruction. One instruction is always one Op, so that
// positions count alike everywhere; a fused compare-and-branch is two Ops of
// which the first does the work of both (see run.go).
type Op struct {
	code  uint16 // what the run loop's switch does; codeCall means fn
	dst   uint8  // ModRM.reg, or the opcode's register; 20..23 are AH, CH, DH, BH
	src   uint8  // ModRM.rm when it is a register (then attrMem is clear)
	base  uint8  // effective address: R[base] + R[idx]<<scale + disp (+ R[seg])
	idx   uint8
	scale uint8
	size  uint8 // of v and y operands or vectors if there are any, else of ModRM.rm, else of the first; bytes
	len   uint8 // length of the instruction in bytes
	attr  attr
	n     uint16 // index of the instruction in its block
	seg   uint8  // RegZero, RegFS or RegGS
	aux   uint8  // for the handler's own use (condition, sub-operation)
	src2  uint8  // VEX.vvvv
	disp  int64  // RIP-relative addresses are absolute here
	imm   int64  // sign-extended immediate, or a branch's absolute target
	pc    uint64
	fn    handler
}

// A handler executes one Op. It loads before it changes any register or
// stores, so that a fault leaves the state exact. It doesn't touch RIP unless
// the row ends a block.
type handler func(c *CPU, op *Op)

// attr holds facts about an Op.
type attr uint8

const (
	attrMem   attr = 1 << iota // the ModRM.rm operand is in memory
	attrLock                   // LOCK prefix, or XCHG with memory
	attrRep                    // F3 on a string instruction
	attrRepne                  // F2 on a string instruction
	attrEnd                    // ends its block: the handler sets RIP
	attrA32                    // 32-bit address size: truncate the effective address
	attrNF                     // nobody reads the flags this Op would set
	attrRMW                    // reads and writes its memory operand without LOCK
)

// A row of the instruction table is one encoding form: the decoder, the
// describer (operands, flags) and the tests all work from it.
//
// Enc is the opcode column of the Intel SDM: an optional prefix (NP none of
// 66/F2/F3; 66, F3, F2; REX.W or W0), the opcode bytes ("0F 38 00"), "/r" or
// "/digit", "+r" for a register in the opcode, and ib, iw, id, io, iz for
// immediates (iz: 16 or 32 bits by operand size), cb, cd for relative targets,
// mo for a moffs. A ModRM that must be memory or register says so in Args; see
// form in table.go for how operands are placed and which row wins, and kinds
// there for all operand kinds.
//
// A form with VEX begins with "VEX.", then, separated by dots as in the manual,
// 128, 256, or LZ (the length must be 128; LIG or nothing: any), 66, F3 or F2,
// the map (0F, 0F38, 0F3A), and W0 or W1 (WIG or nothing: any). A row without a
// length is two forms if it has operands of kind vec. VEX.vvvv must be unused
// unless an operand is there.
//
// Args lists operands, explicit ones first, then "|" and the implicit ones,
// each as kind:action with action r, w, rw or - (address only). Kinds: r8 r16
// r32 r64 rv (ModRM.reg; v follows the operand size, y is 32 or 64), rm8 rm16
// rm32 rm64 rmv rmy (ModRM.rm), m8..m512 and m (memory only), xmm, xmm/m8..
// xmm/m128, ymm and ymm/m256, vec, vec/m and mvec (XMM or YMM by VEX.L, or
// memory as large), xmm.rm (ModRM.rm, a
// register), xmmv, ymmv, vecv, yv (in VEX.vvvv), vec4 (in the top bits of
// the immediate), vm32, vm64 (memory at a vector of indices), mm, mm/m64, mm/m32, imm, rel, moffs, o8 ov oy (register in the
// opcode), sreg, cr, and fixed ones: al ax eax rax cl rcx rdx xmm0 st0 st(i)
// fpusw mxcsr.
//
// Flags says what happens to the arithmetic flags, letters o s z a p c (and d):
// "r:c w:oszapc u:a" reads CF, writes all, leaves AF undefined.
type row struct {
	enc   string
	mnem  string
	args  string
	flags string
	fn    handler
	// build, if set, replaces the generic choice of code and fn.
	build func(d *inst, op *Op)
	// cpu is the level or feature that has the form: "", "sse3", "ssse3",
	// "sse41", "sse42", "popcnt", "cx16", "avx", "avx2", ….
	cpu string
}

// tables collects the rows; each exec_*.go file registers its own from a
// package-level variable, e.g. var _ = register(rowsSSE).
var tables []row

func register(rows []row) bool { tables = append(tables, rows...); return true }
