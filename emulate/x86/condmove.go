package x86

// CondMove returns the condition of the instruction at pc, whose bytes code
// starts with, if it is CMOVcc: it loads its operand whether the condition holds
// or not (SDM volume 2, CMOVcc).
func CondMove(code []byte, pc uint64) (cc uint8, ok bool) {
	d := inst{code: code, pc: pc}
	f, err := d.decode()
	if err != nil || len(f.mnem) < 5 || f.mnem[:4] != "cmov" {
		return 0, false
	}
	return buildOp(&d, f).aux, true
}

// Holds says whether the flags fulfil a condition that CondMove returned.
func (c *CPU) Holds(cc uint8) bool { return c.cond(cc) }
