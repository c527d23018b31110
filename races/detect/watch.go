package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// A watch follows the state of heap bytes on lines that only its thread
// touches: those of blocks that it allocated and that nobody has written yet,
// and those that it freed. Such lines are watched; a line goes back to full
// speed when nothing about it is of interest any more. What looks like a
// misuse is a suspicion until the merge, which knows all threads, confirms it.
//
// Lines that several threads touch are followed at the merge (see Heap).
type watch struct {
	f     *follower
	pages map[uint64]*watchPage // by page number
	near  [64]*watchPage        // the last ones asked for, by the low bits
	live  map[uint64]watchBlock // by address: blocks that this thread allocated
	freed uint64                // size of the block freed last
	said  map[said]int
	sites []uint8 // by call path: blocks allocated, up to 255

	// Looking at accesses that turn out to be right is what this costs. slow
	// counts them, limit is how many the thread may have had by now.
	slow, limit uint64
	// The same of lines of which only what lies between blocks is of interest.
	edgy, edge uint64
}

type watchBlock struct {
	size  uint64
	count emulate.Count // of its allocation
}

type watchPage struct {
	num   uint64
	lines [linesPerPage]watchLine
}

type watchLine struct {
	unwritten uint64 // bit i: byte i is of a block and nobody has written it since
	freed     uint64 // bit i: byte i is of a freed block
	beyond    uint64 // bit i: byte i is next to a block, and nobody's
	uses      uint32 // accesses that were right
}

// idle says whether nothing about a line is of interest.
func (l *watchLine) idle() bool { return l.unwritten|l.freed|l.beyond == 0 }

// said tells suspicions apart.
type said struct {
	kind noteKind
	ctx  uint32
	pc   uint64
}

const (
	pageShift    = 12
	lineShift    = 6
	linesPerPage = 1 << (pageShift - lineShift)

	// maxWatched bounds the bytes of a block, from its start, that are watched.
	maxWatched = 16 << 10
	// maxSaid bounds the suspicions at one place.
	maxSaid = 8
	// A thread may look at freeLooks accesses that were right, and at one more
	// for each looksPer instructions; then lines with more than fewUses of
	// them are let go, and new blocks aren't watched for reads unless they are
	// among the first manyBlocks of their call path.
	freeLooks  = 200_000
	looksPer   = 100
	fewUses    = 32
	manyBlocks = 32
)

func newWatch(f *follower) *watch {
	return &watch{f: f, pages: map[uint64]*watchPage{}, live: map[uint64]watchBlock{}, said: map[said]int{}}
}

// page returns the state of a page, made if need be and wanted.
func (w *watch) page(num uint64, make bool) *watchPage {
	near := &w.near[num%uint64(len(w.near))]
	if p := *near; p != nil && p.num == num {
		return p
	}
	p := w.pages[num]
	if p == nil {
		if !make {
			return nil
		}
		p = &watchPage{num: num}
		w.pages[num] = p
	}
	*near = p
	return p
}

// lineMask returns a bit for each byte of line in [lo, hi).
func lineMask(line, lo, hi uint64) uint64 {
	base := line << lineShift
	m := ^uint64(0)
	if lo > base {
		m <<= lo - base
	}
	if end := base + 1<<lineShift; hi < end {
		m &= ^uint64(0) >> (end - hi)
	}
	return m
}

// A byteState is what is known of a byte.
type byteState uint8

const (
	ordinary  byteState = iota
	unwritten           // of a block, and nobody has written it since
	freed               // of a freed block
	beyond              // next to a block
)

// set gives the bytes [lo, hi) a state.
func (w *watch) set(lo, hi uint64, st byteState) {
	if lo >= hi {
		return
	}
	last := (hi - 1) >> lineShift
	for line := lo >> lineShift; line <= last; {
		num := line / linesPerPage
		next := (num + 1) * linesPerPage
		p := w.page(num, st != ordinary)
		if p == nil {
			line = next
			continue
		}
		var on, off uint64
		for ; line < next && line <= last; line++ {
			if w.f.p.shared(line) {
				continue
			}
			l := &p.lines[line%linesPerPage]
			m := lineMask(line, lo, hi)
			had := !l.idle()
			l.unwritten &^= m
			l.freed &^= m
			l.beyond &^= m
			switch st {
			case unwritten:
				l.unwritten |= m
			case freed:
				l.freed |= m
			case beyond:
				l.beyond |= m
			}
			if st != ordinary {
				if st != beyond || !had {
					l.uses = 0
				}
				on |= 1 << (line % linesPerPage)
			} else if had && l.idle() {
				off |= 1 << (line % linesPerPage)
			}
		}
		if on != 0 {
			w.f.t.Watch(num, on)
		}
		if off != 0 {
			w.f.t.Unwatch(num, off)
		}
	}
}

// shared says whether several threads touch a line, so that it is observed
// and its state is kept at the merge.
func (p *Pass) shared(line uint64) bool { return p.lines == nil || p.lines.Has(line) }

