package x86

// Transcendental instructions: special cases by the tables of the SDM volume
// 2, the rest by x87_trans.go.

// x87Trig is FSIN and FCOS: f picks the result.
func x87Trig(f func(e *fpEnv, a Float80, x *fpNum) Float80) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		c.F.SW &^= swC2
		if c.F.empty(0) {
			c.underflow(op, 0, 0)
			return
		}
		a := *c.F.st(0)
		x := unpack(a)
		if c.tooLarge(op, &x) {
			return
		}
		e := c.fpEnv()
		r, nan := e.trigNaN(a, &x)
		if !nan {
			r = f(&e, a, &x)
		}
		if c.report(op, e.exc) == 0 {
			c.F.set(0, r)
		}
	}
}

// tooLarge sets C2 and does nothing else for arguments from 2^63 on.
func (c *CPU) tooLarge(op *Op, x *fpNum) bool {
	if x.class != fpFinite || x.exp < 63 {
		return false
	}
	c.report(op, 0)
	c.F.SW |= swC2
	return true
}

func (e *fpEnv) trigNaN(a Float80, x *fpNum) (Float80, bool) {
	if x.class == fpIsInf {
		return e.invalid(), true
	}
	return e.nan1(a, x)
}

func (e *fpEnv) sin(a Float80, x *fpNum) Float80 {
	if x.class == fpIsZero {
		return a
	}
	e.denormals(x, x)
	if x.exp < tiny {
		return e.deliverAs(x)
	}
	s, _ := sinCos(reduce(x))
	return e.deliver(s)
}

func (e *fpEnv) cos(_ Float80, x *fpNum) Float80 {
	if x.class == fpIsZero {
		return fpOne
	}
	e.denormals(x, x)
	if x.exp < tiny {
		e.exc |= swPE
		return fpOne
	}
	_, c := sinCos(reduce(x))
	return e.deliver(c)
}

// x87TrigPush is FSINCOS and FPTAN: f gives what replaces ST(0) and what is
// pushed.
func x87TrigPush(f func(e *fpEnv, a Float80, x *fpNum) (r, pushed Float80)) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		fp := &c.F
		fp.SW &^= swC2
		if fp.empty(0) || !fp.empty(7) {
			exc := uint16(stackOverflow)
			if fp.empty(0) {
				exc = stackUnderflow
			}
			if c.report(op, exc) == 0 {
				fp.set(0, fpIndefinite)
				fp.push(fpIndefinite)
			}
			return
		}
		a := *fp.st(0)
		x := unpack(a)
		if c.tooLarge(op, &x) {
			return
		}
		e := c.fpEnv()
		r, nan := e.trigNaN(a, &x)
		p := r
		if !nan {
			r, p = f(&e, a, &x)
		}
		if c.report(op, e.exc) == 0 {
			fp.set(0, r)
			fp.push(p)
		}
	}
}

func (e *fpEnv) sincos(a Float80, x *fpNum) (r, pushed Float80) {
	if x.class == fpIsZero {
		return a, fpOne
	}
	e.denormals(x, x)
	if x.exp < tiny {
		return e.deliverAs(x), fpOne
	}
	s, c := sinCos(reduce(x))
	r = e.deliver(s)
	exc := e.exc &^ swC1
	e.exc = 0
	pushed = e.deliver(c)
	e.exc |= exc
	return r, pushed
}

func (e *fpEnv) tan(a Float80, x *fpNum) (r, pushed Float80) {
	if x.class == fpIsZero {
		return a, fpOne
	}
	e.denormals(x, x)
	if x.exp < tiny {
		return e.deliverAs(x), fpOne
	}
	s, c := sinCos(reduce(x))
	return e.deliver(s.div(c)), fpOne
}

// x87Binary2 replaces ST(1) by f(ST(0), ST(1)) and pops.
func x87Binary2(f func(e *fpEnv, a, b Float80) Float80) handler {
	return func(c *CPU, op *Op) {
		c.checkMF(op)
		fp := &c.F
		if fp.empty(0) || fp.empty(1) {
			c.underflow(op, 1, 1)
			return
		}
		e := c.fpEnv()
		r := f(&e, *fp.st(0), *fp.st(1))
		if c.report(op, e.exc) == 0 {
			fp.set(1, r)
			fp.pop()
		}
	}
}

