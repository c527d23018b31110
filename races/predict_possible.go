package races

import (
	"math"
	"math/bits"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// What a Predictor proves needs every read to see what it saw. Threads that
// would see something else, another number of references, another element of a
// queue, a lock that was never taken, may come to the same accesses all the
// same. Whether they do, only executing them can tell. Possible lists what is
// worth that: conflicting accesses without a common lock that neither creation
// nor join nor a message keeps in their order. It is far too much to be reported.

// possibleSamples is the number of pairs kept of each possible conflict.
const possibleSamples = 3

// maxPossible bounds the possible conflicts kept.
const maxPossible = 4096

// A place is an access of the recording.
type place struct {
	thread emulate.ThreadID
	count  emulate.Count
}

// A possible is a candidate under way.
type possible struct {
	key   candidateKey
	cand  *Candidate
	apart []uint32 // of each sample: events of the recording between the two
}

// A recent is what was lately looked up: pairs of these instructions that are
// at least this far apart add nothing.
type recent struct {
	pc1, pc2 uint64
	line     uint64
	apart    uint32
}

// Possible lists the conflicts that an execution with other values might show,
// those whose accesses are closest to each other first. Their Reason is
// Predicted; nothing is proved. None of them is among Candidates.
func (p *Predictor) Possible() []*Candidate {
	l := append([]*possible(nil), p.maybeList...)
	sort.SliceStable(l, func(i, j int) bool { return l[i].apart[0] < l[j].apart[0] })
	var out []*Candidate
	for _, x := range l {
		if p.byKey[x.key] == nil {
			out = append(out, x.cand)
		}
	}
	return out
}

// Outer returns the instruction of x's thread before which it held none of the
// locks that it holds at x, an access in a candidate's Samples; false if it
// holds none.
func (p *Predictor) Outer(x *Access) (emulate.Count, bool) {
	c, ok := p.outers[place{x.Thread, x.Count}]
	return c, ok
}

// sampled notes what Outer needs of an access.
func (p *Predictor) sampled(a *predAccess) {
	t := p.slots[a.before.slot]
	i := int(a.sections) - 1 - t.left
	if a.locks == 0 || i < 0 || i >= len(t.entered) || t.entered[i] == 0 {
		return
	}
	p.outers[place{t.id, a.count}] = t.entered[i]
}

// enters notes a critical section that t begins; call is the instruction that
// calls for the lock.
func (t *predThread) enters(call emulate.Count) {
	if n := len(t.entered); n > 0 && len(t.held) > 0 {
		call = t.entered[n-1]
	}
	if len(t.entered) == maxEnds {
		t.left += maxEnds / 2
		t.entered = append(t.entered[:0], t.entered[maxEnds/2:]...)
	}
	t.entered = append(t.entered, call)
}

// must is learn for what can't come in another order.
func (p *Predictor) must(t *predThread, c clock) {
	if k := p.clocks[t.must]; k.news(c) {
		n := append(make(clock, 0, max(len(k), len(c))), k...)
		n.grow(len(c))
		n.join(c)
		t.must = p.newClock(n)
	}
}

// alone says whether t, the only thread that hasn't ended, comes after all that
// others have done, in any order. Then its accesses meet nobody's, and what it
// reads it depends on anyway.
func (p *Predictor) alone(t *predThread) bool {
	if !t.started || t.ended {
		return false
	}
	for must := p.clocks[t.must]; p.joined < len(p.slots); p.joined++ {
		if u := p.slots[p.joined]; u != t && (p.joined >= len(must) || must[p.joined] < u.last) {
			return false
		}
	}
	return true
}

// mustPost is post for what can't come in another order. It follows post.
func (p *Predictor) mustPost(t *predThread, o Object) {
	if o.Kind == ObjFutex {
		return
	}
	c := p.hard[o]
	k := p.clocks[t.must]
	c.grow(max(len(k), t.slot+1))
	c.join(k)
	c[t.slot] = max(c[t.slot], t.n)
	p.hard[o] = c
}

// mustStart orders a thread after its creation.
func (p *Predictor) mustStart(t, parent *predThread) {
	c := append(clock(nil), p.clocks[parent.must]...)
	c.grow(parent.slot + 1)
	c[parent.slot] = parent.n
	p.must(t, c)
}

// possible notes first and second, accesses to a's granule, unless they can't
// change places.
func (p *Predictor) possible(a uint64, first, second *predAccess) {
	apart := second.at - first.at
	r := &p.recents[(first.pc*31+second.pc*7+a>>lineShift)%uint64(len(p.recents))]
	if r.pc1 == first.pc && r.pc2 == second.pc && r.line == a>>lineShift && apart >= r.apart {
		return
	}
	must := p.clocks[p.slots[second.before.slot].must]
	if s := int(first.before.slot); s < len(must) && must[s] > first.before.n || first.coarse() || second.coarse() {
		return
	}
	if shareLock(p.sets[first.locks], p.sets[second.locks]) {
		return
	}
	x, y := p.expand(first, a), p.expand(second, a)
	addr, size, key := p.keyOf(a, first, second, &x, &y)
	m := p.maybe[key]
	if m == nil {
		if len(p.maybeList) == maxPossible {
			return
		}
		m = &possible{key: key, cand: &Candidate{Reason: Predicted, Order: ScopeUser}}
		p.maybe[key] = m
		p.maybeList = append(p.maybeList, m)
	}
	c := m.cand
	c.Count++
	i := sort.Search(len(m.apart), func(i int) bool { return m.apart[i] > apart })
	if i < possibleSamples {
		m.apart = append(m.apart[:i], append([]uint32{apart}, m.apart[i:]...)...)
		c.Samples = append(c.Samples[:i], append([]Pair{{x, y}}, c.Samples[i:]...)...)
		if len(m.apart) > possibleSamples {
			m.apart, c.Samples = m.apart[:possibleSamples], c.Samples[:possibleSamples]
		}
		p.sampled(first)
		p.sampled(second)
		if i == 0 {
			c.First, c.Second, c.Addr, c.Size, c.Block = x, y, addr, size, p.block(addr)
		}
	}
	*r = recent{first.pc, second.pc, a >> lineShift, math.MaxUint32}
	if len(m.apart) == possibleSamples {
		r.apart = m.apart[possibleSamples-1]
	}
}

// keyOf says what two accesses to a's granule have in common, and which
// candidate they belong to.
func (p *Predictor) keyOf(a uint64, first, second *predAccess, x, y *Access) (addr emulate.Addr, size int, key candidateKey) {
	key = candidateKey{pc1: x.PC, kind1: x.Kind, pc2: y.PC, kind2: y.Kind, reason: Predicted}
	if key.pc1 > key.pc2 || key.pc1 == key.pc2 && key.kind1 > key.kind2 {
		key.pc1, key.kind1, key.pc2, key.kind2 = key.pc2, key.kind2, key.pc1, key.kind1
	}
	low := bits.TrailingZeros8(first.mask & second.mask)
	addr, size = emulate.Addr(a&^7+uint64(low)), bits.Len8(first.mask&second.mask)-low
	if p.cfg.Class != nil {
		key.class = p.cfg.Class(addr)
	}
	return addr, size, key
}

func (p *Predictor) block(addr emulate.Addr) Block {
	if p.cfg.Block == nil {
		return Block{}
	}
	return p.cfg.Block(addr)
}
