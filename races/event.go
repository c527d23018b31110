package races

import "github.com/racesim/racesim/emulate"

// An Op says what an Event is.
type Op uint8

const (
	_             Op = iota
	OpAccess         // Thread accesses N bytes at Addr
	OpAcquire        // Thread acquires from the object (Object, Value)
	OpRelease        // Thread releases to the object (Object, Value)
	OpFence          // Thread executes a fence
	OpThreadStart    // Thread starts; Value is its parent (0: none)
	OpThreadExit     // Thread ends; Addr is the word that the kernel zeroes (0: none)
	OpJoin           // Thread has waited for the end of thread Value
	OpAlloc          // Thread got the block of N bytes at Addr
	OpFree           // Thread gives back the block at Addr (N: its size, 0: as allocated)
	OpReset          // the N bytes at Addr are new memory
	OpLock           // Thread holds the lock at Addr from now on; Mode says how
	OpUnlock         // Thread holds the lock at Addr no longer
	OpUse            // Thread uses the object (Object, Value) of N bytes (Kind Read), or begins (Write) or ends (Free) its life
	OpRenew          // the object (Object, Value) is another one from now on; Value ^0: all of that kind
	OpTired          // Thread may leave out, from now on, stores to bytes that it stored to since its last event that isn't an access
	OpWait           // Thread does nothing until thread Value has ended (0: it goes on); a hint
	OpSwitch         // Thread executes strand Strand from now on, 0: its own code, which with Value 1 goes on later; see strand.go
	OpStrandEnd      // strand Strand ends
	OpHand           // what strand Value did is ordered before what strand Strand does from now on
	OpSpawn          // Thread makes strand Strand
	OpGather         // what everybody did is ordered before what Thread does from now on
	OpForget         // nobody acquires from the object (Object, Value) any more
	OpFresh          // the N bytes at Addr are new memory, in whichever block they are
)

var opNames = [...]string{"invalid", "access", "acquire", "release", "fence", "thread-start", "thread-exit", "join", "alloc", "free", "reset", "lock", "unlock", "use", "renew", "tired", "wait",
	"switch", "strand-end", "hand", "spawn", "gather", "forget", "fresh"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "invalid"
}

// A Kind says what an access does to the memory.
type Kind uint8

const (
	_      Kind = iota
	Read        // reads
	Write       // writes
	Update      // reads and writes, in one instruction
	Free        // ends the memory's life as a block
)

