package funcs

import (
	"debug/elf"

	"github.com/racesim/racesim/emulate"
)

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

// Constant copies into b what a file has at address a, as far as that is never
// written, and returns the number of bytes copied.
func (ms *Modules) Constant(a emulate.Addr, b []byte) int {
	m := ms.ModuleAt(a)
	if m == nil || m.obj == nil {
		return 0
	}
	off := uint64(a) - m.bias
	for _, p := range m.obj.loads {
		if p.Flags&elf.PF_W == 0 && off >= p.Vaddr && off < p.Vaddr+p.Filesz {
			return copy(b, m.obj.bytesAt(off, int(min(uint64(len(b)), p.Vaddr+p.Filesz-off))))
		}
	}
	return 0
}

// DataAt returns the module whose data, written or constant, holds address a,
// and its offset in the file's addresses. ok is false in code, and outside of
// the modules.
func (ms *Modules) DataAt(a emulate.Addr) (m *Module, offset uint64, ok bool) {
	m = ms.ModuleAt(a)
	if m == nil || m.obj == nil {
		return nil, 0, false
	}
	offset = uint64(a) - m.bias
	for _, p := range m.obj.loads {
		if offset >= p.Vaddr && offset < p.Vaddr+p.Memsz {
			return m, offset, p.Flags&elf.PF_X == 0
		}
	}
	return nil, 0, false
}
