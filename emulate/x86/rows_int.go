package x86

// Integer arithmetic, logic, shifts and bit operations (SDM volume 1, 7.3.2 to
// 7.3.6). Flags that the manual leaves undefined are marked u; the handlers do
// what Intel processors do.

const (
	fArith = "w:oszapc"
	fLogic = "w:oszpc u:a"
)

var _ = register(rowsALU())

// rowsALU has the eight operations that share their encodings: opcode
// 8*k + 0..5, and the immediate group 80, 81, 83 with digit k.
func rowsALU() []row {
	var rows []row
	for k := range uint8(8) {
		name := [...]string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"}[k]
		flags := [...]string{fArith, fLogic, "r:c " + fArith, "r:c " + fArith, fLogic, fArith, fLogic, fArith}[k]
		act := ":rw "
		if k == aluCmp {
			act = ":r "
		}
		enc := func(o uint8) string { return hex2(8*k + o) }
		digit := " /" + string('0'+rune(k))
		rows = append(rows,
			row{enc: enc(0) + " /r", mnem: name, args: "rm8" + act + "r8:r", flags: flags, fn: aluMR(k)},
			row{enc: enc(1) + " /r", mnem: name, args: "rmv" + act + "rv:r", flags: flags, fn: aluMR(k)},
			row{enc: enc(2) + " /r", mnem: name, args: "r8" + act + "rm8:r", flags: flags, fn: aluRM(k)},
			row{enc: enc(3) + " /r", mnem: name, args: "rv" + act + "rmv:r", flags: flags, fn: aluRM(k)},
			row{enc: enc(4) + " ib", mnem: name, args: "al" + act + "imm:r", flags: flags, fn: aluMI(k), build: accumulator},
			row{enc: enc(5) + " iz", mnem: name, args: "av" + act + "imm:r", flags: flags, fn: aluMI(k), build: accumulator},
			row{enc: "80" + digit + " ib", mnem: name, args: "rm8" + act + "imm:r", flags: flags, fn: aluMI(k)},
			row{enc: "81" + digit + " iz", mnem: name, args: "rmv" + act + "imm:r", flags: flags, fn: aluMI(k)},
			row{enc: "83" + digit + " ib", mnem: name, args: "rmv" + act + "imm:r", flags: flags, fn: aluMI(k)},
		)
	}
	return rows
}

func hex2(b uint8) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// accumulator lets forms with a fixed AL, AX, EAX or RAX use the handler of
// their ModRM form.
func accumulator(_ *inst, op *Op) { op.src = RAX }

