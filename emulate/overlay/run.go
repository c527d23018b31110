package overlay

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/racesim/racesim/emulate/x86"
)

// An Outcome says how a participant ended.
type Outcome uint8

const (
	_       Outcome = iota
	Done            // reached the section's end
	Crashed         // faulted; Detail says how
	Hung            // the budget ended; Detail says what it waits for
	Spun            // like Hung, but it only waits for a variable to change
	Unknown         // needs something that the recording doesn't have
	Changed         // a system call with other arguments than recorded
)

func (o Outcome) String() string {
	switch o {
	case Done:
		return "done"
	case Crashed:
		return "crash"
	case Hung:
		return "hang"
	case Spun:
		return "spin"
	case Unknown:
		return "unknown"
	case Changed:
		return "changed system call"
	}
	return "invalid"
}

// A Run executes one or two sections on a common overlay.
type Run struct {
	mem   *Memory
	parts []*participant
	racy  []Span
	track []Span
	// written and read have, per participant, the bytes it wrote and read.
	written []map[uint64]uint64
	read    []map[uint64]uint64
	budget  uint64
	spent   *uint64 // see Spend
	quiet   func(target uint64) bool
	alias   func(addr uint64) uint64
	fresh   []Span // memory that a section mapped: zero until written
	// elsewhere is asked for lines that no participant knows.
	elsewhere func(line uint64) (*[64]byte, uint64)
	// unmapped tells accesses that fault.
	unmapped func(addr uint64) bool
	// fatal names functions that end the program because something is wrong.
	fatal           func(target uint64) string
	leaves, ownCode func(pc uint64) bool // see Scheduler
	// code has the instructions that the recording never executed.
	code func(pc uint64) []byte
	heap *heap
	log  *Log // nil: the run isn't saved
	// answers are the user's, by system call.
	answers map[uint64][]Answer
	checks  *checks
	reopens reopens
	// directed: see Directed; waiters counts the waits so far.
	directed bool
	waiters  int
	notice   func(part int, site, target, arg uint64)
}

// New prepares an experiment with the given sections. A section may be used in
// many runs, one after the other or at the same time.
func New(secs ...*Section) *Run {
	r := &Run{mem: NewMemory()}
	for _, s := range secs {
		p := &participant{sec: s, run: r, lines: map[uint64]*line{}, polls: map[uint64]int{}, cpu: new(x86.CPU)}
		p.win.Clear()
		c := p.cpu
		c.SetState(s.Entry)
		c.Count = uint64(s.Start)
		c.Win, c.Mem, c.Env, c.Watch = &p.win, p, p, p
		c.Blocks = s.View.NewBlocks()
		p.setBreaks()
		r.parts = append(r.parts, p)
		r.written = append(r.written, map[uint64]uint64{})
		r.read = append(r.read, map[uint64]uint64{})
	}
	return r
}

// Aliases makes the overlay one for all mappings of the same memory: canon
// maps an address to the one that they share, keeping its place in the page.
// It must come before Set.
func (r *Run) Aliases(canon func(addr uint64) uint64) { r.alias = canon }

// Elsewhere is asked for lines that no participant knows; it returns their
// bytes and which of them are known.
func (r *Run) Elsewhere(f func(line uint64) (*[64]byte, uint64)) { r.elsewhere = f }

// Unmapped says where accesses fault, among what no participant knows.
func (r *Run) Unmapped(f func(addr uint64) bool) { r.unmapped = f }

// Code is asked for instructions that no recorded thread executed: the bytes
// from pc to the end of its page, or nil.
func (r *Run) Code(f func(pc uint64) []byte) { r.code = f }

func (r *Run) canonAddr(addr uint64) uint64 {
	if r.alias == nil {
		return addr
	}
	return r.alias(addr)
}

// Budget bounds the instructions of each participant; without it a run gets
// four times what was recorded and 200,000 more.
func (r *Run) Budget(n uint64) { r.budget = n }

// Spend makes the run add to n how many instructions its participants executed,
// when its Result is asked for; nil: nothing.
func (r *Run) Spend(n *uint64) { r.spent = n }

// Set puts the low size bytes of v at addr before anything runs.
func (r *Run) Set(addr uint64, size int, v uint64) {
	for i := 0; i < size; i++ {
		r.SetByte(addr+uint64(i), byte(v>>(8*i)))
	}
}

