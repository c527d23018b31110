package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// ResultRegs returns the bytes of registers in which f returns its result
// (psABI 3.2.3), none for void; nil if its type isn't known.
func ResultRegs(ms *funcs.Modules, f *funcs.Func) *overlay.RegSet {
	if f == nil {
		return nil
	}
	sig := ms.Signature(f)
	if !sig.Known {
		return nil
	}
	left := 16
	if t := sig.Result.Type; t != nil && t.Size > 0 {
		left = int(t.Size)
	}
	var s overlay.RegSet
	if t := sig.Result.Type; t != nil && t.Vector && len(sig.Result.Regs) == 1 {
		s.XMM[0] = uint16(1<<min(t.Size, 16) - 1)
		if t.Size == 32 {
			s.YMM[0] = 0xffff
		}
		return &s
	}
	for _, r := range sig.Result.Regs {
		n := max(min(left, 8), 1)
		left -= n
		bytes := uint8(1<<n - 1)
		switch r {
		case funcs.RegRAX:
			s.GPR[x86.RAX] = bytes
		case funcs.RegRDX:
			s.GPR[x86.RDX] = bytes
		case funcs.RegXMM0, funcs.RegXMM1:
			s.XMM[r-funcs.RegXMM0] = uint16(bytes)
		}
	}
	return &s
}