var _ = register([]row{
	{enc: "84 /r", mnem: "test", args: "rm8:r r8:r", flags: fLogic, fn: execTestMR},
	{enc: "85 /r", mnem: "test", args: "rmv:r rv:r", flags: fLogic, fn: execTestMR},
	{enc: "A8 ib", mnem: "test", args: "al:r imm:r", flags: fLogic, fn: execTestMI, build: accumulator},
	{enc: "A9 iz", mnem: "test", args: "av:r imm:r", flags: fLogic, fn: execTestMI, build: accumulator},
	{enc: "F6 /0 ib", mnem: "test", args: "rm8:r imm:r", flags: fLogic, fn: execTestMI},
	{enc: "F7 /0 iz", mnem: "test", args: "rmv:r imm:r", flags: fLogic, fn: execTestMI},
	{enc: "F6 /1 ib", mnem: "test", args: "rm8:r imm:r", flags: fLogic, fn: execTestMI}, // undocumented alias
	{enc: "F7 /1 iz", mnem: "test", args: "rmv:r imm:r", flags: fLogic, fn: execTestMI},
	{enc: "F6 /2", mnem: "not", args: "rm8:rw", fn: execNot},
	{enc: "F7 /2", mnem: "not", args: "rmv:rw", fn: execNot},
	{enc: "F6 /3", mnem: "neg", args: "rm8:rw", flags: fArith, fn: execNeg},
	{enc: "F7 /3", mnem: "neg", args: "rmv:rw", flags: fArith, fn: execNeg},
	{enc: "FE /0", mnem: "inc", args: "rm8:rw", flags: "w:oszap", fn: execInc},
	{enc: "FF /0", mnem: "inc", args: "rmv:rw", flags: "w:oszap", fn: execInc},
	{enc: "FE /1", mnem: "dec", args: "rm8:rw", flags: "w:oszap", fn: execDec},
	{enc: "FF /1", mnem: "dec", args: "rmv:rw", flags: "w:oszap", fn: execDec},

	{enc: "F6 /4", mnem: "mul", args: "rm8:r | ax:w al:r", flags: "w:oc u:szap", fn: execMul},
	{enc: "F7 /4", mnem: "mul", args: "rmv:r | av:rw dv:w", flags: "w:oc u:szap", fn: execMul},
	{enc: "F6 /5", mnem: "imul", args: "rm8:r | ax:w al:r", flags: "w:oc u:szap", fn: execIMul1},
	{enc: "F7 /5", mnem: "imul", args: "rmv:r | av:rw dv:w", flags: "w:oc u:szap", fn: execIMul1},
	{enc: "0F AF /r", mnem: "imul", args: "rv:rw rmv:r", flags: "w:oc u:szap", fn: execIMul2},
	{enc: "69 /r iz", mnem: "imul", args: "rv:w rmv:r imm:r", flags: "w:oc u:szap", fn: execIMul3},
	{enc: "6B /r ib", mnem: "imul", args: "rv:w rmv:r imm:r", flags: "w:oc u:szap", fn: execIMul3},
	{enc: "F6 /6", mnem: "div", args: "rm8:r | ax:rw", flags: "u:oszapc", fn: execDiv},
	{enc: "F7 /6", mnem: "div", args: "rmv:r | av:rw dv:rw", flags: "u:oszapc", fn: execDiv},
	{enc: "F6 /7", mnem: "idiv", args: "rm8:r | ax:rw", flags: "u:oszapc", fn: execIDiv},
	{enc: "F7 /7", mnem: "idiv", args: "rmv:r | av:rw dv:rw", flags: "u:oszapc", fn: execIDiv},

	{enc: "98", mnem: "cbw", args: "av:rw", fn: execCBW},
	{enc: "99", mnem: "cwd", args: "dv:w av:r", fn: execCWD},

	{enc: "0F A3 /r", mnem: "bt", args: "rmv:r rv:r", flags: "w:c u:osap", fn: bitTest(btTest)},
	{enc: "0F AB /r", mnem: "bts", args: "rmv:rw rv:r", flags: "w:c u:osap", fn: bitTest(btSet)},
	{enc: "0F B3 /r", mnem: "btr", args: "rmv:rw rv:r", flags: "w:c u:osap", fn: bitTest(btReset)},
	{enc: "0F BB /r", mnem: "btc", args: "rmv:rw rv:r", flags: "w:c u:osap", fn: bitTest(btFlip)},
	{enc: "0F BA /4 ib", mnem: "bt", args: "rmv:r imm:r", flags: "w:c u:osap", fn: bitTestImm(btTest)},
	{enc: "0F BA /5 ib", mnem: "bts", args: "rmv:rw imm:r", flags: "w:c u:osap", fn: bitTestImm(btSet)},
	{enc: "0F BA /6 ib", mnem: "btr", args: "rmv:rw imm:r", flags: "w:c u:osap", fn: bitTestImm(btReset)},
	{enc: "0F BA /7 ib", mnem: "btc", args: "rmv:rw imm:r", flags: "w:c u:osap", fn: bitTestImm(btFlip)},
	// F3 0F BC and F3 0F BD (TZCNT, LZCNT) are BSF and BSR on processors
	// without BMI1 and LZCNT, such as this one.
	{enc: "0F BC /r", mnem: "bsf", args: "rv:rw rmv:r", flags: "w:z u:osapc", fn: execBSF},
	{enc: "0F BD /r", mnem: "bsr", args: "rv:rw rmv:r", flags: "w:z u:osapc", fn: execBSR},
	{enc: "F3 0F B8 /r", mnem: "popcnt", args: "rv:w rmv:r", flags: fArith, fn: execPopcnt, cpu: "popcnt"},
	{enc: "F2 0F 38 F0 /r", mnem: "crc32", args: "ry:rw rm8:r", fn: crc32Of(1), cpu: "sse42"},
	{enc: "F2 0F 38 F1 /r", mnem: "crc32", args: "ry:rw rmv:r", fn: execCRC32v, cpu: "sse42"},
	{enc: "0F C8 +r", mnem: "bswap", args: "oy:rw", fn: execBswap, build: bswapSize},

	{enc: "0F A4 /r ib", mnem: "shld", args: "rmv:rw rv:r imm:r", flags: "w:oszpc u:a", fn: shiftDouble(true, false)},
	{enc: "0F A5 /r", mnem: "shld", args: "rmv:rw rv:r | cl:r", flags: "r:oszapc w:oszpc u:a", fn: shiftDouble(true, true)},
	{enc: "0F AC /r ib", mnem: "shrd", args: "rmv:rw rv:r imm:r", flags: "w:oszpc u:a", fn: shiftDouble(false, false)},
	{enc: "0F AD /r", mnem: "shrd", args: "rmv:rw rv:r | cl:r", flags: "r:oszapc w:oszpc u:a", fn: shiftDouble(false, true)},

	{enc: "0F C0 /r", mnem: "xadd", args: "rm8:rw r8:rw", flags: fArith, fn: execXadd},
	{enc: "0F C1 /r", mnem: "xadd", args: "rmv:rw rv:rw", flags: fArith, fn: execXadd},
	{enc: "0F B0 /r", mnem: "cmpxchg", args: "rm8:rw r8:r | al:rw", flags: fArith, fn: execCmpxchg},
	{enc: "0F B1 /r", mnem: "cmpxchg", args: "rmv:rw rv:r | av:rw", flags: fArith, fn: execCmpxchg},
	{enc: "W0 0F C7 /1", mnem: "cmpxchg8b", args: "m64:rw | eax:rw edx:rw ebx:r ecx:r", flags: "w:z", fn: execCmpxchg8b},
	{enc: "REX.W 0F C7 /1", mnem: "cmpxchg16b", args: "m128:rw | rax:rw rdx:rw rbx:r rcx:r", flags: "w:z", fn: execCmpxchg16b, cpu: "cx16"},

	{enc: "F5", mnem: "cmc", flags: "r:c w:c", fn: execCMC},
	{enc: "F8", mnem: "clc", flags: "w:c", fn: execCLC},
	{enc: "F9", mnem: "stc", flags: "w:c", fn: execSTC},
	{enc: "FC", mnem: "cld", flags: "w:d", fn: execCLD},
	{enc: "FD", mnem: "std", flags: "w:d", fn: execSTD},
	{enc: "9E", mnem: "sahf", args: "| ah:r", flags: "w:szapc", fn: execSAHF},
	{enc: "9F", mnem: "lahf", args: "| ah:w", flags: "r:szapc", fn: execLAHF},
})

