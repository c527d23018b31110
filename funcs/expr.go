package funcs

import (
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/frame"
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
	opConstu       = 0x10
	opLit0         = 0x30
	opLit31        = 0x4f
	opReg0         = 0x50
	opReg31        = 0x6f
	opPiece        = 0x93
	opStackValue   = 0x9f
	opAddrx        = 0xa1
	opConstx       = 0xa2
)

// A piece is a part of a variable with static storage: all of it, unless the
// compiler split it up (DWARF 5, 2.6.1.2).
type piece struct {
	addr uint64 // or offset in the module's thread-local storage
	off  uint64 // in the variable
	size uint64 // bytes; 0: all of the variable
}

// staticLocation recognises the location of a variable that has a fixed
// address, or a fixed offset in its module's thread-local storage. Parts of it
// that aren't in memory are left out.
func (g *debugInfo) staticLocation(u *unit, b []byte) (ps []piece, tls, ok bool) {
	var addr, off uint64
	const (
		nothing = iota
		number
		address
		value
	)
	top := nothing
	for len(b) > 0 {
		c := b[0]
		b = b[1:]
		arg, n := uleb(b)
		switch {
		case c == opAddr && len(b) >= 8:
			addr, top, n = le.Uint64(b), address, 8
		case c == opAddrx && n > 0:
			a, ok := g.address(u, arg)
			if !ok {
				return nil, false, false
			}
			addr, top = a, address
		case c == opConst8u && len(b) >= 8:
			addr, top, n = le.Uint64(b), number, 8
		case c == opConst4u && len(b) >= 4:
			addr, top, n = uint64(le.Uint32(b)), number, 4
		case c == opConstx && n > 0:
			a, ok := g.address(u, arg)
			if !ok {
				return nil, false, false
			}
			addr, top = a, number
		case c == opConstu && n > 0:
			addr, top = arg, number
		case c >= opLit0 && c <= opLit31:
			addr, top, n = uint64(c-opLit0), number, 0
		case c == opPlusUconst && n > 0 && top == address:
			addr += arg
		case (c == opFormTLS || c == opGNUPushTLS) && (top == number || top == address):
			tls, top, n = true, address, 0
		case c == opStackValue && top != nothing:
			top, n = value, 0
		case c == opPiece && n > 0:
			if top == address {
				ps = append(ps, piece{addr, off, arg})
			}
			off, top = off+arg, nothing
		default:
			return nil, false, false
		}
		b = b[n:]
	}
	if top == address && off == 0 {
		ps = append(ps, piece{addr: addr})
	}
	return ps, tls, len(ps) > 0
}

// address returns entry i of a unit's part of .debug_addr.
func (g *debugInfo) address(u *unit, i uint64) (uint64, bool) {
	at := u.addrBase + 8*i
	if i > uint64(len(g.addrs)) || at > uint64(len(g.addrs))-8 || len(g.addrs) < 8 {
		return 0, false
	}
	return le.Uint64(g.addrs[at:]), true
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
	base, ok := g.frameBase(s, pc, cfa)
	if !ok {
		return 0, false
	}
	regs := op.DwarfRegisters{CFA: int64(cfa), FrameBase: int64(base), ByteOrder: le}
	a, pieces, err := evaluate(regs, expr)
	if err != nil || pieces != nil {
		return 0, false
	}
	return uint64(a), true
}

// frameBase is what offsets of locals count from: the CFA, or a register that
// .eh_frame says is at a fixed distance from it.
func (g *debugInfo) frameBase(s *subprogram, pc, cfa uint64) (uint64, bool) {
	if len(s.frame) == 0 || s.frame[0] == opCallFrameCFA {
		return cfa, true
	}
	if len(s.frame) != 1 || s.frame[0] < opReg0 || s.frame[0] > opReg31 {
		return 0, false
	}
	rule, ok := g.m.cfaRule(pc)
	if !ok || rule.Rule != frame.RuleCFA || rule.Reg != uint64(s.frame[0]-opReg0) {
		return 0, false // relative to a register that nobody kept
	}
	return cfa - uint64(rule.Offset), true
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
		if c == opStackValue { // computed, not in memory
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
		addrs := godwarf.ParseAddr(g.addrs).GetSubsection(u.addrBase)
		e, err := g.loc5.Find(int(off), 0, u.base, pc, addrs)
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
