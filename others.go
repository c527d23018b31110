package racesim

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/races"
)

// Detection keeps few of the accesses that race: of a loop mostly those of one
// round. Until a thread synchronises again, nothing orders its other rounds
// either, and what a loop does in its first round or in its last it may not do
// in between.

// maxAway is how far from an access equally unordered ones are looked for, in
// instructions.
const maxAway = 100_000

// others returns pairs like p: first accesses by the same instructions since
// the threads synchronised, and last ones until they do again.
func (a *analysis) others(p *races.Pair) []races.Pair {
	var out []races.Pair
	add := func(x, y *races.Access) {
		q := races.Pair{First: *x, Second: *y}
		if !a.order(x.Thread, x.Count, y.Thread, y.Count) {
			q.First, q.Second = q.Second, q.First
		}
		if q != *p {
			out = append(out, q)
		}
	}
	firstA, okA := a.like(&p.First, false)
	firstB, okB := a.like(&p.Second, false)
	if okA {
		add(&firstA, &p.Second)
	}
	if okB {
		add(&p.First, &firstB)
	}
	if okA && okB {
		add(&firstA, &firstB)
	}
	lastA, okA := a.like(&p.First, true)
	lastB, okB := a.like(&p.Second, true)
	if okA && okB {
		add(&lastA, &lastB)
	}
	return out
}

// like finds the first access by the instruction of x to the same place since
// the last instruction that synchronised, or the last one before the next.
func (a *analysis) like(x *races.Access, last bool) (races.Access, bool) {
	if x.Kernel || x.Atomic {
		return races.Access{}, false
	}
	from, to := emulate.Count(0), x.Count
	if x.Count > maxAway {
		from = x.Count - maxAway
	}
	if last {
		from, to = x.Count, x.Count+maxAway
	}
	t, _, err := a.pass.Seek(x.Thread, from)
	if err != nil {
		return races.Access{}, false
	}
	s, err := overlay.Capture(t.Snapshot(), overlay.Goal{End: overlay.EndCount, Count: to, MaxSteps: maxAway + 1, NoLive: true})
	if err != nil || s.Stop < to && !last {
		return races.Access{}, false
	}
	since, until := s.Start, to
	synced := func(at emulate.Count) {
		if last {
			until = min(until, at)
		} else {
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
	z, found := *x, false
	for i := range s.Accesses {
		y := &s.Accesses[i]
		if !last && (y.At <= since || found) || last && y.At >= until || y.PC != x.PC || y.Addr != uint64(x.Addr) || int(y.Size) != x.Size {
			continue
		}
		if x.Kind == races.Update && !y.Writes() {
			continue
		}
		z.Count, z.Value, found = y.At, y.Value, true
	}
	return z, found
}

// synchronises reports whether a location serves to synchronise: atomic
// instructions use it, or an experiment showed it.
func (a *analysis) synchronises(addr uint64, size int) bool {
	for i := range a.sync {
		if v := &a.sync[i]; uint64(v.Addr) < addr+uint64(size) && addr < uint64(v.Addr)+uint64(v.Size) {
			return true
		}
	}
	return a.orderable(addr, size)
}
