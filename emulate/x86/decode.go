package x86

import "errors"

// decodeOp decodes the instruction at pc from code. It never fails: bytes that
// are no supported instruction give an Op that stops when it is executed. ok
// is false if code ends before the instruction does; short only matters if
// code may be continued. The form is nil when there is none.
func decodeOp(code []byte, pc uint64) (op Op, f *form, ok bool) {
	return decodeWith(new(inst), code, pc)
}

// decodeWith is decodeOp with d for scratch.
func decodeWith(d *inst, code []byte, pc uint64) (op Op, f *form, ok bool) {
	*d = inst{code: code, pc: pc}
	f, err := d.decode()
	if err == errTruncated {
		return Op{}, nil, false
	}
	if err != nil {
		return badOp(d, err), nil, true
	}
	return buildOp(d, f), f, true
}

var (
	errTruncated = errors.New("the bytes end before the instruction does")
	errTooLong   = errors.New("longer than 15 bytes")
	errNoForm    = errors.New("no such instruction in the table")
	errBadLock   = errors.New("LOCK isn't allowed here")
	errIllegal   = errors.New("an illegal VEX prefix")
)

// decode takes the whole instruction and returns its form.
func (d *inst) decode() (f *form, err error) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case errShort:
			err = errTruncated
			if d.off >= maxInst {
				err = errTooLong
			}
		default:
			panic(r)
		}
	}()
	d.parse()
	if d.illegal {
		return nil, errIllegal
	}
	l := forms()[d.opmap][d.opcode]
	if len(l) == 0 {
		return nil, errNoForm
	}
	for _, f := range l {
		if f.modrm {
			d.takeModRM()
			break
		}
	}
	for _, f = range l {
		if f.matches(d) {
			d.takeImms(f)
			if d.lock && !(d.hasModRM && d.mod != 3 && f.toRM() && lockable[f.mnem]) {
				return nil, errBadLock
			}
			return f, nil
		}
	}
	return nil, errNoForm
}

// lockable holds the instructions that take a LOCK prefix with a memory
// destination (SDM volume 2, LOCK).
var lockable = map[string]bool{
	"add": true, "adc": true, "and": true, "btc": true, "btr": true, "bts": true,
	"cmpxchg": true, "cmpxchg8b": true, "cmpxchg16b": true, "dec": true, "inc": true,
	"neg": true, "not": true, "or": true, "sbb": true, "sub": true, "xor": true,
	"xadd": true, "xchg": true,
}

func (d *inst) takeImms(f *form) {
	for i, k := range f.imms {
		var v int64
		switch k {
		case "ib":
			v = d.signed(1)
		case "iw":
			v = d.signed(2)
		case "id":
			v = d.signed(4)
		case "io":
			v = d.signed(8)
		case "iz":
			if d.opsize && !d.w() {
				v = d.signed(2)
			} else {
				v = d.signed(4)
			}
		case "cb":
			v, d.target = d.signed(1), true
		case "cd":
			v, d.target = d.signed(4), true
		case "mo":
			d.base, d.idx = RegZero, RegZero
			if d.addr32 {
				d.disp = int64(uint32(d.signed(4)))
			} else {
				d.disp = d.signed(8)
			}
		}
		if i == 0 {
			d.imm = v
		} else {
			d.imm2 = v
		}
	}
}

