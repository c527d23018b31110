package overlay

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// Why a participant yields. They travel in x86.Stop.Err.
var (
	errPause  = errors.New("pause before a racing access")
	errSplit  = errors.New("pause between the halves of a read-modify-write")
	errLeaves = errors.New("a goroutine lets others run")
	errFatal  = errors.New("calls a function that ends the program")
	// errMisuse: of the heap.
	errMisuse = errors.New("uses the heap wrongly")
)

// unknownError is the reading of memory that the recording never showed.
type unknownError struct{ addr uint64 }

func (e *unknownError) Error() string {
	return fmt.Sprintf("read of memory at 0x%x, which the recording never showed", e.addr)
}

type phase uint8

const (
	running phase = iota
	blocked       // waits for the other participant
	ended
)

// A participant executes one section within a Run.
type participant struct {
	sec   *Section
	run   *Run
	cpu   *x86.CPU
	win   hwmodel.Window
	lines map[uint64]*line // what it came to know since the section's start
	views [nearLines]viewed
	// seen are bytes that it is known to have read, left those that it has written.
	seen, left [nearLines]lineMask
	bufs       [4][64]byte
	nbuf       int

	next     int // next Input
	injects  []*Injected
	phase    phase
	diverged bool
	where    string // of the divergence
	out      Outcome
	detail   string
	waitAddr uint64 // futex it is blocked on
	// Of directed runs: when it began to wait, and the instruction to pause
	// before when it accesses a racing byte.
	waitSince int
	stopPC    uint64
	part      int
	strayed   bool              // it was off the recorded path
	made      []emulate.Count   // system calls that made threads
	fresh     map[uint64]uint64 // bytes, by line, of which is known that nobody knows better

	hits    int           // racing accesses passed so far
	hitPCs  []uint64      // of the first of them
	stopAt  int           // pause before this one (counted from 1; 0: never)
	counted emulate.Count // the instruction whose racing load was counted last
	half    bool          // …and its store too
	paused  bool

	racy      Uses
	calls     []Call
	asked     map[uint64]int // answers of the user that were given, by system call
	assumed   int            // reads served from later in the recording
	executed  uint64         // instructions
	released  uint64         // executed when what it spun on got its other value
	resumed   uint64         // executed when it last began to run
	waits     int            // times it was blocked
	lastNew   uint64         // executed when foreign memory was last seen in a new state
	outward   uint64         // the processor's count when it last read memory that isn't its own stack
	sum       uint64         // of what it changed of foreign memory
	sums      [16]uint64
	nsums     int
	exited    bool   // its last system call ended it
	stuck     bool   // it waits, and nobody is left to wait for
	doomed    string // the function that ends the program, once it is called; what it did to the heap
	alloc     allocating
	locking   locking
	threading threading
	frames    []Frame // calls under way that began in the run
	gone      int     // calls that were under way at the start and have returned
	uses      uses

	firstUnwritten *Unwritten
	findings       []Finding
	streams        []stream
	texts          []*page
	polls          map[uint64]int // loads of tracked locations since news, by instruction
	rewrites       int            // plain stores there since news
	overwrote      bool           // …and one at least since a value was replaced
	glances        uint64         // loads of tracked locations
	working        bool           // see Injected.Works
	atRelease      uint64         // …when what it spun on got its other value
	waitedFor      bool           // it spun on a tracked location until the other had moved
	worked         bool           // it went on and on, changing memory, until the other had moved
	ret            uint64         // return address, 0 if unknown
	apart          uint64         // see Run.Apart; 0: nothing
	quietSP        uint64         // RSP inside the quiet call under way, 0: none
}

// Call serves x86.CallSink.
func (p *participant) Call(c *x86.CPU, site, target, sp uint64) {
	if f := p.run.notice; f != nil {
		f(p.part, site, target, c.R[x86.RDI])
	}
	if f := p.run.fatal; f != nil {
		if name := f(target); name != "" {
			p.doomed = name
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errFatal})
		}
	}
	if f := p.run.leaves; f != nil && f(target) {
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errLeaves})
	}
	if wrong := p.allocator(site, target, sp); wrong != "" {
		p.misuse(wrong)
	}
	if p.strange() {
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errStrange})
	}
	p.lockCall(site, target, sp)
	p.watchCall(site, target, sp)
	p.entered(site, target, sp, 0)
	if p.quietSP == 0 && p.run.quiet != nil && p.run.quiet(target) {
		p.quietSP = sp
	}
}

