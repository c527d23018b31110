package x86

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A State is all that an instruction can see or change of a CPU.
type State struct {
	R       [32]uint64 // as CPU.R
	RIP     uint64
	Flags   uint64 // RFLAGS
	X       [16][2]uint64
	Y       [16][2]uint64 // the upper halves of the YMM registers
	MXCSR   uint32
	F       FPU
	Pending Pending // the store half still to do, see RunSplit
	Trap    bool    // the trap flag's fault comes before the next instruction
}

// State returns the present state. It must not be called inside Run.
func (c *CPU) State() State {
	return State{R: c.R, RIP: c.RIP, Flags: c.Flags(), X: c.X, Y: c.Y, MXCSR: c.MXCSR, F: c.F, Pending: c.pend, Trap: c.trap}
}

// SetState is the reverse of State. Count stays as it is.
func (c *CPU) SetState(s State) {
	c.R, c.RIP, c.X, c.Y, c.MXCSR, c.F, c.pend, c.trap = s.R, s.RIP, s.X, s.Y, s.MXCSR, s.F, s.Pending, s.Trap
	c.SetFlags(s.Flags)
	c.run.broke = 0
}

// CloneInto makes dst's state and Count those of c. What dst is connected to
// (Win, Mem, Env, Watch, Calls, Blocks) stays.
func (c *CPU) CloneInto(dst *CPU) {
	dst.SetState(c.State())
	dst.Count = c.Count
}

// Lengths in bytes of what AppendState appends: RAX to R15 by number, FS base, GS
// base, RIP, RFLAGS (8 bytes each), XMM0 to 15, MXCSR (4 bytes) and what
// FPU.PutState writes; then, unless all are 0, the upper halves of YMM0 to 15.
// Pending isn't in it.
const (
	stateSize    = 20*8 + 256 + 4 + FPUStateSize
	stateSizeYMM = stateSize + 256

	stateTrap = 1 << 32 // in RFLAGS: State.Trap
)

// AppendState appends c's state, as it stands in traces, to b.
func AppendState(b []byte, c *CPU) []byte {
	le := binary.LittleEndian
	for _, v := range c.R[:16] {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint64(b, c.R[RegFS])
	b = le.AppendUint64(b, c.R[RegGS])
	b = le.AppendUint64(b, c.RIP)
	flags := c.Flags()
	if c.trap {
		flags |= stateTrap
	}
	b = le.AppendUint64(b, flags)
	for _, x := range c.X {
		b = le.AppendUint64(b, x[0])
		b = le.AppendUint64(b, x[1])
	}
	b = le.AppendUint32(b, c.MXCSR)
	var f [FPUStateSize]byte
	c.F.PutState(f[:])
	b = append(b, f[:]...)
	if c.Y == [16][2]uint64{} {
		return b
	}
	for _, y := range c.Y {
		b = le.AppendUint64(b, y[0])
		b = le.AppendUint64(b, y[1])
	}
	return b
}

// LoadState sets c's state to what AppendState wrote. The error says that b
// isn't that.
func LoadState(c *CPU, b []byte) error {
	if len(b) != stateSize && len(b) != stateSizeYMM {
		return fmt.Errorf("x86: register state of %d bytes, expected %d or %d", len(b), stateSize, stateSizeYMM)
	}
	le := binary.LittleEndian
	next := func() uint64 {
		v := le.Uint64(b)
		b = b[8:]
		return v
	}
	var s State
	for i := range 16 {
		s.R[i] = next()
	}
	s.R[RegFS] = next()
	s.R[RegGS] = next()
	s.RIP = next()
	s.Flags = next()
	s.Trap = s.Flags&stateTrap != 0
	for i := range s.X {
		s.X[i][0] = next()
		s.X[i][1] = next()
	}
	s.MXCSR = le.Uint32(b)
	s.F.SetState(b[4:])
	b = b[4+FPUStateSize:]
	for i := range len(b) / 16 {
		s.Y[i][0] = next()
		s.Y[i][1] = next()
	}
	c.SetState(s)
	return nil
}

// HashState returns the hash, as it stands in traces, of what AppendState wrote.
func HashState(b []byte) uint64 { return xxh3.Hash(b) }

// NondetRegs returns the registers that a non-deterministic instruction sets:
// RAX, RBX, RCX, RDX and flags; for RDRAND, RDSEED and RDPID the destination
// register dst and flags.
func NondetRegs(c *CPU, what NondetKind, dst uint8) []uint64 {
	switch what {
	case RDRAND, RDSEED, RDPID:
		return []uint64{c.R[dst&31], c.Flags()}
	}
	return []uint64{c.R[RAX], c.R[RBX], c.R[RCX], c.R[RDX], c.Flags()}
}

// SetNondetRegs is the reverse of NondetRegs. It reports whether regs has the
// right length; if not, nothing is set.
func SetNondetRegs(c *CPU, what NondetKind, dst uint8, regs []uint64) bool {
	switch what {
	case RDRAND, RDSEED, RDPID:
		if len(regs) != 2 {
			return false
		}
		c.R[dst&31] = regs[0]
	default:
		if len(regs) != 5 {
			return false
		}
		c.R[RAX], c.R[RBX], c.R[RCX], c.R[RDX] = regs[0], regs[1], regs[2], regs[3]
	}
	c.SetFlags(regs[len(regs)-1])
	return true
}
