package funcs

import (
	"debug/elf"
	"strings"

	"github.com/racesim/racesim/emulate"
)

// Calls says whether the program's own code calls a function of the run-time
// whose name is wanted.
func (ms *Modules) Calls(wanted func(name string) bool) bool {
	for _, m := range ms.All() {
		if m.obj == nil || m.Kind != ModUser {
			continue
		}
		s := m.symbols()
		for _, n := range s.slots {
			if n, _, _ = strings.Cut(n, "@"); wanted(n) {
				return true
			}
		}
		if m.Static {
			for n := range s.exports(true) {
				if wanted(n) {
					return true
				}
			}
		}
	}
	return false
}

// InOpenMP says whether the code at pc is an OpenMP run-time's.
func (ms *Modules) InOpenMP(pc emulate.Addr) bool {
	f := ms.FuncAt(pc)
	if f == nil {
		return false
	}
	for _, p := range [...]string{"gomp_", "GOMP_", "__kmp"} {
		if strings.HasPrefix(f.Linkage, p) {
			return true
		}
	}
	return f.Module.Kind == ModOpenMP
}

// LeavesOpenMP says whether a call leads from an OpenMP run-time to the
// program's code.
func (ms *Modules) LeavesOpenMP(site, target emulate.Addr) bool {
	if !ms.InOpenMP(site) {
		return false
	}
	f := ms.FuncAt(target)
	return f != nil && !f.Runtime && !f.PLT && !ms.InOpenMP(target)
}

// ThreadLocals returns the number of bytes below a thread's FS base that its
// thread-local variables may take (psABI: variant II), those of libraries that
// are loaded later left out.
func (ms *Modules) ThreadLocals() uint64 {
	n := uint64(0)
	for _, m := range ms.All() {
		if m.obj == nil {
			continue
		}
		for _, p := range m.obj.f.Progs {
			if p.Type == elf.PT_TLS {
				n += p.Memsz + 2*max(p.Align, 1)
			}
		}
	}
	return n
}
