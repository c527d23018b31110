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

	// Stuck are the threads of an execution that ended in a deadlock.
	Stuck []Stuck

	// Locks are the edges of the lock order: To was acquired while From was held.
	Locks []LockEdge
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
}

// A LockEdge says that a thread acquired lock To while it held From.
type LockEdge struct {
	From, To   uint64 // identify locks
	FromName   string
	ToName     string
	Thread     uint32
	FromStack  []report.Frame // where From was acquired
	ToStack    []report.Frame
	FromShared bool // held, wanted, as one of many readers
	ToShared   bool
	Segment    uint64   // the part of the thread's life
	Gates      []uint64 // other locks held at the time
	Position   string
	Concurrent func(o *LockEdge) bool // whether the two acquisitions may overlap; nil: yes
}
