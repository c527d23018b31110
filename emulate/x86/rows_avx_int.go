package x86

// Packed integers of AVX (128 bits) and AVX2 (256 bits). The lists give the
// opcode, the mnemonic and what computes the result.

var _ = register(rowsAvxInt())

func rowsAvxInt() []row {
	const three = "vec:w vecv:r vec/m:r"
	var rows []row
	add := func(mapname string, o byte, name, args string, fn handler) {
		enc := "VEX.66." + mapname + " " + hex2(o) + " /r"
		if len(args) > 6 && args[len(args)-6:] == " imm:r" {
			enc += " ib"
		}
		rows = append(rows, row{enc: enc, mnem: name, args: args, fn: fn, cpu: "avx2"})
	}
	for _, r := range []struct {
		o    byte
		name string
		f    half
	}{
		{0x64, "vpcmpgtb", gtb}, {0x65, "vpcmpgtw", gtw}, {0x66, "vpcmpgtd", gtd},
		{0x74, "vpcmpeqb", eqb}, {0x75, "vpcmpeqw", eqw}, {0x76, "vpcmpeqd", eqd},
		{0xD4, "vpaddq", addq}, {0xD5, "vpmullw", mullw}, {0xD8, "vpsubusb", subusb}, {0xD9, "vpsubusw", subusw},
		{0xDA, "vpminub", minub}, {0xDB, "vpand", and}, {0xDC, "vpaddusb", addusb}, {0xDD, "vpaddusw", addusw},
		{0xDE, "vpmaxub", maxub}, {0xDF, "vpandn", andn}, {0xE0, "vpavgb", avgb}, {0xE3, "vpavgw", avgw},
		{0xE4, "vpmulhuw", mulhuw}, {0xE5, "vpmulhw", mulhw}, {0xE8, "vpsubsb", subsb}, {0xE9, "vpsubsw", subsw},
		{0xEA, "vpminsw", minsw}, {0xEB, "vpor", or}, {0xEC, "vpaddsb", addsb}, {0xED, "vpaddsw", addsw},
		{0xEE, "vpmaxsw", maxsw}, {0xEF, "vpxor", xor}, {0xF4, "vpmuludq", muludq}, {0xF5, "vpmaddwd", maddwd},
		{0xF6, "vpsadbw", sadbw}, {0xF8, "vpsubb", subb}, {0xF9, "vpsubw", subw}, {0xFA, "vpsubd", subd},
		{0xFB, "vpsubq", subq}, {0xFC, "vpaddb", addb}, {0xFD, "vpaddw", addw}, {0xFE, "vpaddd", addd},
	} {
		add("0F", r.o, r.name, three, vhalf(r.f))
	}
	for _, r := range []struct {
		o    byte
		name string
		f    half
	}{
		{0x04, "vpmaddubsw", maddubsw}, {0x08, "vpsignb", psignb}, {0x09, "vpsignw", psignw}, {0x0A, "vpsignd", psignd},
		{0x0B, "vpmulhrsw", mulhrsw}, {0x28, "vpmuldq", muldq}, {0x29, "vpcmpeqq", eqq}, {0x37, "vpcmpgtq", gtq},
		{0x38, "vpminsb", minsb}, {0x39, "vpminsd", minsd}, {0x3A, "vpminuw", minuw}, {0x3B, "vpminud", minud},
		{0x3C, "vpmaxsb", maxsb}, {0x3D, "vpmaxsd", maxsd}, {0x3E, "vpmaxuw", maxuw}, {0x3F, "vpmaxud", maxud},
		{0x40, "vpmulld", mulld},
	} {
		add("0F38", r.o, r.name, three, vhalf(r.f))
	}
	for _, r := range []struct {
		w    string
		o    byte
		name string
		f    half
	}{
		{"W0", 0x45, "vpsrlvd", srlvd}, {"W1", 0x45, "vpsrlvq", srlvq}, {"W0", 0x46, "vpsravd", sravd},
		{"W0", 0x47, "vpsllvd", sllvd}, {"W1", 0x47, "vpsllvq", sllvq},
	} {
		add("0F38."+r.w, r.o, r.name, three, vhalf(r.f))
	}
	for _, r := range []struct {
		m    string
		o    byte
		name string
		f    lane
	}{
		{"0F", 0x60, "vpunpcklbw", lanePunpcklbw}, {"0F", 0x61, "vpunpcklwd", lanePunpcklwd}, {"0F", 0x62, "vpunpckldq", lanePunpckldq},
		{"0F", 0x63, "vpacksswb", lanePack(packsswb)}, {"0F", 0x67, "vpackuswb", lanePack(packuswb)},
		{"0F", 0x68, "vpunpckhbw", lanePunpckhbw}, {"0F", 0x69, "vpunpckhwd", lanePunpckhwd}, {"0F", 0x6A, "vpunpckhdq", lanePunpckhdq},
		{"0F", 0x6B, "vpackssdw", lanePack(packssdw)}, {"0F", 0x6C, "vpunpcklqdq", lanePunpcklqdq}, {"0F", 0x6D, "vpunpckhqdq", lanePunpckhqdq},
		{"0F38", 0x00, "vpshufb", lanePshufb}, {"0F38", 0x01, "vphaddw", laneHorizontal(haddw)}, {"0F38", 0x02, "vphaddd", laneHorizontal(haddd)},
		{"0F38", 0x03, "vphaddsw", laneHorizontal(haddsw)}, {"0F38", 0x05, "vphsubw", laneHorizontal(hsubw)},
		{"0F38", 0x06, "vphsubd", laneHorizontal(hsubd)}, {"0F38", 0x07, "vphsubsw", laneHorizontal(hsubsw)},
		{"0F38", 0x2B, "vpackusdw", lanePack(packusdw)},
	} {
		add(r.m, r.o, r.name, three, vlane(r.f))
	}
	add("0F38", 0x1C, "vpabsb", "vec:w vec/m:r", vhalf1(absb))
	add("0F38", 0x1D, "vpabsw", "vec:w vec/m:r", vhalf1(absw))
	add("0F38", 0x1E, "vpabsd", "vec:w vec/m:r", vhalf1(absd))
	add("0F", 0x70, "vpshufd", "vec:w vec/m:r imm:r", vlane1(lanePshufd))
	add("0F3A", 0x0E, "vpblendw", three+" imm:r", vlane(laneBlend(16)))
	add("0F3A.W0", 0x02, "vpblendd", three+" imm:r", vlane(laneBlend(32), 4))
	add("0F3A", 0x0F, "vpalignr", three+" imm:r", vlane(lanePalignr))
	add("0F3A", 0x42, "vmpsadbw", three+" imm:r", vlane(wholeLane(mpsadbw), 3))
	add("0F3A.W0", 0x4C, "vpblendvb", three+" vec4:r", vblendBy(fillB))
	rows[len(rows)-1].enc += " ib"

	const count = "vec:w vecv:r xmm/m128:r"
	for _, r := range []struct {
		o    byte
		name string
		f    laneShift
		g    byte // group opcode
		i    byte // its digit
	}{
		{0xD1, "vpsrlw", srlw, 0x71, 2}, {0xD2, "vpsrld", srld, 0x72, 2}, {0xD3, "vpsrlq", srlq, 0x73, 2},
		{0xE1, "vpsraw", sraw, 0x71, 4}, {0xE2, "vpsrad", srad, 0x72, 4},
		{0xF1, "vpsllw", sllw, 0x71, 6}, {0xF2, "vpslld", slld, 0x72, 6}, {0xF3, "vpsllq", sllq, 0x73, 6},
	} {
		add("0F", r.o, r.name, count, vshift(r.f))
		rows = append(rows, row{enc: "VEX.66.0F " + hex2(r.g) + " /" + string('0'+rune(r.i)) + " ib", mnem: r.name,
			args: "vecv:w vec:r imm:r", fn: vshiftImm(r.f), cpu: "avx2"})
	}
	return append(rows,
		row{enc: "VEX.66.0F 73 /3 ib", mnem: "vpsrldq", args: "vecv:w vec:r imm:r", fn: vshiftBytes(shiftBytesDown), cpu: "avx2"},
		row{enc: "VEX.66.0F 73 /7 ib", mnem: "vpslldq", args: "vecv:w vec:r imm:r", fn: vshiftBytes(shiftBytesUp), cpu: "avx2"},
		row{enc: "VEX.F2.0F 70 /r ib", mnem: "vpshuflw", args: "vec:w vec/m:r imm:r", fn: vlane1(lanePshuflw), cpu: "avx2"},
		row{enc: "VEX.F3.0F 70 /r ib", mnem: "vpshufhw", args: "vec:w vec/m:r imm:r", fn: vlane1(lanePshufhw), cpu: "avx2"},
		row{enc: "VEX.66.0F38 17 /r", mnem: "vptest", args: "vec:r vec/m:r", flags: "w:zc 0:osap", fn: vtest(^uint64(0)), cpu: "avx"},
		row{enc: "VEX.66.0F D7 /r", mnem: "vpmovmskb", args: "r32:w vec:r", fn: execVpmovmskb, cpu: "avx2"},
		row{enc: "VEX.128.66.0F38 41 /r", mnem: "vphminposuw", args: "xmm:w xmm/m128:r", fn: vlane1(wholeLane(phminposuw)), cpu: "avx"},
	)
}

