// Package detect runs a races.Detector over a recording: it replays all
// threads, turns what they do into events, and feeds these in the order in
// which they were recorded.
//
// The main type is Pass. It keeps snapshots along the way, so that any
// instruction of any thread can be reached again quickly (Seek). A Pass is run
// by one goroutine and uses one more per thread; once it has run, Seek is safe
// for concurrent use.
package detect
