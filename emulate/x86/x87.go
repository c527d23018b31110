package x86

import "encoding/binary"

// A Float80 is a value in the 80-bit double extended-precision format of the
// x87 FPU (Intel SDM volume 1, section 4.2): SE holds the sign in bit 15 and
// the exponent, biased by 16383, in bits 14..0; Man is the significand with
// its explicit integer bit at bit 63.
type Float80 struct {
	Man uint64
	SE  uint16
}

// An FPU is the x87 unit of one processor: eight registers used as a stack,
// also seen as MM0..MM7. The zero value isn't what a process starts with; see
// Init. Registers are held by physical number, as the tag word is.
type FPU struct {
	R  [8]Float80
	CW uint16 // control word
	SW uint16 // status word; TOP (bits 13..11) is kept apart, see StatusWord
	// Full has bit i set if physical register i isn't empty: the abridged tag
	// word of FXSAVE. The two-bit tags are derived from the registers.
	Full uint8
	top  uint8  // physical number of ST(0)
	Op   uint16 // last instruction: low 11 bits of its opcode
	IP   uint64 // last instruction: its address
	DP   uint64 // last instruction: its memory operand's address
}

// Bits of the status word.
const (
	swIE = 1 << iota // invalid operation
	swDE             // denormal operand
	swZE             // division by zero
	swOE             // overflow
	swUE             // underflow
	swPE             // precision (inexact)
	swSF             // stack fault
	swES             // an unmasked exception is pending
	swC0
	swC1
	swC2
	swTop0 // TOP is three bits
	_
	_
	swC3
	swB // busy: the same as swES

	swExc = 0x3f // the six exceptions, at the same bits as their masks in CW
	swTOP = 7 << 11
	swCC  = swC0 | swC1 | swC2 | swC3
)

// Control word fields and the value FNINIT sets.
const (
	cwInit = 0x37f
	cwUsed = 0x1f3f // writable bits; bit 6 reads as one
	cwOne  = 0x40
)

// Init does what FNINIT does: all exceptions masked, extended precision, round
// to nearest, empty stack. The contents of the registers stay.
func (f *FPU) Init() {
	f.CW, f.SW, f.Full, f.top = cwInit, 0, 0, 0
	f.Op, f.IP, f.DP = 0, 0, 0
}

// StatusWord returns the status word with TOP in it.
func (f *FPU) StatusWord() uint16 { return f.SW&^swTOP | uint16(f.top)<<11 }

// SetStatusWord sets the status word and TOP. The summary bits follow from the
// exceptions and their masks, so set the control word first.
func (f *FPU) SetStatusWord(v uint16) {
	f.SW = v &^ (swTOP | swES | swB)
	f.top = uint8(v >> 11 & 7)
	f.summary()
}

// SetControlWord sets the control word; a pending exception may thereby appear
// or disappear.
func (f *FPU) SetControlWord(v uint16) {
	f.CW = v&cwUsed | cwOne
	f.summary()
}

// summary derives ES and B from the exceptions and their masks.
func (f *FPU) summary() {
	if f.SW&^f.CW&swExc != 0 {
		f.SW |= swES | swB
	} else {
		f.SW &^= swES | swB
	}
}

// TagWord returns the two-bit tags: 0 valid, 1 zero, 2 special, 3 empty.
func (f *FPU) TagWord() uint16 {
	var w uint16
	for i := range f.R {
		w |= f.tag(i) << (2 * i)
	}
	return w
}

func (f *FPU) tag(i int) uint16 {
	r := f.R[i]
	switch e := r.SE & 0x7fff; {
	case f.Full>>i&1 == 0:
		return 3
	case e == 0 && r.Man == 0:
		return 1
	case e == 0 || e == 0x7fff || r.Man>>63 == 0:
		return 2
	}
	return 0
}

// SetTagWord marks registers empty (tag 3) or not; what else the tags say
// follows from the registers.
func (f *FPU) SetTagWord(w uint16) {
	f.Full = 0
	for i := range f.R {
		if w>>(2*i)&3 != 3 {
			f.Full |= 1 << i
		}
	}
}

// MMX returns MMi, the significand of physical register i. It changes nothing:
// an MMX instruction calls EnterMMX too.
func (f *FPU) MMX(i uint8) uint64 { return f.R[i&7].Man }

// SetMMX writes MMi; sign and exponent become all ones.
func (f *FPU) SetMMX(i uint8, v uint64) { f.R[i&7] = Float80{v, 0xffff} }

// EnterMMX does what every MMX instruction except EMMS does to the stack: TOP
// becomes 0 and all registers are marked in use.
func (f *FPU) EnterMMX() { f.top, f.Full = 0, 0xff }

// Check raises #MF if an unmasked exception is pending, as the waiting x87
// instructions and the MMX instructions do before they start.
func (f *FPU) Check() {
	if f.SW&swES != 0 {
		Raise(&Stop{Kind: StopFault, Vector: VecMF})
	}
}

// FPUStateSize is the length of what PutState writes, in bytes.
const FPUStateSize = 160

// PutState writes the complete state to b[:FPUStateSize] in the layout of the
// 64-bit FXSAVE image (SDM volume 1, section 10.5), without touching the bytes
// of MXCSR and its mask (24..31). It is exact: SetState restores it all.
func (f *FPU) PutState(b []byte) {
	le := binary.LittleEndian
	_ = b[FPUStateSize-1]
	le.PutUint16(b[0:], f.CW)
	le.PutUint16(b[2:], f.StatusWord())
	b[4], b[5] = f.Full, 0
	le.PutUint16(b[6:], f.Op)
	le.PutUint64(b[8:], f.IP)
	le.PutUint64(b[16:], f.DP)
	for i := uint8(0); i < 8; i++ {
		r, p := f.R[(f.top+i)&7], b[32+16*int(i):]
		le.PutUint64(p, r.Man)
		le.PutUint64(p[8:], uint64(r.SE))
	}
}

// SetState is the reverse of PutState, and the x87 part of FXRSTOR.
func (f *FPU) SetState(b []byte) {
	le := binary.LittleEndian
	_ = b[FPUStateSize-1]
	f.SetControlWord(le.Uint16(b[0:]))
	f.SetStatusWord(le.Uint16(b[2:]))
	f.Full = b[4]
	f.Op = le.Uint16(b[6:]) & 0x7ff
	f.IP = le.Uint64(b[8:])
	f.DP = le.Uint64(b[16:])
	for i := uint8(0); i < 8; i++ {
		p := b[32+16*int(i):]
		f.R[(f.top+i)&7] = Float80{le.Uint64(p), le.Uint16(p[8:])}
	}
}
