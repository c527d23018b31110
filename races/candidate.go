package races

import (
	"math/bits"

	"github.com/racesim/racesim/emulate"
)

// A Reason says by which rule two accesses conflict.
type Reason uint8

const (
	_          Reason = iota
	DataRace          // two unordered accesses to data, one of them a write
	MixedRace         // an update that isn't atomic of a variable that others update
	FreeRace          // a block is freed while another thread may still use it
	LifeRace          // an object is used while another thread may begin or end its life
	Predicted         // not in this execution, but in a reordering of it (Predictor)
	nofReasons        // number of reasons
)

var reasonNames = [nofReasons]string{"invalid", "data race", "update not atomic", "use unordered with free", "use unordered with beginning or end", "predicted race"}

func (r Reason) String() string {
	if r < nofReasons {
		return reasonNames[r]
	}
	return "invalid"
}

// A Pair is two accesses that conflict; First is the earlier one in the order
// of the recording.
type Pair struct{ First, Second Access }

// A Candidate stands for all conflicts of two instructions on one variable.
type Candidate struct {
	ID     int // from 0, in the order of discovery
	Reason Reason
	Object ObjectKind // what LifeRace is about; Addr is its address or number, Size its bytes
	// Addr and Size are the bytes that both accesses of the first pair touch,
	// at the address that the second one used.
	Addr emulate.Addr
	Size int
	// First and Second are the first pair found. Accesses are cut to the
	// 8-byte granule of the conflict.
	First, Second Access
	// Order is the order that leaves them unordered: ScopeUser, or
	// ScopeInternal (then neither order has them) if one is internal.
	Order Scope
	Count uint64 // pairs merged
	// Samples are pairs that differ in direction, threads or contexts, the
	// first one first; their number is bounded by Config.MaxSamples. The last
	// one, if there were many pairs, is a late one: first times are special.
	Samples []Pair
	// Block is the heap block of the first pair, as it was then (ID 0: none).
	Block Block
	late  bool // the last of Samples is a late one
}

// lateSample is the number of pairs from which on late samples are kept: at
// every power of two.
const lateSample = 16

type candidateKey struct {
	pc1, pc2     uint64 // ascending
	kind1, kind2 Kind
	heap         bool
	class        uint64
	reason       Reason
}

type sampleKey struct {
	candidate        int32
	thread1, thread2 emulate.ThreadID
	ctx1, ctx2       uint32
}

// candidates merges conflicts.
type candidates struct {
	byKey   map[candidateKey]*Candidate
	list    []*Candidate
	samples map[sampleKey]struct{}
}

func (s *candidates) init() {
	s.byKey = map[candidateKey]*Candidate{}
	s.samples = map[sampleKey]struct{}{}
}

// Candidates lists what was found, in the order of discovery. They are the
// detector's until it is fed no more: Count and Samples still grow.
func (d *Detector) Candidates() []*Candidate { return d.candidates.list }