var _ = register(rowsAvxExtend())

// rowsAvxExtend has VPMOVSX and VPMOVZX.
func rowsAvxExtend() []row {
	var rows []row
	for _, r := range []struct {
		o    byte
		name string
		size int // bytes of source for 16 of result
		s, z widening
	}{
		{0x20, "bw", 8, movsxbw, movzxbw}, {0x21, "bd", 4, movsxbd, movzxbd}, {0x22, "bq", 2, movsxbq, movzxbq},
		{0x23, "wd", 8, movsxwd, movzxwd}, {0x24, "wq", 4, movsxwq, movzxwq}, {0x25, "dq", 8, movsxdq, movzxdq},
	} {
		for i, f := range []widening{r.s, r.z} {
			name := "vpmov" + []string{"s", "z"}[i] + "x" + r.name
			m := map[int]string{2: "16", 4: "32", 8: "64", 16: "128"}
			op := " " + hex2(r.o+byte(16*i)) + " /r"
			rows = append(rows,
				row{enc: "VEX.128.66.0F38" + op, mnem: name, args: "xmm:w xmm/m" + m[r.size] + ":r", fn: vextend(r.size, f), build: buildV, cpu: "avx"},
				row{enc: "VEX.256.66.0F38" + op, mnem: name, args: "ymm:w xmm/m" + m[2*r.size] + ":r", fn: vextend(r.size, f), build: buildV, cpu: "avx2"})
		}
	}
	return rows
}

