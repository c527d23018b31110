package linux

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Hooks is how a recorder takes part in a live run. Every call comes from the
// one goroutine that executes the guest, at an instruction boundary of t.
// Sequence numbers (MIN) are the recorder's business.
type Hooks interface {
	// Attach is the first call of all: New makes it before anything is mapped.
	Attach(p *Process)

	// x86.Memory and x86.Env serve the guest's threads; Env.Nondet usually
	// calls Process.Nondet for the values and logs them.
	x86.Memory
	x86.Env

	// SwitchIn gives t the processing unit; it must set t.CPU.Win. A thread
	// that goes on alone is switched out and in now and then.
	SwitchIn(t *Thread, unit int)
	SwitchOut(t *Thread)

	// Split is called when t was pre-empted between the load and the store
	// half of the unlocked read-modify-write instruction at its RIP: the load
	// is done, the instruction isn't counted yet. SwitchOut follows. When t
	// runs again, CPU.FinishSplit comes right after SwitchIn.
	Split(t *Thread)

	ThreadStart(t *Thread, parent emulate.ThreadID)
	// ThreadExit: clear is the address that the kernel zeroed and woke (0: none).
	ThreadExit(t *Thread, status int, clear emulate.Addr)

	// SyscallEnter is called before the call is attempted, SyscallExit when
	// its result is in RAX (a call that blocks lets others run in between;
	// one that never returns, like exit and rt_sigreturn, has no exit). At
	// entry RIP is at SYSCALL and CPU.Count doesn't include it; at exit RIP is
	// past it, and it is counted. A call that a signal interrupts and that
	// will be restarted exits with ret -512 (ERESTARTSYS); Signal follows.
	SyscallEnter(t *Thread, nr uint64, args [6]uint64, rel []Object)
	SyscallExit(t *Thread, nr uint64, ret uint64, eff Effects)

	// Signal is called after t's registers and the frame on its stack are set
	// up for the handler. from is the sender (0: kernel or outside).
	Signal(t *Thread, signo int, code int32, fault emulate.Addr, from emulate.ThreadID)
	// Context is called after something else replaced t's registers
	// (rt_sigreturn).
	Context(t *Thread)
	// Fault is called when an instruction of t faulted, before the signal.
	Fault(t *Thread, s *x86.Stop)

	// Map, Unmap and Protect tell of the guest's memory map after it changed.
	Map(m Mapping)
	Unmap(addr emulate.Addr, n uint64)
	Protect(addr emulate.Addr, n uint64, prot int)

	// KernelWrite is called for every page piece that the kernel personality
	// changes behind the caches' back, just before it is changed: t's claims
	// and everybody else's to know these lines are void. t is nil when no
	// thread asked (loading the program, file pages changed by write(2)).
	KernelWrite(t *Thread, addr emulate.Addr, f *Frame, off, n int)
	// FrameChange is called before page (virtual) gets another frame or loses
	// its own: unmapping, moving, discarding. A page's first frame makes no call.
	FrameChange(page uint64, old *Frame)
	// FrameCode is called when page (virtual) starts to hold decoded code,
	// from inside AddressSpace.Code: no window may allow writes to f any more.
	FrameCode(page uint64, f *Frame)

	// Module is called for every ELF image mapped executable from a file.
	Module(m Module)
}

// RepHooks is for implementations of Hooks that can record a repeated string
// instruction that is pre-empted half-way; without it there are none.
type RepHooks interface {
	// Rep is called when t has executed k iterations of the repeated string
	// instruction at its RIP, which isn't complete nor counted, and is
	// pre-empted: SwitchOut follows, if another thread comes next.
	Rep(t *Thread, k uint64)
}

// BreakHooks is for implementations of Hooks that set breakpoints in the block
// cache of threads' processors.
type BreakHooks interface {
	// Break is called when t has come to one; it goes on afterwards.
	Break(t *Thread)
}

// ProcessHooks is for implementations of Hooks that take part in the processes
// that the guest forks, too (ChildrenRecord).
type ProcessHooks interface {
	Hooks
	// Fork returns the hooks of q, which the caller's process is about to fork.
	// Attach follows when q has its memory, then ThreadStart of its only thread.
	Fork(q *Process) Hooks
	// ProcessEnd is called when a process has ended, after its last ThreadExit.
	ProcessEnd(q *Process, s ExitStatus)
	// Exec is called when another program is about to take the place of the
	// process's: its memory map is empty, the calling thread is the only one.
	// SyscallExit follows, with the new program's first state.
	Exec(q *Process, path string, argv []string)
}

// An Object is what a system call synchronises on: a futex word, a pipe or
// other channel, a thread, a signal. Releases happen at entry, acquires at exit.
type Object struct {
	Kind ObjectKind
	// ID is: of ObjAddr the virtual address, or for a word in a shared mapping
	// its SharedAddr, so that aliases agree; of ObjChannel a number given when
	// the file was opened; of ObjThread the ThreadID; of ObjSignal the ThreadID
	// of the receiver, or 0 for the process, <<8 | signal; of ObjProcess the
	// number of a process that has ended.
	ID uint64
}

// ObjectKind says what an Object is.
type ObjectKind uint8

const (
	_ ObjectKind = iota
	ObjAddr
	ObjChannel
	ObjThread
	ObjSignal
	ObjProcess
)

// Effects are what a system call did beside its result.
type Effects struct {
	Acquire []Object
	Reads   []Range // guest memory the kernel read
	Writes  []Range // guest memory the kernel wrote
}

// A Range is n bytes of guest memory.
type Range struct {
	Addr emulate.Addr
	N    uint64
}

// A Mapping is one region of the guest's memory map.
type Mapping struct {
	Addr   emulate.Addr
	N      uint64 // bytes, a multiple of the page size
	Prot   int    // PROT_* of mmap(2)
	Shared bool
	Path   string // file, or [heap], [stack], "" for anonymous
	Offset uint64 // in the file
	// Alias is the same for mappings that show the same shared memory
	// (0: none); AliasOffset is the offset in it.
	Alias, AliasOffset uint64
}

// SharedAddr is the address, outside of any address space, of a byte of shared
// memory: object and offset are a Mapping's Alias and AliasOffset. It is the
// same whatever the virtual address and process. Numbers of frames would do as
// well, but say where memory is on the machine that records.
func SharedAddr(object, offset uint64) uint64 { return 1<<63 | object<<40 + offset }

// A Module is an ELF image in the guest.
type Module struct {
	Path    string       // as opened
	Base    emulate.Addr // load bias: what to add to the file's virtual addresses
	BuildID string       // hex, empty if it has none
	Size    int64        // of the file, bytes
	ModTime int64        // of the file, ns since 1970
}
