package record

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A light key frame is a thread's own: it comes when the thread has executed
// enough. Full ones are coordinated: when a ring's generation is full, each
// thread gets one as soon as it can, with the memory around it.

// By default, light key frames are an eighth of the thread's execution so far
// apart, so that segments of a short recording can be replayed at the same time,
// too, but at least leastKeyFrames and at most DefaultKeyFrameEvery. What they
// cost is lines that flow in again: as many as after the one before, or as there
// were before the first, which put the next one off.
const (
	keyFramePart   = 8
	leastKeyFrames = 12_000_000 // instructions
	// A line takes 300 bits or so after compression.
	instructionsPerLine = 2500
)

// keyDue says whether a light key frame of a thread is due after n instructions.
func (r *recorder) keyDue(t *thread, n uint64) bool {
	if r.keyEvery == 0 {
		return false
	}
	if !r.cfg.keyAuto {
		return n-t.keyAt >= r.keyEvery
	}
	lines := max(t.again, t.cost)
	if t.keyAt == 0 {
		lines = t.imports
	}
	return n-t.keyAt >= max(min(n/keyFramePart, r.keyEvery), leastKeyFrames, lines*instructionsPerLine)
}

// ringName describes a ring in the header.
func ringName(cfg *Config) string {
	switch {
	case cfg.Ring <= 0:
		return ""
	case cfg.RingPerThread:
		return fmt.Sprintf("thread:%d", cfg.Ring)
	}
	return fmt.Sprint(cfg.Ring)
}

// generation begins a new generation of the ring, if it is time.
func (r *recorder) generation() {
	if r.ended || !r.w.GenerationDue() {
		return
	}
	r.w.NextGeneration()
	for _, t := range r.live {
		t.fullKey = true
	}
}

// begin says that a thread's key frame is next in its stream.
func (r *recorder) begin(t *thread) {
	if r.ended {
		return
	}
	if err := r.w.BeginGeneration(t.stream); err != nil {
		r.failed(err)
	}
}

// What a full key frame holds of a thread's memory, bytes: of its stack from the
// stack pointer up and a little below (the red zone), and before and behind the
// thread pointer (where thread-local variables and the control block are).
const (
	aroundStack = 16 << 10
	belowStack  = 128
	aroundBlock = 2 << 10
)

// around logs the memory around a thread, as far as it is mapped.
func (r *recorder) around(t *thread) {
	c := t.t.CPU
	sp, block := c.R[x86.RSP], c.R[x86.RegFS]
	r.linesOf(t, sp-belowStack, sp+aroundStack)
	if block != 0 {
		r.linesOf(t, block-aroundBlock, block+aroundBlock)
	}
}

// linesOf logs the lines from one address to another, page by page.
func (r *recorder) linesOf(t *thread, from, to uint64) {
	for line := from >> hwmodel.LineShift; line < to>>hwmodel.LineShift && line<<hwmodel.LineShift >= from&^(hwmodel.LineSize-1); {
		next := min((line/linesPerPage+1)*linesPerPage, to>>hwmodel.LineShift)
		b := make([]byte, (next-line)<<hwmodel.LineShift)
		if r.as.Peek(emulate.Addr(line<<hwmodel.LineShift), b) == len(b) {
			r.put(t.stream, t.t.CPU.Count, &traces.Packet{Kind: traces.Around, Line: line, Bytes: b})
		}
		line = next
	}
}
