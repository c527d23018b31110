package overlay

import (
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A View is a thread's memory as the recording knows it at one instant. It
// must not change while a Section uses it.
type View interface {
	// KnownLine returns the bytes of a line and which of them are known (bit i
	// for byte i). The result must not be written to.
	KnownLine(line uint64) (data *[64]byte, known uint64)
	// Code returns instruction bytes from pc to the end of its page, or as far as
	// they are known.
	Code(pc uint64) []byte
	// CodeMissing says that there may be code at pc, and that Code doesn't know it.
	CodeMissing(pc uint64) bool
	// NewBlocks returns a cache for code, with nothing in it.
	NewBlocks() *x86.BlockCache
}

// InputKind says what flowed into a section.
type InputKind uint8

const (
	_ InputKind = iota
	// InImport: the bytes of a line became known, or changed by others' hands.
	InImport
	// InSyscall: a system call's result.
	InSyscall
	// InNondet: the registers that a non-deterministic instruction set.
	InNondet
	// InContext: a signal's delivery or return replaced the registers.
	InContext
)

// An Input is one thing that flowed into a section from outside the thread.
type Input struct {
	Kind InputKind
	At   emulate.Count // due before the instruction with this count
	PC   uint64        // of that instruction

	// InImport
	Line uint64
	Data [64]byte
	// Given has a bit for every byte of Data that means something.
	Given uint64
	// Foreign has a bit for every byte that the thread didn't know before, or
	// that somebody else changed since.
	Foreign uint64

	// InSyscall
	NR     uint64
	Args   [6]uint64
	Ret    uint64
	NoExit bool // the call never returned
	Writes []Span

	// InNondet: which, and the registers as x86.SetNondetRegs takes them
	What x86.NondetKind
	Regs []uint64

	// InContext, and InSyscall if more than the result changed: the registers
	// afterwards
	State *x86.State
	// Signal is the one that InContext delivers; 0: it is the return from a handler.
	Signal int32
}

// A Span is N bytes of guest memory.
type Span struct{ Addr, N uint64 }

// An Access is one recorded access of a section, in program order.
type Access struct {
	At    emulate.Count
	PC    uint64
	Addr  uint64
	Size  uint8
	Kind  x86.AccessKind
	Atom  bool   // part of an atomic instruction
	Value uint64 // read, or written
	Pre   uint64 // what the bytes held just before (for reads: Value)
}

// EndKind says where a section ends.
type EndKind uint8

const (
	_ EndKind = iota
	// EndReturn: when the function that was entered at the start returns,
	// that is when RSP rises above SP.
	EndReturn
	// EndLoop: when control comes back to PC in the same frame, or the frame
	// is left, whichever is first.
	EndLoop
	// EndCount: after as many instructions as recorded; for sections that
	// never came back.
	EndCount
	// EndOpen: nowhere, but with the thread.
	EndOpen
)

// A Section is a stretch of one recorded thread.
type Section struct {
	Thread emulate.ThreadID
	Start  emulate.Count // first instruction
	Stop   emulate.Count // one past the last instruction recorded
	Entry  x86.State     // at Start
	View   View          // at Start
	Inputs []Input       // in order
	// Accesses may be cut off at a budget; Complete says that they aren't.
	Accesses []Access
	Complete bool

	End   EndKind
	EndPC uint64
	SP    uint64 // RSP at the entry of the frame: above it the caller's memory begins
	// Stack are the bounds of the stack that SP is on, 0 if they aren't known.
	Stack [2]uint64
	// Cleared is the word that the kernel clears when the thread ends, if it
	// does so within the section; 0: none. Only Past.Capture sets it.
	Cleared uint64
	// Exit is the state after the last recorded instruction.
	Exit x86.State
	// Live are the locations whose values the recorded continuation used; only
	// these of the registers and of the own frame count as outputs. nil if the
	// section is not Complete.
	Live *Live
}

// stackReach is how far down a stack reaches whose bounds aren't known, in bytes.
const stackReach = 8 << 20

// OnStack says whether an address is in the frame that the section is in, or in
// those of functions that it calls. A goroutine's stack lies among its program's
// data: there, only the bounds tell.
func (s *Section) OnStack(addr uint64) bool {
	if s.Stack[1] != 0 {
		return addr < s.SP && addr >= s.Stack[0] && addr < s.Stack[1]
	}
	return addr < s.SP && s.SP-addr < stackReach
}

// Steps returns the number of recorded instructions.
func (s *Section) Steps() uint64 { return uint64(s.Stop - s.Start) }

// Bytes returns about how much memory the lists of a section take, in bytes.
func (s *Section) Bytes() int64 {
	return int64(len(s.Accesses))*int64(unsafe.Sizeof(Access{})) + int64(len(s.Inputs))*int64(unsafe.Sizeof(Input{}))
}

// left reports whether the recorded section left the frame that it began in.
func (s *Section) left() bool { return s.Complete && s.Exit.R[x86.RSP] > s.SP }

// Writes reports whether the access changes memory.
func (a *Access) Writes() bool { return a.Kind == x86.Write }

// Waits reports whether the thread waited in the section for another one, by
// futex(2).
func (s *Section) Waits() bool {
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Kind == InSyscall && in.NR == sysFutex {
			if op := in.Args[1] & futexCmdMask; op == futexWait || op == futexWaitBS {
				return true
			}
		}
	}
	return false
}
