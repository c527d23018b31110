package loadsub

import "github.com/racesim/racesim/emulate/x86"

// Again says whether control can come back to the instruction at pc, in the
// function [lo, hi), without a call that through says no to: it is given
// where they are and what they call. known is false if the function's control flow isn't.
func Again(code func(pc uint64) []byte, lo, hi, pc uint64, through func(site, target uint64) bool) (again, known bool) {
	f := newFlow(code, lo, hi, lo, nil)
	at, ok := f.index[pc]
	if !ok {
		return false, false
	}
	seen := map[int]bool{}
	todo := append([]int(nil), f.succ[at]...)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == at {
			return true, true
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		if to := called(code(f.pcs[n]), f.pcs[n]); to != 0 && !through(f.pcs[n], to) {
			continue
		}
		todo = append(todo, f.succ[n]...)
	}
	return false, !f.table
}

// called returns what the instruction at pc calls, 0 if it is no call or its
// target isn't known.
func called(code []byte, pc uint64) uint64 {
	if len(code) == 0 {
		return 0
	}
	in, err := x86.Describe(code, pc)
	if err != nil || in.Branch != x86.BranchCall {
		return 0
	}
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == x86.OperandTo {
			return uint64(o.Imm)
		}
	}
	return 0
}
