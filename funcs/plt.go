package funcs

import (
	"debug/elf"
	"encoding/binary"
)

var le = binary.LittleEndian

// pltStubs finds the stubs of the procedure linkage tables: code that is just
// an indirect jump through a slot that a relocation names (psABI 5.2).
func pltStubs(m *Module, slots map[uint64]string) []funcRec {
	if len(slots) == 0 {
		return nil
	}
	var out []funcRec
	for _, sec := range m.obj.f.Sections {
		switch sec.Name {
		case ".plt", ".plt.sec", ".plt.got", ".iplt":
		default:
			continue
		}
		if sec.Type != elf.SHT_PROGBITS || sec.Size > 1<<24 {
			continue
		}
		b, err := sec.Data()
		if err != nil {
			continue
		}
		for i := 0; i+6 <= len(b); i += 8 {
			j := i
			if j+4 <= len(b) && b[j] == 0xf3 && b[j+1] == 0x0f && b[j+2] == 0x1e && b[j+3] == 0xfa {
				j += 4 // endbr64
			}
			if j < len(b) && b[j] == 0xf2 {
				j++ // bnd
			}
			if j+6 > len(b) || b[j] != 0xff || b[j+1] != 0x25 {
				continue
			}
			slot := sec.Addr + uint64(j) + 6 + uint64(int64(int32(le.Uint32(b[j+2:]))))
			name, ok := slots[slot]
			if !ok {
				continue
			}
			n := uint64(8)
			if sec.Name != ".plt.got" || sec.Entsize == 16 {
				n = 16
			}
			out = append(out, funcRec{lo: sec.Addr + uint64(i), hi: sec.Addr + uint64(i) + n, name: name, plt: true, global: true})
		}
	}
	return out
}

// gotSlots maps the addresses of slots to the names of the functions that the
// loader puts there. In static programs they are functions chosen at start-up,
// which funcs (by address) names.
func gotSlots(m *Module, funcs map[uint64]*funcRec) map[uint64]string {
	f := m.obj.f
	dyn, _ := f.DynamicSymbols()
	slots := map[uint64]string{}
	for _, sec := range f.Sections {
		if sec.Type != elf.SHT_RELA || sec.Size > 1<<28 || sec.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := sec.Data()
		if err != nil {
			continue
		}
		for ; len(b) >= 24; b = b[24:] {
			off, info, addend := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
			switch elf.R_X86_64(info & 0xffffffff) {
			case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
				if k := info >> 32; k > 0 && k <= uint64(len(dyn)) {
					slots[off] = dyn[k-1].Name
				}
			case elf.R_X86_64_IRELATIVE:
				if r := funcs[addend]; r != nil {
					slots[off] = r.name
				}
			}
		}
	}
	return slots
}
