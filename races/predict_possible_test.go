package races

import (
	"testing"

	"github.com/racesim/racesim/emulate"
)

// What is read under a lock keeps the accesses apart for what is proved on
// events, but executing another order may bring them together. Creation, join
// and messages may not.
func TestPossible(t *testing.T) {
	const lock, data, shared = 0x1000, 0x2000, 0x3000
	access := func(id emulate.ThreadID, k Kind, addr emulate.Addr, pc uint64) *Event {
		return &Event{Op: OpAccess, Kind: k, Scope: ScopeUser, Thread: id, Addr: addr, N: 4, PC: pc, Count: emulate.Count(pc)}
	}
	locked := func(id emulate.ThreadID, call uint64, es ...*Event) []*Event {
		out := []*Event{{Op: OpLock, Thread: id, Addr: lock, N: call}}
		return append(append(out, es...), &Event{Op: OpUnlock, Thread: id, Addr: lock})
	}
	run := func(es ...[]*Event) *Predictor {
		p := NewPredictor(PredictConfig{})
		for _, id := range []emulate.ThreadID{2, 3} {
			p.Feed(&Event{Op: OpThreadStart, Thread: id, Value: 1})
		}
		for _, l := range es {
			for _, e := range l {
				p.Feed(e)
			}
		}
		return p
	}
	update := func(id emulate.ThreadID, pc uint64) *Event { return access(id, Update, shared, pc) }
	first, second := access(2, Write, data, 10), access(3, Write, data, 20)

	p := run([]*Event{first}, locked(2, 11, update(2, 12)), locked(3, 13, update(3, 14)), []*Event{second})
	if n := len(p.Candidates()); n != 0 {
		t.Errorf("%d conflicts are taken for proved", n)
	}
	if l := p.Possible(); len(l) != 1 || l[0].Addr != data || len(l[0].Samples) != 1 {
		t.Errorf("possible conflicts: %v", l)
	}

	// Within the section: from where is the lock's call to be left out?
	p = run(locked(2, 9, first, update(2, 12)), []*Event{access(3, Read, shared, 15), second})
	found := false
	for _, c := range p.Possible() {
		if c.Addr == data {
			found = true
			if at, ok := p.Outer(&c.First); !ok || at != 9 {
				t.Errorf("the lock is called for at %d, %v", at, ok)
			}
		}
	}
	if !found {
		t.Error("a conflict with an access under a lock isn't possible")
	}

	p = run([]*Event{first, {Op: OpRelease, Thread: 2, Object: ObjChannel, Value: 5, Scope: ScopeUser}, {Op: OpAcquire, Thread: 3, Object: ObjChannel, Value: 5, Scope: ScopeUser}, second})
	if l := p.Possible(); len(l) != 0 {
		t.Errorf("possible in spite of a message: %v", l)
	}
	p = run([]*Event{first, {Op: OpThreadExit, Thread: 2}, {Op: OpJoin, Thread: 3, Value: 2}, second})
	if l := p.Possible(); len(l) != 0 {
		t.Errorf("possible in spite of a join: %v", l)
	}
}
