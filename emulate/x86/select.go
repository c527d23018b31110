package x86

// choose gives an Op that the run loop knows its own case. It relies on the
// Op's flags being marked dead or not. Everything else stays a call of fn.
func choose(op *Op, f *form) {
	if op.attr&(attrLock|attrA32) != 0 || op.seg != RegZero || op.dst >= highByte || op.src >= highByte {
		return
	}
	if f.pick != nil {
		f.pick(op, f)
	}
}

var pickers = map[string]func(op *Op, f *form){
	"nop": pickNop, "endbr64": pickNop, "pause": pickNop, "prefetch": pickNop, "prefetchw": pickNop,
	"mov": pickMov, "movzx": pickExtend, "movsx": pickExtend, "movsxd": pickExtend, "lea": pickLea,
	"add": pickALU(aluAdd), "sub": pickALU(aluSub), "and": pickALU(aluAnd), "or": pickALU(aluOr), "xor": pickALU(aluXor),
	"cmp": pickCmp, "test": pickTest, "inc": pickInc, "dec": pickDec,
	"shl": pickShift(shSHL), "shr": pickShift(shSHR), "sar": pickShift(shSAR), "rol": pickRotate, "ror": pickRotate,
	"neg": pickNeg, "not": pickNot,
	"adc": pickCarry(aluAdc, adcCodes), "sbb": pickCarry(aluSbb, sbbCodes),
	"bsf": pickScan(codeBsf32, codeBsf64), "bsr": pickScan(codeBsr32, codeBsr64), "bswap": pickBswap, "mul": pickMul,
	"imul": pickImul, "cbw": pickCBW, "cwd": pickCWD,
	"push": pickPush, "pop": pickPop,
	"call": pickCall, "ret": pickRet, "jmp": pickJmp,
}

func init() {
	for _, cc := range condNames {
		pickers["j"+cc] = pickJcc
		pickers["cmov"+cc] = pickCmov
		pickers["set"+cc] = pickSet
	}
}

func (op *Op) mem() bool { return op.attr&attrMem != 0 }

// simple says whether the address is base and displacement alone.
func (op *Op) simple() bool { return op.idx == RegZero }

// of32 returns a for 32-bit operands, b for 64-bit ones, and codeCall for others.
func (op *Op) of32(a, b uint16) uint16 {
	switch op.size {
	case 4:
		return a
	case 8:
		return b
	}
	return codeCall
}

func pickNop(op *Op, f *form) {
	if f.mnem != "nop" || op.size == 0 || f.nArgs > 0 { // 90 may have become XCHG R8, RAX
		op.code = codeNop
	}
}

// toRM reports whether the first operand is ModRM.rm; hasImm whether the last
// one is an immediate.
func (f *form) toRM() bool   { return f.nArgs > 0 && f.args[0].place == placeRM }
func (f *form) hasImm() bool { return f.nArgs > 0 && f.args[f.nArgs-1].place == placeImm }

// swapTo turns an Op whose destination is the register in ModRM.rm into the
// equivalent one whose destination is ModRM.reg.
func (op *Op) swapTo(fn handler) {
	op.dst, op.src, op.fn = op.src, op.dst, fn
}

func pickMov(op *Op, f *form) {
	log := sizeLog(op.size)
	switch {
	case f.args[0].class == classSeg || f.args[f.nArgs-1].class == classSeg:
	case f.hasImm() && op.mem():
		op.code = [4]uint16{codeStI8, codeStI16, codeStI32, codeStI64}[log]
	case f.hasImm() && op.size >= 4:
		if op.size == 4 {
			op.imm = int64(uint32(op.imm))
		}
		op.code = codeMovI
		if f.toRM() {
			op.code = codeMovIrm
		}
	case f.hasImm():
	case !op.mem():
		if f.toRM() {
			op.swapTo(execMovRM)
		}
		op.code = [4]uint16{codeMov8, codeCall, codeMov32, codeMov64}[log]
	case f.args[0].memSize != 0 && (f.toRM() || f.args[0].place == placeMoffs):
		if op.simple() {
			op.code = [4]uint16{codeSt8B, codeSt16B, codeSt32B, codeSt64B}[log]
		} else {
			op.code = [4]uint16{codeSt8X, codeSt16X, codeSt32X, codeSt64X}[log]
		}
	case op.size == 1:
		op.code = codeLd8m
	case op.size == 4 && op.simple():
		op.code = codeLd32B
	case op.size == 8 && op.simple():
		op.code = codeLd64B
	default:
		op.code = op.of32(codeLd32X, codeLd64X)
	}
}

