package detect

import "github.com/racesim/racesim/emulate/x86"

// Some accesses are the compiler's, not the program's. A conditional move loads
// what the program might not have read, and throws it away.

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
