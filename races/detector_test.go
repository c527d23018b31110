package races

import (
	"testing"

	"github.com/racesim/racesim/emulate"
)

func TestSamplesOfBothDirections(t *testing.T) {
	s := newScript(t, Config{}).start(2, 3)
	for i := 0; i < 5; i++ {
		s.pc = 100
		s.r(3, X)
		s.w(2, X)
	}
	if n := len(s.Candidates()); n != 1 {
		t.Fatalf("%d candidates, want 1: %v", n, s.found())
	}
	c := s.Candidates()[0]
	if c.Count != 9 {
		t.Errorf("%d pairs merged, want 9", c.Count)
	}
	if len(c.Samples) != 2 || c.Samples[0].First.Thread != 3 || c.Samples[1].First.Thread != 2 {
		t.Errorf("samples %+v, want one for each direction", c.Samples)
	}
}

func TestSamplesAreBounded(t *testing.T) {
	reports := 0
	s := newScript(t, Config{MaxSamples: 3, Report: func(*Candidate) { reports++ }}).start(2, 3)
	for i := 0; i < 20; i++ {
		s.ctx = uint32(i)
		s.pc = 100
		s.w(3, X)
		s.w(2, X)
	}
	if c := s.Candidates(); len(c) != 1 || len(c[0].Samples) != 3 || reports != 1 {
		t.Errorf("%d candidates, %d samples, %d reports; want 1, 3, 1", len(c), len(c[0].Samples), reports)
	}
}

func TestCandidateSaysWhatWasAccessed(t *testing.T) {
	s := newScript(t, Config{})
	s.Alloc(1, heap, 40, 77, 5)
	s.start(2, 3)
	s.Lock(2, M, LockExclusive, 0, 0, 0)
	s.Access(&Access{Thread: 2, Addr: heap + 8, Size: 8, Kind: Write, PC: 0x401000, Ctx: 12, Count: 90, Value: 0x1122334455667788})
	s.Access(&Access{Thread: 3, Addr: heap + 12, Size: 2, Kind: Read, PC: 0x402000, Ctx: 13, Count: 91, Value: 0x3344})
	c := s.Candidates()[0]
	first := Access{Thread: 2, Addr: heap + 8, Size: 8, Kind: Write, PC: 0x401000, Ctx: 12, Count: 90, Value: 0x1122334455667788, Locks: c.First.Locks}
	second := Access{Thread: 3, Addr: heap + 12, Size: 2, Kind: Read, PC: 0x402000, Ctx: 13, Count: 91, Value: 0x3344}
	if c.First != first || c.Second != second {
		t.Errorf("accesses\n\t%+v\n\t%+v\nwant\n\t%+v\n\t%+v", c.First, c.Second, first, second)
	}
	if l := s.Lockset(c.First.Locks); len(l) != 1 || s.LockAddr(l[0]) != M {
		t.Errorf("first access holds %v", l)
	}
	if c.Addr != heap+12 || c.Size != 2 || c.Block.ID != 1 || c.Block.Ctx != 77 || c.Block.Addr != heap || c.Block.Size != 40 {
		t.Errorf("location %v+%d, block %+v", c.Addr, c.Size, c.Block)
	}
	if c.Reason != DataRace || c.Order != ScopeUser {
		t.Errorf("reason %v, order %v", c.Reason, c.Order)
	}
}

func TestConflictsOfOneLoopAreOneCandidatePerVariable(t *testing.T) {
	class := func(a emulate.Addr) uint64 { return uint64(a) >> 12 }
	s := newScript(t, Config{Class: class}).start(2, 3)
	for _, th := range []emulate.ThreadID{2, 3} {
		for i := emulate.Addr(0); i < 100; i++ {
			s.pc = 500
			s.w(th, 0x8000+4*i)
			s.pc = 500
			s.w(th, 0xa000+4*i)
		}
	}
	if l := s.Candidates(); len(l) != 2 || l[0].Count != 100 || l[1].Count != 100 {
		t.Errorf("found %v", s.found())
	}
}

func TestSlotsAreReusedAndNamedRight(t *testing.T) {
	s := newScript(t, Config{})
	for i := emulate.ThreadID(2); i < 1000; i++ {
		s.start(i)
		s.w(i, X)
		s.ThreadExit(i, 0)
		if i == 998 {
			s.r(1, X) // before joining
		}
		s.Join(1, i)
	}
	if n := len(s.slotEpoch); n > 3 {
		t.Errorf("%d slots for threads that are joined one by one", n)
	}
	s.want("998 write - 1 read @ 1000+4")
}

func TestOutOfSlotsForcesJoins(t *testing.T) {
	s := newScript(t, Config{MaxSlots: 4})
	for i := emulate.ThreadID(2); i < 20; i++ {
		s.start(i)
		s.w(i, X+emulate.Addr(i)*16)
		s.ThreadExit(i, 0) // detached: nobody ever knows
	}
	if n := s.Stats().ForcedJoins; n != 15 {
		t.Errorf("%d forced joins, want 15", n)
	}
	s.w(1, X+19*16)
	s.want("19 write - 1 write @ 1130+4")
}

