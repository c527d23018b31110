package funcs

import (
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/op"
)

// Opcodes of location expressions (DWARF 5, table 7.9) that are recognised
// without evaluating them.
const (
	opAddr         = 0x03
	opConst8u      = 0x0e
	opConst4u      = 0x0c
	opPlusUconst   = 0x23
	opFormTLS      = 0x9b
	opGNUPushTLS   = 0xe0
	opCallFrameCFA = 0x9c
)

// staticLocation recognises the location of a variable that has a fixed
// address, or a fixed offset in its module's thread-local storage.
func staticLocation(b []byte) (addr uint64, tls, ok bool) {
	switch {
	case len(b) == 9 && b[0] == opAddr:
		return le.Uint64(b[1:]), false, true
	case len(b) > 10 && b[0] == opAddr && b[9] == opPlusUconst:
		n, k := uleb(b[10:])
		return le.Uint64(b[1:]) + n, false, 10+k == len(b)
	case len(b) == 10 && (b[0] == opConst8u || b[0] == opAddr) && (b[9] == opFormTLS || b[9] == opGNUPushTLS):
		return le.Uint64(b[1:]), true, true
	case len(b) == 6 && b[0] == opConst4u && (b[5] == opFormTLS || b[5] == opGNUPushTLS):
		return uint64(le.Uint32(b[1:])), true, true
	}
	return 0, false, false
}

// uleb decodes an unsigned LEB128 number and returns its length, 0 if b ends
// inside it.
func uleb(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i < 10 {
			v |= uint64(c&0x7f) << (7 * i)
		}
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// location evaluates the expression of a local at file address pc in a frame
// with the given CFA. ok is false if the variable isn't in memory there.
func (g *debugInfo) location(u *unit, s *subprogram, l *localDIE, pc, cfa uint64) (addr uint64, ok bool) {
	expr := l.expr
	if l.list >= 0 {
		if expr = g.fromList(u, l.list, pc); expr == nil {
			return 0, false
		}
	}
	if len(expr) == 0 {
		return 0, false
	}
	regs := op.DwarfRegisters{CFA: int64(cfa), FrameBase: int64(cfa), ByteOrder: le}
	if len(s.frame) > 0 && s.frame[0] != opCallFrameCFA {
		return 0, false // relative to a register that nobody kept
	}
	a, pieces, err := evaluate(regs, expr)
	if err != nil || pieces != nil {
		return 0, false
	}
	return uint64(a), true
}

// evaluate guards the evaluator, which trusts its input.
func evaluate(regs op.DwarfRegisters, expr []byte) (a int64, pieces []op.Piece, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed location expression: %v", r)
		}
	}()
	switch expr[0] {
	case byte(op.DW_OP_fbreg), byte(op.DW_OP_call_frame_cfa):
	default:
		// Anything else depends on registers at pc.
		return 0, nil, fmt.Errorf("depends on registers")
	}
	for _, c := range expr {
		if c == 0x9f { // DW_OP_stack_value: computed, not in memory
			return 0, nil, fmt.Errorf("not in memory")
		}
	}
	return op.ExecuteStackProgram(regs, expr, 8, nil)
}

// fromList returns the expression of a location list that holds at pc.
func (g *debugInfo) fromList(u *unit, off int64, pc uint64) (expr []byte) {
	defer func() {
		if recover() != nil {
			expr = nil
		}
	}()
	if u.v5 {
		if g.loc5 == nil {
			return nil
		}
		e, err := g.loc5.Find(int(off), 0, u.base, pc, (*godwarf.DebugAddr)(nil))
		if err != nil || e == nil {
			return nil
		}
		return e.Instr
	}
	// DWARF 4: pairs of offsets from the base, then a length and the bytes.
	base := u.base
	for b := g.loc2; off >= 0 && off+16 <= int64(len(b)); {
		lo, hi := le.Uint64(b[off:]), le.Uint64(b[off+8:])
		off += 16
		if lo == 0 && hi == 0 {
			return nil
		}
		if lo == ^uint64(0) {
			base = hi
			continue
		}
		if off+2 > int64(len(b)) {
			return nil
		}
		n := int64(le.Uint16(b[off:]))
		off += 2
		if off+n > int64(len(b)) {
			return nil
		}
		if pc >= base+lo && pc < base+hi {
			return b[off : off+n]
		}
		off += n
	}
	return nil
}
