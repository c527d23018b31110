package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
)

// A noteKind says what a note is about.
type noteKind uint8

const (
	_                 noteKind = iota
	noteAlloc                  // a block of size bytes at addr; old is what a realloc kept
	noteUnfree                 // a realloc failed: the block at addr wasn't freed
	noteFree                   // the block at addr is no more
	noteFreedAccess            // a suspicion: an access to freed memory
	noteUnwrittenRead          // a suspicion: a read of memory that nobody wrote
	noteBeyond                 // a suspicion: an access to what lies next to a block
	noteGrown                  // size bytes of the block at addr may be used
	noteWritten                // the kernel wrote size bytes at addr
	noteJoin                   // the thread whose control block is at addr was joined
	noteName                   // that thread (0: this one) got a name: size and old are its bytes
	noteUnlock                 // the lock at addr is about to be given up; own: or to be initialised
	noteDestroy                // …to be destroyed
	noteWait                   // …to be given up to wait for a condition
	noteTimedWait              // …with a time limit
	noteWaitSite               // (see Conduct.once)
	noteCreate                 // thread addr was created; own: detached
	noteDetach                 // the thread whose control block is at addr was detached
	noteFile                   // a system call on descriptors: addr its number, size what it returned, old, before and past its arguments
	noteHandler                // ctx is the node of the handler of signal addr
	noteMessage                // a function of messages.go is called with addr and size, or has returned (old)
	noteAwait                  // the thread waits for the end of the one whose control block is at addr (0: no more)

	// Of Go programs (golang_order.go); addr is a goroutine's structure, unless
	// it says otherwise.
	noteGoNew      // it was made; size is its number, old its function
	noteGoResume   // the thread goes on with it, in size functions that it knows of, the outermost of node ctx
	noteGoEnd      // it has ended
	noteGoWake     // it goes on, and acquires from the object old
	noteGoGot      // the thread's goroutine has what it was woken for
	noteGoTimer    // the timer at addr is run
	noteGoTimerEnd // it has run
	noteGoChan     // the channel at addr, of size places, holds old values
	noteGoSend     // something is sent through the channel at addr, of size places, to old, which waits
	noteGoRecv     // …is received from old, which waits
	noteGoCoro     // the thread goes on with the other side of a coroutine next
	noteGoOuter    // the function that its goroutine came back to it in has returned to that of node ctx
	noteGoLeave    // the thread leaves it; old: in the allocator function old, asked for size bytes
	noteGoAlloc    // the thread's goroutine got what is at addr from the allocator function old

	// Of programs with OpenMP's tasks (openmp_order.go).
	noteOmpEnter // a function that matters is called
	noteOmpLeave // …and has ended
)

// A note is what a batch says beside its events, for the checkers. It comes
// after the event with index at-1.
type note struct {
	at          int
	kind        noteKind
	zeroed, own bool // noteAlloc: its bytes count as written; it is the run-time's
	skipped     bool // noteAlloc: its bytes count as written to save time
	write       bool
	addr, size  uint64
	old         uint64
	before      uint64 // noteAlloc: bytes before the block that are nobody's
	past        uint64 // …and behind it
	role        funcs.AllocRole
	message     messageRole
	ctx         uint32
	pc          uint64
	count       emulate.Count
	stack       []funcs.NodeID // noteGoLeave: of the functions that it is in
	omp         *ompCall       // noteOmpEnter, noteOmpLeave
}

// note appends a note to the batch.
func (f *follower) note(n note) {
	n.at = len(f.b.events)
	f.b.notes = append(f.b.notes, n)
}
