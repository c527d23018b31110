// Package record runs a guest on the hardware model and writes what flows into
// each of its threads to a trace.
//
// A recording takes part in a live run of package linux as its Hooks. What a
// thread's window doesn't answer comes here: the line goes through the caches
// of hwmodel, and if the thread's stream doesn't hold it in its present
// version, its 64 bytes are logged. Nothing else of memory is. Orderable
// events (system calls, signals, atomic instructions, changes of who runs) get
// numbers that grow over the whole recording.
//
// What the recorder promises to whoever replays: a thread that starts at a key
// frame and gets the packets of its stream at their counts does what it did,
// without anything else; pages of code are in the process stream. A recording
// that ends early (a crash of the guest, an unsupported instruction, a full
// disk) is readable up to there.
//
// One goroutine, the caller of Run, does everything but compression.
package record
