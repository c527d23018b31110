//go:build linux && amd64

package x86

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"syscall"
)

// Segment bases of all tests: inside the data, so that small offsets reach it.
const (
	testFSBase = dataAddr + 0x1000
	testGSBase = dataAddr + 0x1800
	testPC     = codeAddr + codeSize/2
)

// A machine is a complete user-mode state, without the memory.
type machine struct {
	r      [16]uint64
	rip    uint64
	flags  uint64
	fs, gs uint64
	fx     fpRegs    // x87, XMM, MXCSR
	hi     upperRegs // of YMM
}

func (s *machine) mxcsr() uint32 { return binary.LittleEndian.Uint32(s.fx[24:]) }

func (s *machine) xmm(i int) []byte   { return s.fx[160+16*i:][:16] }
func (s *machine) upper(i int) []byte { return s.hi[16*i:][:16] }

// native puts the state into the form that ptrace takes.
func (s *machine) native(r *syscall.PtraceRegs) {
	p := [16]*uint64{&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi,
		&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
	for i := range p {
		*p[i] = s.r[i]
	}
	r.Rip, r.Eflags, r.Fs_base, r.Gs_base = s.rip, s.flags, s.fs, s.gs
	r.Orig_rax = math.MaxUint64 // not in a system call
}

func (s *machine) fromNative(r *syscall.PtraceRegs) {
	s.r = [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi,
		r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	s.rip, s.flags, s.fs, s.gs = r.Rip, r.Eflags, r.Fs_base, r.Gs_base
}

// set puts the state into the emulator's processor.
func (s *machine) set(c *CPU) {
	copy(c.R[:], s.r[:])
	c.RIP = s.rip
	c.SetFlags(s.flags)
	c.R[RegFS], c.R[RegGS] = s.fs, s.gs
	c.F.SetState(s.fx[:])
	c.MXCSR = s.mxcsr()
	for i := range c.X {
		c.X[i][0] = binary.LittleEndian.Uint64(s.xmm(i))
		c.X[i][1] = binary.LittleEndian.Uint64(s.xmm(i)[8:])
		c.Y[i][0] = binary.LittleEndian.Uint64(s.upper(i))
		c.Y[i][1] = binary.LittleEndian.Uint64(s.upper(i)[8:])
	}
}

func (s *machine) get(c *CPU) {
	copy(s.r[:], c.R[:])
	s.rip = c.RIP
	s.flags = c.Flags()
	s.fs, s.gs = c.R[RegFS], c.R[RegGS]
	c.F.PutState(s.fx[:])
	binary.LittleEndian.PutUint32(s.fx[24:], c.MXCSR)
	for i := range c.X {
		binary.LittleEndian.PutUint64(s.xmm(i), c.X[i][0])
		binary.LittleEndian.PutUint64(s.xmm(i)[8:], c.X[i][1])
		binary.LittleEndian.PutUint64(s.upper(i), c.Y[i][0])
		binary.LittleEndian.PutUint64(s.upper(i)[8:], c.Y[i][1])
	}
}

// comparedFlags are the bits of RFLAGS that user code can see and change.
const comparedFlags = arithFlags | DF | AC | ID

// diff returns the first difference between the processor's state and the
// emulator's, or "".
func (s *machine) diff(e *machine, undef uint64) string {
	for i := range s.r {
		if s.r[i] != e.r[i] {
			return fmt.Sprintf("%s: processor %#x, emulator %#x", regNames[i], s.r[i], e.r[i])
		}
	}
	if s.rip != e.rip {
		return fmt.Sprintf("rip: processor %#x, emulator %#x", s.rip, e.rip)
	}
	if d := (s.flags ^ e.flags) & comparedFlags &^ undef; d != 0 {
		return fmt.Sprintf("flags: processor %s, emulator %s (undefined: %s)", flagNames(s.flags), flagNames(e.flags), flagNames(undef))
	}
	if s.fs != e.fs || s.gs != e.gs {
		return fmt.Sprintf("fs, gs base: processor %#x, %#x, emulator %#x, %#x", s.fs, s.gs, e.fs, e.gs)
	}
	for i := range 16 {
		if !bytes.Equal(s.xmm(i), e.xmm(i)) {
			return fmt.Sprintf("xmm%d: processor %s, emulator %s", i, lanes(s.xmm(i)), lanes(e.xmm(i)))
		}
		if !bytes.Equal(s.upper(i), e.upper(i)) {
			return fmt.Sprintf("upper half of ymm%d: processor %s, emulator %s", i, lanes(s.upper(i)), lanes(e.upper(i)))
		}
	}
	if s.mxcsr() != e.mxcsr() {
		return fmt.Sprintf("mxcsr: processor %#x, emulator %#x", s.mxcsr(), e.mxcsr())
	}
	return diffX87(&s.fx, &e.fx)
}

// diffX87 returns all differences between the x87 states.
func diffX87(s, e *fpRegs) string {
	var d []string
	le := binary.LittleEndian
	for _, w := range []struct {
		name string
		off  int
	}{{"fpu control word", 0}, {"fpu status word", 2}, {"fpu tags, opcode", 4}} {
		if a, b := le.Uint32(s[w.off&^3:])>>(8*(w.off&3)), le.Uint32(e[w.off&^3:])>>(8*(w.off&3)); w.off < 4 && uint16(a) != uint16(b) {
			d = append(d, fmt.Sprintf("%s: processor %#04x, emulator %#04x", w.name, uint16(a), uint16(b)))
		} else if w.off == 4 && a != b && (intelHost() || a&255 != b&255) {
			d = append(d, fmt.Sprintf("%s: processor tags %02x opcode %03x, emulator tags %02x opcode %03x", w.name, a&255, a>>16, b&255, b>>16))
		}
	}
	for i := range 8 {
		a, b := s[32+16*i:][:10], e[32+16*i:][:10]
		if !bytes.Equal(a, b) {
			d = append(d, fmt.Sprintf("st(%d): processor %04x:%016x, emulator %04x:%016x", i,
				le.Uint16(a[8:]), le.Uint64(a), le.Uint16(b[8:]), le.Uint64(b)))
		}
	}
	if !intelHost() {
		return strings.Join(d, "; ") // pointers are kept only with an exception
	}
	if a, b := le.Uint64(s[8:]), le.Uint64(e[8:]); a != b {
		d = append(d, fmt.Sprintf("fpu instruction pointer: processor %#x, emulator %#x", a, b))
	}
	if a, b := le.Uint64(s[16:]), le.Uint64(e[16:]); a != b {
		d = append(d, fmt.Sprintf("fpu data pointer: processor %#x, emulator %#x", a, b))
	}
	return strings.Join(d, "; ")
}

var regNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

func flagNames(f uint64) string {
	var b strings.Builder
	for _, x := range []struct {
		bit  uint64
		name byte
	}{{OF, 'o'}, {SF, 's'}, {ZF, 'z'}, {AF, 'a'}, {PF, 'p'}, {CF, 'c'}, {DF, 'd'}, {AC, 'A'}, {ID, 'I'}} {
		if f&x.bit != 0 {
			b.WriteByte(x.name)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func lanes(b []byte) string {
	return fmt.Sprintf("%016x_%016x", binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b))
}

// random fills s with a state that suits t.
func (m caseMaker) state(s *machine, t *testCase) {
	for i := range s.r {
		s.r[i] = m.value(8)
	}
	s.rip, s.fs, s.gs = testPC, testFSBase, testGSBase
	s.flags = m.Uint64()&(arithFlags|DF) | fixedFlags
	m.fpState(s)
	m.implicit(s, t)
	if t.f.vsib {
		m.indices(s, t)
	}
	for i, f := range t.fixed {
		if f {
			s.r[i] = t.regs[i]
		}
	}
}

// indices fills the vector of indices of a gather, so that most elements lie in
// the data.
func (m caseMaker) indices(s *machine, t *testCase) {
	put := func(off int, v uint64, size int) {
		b := s.xmm(t.index)
		if off >= 16 {
			b, off = s.upper(t.index), off-16
		}
		if size == 8 {
			binary.LittleEndian.PutUint64(b[off:], v)
		} else {
			binary.LittleEndian.PutUint32(b[off:], uint32(v))
		}
	}
	size := 8
	if t.f.opcode&1 == 0 {
		size = 4
	}
	for off := 0; off < 32; off += size {
		v := int64(m.Intn(0x400)) - 0x200
		if m.chance(20) {
			v <<= 12
		}
		put(off, uint64(v), size)
	}
}

// implicit sets registers that the instruction uses without naming them, so
// that most cases do something.
func (m caseMaker) implicit(s *machine, t *testCase) {
	near := func() uint64 { return dataAddr + 0x400 + uint64(m.Intn(0x2000)) }
	if !m.chance(40) {
		s.r[RSP] = near() &^ uint64(7*m.Intn(2))
	}
	name := t.f.mnem
	switch {
	case isString(t.f):
		s.r[RSI], s.r[RDI] = near(), near()
		if m.chance(30) {
			s.r[RDI] = m.address(false, 8)
		}
		if m.chance(4) { // overlapping
			s.r[RDI] = s.r[RSI] + uint64(m.Intn(17)) - 8
		}
		if t.rep != 0 {
			s.r[RCX] = uint64(m.Intn(6))
		}
		if t.addr32 {
			for _, r := range []int{RSI, RDI, RCX} {
				s.r[r] = s.r[r]&0xffffffff | m.Uint64()<<32
			}
		}
	case t.memSize == XSaveSize:
		s.r[RDX], s.r[RAX] = 0, uint64(m.Intn(8)) // the processor may have more components
		if t.fixed[RAX] || t.fixed[RDX] {
			t.target, t.fixed[RAX], t.fixed[RDX] = 0, false, false
		}
	case name == "xlat":
		s.r[RBX] = near()
	case name == "leave" || name == "enter":
		s.r[RBP] = near()
	case name == "div" || name == "idiv":
		if !m.chance(3) {
			s.r[RDX] = uint64(m.Intn(16))
			if name == "idiv" && m.chance(2) {
				s.r[RAX] = -(s.r[RAX] >> 1)
				s.r[RDX] = math.MaxUint64
			}
			if m.chance(2) {
				s.r[RAX] &= 0x3ff
			}
		}
	case strings.HasPrefix(name, "bt") && t.target != 0 && t.regReg >= 0 && !m.chance(20):
		v := int64(m.Intn(4096)) - 2048
		s.r[t.regReg] = uint64(v)
	case name == "call" || name == "jmp":
		if t.rmReg >= 0 {
			s.r[t.rmReg] = m.Uint64() >> 17
		}
	case strings.HasPrefix(name, "cmpxchg") && t.rmReg >= 0 && m.chance(2):
		s.r[RAX] = s.r[t.rmReg]
	case strings.HasPrefix(name, "wr") && t.rmReg >= 0:
		s.r[t.rmReg] >>= 17
	}
}

// fpState fills the x87, MMX and SSE registers.
func (m caseMaker) fpState(s *machine) {
	le := binary.LittleEndian
	s.fx = fpRegs{}
	mx := uint32(mxMasks)
	if m.chance(4) {
		mx = uint32(m.Intn(64)) << 7
	}
	mx |= uint32(m.Intn(4)) << 13
	if m.chance(3) {
		mx |= uint32(m.Intn(64)) // sticky flags
	}
	if m.chance(6) {
		mx |= 1 << 15
	}
	if m.chance(6) {
		mx |= 1 << 6
	}
	le.PutUint32(s.fx[24:], mx)
	le.PutUint32(s.fx[28:], 0xffff)
	s.hi = upperRegs{}
	for i := range 16 {
		m.vector(s.xmm(i))
		if !m.chance(4) {
			m.vector(s.upper(i))
		}
	}
	cw := uint16(0x37f)
	if m.chance(2) {
		cw = cwOne | uint16(m.Intn(4))<<10 | uint16([]int{0, 2, 3, 3}[m.Intn(4)])<<8 | swExc
	}
	if m.chance(4) {
		cw = cw&^swExc | uint16(m.Intn(64))
	}
	sw := uint16(m.Intn(8))<<11 | uint16(m.Uint32())&swCC
	if m.chance(4) {
		sw |= uint16(m.Uint32()) & (swExc | swSF)
	}
	if !m.chance(10) {
		sw &^= swExc &^ cw // nothing pending
	}
	if sw&^cw&swExc != 0 {
		sw |= swES | swB
	}
	tags := byte(0xff)
	switch m.Intn(3) {
	case 0:
		tags = byte(m.Uint32())
	case 1:
		top := sw >> 11 & 7
		tags = 0
		for i := range uint16(4) {
			tags |= 1 << ((top + i) & 7)
		}
	}
	le.PutUint16(s.fx[0:], cw)
	le.PutUint16(s.fx[2:], sw)
	s.fx[4] = tags
	for i := range 8 {
		v := m.float80()
		le.PutUint64(s.fx[32+16*i:], v.Man)
		le.PutUint16(s.fx[40+16*i:], v.SE)
	}
	if m.chance(3) { // values that are close to each other
		v := m.float80()
		for i := range 8 {
			w := v
			w.Man += uint64(m.Intn(5)) - 2
			w.SE += uint16(m.Intn(5)) - 2
			w.SE ^= uint16(m.Uint32()) & 0x8000
			le.PutUint64(s.fx[32+16*i:], w.Man)
			le.PutUint16(s.fx[40+16*i:], w.SE)
		}
	}
}

// vector fills b with lanes of one kind.
func (m caseMaker) vector(b []byte) {
	le := binary.LittleEndian
	switch m.Intn(4) {
	case 0:
		for i := 0; i+4 <= len(b); i += 4 {
			le.PutUint32(b[i:], m.float32())
		}
	case 1:
		for i := 0; i+8 <= len(b); i += 8 {
			le.PutUint64(b[i:], m.float64())
		}
	case 2:
		n := []int{1, 2, 4, 8}[m.Intn(4)]
		for i := 0; i+8 <= len(b); i += n {
			le.PutUint64(b[i:], m.value(n))
		}
	default:
		m.Read(b)
	}
}

func (m caseMaker) float32() uint32 {
	s := m.Uint32() & (1 << 31)
	switch m.Intn(12) {
	case 0:
		return s
	case 1:
		return s | 0x7f800000
	case 2:
		return s | 0x7f800000 | m.Uint32()>>9
	case 3:
		return s | m.Uint32()>>(9+m.Intn(20))
	case 4:
		return s | 0x7f7fffff - uint32(m.Intn(3))
	case 5:
		return s | 0x00800000 + uint32(m.Intn(3)) - 1
	case 6:
		return math.Float32bits(float32(int32(m.value(4))))
	case 7:
		return math.Float32bits(float32(m.Intn(100)) / 4)
	case 8, 9:
		return s | uint32(64+m.Intn(128))<<23 | m.Uint32()>>9
	}
	return m.Uint32()
}

func (m caseMaker) float64() uint64 {
	s := m.Uint64() & (1 << 63)
	switch m.Intn(12) {
	case 0:
		return s
	case 1:
		return s | 0x7ff<<52
	case 2:
		return s | 0x7ff<<52 | m.Uint64()>>12
	case 3:
		return s | m.Uint64()>>(12+m.Intn(50))
	case 4:
		return s | 0x7fefffffffffffff - uint64(m.Intn(3))
	case 5:
		return s | 0x0010000000000000 + uint64(m.Intn(3)) - 1
	case 6:
		return math.Float64bits(float64(int64(m.value(8))))
	case 7:
		return math.Float64bits(float64(m.Intn(100)) / 4)
	case 8, 9:
		return s | uint64(1023-80+m.Intn(160))<<52 | m.Uint64()>>12
	}
	return m.Uint64()
}

func (m caseMaker) float80() Float80 {
	s := uint16(m.Uint32()) & 0x8000
	man := m.Uint64() | 1<<63
	if m.chance(3) {
		man = man >> (40 + m.Intn(24)) << (40 + m.Intn(24))
		man |= 1 << 63
	}
	if m.chance(8) {
		man = 1 << 63
	}
	if m.chance(8) {
		man = math.MaxUint64
	}
	switch m.Intn(16) {
	case 0:
		return Float80{0, s}
	case 1:
		return Float80{1 << 63, s | 0x7fff}
	case 2:
		return Float80{man, s | 0x7fff}
	case 3:
		return Float80{m.Uint64() >> m.Intn(64), s} // denormal
	case 4:
		return Float80{m.Uint64(), uint16(m.Uint32())}
	case 5:
		return Float80{man, s | uint16(0x7ffe-m.Intn(70))}
	case 6:
		return Float80{man, s | uint16(1+m.Intn(70))}
	case 7:
		return fromInt(int64(m.value(8)))
	case 8:
		return Float80{man, s | uint16(bias80+1020+m.Intn(8))}
	case 9:
		return Float80{man, s | uint16(bias80-1080+m.Intn(70))}
	case 10:
		return Float80{man, s | uint16(bias80-160+m.Intn(40))}
	}
	return Float80{man, s | uint16(bias80-70+m.Intn(140))}
}

// memory fills b, the memory operand, with what suits its size.
func (m caseMaker) fillMemory(b []byte, t *testCase, s *machine) {
	le := binary.LittleEndian
	if len(b) != t.memSize { // the rest can't be written
		m.Read(b)
		if strings.HasPrefix(t.f.mnem, "fxrstor") {
			clear(b)
		}
		return
	}
	if len(b) == 10 || len(b) == 108 {
		m.Read(b)
		v := m.float80()
		if m.chance(3) { // decimal digits
			v = Float80{m.Uint64() & 0x7777777777777777, uint16(m.Uint32()) & 0x8077}
		}
		le.PutUint64(b, v.Man)
		le.PutUint16(b[8:], v.SE)
		return
	}
	n := len(b) / 8 * 8
	m.vector(b[:n])
	if n == 0 {
		var w [8]byte
		le.PutUint64(w[:], m.value(len(b)))
		if len(b) == 4 && m.chance(2) {
			le.PutUint32(w[:], m.float32())
		}
		copy(b, w[:])
	}
	switch name := t.f.mnem; {
	case t.memSize == XSaveSize:
		m.xsaveArea(b)
	case strings.HasPrefix(name, "fxrstor"):
		var o machine
		m.fpState(&o)
		copy(b, o.fx[:])
	case name == "ldmxcsr" && !m.chance(8):
		le.PutUint32(b, le.Uint32(b)&0xffff)
	case (name == "call" || name == "jmp") && len(b) == 8:
		le.PutUint64(b, m.Uint64()>>17)
	case strings.HasPrefix(name, "cmpxchg") && m.chance(2):
		if len(b) == 16 {
			le.PutUint64(b, s.r[RAX])
			le.PutUint64(b[8:], s.r[RDX])
		} else if len(b) == 8 && t.f.mnem == "cmpxchg8b" {
			le.PutUint32(b, uint32(s.r[RAX]))
			le.PutUint32(b[4:], uint32(s.r[RDX]))
		} else {
			var w [8]byte
			le.PutUint64(w[:], s.r[RAX])
			copy(b, w[:])
		}
	}
}

// xsaveArea fills b with an XSAVE area, mostly a valid one.
func (m caseMaker) xsaveArea(b []byte) {
	le := binary.LittleEndian
	var o machine
	m.fpState(&o)
	copy(b, o.fx[:])
	copy(b[xsYMM:], o.hi[:])
	clear(b[xsHeader:xsYMM])
	bv := uint64(m.Intn(8))
	if m.chance(20) {
		bv |= 8 << 60
	}
	le.PutUint64(b[xsHeader:], bv)
	if m.chance(3) {
		le.PutUint64(b[xsHeader+8:], 1<<63|bv|uint64(m.Intn(8)))
	}
	switch m.Intn(20) {
	case 0:
		b[xsHeader+8] ^= 1 << m.Intn(3)
	case 1:
		b[xsHeader+16+m.Intn(48)] = 1
	case 2:
		if b[xsHeader+15] == 0 { // else some components may be loaded before the fault
			b[27] = 1 // of MXCSR
		}
	}
}

// describe shows what of the state before a case matters most for f.
func (s *machine) describe(f *form) string {
	le := binary.LittleEndian
	if strings.Contains(f.args0(), "fpu") {
		return fmt.Sprintf("before: control %04x status %04x tags %02x st0 %04x:%016x st1 %04x:%016x", le.Uint16(s.fx[0:]), le.Uint16(s.fx[2:]), s.fx[4],
			le.Uint16(s.fx[40:]), le.Uint64(s.fx[32:]), le.Uint16(s.fx[56:]), le.Uint64(s.fx[48:]))
	}
	return fmt.Sprintf("before: mxcsr %x flags %s rax %x rcx %x rdx %x", s.mxcsr(), flagNames(s.flags), s.r[RAX], s.r[RCX], s.r[RDX])
}

func (f *form) args0() string { return f.row.args }
