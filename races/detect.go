package races

import (
	"fmt"
	"math/bits"

	"github.com/racesim/racesim/emulate"
)

// A Config says how a Detector works. The zero value is usable.
type Config struct {
	// Sync are the synchronisation variables known up front.
	Sync []SyncVar

	// Canon maps an address to the one that all mappings of the same memory
	// share, keeping the offset in the page; nil: no aliases. It is asked
	// once per page and mapping. Addresses for shared memory are best taken
	// from outside the guest's address space: they must not be those of a
	// mapping that ends while another one of the same memory lives.
	Canon func(emulate.Addr) emulate.Addr

	// Class tells variables outside heap blocks apart: conflicts of the same
	// two instructions are one candidate if they have the same class. nil:
	// they are the same variable. It is asked at conflicts only.
	Class func(emulate.Addr) uint64

	// Suspect, if set, is called with the line (address >> 6) of a conflict in
	// which an access is Coarse: whether there is one, and of which bytes, only
	// the single accesses can tell.
	Suspect func(line uint64)

	// Report, if set, is called when a candidate gets its first pair.
	Report func(*Candidate)

	// MaxSamples bounds the pairs kept for each candidate (default 4).
	MaxSamples int

	// Sites is the number of instructions of one thread that are remembered
	// for each kind of access to a byte (default 3). One is enough to find
	// that a byte is raced for; more of them tell more of the instructions
	// that take part.
	Sites int

	// MaxSlots bounds the threads that take part in vector clocks at one time
	// (default 4096, at most 65535). When they are used up, the thread that
	// ended first counts as joined by everyone: see Stats.ForcedJoins.
	MaxSlots int

	// Memory bounds what is kept of accesses, in bytes, about (default 1 GiB);
	// see Forgot.
	Memory int64
}

// Stats count what a Detector did.
type Stats struct {
	Events      uint64
	Conflicts   uint64 // conflicting pairs, before merging
	ForcedJoins uint64 // threads that counted as joined for want of slots: conflicts with them may be missed
}

// A Detector finds the conflicts in one recording. It isn't safe for
// concurrent use.
type Detector struct {
	cfg   Config
	stats Stats

	threads   []*thread // by ThreadID
	live      []*thread
	strands   map[uint64]*thread
	bases     map[emulate.ThreadID]*thread // of threads that execute strands: themselves
	slotEpoch []uint32                     // of dead slots: their last epoch
	slotUses  [][]slotUse
	deadSlots []int // in order of death
	joined    int   // of deadSlots, from the first one: ordered before the only thread that lives

	cache      [cacheSize]pageCacheEntry
	pages      map[uint64]*shadowPage // by virtual page
	canonPages map[uint64]*shadowPage // by canonical page, with Config.Canon
	freePages  []*shadowPage
	freeCells  [40][][]cell // by log2 of the capacity
	slab       []cell
	used       int64 // bytes
	pruneAt    int64 // check is due when there is more
	forgot     Forgot
	keep       []cell // scratch

	decls    map[uint64][]*decl // by virtual page
	declList []*decl
	objects  map[Object]*clocks

	blocks     blocks
	locks      locks
	candidates candidates

	primitives bool // some were used; see lives.go
}

// New returns a Detector that has seen nothing.
func New(cfg Config) *Detector {
	if cfg.MaxSamples <= 0 {
		cfg.MaxSamples = 4
	}
	if cfg.Sites <= 0 {
		cfg.Sites = 3
	}
	if cfg.MaxSlots <= 0 {
		cfg.MaxSlots = 4096
	}
	cfg.MaxSlots = min(cfg.MaxSlots, 1<<16-1)
	if cfg.Memory <= 0 {
		cfg.Memory = 1 << 30
	}
	d := &Detector{
		cfg:        cfg,
		pruneAt:    cfg.Memory / 4,
		pages:      map[uint64]*shadowPage{},
		canonPages: map[uint64]*shadowPage{},
		decls:      map[uint64][]*decl{},
		objects:    map[Object]*clocks{},
	}
	d.blocks.buckets = map[uint64][]int32{}
	d.locks.init()
	d.candidates.init()
	for i := range cfg.Sync {
		d.declare(&cfg.Sync[i])
	}
	return d
}

