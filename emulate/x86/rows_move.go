package x86

// Data movement (SDM volume 1, 7.3.1) and string instructions (7.3.9).

var _ = register([]row{
	{enc: "88 /r", mnem: "mov", args: "rm8:w r8:r", fn: execMovMR},
	{enc: "89 /r", mnem: "mov", args: "rmv:w rv:r", fn: execMovMR},
	{enc: "8A /r", mnem: "mov", args: "r8:w rm8:r", fn: execMovRM},
	{enc: "8B /r", mnem: "mov", args: "rv:w rmv:r", fn: execMovRM},
	{enc: "C6 /0 ib", mnem: "mov", args: "rm8:w imm:r", fn: execMovMI},
	{enc: "C7 /0 iz", mnem: "mov", args: "rmv:w imm:r", fn: execMovMI},
	{enc: "B0 +r ib", mnem: "mov", args: "o8:w imm:r", fn: execMovOI},
	{enc: "B8 +r iz", mnem: "mov", args: "ov:w imm:r", fn: execMovOI},
	{enc: "REX.W B8 +r io", mnem: "mov", args: "ov:w imm:r", fn: execMovOI},
	{enc: "A0 mo", mnem: "mov", args: "al:w moffs8:r", fn: execMovRM, build: moffs},
	{enc: "A1 mo", mnem: "mov", args: "av:w moffs:r", fn: execMovRM, build: moffs},
	{enc: "A2 mo", mnem: "mov", args: "moffs8:w al:r", fn: execMovMR, build: moffs},
	{enc: "A3 mo", mnem: "mov", args: "moffs:w av:r", fn: execMovMR, build: moffs},
	// Segment registers hold what Linux gives a 64-bit program and can't be changed.
	{enc: "8C /r", mnem: "mov", args: "rmv:w sreg:r", fn: execMovFromSreg},

	{enc: "0F B6 /r", mnem: "movzx", args: "rv:w rm8:r", fn: movExtend(1, false)},
	{enc: "0F B7 /r", mnem: "movzx", args: "rv:w rm16:r", fn: movExtend(2, false)},
	{enc: "0F BE /r", mnem: "movsx", args: "rv:w rm8:r", fn: movExtend(1, true)},
	{enc: "0F BF /r", mnem: "movsx", args: "rv:w rm16:r", fn: movExtend(2, true)},
	{enc: "REX.W 63 /r", mnem: "movsxd", args: "rv:w rm32:r", fn: movExtend(4, true)},
	{enc: "63 /r", mnem: "movsxd", args: "rv:w rmv:r", fn: execMovRM},
	{enc: "NP 0F 38 F0 /r", mnem: "movbe", args: "rv:w mv:r", fn: execMovbeLoad, cpu: "movbe"},
	{enc: "66 0F 38 F0 /r", mnem: "movbe", args: "rv:w mv:r", fn: execMovbeLoad, cpu: "movbe"},
	{enc: "NP 0F 38 F1 /r", mnem: "movbe", args: "mv:w rv:r", fn: execMovbeStore, cpu: "movbe"},
	{enc: "66 0F 38 F1 /r", mnem: "movbe", args: "mv:w rv:r", fn: execMovbeStore, cpu: "movbe"},

	{enc: "8D /r", mnem: "lea", args: "rv:w m:-", fn: execLea},
	{enc: "86 /r", mnem: "xchg", args: "rm8:rw r8:rw", fn: execXchg},
	{enc: "87 /r", mnem: "xchg", args: "rmv:rw rv:rw", fn: execXchg},
	{enc: "90", mnem: "nop", fn: execNop, build: nopOrXchg},
	{enc: "F3 90", mnem: "pause", fn: execNop},
	{enc: "91", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "92", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "93", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "94", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "95", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "96", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},
	{enc: "97", mnem: "xchg", args: "av:rw ov:rw", fn: execXchgAcc},

	{enc: "50 +r", mnem: "push", args: "od:r | pushd:w rsp:rw", fn: execPushO},
	{enc: "FF /6", mnem: "push", args: "rmd:r | pushd:w rsp:rw", fn: execPushM},
	{enc: "68 iz", mnem: "push", args: "imm:r | pushd:w rsp:rw", fn: execPushI},
	{enc: "6A ib", mnem: "push", args: "imm:r | pushd:w rsp:rw", fn: execPushI},
	{enc: "58 +r", mnem: "pop", args: "od:w | popd:r rsp:rw", fn: execPopO},
	{enc: "8F /0", mnem: "pop", args: "rmd:w | popd:r rsp:rw", fn: execPopM},
	{enc: "9C", mnem: "pushf", args: "| pushd:w rsp:rw", flags: "r:oszapcdAI", fn: execPushf},
	{enc: "9D", mnem: "popf", args: "| popd:r rsp:rw", flags: "w:oszapcdAI", fn: execPopf},
	{enc: "0F A0", mnem: "push", args: "| pushd:w rsp:rw", fn: execPushSreg}, // FS
	{enc: "0F A8", mnem: "push", args: "| pushd:w rsp:rw", fn: execPushSreg}, // GS
	{enc: "C8 iw ib", mnem: "enter", args: "imm:r | pushd:w rsp:rw rbp:rw", fn: execEnter},
	{enc: "C9", mnem: "leave", args: "| rsp:rw rbp:rw popd:r", fn: execLeave},

	{enc: "A4", mnem: "movs", args: "| di8:w si8:r rsi:rw rdi:rw rcx:rw", flags: "r:d", fn: execMovs},
	{enc: "A5", mnem: "movs", args: "| div:w siv:r rsi:rw rdi:rw rcx:rw", flags: "r:d", fn: execMovs},
	{enc: "A6", mnem: "cmps", args: "| si8:r di8:r rsi:rw rdi:rw rcx:rw", flags: "r:doszapc w:oszapc", fn: execCmps},
	{enc: "A7", mnem: "cmps", args: "| siv:r div:r rsi:rw rdi:rw rcx:rw", flags: "r:doszapc w:oszapc", fn: execCmps},
	{enc: "AA", mnem: "stos", args: "| di8:w al:r rdi:rw rcx:rw", flags: "r:d", fn: execStos},
	{enc: "AB", mnem: "stos", args: "| div:w av:r rdi:rw rcx:rw", flags: "r:d", fn: execStos},
	{enc: "AC", mnem: "lods", args: "| al:w si8:r rsi:rw rcx:rw", flags: "r:d", fn: execLods},
	{enc: "AD", mnem: "lods", args: "| av:w siv:r rsi:rw rcx:rw", flags: "r:d", fn: execLods},
	{enc: "AE", mnem: "scas", args: "| al:r di8:r rdi:rw rcx:rw", flags: "r:doszapc w:oszapc", fn: execScas},
	{enc: "AF", mnem: "scas", args: "| av:r div:r rdi:rw rcx:rw", flags: "r:doszapc w:oszapc", fn: execScas},
	{enc: "D7", mnem: "xlat", args: "| al:rw rbx:r", fn: execXlat},
})

var _ = register(rowsCond())

// rowsCond has CMOVcc and SETcc; the condition goes to Op.aux.
func rowsCond() []row {
	var rows []row
	for cc := range uint8(16) {
		flags := "r:" + condReads[cc>>1]
		set := func(_ *inst, op *Op) { op.aux = cc }
		rows = append(rows,
			row{enc: "0F " + hex2(0x40+cc) + " /r", mnem: "cmov" + condNames[cc], args: "rv:rw rmv:r", flags: flags, fn: execCmov, build: set},
			row{enc: "0F " + hex2(0x90+cc) + " /r", mnem: "set" + condNames[cc], args: "rm8:w", flags: flags, fn: execSetcc, build: set},
		)
	}
	return rows
}

// condReads gives the flags that each pair of conditions reads.
var condReads = [8]string{"o", "c", "z", "cz", "s", "p", "so", "zso"}

var condNames = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

func moffs(d *inst, op *Op) { op.dst = RAX }

// nopOrXchg: 90 with REX.B is XCHG R8, RAX.
func nopOrXchg(d *inst, op *Op) {
	if d.rex&1 != 0 {
		op.dst, op.fn, op.size = R8, execXchgAcc, d.opSize()
	}
}
