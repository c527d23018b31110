// Package races finds conflicts: pairs of accesses to one byte of memory by
// two threads, at least one of them a write, that nothing in the recording
// orders. It is a happens-before detector (SPEC 4.6): it says nothing about
// harm, that is what re-emulation and classification are for.
//
// A Detector is fed the events of a recording in the recording's total order,
// either as Events through Feed or through the methods that wrap it. It knows
// no trace, no replay and no symbols: contexts are opaque numbers. It isn't
// safe for concurrent use; a Detector that runs on its own goroutine gets
// batches of events through a channel of its owner's.
//
// # Two orders
//
// What a mutex orders, the program means to be ordered; what the lock of
// malloc's arena orders is an accident that the next run may not repeat.
// Every thread therefore has two vector clocks. The user order has the edges
// that synchronisation meant for the user makes: thread creation and join,
// synchronisation functions, the user's own atomics, system calls that pass
// data, recognised synchronisation variables. The full order has these and the
// edges of the run-time's own atomics. Two accesses by user code conflict when
// the user order leaves them unordered. If either is internal to the run-time,
// they conflict only when the full order does too.
//
// Both orders count with one epoch per thread, which advances at every release
// of either kind, so that a shadow cell needs to remember only one number.
//
// # Synchronisation variables
//
// On x86-64 (TSO) a plain load is an acquire and a plain store is a release.
// For bytes that are known to be a synchronisation variable, the detector
// treats them so, and reports no race for them, with one exception: a
// read-modify-write that isn't atomic, against an update by another thread.
// See syncvar.go for the rules, and for what is a heuristic in them.
//
// # Shadow memory
//
// Every 8-byte granule that was touched has a short list of cells: mask of
// bytes, thread, epoch, kind, and what a report needs. The list is complete in
// the sense of FastTrack: for each byte, every access that conflicts with some
// earlier one is reported with at least one of those (several, if several
// instructions made them: Config.Sites). A cell is forgotten only
// when a later cell conflicts with everything that it could conflict with, or
// when every live thread is ordered after it.
//
// # Predictive analysis
//
// Predictor (predict.go) consumes the same Events and looks for conflicts in
// the executions that could have been: reorderings of the recording that keep
// the order of the critical sections of each lock, but for those around the two
// accesses. Possible lists the conflicts that may come about if reads see other
// values, for somebody who can execute that (root package, witness.go).
//
// # Sources
//
// L. Lamport, Time, clocks, and the ordering of events, CACM 1978.
// C. Fidge, Timestamps in message-passing systems, ACSC 1988, and F. Mattern,
// Virtual time and global states of distributed systems, 1989: vector clocks.
// E. Pozniansky, A. Schuster, Efficient on-the-fly data race detection in
// multithreaded C++ programs, PPoPP 2003: Djit+, epochs of a thread end at
// releases.
// C. Flanagan, S. Freund, FastTrack: efficient and precise dynamic race
// detection, PLDI 2009: epochs instead of vectors, the same-epoch fast path.
// P. Sewell et al., x86-TSO: a rigorous and usable programmer's model for x86
// multiprocessors, CACM 2010; Intel SDM volume 3, 8.2 (memory ordering).
// K. Havelund, Using runtime analysis to guide model checking of Java
// programs, SPIN 2000: lock graphs with gate locks.
// U. Mathur, A. Pavlogiannis, M. Viswanathan, Optimal prediction of
// synchronization-preserving races, POPL 2021.
// Z. Shi, U. Mathur, A. Pavlogiannis, Optimistic prediction of
// synchronization-reversal data races, ICSE 2024.
package races
