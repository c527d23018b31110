package detect

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
)

// Some accesses are the compiler's, not the program's. A conditional move loads
// what the program might not have read, and throws it away. A destructor begins
// by storing the pointer to its class's table of virtual functions, which is
// already there if the object is of this very class.

// thrownAway reports whether what the executing instruction loads is of no
// consequence: it is a conditional move whose condition doesn't hold.
func (f *follower) thrownAway(c *x86.CPU) bool {
	pc := c.PC()
	cc, known := f.condMoves[pc]
	if !known {
		if x, ok := x86.CondMove(f.t.Code(c, pc), pc); ok {
			cc = int(x)
		} else {
			cc = -1
		}
		if f.condMoves == nil {
			f.condMoves = map[uint64]int{}
		}
		f.condMoves[pc] = cc
	}
	return cc >= 0 && !c.Holds(uint8(cc))
}

// sameTable reports whether a store of v puts a pointer to a table of virtual
// functions where it is already.
func (f *follower) sameTable(addr uint64, size int, v uint64) bool {
	if size != 8 || v == 0 {
		return false
	}
	is, known := f.tables[v]
	if !known {
		if x, ok := f.p.Tree.Modules().VarAt(emulate.Addr(v)); ok {
			is = strings.HasPrefix(x.Name, "vtable for ") || strings.HasPrefix(x.Name, "_ZTV")
		}
		if f.tables == nil {
			f.tables = map[uint64]bool{}
		}
		if len(f.tables) < maxTables {
			f.tables[v] = is
		}
	}
	if !is {
		return false
	}
	old, ok := overlay.ReadUint(f.t.Memory(), addr, 8)
	return ok && old == v
}

// maxTables bounds the values that are remembered to be tables or none.
const maxTables = 1 << 16
