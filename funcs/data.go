package funcs

import "github.com/racesim/racesim/emulate"

// DataNamed returns the address of a data symbol of the run-time, by its name
// in the symbol tables: the C library's, or in a static program the program's.
// ok is false if there is none.
func (ms *Modules) DataNamed(name string) (at emulate.Addr, ok bool) {
	for _, m := range ms.All() {
		if m.obj == nil || m.Kind != ModLibc && !m.Static {
			continue
		}
		s := m.symbols()
		for i := range s.data {
			if s.data[i].name == name {
				return emulate.Addr(s.data[i].lo + m.bias), true
			}
		}
	}
	return 0, false
}