func TestManyReadersAreForgottenWhenAllKnow(t *testing.T) {
	s := newScript(t, Config{})
	for i := emulate.ThreadID(2); i < 40; i++ {
		s.start(i)
		s.r(i, X)
	}
	if n := len(s.granule(uint64(X)).cells); n != 38 {
		t.Errorf("%d cells for 38 readers", n)
	}
	s.start(40) // or thread 1 would be alone
	for i := emulate.ThreadID(2); i < 40; i++ {
		s.ThreadExit(i, 0)
		s.Join(1, i)
	}
	s.w(1, X)
	if n := len(s.granule(uint64(X)).cells); n != 1 {
		t.Errorf("%d cells after an ordered write", n)
	}
	s.want()
}

func TestSyncVarsTellLives(t *testing.T) {
	all := SyncVar{Addr: heap, Size: 4}
	run := func(cfg Config) *script {
		s := newScript(t, cfg).start(2, 3)
		s.Alloc(2, heap, 32, 0, 0)
		s.rmw(2, heap)
		s.Free(2, heap, 0, 0, 0)
		s.Alloc(2, heap, 32, 0, 0)
		s.store(2, heap, 1)
		s.load(3, heap, 1)
		return s
	}
	first := run(Config{Sync: []SyncVar{all}})
	first.want() // the second life's race hides behind the first life's mutex
	vars := first.SyncVars()
	if len(vars) != 1 || len(vars[0].Lives) != 1 || vars[0].Lives[0] != 1 {
		t.Fatalf("lives %+v, want the first block's", vars)
	}
	run(Config{Sync: vars}).want("2 write - 3 read @ 20000+4")
}

func TestBlocks(t *testing.T) {
	d := New(Config{})
	b := &d.blocks
	for i := uint64(0); i < 1000; i++ {
		b.add(emulate.Addr(0xf000+i*0x40), 0x30, 1, uint32(i), 0)
	}
	big := b.add(0x100000, 1<<20, 1, 5000, 0).ID
	for _, c := range []struct {
		a    uint64
		want int
	}{{0xefff, -1}, {0xf000, 0}, {0xf02f, 0}, {0xf030, -1}, {0xf040, 1}, {0xf000 + 999*0x40 + 5, 999}, {0x40000, -1}, {0x1fffff, 5000}, {0x180000, 5000}, {0x200000, -1}} {
		got := -1
		if p := b.find(c.a); p != nil {
			got = int(p.Ctx)
		}
		if got != c.want {
			t.Errorf("block at %#x: %d, want %d", c.a, got, c.want)
		}
	}
	n := b.add(0x140000, 16, 1, 6000, 0) // in the middle: the big one is gone
	if n.ID != big+1 || b.find(0x100000) != nil || b.find(0x1f0000) != nil || b.find(0x140008).Ctx != 6000 {
		t.Errorf("overlapped block still known")
	}
	b.remove(0, 1<<40)
	for k, l := range b.buckets {
		if len(l) > 0 {
			t.Errorf("bucket %#x still holds %v", k, l)
		}
	}
}

func TestUnknownThreadStartsByItself(t *testing.T) {
	d := New(Config{})
	d.Access(&Access{Thread: 7, Addr: X, Size: 4, Kind: Write})
	d.Access(&Access{Thread: 9, Addr: X, Size: 4, Kind: Write, PC: 1})
	if len(d.Candidates()) != 1 {
		t.Errorf("%d candidates", len(d.Candidates()))
	}
}

func TestFeedDoesNotAllocate(t *testing.T) {
	events := benchEvents(1 << 14)
	d := New(Config{})
	feed := func() {
		for i := range events {
			d.Feed(&events[i])
		}
	}
	feed()
	events = events[5:]
	if n := testing.AllocsPerRun(3, feed); n > 0 {
		t.Errorf("%v allocations in %d events", n, len(events))
	}
}

func TestWhoIsAloneIsntLookedAt(t *testing.T) {
	s := newScript(t, Config{})
	s.ThreadStart(1, 0)
	s.w(1, X)
	if len(s.pages) > 0 {
		t.Error("something was kept of the only thread's accesses")
	}
	s.start(2)
	s.w(2, X)
	s.ThreadExit(2, 0)
	s.w(1, Y) // it ended, but nobody waited for it
	s.w(1, X)
	s.want("2 write - 1 write @ 1000+4")
	s.Join(1, 2)
	s.w(1, X+64)
	s.start(3)
	s.w(1, X+64)
	s.w(3, X+64)
	s.w(3, Y)
	s.want("2 write - 1 write @ 1000+4", "1 write - 3 write @ 1040+4")
}