var kindNames = [...]string{"invalid", "read", "write", "update", "free"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Flags are facts about an access.
type Flags uint8

// The low two bits are free: a shadow cell keeps the kind there.
const (
	Atomic   Flags = 1 << (2 + iota) // LOCK-prefixed, or XCHG with memory
	Internal                         // by code of a run-time library, for its own purposes
	Kernel                           // by a system call on the thread's behalf
	OfLock                           // by a function that takes or gives up a lock: OpLock and OpUnlock say what it means (also OpAcquire, OpRelease)
	Coarse                           // stands for all accesses of its kind, or reads too if it writes, to its 64-byte line until the thread synchronises
)

const flagMask = Atomic | Internal | Kernel

// A Scope says which order a synchronisation operation contributes to.
type Scope uint8

const (
	// ScopeDefault follows the variable (SyncVar.Scope), else the access:
	// internal accesses synchronise in the full order only.
	ScopeDefault  Scope = iota
	ScopeUser           // both orders
	ScopeInternal       // the full order only
)

func (s Scope) String() string {
	switch s {
	case ScopeUser:
		return "user"
	case ScopeInternal:
		return "internal"
	}
	return "default"
}

// An ObjectKind says what an Object is. Objects of different kinds are
// different, whatever their ID.
type ObjectKind uint8

const (
	_             ObjectKind = iota
	ObjFutex                 // a futex word: its address
	ObjChannel               // pipe, socket, eventfd, …: a number
	ObjThread                // a thread: its ThreadID; released by its exit, acquired by join
	ObjSignal                // a signal under way
	ObjOther                 // whatever the caller wants
	ObjPrimitive             // a mutex, semaphore, …: its address
	ObjDescriptor            // a file descriptor: its number
	nObjectKinds             // number of kinds
)

// An Object is something that threads synchronise through and that isn't a
// variable in memory.
type Object struct {
	Kind ObjectKind
	ID   uint64
}

// A LockMode says how a lock was taken.
type LockMode uint8

const (
	LockExclusive LockMode = iota
	LockShared             // one of many readers
	LockTry                // exclusive, by an attempt that can't block: never the waiting side of a deadlock
	LockTryShared          // one of many readers, by an attempt that can't block
)

// Blocks says whether taking a lock this way may wait.
func (m LockMode) Blocks() bool { return m == LockExclusive || m == LockShared }

// Shared says whether a lock taken this way keeps only writers out.
func (m LockMode) Shared() bool { return m == LockShared || m == LockTryShared }

// Loose says what an access to a synchronisation variable doesn't do, says the
// program's source, although the processor does it: the language promises less.
type Loose uint8

const (
	NoAcquire Loose = 1 << iota // it doesn't come after what was released to the variable
	NoRelease                   // what came before isn't released
)

// An Event is one thing that happened to a thread, in the order of the
// recording. Which fields count depends on Op; the others are zero.
type Event struct {
	Op     Op
	Kind   Kind       // OpAccess, OpUse
	Flags  Flags      // OpAccess, OpAlloc, OpFree (Internal), OpAcquire, OpRelease (OfLock)
	Scope  Scope      // OpAccess on a synchronisation variable, OpAcquire, OpRelease
	Object ObjectKind // OpAcquire, OpRelease, OpUse, OpRenew
	Mode   LockMode   // OpLock
	Typed  bool       // OpAccess: the source says that it is atomic, whatever the instruction
	Blind  bool       // OpAccess, Update: what was read decides nothing but what is left there
	Loose  Loose      // OpAccess on a synchronisation variable
	Thread emulate.ThreadID
	Ctx    uint32 // calling context, opaque
	Addr   emulate.Addr
	N      uint64 // bytes; OpLock: the instruction that the function which took the lock began with
	PC     uint64 // of the instruction
	Value  uint64 // OpAccess: what was read, written or (update) left there; OpLock: see LockEdge.Segment; else see Op
	Count  emulate.Count
	Strand uint64 // OpAcquire, OpRelease: who does it, if not Thread; else see Op
}

// An Access is one access to memory, as given to a Detector and as reported.
type Access struct {
	Thread emulate.ThreadID
	Addr   emulate.Addr
	Size   int // bytes, at least 1
	Kind   Kind
	// Atomic accesses make their bytes a synchronisation variable: Update
	// acquires and releases, Read (also a compare-and-exchange that failed)
	// acquires, Write releases.
	Atomic   bool
	Internal bool // by code of a run-time library, for its own purposes
	Kernel   bool // by a system call
	Scope    Scope
	PC       uint64
	Ctx      uint32
	Count    emulate.Count
	// Value is the first 8 bytes, little endian, zero-extended.
	Value uint64
	// Locks is the set of locks held; filled in by the Detector.
	Locks LocksetID
	// Paired is set in reports where Kind is Update because a plain load and a
	// plain store shortly after looked like one (see syncvar.go).
	Paired bool
}

func (a *Access) event() Event {
	e := Event{Op: OpAccess, Kind: a.Kind, Scope: a.Scope, Thread: a.Thread, Ctx: a.Ctx,
		Addr: a.Addr, N: uint64(a.Size), PC: a.PC, Value: a.Value, Count: a.Count}
	if a.Atomic {
		e.Flags |= Atomic
	}
	if a.Internal {
		e.Flags |= Internal
	}
	if a.Kernel {
		e.Flags |= Kernel
	}
	return e
}