func pickExtend(op *Op, f *form) {
	if op.size < 4 {
		return
	}
	from := f.args[1].size
	if from == sizeV { // 63 without REX.W
		return
	}
	i := sizeLog(from)
	wide := op.size == 8
	switch {
	case f.mnem == "movzx" && op.mem() && op.simple():
		op.code = [2]uint16{codeLd8B, codeLd16B}[i]
	case f.mnem == "movzx" && op.mem():
		op.code = [2]uint16{codeLd8X, codeLd16X}[i]
	case f.mnem == "movzx":
		op.code = [2]uint16{codeZx8, codeZx16}[i]
	case op.mem() && wide:
		op.code = [3]uint16{codeLd8s64, codeLd16s64, codeLd32s64}[i]
	case op.mem():
		op.code = [2]uint16{codeLd8s32, codeLd16s32}[i]
	case wide:
		op.code = [3]uint16{codeSx8to64, codeSx16to64, codeSx32to64}[i]
	default:
		op.code = [2]uint16{codeSx8to32, codeSx16to32}[i]
	}
}

func pickLea(op *Op, f *form) {
	switch {
	case op.idx == RegFS || op.idx == RegGS:
	case op.size == 4:
		op.code = codeLea32
	case op.size == 8 && op.simple():
		op.code = codeLea64B
	case op.size == 8:
		op.code = codeLea64X
	}
}

// aluCode holds the run loop's cases of one operation for one size.
type aluCode struct{ rr, ri, rrF, riF, rm, mr, mi uint16 }

var aluCodes = map[uint8][2]aluCode{
	aluAdd: {{codeAdd32RR, codeAdd32RI, codeAdd32RRF, codeAdd32RIF, codeAdd32RM, codeAdd32MR, codeAdd32MI},
		{codeAdd64RR, codeAdd64RI, codeAdd64RRF, codeAdd64RIF, codeAdd64RM, codeAdd64MR, codeAdd64MI}},
	aluSub: {{codeSub32RR, codeSub32RI, codeSub32RRF, codeSub32RIF, codeSub32RM, codeSub32MR, codeSub32MI},
		{codeSub64RR, codeSub64RI, codeSub64RRF, codeSub64RIF, codeSub64RM, codeSub64MR, codeSub64MI}},
	aluAnd: {{codeAnd32RR, codeAnd32RI, codeAnd32RRF, codeAnd32RIF, codeAnd32RM, codeAnd32MR, codeAnd32MI},
		{codeAnd64RR, codeAnd64RI, codeAnd64RRF, codeAnd64RIF, codeAnd64RM, codeAnd64MR, codeAnd64MI}},
	aluOr: {{codeOr32RR, codeOr32RI, codeOr32RRF, codeOr32RIF, codeOr32RM, codeOr32MR, codeOr32MI},
		{codeOr64RR, codeOr64RI, codeOr64RRF, codeOr64RIF, codeOr64RM, codeOr64MR, codeOr64MI}},
	aluXor: {{codeXor32RR, codeXor32RI, codeXor32RRF, codeXor32RIF, codeXor32RM, codeXor32MR, codeXor32MI},
		{codeXor64RR, codeXor64RI, codeXor64RRF, codeXor64RIF, codeXor64RM, codeXor64MR, codeXor64MI}},
}

func pickALU(k uint8) func(op *Op, f *form) {
	fromRM := aluRM(k)
	codes := aluCodes[k]
	return func(op *Op, f *form) {
		if op.size == 1 && !op.mem() {
			pickALU8(op, f, k, fromRM)
		}
		if op.size < 4 {
			return
		}
		a := &codes[sizeLog(op.size)-2]
		nf := op.attr&attrNF != 0
		imm := f.hasImm()
		switch {
		case op.mem() && imm:
			op.code = a.mi
		case op.mem() && f.toRM():
			op.code = a.mr
		case op.mem():
			op.code = a.rm
		case imm && nf:
			op.code = a.ri
		case imm:
			op.code = a.riF
		default:
			if f.toRM() {
				op.swapTo(fromRM)
			}
			same := op.dst == op.src && (k == aluXor || k == aluSub)
			switch {
			case same && nf:
				op.code = codeZero
			case same && k == aluXor:
				op.code = codeZeroF
			case nf:
				op.code = a.rr
			default:
				op.code = a.rrF
			}
		}
	}
}

// alu8Codes are the cases for byte registers: with a register and an immediate.
var alu8Codes = map[uint8][2]uint16{aluAdd: {codeAdd8RR, codeAdd8RI}, aluSub: {codeSub8RR, codeSub8RI}, aluAnd: {codeAnd8RR, codeAnd8RI},
	aluOr: {codeOr8RR, codeOr8RI}, aluXor: {codeXor8RR, codeXor8RI}}