// Ret serves x86.CallSink.
func (p *participant) Ret(c *x86.CPU, site, target, sp uint64) {
	if p.quietSP != 0 && sp > p.quietSP {
		p.quietSP = 0
	}
	if p.alloc.sp != 0 && sp > p.alloc.sp {
		p.allocated()
	}
	if p.locking.sp != 0 && sp > p.locking.sp {
		p.locked()
	}
	if p.threading.sp != 0 && sp > p.threading.sp {
		p.threaded()
	}
	p.returned(sp)
}

func (p *participant) count() emulate.Count { return emulate.Count(p.cpu.InstrCount()) }

// A viewed line was asked for before.
type viewed struct {
	n     uint64    // plus one; 0: none
	own   *line     // of participant.lines
	data  *[64]byte // else as the section's View has it
	known uint64
}

// A lineMask has a bit for each of some bytes of a line.
type lineMask struct {
	n    uint64 // plus one; 0: none
	mask uint64
}

// has says whether the bytes are among those noted; from then on they are.
func (m *lineMask) has(n, mask uint64) bool {
	if m.n != n+1 {
		m.n, m.mask = n+1, 0
	}
	if mask&^m.mask == 0 {
		return true
	}
	m.mask |= mask
	return false
}

// view returns what the participant itself knows of a line.
func (p *participant) view(n uint64) (*[64]byte, uint64) {
	v := &p.views[n%nearLines]
	if v.n != n+1 {
		*v = viewed{n: n + 1, own: p.lines[n]}
		if v.own == nil {
			v.data, v.known = p.sec.View.KnownLine(n)
		}
	}
	if v.own != nil {
		return &v.own.data, v.own.mask
	}
	return v.data, v.known
}

// learn makes bytes of a line known.
func (p *participant) learn(n uint64, data *[64]byte, mask uint64) {
	l := p.lines[n]
	if l == nil {
		l = new(line)
		if d, k := p.sec.View.KnownLine(n); d != nil {
			l.data, l.mask = *d, k
		}
		p.lines[n] = l
		p.views[n%nearLines] = viewed{n: n + 1, own: l}
	}
	merge(&l.data, data, mask)
	l.mask |= mask
}

// Line serves x86.Memory: the own view with the overlay on top. Stores reach
// the overlay through Store, so the bytes returned are scratch.
func (p *participant) Line(c *x86.CPU, n uint64, write bool) unsafe.Pointer {
	if p.run.log != nil {
		p.run.log.touch(p, n, write)
	}
	data, known := p.view(n)
	l := p.run.mem.get(p.canon(n))
	if !write && (l == nil || l.mask == 0) && known == ^uint64(0) {
		return unsafe.Pointer(data)
	}
	buf := &p.bufs[p.nbuf&3]
	p.nbuf++
	if data != nil {
		*buf = *data
	} else {
		*buf = [64]byte{}
	}
	if l != nil && l.mask != 0 {
		merge(buf, &l.data, l.mask)
	}
	return unsafe.Pointer(buf)
}

// Code serves x86.Memory.
func (p *participant) Code(c *x86.CPU, pc uint64) []byte {
	p.run.log.pages(p, pc)
	return p.fetch(pc)
}

// fetch returns instruction bytes from pc to the end of its page, or as far as
// they are known.
func (p *participant) fetch(pc uint64) []byte {
	if b := p.sec.View.Code(pc); b != nil || p.run.code == nil {
		return b
	}
	return p.run.code(pc)
}

// Load serves x86.Watcher.
func (p *participant) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	p.freedAt(addr, size, "reads")
	p.beyond(addr, size, false)
	p.readsUnwritten(addr, size)
	p.racing(c, addr, size, kind, false)
	if p.isRacy(addr, size) {
		p.racy.Loads++
	}
	if n := len(p.run.track); n != 0 && p.tracked(addr, size) {
		p.polls[c.PC()]++
		p.glances++
	}
	mask := byteMask(addr, size)
	if !p.ownStack(addr) {
		p.outward = c.Count
		p.run.touched(p.run.read, &p.seen, p, p.canon(addr>>6), mask)
	} else if p.isRacy(addr, size) {
		p.outward = c.Count // a variable that it gave away
	}
	_, known := p.view(addr >> 6)
	if l := p.run.mem.get(p.canon(addr >> 6)); l != nil {
		known |= l.mask
	}
	if p.run.directed && p.diverged {
		p.current(addr, mask)
	}
	if mask&^known != 0 {
		p.resolve(addr, mask&^known, kind == x86.Update)
		// The bytes the processor holds predate the resolution: read again.
		v = p.read(addr, size)
	}
	return v
}

