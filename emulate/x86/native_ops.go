//go:build linux && amd64

package x86

// How the run loop's integer codes are translated. Each job makes what the case
// in the run loop does: the same registers, memory and lazy flags.

type aluShape uint8

const (
	_       aluShape = iota
	shapeRR          // dst, src
	shapeRI          // src, imm
	shapeRM          // dst, memory
	shapeMR          // memory, dst
	shapeMI          // memory, imm
)

// An aluOp is an operation of two operands of size bytes; testOp stands for TEST.
type aluOp struct {
	k     uint8
	size  uint8
	shape aluShape
}

const testOp = 8

// A job translates Op i; host says that the host's flags are the guest's before
// it. It reports whether it could.
type job func(t *translator, i int, op *Op, host hostFlags) bool

var (
	jobs    = map[uint16]job{}
	unfused = map[uint16]uint16{} // what a code that does the next jump, too, does beside it
)

func init() {
	ops := map[uint16]aluOp{}
	both := func(k uint8, c [2]aluCode) {
		for n, c := range c {
			size := uint8(4) << n
			for s, code := range [...]uint16{shapeRR: c.rr, shapeRI: c.ri, shapeRM: c.rm, shapeMR: c.mr, shapeMI: c.mi} {
				if code != codeCall {
					ops[code] = aluOp{k, size, aluShape(s)}
				}
			}
			ops[c.rrF], ops[c.riF] = aluOp{k, size, shapeRR}, aluOp{k, size, shapeRI}
		}
	}
	for k, c := range aluCodes {
		both(k, c)
	}
	both(aluAdc, adcCodes)
	both(aluSbb, sbbCodes)
	for k, c := range alu8Codes {
		ops[c[0]], ops[c[1]] = aluOp{k, 1, shapeRR}, aluOp{k, 1, shapeRI}
	}
	for i := range 4 {
		for j, shape := range [...]aluShape{shapeRR, shapeRI, shapeRM, shapeMR, shapeMI} {
			ops[cmpCodes[j][i]] = aluOp{aluCmp, 1 << i, shape}
		}
		for j, shape := range [...]aluShape{shapeRR, shapeRI, shapeMI} {
			ops[testCodes[j][i]] = aluOp{testOp, 1 << i, shape}
		}
	}
	for code, a := range ops {
		jobs[code] = a.translate
	}
	for code, f := range fusions {
		unfused[f.code] = code
	}
	moveJobs()
	shiftJobs()
	miscJobs()
}

// one translates Op i as code.
func (t *translator) one(i int, op *Op, code uint16, host hostFlags) bool {
	if f := jobs[code]; f != nil {
		return f(t, i, op, host)
	}
	return false
}

// flagless says whether nobody sees the flags of an operation. Those of CMP and
// TEST are what they are for.
func (op *Op) flagless() bool { return op.attr&attrNF != 0 }

func (a aluOp) logic() bool {
	return a.k == aluAnd || a.k == aluOr || a.k == aluXor || a.k == testOp
}

func (a aluOp) carries() bool { return a.k == aluAdc || a.k == aluSbb }

// translate translates x k y. X is made in a register, or in DX if it is in
// memory; then CX is its address.
func (a aluOp) translate(t *translator, i int, op *Op, host hostFlags) bool {
	if a.shape == shapeRI || a.shape == shapeMI {
		if !fits(op.imm) && a.size == 8 {
			return false
		}
	}
	live := !op.flagless() || a.k == aluCmp || a.k == testOp
	if a.carries() {
		t.guestFlags(host, i, ccB)
	}
	// Where x and y are, and y as a host register (if it isn't a constant).
	var x, y uint8
	constant := false
	var home spot // of x in memory
	switch a.shape {
	case shapeRR:
		x, y = op.dst, t.get(op.src, hDX)
	case shapeRI:
		x, constant = op.src, true
	case shapeRM:
		p := t.memory(op, int(a.size), toRead, i)
		y = hDX
		t.loadWide(a.size, hDX, p)
		x = op.dst
	default:
		what := toRead | toWrite
		if a.k == aluCmp || a.k == testOp {
			what = toRead
		}
		p := t.memory(op, int(a.size), what, i)
		t.ins(8, 0x8D, hCX, p) // LEA
		home = spot{mem: true, reg: hCX, index: noIndex}
		if constant = a.shape == shapeMI; !constant {
			y = t.get(op.dst, hAX)
		}
		if !live {
			a.apply(t, home, y, constant, op)
			return true
		}
		t.loadWide(a.size, hDX, home)
		return a.withFlags(t, op, hDX, y, constant, func() {
			if what&toWrite != 0 {
				t.store(a.size, home, hDX)
			}
		})
	}
	keeps := a.k == aluCmp || a.k == testOp
	d := t.into(x, hAX)
	if keeps {
		d = hAX
	}
	if p := atReg(x); p.mem || keeps {
		t.load(8, d, p)
	}
	if !live {
		a.apply(t, inReg(d), y, constant, op)
		t.put(x, d)
		return true
	}
	return a.withFlags(t, op, d, y, constant, func() {
		if !keeps {
			t.put(x, d)
		}
	})
}

// loadWide loads size bytes, zero-extended.
func (t *translator) loadWide(size, reg uint8, p spot) {
	switch size {
	case 1:
		t.ins(4, 0x0FB6, reg, p)
	case 2:
		t.ins(4, 0x0FB7, reg, p)
	default:
		t.load(size, reg, p)
	}
}

// digit is the operation that makes the result.
func (a aluOp) digit() uint8 {
	switch a.k {
	case aluCmp:
		return aluSub
	case testOp:
		return aluAnd
	}
	return a.k
}

// apply does p = p k y.
func (a aluOp) apply(t *translator, p spot, y uint8, constant bool, op *Op) {
	if constant {
		t.aluImm(a.size, a.digit(), p, int32(op.imm))
	} else {
		t.aluTo(a.size, a.digit(), p, y)
	}
}

// withFlags does d = d k y and records the lazy flags; done, before the last of
// them, brings the result to where it belongs.
func (a aluOp) withFlags(t *translator, op *Op, d, y uint8, constant bool, done func()) bool {
	if !a.logic() {
		t.store(8, atFa, d)
		if constant {
			t.storeImm(8, atFb, int32(op.imm))
		} else {
			t.store(8, atFb, y)
		}
	}
	a.apply(t, inReg(d), y, constant, op)
	t.store(8, atFr, d)
	done()
	kind := uint8(fopSub)
	switch {
	case a.logic():
		kind = fopLogic
	case a.k == aluAdd || a.k == aluAdc:
		kind = fopAdd
	}
	t.kind(int(kind), a.size)
	if a.carries() {
		t.fop = -1
	}
	t.host = hostAll
	return true
}
