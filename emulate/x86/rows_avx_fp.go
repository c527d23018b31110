package x86

// Floating point of AVX, and F16C.

var _ = register(rowsAvxFP())

func rowsAvxFP() []row {
	const mx = " | mxcsr:rw"
	var rows []row
	add := func(enc, name, args string, fn handler) {
		rows = append(rows, row{enc: "VEX." + enc, mnem: name, args: args, fn: fn, cpu: "avx"})
	}
	for _, r := range []struct {
		o      string
		name   string
		f      fp64
		g      fp32
		pd, ps handler
	}{
		{"58", "vadd", add64, add32, execVaddpd, vpair(addPair)}, {"5C", "vsub", sub64, sub32, execVsubpd, vpair(subPair)},
		{"59", "vmul", mul64, mul32, execVmulpd, vpair(mulPair)}, {"5E", "vdiv", div64, div32, vfp64(div64), vfp32(div32)},
		{"5D", "vmin", min64, min32, vfp64(min64), vfp32(min32)}, {"5F", "vmax", max64, max32, vfp64(max64), vfp32(max32)},
	} {
		add("0F "+r.o+" /r", r.name+"ps", "vec:w vecv:r vec/m:r"+mx, r.ps)
		add("66.0F "+r.o+" /r", r.name+"pd", "vec:w vecv:r vec/m:r"+mx, r.pd)
		add("LIG.F3.0F "+r.o+" /r", r.name+"ss", "xmm:w xmmv:r xmm/m32:r"+mx, vscalar32(r.g))
		add("LIG.F2.0F "+r.o+" /r", r.name+"sd", "xmm:w xmmv:r xmm/m64:r"+mx, vscalar64(r.f))
	}
	add("0F 51 /r", "vsqrtps", "vec:w vec/m:r"+mx, vfp32(root32))
	add("66.0F 51 /r", "vsqrtpd", "vec:w vec/m:r"+mx, vfp64(root64))
	add("LIG.F3.0F 51 /r", "vsqrtss", "xmm:w xmmv:r xmm/m32:r"+mx, vscalar32(root32))
	add("LIG.F2.0F 51 /r", "vsqrtsd", "xmm:w xmmv:r xmm/m64:r"+mx, vscalar64(root64))
	add("0F 53 /r", "vrcpps", "vec:w vec/m:r", vfp32(rcp32))
	add("LIG.F3.0F 53 /r", "vrcpss", "xmm:w xmmv:r xmm/m32:r", vscalar32(rcp32))
	add("0F 52 /r", "vrsqrtps", "vec:w vec/m:r", vfp32(rsqrt32))
	add("LIG.F3.0F 52 /r", "vrsqrtss", "xmm:w xmmv:r xmm/m32:r", vscalar32(rsqrt32))

	add("0F C2 /r ib", "vcmpps", "vec:w vecv:r vec/m:r imm:r"+mx, vlaneFP(laneCmpps))
	add("66.0F C2 /r ib", "vcmppd", "vec:w vecv:r vec/m:r imm:r"+mx, vlaneFP(laneCmppd))
	add("LIG.F3.0F C2 /r ib", "vcmpss", "xmm:w xmmv:r xmm/m32:r imm:r"+mx, execVcmpss)
	add("LIG.F2.0F C2 /r ib", "vcmpsd", "xmm:w xmmv:r xmm/m64:r imm:r"+mx, execVcmpsd)
	for _, r := range []struct {
		pp, o, name, m string
		fn             handler
	}{
		{"", "2E", "vucomiss", "m32", execUcomiss}, {"66.", "2E", "vucomisd", "m64", execUcomisd},
		{"", "2F", "vcomiss", "m32", execComiss}, {"66.", "2F", "vcomisd", "m64", execComisd},
	} {
		rows = append(rows, row{enc: "VEX.LIG." + r.pp + "0F " + r.o + " /r", mnem: r.name, args: "xmm:r xmm/" + r.m + ":r" + mx,
			flags: "w:zpc 0:osa", fn: r.fn, cpu: "avx"})
	}

	for _, r := range []struct {
		o, name string
		f       half
	}{{"54", "vand", and}, {"55", "vandn", andn}, {"56", "vor", or}, {"57", "vxor", xor}} {
		add("0F "+r.o+" /r", r.name+"ps", "vec:w vecv:r vec/m:r", vhalf(r.f))
		add("66.0F "+r.o+" /r", r.name+"pd", "vec:w vecv:r vec/m:r", vhalf(r.f))
	}
	add("0F 14 /r", "vunpcklps", "vec:w vecv:r vec/m:r", vlane(lanePunpckldq))
	add("0F 15 /r", "vunpckhps", "vec:w vecv:r vec/m:r", vlane(lanePunpckhdq))
	add("66.0F 14 /r", "vunpcklpd", "vec:w vecv:r vec/m:r", vlane(lanePunpcklqdq))
	add("66.0F 15 /r", "vunpckhpd", "vec:w vecv:r vec/m:r", vlane(lanePunpckhqdq))
	add("0F C6 /r ib", "vshufps", "vec:w vecv:r vec/m:r imm:r", vlane(laneShufps))
	add("66.0F C6 /r ib", "vshufpd", "vec:w vecv:r vec/m:r imm:r", vlane(laneShufpd, 2))
	add("66.0F3A 0C /r ib", "vblendps", "vec:w vecv:r vec/m:r imm:r", vlane(laneBlend(32), 4))
	add("66.0F3A 0D /r ib", "vblendpd", "vec:w vecv:r vec/m:r imm:r", vlane(laneBlend(64), 2))
	add("66.0F3A.W0 4A /r ib", "vblendvps", "vec:w vecv:r vec/m:r vec4:r", vblendBy(fillD))
	add("66.0F3A.W0 4B /r ib", "vblendvpd", "vec:w vecv:r vec/m:r vec4:r", vblendBy(fillQ))
	add("66.0F38.W0 0C /r", "vpermilps", "vec:w vecv:r vec/m:r", vlane(lanePermilps))
	add("66.0F38.W0 0D /r", "vpermilpd", "vec:w vecv:r vec/m:r", vlane(lanePermilpd))
	add("66.0F3A.W0 04 /r ib", "vpermilps", "vec:w vec/m:r imm:r", vlane1(lanePshufd))
	add("66.0F3A.W0 05 /r ib", "vpermilpd", "vec:w vec/m:r imm:r", vlane(lanePermilpdImm, 2))

	add("66.0F D0 /r", "vaddsubpd", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneAddsubpd))
	add("F2.0F D0 /r", "vaddsubps", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneAddsubps))
	add("66.0F 7C /r", "vhaddpd", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneHorizontalPD(add64)))
	add("F2.0F 7C /r", "vhaddps", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneHorizontalPS(add32)))
	add("66.0F 7D /r", "vhsubpd", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneHorizontalPD(sub64)))
	add("F2.0F 7D /r", "vhsubps", "vec:w vecv:r vec/m:r"+mx, vlaneFP(laneHorizontalPS(sub32)))
	add("66.0F3A 08 /r ib", "vroundps", "vec:w vec/m:r imm:r"+mx, vlaneFP(laneRoundps))
	add("66.0F3A 09 /r ib", "vroundpd", "vec:w vec/m:r imm:r"+mx, vlaneFP(laneRoundpd))
	add("LIG.66.0F3A 0A /r ib", "vroundss", "xmm:w xmmv:r xmm/m32:r imm:r"+mx, execVroundss)
	add("LIG.66.0F3A 0B /r ib", "vroundsd", "xmm:w xmmv:r xmm/m64:r imm:r"+mx, execVroundsd)
	add("66.0F3A 40 /r ib", "vdpps", "vec:w vecv:r vec/m:r imm:r"+mx, execVdpps)
	add("128.66.0F3A 41 /r ib", "vdppd", "xmm:w xmmv:r xmm/m128:r imm:r"+mx, execVdppd)

	add("128.0F 5A /r", "vcvtps2pd", "xmm:w xmm/m64:r"+mx, execVcvtps2pd)
	add("256.0F 5A /r", "vcvtps2pd", "ymm:w xmm/m128:r"+mx, execVcvtps2pd)
	add("128.F3.0F E6 /r", "vcvtdq2pd", "xmm:w xmm/m64:r", execVcvtdq2pd)
	add("256.F3.0F E6 /r", "vcvtdq2pd", "ymm:w xmm/m128:r", execVcvtdq2pd)
	for i := len(rows) - 4; i < len(rows); i++ {
		rows[i].build = buildV
	}
	add("66.0F 5A /r", "vcvtpd2ps", "xmm:w vec/m:r"+mx, vnarrow(narrow64))
	add("F2.0F E6 /r", "vcvtpd2dq", "xmm:w vec/m:r"+mx, vnarrow(pd2dq))
	add("66.0F E6 /r", "vcvttpd2dq", "xmm:w vec/m:r"+mx, vnarrow(tpd2dq))
	add("0F 5B /r", "vcvtdq2ps", "vec:w vec/m:r"+mx, vlaneFP(laneCvtdq2ps))
	add("66.0F 5B /r", "vcvtps2dq", "vec:w vec/m:r"+mx, vlaneFP(laneCvtps2dq))
	add("F3.0F 5B /r", "vcvttps2dq", "vec:w vec/m:r"+mx, vlaneFP(laneCvttps2dq))
	add("LIG.F3.0F 5A /r", "vcvtss2sd", "xmm:w xmmv:r xmm/m32:r"+mx, execVcvtss2sd)
	add("LIG.F2.0F 5A /r", "vcvtsd2ss", "xmm:w xmmv:r xmm/m64:r"+mx, execVcvtsd2ss)
	add("LIG.F3.0F 2A /r", "vcvtsi2ss", "xmm:w xmmv:r rmy:r"+mx, execVcvtsi2ss)
	add("LIG.F2.0F 2A /r", "vcvtsi2sd", "xmm:w xmmv:r rmy:r"+mx, execVcvtsi2sd)
	add("LIG.F3.0F 2D /r", "vcvtss2si", "ry:w xmm/m32:r"+mx, execCvtss2si)
	add("LIG.F2.0F 2D /r", "vcvtsd2si", "ry:w xmm/m64:r"+mx, execCvtsd2si)
	add("LIG.F3.0F 2C /r", "vcvttss2si", "ry:w xmm/m32:r"+mx, execCvttss2si)
	add("LIG.F2.0F 2C /r", "vcvttsd2si", "ry:w xmm/m64:r"+mx, execCvttsd2si)

	for _, r := range []row{
		{enc: "VEX.128.66.0F38.W0 13 /r", mnem: "vcvtph2ps", args: "xmm:w xmm/m64:r" + mx, fn: execVcvtph2ps},
		{enc: "VEX.256.66.0F38.W0 13 /r", mnem: "vcvtph2ps", args: "ymm:w xmm/m128:r" + mx, fn: execVcvtph2ps},
		{enc: "VEX.128.66.0F3A.W0 1D /r ib", mnem: "vcvtps2ph", args: "xmm/m64:w xmm:r imm:r" + mx, fn: execVcvtps2ph},
		{enc: "VEX.256.66.0F3A.W0 1D /r ib", mnem: "vcvtps2ph", args: "xmm/m128:w ymm:r imm:r" + mx, fn: execVcvtps2ph},
	} {
		r.cpu, r.build = "f16c", buildV
		rows = append(rows, r)
	}
	for _, r := range []struct {
		o, name string
		mask    uint64
	}{{"0E", "vtestps", signD}, {"0F", "vtestpd", 1 << 63}} {
		rows = append(rows, row{enc: "VEX.66.0F38.W0 " + r.o + " /r", mnem: r.name, args: "vec:r vec/m:r", flags: "w:zc 0:osap", fn: vtest(r.mask), cpu: "avx"})
	}
	return rows
}