// SetByte puts one byte at addr before anything runs.
func (r *Run) SetByte(addr uint64, b byte) { r.mem.Set(r.canonAddr(addr), b) }

// SetAll puts all bytes of m there before anything runs; nil: none. Their
// addresses are those that Aliases maps to.
func (r *Run) SetAll(m *Memory) {
	if m == nil {
		return
	}
	for n, l := range m.lines {
		r.mem.SetLine(n, &l.data, l.mask)
	}
}

// Racy names the bytes whose accesses are counted and can be paused before.
func (r *Run) Racy(spans ...Span) { r.racy = r.canonSpans(spans) }

// Track names the bytes whose repeated loading makes a hang a spin.
func (r *Run) Track(spans ...Span) { r.track = r.canonSpans(spans) }

// Quiet names functions, by entry address, whose stores (and their callees')
// are no outputs: allocators, locks, buffered output. Their memory is real all
// the same.
func (r *Run) Quiet(f func(target uint64) bool) {
	r.quiet = f
	for _, p := range r.parts {
		p.cpu.Calls = p
	}
}

// Fatal names functions, by entry address, that end the program because they
// found something wrong (abort and the like); "" for others. Calling one is a
// crash.
func (r *Run) Fatal(f func(target uint64) string) {
	r.fatal = f
	for _, p := range r.parts {
		p.cpu.Calls = p
	}
}

// Scheduler says which functions, by entry address, leave the stack that they
// are called on for others to run, and which code, by address, is that of the
// scheduler and the rest of a run-time, whose stores are no outputs. Calling
// one of the former ends a participant as unknown.
func (r *Run) Scheduler(leaves, own func(pc uint64) bool) {
	r.leaves, r.ownCode = leaves, own
	for _, p := range r.parts {
		p.cpu.Calls = p
	}
}

func (r *Run) canonSpans(spans []Span) []Span {
	var out []Span
	for _, s := range spans {
		out = append(out, Span{r.canonAddr(s.Addr), s.N})
	}
	return out
}

func overlaps(spans []Span, addr uint64, size int) bool {
	for _, s := range spans {
		if addr < s.Addr+s.N && s.Addr < addr+uint64(size) {
			return true
		}
	}
	return false
}

func (r *Run) wrote(p *participant, line, mask uint64) { r.touched(r.written, &p.left, p, line, mask) }

func (r *Run) touched(by []map[uint64]uint64, near *[nearLines]lineMask, p *participant, line, mask uint64) {
	if p.quietSP != 0 || r.ownCode != nil && r.ownCode(p.cpu.PC()) || IsApart(line<<6) {
		return
	}
	if p.watch() != nil {
		p.uses.add(line)
	}
	if near[line%nearLines].has(line, mask) {
		return
	}
	for i, q := range r.parts {
		if q == p {
			by[i][line] |= mask
		}
	}
}

// Go runs participant part to its end, or until it blocks. It reports whether
// it ended.
func (r *Run) Go(part int) bool {
	p := r.parts[part]
	p.stopAt = 0
	p.advance()
	return p.phase == ended
}

// GoBefore runs participant part until it is about to do its n-th racing
// access, counted from 1; the load and the store of an unlocked
// read-modify-write instruction are two. It reports whether it got there.
func (r *Run) GoBefore(part, n int) bool {
	p := r.parts[part]
	if p.hits >= n {
		return false
	}
	p.stopAt = n
	p.paused = false
	p.advance()
	p.stopAt = 0
	return p.paused
}

// GoAfter runs participant part until it has just done its n-th racing access.
// It reports whether it got there; an access that the section ends with doesn't
// count.
func (r *Run) GoAfter(part, n int) bool {
	if !r.GoBefore(part, n) {
		return false
	}
	p := r.parts[part]
	p.step()
	return p.phase == running && p.hits >= n
}

// Hits returns the number of racing accesses that participant part has done.
func (r *Run) Hits(part int) int { return r.parts[part].hits }

// HitPCs returns the instructions of the first racing accesses that participant
// part has done, in order, at most maxHitPCs.
func (r *Run) HitPCs(part int) []uint64 { return r.parts[part].hitPCs }

const maxHitPCs = 4096