var _ = register(rowsShift())

// rowsShift has the shifts and rotates: C0, C1 by an immediate, D0, D1 by one,
// D2, D3 by CL; the digit says which. A count of zero (after masking) leaves
// all flags alone, which is why they are also read.
func rowsShift() []row {
	var rows []row
	for k := range uint8(8) {
		name := [...]string{"rol", "ror", "rcl", "rcr", "shl", "shr", "shl", "sar"}[k]
		flags, read := "w:oc", ""
		if k >= shSHL {
			flags = "w:oszpc u:a"
		}
		if k == shRCL || k == shRCR {
			read = "r:c "
		}
		digit := " /" + string('0'+rune(k))
		rows = append(rows,
			row{enc: "C0" + digit + " ib", mnem: name, args: "rm8:rw imm:r", flags: read + flags, fn: shiftImm(k)},
			row{enc: "C1" + digit + " ib", mnem: name, args: "rmv:rw imm:r", flags: read + flags, fn: shiftImm(k)},
			row{enc: "D0" + digit, mnem: name, args: "rm8:rw", flags: read + flags, fn: shiftImm(k), build: countOne},
			row{enc: "D1" + digit, mnem: name, args: "rmv:rw", flags: read + flags, fn: shiftImm(k), build: countOne},
			row{enc: "D2" + digit, mnem: name, args: "rm8:rw | cl:r", flags: "r:oszapc " + flags, fn: shiftCL(k)},
			row{enc: "D3" + digit, mnem: name, args: "rmv:rw | cl:r", flags: "r:oszapc " + flags, fn: shiftCL(k)},
		)
	}
	return rows
}

func countOne(_ *inst, op *Op) { op.imm = 1 }
