package loopgen

import "fmt"

// alignedTo faults unless a is a multiple of n.
func alignedTo(n int) string { return fmt.Sprintf("if a&%d != 0 {\nc.raise(op, VecGP)\n}", n-1) }

// The vector registers that an Op names: the lower halves, then the upper ones.
const (
	vecDst = "c.X[op.dst&15]"
	vecSrc = "c.X[op.src&15]"
	vec2   = "c.X[op.src2&15]"
	hiDst  = "c.Y[op.dst&15]"
	hiSrc  = "c.Y[op.src&15]"
	hi2    = "c.Y[op.src2&15]"
)

// Vectors are copied by 8 bytes: one move of 16 would wait for the two stores
// that often wrote its halves just before (no store forwarding).
func copy2(to, from string) string {
	return fmt.Sprintf("{\nd, s := &%s, &%s\nd[0], d[1] = s[0], s[1]\n}", to, from)
}

const clearHi = "{\nd := &" + hiDst + "\nd[0], d[1] = 0, 0\n}"

func (l *loop) vectorMoves() {
	load16 := `if e := c.entry(a); e.R == (a+15)>>lineShift {
			p, d := (*[2]uint64)(unsafe.Add(e.P, a&lineMask)), &` + vecDst + `
			d[0], d[1] = p[0], p[1]
		} else {
			` + vecDst + ` = c.missLoadX(op, a)
		}`
	store16 := `if e := c.entry(a); e.W == (a+15)>>lineShift {
			p, s := (*[2]uint64)(unsafe.Add(e.P, a&lineMask)), &` + vecDst + `
			p[0], p[1] = s[0], s[1]
		} else {
			c.missStoreX(op, a, ` + vecDst + `)
			` + leave + `
		}`
	load32 := `if e := c.entry(a); e.R == (a+31)>>lineShift {
			p := (*[4]uint64)(unsafe.Add(e.P, a&lineMask))
			d := &` + vecDst + `
			d[0], d[1] = p[0], p[1]
			d = &` + hiDst + `
			d[0], d[1] = p[2], p[3]
		} else {
			c.missLanes(op, a)
			` + vecDst + `, ` + hiDst + ` = c.xt, c.yt
		}`
	store32 := `if e := c.entry(a); e.W == (a+31)>>lineShift {
			p := (*[4]uint64)(unsafe.Add(e.P, a&lineMask))
			s, t := &` + vecDst + `, &` + hiDst + `
			p[0], p[1], p[2], p[3] = s[0], s[1], t[0], t[1]
		} else {
			c.stY(op, a, &` + vecDst + `, &` + hiDst + `)
			` + leave + `
		}`
	l.add("LdX", addrX, load16, next)
	l.add("StX", addrX, store16, next)
	l.add("LdXa", addrX, alignedTo(16), load16, next)
	l.add("StXa", addrX, alignedTo(16), store16, next)
	l.add("MovX", copy2(vecDst, vecSrc), next)
	l.add("LdXq", addrX, load(8, "v"), "{\nd := &"+vecDst+"\nd[0], d[1] = v, 0\n}", next)
	l.add("LdXd", addrX, load(4, "v"), "{\nd := &"+vecDst+"\nd[0], d[1] = v, 0\n}", next)
	l.add("StXq", addrX, store(8, vecDst+"[0]", leave), next)
	l.add("StXd", addrX, store(4, vecDst+"[0]", leave), next)
	// With a VEX prefix: V for 16 bytes, Y for 32.
	l.add("LdV", addrX, load16, clearHi, next)
	l.add("LdVa", addrX, alignedTo(16), load16, clearHi, next)
	l.add("LdY", addrX, load32, next)
	l.add("LdYa", addrX, alignedTo(32), load32, next)
	l.add("StY", addrX, store32, next)
	l.add("StYa", addrX, alignedTo(32), store32, next)
	l.add("MovV", copy2(vecDst, vecSrc), clearHi, next)
	l.add("MovY", copy2(vecDst, vecSrc), copy2(hiDst, hiSrc), next)
	l.add("LdVq", addrX, load(8, "v"), "{\nd := &"+vecDst+"\nd[0], d[1] = v, 0\n}", clearHi, next)
	l.add("LdVd", addrX, load(4, "v"), "{\nd := &"+vecDst+"\nd[0], d[1] = v, 0\n}", clearHi, next)
	l.add("Vzeroupper", "c.Y = [16][2]uint64{}", next)
}

