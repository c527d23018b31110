// Package traces is the .ttd file format: packets, the chunks that hold them,
// the index over the chunks, a Writer and a Reader. It knows bytes only: what a
// packet means to an execution is the business of whoever puts or gets it.
//
// A trace holds streams of packets. Stream 0 is the process (memory map,
// modules, code pages, summaries); stream n is guest thread n. The table in
// kinds.go says which packets there are and which fields each has; it drives
// the codec, the text form, the tests and docs/trace-format.md.
//
// A Writer belongs to one goroutine. A Reader is safe for concurrent use; each
// of its Cursors belongs to one goroutine.
//
// The bytes written depend only on what is put and in which order, never on
// timing. A recording cut off at any byte opens up to its last whole chunk.
package traces