// patan is the angle of the point (a, b): arctan(b/a) in all four quadrants.
func (e *fpEnv) patan(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	e.denormals(&x, &y)
	var r wide
	switch {
	case y.class == fpIsInf && x.class == fpIsInf:
		r = atan16[16]
		if x.neg {
			r = widePi.add(r.minus())
		}
	case y.class == fpIsInf || x.class == fpIsZero && y.class != fpIsZero:
		r = wideHalfPi
	case y.class == fpIsZero || x.class == fpIsInf:
		if !x.neg {
			return fpZero(y.neg)
		}
		r = widePi
	default:
		wy, wx := y.wide(), x.wide()
		wy.neg, wx.neg = false, false
		r = atan(wy, wx)
		if x.neg {
			r = widePi.add(r.minus())
		}
	}
	r.neg = y.neg
	return e.deliver(r)
}

// f2xm1 is 2^a - 1 for -1 ≤ a ≤ 1; other arguments are undefined and come back
// as they are.
func (e *fpEnv) f2xm1(a Float80) Float80 {
	x := unpack(a)
	if r, ok := e.nan1(a, &x); ok {
		return r
	}
	switch {
	case x.class == fpIsInf && x.neg:
		return Float80{1 << 63, bias80 | 0x8000}
	case x.class != fpFinite:
		return a
	}
	e.denormals(&x, &x)
	switch {
	case x.exp >= 0 && x.man == 1<<63 && x.exp == 0 && x.neg:
		e.exc |= swPE
		return Float80{1 << 63, bias80 - 1 | 0x8000}
	case x.exp >= 0:
		e.exc |= swPE
		return a
	}
	return e.deliver(exp2m1(x.wide()))
}

// yl2x is b × log2 a.
func (e *fpEnv) yl2x(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	if x.neg && x.class != fpIsZero {
		return e.invalid()
	}
	one := x.class == fpFinite && x.exp == 0 && x.man == 1<<63
	below := x.class == fpIsZero || x.class == fpFinite && x.exp < 0
	switch {
	case x.class == fpIsZero:
		switch y.class {
		case fpIsZero:
			return e.invalid()
		case fpIsInf:
			return fpInf(!y.neg)
		}
		e.denormals(&x, &y)
		e.exc |= swZE
		return fpInf(!y.neg)
	case y.class == fpIsInf:
		if one {
			return e.invalid()
		}
		e.denormals(&x, &y)
		return fpInf(y.neg != below)
	case x.class == fpIsInf:
		if y.class == fpIsZero {
			return e.invalid()
		}
		e.denormals(&x, &y)
		return fpInf(y.neg)
	}
	e.denormals(&x, &y)
	if y.class == fpIsZero || one {
		return fpZero(y.neg != below)
	}
	l, exact := log2(&x)
	r := l.mul(y.wide())
	if exact { // reported as inexact all the same
		e.exc |= swPE
		if r.exp < emin80 {
			e.exc |= swUE
		}
		return e.roundPrec(r.neg, r.exp, r.hi, r.lo, 64)
	}
	return e.deliver(r)
}

// yl2xp1 is b × log2(a+1) for |a| below 1-√½; other arguments are undefined.
func (e *fpEnv) yl2xp1(a, b Float80) Float80 {
	x, y := unpack(a), unpack(b)
	if r, ok := e.nan(a, b, &x, &y); ok {
		return r
	}
	switch {
	case x.class == fpIsZero && y.class == fpIsInf || x.class == fpIsInf && (y.class == fpIsZero || x.neg):
		return e.invalid()
	case x.class == fpIsInf:
		e.denormals(&x, &y)
		return fpInf(y.neg)
	case x.class == fpFinite && y.class == fpIsInf:
		e.denormals(&x, &y)
		return fpInf(y.neg != x.neg)
	}
	e.denormals(&x, &y)
	if x.class == fpIsZero || y.class == fpIsZero {
		return fpZero(x.neg != y.neg)
	}
	two := wide{exp: 1, hi: 1 << 63}
	w := x.wide()
	if x.exp >= -1 { // outside the range, or near its end: by the logarithm
		m := w.add(wide{hi: 1 << 63})
		if m.zero() || m.neg {
			e.exc |= swPE
			return a
		}
		n := fpNum{man: m.hi, exp: m.exp}
		l, _ := log2(&n)
		return e.deliver(l.mul(y.wide()))
	}
	s := w.div(two.add(w))
	return e.deliver(atanhLog2(s).mul(y.wide()))
}