var (
	adcCodes = [2]aluCode{{rr: codeAdc32RR, ri: codeAdc32RI, rrF: codeAdc32RRF, riF: codeAdc32RIF}, {rr: codeAdc64RR, ri: codeAdc64RI, rrF: codeAdc64RRF, riF: codeAdc64RIF}}
	sbbCodes = [2]aluCode{{rr: codeSbb32RR, ri: codeSbb32RI, rrF: codeSbb32RRF, riF: codeSbb32RIF}, {rr: codeSbb64RR, ri: codeSbb64RI, rrF: codeSbb64RRF, riF: codeSbb64RIF}}
)

// pickALU8 is pickALU for byte registers.
func pickALU8(op *Op, f *form, k uint8, fromRM handler) {
	codes := alu8Codes[k]
	if f.hasImm() {
		op.code = codes[1]
		return
	}
	if f.toRM() {
		op.swapTo(fromRM)
	}
	op.code = codes[0]
}

var cmpFromRM = aluRM(aluCmp)

// The cases of CMP and TEST by the logarithm of the size, for each shape: RR, RI,
// RM, MR, MI of CMP, RR, RI, MI of TEST.
var (
	cmpCodes = [5][4]uint16{{codeCmp8RR, codeCmp16RR, codeCmp32RR, codeCmp64RR}, {codeCmp8RI, codeCmp16RI, codeCmp32RI, codeCmp64RI},
		{codeCmp8RM, codeCmp16RM, codeCmp32RM, codeCmp64RM}, {codeCmp8MR, codeCmp16MR, codeCmp32MR, codeCmp64MR}, {codeCmp8MI, codeCmp16MI, codeCmp32MI, codeCmp64MI}}
	testCodes = [3][4]uint16{{codeTest8RR, codeTest16RR, codeTest32RR, codeTest64RR}, {codeTest8RI, codeTest16RI, codeTest32RI, codeTest64RI},
		{codeTest8MI, codeTest16MI, codeTest32MI, codeTest64MI}}
)

func pickCmp(op *Op, f *form) {
	i := sizeLog(op.size)
	switch {
	case op.mem() && f.hasImm():
		op.code = cmpCodes[4][i]
	case op.mem() && f.toRM():
		op.code = cmpCodes[3][i]
	case op.mem():
		op.code = cmpCodes[2][i]
	case f.hasImm():
		op.code = cmpCodes[1][i]
	default:
		if f.toRM() {
			op.swapTo(cmpFromRM)
		}
		op.code = cmpCodes[0][i]
	}
}

func pickTest(op *Op, f *form) {
	i := sizeLog(op.size)
	switch {
	case op.mem() && f.hasImm():
		op.code = testCodes[2][i]
	case op.mem():
	case f.hasImm():
		op.code = testCodes[1][i]
	default:
		op.code = testCodes[0][i]
	}
}

func pickInc(op *Op, f *form) {
	op.imm = 1
	pickOne(op, [4]uint16{codeAdd32RI, codeAdd64RI, codeIncF32, codeIncF64})
}

func pickDec(op *Op, f *form) {
	op.imm = 1
	pickOne(op, [4]uint16{codeSub32RI, codeSub64RI, codeDecF32, codeDecF64})
}

func pickOne(op *Op, codes [4]uint16) {
	if op.mem() {
		return
	}
	if op.attr&attrNF != 0 {
		op.code = op.of32(codes[0], codes[1])
	} else {
		op.code = op.of32(codes[2], codes[3])
	}
}

