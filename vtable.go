package racesim

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/races"
)

// A destructor begins by storing the pointer to its class's table of virtual
// functions. In an object of this very class it is there already: whoever calls
// a virtual function meanwhile gets the same one.

// sameTable says whether all stores of a group put a pointer to a table of
// virtual functions where it is already.
func (a *analysis) sameTable(g *group) bool {
	stores := 0
	for _, c := range g.cands {
		for i := range c.Samples {
			for _, x := range []*races.Access{&c.Samples[i].First, &c.Samples[i].Second} {
				if x.Kind == races.Read {
					continue
				}
				if x.Kind != races.Write || !a.storesSameTable(x) {
					return false
				}
				stores++
			}
		}
	}
	return stores > 0
}

func (a *analysis) storesSameTable(x *races.Access) bool {
	if x.Size != 8 || x.Kernel {
		return false
	}
	v, ok := a.ms.VarAt(emulate.Addr(x.Value))
	if !ok || !strings.HasPrefix(v.Name, "vtable for ") && !strings.HasPrefix(v.Name, "_ZTV") {
		return false
	}
	t, _, err := a.pass.Seek(x.Thread, x.Count)
	if err != nil {
		return false
	}
	old, ok := overlay.ReadUint(t.Memory(), uint64(x.Addr), 8)
	return ok && old == x.Value
}
