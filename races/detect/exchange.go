package detect

import (
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races"
)

// Compilers store sequentially consistent atomics with XCHG and throw away what
// it loads. Such an instruction right after a plain load of the same variable
// is the second half of an update that isn't atomic, if the values are like it:
// then it counts as a store.

// exchangeWindow is how long after the load, in instructions.
const exchangeWindow = 8

// loaded notes a plain load.
func (f *follower) loaded(e *races.Event) { f.plain = *e }

// exchanges reports whether the store e, half of an atomic instruction, is an
// XCHG that follows a plain load of the same bytes in the same call.
func (f *follower) exchanges(c *x86.CPU, e *races.Event) bool {
	l := &f.plain
	return l.N == e.N && l.Addr == e.Addr && l.Ctx == e.Ctx && e.Count-l.Count <= exchangeWindow && e.N <= 8 &&
		races.LooksUpdated(l.Value, e.Value, int(e.N)) && f.isExchange(c, e.PC)
}

// isExchange reports whether the instruction at pc is XCHG.
func (f *follower) isExchange(c *x86.CPU, pc uint64) bool {
	x, known := f.exchange[pc]
	if !known {
		if in, err := x86.Describe(f.t.Code(c, pc), pc); err == nil {
			x = in.Mnemonic == "xchg"
		}
		if f.exchange == nil {
			f.exchange = map[uint64]bool{}
		}
		f.exchange[pc] = x
	}
	return x
}