// Stats returns the counts so far.
func (d *Detector) Stats() Stats { return d.stats }

// Feed takes the next event. The event is the caller's again when Feed
// returns.
func (d *Detector) Feed(e *Event) {
	if d.stats.Events++; d.stats.Events%shadowCheck == 0 {
		d.check()
	}
	switch {
	case e.Op != OpAccess:
		d.other(e)
	case e.Flags&Coarse != 0:
		d.coarse(e)
	default:
		d.access(e)
	}
}

// coarse enters an access that stands for many of its line, as far as bytes of
// data go.
func (d *Detector) coarse(e *Event) {
	t := d.thread(e.Thread)
	base := uint64(e.Addr) &^ (lineSize - 1)
	for a := base; a < base+lineSize; a += 8 {
		g := d.granule(a)
		m := uint64(0xff)
		if g.sync != nil {
			m &^= uint64(g.sync.mask)
		}
		if m != 0 {
			d.data(t, g, a, m, m, accessBits(e)|bitCoarse, e, 0, t.locks)
		}
	}
}

func (d *Detector) other(e *Event) {
	switch e.Op {
	case OpAcquire:
		t := d.actor(e)
		t.load.valid = false
		t.acquire(d.object(Object{e.Object, e.Value}), objectScope(e))
	case OpRelease:
		t := d.actor(e)
		t.load.valid = false
		d.object(Object{e.Object, e.Value}).release(&t.clocks, objectScope(e))
		d.advance(t)
	case OpFence:
		d.thread(e.Thread).load.valid = false
	case OpThreadStart:
		d.startThread(e.Thread, emulate.ThreadID(e.Value)).started = true
	case OpThreadExit:
		d.exitThread(e)
	case OpJoin:
		d.join(d.thread(e.Thread), emulate.ThreadID(e.Value))
	case OpAlloc:
		d.clear(e.Addr, e.N, false)
		d.blocks.add(e.Addr, e.N, e.Thread, e.Ctx, e.Count).PC = e.PC
	case OpFree:
		d.freeBlock(e)
	case OpReset:
		d.clear(e.Addr, e.N, true)
		d.blocks.remove(e.Addr, e.N)
	case OpLock:
		d.lock(d.thread(e.Thread), e)
	case OpUnlock:
		d.unlock(d.thread(e.Thread), e)
	case OpUse:
		d.use(d.thread(e.Thread), e)
	case OpRenew:
		d.renew(e)
	case OpTired:
	case OpWait:
		d.thread(e.Thread).waits = emulate.ThreadID(e.Value)
	case OpSwitch:
		d.switchStrand(e.Thread, e.Strand, e.Value != 0)
	case OpStrandEnd:
		d.endStrand(e.Strand)
	case OpHand:
		d.hand(e.Value, e.Strand)
	case OpSpawn:
		t := d.thread(e.Thread)
		d.strand(e.Strand).acquire(&t.clocks, ScopeUser)
		d.advance(t)
	case OpGather:
		d.gather(d.thread(e.Thread))
	case OpForget:
		delete(d.objects, Object{e.Object, e.Value})
	case OpFresh:
		d.clear(e.Addr, e.N, false)
	default:
		panic(fmt.Sprintf("BUG: races: event with operation %d", e.Op))
	}
}

func objectScope(e *Event) Scope {
	if e.Scope == ScopeDefault {
		return ScopeUser
	}
	return e.Scope
}

func (d *Detector) object(o Object) *clocks {
	c := d.objects[o]
	if c == nil {
		c = new(clocks)
		d.objects[o] = c
	}
	return c
}

// accessBits returns the bits that a cell of e has.
func accessBits(e *Event) uint64 { return uint64(e.Kind-1) | uint64(e.Flags&flagMask) }

func popcount(m uint64) int { return bits.OnesCount64(m) }

// maxPC are the bits of an instruction's address that cells keep: user space
// has no others.
const maxPC = 1<<48 - 1