// pickShift: by CL only with dead flags, by an immediate with flags that are
// dead; a count of zero would leave flags, which are dead just as well.
func pickShift(k uint8) func(op *Op, f *form) {
	byImm := map[uint8][2]uint16{shSHL: {codeShl32I, codeShl64I}, shSHR: {codeShr32I, codeShr64I}, shSAR: {codeSar32I, codeSar64I}}[k]
	byCL := map[uint8][2]uint16{shSHL: {codeShl32CL, codeShl64CL}, shSHR: {codeShr32CL, codeShr64CL}, shSAR: {codeSar32CL, codeSar64CL}}[k]
	byCLF := map[uint8][2]uint16{shSHL: {codeShl32CLF, codeShl64CLF}, shSHR: {codeShr32CLF, codeShr64CLF}, shSAR: {codeSar32CLF, codeSar64CLF}}[k]
	byImmF := map[uint8][2]uint16{shSHL: {codeShl32IF, codeShl64IF}, shSHR: {codeShr32IF, codeShr64IF}, shSAR: {codeSar32IF, codeSar64IF}}[k]
	return func(op *Op, f *form) {
		cl := len(f.args) > f.nArgs
		switch {
		case op.mem():
		case op.attr&attrNF != 0 && cl:
			op.code = op.of32(byCL[0], byCL[1])
		case op.attr&attrNF != 0 && op.size == 2 && k == shSHR:
			op.code = codeShr16I
		case op.attr&attrNF != 0:
			op.code = op.of32(byImm[0], byImm[1])
		case cl:
			op.code = op.of32(byCLF[0], byCLF[1])
		case (op.size == 4 && op.imm&31 != 0 || op.size == 8 && op.imm&63 != 0):
			op.code = op.of32(byImmF[0], byImmF[1])
		}
	}
}

func pickRotate(op *Op, f *form) {
	if op.mem() || op.attr&attrNF == 0 || len(f.args) > f.nArgs || op.size < 4 {
		return
	}
	if f.mnem == "ror" {
		// The handler is shared by both directions' rows, so make it a ROL.
		op.imm = int64(8*op.size) - op.imm&int64(8*op.size-1)
		op.fn = rotateDead
	}
	op.code = op.of32(codeRol32I, codeRol64I)
}

// rotateDead replaces ROR's handler where its count has been turned around;
// CF and OF come out as ROR sets them.
func rotateDead(c *CPU, op *Op) { c.shift(op, shROR, uint8(int64(8*op.size)-op.imm), true) }

// pickImul is for the forms with two and three operands, whose flags are as for
// the product of both sources.
func pickImul(op *Op, f *form) {
	nf := op.attr&attrNF != 0
	switch {
	case f.nArgs == 2 && op.mem():
		op.code = op.of32(codeImul32RMF, codeImul64RMF)
	case op.mem():
	case f.nArgs == 2 && nf:
		op.code = op.of32(codeImul32RR, codeImul64RR)
	case f.nArgs == 2:
		op.code = op.of32(codeImul32RRF, codeImul64RRF)
	case f.nArgs == 3 && nf:
		op.code = op.of32(codeImul32RRI, codeImul64RRI)
	case f.nArgs == 3:
		op.code = op.of32(codeImul32RRIF, codeImul64RRIF)
	}
}

func pickNeg(op *Op, f *form) {
	switch {
	case op.mem():
	case op.attr&attrNF != 0:
		op.code = op.of32(codeNeg32, codeNeg64)
	default:
		op.code = op.of32(codeNeg32F, codeNeg64F)
	}
}

func pickNot(op *Op, f *form) {
	if !op.mem() {
		op.code = op.of32(codeNot32, codeNot64)
	}
}

func pickCBW(op *Op, f *form) {
	if op.size == 8 {
		op.dst, op.src, op.code = RAX, RAX, codeSx32to64
	}
}

func pickCWD(op *Op, f *form) { op.code = op.of32(codeCdq, codeCqo) }

func pickCmov(op *Op, f *form) {
	if op.mem() {
		op.code = op.of32(codeCmovM32, codeCmovM64)
	} else {
		op.code = op.of32(codeCmov32, codeCmov64)
	}
}

// pickCarry is for ADC and SBB of registers.
func pickCarry(k uint8, codes [2]aluCode) func(op *Op, f *form) {
	fromRM := aluRM(k)
	return func(op *Op, f *form) {
		if op.mem() || op.size < 4 {
			return
		}
		a := &codes[sizeLog(op.size)-2]
		nf := op.attr&attrNF != 0
		switch {
		case f.hasImm() && nf:
			op.code = a.ri
		case f.hasImm():
			op.code = a.riF
		default:
			if f.toRM() {
				op.swapTo(fromRM)
			}
			op.code = a.rrF
			if nf {
				op.code = a.rr
			}
		}
	}
}

// pickScan is for BSF and BSR, which leave the destination if the source is 0.
func pickScan(a, b uint16) func(op *Op, f *form) {
	return func(op *Op, f *form) {
		if !op.mem() && op.attr&attrNF != 0 {
			op.code = op.of32(a, b)
		}
	}
}

func pickBswap(op *Op, f *form) { op.code = op.of32(codeBswap32, codeBswap64) }

func pickMul(op *Op, f *form) {
	if !op.mem() && op.attr&attrNF != 0 && op.size == 8 {
		op.code = codeMul64
	}
}

func pickSet(op *Op, f *form) {
	if !op.mem() {
		op.code = codeSet
	}
}

