package hwmodel

import "testing"

func TestAccountingNames(t *testing.T) {
	for _, s := range []string{"threads", "lines", "units", "reserved:4", "ways:64"} {
		if a, err := ParseAccounting(s); err != nil || a.String() != s {
			t.Errorf("%q: %v, %v", s, a, err)
		}
	}
	for _, s := range []string{"", "line", "lines:2", "reserved", "ways:0", "ways:65", "ways:x", "ways:"} {
		if a, err := ParseAccounting(s); err == nil {
			t.Errorf("%q is taken for %v", s, a)
		}
	}
	c := DefaultConfig(2)
	c.Accounting = Accounting{AccountWays, uint8(c.L1.Ways + 1)}
	if c.Check() == nil {
		t.Error("more ways than the L1 cache has")
	}
	c.Accounting = Accounting{AccountReserved, uint8(c.LLC.Ways)}
	if c.Check() == nil {
		t.Error("no way of the last-level cache is left")
	}
}

// What is remembered is forgotten with the line that holds it.
func TestAccountingForgetsWithTheCaches(t *testing.T) {
	for _, c := range []struct {
		name string
		acc  Accounting
		// After: an eviction from L1, one from both caches, another unit's look.
		l1, llc bool
		other   bool
	}{
		{"threads", Accounting{Kind: AccountThreads}, true, true, true},
		{"lines", Accounting{Kind: AccountLines}, false, false, false},
		{"units", Accounting{Kind: AccountUnits}, true, false, false},
		{"reserved", Accounting{AccountReserved, 1}, true, false, false},
		{"ways", Accounting{AccountWays, 1}, false, false, false},
	} {
		m := New(Config{Cores: 2, L1: Geometry{128, 2}, LLC: Geometry{8 * 64, 8}, Accounting: c.acc})
		l := new(Line)
		touch := func(unit int, l *Line, vline uint64) {
			m.Access(unit, l, vline, false)
			m.Remember(unit, false)
		}
		touch(0, l, 1)
		if m.Access(0, l, 1, false); !m.Remembers(0) {
			t.Errorf("%s: a line that was just logged isn't remembered", c.name)
		}
		if m.Access(1, l, 1, false); m.Remembers(1) != c.other {
			t.Errorf("%s: another unit: remembered %v", c.name, !c.other)
		}
		for i := range 3 {
			touch(0, new(Line), uint64(10+i))
		}
		if l.State(0) != Invalid {
			t.Fatalf("%s: the line wasn't evicted", c.name)
		}
		if m.Access(0, l, 1, false); m.Remembers(0) != c.l1 {
			t.Errorf("%s: after an eviction from L1: remembered %v", c.name, !c.l1)
		}
		touch(0, l, 1)
		for i := range 20 {
			touch(0, new(Line), uint64(100+i))
		}
		if l.flags&flagLLC != 0 {
			t.Fatalf("%s: the line wasn't evicted from the last-level cache", c.name)
		}
		if m.Access(0, l, 1, false); m.Remembers(0) != c.llc {
			t.Errorf("%s: after an eviction from both caches: remembered %v", c.name, !c.llc)
		}
	}
}

// A line that was brought in beside another is in the cache, but not in the
// window, and nobody takes it for logged.
func TestPrefetchedLinesAreConsumedLater(t *testing.T) {
	c := DefaultConfig(2)
	c.Accounting.Kind, c.Prefetch = AccountLines, 1
	m := New(c)
	l, next := new(Line), new(Line)
	m.Access(0, l, 1, false)
	m.Remember(0, false)
	m.Prefetch(0, next, 2)
	if !m.Remembers(0) {
		t.Error("the prefetch made the unit forget the line that it consumed")
	}
	if w := m.Window(0); w[2].R == 2 || next.State(0) == Invalid {
		t.Error("the line is in the window, or not in the cache")
	}
	if m.Access(0, next, 2, false); m.Missed(0) || m.Remembers(0) {
		t.Error("the line is missed, or taken for logged, when it is consumed")
	}
	if n := m.Counters(0).Prefetches; n != 1 {
		t.Errorf("%d prefetches", n)
	}
	m.Prefetch(0, next, 2)
	if n := m.Counters(0).Prefetches; n != 1 {
		t.Errorf("%d prefetches, the line was there", n)
	}
}
