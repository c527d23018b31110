package loadsub

import (
	"sort"

	"github.com/racesim/racesim/emulate/x86"
)

// The loops of a function are its natural loops: a header that dominates the
// source of a jump back to it, and all from which that jump is reached without
// passing the header (Aho, Lam, Sethi, Ullman, section 9.6). Nodes are single
// instructions.

// maxNodes bounds the instructions of a function that are looked at.
const maxNodes = 20_000

// A flow is the control flow of one function, as far as its code is known.
type flow struct {
	pcs   []uint64 // in reverse postorder; the first is the entry
	index map[uint64]int
	succ  [][]int
	pred  [][]int
	idom  []int // of all but the entry, that of it is itself
	// table says that some jump's targets aren't known from the code.
	table bool
}

// newFlow follows the code of [lo, hi) from entry. Further successors of
// indirect jumps can be given. hi 0: not known.
func newFlow(code func(pc uint64) []byte, lo, hi, entry uint64, jumps map[uint64][]uint64) *flow {
	if hi == 0 {
		hi = lo + 1<<16
	}
	f := &flow{index: map[uint64]int{}}
	next := map[uint64][]uint64{}
	todo := []uint64{entry}
	for len(todo) > 0 && len(next) < maxNodes {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := next[pc]; ok {
			continue
		}
		to, table := successors(code(pc), pc)
		f.table = f.table || table
		to = append(to, jumps[pc]...)
		kept := to[:0]
		for _, a := range to {
			if a >= lo && a < hi {
				kept = append(kept, a)
			}
		}
		next[pc] = kept
		todo = append(todo, kept...)
	}
	f.order(entry, next)
	f.dominators()
	return f
}

// successors lists where control goes from the instruction at pc, within its
// function; table says that this isn't known.
func successors(code []byte, pc uint64) (to []uint64, table bool) {
	if len(code) == 0 {
		return nil, false
	}
	in, err := x86.Describe(code, pc)
	if err != nil {
		return nil, false
	}
	target := uint64(0)
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == x86.OperandTo {
			target = uint64(o.Imm)
		}
	}
	after := pc + uint64(in.Len)
	switch in.Branch {
	case x86.BranchNone, x86.BranchSyscall, x86.BranchCall:
		return []uint64{after}, false
	case x86.BranchCond:
		return []uint64{after, target}, false
	case x86.BranchJump:
		if target == 0 {
			return nil, true
		}
		return []uint64{target}, false
	}
	return nil, false
}

// order numbers the nodes in reverse postorder.
func (f *flow) order(entry uint64, next map[uint64][]uint64) {
	type item struct {
		pc uint64
		k  int
	}
	seen := map[uint64]bool{entry: true}
	stack := []item{{entry, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if to := next[top.pc]; top.k < len(to) {
			a := to[top.k]
			top.k++
			if _, known := next[a]; known && !seen[a] {
				seen[a] = true
				stack = append(stack, item{a, 0})
			}
			continue
		}
		f.pcs = append(f.pcs, top.pc)
		stack = stack[:len(stack)-1]
	}
	for i, j := 0, len(f.pcs)-1; i < j; i, j = i+1, j-1 {
		f.pcs[i], f.pcs[j] = f.pcs[j], f.pcs[i]
	}
	for i, pc := range f.pcs {
		f.index[pc] = i
	}
	f.succ, f.pred = make([][]int, len(f.pcs)), make([][]int, len(f.pcs))
	for i, pc := range f.pcs {
		for _, a := range next[pc] {
			if k, ok := f.index[a]; ok {
				f.succ[i] = append(f.succ[i], k)
				f.pred[k] = append(f.pred[k], i)
			}
		}
	}
}

// dominators finds immediate dominators (Cooper, Harvey, Kennedy, "A Simple,
// Fast Dominance Algorithm").
func (f *flow) dominators() {
	f.idom = make([]int, len(f.pcs))
	for i := range f.idom {
		f.idom[i] = -1
	}
	f.idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(f.pcs); i++ {
			d := -1
			for _, p := range f.pred[i] {
				switch {
				case f.idom[p] < 0:
				case d < 0:
					d = p
				default:
					d = f.meet(d, p)
				}
			}
			if d != f.idom[i] {
				f.idom[i], changed = d, true
			}
		}
	}
}

func (f *flow) meet(a, b int) int {
	for a != b {
		for a > b {
			a = f.idom[a]
		}
		for b > a {
			b = f.idom[b]
		}
	}
	return a
}

func (f *flow) dominates(a, b int) bool {
	for b > a {
		b = f.idom[b]
	}
	return a == b
}

// headers returns the heads of the loops that contain the instruction at pc,
// innermost first.
func (f *flow) headers(pc uint64) []uint64 {
	at, ok := f.index[pc]
	if !ok {
		return nil
	}
	type loop struct {
		head uint64
		size int
	}
	var loops []loop
	for h := range f.pcs {
		if !f.dominates(h, at) {
			continue
		}
		body := map[int]bool{h: true}
		var todo []int
		for _, p := range f.pred[h] {
			if f.dominates(h, p) && !body[p] {
				body[p] = true
				todo = append(todo, p)
			}
		}
		loopy := len(todo) > 0
		for _, p := range f.pred[h] {
			loopy = loopy || p == h
		}
		for len(todo) > 0 {
			n := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, p := range f.pred[n] {
				if !body[p] {
					body[p] = true
					todo = append(todo, p)
				}
			}
		}
		if loopy && body[at] {
			loops = append(loops, loop{f.pcs[h], len(body)})
		}
	}
	sort.Slice(loops, func(i, j int) bool { return loops[i].size < loops[j].size })
	var out []uint64
	for _, l := range loops {
		out = append(out, l.head)
	}
	return out
}
