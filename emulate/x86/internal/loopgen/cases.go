package loopgen

import "fmt"

// set assigns e to the register expression reg.
func set(reg, e string) string { return reg + " = " + e }

func (l *loop) moves() {
	l.add("Nop", next)
	l.add("Mov8", set(dst, dst+"&^0xFF | "+src+"&0xFF"), next)
	l.add("Mov32", set(dst, narrow(4, src)), next)
	l.add("Mov64", set(dst, src), next)
	l.add("MovI", set(dst, imm), next)
	l.add("MovIrm", set(src, imm), next)
	for _, n := range []int{1, 2, 4, 8} {
		l.add(fmt.Sprintf("Ld%dB", 8*n), addrB, load(n, "v"), set(dst, "v"), next)
		l.add(fmt.Sprintf("Ld%dX", 8*n), addrX, load(n, "v"), set(dst, "v"), next)
		l.add(fmt.Sprintf("St%dB", 8*n), addrB, store(n, dst, leave), next)
		l.add(fmt.Sprintf("St%dX", 8*n), addrX, store(n, dst, leave), next)
		l.add(fmt.Sprintf("StI%d", 8*n), addrX, store(n, "op.imm", leave), next)
	}
	l.add("Ld8m", addrX, load(1, "v"), set(dst, dst+"&^0xFF | v"), next)
	l.add("Zx8", set(dst, src+" & 0xFF"), next)
	l.add("Zx16", set(dst, src+" & 0xFFFF"), next)
	for _, n := range []int{1, 2, 4} {
		t := 8 * n
		signed := fmt.Sprintf("int%d", t)
		if n < 4 {
			l.add(fmt.Sprintf("Ld%ds32", t), addrX, load(n, "v"), set(dst, "uint64(uint32("+signed+"(v)))"), next)
			l.add(fmt.Sprintf("Sx%dto32", t), set(dst, "uint64(uint32("+signed+"("+src+")))"), next)
		}
		l.add(fmt.Sprintf("Ld%ds64", t), addrX, load(n, "v"), set(dst, "uint64("+signed+"(v))"), next)
		l.add(fmt.Sprintf("Sx%dto64", t), set(dst, "uint64("+signed+"("+src+"))"), next)
	}
	l.add("Cdq", "c.R[RDX] = uint64(uint32(int32(c.R[RAX]) >> 31))", next)
	l.add("Cqo", "c.R[RDX] = uint64(int64(c.R[RAX]) >> 63)", next)
	l.add("Lea64B", addrB, set(dst, "a"), next)
	l.add("Lea64X", addrX, set(dst, "a"), next)
	l.add("Lea32", addrX, set(dst, narrow(4, "a")), next)
	l.add("Zero", set(dst, "0"), next)
	l.add("ZeroF", set(dst, "0"), lazy("Logic", 8, "", "", "0"), next)
}

// operation is a two-operand operation and its kind of flags.
type operation struct{ name, op, kind string }

var operations = []operation{
	{"Add", "+", "Add"}, {"Sub", "-", "Sub"}, {"And", "&", "Logic"}, {"Or", "|", "Logic"}, {"Xor", "^", "Logic"},
}

// narrowALU has 8-bit operations between registers and with an immediate, always
// with flags, which are cheap for logic and rare otherwise.
func (l *loop) narrowALU() {
	for _, o := range operations {
		flags := lazy(o.kind, 1, "x", "y", "r")
		r := "r := x " + o.op + " y"
		l.add(o.name+"8RR", "x, y := "+dst+", "+src, r, set(dst, "x&^0xFF | r&0xFF"), flags, next)
		l.add(o.name+"8RI", "x, y := "+src+", "+imm, r, set(src, "x&^0xFF | r&0xFF"), flags, next)
	}
}

// carries are ADC and SBB; the lazy flags of ADD and SUB do for them too.
func (l *loop) carries() {
	for _, o := range []operation{{"Adc", "+", "Add"}, {"Sbb", "-", "Sub"}} {
		for _, n := range []int{4, 8} {
			name := fmt.Sprintf("%s%d", o.name, 8*n)
			r := fmt.Sprintf("r := x %[1]s y %[1]s c.carry()", o.op)
			flags := lazy(o.kind, n, "x", "y", "r")
			l.add(name+"RR", "x, y := "+dst+", "+src, r, set(dst, narrow(n, "r")), next)
			l.add(name+"RI", "x, y := "+src+", "+imm, r, set(src, narrow(n, "r")), next)
			l.add(name+"RRF", "x, y := "+dst+", "+src, r, set(dst, narrow(n, "r")), flags, next)
			l.add(name+"RIF", "x, y := "+src+", "+imm, r, set(src, narrow(n, "r")), flags, next)
		}
	}
}

