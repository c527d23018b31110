package detect

import "github.com/racesim/racesim/emulate/x86"

// blind reports whether nothing but the memory that it updates depends on what
// the plain instruction at pc loads.
func (f *follower) blind(c *x86.CPU, pc uint64) bool {
	b, known := f.blinds[pc]
	if !known {
		b = blind(func(pc uint64) []byte { return f.t.Code(c, pc) }, pc)
		if f.blinds == nil {
			f.blinds = map[uint64]bool{}
		}
		f.blinds[pc] = b
	}
	return b
}

// blind reports whether the instruction at pc updates memory, changes no
// register, and leaves flags that are overwritten before they are read, on every
// path. Calls and returns don't carry flags (psABI 3.2.1). What can't be
// followed counts as a read.
func blind(code func(pc uint64) []byte, pc uint64) bool {
	in, err := x86.Describe(code(pc), pc)
	if err != nil || in.Lock || in.Repeat || in.Branch != x86.BranchNone {
		return false
	}
	updates := false
	for i := range in.Operands {
		o := &in.Operands[i]
		switch {
		case o.Kind == x86.OperandMem:
			updates = updates || o.Read && o.Write
		case o.Write:
			return false
		}
	}
	if !updates {
		return false
	}
	type place struct{ pc, flags uint64 }
	seen := map[place]bool{}
	todo := []place{{pc + uint64(in.Len), in.FlagsWritten | in.FlagsUndefined}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.flags == 0 || seen[at] {
			continue
		}
		if seen[at] = true; len(seen) > discardWindow {
			return false
		}
		in, err := x86.Describe(code(at.pc), at.pc)
		if err != nil || in.FlagsRead&at.flags != 0 {
			return false
		}
		next := place{at.pc + uint64(in.Len), at.flags &^ (in.FlagsWritten | in.FlagsUndefined)}
		target := uint64(0)
		for i := range in.Operands {
			if o := &in.Operands[i]; o.Kind == x86.OperandTo {
				target = uint64(o.Imm)
			}
		}
		switch in.Branch {
		case x86.BranchNone:
			todo = append(todo, next)
		case x86.BranchCond:
			todo = append(todo, next, place{target, next.flags})
		case x86.BranchJump:
			if target == 0 {
				return false
			}
			todo = append(todo, place{target, next.flags})
		case x86.BranchCall, x86.BranchRet, x86.BranchTrap:
		default:
			return false
		}
	}
	return true
}