func pickPush(op *Op, f *form) {
	if op.mem() || op.size != 8 || f.nArgs == 0 {
		return
	}
	switch f.args[0].place {
	case placeOpcode:
		op.code = codePush
	case placeImm:
		op.code = codePushI
	}
}

func pickPop(op *Op, f *form) {
	if op.size == 8 && f.nArgs > 0 && f.args[0].place == placeOpcode {
		op.code = codePop
	}
}

// indirectCall is an Op's aux where it is an indirect call, for translation.
const indirectCall = 0xCA

func pickCall(op *Op, f *form) {
	if op.aux = indirectCall; f.args[0].place == placeRel {
		op.code = codeCallRel
	}
}

func pickRet(op *Op, f *form) {
	op.imm = int64(uint16(op.imm))
	op.code = codeRet
}

func pickJmp(op *Op, f *form) {
	switch {
	case f.args[0].place == placeRel:
		op.code = codeJmp
	case op.mem():
		op.code = codeJmpM
	default:
		op.code = codeJmpR
	}
}

func pickJcc(op *Op, f *form) { op.code = codeJcc }

// A fusion is the case that does a comparison or operation and the jump after
// it, and whether that jump may look at more than ZF and SF.
type fusion struct {
	code uint16
	all  bool
}

var fusions = map[uint16]fusion{
	codeCmp8RR: {codeCmp8RRJ, true}, codeCmp8RI: {codeCmp8RIJ, true}, codeCmp8RM: {codeCmp8RMJ, true}, codeCmp8MR: {codeCmp8MRJ, true}, codeCmp8MI: {codeCmp8MIJ, true},
	codeCmp32RR: {codeCmp32RRJ, true}, codeCmp32RI: {codeCmp32RIJ, true}, codeCmp32RM: {codeCmp32RMJ, true}, codeCmp32MR: {codeCmp32MRJ, true}, codeCmp32MI: {codeCmp32MIJ, true},
	codeCmp64RR: {codeCmp64RRJ, true}, codeCmp64RI: {codeCmp64RIJ, true}, codeCmp64RM: {codeCmp64RMJ, true}, codeCmp64MR: {codeCmp64MRJ, true}, codeCmp64MI: {codeCmp64MIJ, true},
	codeCmp16RR: {codeCmp16RRJ, true}, codeCmp16RI: {codeCmp16RIJ, true}, codeCmp16RM: {codeCmp16RMJ, true}, codeCmp16MR: {codeCmp16MRJ, true}, codeCmp16MI: {codeCmp16MIJ, true},
	codeTest16RR: {codeTest16RRJ, true}, codeTest16RI: {codeTest16RIJ, true}, codeTest16MI: {codeTest16MIJ, true},
	codeTest8RR: {codeTest8RRJ, true}, codeTest8RI: {codeTest8RIJ, true}, codeTest8MI: {codeTest8MIJ, true},
	codeTest32RR: {codeTest32RRJ, true}, codeTest32RI: {codeTest32RIJ, true}, codeTest32MI: {codeTest32MIJ, true},
	codeTest64RR: {codeTest64RRJ, true}, codeTest64RI: {codeTest64RIJ, true}, codeTest64MI: {codeTest64MIJ, true},
	codeSub32RRF: {codeSub32RRJ, true}, codeSub32RIF: {codeSub32RIJ, true}, codeSub64RRF: {codeSub64RRJ, true}, codeSub64RIF: {codeSub64RIJ, true},
	codeAnd32RRF: {codeAnd32RRJ, true}, codeAnd32RIF: {codeAnd32RIJ, true}, codeAnd64RRF: {codeAnd64RRJ, true}, codeAnd64RIF: {codeAnd64RIJ, true},
	codeAdd32RRF: {codeAdd32RRJ, false}, codeAdd32RIF: {codeAdd32RIJ, false}, codeAdd64RRF: {codeAdd64RRJ, false}, codeAdd64RIF: {codeAdd64RIJ, false},
	codeIncF32: {codeInc32J, false}, codeIncF64: {codeInc64J, false}, codeDecF32: {codeDec32J, false}, codeDecF64: {codeDec64J, false},
}

// fuse lets op do the conditional jump j after it as well.
func fuse(op, j *Op) {
	if j.code != codeJcc {
		return
	}
	fu, ok := fusions[op.code]
	if !ok || op.code == codeCall {
		return
	}
	switch cc := j.aux &^ 1; {
	case cc == ccO || cc == ccP:
	case fu.all || cc == ccE || cc == ccS:
		op.code = fu.code
	}
}
