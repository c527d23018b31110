package hwmodel

import (
	"fmt"
	"strings"
	"testing"
)

// hierarchies are machines of two cores with caches of one or two lines.
var hierarchies = map[string]Config{
	"threads":         {Threads: 2},
	"code":            {Threads: 2, L1I: Geometry{64, 1}},
	"inclusive":       {Threads: 2, L2: Geometry{64, 1}},
	"inclusive code":  {Threads: 2, L1I: Geometry{64, 1}, L2: Geometry{128, 2}},
	"exclusive":       {Threads: 2, L2: Geometry{64, 1}, L2Exclusive: true},
	"exclusive code":  {Threads: 2, L1I: Geometry{64, 1}, L2: Geometry{128, 2}, L2Exclusive: true},
	"three levels, 1": {L1I: Geometry{64, 1}, L2: Geometry{128, 2}},
}

// small completes one of hierarchies.
func small(c Config, p *Protocol) Config {
	c.Cores, c.L1, c.LLC, c.Protocol = 2, Geometry{64, 1}, Geometry{1 << 12, 4}, p
	return c
}

// play lets the units of a small, new machine do what path says, a unit number and a
// request each, on virtual line 0 of a world of three lines: l loads, s stores, f
// executes, e and x evict it from the first levels and from all of the core by
// accessing one and two other lines.
func (w *world) play(path string) error {
	w.reset()
	for u := range w.running {
		w.running[u] = u % len(w.threads)
	}
	for i := 0; i < len(path); i += 2 {
		u := int(path[i] - '0')
		var err error
		switch path[i+1] {
		case 'l', 's':
			err = w.access(u, 0, path[i+1] == 's')
		case 'f':
			err = w.fetch(u, 0)
		case 'x':
			err = w.access(u, 2, false)
			fallthrough
		case 'e':
			if err == nil {
				err = w.access(u, 1, false)
			}
			if err == nil {
				err = w.fetch(u, 1)
			}
		}
		if err == nil && i+2 == len(path) { // the rest of the path was checked before
			err = w.check()
		}
		if err != nil {
			return fmt.Errorf("%s after %s: %w", path[:i+2], path[:i], err)
		}
	}
	return nil
}

// reset makes a world as new, which is much faster than another one.
func (w *world) reset() {
	m := w.m
	for i := range m.cores {
		c := &m.cores[i]
		c.l1, c.l2, c.code = newCache(m.cfg.L1), newCache(m.cfg.L2), newCache(m.cfg.L1I)
	}
	clear(m.llc.lines)
	clear(m.llc.ref)
	for u := range m.units {
		m.units[u].c = Counters{}
		for v := range w.mapped {
			m.units[u].win.Drop(vbase + uint64(v))
			if f := m.units[u].fetches; f != nil {
				f.drop(vbase + uint64(v))
			}
		}
		clear(w.fetched[u])
	}
	for i := range w.lines {
		w.lines[i], w.content[i] = new(Line), 0
	}
	for _, g := range w.threads {
		g.k = m.NewKnowledge()
		clear(g.replay)
	}
	w.shared = LineSet{}
}

// sight is the state of the line that a path is about, whole: for each core its
// state, the caches that have it, and the tags of its units' windows.
func (w *world) sight() string {
	var b strings.Builder
	l := w.lines[0]
	for i := range w.m.cores {
		c := &w.m.cores[i]
		fmt.Fprintf(&b, "%v%d%d%d", l.State(i), c.l1.holds(l), c.l2.holds(l), c.code.holds(l))
		for _, u := range c.units {
			e := u.win[vbase%WindowSize]
			fmt.Fprintf(&b, ",%t%t%t", e.R == vbase, e.W == vbase, u.fetches != nil && u.fetches.Has(vbase))
		}
		b.WriteString(" ")
	}
	for _, g := range w.threads {
		fmt.Fprintf(&b, "%t ", g.k.Known(vbase, l))
	}
	return b.String()
}

