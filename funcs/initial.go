package funcs

import (
	"debug/elf"

	"github.com/racesim/racesim/emulate"
)

// InitialLine returns the 64 bytes of a line (address / 64) as the loader maps
// them: the file's, then zeros. ok is false outside all modules' segments and
// for files that can't be used.
func (ms *Modules) InitialLine(line uint64) (data [64]byte, ok bool) {
	m := ms.ModuleAt(emulate.Addr(line << 6))
	if m == nil || m.obj == nil {
		return data, false
	}
	for i := range data {
		b, in := m.initial(line<<6 + uint64(i) - m.bias)
		if !in {
			return data, false
		}
		data[i] = b
	}
	return data, true
}

// initial returns the byte that the file says is at its address a.
func (m *Module) initial(a uint64) (byte, bool) {
	for _, p := range m.obj.f.Progs {
		if p.Type != elf.PT_LOAD || a < p.Vaddr&^0xfff || a >= (p.Vaddr+p.Memsz+0xfff)&^0xfff {
			continue
		}
		if a < p.Vaddr || a >= p.Vaddr+p.Filesz {
			// Pages are mapped whole: what precedes the segment in the file is
			// there, too; what follows is cleared where it may be written to.
			return 0, a >= p.Vaddr && p.Flags&elf.PF_W != 0
		}
		var b [1]byte
		if _, err := p.ReadAt(b[:], int64(a-p.Vaddr)); err != nil {
			return 0, false
		}
		return b[0], true
	}
	return 0, false
}

// CodePage returns a page of code (address / 4096) as it is mapped from the
// module's file, nil if that isn't known.
func (ms *Modules) CodePage(num uint64) []byte {
	const size = 4096
	m := ms.ModuleAt(emulate.Addr(num * size))
	if m == nil || m.obj == nil || m.obj.raw == nil {
		return nil
	}
	a := num*size - m.bias
	for _, p := range m.obj.loads {
		start := p.Vaddr &^ (size - 1)
		if p.Flags&elf.PF_X == 0 || a < start || a >= p.Vaddr+p.Filesz {
			continue
		}
		b := make([]byte, size)
		m.obj.raw.ReadAt(b, int64(p.Off&^(size-1)+a-start)) // zeros behind the file's end
		return b
	}
	return nil
}
