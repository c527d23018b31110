package racesim

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// A variable serves to synchronise if a thread that finds another value there
// does nothing but look again until the other thread has stored. That is tried
// out with the racing load.

// spinSteps bounds the instructions of such an experiment.
const spinSteps = 300_000

// handsOver says whether a variable by which the storing thread ends the loading
// one's loop orders anything but itself: other accesses of theirs race that it
// would put in order.
func handsOver(groups []*group, g *group, load, store *races.Access) bool {
	for _, o := range groups {
		if o == g {
			continue
		}
		for _, c := range o.cands {
			for _, p := range c.Samples {
				x, y := &p.First, &p.Second
				if x.Thread != store.Thread {
					x, y = y, x
				}
				if x.Thread == store.Thread && x.Count < store.Count && y.Thread == load.Thread && y.Count > load.Count {
					return true
				}
			}
		}
	}
	return false
}

// spinsOfAll is spins for several groups, side by side.
func (a *analysis) spinsOfAll(some, groups []*group) [][]races.SyncVar {
	found := make([][]races.SyncVar, len(some))
	a.share(len(some), workers(len(some)), nil, func(w *analysis, i int) { found[i] = w.spins(some[i], groups) })
	return found
}

// spins tests whether a race's reader does nothing but wait for the writer. It
// returns the locations that the two lines hand to and fro in this way: all
// those of the group, since elements of one array and members of one object are
// waited for by the same code.
func (a *analysis) spins(g *group, groups []*group) []races.SyncVar {
	waits := false
	for _, p := range g.pairs() {
		load, store := &p.First, &p.Second
		if load.Kind != races.Read {
			load, store = store, load
		}
		if load.Kind != races.Read || store.Kind != races.Write && store.Kind != races.Update || load.Kernel || store.Kernel || load.Atomic {
			continue
		}
		x := a.spinsAt(g, load, store)
		if x != nil && (!x.busy || handsOver(groups, g, load, store)) {
			g.spun, waits = &x.Experiment, true
			break
		}
	}
	if !waits {
		return nil
	}
	var out []races.SyncVar
	seen := map[emulate.Addr]bool{}
	for _, c := range g.cands {
		for _, p := range c.Samples {
			for _, x := range []*races.Access{&p.First, &p.Second} {
				if !seen[x.Addr] {
					seen[x.Addr] = true
					out = append(out, races.SyncVar{Addr: x.Addr, Size: x.Size, Scope: races.ScopeUser})
				}
			}
		}
	}
	return out
}

// A spinKey is what spinsAt was asked. Rounds ask again.
type spinKey struct {
	load, store   emulate.ThreadID
	at, stored    emulate.Count
	addr, written emulate.Addr
}

// spinsAt returns the experiment that shows that a load's thread only waits for
// the store, nil if there is none.
func (a *analysis) spinsAt(g *group, load, store *races.Access) *wait {
	key := spinKey{load.Thread, store.Thread, load.Count, store.Count, load.Addr, store.Addr}
	if x, known := a.spun.Load(key); known {
		return x.(*wait)
	}
	x := a.triesSpin(g, load, store)
	a.spun.Store(key, x)
	return x
}

func (a *analysis) triesSpin(g *group, load, store *races.Access) *wait {
	places, err := a.placesAround(load.Thread, load.Count, maxPlaces)
	if err != nil {
		return nil
	}
	values := a.oldValues(g, load, store)
	var then *uint64
	if store.Addr == load.Addr && store.Size == load.Size {
		then = &store.Value
	}
	world := a.world(load.Thread, load.Count)
	for _, p := range places {
		p.Goal = overlay.Goal{End: overlay.EndReturn, SP: p.Goal.SP, MaxSteps: spinSteps, MaxAccesses: 200_000, NoLive: true}
		s, err := a.capture(load.Thread, p)
		if err != nil {
			continue
		}
		i := findLoad(s, load)
		if i < 0 {
			continue
		}
		for _, v := range values {
			t := loadsub.Try(s, i, loadsub.Replacement{Source: loadsub.FromOther, Value: v, Freeze: true, Then: then, Works: then != nil && v <= 1 && *then == 1-v}, nil, loadsub.Options{World: world, Budget: spinSteps})
			if t.Spun {
				return a.spinning(load, p, t)
			}
		}
	}
	return nil
}

// A wait is the experiment that shows that a reader waits; busy: it does other
// work meanwhile.
type wait struct {
	report.Experiment
	busy bool
}

// spinning says what a trial showed of a reader that only waits.
func (a *analysis) spinning(load *races.Access, p loadsub.Place, t *loadsub.Trial) *wait {
	at := a.frame(load)
	x := &wait{busy: t.Result.Ends[0].Busy}
	x.Experiment = report.Experiment{Function: p.String(), Load: at.Place(), Mode: "simulate", Source: string(t.Replacement.Source), Outcome: "spin",
		Recorded: number(load.Value, load.Size), Replacement: number(t.Replacement.Value, load.Size), Outputs: []report.Output{}}
	e := &t.Result.Ends[0]
	if e.Released > 0 && t.Replacement.Then != nil {
		besides := "nothing else"
		if e.Busy {
			besides = "other work in between"
		}
		x.Detail = fmt.Sprintf("it looks %d times in %d instructions and does %s; once there is %s, it goes on",
			e.LookedThen, e.Released, besides, number(*t.Replacement.Then, load.Size))
	} else {
		x.Detail = fmt.Sprintf("it looks %d times in %d instructions and does nothing else", e.Looked, e.Steps)
	}
	if v, ok := a.ms.VarAtSize(load.Addr, load.Size); ok && v.Place != nil && v.Place.Size == int64(load.Size) && !v.Place.Atomic && !v.Place.Volatile &&
		!strings.ContainsAny(v.Path, ".[") {
		x.Detail += "; as it is compiled: the variable is neither volatile nor atomic, and a compiler may keep it in a register"
	}
	return x
}

// held reports whether the location of a load was seen with a value.
func (g *group) held(load *races.Access, v uint64) bool {
	for _, c := range g.cands {
		for i := range c.Samples {
			for _, x := range []*races.Access{&c.Samples[i].First, &c.Samples[i].Second} {
				if x.Addr == load.Addr && x.Size == load.Size && x.Value == v {
					return true
				}
			}
		}
	}
	return false
}

// oldValues lists what the location may have held before the store.
func (a *analysis) oldValues(g *group, load, store *races.Access) []uint64 {
	var out []uint64
	add := func(v uint64) {
		for _, x := range out {
			if x == v {
				return
			}
		}
		out = append(out, v)
	}
	if t, _, err := a.pass.Seek(store.Thread, store.Count); err == nil {
		if v, ok := overlay.ReadUint(t.Memory(), uint64(load.Addr), load.Size); ok {
			add(v)
		}
	}
	if load.Value != store.Value {
		add(load.Value)
	}
	// Most begin with 0; one that was never seen with it may have no use for it.
	if len(out) == 0 || g.held(load, 0) {
		add(0)
	}
	return out
}
