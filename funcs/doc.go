// Package funcs knows the guest's functions: what they are called and where
// they are in the source, which of them belong to the C and C++ run-time
// rather than to the user's program, which of them a thread is in, and what
// one execution of a function read and wrote.
//
// The main types, by question:
//
//   - Modules: what is at this address? Functions, source lines with inlined
//     frames, variables with their member path, signatures. It reads ELF and
//     DWARF files lazily and never fails for want of them: what is missing is
//     in Notes.
//   - Runtime: what does this library function do to the memory it touches?
//     A documented table (runtime_table.go).
//   - Tree and Tracker: how did the thread get here? A calling-context tree
//     shared by all threads, and a shadow stack per thread that is an
//     x86.CallSink. A call stack is one NodeID.
//   - Recorder: what flowed into and out of this function instance? An
//     x86.Watcher; see SPEC 4.1.
//
// It doesn't execute, doesn't read traces and doesn't judge.
//
// Modules and Tree are safe for concurrent use. A Tracker and a Recorder
// belong to the goroutine that replays their thread.
//
// Sources: System V gABI and its AMD64 supplement (psABI 1.0), DWARF 5,
// LSB core (.eh_frame), the glibc manual (safety annotations).
package funcs