// Settle runs all participants to their ends, in turn when they wait for one
// another, starting with first.
func (r *Run) Settle(first int) {
	n := len(r.parts)
	for idle := 0; idle < 2*n; {
		moved := false
		for i := 0; i < n; i++ {
			p := r.parts[(first+i)%n]
			if p.phase == ended {
				continue
			}
			before := p.executed
			if p.phase == blocked {
				p.phase = running
			}
			r.Go((first + i) % n)
			if p.executed > before+64 || p.phase == ended {
				moved = true
			}
		}
		if !moved {
			idle++
		}
		if r.allEnded() {
			return
		}
	}
	for _, p := range r.parts {
		if p.phase != ended {
			p.stuck = true
			p.end(Hung, "waits for what no participant does")
		}
	}
}

func (r *Run) allEnded() bool {
	for _, p := range r.parts {
		if p.phase != ended {
			return false
		}
	}
	return true
}

func (p *participant) end(o Outcome, detail string) {
	looks := p.looked(maxGlances)
	if p.working {
		looks = p.glances-p.atRelease > maxGlances
	}
	p.news()
	switch {
	case p.released == 0:
	case o == Done && (!looks || p.lastNew > p.released && !p.working), (o == Unknown || o == Changed) && p.wentOn():
		o, detail = Spun, "loops until the variable changes"
	}
	p.phase, p.out, p.detail = ended, o, detail
}

// wentOn reports whether a participant whose replacement ended has seen the new
// value and then, for at least two of its rounds before, not looked again. What
// it came to afterwards, known or not, isn't part of its waiting.
func (p *participant) wentOn() bool {
	since := p.glances - p.atRelease
	return since == 1 && p.atRelease > 0 && p.executed-p.released >= 2*(p.released/p.atRelease)
}

// setBreaks marks the places where the section may end.
func (p *participant) setBreaks() {
	if p.sec.End == EndCount || p.sec.End == EndOpen {
		return
	}
	if b, ok := p.returnTo(); ok {
		p.ret = b
		p.cpu.Blocks.Break(b)
	}
	if p.sec.End == EndLoop {
		p.cpu.Blocks.Break(p.sec.EndPC)
	}
}

// returnTo returns where the frame of the section returns to.
func (p *participant) returnTo() (pc uint64, ok bool) {
	// It may flow in later, because the thread hadn't read it so far, or because the
	// kernel put it there, for a signal's handler.
	for i := range p.sec.Inputs {
		in := &p.sec.Inputs[i]
		if o := p.sec.SP & 63; in.Kind == InImport && in.Line == p.sec.SP>>6 && o <= 56 && in.Given>>o&0xff == 0xff && in.Foreign>>o&0xff != 0 {
			p.learn(in.Line, &in.Data, 0xff<<o) // also for a participant that goes another way
			return binary.LittleEndian.Uint64(in.Data[o:]), true
		}
	}
	if pc, ok = p.peekWord(p.sec.SP); ok {
		return pc, true
	}
	if p.sec.left() {
		return p.sec.Exit.RIP, true
	}
	return 0, false
}

func (p *participant) peekWord(addr uint64) (uint64, bool) {
	var v uint64
	for i := uint64(0); i < 8; i++ {
		b, ok := p.peek(addr + i)
		if !ok {
			return 0, false
		}
		v |= uint64(b) << (8 * i)
	}
	return v, true
}

// atEnd reports whether the section ends here.
func (p *participant) atEnd() bool {
	c := p.cpu
	switch {
	case c.R[4] > p.sec.SP:
		return true
	case p.sec.End == EndLoop && c.RIP == p.sec.EndPC && c.R[4] == p.sec.Entry.R[4]:
		// The loop's last iteration is executed to the function's return, however
		// often it goes round until then: what is live where it ends isn't what is
		// live at the head.
		return p.executed > 0 && !p.sec.left()
	case p.sec.End == EndCount:
		return p.executed >= p.sec.Steps()
	}
	return false
}