// read assembles a value the way Line does.
func (p *participant) read(addr uint64, size int) uint64 {
	var v uint64
	if o := addr & 63; size <= 8 && o+uint64(size) <= 64 {
		data, known := p.view(addr >> 6)
		l := p.run.mem.get(p.canon(addr >> 6))
		for i := uint64(0); i < uint64(size); i++ {
			switch {
			case l != nil && l.mask>>(o+i)&1 != 0:
				v |= uint64(l.data[o+i]) << (8 * i)
			case data != nil && known>>(o+i)&1 != 0:
				v |= uint64(data[o+i]) << (8 * i)
			}
		}
		return v
	}
	for i := 0; i < size; i++ {
		b, _ := p.peek(addr + uint64(i))
		v |= uint64(b) << (8 * i)
	}
	return v
}

// peek returns one byte as the participant sees it.
func (p *participant) peek(addr uint64) (byte, bool) {
	if b, ok := p.run.mem.Get(p.canonAddr(addr)); ok {
		return b, true
	}
	data, known := p.view(addr >> 6)
	if data == nil || known>>(addr&63)&1 == 0 {
		return 0, false
	}
	return data[addr&63], true
}

// resolve makes missing bytes of the line of addr known, or ends the
// experiment. The sources, best first: the thread's own later imports, the
// other participant's knowledge, what elsewhere in the recording agrees on.
// update says that the instruction writes there, too.
func (p *participant) resolve(addr, missing uint64, update bool) {
	n := addr >> 6
	for i := p.next; i < len(p.sec.Inputs) && missing != 0; i++ {
		in := &p.sec.Inputs[i]
		if in.Kind == InImport && in.Line == n && in.Given&missing != 0 {
			p.learn(n, &in.Data, in.Given&missing)
			p.assumed++
			missing &^= in.Given
		}
	}
	for _, q := range p.run.parts {
		if q == p {
			continue
		}
		if data, known := q.view(n); data != nil && known&missing != 0 {
			p.learn(n, data, known&missing)
			p.assumed++
			missing &^= known
		}
		for i := 0; i < len(q.sec.Inputs) && missing != 0; i++ {
			if in := &q.sec.Inputs[i]; in.Kind == InImport && in.Line == n && in.Given&missing != 0 {
				p.learn(n, &in.Data, in.Given&missing)
				p.assumed++
				missing &^= in.Given
			}
		}
	}
	if missing == 0 {
		return
	}
	// Own stack below the frame that the section starts in: nobody else's
	// business, and uninitialised in the real run as well.
	if a := n << 6; p.sec.OnStack(a) && p.sec.SP-a < 1<<20 {
		var zero [64]byte
		p.learn(n, &zero, missing)
		return
	}
	if p.run.elsewhere != nil {
		if data, known := p.run.elsewhere(n); known&missing != 0 {
			p.learn(n, data, known&missing)
			p.assumed++
			missing &^= known
		}
	}
	if missing == 0 {
		return
	}
	if overlaps(p.run.fresh, n<<6, 64) {
		var zero [64]byte
		p.learn(n, &zero, missing)
		return
	}
	a := n << 6
	for ; missing&1 == 0; missing >>= 1 {
		a++
	}
	p.mapped(a, update)
	x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: &unknownError{a}})
}

// mapped raises a page fault where nothing was ever mapped.
func (p *participant) mapped(addr uint64, write bool) {
	if p.run.unmapped == nil || overlaps(p.run.fresh, addr, 1) || !p.run.unmapped(addr) {
		return
	}
	s := &x86.Stop{Kind: x86.StopFault, Vector: x86.VecPF, Addr: addr, Code: pfUser}
	if write {
		s.Code |= pfWrite
	}
	x86.Raise(s)
}

// Bits of a page fault's error code (Intel SDM volume 3, 4.7).
const (
	pfWrite = 1 << 1
	pfUser  = 1 << 2
	pfFetch = 1 << 4
)