// Every state of a line that two cores with two units each can reach, through
// all levels and with all tags and claims to know it, and every request from
// there: threads read and execute what was written last, and the invariants of
// protocols, levels and windows hold.
func TestHierarchiesReachableStates(t *testing.T) {
	for name, c := range hierarchies {
		for _, p := range Protocols {
			if testing.Short() && p != MESI {
				continue
			}
			c := small(c, p)
			reqs := "lsex"
			if c.L1I.Ways > 0 {
				reqs += "f"
			}
			w := newWorld(c)
			first := w.sight()
			seen := map[string]string{first: ""}
			for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
				for u := range c.Units() {
					for _, r := range reqs {
						next := queue[0] + fmt.Sprint(u) + string(r)
						if err := w.play(next); err != nil {
							t.Fatalf("%s, %s: %v", name, p.Name, err)
						}
						core := &w.m.cores[u%c.Cores]
						st, l := w.lines[0].State(core.id), w.lines[0]
						switch {
						case r == 's' && st != Modified, r == 'l' && (st == Invalid || core.l1.holds(l) != 1), r == 'f' && core.code.holds(l) != 1:
							t.Fatalf("%s, %s: %s leads to %s", name, p.Name, next, w.sight())
						case strings.ContainsRune("ex", r) && core.l1.holds(l) != 0:
							t.Fatalf("%s, %s: %s doesn't evict: %s", name, p.Name, next, w.sight())
						}
						if s := w.sight(); seen[s] == "" && s != first {
							seen[s] = next
							queue = append(queue, next)
						}
					}
				}
			}
			if len(seen) < 20 {
				t.Errorf("%s, %s: only %d states reached", name, p.Name, len(seen))
			}
			t.Logf("%s, %s: %d states", name, p.Name, len(seen))
		}
	}
}

// What hardware threads of a core do with a line that they share: no traffic
// between cores, but what one brought in is a first read for the other, and what
// one writes the other has to learn again.
func TestHardwareThreadsShareLinesNotKnowledge(t *testing.T) {
	for _, a := range []AccountingKind{AccountThreads, AccountLines, AccountUnits} {
		c := Config{Cores: 1, Threads: 2, L1: Geometry{1 << 12, 4}, LLC: Geometry{1 << 14, 4}, Accounting: Accounting{Kind: a}}
		w := newWorld(c)
		logged := func(unit int, write bool) bool {
			g := w.threads[w.running[unit]]
			before := g.replay[vbase]
			g.replay[vbase] = -1
			if err := w.access(unit, 0, write); err != nil && g.replay[vbase] != -1 {
				t.Fatal(err)
			}
			if g.replay[vbase] == -1 {
				g.replay[vbase] = before
				return false
			}
			return true
		}
		w.running = []int{0, 1}
		for i, step := range []struct {
			unit        int
			write, want bool
		}{
			{0, false, true}, {1, false, true}, // each logs it for itself
			{0, false, false}, {1, false, false},
		} {
			if got := logged(step.unit, step.write); got != step.want {
				t.Errorf("%v: step %d: logged %v", a, i, got)
			}
		}
		know := func() [2]bool {
			l := w.lines[0]
			return [2]bool{w.threads[0].k.Known(vbase, l), w.threads[1].k.Known(vbase, l)}
		}
		if err := w.access(0, 0, true); err != nil || know() != [2]bool{true, false} {
			t.Errorf("%v: after a store by the first: known %v, %v", a, know(), err)
		}
		if err := w.access(1, 0, false); err != nil || know() != [2]bool{true, true} {
			t.Errorf("%v: after a load by the second: known %v, %v", a, know(), err)
		}
		if err := w.access(0, 0, true); err != nil || know() != [2]bool{true, false} {
			t.Errorf("%v: after another store by the first: known %v, %v", a, know(), err)
		}
		if err := w.check(); err != nil {
			t.Error(err)
		}
		n := w.m.Total()
		if n.Invalidations+n.Downgrades+n.Upgrades+n.Transfers != 0 || n.Misses != 1 || n.SiblingHits == 0 {
			t.Errorf("%v: a line that stays in its core: %+v", a, n)
		}
	}
}