// access handles one access. The first lines are the common case: the thread
// did the same in this epoch already, and nothing conflicted with it since.
func (d *Detector) access(e *Event) {
	t := d.thread(e.Thread)
	a := uint64(e.Addr)
	if off := a & 7; e.N+off <= 8 && e.Flags&Atomic == 0 && !e.Typed && e.Kind-1 < 4 && e.N-1 < 8 {
		if len(d.live) == 1 && d.alone(t) && !d.orders(a) {
			return
		}
		m := uint64(1)<<e.N - 1
		m <<= off
		g := d.granule(a)
		if g.sync == nil {
			h := t.head | accessBits(e)<<8 | m
			for i := range g.cells {
				if c := &g.cells[i]; c.head == h && c.pc>>16 == e.PC&maxPC {
					c.count = uint64(e.Count)
					c.value = e.Value
					c.ctx = e.Ctx
					c.locks = t.locks
					return
				}
			}
			d.data(t, g, a, m, m, accessBits(e), e, e.Value, t.locks)
			return
		}
	}
	d.pieces(t, e)
}

// pieces handles an access granule by granule.
func (d *Detector) pieces(t *thread, e *Event) {
	if e.Kind < Read || e.Kind > Free {
		panic(fmt.Sprintf("BUG: races: access of kind %d", e.Kind))
	}
	if e.Flags&Atomic != 0 || e.Typed {
		d.promote(e)
	}
	released := false
	a, n, v := uint64(e.Addr), e.N, e.Value
	for n > 0 {
		k := min(8-a&7, n)
		m := byteMask(a&7, a&7+k)
		g := d.granule(a)
		released = d.piece(t, g, a, m, e, v) || released
		a += k
		n -= k
		if k < 8 {
			v >>= 8 * k
		} else {
			v = 0
		}
	}
	if released {
		d.advance(t)
	}
}

// piece handles what an access does to the bytes m of one granule.
func (d *Detector) piece(t *thread, g *granule, a, m uint64, e *Event, v uint64) (released bool) {
	data := m
	if g.sync != nil {
		data &^= uint64(g.sync.mask)
		if s := m & uint64(g.sync.mask); s != 0 {
			released = d.sync(t, g, a, s, m, e, v, t.locks)
		}
	}
	if data != 0 {
		d.data(t, g, a, data, m, accessBits(e), e, v, t.locks)
	}
	return released
}

// promote makes the bytes of an atomic access a synchronisation variable,
// unless they are.
func (d *Detector) promote(e *Event) {
	end := uint64(e.Addr) + e.N
	for a := uint64(e.Addr); a < end; a = a&^7 + 8 {
		m := uint8(byteMask(a&7, min(end-a&^7, 8)))
		if g := d.granule(a); g.sync == nil || g.sync.mask&m != m {
			n := len(d.declList)
			sv := SyncVar{Addr: e.Addr, Size: int(e.N)}
			if e.Flags&Atomic == 0 {
				sv.Lives = []int{0} // until the memory is used for something else
			}
			v := d.declare(&sv)
			v.late = v.late || len(d.declList) > n
			return
		}
	}
}

