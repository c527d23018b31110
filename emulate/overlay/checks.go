package overlay

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Experiments are checked like recordings: what the participants do to the
// heap, to locks and to descriptors, as far as the experiment itself shows it.
// A Finding that a recording, or another order, doesn't have is evidence.

// A Finding is what a checker found in an experiment.
type Finding struct {
	Checker string // its identifier
	What    string // what the participant does, after "thread n"
	Part    int    // which participant
}

// A LockCall says what calling a function does to a lock.
type LockCall uint8

const (
	_           LockCall = iota
	LockTake             // (lock): taken if it returns 0
	LockGive             // (lock)
	LockWait             // (condition, lock): given up meanwhile
	LockDestroy          // (lock)

	// Flags.
	LockShared LockCall = 1 << 3 // …as one of many readers
	LockTry    LockCall = 1 << 4 // …if nobody has it
	LockTimed  LockCall = 1 << 5 // the wait has a time limit
	LockMutex  LockCall = 1 << 6 // the lock is a mutex, whose first word is 0 if it is free
	LockRW     LockCall = 1 << 7 // the lock is one of readers and writers

	lockKind LockCall = 1<<3 - 1
)

// checks is the account of one run, beside that of the heap.
type checks struct {
	lock   func(target uint64) LockCall
	edges  func(line uint64) uint64 // of recorded blocks
	near   [nearLines]lineMask      // what edges said
	name   func(addr uint64) string
	held   map[uint64]*holding
	closed map[int32]int // by which participant

	edge    map[uint64]uint64 // of blocks allocated meanwhile
	covered map[uint64]uint64 // these blocks

	unwritten map[uint64]uint64 // bytes, by line
	fill      *byte             // see Fill

	watch *Watch // nil: no deeds are kept
	deeds []Deed
}

type holding struct{ part, depth int }

// A locking is the outermost lock function that a participant is in.
type locking struct {
	sp    uint64 // RSP at its entry, 0: in none
	kind  LockCall
	flags LockCall
	lock  uint64
	from  emulate.Count
	at    Path
}

// Checks says what functions do to locks, by entry address, which bytes of a
// line lie between heap blocks, and what addresses are called. All may be nil.
func (r *Run) Checks(lock func(target uint64) LockCall, edges func(line uint64) uint64, name func(addr uint64) string) {
	r.checks = &checks{lock: lock, edges: edges, name: name, held: map[uint64]*holding{}, closed: map[int32]int{}, edge: map[uint64]uint64{}, covered: map[uint64]uint64{}}
	for _, p := range r.parts {
		p.cpu.Calls = p
	}
}

// found notes a finding, the first of a checker.
func (p *participant) found(checker, format string, args ...any) {
	for i := range p.findings {
		if p.findings[i].Checker == checker {
			return
		}
	}
	p.findings = append(p.findings, Finding{checker, fmt.Sprintf(format, args...), p.index()})
}

func (p *participant) index() int {
	for i, q := range p.run.parts {
		if q == p {
			return i
		}
	}
	return -1
}

// lockCall follows the entry of a function; sp is RSP there.
func (p *participant) lockCall(site, target, sp uint64) {
	k := p.run.checks
	if k == nil || k.lock == nil || p.locking.sp != 0 {
		return
	}
	kind := k.lock(target)
	if kind == 0 {
		return
	}
	l := locking{sp, kind & lockKind, kind &^ lockKind, p.cpu.R[x86.RDI], p.count(), p.path(site)}
	switch l.kind {
	case LockWait:
		l.lock = p.cpu.R[x86.RSI]
		p.did(Deed{Kind: DeedWait, Addr: l.lock, Timed: kind&LockTimed != 0, At: l.at})
		p.did(Deed{Kind: DeedGive, Addr: l.lock, At: l.at})
	case LockGive:
		p.did(Deed{Kind: DeedGive, Addr: l.lock, At: l.at})
	}
	p.locking = l
	if l.kind == LockTake || kind&LockRW != 0 {
		return
	}
	h, me := k.held[l.lock], p.index()
	word, known := uint64(0), false
	if h == nil && kind&LockMutex != 0 {
		word, known = p.ask(l.lock)
	}
	free := known && uint32(word) == 0
	other := h != nil && h.part != me
	switch l.kind {
	case LockGive:
		switch {
		case other:
			p.found("wrong-unlock", "gives up %s, which thread %d holds", k.nameOf(l.lock), p.run.parts[h.part].sec.Thread)
		case free:
			p.found("wrong-unlock", "gives up %s, which nobody holds", k.nameOf(l.lock))
		}
	case LockWait:
		switch {
		case other:
			p.found("wait-without-lock", "waits for a condition with %s, which thread %d holds", k.nameOf(l.lock), p.run.parts[h.part].sec.Thread)
		case free:
			p.found("wait-without-lock", "waits for a condition with %s, which nobody holds", k.nameOf(l.lock))
		}
	case LockDestroy:
		if h != nil || known && uint32(word) != 0 {
			p.found("destroy-locked", "destroys %s while somebody holds it", k.nameOf(l.lock))
		}
		delete(k.held, l.lock)
		return
	}
	if h != nil {
		if h.depth--; h.depth <= 0 || other {
			delete(k.held, l.lock)
		}
	}
}