// Store serves x86.Watcher: what is written goes to the overlay.
func (p *participant) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	p.freedAt(addr, size, "writes")
	p.beyond(addr, size, true)
	p.racing(c, addr, size, x86.Write, true)
	if p.isRacy(addr, size) {
		p.racy.stored(addr, size, p.read(addr, size), v)
	}
	line := p.canon(addr >> 6)
	l := p.run.mem.own(line)
	mask := byteMask(addr, size)
	if l.mask == 0 {
		if _, known := p.view(addr >> 6); known == 0 {
			p.mapped(addr, true)
		}
	}
	if p.run.log != nil {
		p.run.log.flush(p)
		p.run.log.stored(p, addr, size, v)
	}
	if !p.ownStack(addr) {
		p.change(addr, size, v)
	}
	if len(p.run.track) != 0 && !c.Atomic() && p.tracked(addr, size) {
		p.rewrites++
		p.overwrote = true
	}
	p.changes(line, l)
	o := addr & 63
	for i := uint64(0); i < uint64(size); i++ {
		l.data[o+i] = byte(v >> (8 * i))
	}
	l.mask |= mask
	if p.run.checks != nil {
		p.run.checks.filled(addr, size)
	}
	if len(p.streams) > 0 {
		if p.text(addr, size, v) {
			return
		}
		p.moved(addr, size)
	}
	p.run.wrote(p, line, mask)
}

// change accounts for a store to memory that others may see: a sum over the
// differences, by place, comes back to what it was when the memory does.
func (p *participant) change(addr uint64, size int, v uint64) {
	old := p.read(addr, size)
	for i := uint64(0); i < uint64(size); i++ {
		if was, is := old>>(8*i)&0xff, v>>(8*i)&0xff; was != is {
			p.sum += (is - was) * ((addr+i)*0x9e3779b97f4a7c15>>7 | 1)
		}
	}
}

// news notes whether foreign memory is in a state that the participant didn't
// leave it in lately: one that waits goes through the same states again.
func (p *participant) news() {
	for i := 0; i < min(p.nsums, len(p.sums)); i++ {
		if p.sums[i] == p.sum {
			return
		}
	}
	p.sums[p.nsums%len(p.sums)] = p.sum
	p.nsums++
	p.lastNew = p.executed
	p.forgetPolls()
}

func (p *participant) ownStack(addr uint64) bool { return p.sec.OnStack(addr) }

// racing counts racing accesses and pauses before the one asked for.
func (p *participant) racing(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, store bool) {
	if !p.isRacy(addr, size) {
		return
	}
	if p.stopPC != 0 && c.PC() == p.stopPC {
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errPause})
	}
	at := p.count()
	if at == p.counted && (!store || p.half) {
		return // counted before, or a second piece of the same access
	}
	first := at != p.counted
	if p.hits+1 == p.stopAt && first {
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errPause})
	}
	if kind == x86.Update && !c.Atomic() && p.hits+2 == p.stopAt && c.CanSplit() {
		// The store half is the one to pause before; only the processor can
		// stop between the halves.
		p.hit(c.PC())
		p.counted, p.half = at, false
		x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errSplit})
	}
	p.hit(c.PC())
	p.counted, p.half = at, store
}

// hit counts a racing access.
func (p *participant) hit(pc uint64) {
	p.hits++
	if len(p.hitPCs) < maxHitPCs {
		p.hitPCs = append(p.hitPCs, pc)
	}
}

// Orderable serves x86.Env: experiments have no order to keep.
func (p *participant) Orderable(c *x86.CPU, addr uint64, size int) {
	if p.run.log != nil {
		p.run.log.orderable(p, addr, size)
	}
}

// Nondet serves x86.Env: the recorded registers while on the recorded path.
func (p *participant) Nondet(c *x86.CPU, what x86.NondetKind, dst uint8, size int) {
	for i := p.next; i < len(p.sec.Inputs); i++ {
		in := &p.sec.Inputs[i]
		if in.Kind != InNondet || in.What != what {
			continue
		}
		if !p.diverged && in.At != p.count() {
			continue
		}
		if x86.SetNondetRegs(c, what, dst, in.Regs) {
			if p.run.log != nil {
				p.run.log.nondet(p, what, dst)
			}
			return
		}
	}
	x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: fmt.Errorf("result of a non-deterministic instruction that was not recorded here")})
}