func (l *loop) arithmetic() {
	for _, o := range operations {
		for _, n := range []int{4, 8} {
			name := fmt.Sprintf("%s%d", o.name, 8*n)
			r := "r := x " + o.op + " y"
			flags := lazy(o.kind, n, "x", "y", narrow(n, "r"))
			if o.kind != "Logic" {
				flags = lazy(o.kind, n, "x", "y", "r")
			}
			l.add(name+"RR", set(dst, narrow(n, dst+" "+o.op+" "+src)), next)
			l.add(name+"RI", set(src, narrow(n, src+" "+o.op+" "+imm)), next)
			l.add(name+"RRF", "x, y := "+dst+", "+src, r, set(dst, narrow(n, "r")), flags, next)
			l.add(name+"RIF", "x, y := "+src+", "+imm, r, set(src, narrow(n, "r")), flags, next)
			l.add(name+"RM", addrX, load(n, "y"), "x := "+dst, r, set(dst, narrow(n, "r")), flags, next)
			// The flags come after the store, which may fault; if it
			// invalidates the block, before it is left.
			l.add(name+"MR", addrX, loadAs(n, "x", "Update"), "y := "+dst, r, store(n, "r", ""), flags, leave, next)
			l.add(name+"MI", addrX, loadAs(n, "x", "Update"), "y := "+imm, r, store(n, "r", ""), flags, leave, next)
		}
	}
}

// operands gives the statements that name x and y for a shape.
func operands(shape string, n int) []string {
	switch shape {
	case "RR":
		return []string{"x, y := " + dst + ", " + src}
	case "RI":
		return []string{"x, y := " + src + ", " + imm}
	case "RM":
		return []string{addrX, load(n, "y"), "x := " + dst}
	case "MR":
		return []string{addrX, load(n, "x"), "y := " + dst}
	}
	return []string{addrX, load(n, "x"), "y := " + imm}
}

// compares have a fused variant, which leaves what the jump is to compare in l
// and r; see the end of the loop.
func (l *loop) compares() {
	for _, n := range []int{1, 2, 4, 8} {
		for _, shape := range []string{"RR", "RI", "RM", "MR", "MI"} {
			s := append(operands(shape, n), lazy("Sub", n, "x", "y", "x - y"))
			l.add(fmt.Sprintf("Cmp%d%s", 8*n, shape), append(s, next)...)
			l.add(fmt.Sprintf("Cmp%d%sJ", 8*n, shape), append(s[:len(s):len(s)], "l, r = "+top(n, "x")+", "+top(n, "y"))...)
		}
		for _, shape := range []string{"RR", "RI", "MI"} {
			s := append(operands(shape, n), "v := x & y", lazy("Logic", n, "", "", "v"))
			l.add(fmt.Sprintf("Test%d%s", 8*n, shape), append(s, next)...)
			l.add(fmt.Sprintf("Test%d%sJ", 8*n, shape), append(s[:len(s):len(s)], "l, r = "+top(n, "v")+", 0")...)
		}
	}
}

