// Package overlay executes sections of recorded threads again, with other
// values or in another order, on top of what the recording knows.
//
// A Section is a stretch of one thread's recorded execution together with
// everything that flowed into it. A Run puts one or two sections on an overlay:
// what they write goes there and is seen by both; what they read and nobody
// wrote comes from the recording. The recorded execution is never changed.
//
// Memory that the recording never showed is unknown; an experiment that reads
// it ends with the outcome Unknown instead of inventing a value. System calls
// get their recorded result while their arguments are the recorded ones, are
// emulated when they are pure, and end the experiment otherwise.
//
// A Run belongs to one goroutine. Sections are immutable and may be shared.
package overlay