// ask reads a word that the participant may not know yet.
func (p *participant) ask(addr uint64) (v uint64, known bool) {
	if addr%8 != 0 {
		return 0, false
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*x86.Stop); !ok {
				panic(r)
			}
			v, known = 0, false
		}
	}()
	_, have := p.view(addr >> 6)
	if l := p.run.mem.get(p.canon(addr >> 6)); l != nil {
		have |= l.mask
	}
	if missing := byteMask(addr, 8) &^ have; missing != 0 {
		p.resolve(addr, missing, false)
	}
	return p.peekWord(addr)
}

// locked ends such a function.
func (p *participant) locked() {
	k, l := p.run.checks, p.locking
	p.locking = locking{}
	if l.kind != LockWait && (l.kind != LockTake || uint32(p.cpu.R[x86.RAX]) != 0) {
		return
	}
	p.did(Deed{Kind: DeedTake, Addr: l.lock, Count: l.from, Shared: l.flags&LockShared != 0, Try: l.flags&LockTry != 0, At: l.at})
	if l.flags&LockRW != 0 {
		return
	}
	me := p.index()
	if h := k.held[l.lock]; h != nil && h.part == me {
		h.depth++
		return
	}
	k.held[l.lock] = &holding{me, 1}
}

func (k *checks) nameOf(addr uint64) string {
	if k.name != nil {
		if n := k.name(addr); n != "" {
			return n
		}
	}
	return fmt.Sprintf("the lock at 0x%x", addr)
}

// block notes a block that was allocated meanwhile.
func (k *checks) block(addr, size, room uint64) {
	mark := func(m map[uint64]uint64, lo, hi uint64, on bool) {
		for lo < hi {
			stop := min((lo|63)+1, hi)
			if b := byteMask(lo, int(stop-lo)); on {
				m[lo>>6] |= b
			} else {
				m[lo>>6] &^= b
			}
			lo = stop
		}
	}
	if size > maxMarked {
		return
	}
	mark(k.covered, addr, addr+size, true)
	mark(k.edge, addr, addr+size, false)
	mark(k.edge, addr+size, addr+max(room, size), true)
	mark(k.covered, addr+size, addr+max(room, size), false)
}

// maxMarked is the size of the largest blocks whose bytes are followed.
const maxMarked = 64 << 10

// beyond looks for an access to what lies next to a block.
func (p *participant) beyond(addr uint64, size int, write bool) {
	k := p.run.checks
	if k == nil || p.quietSP != 0 || p.alloc.sp != 0 || p.ownStack(addr) {
		return
	}
	line, m := addr>>6, byteMask(addr, size)
	bad := k.edge[line]
	if k.edges != nil {
		e := &k.near[line%nearLines]
		if e.n != line+1 {
			*e = lineMask{line + 1, k.edges(line)}
		}
		bad |= e.mask &^ k.covered[line]
	}
	if bad&m == 0 || !write && bad&m != m && size > 1 && addr%uint64(size) == 0 {
		return
	}
	verb := "reads"
	if write {
		verb = "writes"
	}
	p.found("heap-overflow", "%s %s, which lies next to a heap block", verb, k.nameAt(addr))
}

func (k *checks) nameAt(addr uint64) string {
	for back := uint64(0); back < 16 && k.name != nil; back++ {
		if n := k.name(addr - back); n != "" {
			if back == 0 {
				return n
			}
			return fmt.Sprintf("%d bytes behind %s", back, n)
		}
	}
	return fmt.Sprintf("memory at 0x%x", addr)
}