// buildV sets the operand size to that of the vectors, where the ModRM.rm
// operand has another.
func buildV(d *inst, op *Op) {
	op.size = 16
	if d.long {
		op.size = 32
	}
}

// Cryptography.
var _ = register([]row{
	{enc: "VEX.66.0F3A 44 /r ib", mnem: "vpclmulqdq", args: "vec:w vecv:r vec/m:r imm:r", fn: vlane(wholeLane(pclmulqdq)), cpu: "vpclmulqdq"},
	{enc: "VEX.66.0F38 DC /r", mnem: "vaesenc", args: "vec:w vecv:r vec/m:r", fn: vlane(wholeLane(aesenc)), cpu: "vaes"},
	{enc: "VEX.66.0F38 DD /r", mnem: "vaesenclast", args: "vec:w vecv:r vec/m:r", fn: vlane(wholeLane(aesenclast)), cpu: "vaes"},
	{enc: "VEX.66.0F38 DE /r", mnem: "vaesdec", args: "vec:w vecv:r vec/m:r", fn: vlane(wholeLane(aesdec)), cpu: "vaes"},
	{enc: "VEX.66.0F38 DF /r", mnem: "vaesdeclast", args: "vec:w vecv:r vec/m:r", fn: vlane(wholeLane(aesdeclast)), cpu: "vaes"},
	{enc: "VEX.128.66.0F38 DB /r", mnem: "vaesimc", args: "xmm:w xmm/m128:r", fn: vlane1(wholeLane(aesimc)), cpu: "aes"},
	{enc: "VEX.128.66.0F3A DF /r ib", mnem: "vaeskeygenassist", args: "xmm:w xmm/m128:r imm:r", fn: vlane1(wholeLane(aeskeygenassist)), cpu: "aes"},
	// Strings. What they write beside flags is not the vector registers, but for XMM0 of the masks.
	{enc: "VEX.128.66.0F3A 60 /r ib", mnem: "vpcmpestrm", args: "xmm:r xmm/m128:r imm:r | rax:r rdx:r xmm0:w", flags: "w:ozsc 0:ap", fn: vstrMask(execPcmpestrm), build: buildExplicit, cpu: "avx"},
	{enc: "VEX.128.66.0F3A 61 /r ib", mnem: "vpcmpestri", args: "xmm:r xmm/m128:r imm:r | rax:r rdx:r ecx:w", flags: "w:ozsc 0:ap", fn: execPcmpestri, build: buildExplicit, cpu: "avx"},
	{enc: "VEX.128.66.0F3A 62 /r ib", mnem: "vpcmpistrm", args: "xmm:r xmm/m128:r imm:r | xmm0:w", flags: "w:ozsc 0:ap", fn: vstrMask(execPcmpistrm), cpu: "avx"},
	{enc: "VEX.128.66.0F3A 63 /r ib", mnem: "vpcmpistri", args: "xmm:r xmm/m128:r imm:r | ecx:w", flags: "w:ozsc 0:ap", fn: execPcmpistri, cpu: "avx"},
})

func vstrMask(f handler) handler {
	return func(c *CPU, op *Op) {
		f(c, op)
		c.Y[0] = [2]uint64{}
	}
}
