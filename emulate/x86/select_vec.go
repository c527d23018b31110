package x86

// The run loop's cases of vector and BMI instructions.

func init() {
	for _, p := range []string{"", "v"} {
		for _, m := range []string{"movups", "movupd", "movdqu", "lddqu"} {
			pickers[p+m] = pickMovX(false)
		}
		for _, m := range []string{"movaps", "movapd", "movdqa"} {
			pickers[p+m] = pickMovX(true)
		}
		pickers[p+"movsd"], pickers[p+"movq"] = pickMovScalar(8), pickMovScalar(8)
		pickers[p+"movss"], pickers[p+"movd"] = pickMovScalar(4), pickMovScalar(4)
		for m, c := range vecCodes {
			pickers[p+m] = c.pick
		}
	}
	pickers["pmovmskb"] = func(op *Op, f *form) {
		if f.args[1].class == classXMM {
			op.code = codePmovmskb
		}
	}
	pickers["vpmovmskb"] = func(op *Op, f *form) {
		if op.code = codePmovmskb; op.size == 32 {
			op.code = codeVpmovmskb
		}
	}
	pickers["vzeroupper"] = func(op *Op, f *form) { op.code = codeVzeroupper }
	pickers["shlx"] = pickBMI(codeShlx32, codeShlx64, false)
	pickers["shrx"] = pickBMI(codeShrx32, codeShrx64, false)
	pickers["rorx"] = pickBMI(codeRorx32, codeRorx64, false)
	pickers["andn"] = pickBMI(codeAndn32, codeAndn64, true)
	pickers["blsr"] = pickBMI(codeBlsr32, codeBlsr64, true)
	pickers["mulx"] = pickBMI(codeCall, codeMulx64, false)
	pickers["tzcnt"] = func(op *Op, f *form) {
		switch {
		case op.mem():
		case op.attr&attrNF != 0:
			op.code = op.of32(codeTzcnt32, codeTzcnt64)
		default:
			op.code = op.of32(codeTzcnt32F, codeTzcnt64F)
		}
	}
}

// pickBMI is for two registers as sources; flags that are written must be dead.
func pickBMI(a, b uint16, flags bool) func(op *Op, f *form) {
	return func(op *Op, f *form) {
		if !op.mem() && (!flags || op.attr&attrNF != 0) {
			op.code = op.of32(a, b)
		}
	}
}

// A vecCode holds the cases of one operation: of registers and of memory,
// without and with VEX.
type vecCode struct{ x, m, v, w uint16 }

var vecCodes = map[string]vecCode{
	"pxor": {codePxorX, codePxorM, codePxorV, codePxorW}, "xorps": {codePxorX, codePxorM, codePxorV, codePxorW}, "xorpd": {codePxorX, codePxorM, codePxorV, codePxorW},
	"por": {codePorX, codePorM, codePorV, codePorW}, "orps": {codePorX, codePorM, codePorV, codePorW}, "orpd": {codePorX, codePorM, codePorV, codePorW},
	"pand": {codePandX, codePandM, codePandV, codePandW}, "andps": {codePandX, codePandM, codePandV, codePandW}, "andpd": {codePandX, codePandM, codePandV, codePandW},
	"pandn": {codePandnX, codePandnM, codePandnV, codePandnW}, "andnps": {codePandnX, codePandnM, codePandnV, codePandnW}, "andnpd": {codePandnX, codePandnM, codePandnV, codePandnW},
	"pcmpeqb": {codePcmpeqbX, codePcmpeqbM, codePcmpeqbV, codePcmpeqbW}, "pcmpeqd": {codePcmpeqdX, codePcmpeqdM, codePcmpeqdV, codePcmpeqdW},
	"pminub": {codePminubX, codePminubM, codePminubV, codePminubW}, "psubb": {codePsubbX, codePsubbM, codePsubbV, codePsubbW},
	"paddd": {codePadddX, codePadddM, codePadddV, codePadddW}, "paddq": {codePaddqX, codePaddqM, codePaddqV, codePaddqW},
	"addsd": {codeAddsdX, codeAddsdM, codeVAddsdX, codeVAddsdM}, "subsd": {codeSubsdX, codeSubsdM, codeVSubsdX, codeVSubsdM},
	"mulsd": {codeMulsdX, codeMulsdM, codeVMulsdX, codeVMulsdM}, "divsd": {codeDivsdX, codeDivsdM, codeVDivsdX, codeVDivsdM},
}

func (v vecCode) pick(op *Op, f *form) {
	switch {
	case f.args[0].class != classXMM: // MMX
	case f.vex && op.mem():
		op.code = v.w
	case f.vex:
		op.code = v.v
	case op.mem():
		op.code = v.m
	default:
		op.code = v.x
	}
}

func pickMovX(aligned bool) func(op *Op, f *form) {
	return func(op *Op, f *form) {
		// Loads, stores and moves of 16 bytes, with VEX, of 32; each aligned and not.
		codes := [3][2]uint16{{codeLdX, codeLdXa}, {codeStX, codeStXa}, {codeMovX, codeMovX}}
		if f.vex {
			codes[0], codes[2] = [2]uint16{codeLdV, codeLdVa}, [2]uint16{codeMovV, codeMovV}
			if op.size == 32 {
				codes = [3][2]uint16{{codeLdY, codeLdYa}, {codeStY, codeStYa}, {codeMovY, codeMovY}}
			}
		}
		i := 0
		if aligned {
			i = 1
		}
		switch {
		case op.mem() && f.toRM():
			op.code = codes[1][i]
		case op.mem():
			op.code = codes[0][i]
		case !f.toRM():
			op.code = codes[2][0]
		}
	}
}

// pickMovScalar is for MOVSD, MOVSS, MOVQ, MOVD between an XMM register and
// memory, where a load clears the rest of the register.
func pickMovScalar(size uint8) func(op *Op, f *form) {
	return func(op *Op, f *form) {
		if !op.mem() || f.regKind < 0 || f.args[f.regKind].class != classXMM || op.size != size {
			return
		}
		switch {
		case f.toRM():
			op.code = op.of32(codeStXd, codeStXq)
		case f.vex:
			op.code = op.of32(codeLdVd, codeLdVq)
		default:
			op.code = op.of32(codeLdXd, codeLdXq)
		}
	}
}
