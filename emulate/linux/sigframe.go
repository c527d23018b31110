package linux

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/x86"
)

// The signal frame, as the kernel lays it out (arch/x86/include/asm/sigframe.h,
// uapi/asm/sigcontext.h, uapi/asm/ucontext.h): return address, ucontext,
// siginfo; and above, 64-byte aligned, the XSAVE area in the standard format and a
// magic number. The bytes that FXSAVE leaves to software say what is there.
const (
	frameUC      = 8
	ucFlags      = frameUC
	ucLink       = frameUC + 8
	ucStack      = frameUC + 16 // stack_t: sp, flags, size
	ucContext    = frameUC + 40 // sigcontext: 23 registers, fpstate, 8 reserved
	ucFPState    = ucContext + 23*8
	ucMask       = ucContext + 256
	frameInfo    = ucMask + 8
	frameSize    = frameInfo + 128
	fxsaveSize   = 512
	fpstateSize  = x86.XSaveSize + 4
	fpSoftware   = 464        // struct _fpx_sw_bytes
	fpMagic1     = 0x46505853 // FP_XSTATE_MAGIC1
	fpMagic2     = 0x46505845 // FP_XSTATE_MAGIC2, at the end
	ucFPXState   = 1          // UC_FP_XSTATE
	redZone      = 128
	infoSize     = 128
	ucSegmentSS  = 2 // UC_SIGCONTEXT_SS
	ucStrictSS   = 4 // UC_STRICT_RESTORE_SS
	userCS       = 0x33
	userSS       = 0x2b
	contextRegs  = 16
	contextRIP   = 16
	contextFlags = 17
	contextSegs  = 18
	contextErr   = 19
	contextTrap  = 20
	contextMask  = 21
	contextCR2   = 22
)

// contextOrder is the order of the general registers in a sigcontext.
var contextOrder = [contextRegs]uint8{8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4}

// pushFrame builds the frame for s on t's stack and points t at the handler.
// It reports false, with nothing changed, if there is no room.
func (t *Thread) pushFrame(s siginfo, act *sigaction) bool {
	c := t.CPU
	sp := c.R[4] - redZone
	if act.flags&saOnStack != 0 && t.alt.on && !t.alt.holds(c.R[4]) {
		sp = t.alt.sp + t.alt.size
	}
	fp := (sp - fpstateSize) &^ 63
	at := (fp-frameSize)&^15 - 8
	if t.alt.on && t.alt.holds(sp-1) && !t.alt.holds(at) {
		return false // overflow of the alternate stack
	}

	buf := make([]byte, fp+fpstateSize-at)
	le := binary.LittleEndian
	put := func(off int, v uint64) { le.PutUint64(buf[off:], v) }
	put(0, act.restorer)
	put(ucFlags, ucFPXState|ucSegmentSS|ucStrictSS)
	t.putAlt(buf[ucStack:])
	for i, r := range contextOrder {
		put(ucContext+8*i, c.R[r])
	}
	put(ucContext+8*contextRIP, c.RIP)
	put(ucContext+8*contextFlags, c.Flags())
	put(ucContext+8*contextSegs, userCS|userSS<<48)
	put(ucContext+8*contextErr, t.trapErr)
	put(ucContext+8*contextTrap, t.trap)
	mask := t.mask
	if t.savedMask != nil {
		mask = *t.savedMask
	}
	put(ucContext+8*contextMask, uint64(mask))
	put(ucContext+8*contextCR2, t.cr2)
	put(ucFPState, fp)
	put(ucMask, uint64(mask))
	s.put(buf[frameInfo:])
	putFPState(c, buf[fp-at:])
	if t.p.AS.write(t, at, buf) != 0 {
		return false
	}

	if t.alt.flags&ssAutoDisarm != 0 {
		t.alt = altStack{}
	}
	c.R[4] = at
	c.R[7] = uint64(s.signo)
	c.R[6] = at + frameInfo
	c.R[2] = at + frameUC
	c.R[0] = 0
	c.RIP = act.handler
	c.SetFlags(c.Flags() &^ (x86.DF | x86.TF))
	c.X, c.Y = [16][2]uint64{}, [16][2]uint64{}
	c.MXCSR = mxcsrInit
	c.F = x86.FPU{}
	c.F.Init()
	return true
}

