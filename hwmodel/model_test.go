package hwmodel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// world is a recorder in miniature, with numbers instead of bytes: physical
// lines with content, threads that run on units, and for each thread the
// memory that a replay of its stream would have.
type world struct {
	m       *Machine
	lines   []*Line
	content []int
	stamp   int
	threads []*guest
	running []int // thread on each unit, -1: none
	mapped  []int // by virtual line: the physical line
	shared  LineSet
	fetched []map[uint64]int         // for each unit, what it found when it fetched a virtual line
	touch   map[int]map[toucher]bool // by physical line
}

type guest struct {
	k      *Knowledge
	replay map[uint64]int // what the stream imported or the thread wrote, by virtual line
}

type toucher struct {
	thread int
	vline  uint64
	write  bool
}

const vbase = 0x1000

// worldConfigs are machines of tiny caches, so that all of them evict.
var worldConfigs = func() (l []Config) {
	base := Config{Cores: 3, L1: Geometry{4 * 64, 2}, LLC: Geometry{8 * 64, 2}}
	for _, threads := range []int{1, 2} {
		for _, l1i := range []Geometry{{}, {2 * 64, 1}, {4 * 64, 2}} {
			for _, l2 := range []Geometry{{}, {8 * 64, 2}, {8 * 64, 4}} {
				c := base
				c.Threads, c.L1I, c.L2 = threads, l1i, l2
				l = append(l, c)
				if l2.Ways > 0 {
					c.L2Exclusive = true
					l = append(l, c)
				}
			}
		}
	}
	return l
}()

func newWorld(c Config) *world {
	w := &world{m: New(c), touch: map[int]map[toucher]bool{}}
	for i := range 10 {
		w.lines = append(w.lines, new(Line))
		w.content = append(w.content, 0)
		w.touch[i] = map[toucher]bool{}
	}
	for v := range 16 { // six physical lines have two virtual ones
		w.mapped = append(w.mapped, v%10)
	}
	for range 4 {
		w.threads = append(w.threads, &guest{w.m.NewKnowledge(), map[uint64]int{}})
	}
	for u := range c.Units() {
		w.fetched = append(w.fetched, map[uint64]int{})
		w.running = append(w.running, -1)
		if u < 3 {
			w.running[u] = u
		}
	}
	return w
}

// access is one load or store by the thread on a unit, as a recorder does it.
func (w *world) access(unit, v int, write bool) error {
	thread := w.running[unit]
	if thread < 0 {
		return nil
	}
	g, vline, phys := w.threads[thread], uint64(vbase+v), w.mapped[v]
	l := w.lines[phys]
	win := w.m.Window(unit)
	e := &win[vline%WindowSize]
	w.touch[phys][toucher{thread, vline, write}] = true
	if tag := map[bool]uint64{false: e.R, true: e.W}[write]; tag != vline {
		may := w.m.Access(unit, l, vline, write)
		if write && !may {
			return fmt.Errorf("after a store the unit may not write")
		}
		if !g.k.Known(vline, l) || !w.m.Remembers(unit) {
			g.replay[vline] = w.content[phys]
			g.k.Learn(vline, l)
			w.m.Remember(unit, write)
		}
		if write {
			w.m.Claim(g.k, vline, l)
		}
		if l.Touch(uint32(thread+1), vline, write) {
			w.shared.Add(vline)
			w.shared.Add(l.Home())
		}
		win.Allow(vline, nil, write && may)
	}
	if write {
		w.stamp++
		w.content[phys], g.replay[vline] = w.stamp, w.stamp
	} else if g.replay[vline] != w.content[phys] {
		return fmt.Errorf("thread %d reads %d at virtual line %d, its replay %d", thread, w.content[phys], v, g.replay[vline])
	}
	return nil
}

// fetch is one execution of a line of code by the thread on a unit.
func (w *world) fetch(unit, v int) error {
	win := w.m.FetchWindow(unit)
	if w.running[unit] < 0 || win == nil {
		return nil
	}
	vline, now := uint64(vbase+v), w.content[w.mapped[v]]
	if !win.Has(vline) {
		w.m.Fetch(unit, w.lines[w.mapped[v]], vline)
		win.Allow(vline)
		w.fetched[unit][vline] = now
	}
	if got := w.fetched[unit][vline]; got != now {
		return fmt.Errorf("unit %d executes %d at virtual line %d, which holds %d", unit, got, v, now)
	}
	return nil
}

