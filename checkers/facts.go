package checkers

import "github.com/racesim/racesim/report"

// Facts is what an analysis collected about one execution.
type Facts struct {
	// Complete: the execution was seen to its end; without it nothing is said
	// about what never happened.
	Complete bool

	// Lost are blocks that were still allocated at the end, united by the place
	// of their allocation; Reachable says that a pointer to them was found in
	// memory or registers.
	Lost []Block

	// Freed are accesses to blocks after they were freed.
	Freed []BadAccess

	// Uninitialised are reads of heap bytes that nobody had written.
	Uninitialised []BadAccess

	// Frees are blocks that were given back and can't be.
	Frees []BadFree

	// Beyond are accesses next to a block.
	Beyond []BadAccess

	// Unlocks are locks given up by a thread that doesn't have them, Destroys
	// those that somebody has when they are destroyed, Waits waits for a
	// condition without the mutex, LooseWaits ones without a loop.
	Unlocks, Destroys, Waits, LooseWaits []LockMisuse

	// Unjoined are threads that have ended and were neither joined nor detached.
	Unjoined []Thread

	// Unsafe are calls that signal handlers may not make.
	Unsafe []UnsafeCall

	// Forgotten are descriptors that nobody can close any more, Closed uses of
	// ones that were closed.
	Forgotten []OpenFile
	Closed    []FileMisuse

	// Pairs, Threads, Open and Calls are what queries look at, beside Lost, each
	// only if a query does (Rules.Wants): pairs of locks, threads created,
	// descriptors open at the end, calls.
	Pairs   []LockEdge
	Threads []Thread
	Open    []OpenFile
	Calls   []Call

	// Falsely lists lines that came so often to each of several threads, which
	// made so many accesses each, to different bytes. nil: nobody knows.
	Falsely func(transfers, uses int) []SharedLine

	// Stuck are the threads of an execution that ended in a deadlock.
	Stuck []Stuck

	// Cycles lists lock-order cycles of at most so many locks: in each edge To was
	// acquired while From, which is the To of the edge before, was held. One is
	// listed of those that the same code makes. nil: nobody knows.
	Cycles func(length int) [][]LockEdge
}

// A Stuck thread waits for ever.
type Stuck struct {
	Thread   uint32
	Position string
	Stack    []report.Frame
	Lock     string // the lock that it waits for, "" if it is something else
	Holder   uint32 // the thread that has it, 0 if that isn't known
}

// A Block is a piece of heap memory, or Count of them from one place; Size is
// that of all.
type Block struct {
	Addr, Size  uint64
	Count       int
	HeldCount   int // blocks that only this one points to, and their bytes
	HeldSize    uint64
	Thread      uint32
	Position    string
	AllocatedAt []report.Frame
	FreedAt     []report.Frame
	FreeThread  uint32
	Reachable   bool
}

// A BadAccess is an access that shouldn't have been.
type BadAccess struct {
	Addr, Size uint64
	Write      bool
	Thread     uint32
	Position   string
	Stack      []report.Frame
	Block      Block
	Count      int
	// Idle: whatever it reads, the function does the same.
	Idle bool
}

// A LockEdge says that a thread acquired lock To while it held From.
type LockEdge struct {
	FromName  string
	ToName    string
	Thread    uint32
	FromStack []report.Frame // where From was acquired
	ToStack   []report.Frame
	ToShared  bool // wanted as one of many readers
	Position  string
}

// A BadFree gives back what can't be given back.
type BadFree struct {
	Kind     string // twice, inside, foreign, otherwise
	Addr     uint64
	Thread   uint32
	Position string
	Stack    []report.Frame
	Block    Block  // which was free already, holds the address, or was allocated otherwise
	What     string // twice, inside, otherwise: ""; foreign: what is there
	By, For  string // otherwise: the functions that free and allocated it
}

// A LockMisuse is a call that a thread may not make, because of who has a lock.
type LockMisuse struct {
	Lock     string
	Thread   uint32
	Position string
	Stack    []report.Frame
	Holder   uint32 // 0: nobody
	HeldAt   []report.Frame
	TakenAt  []report.Frame // by Thread itself
	Freed    bool           // the lock's memory is given back
}

// A Thread is one that was created.
type Thread struct {
	ID, Parent uint32
	Position   string // of the creation
	Created    []report.Frame

	Joined, Detached, Ended bool
}

// A Call is a call path on which the program's own code calls a function.
type Call struct {
	Callee  string
	Library bool // it is a run-time's
	Handler bool // a signal handler is under way
	Thread  uint32
	Stack   []report.Frame // of the caller
}

// An UnsafeCall is a call by a signal handler.
type UnsafeCall struct {
	Function    string // that may not be called
	By          string // what the handler called, if that is another
	Signal      int
	Thread      uint32
	Position    string // of the signal
	Stack       []report.Frame
	Certain     bool   // the signal has interrupted such a function
	Interrupted string // which
}

// An OpenFile is a descriptor that was open at the end.
type OpenFile struct {
	FD       int
	Call     string // that opened it
	Thread   uint32
	Position string
	Opened   []report.Frame
}

// A FileMisuse is a system call on a closed descriptor.
type FileMisuse struct {
	FD       int
	Call     string
	Thread   uint32
	Position string
	Stack    []report.Frame
	ClosedBy uint32
	ClosedAt []report.Frame
}

// A SharedLine is a cache line that moves between threads which use different
// parts of it.
type SharedLine struct {
	Transfers   int // 0: nobody counted
	Users       []LineUser
	AllocatedAt []report.Frame // if it is of the heap
}

// A LineUser is one of them.
type LineUser struct {
	Thread uint32
	Name   string // of what it uses
	Writes bool
}
