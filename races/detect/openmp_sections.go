package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// Sections. Each is executed by one thread of the team, whichever comes first, and
// one thread may execute several, or all: they are strands as well (libgomp's;
// libomp's are iterations of a static loop). A section comes after what its thread
// did before in the region, and before what it does afterwards.
//
// What belongs to the thread isn't shared by its sections: its variables of the
// region, on its stack, and what it allocated there. A thread that has asked in the
// region which one it is may have more of its own, and keeps its sections in order.

// The same goes for the pieces of loops whose schedule lets any thread have them
// (dynamic, guided, and those left to the run-time): what one thread executed, two
// might have. Iterations of a piece are executed in order, and pieces of a static
// loop belong to their threads by the standard. Of a thread's many pieces, those
// after the first ones are told apart from these, and not from each other. Loops
// with an ordered clause aren't taken apart.

// maxPieces is the number of pieces of a loop that each are a strand, of a thread.
const maxPieces = 48

// A section is one that a thread executes, or a piece of a loop.
type section struct {
	strand uint64
	of     uint64 // the strand of the thread's part of the region
}

// nextSection takes in that a thread goes on with its next section, if more is
// set, or is done with them.
func (o *openmp) nextSection(id emulate.ThreadID, th *ompThread, more bool) {
	o.endSection(id, th)
	k := th.cur
	if !more || k.region == nil || k.run.SP == 0 || k.parent != nil || k.asked || k.whose || o.p.Alone[k.region.key] || o.p.lines != nil {
		if k.sections {
			k.sections = false
			o.order(races.OpAcquire, id, ompObjSections|k.id)
			o.forget(id, ompObjSections|k.id)
		}
		return
	}
	k.region.tasks++
	k.sections = true
	o.made++
	s := &section{strand: o.made, of: k.strand}
	o.order(races.OpRelease, id, ompObjStart|s.strand)
	o.p.feed(&races.Event{Op: races.OpSwitch, Thread: id, Strand: s.strand, Value: 1})
	o.order(races.OpAcquire, id, ompObjStart|s.strand)
	o.forget(id, ompObjStart|s.strand)
	k.section, k.strand, th.strand = s, s.strand, s.strand
	r := k.run
	r.From, r.to = o.now, 0
	o.p.Threads[id].began(r)
}

// nextChunk takes in that a thread goes on with its next piece of a loop, or is
// done with them.
func (o *openmp) nextChunk(id emulate.ThreadID, th *ompThread, more bool) {
	k := th.cur
	if !more {
		k.chunks = 0
	} else if k.chunks++; k.chunks > maxPieces && k.section != nil {
		return
	}
	o.nextSection(id, th, more)
}

// gompAny and kmpAny say whether iterations go to any thread by a schedule, as
// libgomp (gomp_schedule_type) and libomp (sched_type) number them.
func gompAny(schedule uint64) bool {
	const dynamic, guided = 2, 3
	s := schedule &^ (1 << 31)
	return s == dynamic || s == guided
}

func kmpAny(schedule uint64) bool {
	const dynamic, auto = 35, 38 // between them: guided, runtime
	const modifiers = 1<<29 | 1<<30
	s := uint32(schedule) &^ modifiers
	return s >= dynamic && s <= auto
}

// endSection takes in the end of the section that a thread executes, if any.
func (o *openmp) endSection(id emulate.ThreadID, th *ompThread) {
	k := th.cur
	s := k.section
	if s == nil {
		return
	}
	o.p.Threads[id].over(o.now)
	if k.whose {
		o.order(races.OpRelease, id, ompObjOwner|uint64(id))
	}
	o.order(races.OpRelease, id, ompObjSections|k.id)
	k.section, k.strand, th.strand = nil, s.of, s.of
	o.p.feed(&races.Event{Op: races.OpSwitch, Thread: id, Strand: s.of, Value: 1})
	o.p.feed(&races.Event{Op: races.OpStrandEnd, Thread: id, Strand: s.strand})
}

// ofSection says whether memory that a thread's section accesses is the thread's.
func (o *openmp) ofSection(id emulate.ThreadID, th *ompThread, a uint64) bool {
	k := th.cur
	for k.section == nil && k.parent != nil && k.strand == th.strand { // executed at once
		k = k.parent
	}
	if k.section == nil || k.section.strand != th.strand {
		return false
	}
	if a >= th.lo && a < k.run.SP {
		return true
	}
	b := o.p.Detector.BlockAt(emulate.Addr(a))
	return b.ID != 0 && b.Thread == id && b.Count >= k.run.From
}