// vectorLogic has the packed integer operations of string functions and the
// like. Without a prefix the shapes are X and M, with VEX V and W, whose operand
// may be memory, for both lengths.
func (l *loop) vectorLogic() {
	for _, o := range []struct{ name, f string }{
		{"Pxor", "%s ^ %s"}, {"Por", "%s | %s"}, {"Pand", "%s & %s"}, {"Pandn", "%[2]s &^ %[1]s"},
		{"Pcmpeqb", "eqb(%s, %s)"}, {"Pcmpeqd", "eqd(%s, %s)"}, {"Pminub", "minub(%s, %s)"},
		{"Paddd", "addd(%s, %s)"}, {"Paddq", "%s + %s"}, {"Psubb", "subb(%s, %s)"},
	} {
		lane := func(d, a, b string) string {
			return d + "[0], " + d + "[1] = " + fmt.Sprintf(o.f, a+"[0]", b+"[0]") + ", " + fmt.Sprintf(o.f, a+"[1]", b+"[1]")
		}
		vex := "{\na, d := &" + vec2 + ", &" + vecDst + "\n" + lane("d", "a", "s") + "\nd = &" + hiDst +
			"\nif op.size == 32 {\na = &" + hi2 + "\n" + lane("d", "a", "t") + "\n} else {\nd[0], d[1] = 0, 0\n}\n}"
		l.add(o.name+"X", "{\nd, s := &"+vecDst+", &"+vecSrc+"\n"+lane("d", "d", "s")+"\n}", next)
		l.add(o.name+"M", "{\ns, d := c.xpMem(op), &"+vecDst+"\n"+lane("d", "d", "s")+"\n}", next)
		l.add(o.name+"V", "s, t := &"+vecSrc+", &"+hiSrc, vex, next)
		l.add(o.name+"W", "s, t := c.vpMem(op)", vex, next)
	}
	l.add("Pmovmskb", "s := &"+vecSrc, set(dst, "moveMask(s[0]) | moveMask(s[1])<<8"), next)
	l.add("Vpmovmskb", "s, t := &"+vecSrc+", &"+hiSrc, set(dst, "moveMask(s[0]) | moveMask(s[1])<<8 | moveMask(t[0])<<16 | moveMask(t[1])<<24"), next)
}

// scalarFP has the arithmetic of doubles, for the usual case; see usual64. Else the
// handler does all of it.
func (l *loop) scalarFP() {
	for _, o := range []struct{ name, op string }{{"Add", "+"}, {"Sub", "-"}, {"Mul", "*"}, {"Div", "/"}} {
		for _, vex := range []bool{false, true} {
			name, first, done := o.name+"sd", vecDst, ""
			if vex {
				name, first = "V"+name, vec2
				done = "d[1] = a[1]\nd = &" + hiDst + "\nd[0], d[1] = 0, 0\n"
			}
			try := "a, d := &" + first + ", &" + vecDst + "\nr := math.Float64bits(math.Float64frombits(a[0]) " + o.op + " math.Float64frombits(v))\n" +
				"if usual64(a[0], v, r, c.MXCSR) {\nd[0] = r\n" + done + next + "\n}"
			l.add(name+"X", "v := "+vecSrc+"[0]", try, call, next)
			l.add(name+"M", addrX, "if e := c.entry(a); e.R == (a+7)>>lineShift {\nv := *(*uint64)(unsafe.Add(e.P, a&lineMask))\n"+try+"\n}", call, next)
		}
	}
}

// call executes the handler.
const call = "c.cur = op\nop.fn(c, op)"

// bmi has shifts by a register, which leave the flags, and with flags that are
// dead some others.
func (l *loop) bmi() {
	for _, n := range []int{4, 8} {
		t := 8 * n
		count := fmt.Sprintf("(c.R[op.src2&31] & %d)", t-1)
		l.add(fmt.Sprintf("Shlx%d", t), set(dst, narrow(n, src+" << "+count)), next)
		l.add(fmt.Sprintf("Shrx%d", t), set(dst, narrow(n, src)+" >> "+count), next)
		l.add(fmt.Sprintf("Rorx%d", t), set(dst, fmt.Sprintf("uint64(bits.RotateLeft%d(uint%d(%s), -int(op.imm&%d)))", t, t, src, t-1)), next)
		l.add(fmt.Sprintf("Andn%d", t), set(dst, narrow(n, src+" &^ c.R[op.src2&31]")), next)
		l.add(fmt.Sprintf("Blsr%d", t), "{\nv := "+src+"\nc.R[op.src2&31] = "+narrow(n, "v & (v - 1)")+"\n}", next)
		l.add(fmt.Sprintf("Tzcnt%d", t), set(dst, fmt.Sprintf("uint64(bits.TrailingZeros%d(uint%d(%s)))", t, t, src)), next)
		l.add(fmt.Sprintf("Tzcnt%dF", t), "r := "+fmt.Sprintf("uint64(bits.TrailingZeros%d(uint%d(%s)))", t, t, src), set(dst, "r"), fmt.Sprintf("c.setCount(r, %d)", t), next)
	}
	l.add("Mulx64", "{\nhi, lo := bits.Mul64(c.R[RDX], "+src+")\nc.R[op.src2&31] = lo\nc.R[op.dst&31] = hi\n}", next)
}
