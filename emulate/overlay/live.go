package overlay

import (
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
)

// A RegSet is a set of bytes of registers.
type RegSet struct {
	GPR [16]uint8  // bit i: byte i
	XMM [16]uint16 // bit i: byte i
	YMM [16]uint16 // the upper halves of the YMM registers; bit i: byte 16 + i
}

// Live is a set of locations.
type Live struct {
	RegSet
	mem  map[uint64]uint64 // line -> bytes of the own stack whose values are used
	dead map[uint64]uint64 // line -> bytes that are overwritten first
	// Bytes from lo to hi that are neither: the look-ahead ended before.
	lo, hi uint64
	open   bool
}

// Has reports whether a byte of the section's own stack is live. What the
// look-ahead didn't settle, within the frame, is.
func (l *Live) Has(addr uint64) bool {
	n, bit := addr>>6, uint64(1)<<(addr&63)
	if l.mem[n]&bit != 0 {
		return true
	}
	return l.open && addr >= l.lo && addr < l.hi && l.dead[n]&bit == 0
}

// Bounds of the look-ahead, in instructions: while the section's frame is
// there, and after it was left.
const (
	liveInside  = 10_000
	liveOutside = 2_000
)

// A liveness follows the values that a section leaves behind through what the
// thread executes next. Each byte of the registers and of the own stack has an
// origin: the location that held the value when the section ended. Copying
// moves origins; any other use makes them live. So saving and restoring a
// register isn't a use of it.
type liveness struct {
	live  Live
	reg   [128]uint64         // origins, 0: none
	vec   [2 * xmmSize]uint64 // XMM registers, then the upper halves
	lines map[uint64]*originLine
	left  bool // the frame is gone
	moved []move
	s     *Section
	g     *Goal
	res   *RegSet
}

type originLine struct {
	set uint64 // bytes with an entry
	org [64]uint64
}

// lookAhead replays on from where u is, the end of s, and returns what is live
// there.
func lookAhead(u *replay.Thread, s *Section, g *Goal) *Live {
	l := &liveness{lines: map[uint64]*originLine{}, res: g.Result, s: s, g: g,
		live: Live{mem: map[uint64]uint64{}, dead: map[uint64]uint64{}, lo: s.Exit.R[x86.RSP] - redZone, hi: s.SP}}
	for i := range l.reg {
		l.reg[i] = LocReg + uint64(i)
	}
	for i := range l.vec {
		l.vec[i] = LocXMM + uint64(i)
	}
	w := newStepper(u.Snapshot().NewThread())
	if w.t.Ended() {
		return &l.live
	}
	c := w.t.CPU()
	outside := 0
	for n := 0; ; n++ {
		if !l.left && c.R[x86.RSP] > s.SP {
			l.leave()
		}
		if l.left {
			if outside++; outside > liveOutside || !l.pending() {
				return &l.live
			}
		} else if n == liveInside {
			l.unsettled()
			return &l.live
		}
		st, err := w.one()
		if st == nil || w.foreign {
			l.unsettled()
			return &l.live
		}
		l.apply(st, w)
		if err != nil {
			return &l.live
		}
	}
}

// redZone is how far below RSP a function may keep data (psABI 3.2.2), bytes.
const redZone = 128

// volatileRegs are the general registers that a call may change (psABI 3.2.1).
var volatileRegs = []int{x86.RAX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.R8, x86.R9, x86.R10, x86.R11}

// leave says that the function returns: its stack is dead, and of the
// registers that belong to the callee only the result counts.
func (l *liveness) leave() {
	l.left = true
	if l.res != nil {
		for r, m := range l.res.GPR {
			for b := 0; b < 8; b++ {
				if m>>b&1 != 0 {
					l.mark(l.reg[8*r+b])
				}
			}
		}
		for r, m := range l.res.XMM {
			for b := 0; b < 16; b++ {
				if m>>b&1 != 0 {
					l.mark(l.vec[16*r+b])
				}
				if l.res.YMM[r]>>b&1 != 0 {
					l.mark(l.vec[xmmSize+16*r+b])
				}
			}
		}
	}
	for _, r := range volatileRegs {
		if l.res == nil && (r == x86.RAX || r == x86.RDX) {
			continue
		}
		clear(l.reg[8*r : 8*r+8])
	}
	from := 0
	if l.res == nil {
		from = 32
	}
	clear(l.vec[from:xmmSize])
	clear(l.vec[xmmSize+from:])
}

// pending reports whether any register still has the value that a section left
// there and that isn't known to be used.
func (l *liveness) pending() bool {
	for _, o := range l.reg {
		if o != 0 && !l.isLive(o) {
			return true
		}
	}
	for _, o := range l.vec {
		if o != 0 && !l.isLive(o) {
			return true
		}
	}
	return false
}

func (l *liveness) isLive(o uint64) bool {
	switch {
	case o >= LocYMM && o < vecEnd:
		return l.live.YMM[(o-LocYMM)/16]>>((o-LocYMM)%16)&1 != 0
	case o >= LocXMM && o < LocYMM:
		return l.live.XMM[(o-LocXMM)/16]>>((o-LocXMM)%16)&1 != 0
	case o >= LocReg && o < LocReg+128:
		return l.live.GPR[(o-LocReg)/8]>>((o-LocReg)%8)&1 != 0
	}
	return l.live.mem[o>>6]>>(o&63)&1 != 0
}

