package racesim

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/races"
)

// Of many stores by one instruction mostly one tells: the upper half of a clock
// changes once in a while, and before that nobody can see it torn; a mean of
// many isn't moved by one more. So further pairs are chosen by what is stored.

// telling returns pairs like p whose store changes the value as few others of
// the same instruction do, or, if asked for, is the second one, with a load that
// comes next.
func (a *analysis) telling(p *races.Pair, second bool) []races.Pair {
	store, load := &p.First, &p.Second
	if store.Kind != races.Write && store.Kind != races.Update {
		store, load = load, store
	}
	if store.Kind != races.Write && store.Kind != races.Update || load.Kind != races.Read {
		return nil
	}
	stores, loads := a.alike(store), a.alike(load)
	if len(stores) < fewStores || len(loads) == 0 {
		return nil
	}
	change := func(y *overlay.Access) uint64 { return (y.Value - y.Pre) & mask(int(y.Size)) }
	often := map[uint64]int{}
	for i := range stores {
		often[change(&stores[i])]++
	}
	var picked []int
	if second {
		picked = append(picked, 1)
	}
	for i := range stores {
		if n := often[change(&stores[i])]; rareStores*n <= len(stores) && change(&stores[i]) != 0 && !(second && i == 1) {
			picked = append(picked, i)
			break
		}
	}
	var out []races.Pair
	for _, i := range picked {
		s, l := *store, *load
		s.Count, s.Value = stores[i].At, stores[i].Value
		y := loads[len(loads)-1]
		for k := range loads {
			if a.order(s.Thread, s.Count, l.Thread, loads[k].At) {
				y = loads[k]
				break
			}
		}
		l.Count, l.Value = y.At, y.Value
		q := races.Pair{First: s, Second: l}
		if !a.order(s.Thread, s.Count, l.Thread, l.Count) {
			q.First, q.Second = l, s
		}
		out = append(out, q)
	}
	return out
}

const (
	fewStores  = 3 // below which there is nothing to choose
	rareStores = 6 // a change is rare if at most one in so many is like it
)

func mask(size int) uint64 {
	if size >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*size) - 1
}

// alike lists the accesses by the instruction of x to the same place that are as
// unordered as x: between the instruction that synchronised last, and the next.
// Accesses of stores have what was there before.
func (a *analysis) alike(x *races.Access) []overlay.Access {
	if x.Kernel || x.Atomic {
		return nil
	}
	from := emulate.Count(0)
	if x.Count > maxAway {
		from = x.Count - maxAway
	}
	t, _, err := a.pass.Seek(x.Thread, from)
	if err != nil {
		return nil
	}
	s, err := overlay.Capture(t.Snapshot(), overlay.Goal{End: overlay.EndCount, Count: x.Count + maxAway, MaxSteps: 2*maxAway + 1, NoLive: true})
	if err != nil {
		return nil
	}
	since, until := s.Start, s.Stop
	synced := func(at emulate.Count) {
		if at > x.Count {
			until = min(until, at)
		} else if at < x.Count {
			since = max(since, at)
		}
	}
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Kind != overlay.InImport {
			synced(in.At)
		}
	}
	for i := range s.Accesses {
		if y := &s.Accesses[i]; y.Atom || a.synchronises(y.Addr, int(y.Size)) {
			synced(y.At)
		}
	}
	var out []overlay.Access
	for i := range s.Accesses {
		y := &s.Accesses[i]
		if y.At >= since && y.At < until && y.PC == x.PC && y.Addr == uint64(x.Addr) && int(y.Size) == x.Size && y.Writes() == (x.Kind != races.Read) {
			out = append(out, *y)
		}
	}
	return out
}
