package x86

var _ = register(rowsX87)

// rowsX87 are the x87 instructions (SDM volume 2, by opcode). Operands that
// move with the stack are covered by "fpu". Aliases that the manual doesn't
// document but processors execute are marked so.
var rowsX87 = []row{
	{enc: "9B", mnem: "fwait", args: "| fpu:r", fn: execFWAIT},

	// D8: arithmetic with a single, or into ST(0).
	{enc: "D8 /0", mnem: "fadd", args: "m32:r | fpu:rw", fn: x87ArithMem(fpAdd, loadF32)},
	{enc: "D8 /1", mnem: "fmul", args: "m32:r | fpu:rw", fn: x87ArithMem(fpMul, loadF32)},
	{enc: "D8 /2", mnem: "fcom", args: "m32:r | fpu:rw", fn: x87CompareMem(loadF32, 0)},
	{enc: "D8 /3", mnem: "fcomp", args: "m32:r | fpu:rw", fn: x87CompareMem(loadF32, 1)},
	{enc: "D8 /4", mnem: "fsub", args: "m32:r | fpu:rw", fn: x87ArithMem(fpSub, loadF32)},
	{enc: "D8 /5", mnem: "fsubr", args: "m32:r | fpu:rw", fn: x87ArithMem(fpSubR, loadF32)},
	{enc: "D8 /6", mnem: "fdiv", args: "m32:r | fpu:rw", fn: x87ArithMem(fpDiv, loadF32)},
	{enc: "D8 /7", mnem: "fdivr", args: "m32:r | fpu:rw", fn: x87ArithMem(fpDivR, loadF32)},
	{enc: "D8 C0+i", mnem: "fadd", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpAdd)},
	{enc: "D8 C8+i", mnem: "fmul", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpMul)},
	{enc: "D8 D0+i", mnem: "fcom", args: "st(i):r | fpu:rw", fn: x87Compare(false, 0)},
	{enc: "D8 D8+i", mnem: "fcomp", args: "st(i):r | fpu:rw", fn: x87Compare(false, 1)},
	{enc: "D8 E0+i", mnem: "fsub", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpSub)},
	{enc: "D8 E8+i", mnem: "fsubr", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpSubR)},
	{enc: "D8 F0+i", mnem: "fdiv", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpDiv)},
	{enc: "D8 F8+i", mnem: "fdivr", args: "st0:rw st(i):r | fpu:rw", fn: x87ArithST0(fpDivR)},

	// D9: singles, control, constants, functions.
	{enc: "D9 /0", mnem: "fld", args: "m32:r | fpu:rw", fn: x87Load(loadF32)},
	{enc: "D9 /2", mnem: "fst", args: "m32:w | fpu:rw", fn: x87Store(storeF32, 0)},
	{enc: "D9 /3", mnem: "fstp", args: "m32:w | fpu:rw", fn: x87Store(storeF32, 1)},
	{enc: "D9 /4", mnem: "fldenv", args: "m224:r | fpu:w", build: envBuild(execFLDENV)},
	{enc: "D9 /5", mnem: "fldcw", args: "m16:r | fpu:rw", fn: execFLDCW},
	{enc: "D9 /6", mnem: "fnstenv", args: "m224:w | fpu:rw", build: envBuild(execFNSTENV)},
	{enc: "D9 /7", mnem: "fnstcw", args: "m16:w | fpu:r", fn: execFNSTCW},
	{enc: "D9 C0+i", mnem: "fld", args: "st(i):r | fpu:rw", fn: execFLDSTi},
	{enc: "D9 C8+i", mnem: "fxch", args: "st(i):rw | fpu:rw", fn: execFXCH},
	{enc: "D9 D0", mnem: "fnop", args: "| fpu:r", fn: execFNOP},
	{enc: "D9 E0", mnem: "fchs", args: "| fpu:rw", fn: execFCHS},
	{enc: "D9 E1", mnem: "fabs", args: "| fpu:rw", fn: execFABS},
	{enc: "D9 E4", mnem: "ftst", args: "| fpu:rw", fn: execFTST},
	{enc: "D9 E5", mnem: "fxam", args: "| fpu:rw", fn: execFXAM},
	{enc: "D9 E8", mnem: "fld1", args: "| fpu:rw", fn: x87Const(fpOne, 0)},
	{enc: "D9 E9", mnem: "fldl2t", args: "| fpu:rw", fn: x87Const(Float80{0xd49a784bcd1b8afe, bias80 + 1}, 0x492bf6ff4dafdb4c)},
	{enc: "D9 EA", mnem: "fldl2e", args: "| fpu:rw", fn: x87Const(Float80{0xb8aa3b295c17f0bb, bias80}, 0xbe87fed0691d3e88)},
	{enc: "D9 EB", mnem: "fldpi", args: "| fpu:rw", fn: x87Const(Float80{0xc90fdaa22168c234, bias80 + 1}, 0xc4c6628b80dc1cd1)},
	{enc: "D9 EC", mnem: "fldlg2", args: "| fpu:rw", fn: x87Const(Float80{0x9a209a84fbcff798, bias80 - 2}, 0x8f8959ac0b7c9178)},
	{enc: "D9 ED", mnem: "fldln2", args: "| fpu:rw", fn: x87Const(Float80{0xb17217f7d1cf79ab, bias80 - 1}, 0xc9e3b39803f2f6af)},
	{enc: "D9 EE", mnem: "fldz", args: "| fpu:rw", fn: x87Const(Float80{}, 0)},
	{enc: "D9 F0", mnem: "f2xm1", args: "| fpu:rw", fn: x87Unary((*fpEnv).f2xm1)},
	{enc: "D9 F1", mnem: "fyl2x", args: "| fpu:rw", fn: x87Binary2((*fpEnv).yl2x)},
	{enc: "D9 F2", mnem: "fptan", args: "| fpu:rw", fn: x87TrigPush((*fpEnv).tan)},
	{enc: "D9 F3", mnem: "fpatan", args: "| fpu:rw", fn: x87Binary2((*fpEnv).patan)},
	{enc: "D9 F4", mnem: "fxtract", args: "| fpu:rw", fn: execFXTRACT},
	{enc: "D9 F5", mnem: "fprem1", args: "| fpu:rw", fn: x87Rem(true)},
	{enc: "D9 F6", mnem: "fdecstp", args: "| fpu:rw", fn: execFDECSTP},
	{enc: "D9 F7", mnem: "fincstp", args: "| fpu:rw", fn: execFINCSTP},
	{enc: "D9 F8", mnem: "fprem", args: "| fpu:rw", fn: x87Rem(false)},
	{enc: "D9 F9", mnem: "fyl2xp1", args: "| fpu:rw", fn: x87Binary2((*fpEnv).yl2xp1)},
	{enc: "D9 FA", mnem: "fsqrt", args: "| fpu:rw", fn: x87Unary((*fpEnv).sqrt)},
	{enc: "D9 FB", mnem: "fsincos", args: "| fpu:rw", fn: x87TrigPush((*fpEnv).sincos)},
	{enc: "D9 FC", mnem: "frndint", args: "| fpu:rw", fn: x87Unary((*fpEnv).roundInt)},
	{enc: "D9 FD", mnem: "fscale", args: "| fpu:rw", fn: execFSCALE},
	{enc: "D9 FE", mnem: "fsin", args: "| fpu:rw", fn: x87Trig((*fpEnv).sin)},
	{enc: "D9 FF", mnem: "fcos", args: "| fpu:rw", fn: x87Trig((*fpEnv).cos)},

	// DA: arithmetic with a doubleword integer, conditional moves.
	{enc: "DA /0", mnem: "fiadd", args: "m32:r | fpu:rw", fn: x87ArithMem(fpAdd, loadI32)},
	{enc: "DA /1", mnem: "fimul", args: "m32:r | fpu:rw", fn: x87ArithMem(fpMul, loadI32)},
	{enc: "DA /2", mnem: "ficom", args: "m32:r | fpu:rw", fn: x87CompareMem(loadI32, 0)},
	{enc: "DA /3", mnem: "ficomp", args: "m32:r | fpu:rw", fn: x87CompareMem(loadI32, 1)},
	{enc: "DA /4", mnem: "fisub", args: "m32:r | fpu:rw", fn: x87ArithMem(fpSub, loadI32)},
	{enc: "DA /5", mnem: "fisubr", args: "m32:r | fpu:rw", fn: x87ArithMem(fpSubR, loadI32)},
	{enc: "DA /6", mnem: "fidiv", args: "m32:r | fpu:rw", fn: x87ArithMem(fpDiv, loadI32)},
	{enc: "DA /7", mnem: "fidivr", args: "m32:r | fpu:rw", fn: x87ArithMem(fpDivR, loadI32)},
	{enc: "DA C0+i", mnem: "fcmovb", args: "st(i):r | fpu:rw", flags: "r:c", fn: x87Cmov(ccB)},
	{enc: "DA C8+i", mnem: "fcmove", args: "st(i):r | fpu:rw", flags: "r:z", fn: x87Cmov(ccE)},
	{enc: "DA D0+i", mnem: "fcmovbe", args: "st(i):r | fpu:rw", flags: "r:cz", fn: x87Cmov(ccBE)},
	{enc: "DA D8+i", mnem: "fcmovu", args: "st(i):r | fpu:rw", flags: "r:p", fn: x87Cmov(ccP)},
	{enc: "DA E9", mnem: "fucompp", args: "| fpu:rw", fn: x87ComparePP(true)},

	// DB: doubleword integers, register format, conditional moves.
	{enc: "DB /0", mnem: "fild", args: "m32:r | fpu:rw", fn: x87Load(loadI32)},
	{enc: "DB /1", mnem: "fisttp", args: "m32:w | fpu:rw", fn: x87Store(storeInt(true), 1), cpu: "sse3"},
	{enc: "DB /2", mnem: "fist", args: "m32:w | fpu:rw", fn: x87Store(storeInt(false), 0)},
	{enc: "DB /3", mnem: "fistp", args: "m32:w | fpu:rw", fn: x87Store(storeInt(false), 1)},
	{enc: "DB /5", mnem: "fld", args: "m80:r | fpu:rw", fn: execFLD80},
	{enc: "DB /7", mnem: "fstp", args: "m80:w | fpu:rw", fn: x87Store(storeF80, 1)},
	{enc: "DB C0+i", mnem: "fcmovnb", args: "st(i):r | fpu:rw", flags: "r:c", fn: x87Cmov(ccB | 1)},
	{enc: "DB C8+i", mnem: "fcmovne", args: "st(i):r | fpu:rw", flags: "r:z", fn: x87Cmov(ccE | 1)},
	{enc: "DB D0+i", mnem: "fcmovnbe", args: "st(i):r | fpu:rw", flags: "r:cz", fn: x87Cmov(ccBE | 1)},
	{enc: "DB D8+i", mnem: "fcmovnu", args: "st(i):r | fpu:rw", flags: "r:p", fn: x87Cmov(ccP | 1)},
	{enc: "DB E0", mnem: "fneni", args: "| fpu:r", fn: exec8087}, // 8087; does nothing
	{enc: "DB E1", mnem: "fndisi", args: "| fpu:r", fn: exec8087},
	{enc: "DB E2", mnem: "fnclex", args: "| fpu:rw", fn: execFNCLEX},
	{enc: "DB E3", mnem: "fninit", args: "| fpu:w", fn: execFNINIT},
	{enc: "DB E4", mnem: "fnsetpm", args: "| fpu:r", fn: exec8087}, // 80287; does nothing
	{enc: "DB E8+i", mnem: "fucomi", args: "st(i):r | fpu:rw", flags: "w:oszapc", fn: x87CompareFlags(true, 0)},
	{enc: "DB F0+i", mnem: "fcomi", args: "st(i):r | fpu:rw", flags: "w:oszapc", fn: x87CompareFlags(false, 0)},

	// DC: arithmetic with a double, or into ST(i).
	{enc: "DC /0", mnem: "fadd", args: "m64:r | fpu:rw", fn: x87ArithMem(fpAdd, loadF64)},
	{enc: "DC /1", mnem: "fmul", args: "m64:r | fpu:rw", fn: x87ArithMem(fpMul, loadF64)},
	{enc: "DC /2", mnem: "fcom", args: "m64:r | fpu:rw", fn: x87CompareMem(loadF64, 0)},
	{enc: "DC /3", mnem: "fcomp", args: "m64:r | fpu:rw", fn: x87CompareMem(loadF64, 1)},
	{enc: "DC /4", mnem: "fsub", args: "m64:r | fpu:rw", fn: x87ArithMem(fpSub, loadF64)},
	{enc: "DC /5", mnem: "fsubr", args: "m64:r | fpu:rw", fn: x87ArithMem(fpSubR, loadF64)},
	{enc: "DC /6", mnem: "fdiv", args: "m64:r | fpu:rw", fn: x87ArithMem(fpDiv, loadF64)},
	{enc: "DC /7", mnem: "fdivr", args: "m64:r | fpu:rw", fn: x87ArithMem(fpDivR, loadF64)},
	{enc: "DC C0+i", mnem: "fadd", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpAdd, 0)},
	{enc: "DC C8+i", mnem: "fmul", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpMul, 0)},
	{enc: "DC D0+i", mnem: "fcom", args: "st(i):r | fpu:rw", fn: x87Compare(false, 0)},  // undocumented alias
	{enc: "DC D8+i", mnem: "fcomp", args: "st(i):r | fpu:rw", fn: x87Compare(false, 1)}, // undocumented alias
	{enc: "DC E0+i", mnem: "fsubr", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpSubR, 0)},
	{enc: "DC E8+i", mnem: "fsub", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpSub, 0)},
	{enc: "DC F0+i", mnem: "fdivr", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpDivR, 0)},
	{enc: "DC F8+i", mnem: "fdiv", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpDiv, 0)},

	// DD: doubles, whole state, status.
	{enc: "DD /0", mnem: "fld", args: "m64:r | fpu:rw", fn: x87Load(loadF64)},
	{enc: "DD /1", mnem: "fisttp", args: "m64:w | fpu:rw", fn: x87Store(storeInt(true), 1), cpu: "sse3"},
	{enc: "DD /2", mnem: "fst", args: "m64:w | fpu:rw", fn: x87Store(storeF64, 0)},
	{enc: "DD /3", mnem: "fstp", args: "m64:w | fpu:rw", fn: x87Store(storeF64, 1)},
	{enc: "DD /4", mnem: "frstor", args: "m864:r | fpu:w", build: envBuild(execFRSTOR)},
	{enc: "DD /6", mnem: "fnsave", args: "m864:w | fpu:rw", build: envBuild(execFNSAVE)},
	{enc: "DD /7", mnem: "fnstsw", args: "m16:w | fpu:r", fn: execFNSTSW},
	{enc: "DD C0+i", mnem: "ffree", args: "st(i):- | fpu:rw", fn: x87Free(0)},
	{enc: "DD C8+i", mnem: "fxch", args: "st(i):rw | fpu:rw", fn: execFXCH}, // undocumented alias
	{enc: "DD D0+i", mnem: "fst", args: "st(i):w | fpu:rw", fn: x87StoreSTi(0)},
	{enc: "DD D8+i", mnem: "fstp", args: "st(i):w | fpu:rw", fn: x87StoreSTi(1)},
	{enc: "DD E0+i", mnem: "fucom", args: "st(i):r | fpu:rw", fn: x87Compare(true, 0)},
	{enc: "DD E8+i", mnem: "fucomp", args: "st(i):r | fpu:rw", fn: x87Compare(true, 1)},

	// DE: arithmetic with a word integer, or into ST(i) with a pop.
	{enc: "DE /0", mnem: "fiadd", args: "m16:r | fpu:rw", fn: x87ArithMem(fpAdd, loadI16)},
	{enc: "DE /1", mnem: "fimul", args: "m16:r | fpu:rw", fn: x87ArithMem(fpMul, loadI16)},
	{enc: "DE /2", mnem: "ficom", args: "m16:r | fpu:rw", fn: x87CompareMem(loadI16, 0)},
	{enc: "DE /3", mnem: "ficomp", args: "m16:r | fpu:rw", fn: x87CompareMem(loadI16, 1)},
	{enc: "DE /4", mnem: "fisub", args: "m16:r | fpu:rw", fn: x87ArithMem(fpSub, loadI16)},
	{enc: "DE /5", mnem: "fisubr", args: "m16:r | fpu:rw", fn: x87ArithMem(fpSubR, loadI16)},
	{enc: "DE /6", mnem: "fidiv", args: "m16:r | fpu:rw", fn: x87ArithMem(fpDiv, loadI16)},
	{enc: "DE /7", mnem: "fidivr", args: "m16:r | fpu:rw", fn: x87ArithMem(fpDivR, loadI16)},
	{enc: "DE C0+i", mnem: "faddp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpAdd, 1)},
	{enc: "DE C8+i", mnem: "fmulp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpMul, 1)},
	{enc: "DE D0+i", mnem: "fcomp", args: "st(i):r | fpu:rw", fn: x87Compare(false, 1)}, // undocumented alias
	{enc: "DE D9", mnem: "fcompp", args: "| fpu:rw", fn: x87ComparePP(false)},
	{enc: "DE E0+i", mnem: "fsubrp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpSubR, 1)},
	{enc: "DE E8+i", mnem: "fsubp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpSub, 1)},
	{enc: "DE F0+i", mnem: "fdivrp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpDivR, 1)},
	{enc: "DE F8+i", mnem: "fdivp", args: "st(i):rw st0:r | fpu:rw", fn: x87ArithSTi(fpDiv, 1)},

	// DF: word and quadword integers, decimals.
	{enc: "DF /0", mnem: "fild", args: "m16:r | fpu:rw", fn: x87Load(loadI16)},
	{enc: "DF /1", mnem: "fisttp", args: "m16:w | fpu:rw", fn: x87Store(storeInt(true), 1), cpu: "sse3"},
	{enc: "DF /2", mnem: "fist", args: "m16:w | fpu:rw", fn: x87Store(storeInt(false), 0)},
	{enc: "DF /3", mnem: "fistp", args: "m16:w | fpu:rw", fn: x87Store(storeInt(false), 1)},
	{enc: "DF /4", mnem: "fbld", args: "m80:r | fpu:rw", fn: execFBLD},
	{enc: "DF /5", mnem: "fild", args: "m64:r | fpu:rw", fn: x87Load(loadI64)},
	{enc: "DF /6", mnem: "fbstp", args: "m80:w | fpu:rw", fn: x87Store(storeBCD, 1)},
	{enc: "DF /7", mnem: "fistp", args: "m64:w | fpu:rw", fn: x87Store(storeInt(false), 1)},
	{enc: "DF C0+i", mnem: "ffreep", args: "st(i):- | fpu:rw", fn: x87Free(1)},   // undocumented
	{enc: "DF C8+i", mnem: "fxch", args: "st(i):rw | fpu:rw", fn: execFXCH},      // undocumented alias
	{enc: "DF D0+i", mnem: "fstp", args: "st(i):w | fpu:rw", fn: x87StoreSTi(1)}, // undocumented alias
	{enc: "DF D8+i", mnem: "fstp", args: "st(i):w | fpu:rw", fn: x87StoreSTi(1)}, // undocumented alias
	{enc: "DF E0", mnem: "fnstsw", args: "ax:w | fpu:r", fn: execFNSTSWAX},
	{enc: "DF E8+i", mnem: "fucomip", args: "st(i):r | fpu:rw", flags: "w:oszapc", fn: x87CompareFlags(true, 1)},
	{enc: "DF F0+i", mnem: "fcomip", args: "st(i):r | fpu:rw", flags: "w:oszapc", fn: x87CompareFlags(false, 1)},
}