// conflict reports that the cell c and an access to the bytes m at a's granule
// are unordered.
func (d *Detector) conflict(t *thread, c *cell, a, m, orig, b uint64, e *Event, v uint64, locks LocksetID) {
	d.stats.Conflicts++
	if (b|c.bits())&bitCoarse != 0 {
		if d.cfg.Suspect != nil {
			d.cfg.Suspect(a >> lineShift)
		}
		return
	}
	kind := Kind(b&bitsKind) + 1
	reason := DataRace
	object, id := objectAt(a)
	switch {
	case object != 0:
		reason = LifeRace
		if kind == Free {
			reason = FreeRace
		}
		a = id
	case kind == Free || c.kind() == Free:
		reason = FreeRace
	case (b|c.bits())&(uint64(Atomic)|bitPaired) != 0 || d.isSync(a, m&c.mask()):
		reason = MixedRace
	}
	key := candidateKey{pc1: c.pc >> 16, kind1: c.kind(), pc2: e.PC, kind2: kind, reason: reason}
	if key.pc1 > key.pc2 || key.pc1 == key.pc2 && key.kind1 > key.kind2 {
		key.pc1, key.kind1, key.pc2, key.kind2 = key.pc2, key.kind2, key.pc1, key.kind1
	}
	var block *Block
	if object != ObjDescriptor {
		block = d.blocks.find(a)
	}
	if block != nil {
		key.heap, key.class = true, uint64(block.Ctx)
	} else if d.cfg.Class != nil && object != ObjDescriptor {
		key.class = d.cfg.Class(emulate.Addr(a))
	}
	k := d.candidates.byKey[key]
	isNew := k == nil
	if isNew {
		k = &Candidate{ID: len(d.candidates.list), Reason: reason, Order: ScopeUser}
		d.candidates.byKey[key] = k
		d.candidates.list = append(d.candidates.list, k)
	}
	k.Count++
	late := k.Count >= lateSample && k.Count&(k.Count-1) == 0
	first := d.slotThread(c.slot(), c.epoch())
	if !late {
		if len(k.Samples) >= d.cfg.MaxSamples {
			return
		}
		s := sampleKey{int32(k.ID), first, t.id, c.ctx, e.Ctx}
		if _, dup := d.candidates.samples[s]; dup && !isNew {
			return
		}
		d.candidates.samples[s] = struct{}{}
	}
	base := emulate.Addr(a &^ 7)
	p := Pair{
		First: access(base, c.orig(), c.bits(), Access{Thread: first, PC: c.pc >> 16, Ctx: c.ctx,
			Count: emulate.Count(c.count), Value: c.value, Locks: c.locks}),
		Second: access(base, orig, b, Access{Thread: t.id, PC: e.PC, Ctx: e.Ctx,
			Count: e.Count, Value: v, Locks: locks}),
	}
	if object != 0 {
		p.First.Addr, p.Second.Addr = emulate.Addr(id), emulate.Addr(id)
	}
	switch n := len(k.Samples); {
	case late && k.late:
		k.Samples[n-1] = p
	case late && n >= d.cfg.MaxSamples && n > 1:
		k.Samples[n-1] = p
	case k.late:
		k.Samples = append(k.Samples[:n-1], p, k.Samples[n-1])
	default:
		k.Samples = append(k.Samples, p)
	}
	k.late = k.late || late
	if !isNew {
		return
	}
	k.First, k.Second = p.First, p.Second
	if object != 0 {
		k.Object, k.Addr, k.Size = object, emulate.Addr(id), max(int(e.N), 1)
		if block != nil {
			k.Block = *block
		}
		if d.cfg.Report != nil {
			d.cfg.Report(k)
		}
		return
	}
	o := c.mask() & m
	low := bits.TrailingZeros64(o)
	k.Addr, k.Size = base+emulate.Addr(low), bits.Len64(o)-low
	if (b|c.bits())&uint64(Internal) != 0 {
		k.Order = ScopeInternal
	}
	if block != nil {
		k.Block = *block
	}
	if d.cfg.Report != nil {
		d.cfg.Report(k)
	}
}

// access completes x from a cell's original mask and bits.
func access(base emulate.Addr, orig, b uint64, x Access) Access {
	low := bits.TrailingZeros64(orig)
	x.Addr, x.Size = base+emulate.Addr(low), bits.Len64(orig)-low
	x.Kind = Kind(b&bitsKind) + 1
	x.Atomic = b&uint64(Atomic) != 0
	x.Internal = b&uint64(Internal) != 0
	x.Kernel = b&uint64(Kernel) != 0
	x.Paired = b&bitPaired != 0
	if x.Size < 8 {
		x.Value &= 1<<(8*x.Size) - 1
	}
	return x
}

// isSync says whether some bytes of m belong to a synchronisation variable.
func (d *Detector) isSync(a, m uint64) bool {
	g := d.granule(a)
	return g.sync != nil && uint64(g.sync.mask)&m != 0
}