// alloc notes a new block.
func (w *watch) alloc(a *funcs.Alloc) {
	addr, end := uint64(a.Addr), uint64(a.Addr)+a.Size
	own := w.f.p.Tree.Class(a.Node).Own()
	n := note{kind: noteAlloc, addr: addr, size: a.Size, ctx: a.Node, pc: uint64(a.Site), count: a.Count, old: uint64(a.Old), zeroed: a.Zeroed || own, own: own, role: a.Role}
	n.before, n.past = w.f.edges(a)
	if !n.zeroed && w.many(a.Node) && w.tired() {
		n.zeroed, n.skipped = true, true
	}
	if a.Undo {
		n.kind = noteUnfree
		w.f.note(n)
		w.set(addr, addr+min(w.freed, maxWatched), ordinary)
		return
	}
	w.f.note(n)
	kept := uint64(0)
	if a.Old != 0 {
		kept = w.freed
	}
	w.live[addr] = watchBlock{a.Size, a.Count}
	from := min(addr+kept, end)
	if n.zeroed {
		from = end
	}
	stop := min(end, max(addr+maxWatched, from))
	w.set(addr, from, ordinary)
	w.set(from, stop, unwritten)
	w.set(stop, end, ordinary)
	w.set(addr-n.before, addr, beyond)
	w.set(end, end+n.past, beyond)
}

// free notes that a block is no more.
func (w *watch) free(a *funcs.Free) {
	addr := uint64(a.Addr)
	w.f.note(note{kind: noteFree, addr: addr, ctx: a.Node, pc: uint64(a.Site), count: a.Count, role: a.Role})
	b, ok := w.live[addr]
	w.freed = ^uint64(0) >> 1 // by another thread: a realloc keeps all of it
	if ok {
		delete(w.live, addr)
		w.freed = b.size
		w.set(addr, addr+min(b.size, maxWatched), freed)
		if b.size > maxWatched {
			w.set(addr+maxWatched, addr+b.size, ordinary)
		}
	}
}

// many counts the blocks of a call path, and says whether there are many.
func (w *watch) many(node funcs.NodeID) bool {
	for int(node) >= len(w.sites) {
		w.sites = append(w.sites, make([]uint8, len(w.sites)+256)...)
	}
	if w.sites[node] < manyBlocks {
		w.sites[node]++
		return false
	}
	return true
}

// tired says whether looking has cost enough for now.
func (w *watch) tired() bool {
	if w.slow <= w.limit {
		return false
	}
	w.limit = freeLooks + uint64(w.f.t.Count())/looksPer
	return w.slow > w.limit
}

// dizzy says whether looking at what lies between blocks has.
func (w *watch) dizzy() bool {
	if w.edgy <= w.edge {
		return false
	}
	w.edge = freeLooks + uint64(w.f.t.Count())/looksPer
	return w.edgy > w.edge
}

// partial says whether a load is aligned and some of it is in order: code that
// looks for the end of something loads whole words.
func partial(beyond, m, addr uint64, size int) bool {
	return beyond&m != m && size > 1 && addr%uint64(size) == 0
}

// access is told of every access to a line that isn't shared.
func (w *watch) access(addr uint64, size int, kind x86.AccessKind) {
	line := addr >> lineShift
	p := w.page(line/linesPerPage, false)
	if p == nil {
		return
	}
	l := &p.lines[line%linesPerPage]
	m := (^uint64(0) >> (64 - size)) << (addr & 63)
	if l.idle() || w.f.calls.InAllocator() {
		return
	}
	write := kind == x86.Write
	edge := l.unwritten|l.freed == 0
	pc := w.f.t.CPU().PC()
	if l.freed&m != 0 {
		w.suspect(noteFreedAccess, addr, uint64(size), write, pc)
	}
	if l.beyond&m != 0 && (write || !partial(l.beyond, m, addr, size)) {
		w.suspect(noteBeyond, addr, uint64(size), write, pc)
	}
	if !write {
		if l.unwritten&m == m && kind == x86.Read {
			w.suspect(noteUnwrittenRead, addr, uint64(size), false, pc)
		}
	} else {
		l.unwritten &^= m
	}
	l.uses++
	if edge {
		w.edgy++
		if l.uses > fewUses && w.dizzy() {
			l.beyond = 0
		}
	} else {
		w.slow++
		if l.uses > fewUses && w.tired() {
			l.unwritten, l.freed, l.beyond = 0, 0, 0
		}
	}
	if l.idle() {
		w.f.t.Unwatch(p.num, 1<<(line%linesPerPage))
	}
}

func (w *watch) suspect(kind noteKind, addr, size uint64, write bool, pc uint64) {
	ctx := w.f.calls.Node()
	s := said{kind, ctx, pc}
	if w.said[s] >= maxSaid {
		return
	}
	w.said[s]++
	w.f.note(note{kind: kind, addr: addr, size: size, write: write, ctx: ctx, pc: pc, count: w.f.t.Count()})
}

// kernel is told what a system call read or wrote in one line.
func (w *watch) kernel(addr, n uint64, write bool) {
	line := addr >> lineShift
	p := w.page(line/linesPerPage, false)
	if p == nil {
		return
	}
	l := &p.lines[line%linesPerPage]
	m := lineMask(line, addr, addr+n)
	if l.freed&m != 0 {
		w.suspect(noteFreedAccess, addr, n, write, w.f.call.pc)
	}
	if l.beyond&m != 0 {
		w.suspect(noteBeyond, addr, n, write, w.f.call.pc)
	}
	if write && l.unwritten&m != 0 {
		l.unwritten &^= m
		if l.idle() {
			w.f.t.Unwatch(p.num, 1<<(line%linesPerPage))
		}
	}
}

// written notes that the kernel wrote n bytes at addr that no system call's
// effects name, such as a signal's frame on an alternate stack.
func (w *watch) written(addr, n uint64) {
	w.f.note(note{kind: noteWritten, addr: addr, size: n})
	for a, end := addr, addr+n; a < end; {
		stop := min((a|63)+1, end)
		if !w.f.p.shared(a >> lineShift) {
			w.kernel(a, stop-a, true)
		}
		a = stop
	}
}
