package overlay

import "github.com/racesim/racesim/emulate/x86"

// maxStatic bounds the instructions of a function that are looked at.
const maxStatic = 8000

// A regMask has a bit for each general register, then one for each vector
// register.
type regMask uint32

func gprBit(r uint8) regMask { return 1 << (r & 15) }
func xmmBit(r uint8) regMask { return 1 << (16 + r&15) }

// callDefines are the registers that a call may change (psABI 3.2.1).
func callDefines() regMask {
	var m regMask
	for _, r := range volatileRegs {
		m |= gprBit(uint8(r))
	}
	return m | 0xffff<<16
}

// A staticOp is what one instruction does to registers, and where it leads.
type staticOp struct {
	use, def regMask
	next     [2]uint64 // 0: none
	live     regMask   // before it
}

// staticLive says which registers may be read before they are written on some
// path of the function [lo, hi) from at: the classical backward analysis (Aho,
// Lam, Sethi, Ullman, section 9.2.5). What a call reads isn't known and counts
// as nothing; a return reads result. ok is false if the function can't be
// followed: code that isn't there, a jump through a table, too long.
func staticLive(code func(pc uint64) []byte, lo, hi, at uint64, result regMask) (live regMask, ok bool) {
	ops := map[uint64]*staticOp{}
	var order []uint64
	todo := []uint64{at}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if ops[pc] != nil {
			continue
		}
		if len(order) == maxStatic {
			return 0, false
		}
		o, ok := describeStatic(code(pc), pc, lo, hi, result)
		if !ok {
			return 0, false
		}
		ops[pc] = o
		order = append(order, pc)
		for _, n := range o.next {
			if n != 0 {
				todo = append(todo, n)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(order) - 1; i >= 0; i-- {
			o := ops[order[i]]
			var out regMask
			for _, n := range o.next {
				if n != 0 {
					out |= ops[n].live
				}
			}
			if in := o.use | out&^o.def; in != o.live {
				o.live, changed = in, true
			}
		}
	}
	return ops[at].live, true
}

func describeStatic(code []byte, pc, lo, hi uint64, result regMask) (*staticOp, bool) {
	if len(code) == 0 {
		return nil, false
	}
	in, err := x86.Describe(code, pc)
	if err != nil {
		return nil, false
	}
	o := &staticOp{}
	target := uint64(0)
	for i := range in.Operands {
		p := &in.Operands[i]
		switch p.Kind {
		case x86.OperandReg:
			if p.Read {
				o.use |= gprBit(p.Reg)
			}
			if p.Write && p.Size >= 4 {
				o.def |= gprBit(p.Reg)
			}
		case x86.OperandXMM:
			if p.Read {
				o.use |= xmmBit(p.Reg)
			}
			if p.Write && p.Size >= 16 { // an upper half that SSE leaves isn't looked at
				o.def |= xmmBit(p.Reg)
			}
		case x86.OperandMem:
			if r, ok := p.Elem.VectorIndex(); ok {
				o.use |= xmmBit(r)
			}
			for _, r := range []uint8{p.Mem.Base, p.Mem.Index} {
				if r < 16 {
					o.use |= gprBit(r)
				}
			}
		case x86.OperandTo:
			target = uint64(p.Imm)
		}
	}
	if zeroing(&in) {
		o.use = 0
	}
	after := pc + uint64(in.Len)
	inside := func(a uint64) bool { return a >= lo && a < hi }
	switch in.Branch {
	case x86.BranchNone, x86.BranchSyscall:
		o.next[0] = after
	case x86.BranchCond:
		o.next[0] = after
		if inside(target) {
			o.next[1] = target
		}
	case x86.BranchJump:
		if target == 0 {
			return nil, false
		}
		if inside(target) {
			o.next[0] = target
		}
		// A jump out of the function is a call whose return is the function's.
	case x86.BranchCall:
		o.def |= callDefines()
		o.next[0] = after
	case x86.BranchRet:
		o.use |= result
	case x86.BranchTrap:
		return o, true
	}
	if o.next[0] == after && !inside(after) {
		o.next[0] = 0 // falls off: a call that doesn't return
	}
	return o, true
}

// zeroing reports whether an instruction sets a register to a constant although
// it names it as read: xor and sub of a register with itself, and their like.
func zeroing(in *x86.Info) bool {
	if len(in.Operands) < 2 {
		return false
	}
	a, b := &in.Operands[0], &in.Operands[1]
	if len(in.Operands) > 2 && (in.Mnemonic == "vpxor" || in.Mnemonic == "vxorps" || in.Mnemonic == "vxorpd") {
		return b.Kind == in.Operands[2].Kind && b.Reg == in.Operands[2].Reg
	}
	if a.Kind != b.Kind || a.Reg != b.Reg || a.Size != b.Size || a.High != b.High {
		return false
	}
	switch a.Kind {
	case x86.OperandReg:
		return in.Mnemonic == "xor" || in.Mnemonic == "sub"
	case x86.OperandXMM:
		return in.Mnemonic == "pxor" || in.Mnemonic == "xorps" || in.Mnemonic == "xorpd"
	}
	return false
}