// popFrame is rt_sigreturn(2): it restores what pushFrame saved, as the
// handler left it. It reports false if the frame can't be read.
func (t *Thread) popFrame() bool {
	c := t.CPU
	var buf [frameSize]byte
	if t.p.AS.read(c.R[4]-8, buf[:]) != 0 {
		return false
	}
	le := binary.LittleEndian
	get := func(off int) uint64 { return le.Uint64(buf[off:]) }
	if !t.popFPState(get(ucFPState)) {
		return false
	}
	for i, r := range contextOrder {
		c.R[r] = get(ucContext + 8*i)
	}
	c.RIP = get(ucContext + 8*contextRIP)
	// The kernel lets a frame change the arithmetic flags, DF, TF, AC and RF.
	const fix = x86.CF | x86.PF | x86.AF | x86.ZF | x86.SF | x86.OF | x86.DF | x86.TF | x86.AC
	c.SetFlags(c.Flags()&^fix | get(ucContext+8*contextFlags)&fix)
	t.mask = sigset(get(ucMask)) &^ unmaskable
	sp, flags, size := get(ucStack), le.Uint32(buf[ucStack+8:]), get(ucStack+16)
	t.setAlt(sp, flags, size)
	return true
}

// putFPState writes the floating-point and vector registers of c to b, of
// fpstateSize bytes.
func putFPState(c *x86.CPU, b []byte) {
	le := binary.LittleEndian
	c.PutXSave(b[:x86.XSaveSize])
	le.PutUint32(b[fpSoftware:], fpMagic1)
	le.PutUint32(b[fpSoftware+4:], fpstateSize)
	le.PutUint64(b[fpSoftware+8:], x86.XCR0)
	le.PutUint32(b[fpSoftware+16:], x86.XSaveSize)
	le.PutUint32(b[x86.XSaveSize:], fpMagic2)
}

// popFPState restores the registers from the frame's part at fp, 0 if it has none.
// Without the magic numbers it is an FXSAVE image. It reports false if it can't be
// read or is invalid.
func (t *Thread) popFPState(fp uint64) bool {
	le := binary.LittleEndian
	c := t.CPU
	var b [fpstateSize]byte
	if fp == 0 {
		c.F, c.X, c.Y, c.MXCSR = x86.FPU{}, [16][2]uint64{}, [16][2]uint64{}, mxcsrInit
		c.F.Init()
		return true
	}
	if t.p.AS.read(fp, b[:fxsaveSize]) != 0 {
		return false
	}
	whole := le.Uint32(b[fpSoftware:]) == fpMagic1 && t.p.AS.read(fp+fxsaveSize, b[fxsaveSize:]) == 0 &&
		le.Uint32(b[x86.XSaveSize:]) == fpMagic2
	if !whole {
		clear(b[fxsaveSize:])
		b[fxsaveSize] = 3 // XSTATE_BV: x87 and SSE
	}
	return c.SetXSave(b[:x86.XSaveSize])
}

// put writes s as a siginfo_t of infoSize bytes.
func (s *siginfo) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(s.signo))
	le.PutUint32(b[4:], 0)
	le.PutUint32(b[8:], uint32(s.code))
	switch {
	case s.fault:
		le.PutUint64(b[16:], s.addr)
	case s.io:
		le.PutUint64(b[16:], s.band)
		le.PutUint32(b[24:], uint32(s.fd))
	case s.code == siKernel:
	default:
		le.PutUint32(b[16:], uint32(s.pid))
		if s.code != siTimer {
			le.PutUint32(b[20:], uint32(s.uid))
		}
		le.PutUint64(b[24:], s.value)
	}
}

// getSiginfo reads a siginfo_t that a process sends itself (rt_sigqueueinfo).
func getSiginfo(b []byte) siginfo {
	le := binary.LittleEndian
	return siginfo{
		signo: int(le.Uint32(b[0:])), code: int32(le.Uint32(b[8:])),
		pid: int(le.Uint32(b[16:])), uid: int(le.Uint32(b[20:])), value: le.Uint64(b[24:]),
	}
}

// putAlt writes t's alternate stack as a stack_t of 24 bytes.
func (t *Thread) putAlt(b []byte) {
	le := binary.LittleEndian
	var flags uint32
	switch {
	case !t.alt.on:
		flags = ssDisable
	case t.alt.holds(t.CPU.R[4]):
		flags = ssOnStack
	}
	le.PutUint64(b[0:], t.alt.sp)
	le.PutUint32(b[8:], flags|t.alt.flags)
	le.PutUint32(b[12:], 0)
	le.PutUint64(b[16:], t.alt.size)
}

// setAlt is the setting half of sigaltstack(2).
func (t *Thread) setAlt(sp uint64, flags uint32, size uint64) unix.Errno {
	if t.alt.holds(t.CPU.R[4]) {
		return unix.EPERM
	}
	switch flags &^ ssAutoDisarm {
	case ssDisable:
		t.alt = altStack{}
		return 0
	case 0, ssOnStack:
	default:
		return unix.EINVAL
	}
	if size < minSigStack {
		return unix.ENOMEM
	}
	t.alt = altStack{sp: sp, size: size, flags: flags & ssAutoDisarm, on: true}
	return 0
}
