// Package replay re-creates the execution of a trace's threads, one by one and
// bit for bit, from what their streams hold.
//
// A Session is an open trace. A Thread replays one guest thread on its own
// processor and its own view of memory: it runs freely up to the instruction at
// which the next packet is due, applies the packet and goes on. What the thread
// does on its own accord (a system call, a locked instruction, a read of memory
// that the stream never brought in) must match the packets; the first thing
// that doesn't is a Divergence, an error that says where, what was expected and
// what was found.
//
// Threads of one Session are independent: each may be driven from its own
// goroutine. A Thread and a Memory are for one goroutine at a time; a Snapshot
// is immutable and may be shared.
//
// The package doesn't know the cache geometry of the recording, the order of
// events across threads (the numbers in the packets tell it) or any system call.
package replay
