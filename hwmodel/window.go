package hwmodel

import "unsafe"

// LineShift and LineSize give the geometry of a cache line, in bytes.
// The whole program works in lines of this size.
const (
	LineShift = 6
	LineSize  = 1 << LineShift
)

// WindowSize is the number of entries of a Window. It is a power of two. With
// 8192 a window reaches 512 KiB: bigger ones gained nothing when recording
// compressors, 2048 cost twice the time.
const WindowSize = 8192

// NoTag is a tag that no line has: line numbers are virtual addresses shifted
// right by LineShift, so the top bits of a real one are clear.
const NoTag = ^uint64(0)

// An Entry says what may be done with one line without asking.
//
// R and W hold the line's number (virtual address >> LineShift) when the line
// may be read or written, else NoTag. P points to the line's LineSize bytes and
// is meaningful only while R or W is set.
//
// An access of n bytes at address a hits when the tag equals (a+n-1)>>LineShift
// in the entry with index a>>LineShift%WindowSize: one comparison also sends
// the accesses that straddle two lines the slow way.
type Entry struct {
	R, W uint64
	P    unsafe.Pointer
}

// A Window is the set of lines that a processing unit may touch without
// asking: a direct-mapped array. Whoever changes a line's state (coherence,
// mapping, observation) must drop the line's tags first.
type Window [WindowSize]Entry

// Clear forbids everything.
func (w *Window) Clear() {
	for i := range w {
		w[i].R, w[i].W = NoTag, NoTag
	}
}

// Drop forbids line, if the window holds it.
func (w *Window) Drop(line uint64) {
	e := &w[line%WindowSize]
	if e.R == line {
		e.R = NoTag
	}
	if e.W == line {
		e.W = NoTag
	}
}

// DropWrite makes line read-only, if the window holds it.
func (w *Window) DropWrite(line uint64) {
	e := &w[line%WindowSize]
	if e.W == line {
		e.W = NoTag
	}
}

// Allow installs line, whose bytes are at p, for reading and, if write is set,
// for writing. It replaces what the entry held.
func (w *Window) Allow(line uint64, p unsafe.Pointer, write bool) {
	e := &w[line%WindowSize]
	e.R, e.W, e.P = line, NoTag, p
	if write {
		e.W = line
	}
}

// AllowWrites installs line for writing alone.
func (w *Window) AllowWrites(line uint64, p unsafe.Pointer) {
	w[line%WindowSize] = Entry{NoTag, line, p}
}