// Levels count what they did.
func TestCountersOfLevels(t *testing.T) {
	for _, c := range []struct {
		exclusive bool
		want      Counters
	}{
		// Lines a, b and a again through one line of first level and two of second:
		// the second has a; code is the data's line a, then its own line.
		{false, Counters{Hits: 1, Misses: 3, Evictions: 2, L2Hits: 1 + 1, L2Misses: 2 + 1, LLCMisses: 2 + 1, L2Evictions: 1, FetchMisses: 2, FetchEvictions: 1, Fetches: 0}},
		{true, Counters{Hits: 1, Misses: 3, Evictions: 2, L2Hits: 1, L2Misses: 2 + 1, LLCMisses: 2 + 1, LLCHits: 1, FetchMisses: 2, FetchEvictions: 1}},
	} {
		m := New(Config{Cores: 1, L1: Geometry{64, 1}, L1I: Geometry{64, 1}, L2: Geometry{128, 2}, LLC: Geometry{1 << 12, 4}, L2Exclusive: c.exclusive})
		a, b, code := new(Line), new(Line), new(Line)
		m.Access(0, a, 1, false)
		m.Access(0, b, 2, false)
		m.Access(0, a, 1, false)
		m.Access(0, a, 1, false)
		m.Fetch(0, a, 1)
		m.Fetch(0, a, 1)
		m.Fetch(0, code, 3)
		if got := m.Counters(0); got != c.want {
			t.Errorf("exclusive %v:\n%+v, want\n%+v", c.exclusive, got, c.want)
		}
	}
}

// A store takes the line from the code cache of its own core and of others.
func TestStoresInvalidateCode(t *testing.T) {
	m := New(Config{Cores: 2, L1: Geometry{1 << 12, 4}, L1I: Geometry{1 << 12, 4}, LLC: Geometry{1 << 14, 4}})
	l := new(Line)
	for u := range 2 {
		m.Fetch(u, l, 7)
		m.FetchWindow(u).Allow(7)
	}
	m.Access(0, l, 7, true)
	for u := range 2 {
		if m.FetchWindow(u).Has(7) || m.Counters(u).FetchInvalidations != 1 {
			t.Errorf("unit %d may still execute what was overwritten: %+v", u, m.Counters(u))
		}
	}
}

func TestHierarchyConfigs(t *testing.T) {
	c := DefaultConfig(4)
	if s := c.String(); s != "cores=4 line=64 l1=256K/8 llc=16384K/16 protocol=mesi" {
		t.Errorf("the default is %s", s)
	}
	c.Threads, c.L1, c.L1I, c.L2, c.L2Exclusive = 2, SmallL1, SmallL1, Geometry{1 << 20, 16}, true
	if err := c.Check(); err != nil || c.Units() != 8 {
		t.Errorf("%v, %d units", err, c.Units())
	}
	if s := c.String(); s != "cores=4 line=64 l1=32K/8 llc=16384K/16 protocol=mesi threads-per-core=2 l1i=32K/8 l2=1024K/16:exclusive" {
		t.Error(s)
	}
	for _, f := range []func(c *Config){
		func(c *Config) { c.Threads = 9 }, func(c *Config) { c.Threads = -1 }, func(c *Config) { c.Cores = 33 },
		func(c *Config) { c.L1I.Ways = 0 }, func(c *Config) { c.L2.Size = 100 },
		func(c *Config) { c.L2, c.L2Exclusive = Geometry{16 << 10, 8}, false },
		func(c *Config) { c.Accounting = Accounting{AccountWays, 17} },
	} {
		bad := c
		if f(&bad); bad.Check() == nil {
			t.Errorf("%v passes", bad)
		}
	}
}