// clear is what a recorder does when another thread gets a unit.
func (w *world) clear(unit int) {
	w.m.Window(unit).Clear()
	if f := w.m.FetchWindow(unit); f != nil {
		f.Clear()
	}
}

// holds counts the places of a cache that hold a line.
func (c *cache) holds(l *Line) (n int) {
	for _, y := range c.ways {
		if y.l == l {
			n++
		}
	}
	return n
}

// checkCore checks that the caches of a core fit together and with the line's
// directory.
func (w *world) checkCore(c *core, l *Line) error {
	l1, l2, code := c.l1.holds(l), c.l2.holds(l), c.code.holds(l)
	exclusive := w.m.cfg.L2Exclusive
	switch has := l1+l2+code > 0; {
	case l1 > 1 || l2 > 1 || code > 1:
		return fmt.Errorf("is twice in a cache: %d %d %d", l1, l2, code)
	case has != (l.sharers>>c.id&1 != 0):
		return fmt.Errorf("is in the caches: %v, the directory says otherwise", has)
	case c.l2.n > 0 && !exclusive && l1+code > 0 && l2 == 0:
		return fmt.Errorf("is in a first level and not in the second")
	case exclusive && l1+l2 > 1:
		return fmt.Errorf("is in both levels for data")
	case code > 0 && l.flags&flagCode == 0:
		return fmt.Errorf("is in a code cache without the flag")
	case code > 0 && l1+l2 == 0 && (l.State(c.id) == Modified || l.State(c.id) == Owned):
		return fmt.Errorf("is dirty, and only the code cache has it")
	}
	return nil
}

// checkFetch checks that a code cache is behind each tag of a window of code.
func (w *world) checkFetch(u int) error {
	win := w.m.FetchWindow(u)
	if win == nil {
		return nil
	}
	for v, p := range w.mapped {
		if !win.Has(uint64(vbase + v)) {
			continue
		}
		y := w.m.units[u].core.code.look(w.lines[p])
		if y == nil || y.vline != uint64(vbase+v) {
			return fmt.Errorf("unit %d may execute virtual line %d, which its code cache hasn't", u, v)
		}
	}
	return nil
}

// check is what must hold between any two operations.
func (w *world) check() error {
	for phys, l := range w.lines {
		if err := coherent(states(l, 3)); err != nil {
			return fmt.Errorf("line %d is %s: %w", phys, states(l, 3), err)
		}
		for i := range w.m.cores {
			if err := w.checkCore(&w.m.cores[i], l); err != nil {
				return fmt.Errorf("line %d of core %d %w", phys, i, err)
			}
		}
		knowers := 0
		for _, g := range w.threads {
			for v, p := range w.mapped {
				if p == phys && g.k.Known(uint64(vbase+v), l) {
					knowers++
				}
			}
		}
		if knowers > 1 && l.SoleKnower() || knowers > 0 && l.flags&flagKnown == 0 {
			return fmt.Errorf("line %d has %d knowers, flags %b", phys, knowers, l.flags)
		}
	}
	for u := range w.m.units {
		if err := w.checkFetch(u); err != nil {
			return err
		}
		for v := range w.mapped { // what else could be there
			e := w.m.units[u].win[(vbase+v)%WindowSize]
			if e.W != NoTag && e.R != e.W {
				return fmt.Errorf("unit %d may write %#x but not read it", u, e.W)
			}
			if e.R == NoTag {
				continue
			}
			if err := w.checkTag(u, e); err != nil {
				return fmt.Errorf("unit %d has a tag for %#x: %w", u, e.R, err)
			}
		}
	}
	return nil
}

// checkTag checks that a window's tag is backed by L1, state and knowledge.
func (w *world) checkTag(u int, e Entry) error {
	l := w.lines[w.mapped[e.R-vbase]]
	held := false
	for _, y := range w.m.units[u].core.l1.ways {
		held = held || y.l == l && y.vline == e.R
	}
	if !held {
		return fmt.Errorf("the L1 doesn't hold the line under it")
	}
	thread := w.running[u]
	if thread < 0 || !w.threads[thread].k.Known(e.R, l) {
		return fmt.Errorf("thread %d doesn't know the line", thread)
	}
	if e.W == NoTag {
		return nil
	}
	if st := l.State(w.m.units[u].core.id); st != Modified {
		return fmt.Errorf("for writing, in state %v", st)
	}
	for i := range w.m.cores {
		if w.m.cores[i].code.holds(l) > 0 {
			return fmt.Errorf("for writing, and the code cache of core %d has it", i)
		}
	}
	for t, g := range w.threads {
		for v, p := range w.mapped {
			if w.lines[p] == l && g.k.Known(uint64(vbase+v), l) && (t != thread || uint64(vbase+v) != e.R) {
				return fmt.Errorf("for writing, but thread %d knows the line under %#x", t, vbase+v)
			}
		}
	}
	return nil
}