// limit returns how many instructions may run before something is due.
func (p *participant) limit() uint64 {
	now := p.cpu.Count
	n := uint64(4096)
	if !p.diverged {
		if p.next < len(p.sec.Inputs) {
			in := &p.sec.Inputs[p.next]
			if d := uint64(in.At) - now; d < n {
				n = d
			}
		}
	}
	for _, in := range p.injects {
		if uint64(in.at) >= now {
			if d := uint64(in.at) - now; d < n {
				n = d
			}
		}
	}
	if p.sec.End == EndCount {
		if d := p.sec.Steps() - p.executed; d < n {
			n = d
		}
	}
	return n
}

// advance runs until the participant ends, blocks or pauses.
func (p *participant) advance() {
	if p.phase == blocked {
		p.phase = running
	}
	c := p.cpu
	p.alloc.undo.lost = true // others may have run meanwhile
	p.run.log.in(p)
	for p.phase == running {
		if p.executed > 0 && p.atEnd() {
			p.end(Done, "")
			return
		}
		if p.run.log != nil {
			p.run.log.flush(p) // before anything changes what it read
		}
		p.applyInputs()
		p.applyInjects()
		if p.overBudget() {
			return
		}
		n := p.limit()
		if n == 0 {
			n = 1
		}
		before := c.Count
		stop := c.Run(n)
		p.executed += c.Count - before
		switch stop.Kind {
		case x86.StopLimit:
		case x86.StopBreak:
			if p.executed > 0 && p.atEnd() {
				p.end(Done, "")
				return
			}
			p.jumped()
		case x86.StopSyscall:
			p.syscall()
		case x86.StopFault:
			p.faulted(&stop)
		case x86.StopYield:
			if !p.yield(stop.Err) {
				return
			}
		}
	}
}

// step executes one instruction.
func (p *participant) step() {
	c := p.cpu
	p.stopAt = 0
	p.run.log.in(p)
	before := c.Count
	stop := c.Run(1)
	p.executed += c.Count - before
	switch stop.Kind {
	case x86.StopBreak:
		p.jumped()
		p.step()
	case x86.StopSyscall:
		p.syscall()
	case x86.StopFault:
		p.faulted(&stop)
	case x86.StopYield:
		p.yield(stop.Err)
	}
}

// yield handles a stop asked for by the participant itself and reports whether
// it goes on.
func (p *participant) yield(err error) bool {
	var unk *unknownError
	switch {
	case errors.Is(err, errPause):
		p.paused = true
		p.run.log.paused(p)
		return false
	case errors.Is(err, errSplit):
		before := p.cpu.Count
		stop := p.cpu.RunSplit()
		p.executed += p.cpu.Count - before
		if stop.Kind == x86.StopFault {
			p.faulted(&stop)
		}
		p.paused = true
		p.run.log.paused(p)
		return false
	case errors.Is(err, errFatal):
		p.end(Crashed, "calls "+p.doomed)
	case errors.Is(err, errMisuse):
		p.end(Crashed, p.doomed)
	case errors.As(err, &unk) || errors.Is(err, errStrange):
		if p.afresh() {
			return true
		}
		p.end(Unknown, err.Error())
	default:
		p.end(Unknown, err.Error())
	}
	return false
}

// overBudget ends a participant that runs too long, or blocks it if another
// one may be what it waits for.
func (p *participant) overBudget() bool {
	budget := p.run.budget
	if budget == 0 {
		budget = 4*p.sec.Steps() + 200_000
	}
	p.news()
	if p.released > 0 {
		switch {
		case p.working && p.glances-p.atRelease > maxGlances:
			p.end(Hung, "goes on as before when the variable changes")
		case p.lastNew > p.released && !p.working:
			p.end(Spun, "loops until the variable changes")
		case p.executed-p.released < afterRelease:
			return false
		case p.polled():
			p.end(Hung, "goes on as before when the variable changes")
		default:
			p.end(Spun, "loops until the variable changes")
		}
		return true
	}
	others := false
	for _, q := range p.run.parts {
		others = others || q != p && q.phase != ended
	}
	used := p.executed - p.resumed
	if others && p.executed-p.lastNew > 20_000 && p.diverged && p.looksOut() || used >= budget && others {
		// It may be waiting for the other one.
		if p.waits++; p.waits < 64 {
			p.phase = blocked
			p.waitedFor = p.waitedFor || p.polled()
			p.worked = p.worked || p.executed-p.lastNew <= 20_000
			p.lastNew, p.resumed = p.executed, p.executed // a fresh chance after the other has moved
			p.forgetPolls()
			return true
		}
	}
	spin := p.executed-p.lastNew > 20_000 && p.polled() && p.diverged
	if used < budget && !spin {
		return false
	}
	if p.polled() && p.executed-p.lastNew > 10_000 {
		if p.release() {
			return false
		}
		p.end(Spun, "loops until the variable changes")
	} else if p.worksOn() {
		return false
	} else {
		p.end(Hung, fmt.Sprintf("still running after %d instructions, recorded %d", p.executed, p.sec.Steps()))
	}
	return true
}

