package x86

// Fields of MXCSR (Intel SDM volume 1, section 10.2.3). The exception flags are
// sticky; each has its mask 7 bits higher.
const (
	mxIE  = 1 << 0 // invalid operation
	mxDE  = 1 << 1 // denormal operand
	mxZE  = 1 << 2 // division by zero
	mxOE  = 1 << 3 // overflow
	mxUE  = 1 << 4 // underflow
	mxPE  = 1 << 5 // precision: the result was rounded
	mxDAZ = 1 << 6 // denormal operands are taken as zeros
	mxIM  = mxIE << mxMaskShift
	mxDM  = mxDE << mxMaskShift
	mxZM  = mxZE << mxMaskShift
	mxOM  = mxOE << mxMaskShift
	mxUM  = mxUE << mxMaskShift
	mxPM  = mxPE << mxMaskShift
	mxRC  = 3 << 13 // rounding control: nearest even, down, up, towards zero
	mxFTZ = 1 << 15 // tiny results become zero

	mxMaskShift = 7
	mxRCShift   = 13
	mxExc       = mxIE | mxDE | mxZE | mxOE | mxUE | mxPE
	mxPre       = mxIE | mxDE | mxZE // found before the operation
	mxMasks     = mxExc << mxMaskShift

	// mxValid has the bits that may be set; LDMXCSR with others faults. It is
	// also the MXCSR_MASK that FXSAVE stores.
	mxValid = 0xffff

	// MXCSRInit is MXCSR at the start of a process.
	MXCSRInit = mxMasks
)

// Rounding modes, as in MXCSR's RC and the immediate of ROUNDSD.
const (
	rcNearest = iota
	rcDown
	rcUp
	rcZero
)

// When MXCSR under mxFastBits equals mxFastWant, host arithmetic gives the right
// result and no flag changes, provided that the operands are not denormal
// and the result is a normal number: rounding is to nearest, everything is
// masked and the precision flag stands already. DAZ and FTZ may be anything,
// because they only concern denormals. When all but the precision flag fit
// (mxHostBits), the result is right and only exactness is to be found out.
const (
	mxFastBits = mxMasks | mxRC | mxPE
	mxFastWant = mxMasks | mxPE
	mxHostBits = mxMasks | mxRC
	mxHostWant = mxMasks
)

// fpCheck ends a floating-point instruction's computation, before it changes
// its destination: fl has the exceptions that all its elements met. They become
// sticky; if one is unmasked the instruction ends with #XM. Exceptions found
// before an operation (invalid, denormal, zero divide), when unmasked, keep
// those found after it from being reported (SDM volume 1, section 11.5.2).
func (c *CPU) fpCheck(fl uint32) {
	if fl == 0 {
		return
	}
	unmasked := fl &^ (c.MXCSR >> mxMaskShift) & mxExc
	if unmasked&mxPre != 0 {
		fl &= mxPre
	}
	c.MXCSR |= fl
	if unmasked != 0 {
		Raise(&Stop{Kind: StopFault, Vector: VecXM})
	}
}

// setMXCSR does LDMXCSR's check and write.
func (c *CPU) setMXCSR(v uint32) {
	if v&^mxValid != 0 {
		Raise(&Stop{Kind: StopFault, Vector: VecGP})
	}
	c.MXCSR = v
}

// mxFromRoundImm gives an MXCSR for ROUNDPS and its kin: the rounding mode comes
// from the immediate unless its bit 2 says MXCSR.
func mxFromRoundImm(mx uint32, imm uint8) uint32 {
	if imm&4 == 0 {
		mx = mx&^mxRC | uint32(imm&3)<<mxRCShift
	}
	return mx
}
