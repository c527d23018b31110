package x86

import (
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// Indices into CPU.R beside the sixteen general registers, which have their
// architectural numbers (RAX 0, RCX 1, RDX 2, RBX 3, RSP 4, RBP 5, RSI 6,
// RDI 7, R8..R15). They make effective addresses branch-free.
const (
	RegZero = 16 // always 0: an absent base or index
	RegFS   = 17 // the FS base, as an address component
	RegGS   = 18 // the GS base
)

// A CPU is the state of one guest thread's processor: the architectural
// registers and what the run loop needs. It isn't safe for concurrent use.
type CPU struct {
	R   [32]uint64 // general registers, then RegZero, RegFS, RegGS
	RIP uint64

	// Lazy flags: the last result that set flags and what made it; see flags.go.
	fop        uint8
	fa, fb, fr uint64
	flags      uint64 // RFLAGS bits that are materialised; DF, AC, ID always are

	X     [16][2]uint64 // XMM0..15, low quadword first
	Y     [16][2]uint64 // the upper halves of YMM0..15
	MXCSR uint32
	F     FPU

	// Win answers loads and stores; Mem is asked when it doesn't.
	Win *hwmodel.Window
	Mem Memory
	Env Env

	// Watch, when set, sees every access that the window doesn't answer.
	Watch Watcher

	// Fetches, when set, sees the code that Blocks watch.
	Fetches FetchSink

	// Calls, when set, sees every call and return.
	Calls CallSink

	// Count is the number of instructions executed. It is exact whenever the
	// CPU isn't inside Run; inside, use InstrCount.
	Count uint64

	Blocks *BlockCache

	cur   *Op    // the instruction in a slow path
	base  uint64 // Count at the start of the running block
	run   runState
	atomi bool // the access under way belongs to an atomic instruction

	xt        [2]uint64 // a packed operand that came from memory in pieces; see xp
	yt        [2]uint64 // its upper half; see vp
	part      partial   // what an instruction has done that may fault half-way
	pend      Pending
	hostMXCSR uint32 // the host's, while translated code has the guest's: then liveMXCSR is 1
	liveMXCSR uint8
	place     uint64 // where translated code is about to store

	trap bool // the last instruction began with the trap flag set, see single
}

// AccessKind says what an access to memory is.
type AccessKind uint8

const (
	_ AccessKind = iota
	Read
	Write
	// Update is the load half of a read-modify-write instruction; its store
	// half follows as a Write of the same instruction.
	Update
)

func (k AccessKind) String() string {
	switch k {
	case Read:
		return "read"
	case Write:
		return "write"
	case Update:
		return "update"
	}
	return "invalid"
}

// Memory is what a CPU asks when its window doesn't answer.
type Memory interface {
	// Line returns the bytes of the line (virtual address >> LineShift), made
	// readable, or readable and writable if write is set. It may install tags
	// in c.Win. It doesn't return if the access can't be done: it panics with
	// a *Stop (see Raise). The pointer is good until the next call.
	Line(c *CPU, line uint64, write bool) unsafe.Pointer

	// Code returns the instruction bytes from pc to the end of its page (at
	// least one byte), or a nil slice if nothing can be executed there. The
	// implementation remembers that the page holds decoded code: a later
	// change to it must be told to the BlockCache.
	Code(c *CPU, pc uint64) []byte
}

// A CodeUser is a Memory that wants to know which of the code that it showed is
// used: CodeUsed is called when n bytes from pc on have been decoded, before any
// of them is executed. They may reach into the next page, and beyond what is
// there.
type CodeUser interface {
	CodeUsed(pc, n uint64)
}

// Env decides what the processor can't: everything non-deterministic.
type Env interface {
	// Orderable is called before an atomic read-modify-write (LOCK or XCHG
	// with memory), with the address and size of its operand, and before a
	// fence (MFENCE, size 0). It may panic with a *Stop.
	Orderable(c *CPU, addr uint64, size int)

	// Nondet fills RAX, RBX, RCX, RDX (and the destination register dst for
	// RDRAND, RDSEED, RDPID) of a non-deterministic instruction.
	Nondet(c *CPU, what NondetKind, dst uint8, size int)
}

// NondetKind names a non-deterministic instruction.
type NondetKind uint8

const (
	_ NondetKind = iota
	CPUID
	RDTSC
	RDTSCP
	RDRAND
	RDSEED
	XGETBV
	RDPID
)

// A Watcher sees the accesses that the window doesn't answer, in program
// order. Accesses of more than 8 bytes come in pieces of 8, ones that straddle
// two lines in one piece a line. Lines without tags in the window
// are seen completely; of others only the first access may be.
type Watcher interface {
	// Load may replace the value (zero-extended) that the access reads.
	Load(c *CPU, addr uint64, size int, kind AccessKind, v uint64) uint64
	// Store is called before the store is done.
	Store(c *CPU, addr uint64, size int, v uint64)
}

// A CallSink sees calls and returns as they complete: RIP is not yet
// changed, RSP is. It is how function instances are tracked.
type CallSink interface {
	Call(c *CPU, site, target, sp uint64) // sp: RSP after the push
	Ret(c *CPU, site, target, sp uint64)  // sp: RSP after the pop
}

// A StopKind says why Run returned.
type StopKind uint8

const (
	_           StopKind = iota
	StopLimit            // the limit was reached
	StopSyscall          // RIP is at a SYSCALL instruction, not yet executed
	StopFault            // the instruction at RIP faulted; nothing of it was done
	StopBreak            // RIP is at a block marked by BlockCache.Break
	StopYield            // Memory, Env or Watcher asked to stop before the instruction
)

func (k StopKind) String() string {
	switch k {
	case StopLimit:
		return "limit"
	case StopSyscall:
		return "system call"
	case StopFault:
		return "fault"
	case StopBreak:
		return "break"
	case StopYield:
		return "yield"
	}
	return "invalid"
}

// A Stop says why and where Run returned. Memory, Env and Watcher end an
// instruction before it has changed anything by panicking with a *Stop.
type Stop struct {
	Kind   StopKind
	Vector uint8  // StopFault: the exception vector (Intel SDM volume 3, table 6-1)
	Addr   uint64 // StopFault with vector 14: the address that faulted (CR2)
	Code   uint32 // StopFault: the error code as the kernel would see it (bit 1: write)
	Bytes  []byte // StopFault with vector 6: the instruction's bytes, if the table has no such instruction
	Err    error  // StopYield: why, for the caller that asked
}

// Unsupported reports whether the stop is the invalid-opcode fault of bytes that
// the table of instructions doesn't have: either no x86-64-v3 processor has the
// instruction, or it is missing here.
func (s *Stop) Unsupported() bool { return s.Kind == StopFault && len(s.Bytes) > 0 }

// Exception vectors.
const (
	VecDE = 0  // divide error
	VecDB = 1  // debug
	VecBP = 3  // breakpoint
	VecUD = 6  // invalid opcode
	VecGP = 13 // general protection
	VecPF = 14 // page fault
	VecMF = 16 // x87 floating point
	VecAC = 17 // alignment check
	VecXM = 19 // SIMD floating point
)

// Raise ends the running instruction with s.
func Raise(s *Stop) { panic(s) }