// checkShared checks that the summary names every line that two threads
// touched, one by writing, under every virtual line.
func (w *world) checkShared() error {
	for phys, ts := range w.touch {
		for a := range ts {
			for b := range ts {
				if a.thread != b.thread && (a.write || b.write) && (!w.shared.Has(a.vline) || !w.shared.Has(b.vline)) {
					return fmt.Errorf("line %d: %+v and %+v share it, the summary lacks it", phys, a, b)
				}
			}
		}
	}
	return nil
}

// Whatever is accessed, switched, changed by the kernel or discarded, in
// whichever order: every thread's replay reads what the thread read, and the
// tags, states, knowledge and the summary agree.
func TestRandomAccessesReplayAndKeepInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(worldConfigs).Draw(t, "caches")
		c.Protocol = rapid.SampledFrom(Protocols).Draw(t, "protocol")
		c.Accounting = rapid.SampledFrom([]Accounting{{}, {}, {Kind: AccountLines}, {Kind: AccountUnits}, {AccountReserved, 1}, {AccountWays, 1}}).Draw(t, "accounting")
		w := newWorld(c)
		anyUnit := rapid.IntRange(0, c.Units()-1)
		line := rapid.IntRange(0, len(w.lines)-1)
		acc := func(t *rapid.T) {
			unit := anyUnit.Draw(t, "unit")
			v := rapid.IntRange(0, len(w.mapped)-1).Draw(t, "vline")
			if err := w.access(unit, v, rapid.Bool().Draw(t, "write")); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"access": acc, "access2": acc, "access3": acc, "access4": acc, "access5": acc,
			"fetch": func(t *rapid.T) {
				unit := anyUnit.Draw(t, "unit")
				if err := w.fetch(unit, rapid.IntRange(0, len(w.mapped)-1).Draw(t, "vline")); err != nil {
					t.Fatal(err)
				}
			},
			"switch": func(t *rapid.T) {
				unit := anyUnit.Draw(t, "unit")
				next := rapid.IntRange(-1, len(w.threads)-1).Draw(t, "thread")
				for u, r := range w.running {
					if r == next && u != unit {
						w.running[u] = -1
						w.clear(u)
					}
				}
				if w.running[unit] != next {
					w.clear(unit)
				}
				w.running[unit] = next
			},
			"kernel": func(t *rapid.T) {
				p := line.Draw(t, "line")
				w.m.Invalidate(w.lines[p])
				w.stamp++
				w.content[p] = w.stamp
			},
			"dropwrites": func(t *rapid.T) {
				p := line.Draw(t, "line")
				w.m.DropWrites(w.lines[p])
				for u := range w.m.units {
					for v := range w.mapped {
						if e := &w.m.units[u].win[(vbase+v)%WindowSize]; e.W == vbase+uint64(v) && w.mapped[v] == p {
							t.Fatalf("unit %d may still write line %d", u, p)
						}
					}
				}
			},
			"discard": func(t *rapid.T) {
				p := line.Draw(t, "line")
				w.m.Discard(w.lines[p])
				w.content[p] = 0
				w.touch[p] = map[toucher]bool{}
			},
			"remap": func(t *rapid.T) {
				v := rapid.IntRange(0, len(w.mapped)-1).Draw(t, "vline")
				w.m.DropPage((vbase + uint64(v)) / pageLines)
				w.mapped[v] = line.Draw(t, "line")
			},
			"forget": func(t *rapid.T) {
				n := rapid.IntRange(0, len(w.threads)-1).Draw(t, "thread")
				w.threads[n].k.Forget()
				clear(w.threads[n].replay)
				for u, r := range w.running {
					if r == n {
						w.m.Window(u).Clear()
					}
				}
			},
			"": func(t *rapid.T) {
				if err := w.check(); err != nil {
					t.Fatal(err)
				}
				if err := w.checkShared(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}
