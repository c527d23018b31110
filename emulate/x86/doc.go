// Package x86 is a software x86-64 processor for user mode: the x86-64-v3 level
// (integer, x87, MMX, SSE to SSE4.2, AVX, AVX2, FMA, BMI, F16C) with AES,
// PCLMULQDQ, SHA and ADX, but without AVX-512.
//
// A CPU is one guest thread's processor. CPU.Run executes an exact number of
// instructions from blocks that a BlockCache decoded once; loads and stores go
// through the CPU's hwmodel.Window and, when that doesn't answer, to its Memory.
// What the processor can't know (time, randomness, the order of atomics) it
// asks its Env. The package knows nothing of threads, files or system calls:
// SYSCALL ends Run.
//
// The instruction set is a table of rows (see op.go), one per encoding form.
// The decoder, the describer and the tests work from it.
//
// Blocks that are executed often are translated to the host's instructions; see
// native.go. The run loop stays the description of what they do.
//
// Nothing here is safe for concurrent use but Decoded. CPUs that one goroutine
// runs in turn may share a BlockCache, and BlockCaches what they decode to.
//
// Sources: Intel 64 and IA-32 Architectures Software Developer's Manual (SDM),
// volumes 1 to 3; System V Application Binary Interface, AMD64 supplement.
package x86