// unsettled ends the look-ahead while the frame is there. Registers that were
// neither used nor overwritten so far are live if some path of the function
// reads them; if its code can't be followed, those that calls preserve are.
func (l *liveness) unsettled() {
	if l.left {
		return
	}
	l.live.open = true
	keep := regMask(0)
	for _, r := range []uint8{x86.RBX, x86.RBP, x86.R12, x86.R13, x86.R14, x86.R15} {
		keep |= gprBit(r)
	}
	if l.s.End == EndLoop && l.g.Hi > l.g.Lo {
		if m, ok := staticLive(l.s.View.Code, l.g.Lo, l.g.Hi, l.s.Exit.RIP, l.result()); ok {
			keep = m
		}
	}
	for r := uint8(0); r < 16; r++ {
		for b := 0; b < 8 && keep&gprBit(r) != 0; b++ {
			if own := LocReg + uint64(8*int(r)+b); l.reg[8*int(r)+b] == own {
				l.mark(own)
			}
		}
		for b := 0; b < 16 && keep&xmmBit(r) != 0; b++ {
			for _, i := range []int{16*int(r) + b, xmmSize + 16*int(r) + b} {
				if own := LocXMM + uint64(i); l.vec[i] == own {
					l.mark(own)
				}
			}
		}
	}
}

// result returns the registers in which the function returns its result.
func (l *liveness) result() regMask {
	if l.res == nil {
		return gprBit(x86.RAX)
	}
	var m regMask
	for r := range l.res.GPR {
		if l.res.GPR[r] != 0 {
			m |= gprBit(uint8(r))
		}
		if l.res.XMM[r]|l.res.YMM[r] != 0 {
			m |= xmmBit(uint8(r))
		}
	}
	return m
}

// mark makes an origin live.
func (l *liveness) mark(o uint64) {
	switch {
	case o == 0:
	case o >= LocYMM && o < vecEnd:
		l.live.YMM[(o-LocYMM)/16] |= 1 << ((o - LocYMM) % 16)
	case o >= LocXMM && o < LocYMM:
		l.live.XMM[(o-LocXMM)/16] |= 1 << ((o - LocXMM) % 16)
	case o >= LocReg && o < LocReg+128:
		l.live.GPR[(o-LocReg)/8] |= 1 << ((o - LocReg) % 8)
	default: // a place of the frame, perhaps by way of a register that the function returns
		l.live.mem[o>>6] |= 1 << (o & 63)
	}
}

// origin returns where the value at loc came from.
func (l *liveness) origin(loc uint64) uint64 {
	switch {
	case loc >= LocXMM && loc < vecEnd:
		return l.vec[loc-LocXMM]
	case loc >= LocReg && loc < LocReg+128:
		return l.reg[loc-LocReg]
	case !l.s.OnStack(loc):
		return 0
	}
	if x := l.lines[loc>>6]; x != nil && x.set>>(loc&63)&1 != 0 {
		return x.org[loc&63]
	}
	if loc >= l.live.lo && !l.left {
		return loc
	}
	return 0
}

// put says that loc now holds the value that origin o held, 0: another one.
func (l *liveness) put(loc, o uint64) {
	switch {
	case loc >= LocXMM && loc < vecEnd:
		l.vec[loc-LocXMM] = o
		return
	case loc >= LocReg && loc < LocReg+128:
		l.reg[loc-LocReg] = o
		return
	case loc >= LocReg:
		return
	case !l.s.OnStack(loc):
		l.mark(o) // it left the stack
		return
	}
	x := l.lines[loc>>6]
	if x == nil {
		x = new(originLine)
		l.lines[loc>>6] = x
	}
	if x.set>>(loc&63)&1 == 0 {
		x.set |= 1 << (loc & 63)
		if !l.left {
			l.live.dead[loc>>6] |= 1 << (loc & 63)
		}
	}
	x.org[loc&63] = o
}

// use makes what a location holds live.
func (l *liveness) use(sp Span) {
	for i := uint64(0); i < sp.N; i++ {
		l.mark(l.origin(sp.Addr + i))
	}
}

// apply follows one executed instruction.
func (l *liveness) apply(st *Step, w *stepper) {
	if st.Opaque {
		for i := range l.reg {
			l.mark(l.reg[i])
		}
		for i := range l.vec {
			l.mark(l.vec[i])
		}
		return
	}
	st.Reads(func(sp Span, _ bool) { l.use(sp) })
	if st.Call >= 0 {
		for _, sp := range callArgs(w.nr) {
			l.use(sp)
		}
		for _, sp := range w.reads {
			l.use(sp)
		}
		for _, sp := range w.writes {
			l.kill(sp)
		}
		l.kill(Span{LocReg + 8*x86.RAX, 8})
	}
	l.moved = l.moved[:0]
	st.Copies(func(from, to, n uint64) {
		for i := range n {
			l.moved = append(l.moved, move{to + i, l.origin(from + i)})
		}
	})
	st.Writes(l.kill)
	for _, m := range l.moved {
		l.put(m.to, m.origin)
	}
}

// A move is one byte that an instruction copies: the origin of its value.
type move struct{ to, origin uint64 }

func (l *liveness) kill(sp Span) {
	for i := uint64(0); i < sp.N; i++ {
		l.put(sp.Addr+i, 0)
	}
}