// looksOut reports whether the participant lately read memory that another one
// may change. Without that it computes and waits for nobody, however long that
// leaves memory as it is.
func (p *participant) looksOut() bool { return p.cpu.Count-p.outward < 10_000 }

// polled reports whether some instruction loaded a tracked byte again and again,
// as one that waits for another thread: what the participant keeps storing to
// itself it doesn't wait for; nor, of a replaced value, what it overwrites at all.
func (p *participant) polled() bool {
	return p.looked(manyPolls) && p.rewrites < manyPolls && !(p.overwrote && p.frozen())
}

// manyPolls is how many accesses count as again and again.
const manyPolls = 16

func (p *participant) forgetPolls() {
	clear(p.polls)
	p.rewrites = 0
}

// maxGlances is how often a participant may still look at what it waited for
// before it ends.
const maxGlances = 4

// looked reports whether some instruction loaded a tracked byte n times or more
// lately.
func (p *participant) looked(n int) bool {
	for _, k := range p.polls {
		if k >= n {
			return true
		}
	}
	return false
}

// applyInputs applies what is due before the next instruction. Once control
// flow has left the recorded path nothing is due by count any more: what is
// needed is looked for on demand.
func (p *participant) applyInputs() {
	for !p.diverged && p.next < len(p.sec.Inputs) && p.phase == running {
		in := &p.sec.Inputs[p.next]
		now := p.cpu.Count
		if uint64(in.At) > now {
			return
		}
		if uint64(in.At) < now { // served while its instruction executed
			p.next++
			continue
		}
		if in.PC != p.cpu.RIP {
			p.diverge(fmt.Sprintf("expected 0x%x, is at 0x%x", in.PC, p.cpu.RIP))
			return
		}
		switch in.Kind {
		case InImport:
			p.foreign(in)
			p.learn(in.Line, &in.Data, in.Foreign)
		case InContext:
			if in.State == nil {
				p.end(Unknown, "a signal arrived here")
				return
			}
			pc, sp := p.cpu.RIP, p.cpu.R[x86.RSP]
			p.cpu.SetState(*in.State)
			if in.Signal != 0 {
				p.forget(p.cpu.R[x86.RSP], signalFrame(p.cpu.R[x86.RSP], sp))
			}
			p.interrupted(in.Signal, pc)
			p.run.log.context(p)
		case InSyscall, InNondet:
			return // served when the instruction executes
		}
		p.next++
	}
}

func (p *participant) diverge(where string) {
	p.diverged, p.where = true, where
}

// faulted ends a participant whose instruction faulted: a crash, unless the
// instruction may be one that is only missing here.
func (p *participant) faulted(s *x86.Stop) {
	if s.Unsupported() {
		p.end(Unknown, fmt.Sprintf("unsupported instruction % x", s.Bytes))
		return
	}
	if s.Vector == x86.VecPF && s.Code&pfFetch != 0 && p.sec.View.CodeMissing(s.Addr) {
		p.end(Unknown, fmt.Sprintf("the code at 0x%x is neither in the trace nor in a file that is here", s.Addr))
		return
	}
	p.run.log.faulted(p, s)
	p.end(Crashed, faultText(s, p.cpu.RIP))
}

func faultText(s *x86.Stop, pc uint64) string {
	switch s.Vector {
	case x86.VecPF:
		return fmt.Sprintf("page fault at address 0x%x, pc 0x%x", s.Addr, pc)
	case x86.VecDE:
		return fmt.Sprintf("division error, pc 0x%x", pc)
	case x86.VecUD:
		return fmt.Sprintf("invalid instruction, pc 0x%x", pc)
	}
	return fmt.Sprintf("fault %d, pc 0x%x", s.Vector, pc)
}
