package x86

// Control transfer (SDM volume 1, 7.3.8), system and miscellaneous
// instructions (7.3.16 to 7.3.18). Handlers of rows that end a block set RIP.

var _ = register([]row{
	{enc: "E8 cd", mnem: "call", args: "rel:r | push:w rsp:rw", fn: execCallRel, build: ends},
	{enc: "FF /2", mnem: "call", args: "rmd:r | push:w rsp:rw", fn: execCallInd, build: endsNear},
	{enc: "C3", mnem: "ret", args: "| pop:r rsp:rw", fn: execRet, build: ends},
	{enc: "C2 iw", mnem: "ret", args: "imm:r | pop:r rsp:rw", fn: execRet, build: ends},
	{enc: "E9 cd", mnem: "jmp", args: "rel:r", fn: execJmpRel, build: ends},
	{enc: "EB cb", mnem: "jmp", args: "rel:r", fn: execJmpRel, build: ends},
	{enc: "FF /4", mnem: "jmp", args: "rmd:r", fn: execJmpInd, build: endsNear},
	{enc: "E0 cb", mnem: "loopne", args: "rel:r | rcx:rw", flags: "r:z", fn: execLoop, build: loops(loopNE)},
	{enc: "E1 cb", mnem: "loope", args: "rel:r | rcx:rw", flags: "r:z", fn: execLoop, build: loops(loopE)},
	{enc: "E2 cb", mnem: "loop", args: "rel:r | rcx:rw", fn: execLoop, build: loops(loopAny)},
	{enc: "E3 cb", mnem: "jrcxz", args: "rel:r | rcx:r", fn: execJrcxz, build: ends},

	{enc: "0F 05", mnem: "syscall", args: "| rcx:w r11:w", flags: "r:oszapcdAI", fn: execSyscall, build: ends},
	{enc: "CC", mnem: "int3", fn: execInt3, build: ends},
	{enc: "F1", mnem: "int1", fn: execInt1, build: ends},
	{enc: "0F 0B", mnem: "ud2", fn: execUD, build: ends},
	{enc: "0F B9 /r", mnem: "ud1", args: "rv:r rmv:r", fn: execUD, build: ends},
	{enc: "0F FF /r", mnem: "ud0", args: "rv:r rmv:r", fn: execUD, build: ends},

	// Not for user programs: #GP (SDM volume 3, 6.15).
	{enc: "F4", mnem: "hlt", fn: execGP, build: ends},
	{enc: "FA", mnem: "cli", fn: execGP, build: ends},
	{enc: "FB", mnem: "sti", fn: execGP, build: ends},
	{enc: "E4 ib", mnem: "in", args: "al:w imm:r", fn: execGP, build: ends},
	{enc: "E5 ib", mnem: "in", args: "av:w imm:r", fn: execGP, build: ends},
	{enc: "E6 ib", mnem: "out", args: "imm:r al:r", fn: execGP, build: ends},
	{enc: "E7 ib", mnem: "out", args: "imm:r av:r", fn: execGP, build: ends},
	{enc: "EC", mnem: "in", args: "al:w dx:r", fn: execGP, build: ends},
	{enc: "ED", mnem: "in", args: "av:w dx:r", fn: execGP, build: ends},
	{enc: "EE", mnem: "out", args: "dx:r al:r", fn: execGP, build: ends},
	{enc: "EF", mnem: "out", args: "dx:r av:r", fn: execGP, build: ends},
	{enc: "6C", mnem: "ins", args: "| di8:w dx:r", fn: execGP, build: ends},
	{enc: "6D", mnem: "ins", args: "| div:w dx:r", fn: execGP, build: ends},
	{enc: "6E", mnem: "outs", args: "| si8:r dx:r", fn: execGP, build: ends},
	{enc: "6F", mnem: "outs", args: "| siv:r dx:r", fn: execGP, build: ends},
	{enc: "0F 06", mnem: "clts", fn: execGP, build: ends},
	{enc: "0F 08", mnem: "invd", fn: execGP, build: ends},
	{enc: "0F 09", mnem: "wbinvd", fn: execGP, build: ends},
	{enc: "0F 30", mnem: "wrmsr", fn: execGP, build: ends},
	{enc: "0F 32", mnem: "rdmsr", fn: execGP, build: ends},
	{enc: "0F 33", mnem: "rdpmc", fn: execGP, build: ends},

	{enc: "0F A2", mnem: "cpuid", args: "| eax:rw ecx:rw ebx:w edx:w", fn: nondet(CPUID)},
	{enc: "0F 31", mnem: "rdtsc", args: "| eax:w edx:w", fn: nondet(RDTSC)},
	{enc: "0F 01 F9", mnem: "rdtscp", args: "| eax:w edx:w ecx:w", fn: nondet(RDTSCP)},
	{enc: "0F 01 D0", mnem: "xgetbv", args: "| eax:w edx:w ecx:r", fn: execXgetbv, cpu: "xsave"},
	{enc: "0F C7 /6", mnem: "rdrand", args: "rv:w", flags: "w:oszapc", fn: nondetReg(RDRAND), cpu: "rdrand"},
	{enc: "0F C7 /7", mnem: "rdseed", args: "rv:w", flags: "w:oszapc", fn: nondetReg(RDSEED), cpu: "rdseed"},
	{enc: "F3 0F C7 /7", mnem: "rdpid", args: "r64:w", fn: nondetReg(RDPID), cpu: "rdpid"},

	{enc: "0F 0D /r", mnem: "prefetchw", args: "m:-", fn: execNop},
	{enc: "0F 18 /r", mnem: "prefetch", args: "m:-", fn: execNop},
	{enc: "0F 18 /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 19 /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 1A /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 1B /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 1C /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 1D /r", mnem: "nop", args: "rmv:-", fn: execNop},
	{enc: "0F 1E /r", mnem: "nop", args: "rmv:-", fn: execNop}, // RDSSP is one without CET
	{enc: "F3 0F 1E FA", mnem: "endbr64", fn: execNop},
	{enc: "0F 1F /r", mnem: "nop", args: "rmv:-", fn: execNop},

	{enc: "NP 0F AE E8+i", mnem: "lfence", fn: execNop},
	{enc: "NP 0F AE F0+i", mnem: "mfence", fn: execMfence},
	{enc: "NP 0F AE F8+i", mnem: "sfence", fn: execNop},
	{enc: "NP 0F AE /7", mnem: "clflush", args: "m8:r", fn: execClflush},
	{enc: "66 0F AE /7", mnem: "clflushopt", args: "m8:r", fn: execClflush, cpu: "clflushopt"},
	{enc: "66 0F AE /6", mnem: "clwb", args: "m8:r", fn: execClflush, cpu: "clwb"},
	{enc: "F3 0F AE /0", mnem: "rdfsbase", args: "ry:w | fsbase:r", fn: execRdFSBase, cpu: "fsgsbase"},
	{enc: "F3 0F AE /1", mnem: "rdgsbase", args: "ry:w | gsbase:r", fn: execRdGSBase, cpu: "fsgsbase"},
	{enc: "F3 0F AE /2", mnem: "wrfsbase", args: "ry:r | fsbase:w", fn: execWrFSBase, cpu: "fsgsbase"},
	{enc: "F3 0F AE /3", mnem: "wrgsbase", args: "ry:r | gsbase:w", fn: execWrGSBase, cpu: "fsgsbase"},
})

var _ = register(rowsJcc())

func rowsJcc() []row {
	var rows []row
	for cc := range uint8(16) {
		flags := "r:" + condReads[cc>>1]
		set := func(_ *inst, op *Op) {
			op.aux = cc
			op.attr |= attrEnd
		}
		rows = append(rows,
			row{enc: hex2(0x70+cc) + " cb", mnem: "j" + condNames[cc], args: "rel:r", flags: flags, fn: execJcc, build: set},
			row{enc: "0F " + hex2(0x80+cc) + " cd", mnem: "j" + condNames[cc], args: "rel:r", flags: flags, fn: execJcc, build: set},
		)
	}
	return rows
}

func ends(_ *inst, op *Op) { op.attr |= attrEnd }

// endsNear is for indirect jumps and calls, which have 64-bit targets whatever
// the prefixes.
func endsNear(_ *inst, op *Op) {
	op.attr |= attrEnd
	op.size = 8
}

// What LOOP demands of ZF; goes to Op.aux.
const (
	loopAny = iota
	loopE
	loopNE
)

func loops(kind uint8) func(*inst, *Op) {
	return func(_ *inst, op *Op) {
		op.aux = kind
		op.attr |= attrEnd
	}
}