// buildOp fills an Op from a decoded instruction.
func buildOp(d *inst, f *form) Op {
	op := Op{
		code: codeCall,
		base: RegZero, idx: RegZero, seg: RegZero,
		len:  uint8(d.off),
		imm:  d.imm,
		aux:  uint8(d.imm2),
		src2: d.vvvv,
		pc:   d.pc,
		fn:   f.fn,
	}
	switch {
	case f.vec && d.long:
		op.size = 32
	case f.vec:
		op.size = 16
	case f.v:
		op.size = d.opSize()
	case f.d && d.opsize && !d.w():
		op.size = 2
	case f.d:
		op.size = 8
	case f.y && d.w():
		op.size = 8
	case f.y:
		op.size = 4
	default:
		op.size = f.fixSize
	}
	next := d.pc + uint64(d.off)
	if d.target {
		op.imm += int64(next)
	}
	if d.rep == 0xF3 && !d.vex {
		op.attr |= attrRep
	} else if d.rep == 0xF2 && !d.vex {
		op.attr |= attrRepne
	}
	op.seg = d.seg
	if d.addr32 {
		op.attr |= attrA32
	}
	if d.hasModRM {
		op.dst, op.src = d.reg, d.rm
		if d.mod != 3 {
			op.attr |= attrMem
			op.base, op.idx, op.scale, op.disp = d.base, d.idx, d.scale, d.disp
			if d.ripRel {
				op.disp += int64(next)
			}
		}
	}
	d.placeRegs(f, &op)
	if op.attr&attrMem != 0 && (d.lock || f.mnem == "xchg") {
		op.attr |= attrLock
	}
	if op.attr&(attrMem|attrLock) == attrMem && f.rmw && op.size <= 8 {
		op.attr |= attrRMW
	}
	if f.vsib {
		op.aux = d.sib>>3&7 | d.rex&2<<2
		op.imm, op.idx, op.scale = int64(d.sib>>6), RegZero, 0
	}
	if op.attr&attrMem != 0 && op.seg != RegZero && op.idx == RegZero && op.attr&attrA32 == 0 {
		// A segment base is added like an index.
		op.idx, op.scale, op.seg = op.seg, 0, RegZero
	}
	if f.build != nil {
		f.build(d, &op)
	}
	return op
}

// placeRegs narrows register numbers to what their class has: high bytes,
// eight MMX and x87 registers, no REX.B on an opcode's.
func (d *inst) placeRegs(f *form, op *Op) {
	if f.opKind >= 0 {
		if f.plusI {
			op.dst, op.src = d.modrm&7, d.modrm&7
		} else {
			op.dst = d.opcode&7 | d.rex&1<<3
			op.dst = d.narrow(f.args[f.opKind], op.dst)
		}
	}
	if f.regKind >= 0 {
		op.dst = d.narrow(f.args[f.regKind], op.dst)
	}
	if f.rmKind >= 0 && d.mod == 3 {
		op.src = d.narrow(f.args[f.rmKind], op.src)
	}
	for _, k := range f.imms {
		if k == "mo" {
			op.attr |= attrMem
			op.disp = d.disp
		}
	}
}

func (d *inst) narrow(o operand, r uint8) uint8 {
	switch o.class {
	case classMM, classST, classSeg:
		return r & 7
	case classGPR:
		if o.size == 1 && d.rex == 0 && r >= 4 {
			return r - 4 + highByte
		}
	}
	return r
}

// badOp is what bytes decode to that the table doesn't have.
func badOp(d *inst, err error) Op {
	op := Op{code: codeCall, len: uint8(max(d.off, 1)), pc: d.pc, attr: attrEnd, fn: execUnsupported,
		base: RegZero, idx: RegZero, seg: RegZero}
	switch err {
	case errBadLock, errIllegal:
		op.fn = execUD
	case errTooLong:
		op.fn = execGP
	}
	return op
}

// execUnsupported does what processors without an instruction do: #UD.
func execUnsupported(c *CPU, op *Op) {
	c.cur = op
	panic(&Stop{Kind: StopFault, Vector: VecUD, Bytes: c.codeAt(op)})
}

func execUD(c *CPU, op *Op) { c.raise(op, VecUD) }
func execGP(c *CPU, op *Op) { c.raise(op, VecGP) }

// codeAt returns a copy of op's bytes.
func (c *CPU) codeAt(op *Op) []byte {
	b := c.fetch(op.pc)
	return append([]byte(nil), b[:min(len(b), max(int(op.len), 1))]...)
}

// fetch returns the bytes from pc on: to the end of the page, and some of the
// next page when an instruction may reach into it. nil: nothing executable.
func (c *CPU) fetch(pc uint64) []byte {
	b := c.Mem.Code(c, pc)
	if len(b) == 0 || len(b) >= maxInst {
		return b
	}
	more := c.Mem.Code(c, pc+uint64(len(b)))
	more = more[:min(len(more), maxInst)]
	return append(append(make([]byte, 0, len(b)+len(more)), b...), more...)
}

// raise ends op with a fault that has error code 0.
func (c *CPU) raise(op *Op, vector uint8) {
	c.cur = op
	panic(&Stop{Kind: StopFault, Vector: vector})
}