// fusedArithmetic: after ADD, INC and DEC the jump looks only at ZF or SF,
// which a comparison of the result with 0 gives.
func (l *loop) fusedArithmetic() {
	for _, n := range []int{4, 8} {
		t := 8 * n
		for _, shape := range []string{"RR", "RI"} {
			d := dst
			if shape == "RI" {
				d = src
			}
			xy := operands(shape, n)[0]
			result := "l, r = " + top(n, "v") + ", 0"
			l.add(fmt.Sprintf("Sub%d%sJ", t, shape), xy, "v := x - y", set(d, narrow(n, "v")), lazy("Sub", n, "x", "y", "v"), "l, r = "+top(n, "x")+", "+top(n, "y"))
			l.add(fmt.Sprintf("Add%d%sJ", t, shape), xy, "v := x + y", set(d, narrow(n, "v")), lazy("Add", n, "x", "y", "v"), result)
			l.add(fmt.Sprintf("And%d%sJ", t, shape), xy, "v := x & y", set(d, narrow(n, "v")), lazy("Logic", n, "", "", "v"), result)
		}
		for _, o := range []operation{{"Inc", "+", ""}, {"Dec", "-", ""}} {
			s := []string{"x := " + src, "v := x " + o.op + " 1", "cf := c.carry()", set(src, narrow(n, "v")), lazy(o.name, n, "x", "cf", "v")}
			l.add(fmt.Sprintf("%sF%d", o.name, t), append(s, next)...)
			l.add(fmt.Sprintf("%s%dJ", o.name, t), append(s[:len(s):len(s)], "l, r = "+top(n, "v")+", 0")...)
		}
	}
}

func (l *loop) shifts() {
	for _, n := range []int{4, 8} {
		t := 8 * n
		whole, signed := narrow(n, src), fmt.Sprintf("int%d(%s)", t, src)
		result := func(e string) string { // of a signed shift
			if n == 4 {
				return "uint64(uint32(" + e + "))"
			}
			return "uint64(" + e + ")"
		}
		for _, by := range []struct{ shape, count string }{{"I", "op.imm"}, {"CL", "c.R[RCX]"}} {
			count := fmt.Sprintf("(%s & %d)", by.count, t-1)
			l.add(fmt.Sprintf("Shl%d%s", t, by.shape), set(src, narrow(n, src+" << "+count)), next)
			l.add(fmt.Sprintf("Shr%d%s", t, by.shape), set(src, whole+" >> "+count), next)
			l.add(fmt.Sprintf("Sar%d%s", t, by.shape), set(src, result(signed+" >> "+count)), next)
		}
		// With flags; the count isn't zero. OF is as for a count of one.
		count := fmt.Sprintf("n := uint(op.imm) & %d", t-1)
		l.add(fmt.Sprintf("Shl%dIF", t), "x := "+src, count, "v := x << n", fmt.Sprintf("cf := x >> (%d - n)", t), set(src, narrow(n, "v")),
			lazy("Shift", n, "cf", fmt.Sprintf("x>>%d^x>>%d", t-1, t-2), "v"), next)
		l.add(fmt.Sprintf("Shr%dIF", t), "x := "+whole, count, "v := x >> n", set(src, "v"),
			lazy("Shift", n, "x>>(n-1)", fmt.Sprintf("x>>%d", t-1), "v"), next)
		l.add(fmt.Sprintf("Sar%dIF", t), "x := "+signed, count, "v := "+result("x >> n"), set(src, "v"),
			lazy("Shift", n, "uint64(x>>(n-1))", "0", "v"), next)
		// By CL with flags, which a count of zero leaves.
		count = fmt.Sprintf("n := uint(c.R[RCX]) & %d", t-1)
		l.add(fmt.Sprintf("Shl%dCLF", t), "x := "+src, count, "v := x << n", set(src, narrow(n, "v")), "if n != 0 {", fmt.Sprintf("cf := x >> (%d - n)", t),
			lazy("Shift", n, "cf", fmt.Sprintf("x>>%d^x>>%d", t-1, t-2), "v"), "}", next)
		l.add(fmt.Sprintf("Shr%dCLF", t), "x := "+whole, count, "v := x >> n", set(src, "v"), "if n != 0 {",
			lazy("Shift", n, "x>>(n-1)", fmt.Sprintf("x>>%d", t-1), "v"), "}", next)
		l.add(fmt.Sprintf("Sar%dCLF", t), "x := "+signed, count, "v := "+result("x >> n"), set(src, "v"), "if n != 0 {",
			lazy("Shift", n, "uint64(x>>(n-1))", "0", "v"), "}", next)
		l.add(fmt.Sprintf("Rol%dI", t), set(src, fmt.Sprintf("uint64(bits.RotateLeft%d(uint%d(%s), int(op.imm)))", t, t, src)), next)
	}
}