// data handles an access to bytes that aren't for synchronisation: it compares
// it with the cells of other threads, drops the cells that it makes
// superfluous, and enters its own. orig are all bytes of the access in this
// granule, of which m are to be handled.
func (d *Detector) data(t *thread, g *granule, a, m, orig, b uint64, e *Event, v uint64, locks LocksetID) {
	if len(g.cells) == 0 {
		d.wasFreed(g, a)
	}
	internal := b & uint64(Internal)
	kept := 0
	covered := false
	sites := d.cfg.Sites
	for i := range g.cells {
		if c := &g.cells[i]; c.head&m != 0 && c.slot() == t.slot && (c.bits()^b)&bitsKind == 0 && c.pc>>16 != e.PC&maxPC {
			sites--
		}
	}
	for i := range g.cells {
		c := &g.cells[i]
		gone := false
		if c.head&m != 0 {
			// Each access makes superfluous what can conflict with nothing
			// more: internal accesses don't replace user ones.
			cb := c.bits()
			replace := internal <= cb&uint64(Internal)
			if c.slot() == t.slot {
				if (cb^b)&bitsKind != 0 {
					replace = false
				} else if c.pc>>16 != e.PC&maxPC {
					// Another instruction: the oldest makes room.
					replace = replace && sites <= 0
					if replace {
						sites++
					}
				} else if c.epoch() == t.epoch && c.head&m == m && cb&uint64(Internal) <= internal && cb&bitStale == 0 {
					covered = true
					replace = false
				}
			} else {
				conflicts := (cb|b)&bitsKind != bitRead
				ordered := d.ordered(c, b, &t.clocks)
				if conflicts && !ordered {
					d.conflict(t, c, a, m, orig, b, e, v, locks)
					c.head |= bitStale << 8
				}
				// A read only takes the place of reads.
				replace = replace && ordered && (b&bitsKind != bitRead || cb&bitsKind == bitRead)
			}
			if replace {
				c.head &^= m
				gone = c.head&0xff == 0
			}
		}
		if gone {
			continue
		}
		if kept != i {
			g.cells[kept] = *c
		}
		kept++
	}
	g.cells = g.cells[:kept]
	if covered {
		return
	}
	if kept == cap(g.cells) {
		d.growCells(g)
		kept = len(g.cells)
	}
	g.cells = g.cells[:kept+1]
	g.cells[kept] = newCell(t, m, orig, b, e, v, locks)
}

func newCell(t *thread, m, orig, b uint64, e *Event, v uint64, locks LocksetID) cell {
	return cell{head: t.head | b<<8 | m, pc: e.PC<<16 | orig<<8, count: uint64(e.Count), value: v, ctx: e.Ctx, locks: locks}
}

// ordered says whether cell c, of another slot, is ordered before an access
// with the given bits by a thread that knows at.
func (d *Detector) ordered(c *cell, b uint64, at *clocks) bool {
	k := at.user
	if (c.bits()|b)&uint64(Internal) != 0 {
		k = at.full
	}
	s := c.slot()
	return s < len(k) && c.epoch() <= k[s]
}

// freeBlock handles the end of a block: a write access to all of it. Only
// memory that was touched gets cells; the rest is asked for when it is.
func (d *Detector) freeBlock(e *Event) {
	t := d.thread(e.Thread)
	n := e.N
	if b := d.blocks.find(uint64(e.Addr)); b != nil && b.Addr == e.Addr && !b.Freed {
		if n == 0 {
			n = b.Size
		}
		f := *e
		f.Kind = Free
		b.Freed, b.FreeThread, b.FreeCtx, b.FreePC = true, e.Thread, e.Ctx, e.PC
		b.free = newCell(t, 0xff, 0xff, accessBits(&f), &f, 0, t.locks)
		d.blocks.freed++
	}
	f := *e
	f.Kind, f.Value, f.Flags = Free, 0, e.Flags&^Atomic
	lo, hi := uint64(e.Addr), uint64(e.Addr)+n
	d.freedPrimitives(t, lo, hi, &f)
	for a := lo; a < hi; {
		p := d.pages[a>>pageShift]
		if p == nil {
			a = (a>>pageShift + 1) << pageShift
			continue
		}
		g := &p.gran[a>>granuleShift%pageGranules]
		end := min(a&^7+8, hi)
		if len(g.cells) > 0 {
			d.piece(t, g, a, byteMask(a&7, end-a&^7), &f, 0)
		}
		a = end
	}
}

// wasFreed enters what freed the block that holds a, if it is dead, into the
// empty list of g.
func (d *Detector) wasFreed(g *granule, a uint64) {
	if d.blocks.freed == 0 {
		return
	}
	b := d.blocks.find(a)
	if b == nil || !b.Freed {
		return
	}
	lo, hi := max(uint64(b.Addr), a&^7), min(uint64(b.Addr)+b.Size, a&^7+8)
	c := b.free
	m := byteMask(lo&7, lo&7+hi-lo)
	c.head = c.head&^0xff | m
	c.pc = c.pc&^0xff00 | m<<8
	d.put(g, c)
}
