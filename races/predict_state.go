package races

import (
	"math/bits"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// What a Predictor keeps of threads, locks and memory.

// A predThread is a thread: knows is what its events so far depend on, with
// its own number of events at its slot.
type predThread struct {
	id       emulate.ThreadID
	slot     int
	n        uint32   // own events
	knows    clockNum // own entry unused
	held     []heldSection
	locks    lockSetNum // locks held
	sections uint32     // critical sections begun
	// must is what the thread knows by creation, joins and messages alone.
	must clockNum
	// entered has, for each critical section begun but the first ones, which
	// were left out, the instruction before the outermost lock was taken.
	entered []emulate.Count
	left    int

	// outer is the moment before the first of the locks held was taken, if the
	// thread holds any and has learnt nothing since by reading.
	outer moment
	pure  bool

	started bool // it was told of: nobody was there before that isn't known

	ended bool        // it does nothing any more
	last  uint32      // then: its last event
	waits *predThread // it does nothing before this one has ended
	tired bool        // see OpTired
	ends  []moment    // then: of its events that aren't accesses, in order
}

// maxEnds bounds predThread.ends. A write before the first of them counts as
// one right before that.
const maxEnds = 1 << 16

// cut notes an event that isn't an access, the end of what a tired thread
// may have left out.
func (t *predThread) cut() {
	if !t.tired {
		return
	}
	if len(t.ends) == maxEnds {
		t.ends = append(t.ends[:0], t.ends[maxEnds/2:]...)
	}
	t.ends = append(t.ends, t.moment())
}

// written returns the moment of a write by t: of the last one to the same
// bytes that t may have left out since.
func (t *predThread) written(m moment) moment {
	if !t.tired {
		return m
	}
	i := sort.Search(len(t.ends), func(i int) bool { return t.ends[i].n >= m.n })
	if i < len(t.ends) {
		return t.ends[i]
	}
	return t.moment()
}

// A clockNum is an index in Predictor.clocks, a lockSetNum one in
// Predictor.sets. What they stand for never changes.
type (
	clockNum   uint32
	lockSetNum uint32
)

type heldMode struct {
	addr   emulate.Addr
	shared bool
}

type heldSection struct {
	lock   *predLock
	addr   emulate.Addr
	shared bool
	depth  int
	index  int // of the section in lock.sections[slot], plus what was dropped
}

// A moment is a set of events: all that a thread's first n events depend on.
type moment struct {
	n     uint32
	knows clockNum
	slot  uint16
}

// A predLock has the critical sections of one lock, by slot, in order.
type predLock struct {
	threads []predSections
	users   int // threads that took it
}

type predSections struct {
	dropped int
	list    []section
}

// A section is a critical section; end.n is 0 while it lasts.
type section struct {
	start uint32 // the acquire's number in its thread
	at    uint64 // its place in the recording
	end   moment // of the release
}

// A predGranule is the history of 8 bytes.
type predGranule struct {
	writes  []predWrite  // the last write to each byte
	list    []predAccess // those kept, in the order of the recording
	ignored uint8        // bytes of locks
	syncs   uint8        // bytes of synchronisation variables
	exit    bool         // it holds a word that the kernel cleared when a thread ended
}

// A predPage is the history of a page.
type predPage struct {
	num   uint64
	asked uint64 // Predictor.now when it was last asked for, about
	gran  [pageGranules]predGranule
}

type predWrite struct {
	mask uint8
	moment
	// deps is what the value depends on beside the write itself: a blind update
	// takes place all the same if another value is there.
	deps clockNum
}

// A predAccess is an access to some bytes of a granule. It holds no pointers:
// there are many.
type predAccess struct {
	before   moment // without the access itself
	mask     uint8
	bits     uint8 // as in a cell
	pc       uint64
	count    emulate.Count
	value    uint64
	ctx      uint32
	at       uint32 // event number in the recording, as far as it goes
	locks    lockSetNum
	sections uint32
	// outer is the moment before the outermost critical section; only with
	// pure: from there to here, whatever others have done, the thread does this.
	outer moment
	pure  bool
}

func (a *predAccess) read() bool   { return uint64(a.bits)&bitsKind == bitRead }
func (a *predAccess) coarse() bool { return a.bits&bitCoarse != 0 }

// expand returns what is reported of a, an access to the granule of addr.
func (p *Predictor) expand(a *predAccess, addr uint64) Access {
	low := bits.TrailingZeros8(a.mask)
	return Access{Thread: p.slots[a.before.slot].id, Addr: emulate.Addr(addr&^7 + uint64(low)), Size: bits.Len8(a.mask) - low,
		Kind: Kind(a.bits&bitsKind) + 1, Kernel: a.bits&uint8(Kernel) != 0, PC: a.pc, Ctx: a.ctx, Count: a.count, Value: a.value}
}
