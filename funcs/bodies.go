package funcs

import "github.com/racesim/racesim/emulate"

// A function whose code is chosen at start-up (STT_GNU_IFUNC) has several
// bodies, which stripped libraries don't name. What calls one through its slot in
// the global offset table, rather than through a stub (gcc -fno-plt, rustc), says
// by the slot which function it is.

// called returns the function that is called at site if its body at target was
// chosen at start-up, nil if it can't be told.
func (ms *Modules) called(site, target emulate.Addr) *Func {
	if f := ms.Body(target); f != nil {
		return f
	}
	m := ms.ModuleAt(site)
	if m == nil || m.obj == nil {
		return nil
	}
	at := uint64(site) - m.bias
	b := m.obj.bytesAt(at, 6)
	if len(b) < 6 || b[0] != 0xff || b[1] != 0x15 && b[1] != 0x25 { // call, jmp *slot(%rip)
		return nil
	}
	name := m.symbols().slots[at+6+uint64(int64(int32(le.Uint32(b[2:]))))]
	if name == "" {
		return nil
	}
	f := ms.ExportedIn(m.Life, name)
	if f == nil || !f.IFunc || f.Entry == target || f.Module != ms.ModuleAt(target) {
		return nil
	}
	ms.bodies.Store(target, f)
	return f
}

// Body returns the function of which the code at an address is known to be the
// body that was chosen at start-up, nil if none is.
func (ms *Modules) Body(at emulate.Addr) *Func {
	if f, ok := ms.bodies.Load(at); ok {
		return f.(*Func)
	}
	return nil
}