// System calls on descriptors (Linux, x86-64).
const (
	sysClose = 3
	sysFcntl = 72
	// Commands of fcntl(2).
	fDupFD        = 0
	fDupFDCloexec = 1030
)

var opensFile = map[uint64]bool{2: true, 32: true, 41: true, 43: true, sysFcntl: true, 85: true, 213: true, 253: true, 257: true, 282: true, 283: true, 284: true, 288: true, 289: true,
	290: true, 291: true, 294: true, 304: true, 319: true, 434: true, 437: true}
var usesFile = map[uint64]bool{0: true, 1: true, 3: true, 8: true, 16: true, 17: true, 18: true, 19: true, 20: true, 42: true, 44: true, 45: true, 46: true, 47: true, 77: true, 233: true}

// file looks at a system call before it is served.
func (p *participant) file(nr uint64, args [6]uint64) {
	k := p.run.checks
	if k == nil || !usesFile[nr] {
		return
	}
	fd := int32(args[0])
	if nr == sysClose {
		p.did(Deed{Kind: DeedClose, Addr: uint64(uint32(fd)), At: p.path(p.cpu.RIP)})
	}
	if by, was := k.closed[fd]; was {
		verb := "uses"
		if nr == sysClose {
			verb = "closes"
		}
		p.found("use-after-close", "%s descriptor %d, which thread %d has closed", verb, fd, p.run.parts[by].sec.Thread)
	}
	if nr == sysClose {
		k.closed[fd] = p.index()
	}
}

// opened notes that a system call returned a descriptor.
func (p *participant) opened(nr uint64, args [6]uint64, ret uint64) {
	k := p.run.checks
	if k == nil || !opensFile[nr] || int64(ret) < 0 {
		return
	}
	if nr == sysFcntl && args[1] != fDupFD && args[1] != fDupFDCloexec {
		return
	}
	delete(k.closed, int32(ret))
	p.did(Deed{Kind: DeedOpen, Addr: uint64(uint32(ret)), NR: nr, At: p.path(p.cpu.RIP)})
}

// Findings lists what checkers found, participant after participant. Two that
// wait for locks which the other holds are a deadlock.
func (r *Result) Findings() []Finding {
	var out []Finding
	for i, p := range r.parts {
		out = append(out, p.findings...)
		if k := p.run.checks; k != nil && r.Ends[i].Stuck && p.locking.kind == LockTake {
			if h := k.held[p.locking.lock]; h != nil && h.part != i {
				q := p.run.parts[h.part]
				if o := k.held[q.locking.lock]; q.stuck && q.locking.kind == LockTake && o != nil && o.part == i {
					out = append(out, Finding{"deadlock", fmt.Sprintf("waits for %s, which thread %d holds, and holds %s, which that one waits for",
						k.nameOf(p.locking.lock), q.sec.Thread, k.nameOf(q.locking.lock)), i})
					break
				}
			}
		}
	}
	return out
}

// New lists the blocks that the program's own code allocated during the run
// and nobody freed, by address, with their sizes.
func (r *Result) New() map[uint64]uint64 {
	out := map[uint64]uint64{}
	if len(r.parts) == 0 || r.parts[0].run.heap == nil {
		return out
	}
	h := r.parts[0].run.heap
	for addr := range h.own {
		out[addr] = h.sizes[addr]
	}
	for _, f := range h.freed {
		delete(out, f.addr)
	}
	return out
}

// Ints calls f with all aligned words of 4 bytes that were written during the run
// or set beforehand.
func (r *Result) Ints(f func(addr uint64, v uint32)) {
	for n, l := range r.mem.lines {
		for o := uint64(0); o < 64; o += 4 {
			if l.mask>>o&0xf == 0xf {
				f(n<<6+o, uint32(l.data[o])|uint32(l.data[o+1])<<8|uint32(l.data[o+2])<<16|uint32(l.data[o+3])<<24)
			}
		}
	}
}

// Words calls f with all aligned words that were written during the run or set
// beforehand.
func (r *Result) Words(f func(addr, v uint64)) {
	for n, l := range r.mem.lines {
		for o := uint64(0); o < 64; o += 8 {
			if l.mask>>o&0xff != 0xff {
				continue
			}
			var v uint64
			for i := uint64(0); i < 8; i++ {
				v |= uint64(l.data[o+i]) << (8 * i)
			}
			f(n<<6+o, v)
		}
	}
}
