package detect

import (
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races"
)

// Compilers store sequentially consistent atomics with XCHG and throw away what
// it loads. Such an instruction right after a plain load of the same variable
// is the second half of an update that isn't atomic, if the values are like it:
// then it counts as a store. One whose loaded value is used exchanges: the
// contended path of a lock loads 1, exchanges it for 2 and looks at what it got.

const (
	// exchangeWindow is how long after the load, in instructions.
	exchangeWindow = 8
	// discardWindow bounds the instructions looked at for a use of what an
	// exchange loaded.
	discardWindow = 48
)

// loaded notes a plain load.
func (f *follower) loaded(e *races.Event) { f.plain = *e }

// exchanges reports whether the store e, half of an atomic instruction, is an
// XCHG of the program that follows a plain load of the same bytes in the same
// call, and whose own load isn't used.
func (f *follower) exchanges(c *x86.CPU, e *races.Event) bool {
	l := &f.plain
	return l.N == e.N && l.Addr == e.Addr && l.Ctx == e.Ctx && e.Count-l.Count <= exchangeWindow && e.N <= 8 &&
		e.Flags&races.Internal == 0 && races.LooksUpdated(l.Value, e.Value, int(e.N)) && f.stores(c, e.PC)
}

// stores reports whether the instruction at pc is an XCHG that only stores.
func (f *follower) stores(c *x86.CPU, pc uint64) bool {
	x, known := f.exchange[pc]
	if !known {
		x = discards(func(pc uint64) []byte { return f.t.Code(c, pc) }, pc)
		if f.exchange == nil {
			f.exchange = map[uint64]bool{}
		}
		f.exchange[pc] = x
	}
	return x
}

// discards reports whether the instruction at pc is XCHG and the register that
// it loads is overwritten before it is read, on every path. What can't be
// followed, a call that the register may be an argument of and a return that it
// may be the result of count as reads.
func discards(code func(pc uint64) []byte, pc uint64) bool {
	in, err := x86.Describe(code(pc), pc)
	if err != nil || in.Mnemonic != "xchg" || len(in.Operands) < 2 {
		return false
	}
	reg := in.Operands[0]
	if reg.Kind != x86.OperandReg {
		reg = in.Operands[1]
	}
	if reg.Kind != x86.OperandReg || reg.High {
		return false
	}
	seen := map[uint64]bool{}
	todo := []uint64{pc + uint64(in.Len)}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		if seen[at] = true; len(seen) > discardWindow {
			return false
		}
		in, err := x86.Describe(code(at), at)
		if err != nil {
			return false
		}
		read, written, target := touches(&in, &reg)
		if read {
			return false
		}
		if written {
			continue
		}
		switch in.Branch {
		case x86.BranchNone:
			todo = append(todo, at+uint64(in.Len))
		case x86.BranchCond:
			todo = append(todo, at+uint64(in.Len), target)
		case x86.BranchJump:
			if target == 0 {
				return false
			}
			todo = append(todo, target)
		case x86.BranchRet:
			if reg.Reg == x86.RAX || reg.Reg == x86.RDX || !scratch[reg.Reg] {
				return false
			}
		case x86.BranchCall:
			// Other scratch registers don't survive it and aren't arguments.
			if reg.Reg != x86.R10 && reg.Reg != x86.R11 && reg.Reg != x86.RAX {
				return false
			}
			if reg.Reg == x86.RAX && target == 0 {
				return false // may be a function with variable arguments
			}
		case x86.BranchTrap:
		default:
			return false
		}
	}
	return true
}

// scratch are the registers that a function needn't preserve (psABI 3.2.1).
var scratch = [16]bool{x86.RAX: true, x86.RCX: true, x86.RDX: true, x86.RSI: true, x86.RDI: true, x86.R8: true, x86.R9: true, x86.R10: true, x86.R11: true}

// touches says what an instruction does with the register of reg.
func touches(in *x86.Info, reg *x86.Operand) (read, written bool, target uint64) {
	clears := len(in.Operands) >= 2 && (in.Mnemonic == "xor" || in.Mnemonic == "sub") &&
		in.Operands[0].Kind == x86.OperandReg && in.Operands[1].Kind == x86.OperandReg && in.Operands[0].Reg == in.Operands[1].Reg
	for i := range in.Operands {
		o := &in.Operands[i]
		switch o.Kind {
		case x86.OperandReg:
			if o.Reg != reg.Reg {
				continue
			}
			read = read || o.Read && !clears
			// Writing 32 bits clears the others.
			written = written || o.Write && !o.High && o.Size >= min(reg.Size, 4)
		case x86.OperandMem:
			read = read || o.Mem.Base == reg.Reg || o.Mem.Index == reg.Reg
		case x86.OperandTo:
			target = uint64(o.Imm)
		}
	}
	return read, written, target
}
