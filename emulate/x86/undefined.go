package x86

// FlagUse is what the instruction at PC does with the arithmetic flags, with the
// registers as they are: masks of RFLAGS bits.
type FlagUse struct {
	Mnemonic  string
	Read      uint64 // decides something; what only copies all flags elsewhere reads none
	Written   uint64 // defined afterwards
	Undefined uint64 // left undefined (SDM volume 2, "Flags Affected")
}

// copiesFlags are the instructions that take all flags elsewhere, whatever they
// mean: that isn't reliance on them.
var copiesFlags = map[string]bool{"pushf": true, "lahf": true, "syscall": true, "popf": true, "sahf": true}

// FlagUse describes the instruction at RIP; ok is false if there is none.
func (c *CPU) FlagUse() (u FlagUse, ok bool) {
	op, f := c.peek()
	if f == nil {
		return FlagUse{}, false
	}
	w := written(op, f)
	u = FlagUse{f.mnem, w.read & arithFlags, w.write & arithFlags &^ w.undef, w.undef & arithFlags}
	switch {
	case copiesFlags[f.mnem]:
		u.Read = 0
	case stringInst[f.mnem] && op.attr&(attrRep|attrRepne) != 0 && c.R[RCX] == 0:
		return FlagUse{Mnemonic: f.mnem}, true
	case shifts[f.mnem]:
		c.shiftUse(op, f, &u)
	}
	return u, true
}

// shiftUse makes u that of a shift or rotate by the count that it has now.
func (c *CPU) shiftUse(op *Op, f *form, u *FlagUse) {
	n, bits := uint64(1), uint64(op.size)*8 // D0 and D1 shift by one
	switch {
	case f.hasImm():
		n = uint64(op.imm)
	case byCL(f):
		n = c.R[RCX]
	}
	if op.size == 8 {
		n &= 63
	} else {
		n &= 31
	}
	*u = FlagUse{Mnemonic: f.mnem}
	if f.mnem == "rcl" || f.mnem == "rcr" {
		u.Read = CF // goes into the result
	}
	if n == 0 {
		u.Read = 0
		return
	}
	switch f.mnem {
	case "rol", "ror", "rcl", "rcr":
		u.Written = CF | OF
	case "shld", "shrd":
		u.Written, u.Undefined = arithFlags&^AF, AF
		if n > bits {
			u.Written, u.Undefined = 0, arithFlags
		}
	default:
		u.Written, u.Undefined = arithFlags&^AF, AF
		if n >= bits && f.mnem != "sar" {
			u.Undefined |= CF
		}
	}
	if n != 1 {
		u.Undefined |= OF
	}
	u.Written &^= u.Undefined
}

// byCL reports whether a shift's count is in CL.
func byCL(f *form) bool {
	for _, a := range f.args {
		if a.kind == "cl" {
			return true
		}
	}
	return false
}