func (l *loop) misc() {
	for _, n := range []int{4, 8} {
		t := 8 * n
		name := func(s string) string { return fmt.Sprintf(s, t) }
		l.add(name("Neg%d"), set(src, narrow(n, "-"+src)), next)
		l.add(name("Not%d"), set(src, narrow(n, "^"+src)), next)
		l.add(name("Imul%dRR"), set(dst, narrow(n, dst+" * "+src)), next)
		l.add(name("Imul%dRRI"), set(dst, narrow(n, src+" * "+imm)), next)
		l.add(name("Neg%dF"), "x := "+src, set(src, narrow(n, "-x")), lazy("Sub", n, "0", "x", "-x"), next)
		l.add(name("Imul%dRRF"), "x, y := "+dst+", "+src, "r := x * y", set(dst, narrow(n, "r")), lazy("Mul", n, "x", "y", "r"), next)
		l.add(name("Imul%dRRIF"), "x, y := "+src+", "+imm, "r := x * y", set(dst, narrow(n, "r")), lazy("Mul", n, "x", "y", "r"), next)
		l.add(name("Imul%dRMF"), addrX, load(n, "y"), "x := "+dst, "r := x * y", set(dst, narrow(n, "r")), lazy("Mul", n, "x", "y", "r"), next)
		l.add(name("Cmov%d"), "v := "+dst+"\nif c.cond(op.aux) {\nv = "+src+"\n}", set(dst, narrow(n, "v")), next)
		l.add(name("CmovM%d"), addrX, load(n, "v"), "if !c.cond(op.aux) {\nv = "+narrow(n, dst)+"\n}", set(dst, "v"), next)
		l.add(name("Bsf%d"), "if v := "+narrow(n, src)+"; v != 0 {\n"+set(dst, "uint64(bits.TrailingZeros64(v))")+"\n}", next)
		l.add(name("Bsr%d"), "if v := "+narrow(n, src)+"; v != 0 {\n"+set(dst, "uint64(bits.Len64(v) - 1)")+"\n}", next)
		l.add(name("Bswap%d"), set(dst, fmt.Sprintf("uint64(bits.ReverseBytes%d(uint%d(%s)))", t, t, dst)), next)
	}
	l.add("Shr16I", "x := "+src, set(src, "x&^0xFFFF | x&0xFFFF>>(op.imm & 31)"), next)
	l.add("Mul64", "c.R[RDX], c.R[RAX] = bits.Mul64(c.R[RAX], "+src+")", next)
	l.add("Set", src+" &^= 0xFF\nif c.cond(op.aux) {\n"+src+" |= 1\n}", next)
	// RSP changes after the store, which may fault.
	l.add("Push", "a := c.R[RSP] - 8", store(8, dst, ""), "c.R[RSP] = a", leave, next)
	l.add("PushI", "a := c.R[RSP] - 8", store(8, "op.imm", ""), "c.R[RSP] = a", leave, next)
	l.add("Pop", "a := c.R[RSP]", load(8, "v"), "c.R[RSP] = a + 8", set(dst, "v"), next)
}

const checkTarget = "if !canonical(t) {\nc.raise(op, VecGP)\n}"

// ends are what leaves the block: by a known way, k, or to c.RIP.
func (l *loop) ends() {
	const count = "c.base += b.n"
	l.add("Next", "k = 0", count, "goto chain")
	l.add("Jmp", "k = 1", count, "goto chain")
	l.add("Jcc", "k = 0\nif c.cond(op.aux) {\nk = 1\n}", count, "goto chain")
	l.add("CallRel", "a := c.R[RSP] - 8", store(8, "op.pc + uint64(op.len)", ""), "c.R[RSP] = a",
		"if c.Calls != nil {\nc.cur = op\nc.Calls.Call(c, op.pc, uint64(op.imm), a)\n}", "k = 1", count, "goto chain")
	l.add("Ret", "a := c.R[RSP]", load(8, "t"), checkTarget, "c.R[RSP] = a + 8 + uint64(op.imm)",
		"if c.Calls != nil {\nc.cur = op\nc.Calls.Ret(c, op.pc, t, c.R[RSP])\n}", count, "c.RIP = t", "goto indirect")
	l.add("JmpR", "t := "+src, checkTarget, count, "c.RIP = t", "goto indirect")
	l.add("JmpM", addrX, load(8, "t"), checkTarget, count, "c.RIP = t", "goto indirect")
	l.add("CallEnd", "c.cur = op\nop.fn(c, op)", count, "goto indirect")
}
