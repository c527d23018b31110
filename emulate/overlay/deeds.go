package overlay

import (
	"math/bits"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Much of what checkers look at is wrong only together with what others do, at
// other times: the order in which locks are taken, threads that nobody joins. A
// run keeps account of such deeds; what they mean is for others to say.

// A Deed is something that a participant did.
type Deed struct {
	Kind  DeedKind
	Part  int // which participant
	Count emulate.Count
	// Addr is the lock, the thread (as pthread_create stores it), the function
	// called, or the descriptor.
	Addr   uint64
	Shared bool   // DeedTake: as one of many readers
	Try    bool   // DeedTake: by an attempt that can't block
	Timed  bool   // DeedWait: it has a time limit
	NR     uint64 // DeedOpen: the system call
	At     Path
}

// A DeedKind says what a Deed is.
type DeedKind uint8

const (
	_          DeedKind = iota
	DeedTake            // takes a lock
	DeedGive            // gives up a lock
	DeedWait            // waits for a condition with a lock; DeedGive and DeedTake follow
	DeedMake            // makes a thread
	DeedJoin            // waits for a thread's end
	DeedDetach          // says that nobody will
	DeedCall            // calls a function that Watch.Call asked for
	DeedOpen            // opens a descriptor
	DeedClose           // closes one
)

// A Path says how a participant came to an instruction.
type Path struct {
	// Left is the number of calls under way at the section's start that have
	// returned since, Calls are those that began since, outermost first.
	Left  int
	Calls []Frame
	PC    uint64
}

// A Frame is a call that began during a run.
type Frame struct {
	Site, Entry uint64
	SP          uint64 // RSP at its entry
	Signal      int32  // it is the handler of this signal, and Site was interrupted; 0: a call
}

// A ThreadCall says what calling a function does to a thread.
type ThreadCall uint8

const (
	_            ThreadCall = iota
	ThreadMake              // (where its name goes, …)
	ThreadJoin              // (thread)
	ThreadDetach            // (thread)
)

// A Watch says what deeds are kept of, beside those that concern locks and
// descriptors.
type Watch struct {
	// Thread says what functions do to threads, by entry.
	Thread func(target uint64) ThreadCall
	// Call says whether a call is one to be kept; handler: by a signal's handler
	// that began in the run.
	Call func(s *Section, site, target uint64, handler bool) bool
	// Blocks asks for the places where blocks are allocated.
	Blocks bool
}

// maxDeeds bounds the deeds kept of a run.
const maxDeeds = 4096

// Watch asks for an account of deeds. It must follow Checks.
func (r *Run) Watch(w Watch) {
	if r.checks != nil {
		r.checks.watch = &w
	}
}

// watch returns what deeds are kept of; nil: of nothing.
func (p *participant) watch() *Watch {
	if k := p.run.checks; k != nil {
		return k.watch
	}
	return nil
}

// did keeps a deed.
func (p *participant) did(d Deed) {
	k := p.run.checks
	if k == nil || k.watch == nil || len(k.deeds) >= maxDeeds {
		return
	}
	d.Part = p.index()
	if d.Count == 0 {
		d.Count = p.count()
	}
	k.deeds = append(k.deeds, d)
}

// path is how the participant came to pc.
func (p *participant) path(pc uint64) Path {
	if p.watch() == nil {
		return Path{}
	}
	return Path{p.gone, slices.Clone(p.frames), pc}
}

// entered notes a call.
func (p *participant) entered(site, target, sp uint64, signal int32) {
	if p.watch() != nil {
		p.frames = append(p.frames, Frame{site, target, sp, signal})
	}
}

// returned drops the frames below sp.
func (p *participant) returned(sp uint64) {
	if p.watch() == nil {
		return
	}
	n := len(p.frames)
	for n > 0 && p.frames[n-1].SP < sp {
		n--
	}
	if n == len(p.frames) && n == 0 {
		p.gone++
	}
	p.frames = p.frames[:n]
}

// interrupted follows what a signal's delivery or return did to the registers;
// pc is where the participant was.
func (p *participant) interrupted(signal int32, pc uint64) {
	sp := p.cpu.R[x86.RSP]
	if signal != 0 {
		p.entered(pc, p.cpu.RIP, sp, signal)
		return
	}
	for n := len(p.frames); n > 0 && p.frames[n-1].SP < sp; n-- {
		p.frames = p.frames[:n-1]
	}
}

// inHandler says whether a signal's handler is under way that began in the run.
func (p *participant) inHandler() bool {
	return slices.ContainsFunc(p.frames, func(f Frame) bool { return f.Signal != 0 })
}

// A threading is the outermost function for threads that a participant is in.
type threading struct {
	sp   uint64 // RSP at its entry, 0: in none
	kind ThreadCall
	arg  uint64
	from emulate.Count
	at   Path
}

// watchCall looks at the entry of a function.
func (p *participant) watchCall(site, target, sp uint64) {
	w := p.watch()
	if w == nil {
		return
	}
	if w.Call != nil && w.Call(p.sec, site, target, p.inHandler()) {
		p.did(Deed{Kind: DeedCall, Addr: target, At: p.path(site)})
	}
	if p.threading.sp == 0 && w.Thread != nil {
		if k := w.Thread(target); k != 0 {
			p.threading = threading{sp, k, p.cpu.R[x86.RDI], p.count(), p.path(site)}
		}
	}
}

// threaded ends the outermost function for threads.
func (p *participant) threaded() {
	t := p.threading
	p.threading = threading{}
	if uint32(p.cpu.R[x86.RAX]) != 0 {
		return
	}
	d := Deed{Kind: DeedJoin, Addr: t.arg, Count: t.from, At: t.at}
	switch t.kind {
	case ThreadMake:
		d.Kind = DeedMake
		d.Addr, _ = p.peekWord(t.arg)
	case ThreadDetach:
		d.Kind = DeedDetach
	}
	p.did(d)
}

// Deeds lists what the participants did, in order.
func (r *Result) Deeds() []Deed {
	if len(r.parts) == 0 || r.parts[0].run.checks == nil {
		return nil
	}
	return r.parts[0].run.checks.deeds
}

// Allocated says who allocated a block of New, and where, if Watch asked for it.
func (r *Result) Allocated(addr uint64) (part int, at Path) {
	x := r.parts[0].run.heap.places[addr]
	return x.part, x.at
}

// A lineCount is the number of accesses to a line.
type lineCount struct {
	n     uint64 // plus one; 0: none
	times uint32
}

// uses counts accesses by line.
type uses struct {
	near  [nearLines]lineCount
	total map[uint64]uint32
}

func (u *uses) add(line uint64) {
	c := &u.near[line%nearLines]
	if c.n != line+1 {
		u.spill(c)
		*c = lineCount{n: line + 1}
	}
	c.times++
}

func (u *uses) spill(c *lineCount) {
	if c.n == 0 {
		return
	}
	if u.total == nil {
		u.total = map[uint64]uint32{}
	}
	u.total[c.n-1] += c.times
	c.times = 0
}

// A SplitLine is a line of which two participants use different bytes.
type SplitLine struct {
	Line  uint64 // address >> 6
	First [2]uint64
	Write [2]bool
	Times [2]int // accesses
}

// Split lists the lines, in no order, that two participants accessed at least
// times times each and of which neither wrote what the other touched.
func (r *Result) Split(times int) []SplitLine {
	if len(r.parts) != 2 || r.parts[0].run.checks == nil || r.read == nil {
		return nil
	}
	for _, p := range r.parts {
		for i := range p.uses.near {
			p.uses.spill(&p.uses.near[i])
		}
	}
	var out []SplitLine
	for n, t := range r.parts[0].uses.total {
		u := r.parts[1].uses.total[n]
		if int(t) < times || int(u) < times {
			continue
		}
		w, v := r.wrote[0][n], r.wrote[1][n]
		x, y := w|r.read[0][n], v|r.read[1][n]
		if w|v == 0 || w&y != 0 || v&x != 0 || x == 0 || y == 0 {
			continue
		}
		out = append(out, SplitLine{n, [2]uint64{n<<6 + uint64(bits.TrailingZeros64(x)), n<<6 + uint64(bits.TrailingZeros64(y))}, [2]bool{w != 0, v != 0}, [2]int{int(t), int(u)}})
	}
	return out
}
