package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
)

// A section that looks at a variable again and again, only to decide where to go
// on, expects it to change in between: a stop flag, a setting. It isn't one step
// but as many as it looks. So an interleaving in which the other section comes
// as a whole between two such looks is as good as a serial order.

// A polling knows which racing loads of a pair are such looks.
type polling struct {
	p    Pair
	pre  *overlay.Memory
	pcs  [2]map[uint64]bool // loads whose values only decide branches; nil: not known yet
	refs [2][]*overlay.Result
	done [2]bool
}

// maxLooks bounds the places between two looks that are tried, per section.
const maxLooks = 64

// like reports whether r ends like an execution in which one section came whole
// between two looks of the other.
func (q *polling) like(r *overlay.Result) bool {
	for side := range q.refs {
		for _, ref := range q.between(side) {
			if len(q.p.diff(ref, r, 1)) == 0 {
				return true
			}
		}
	}
	return false
}

// between executes the pair with the other section between each two looks of
// the given one.
func (q *polling) between(side int) []*overlay.Result {
	if q.done[side] {
		return q.refs[side]
	}
	q.done[side] = true
	looks := q.looks(side)
	if len(looks) == 0 {
		return nil
	}
	r := q.p.start(q.pre)
	r.Go(side)
	hits := r.HitPCs(side)
	times := map[uint64]int{}
	for _, pc := range hits {
		times[pc]++
	}
	for k, pc := range hits {
		if k == 0 || times[pc] < 2 || !looks[pc] || len(q.refs[side]) == maxLooks {
			continue
		}
		if x := q.p.interleave(q.pre, Schedule{First: side, At: Point{N: k + 1}}); x != nil && comparable(x) {
			q.refs[side] = append(q.refs[side], x)
		}
	}
	return q.refs[side]
}

// looks lists the instructions of a section that load racing bytes only to
// decide branches; none if it also stores to some.
func (q *polling) looks(side int) map[uint64]bool {
	s := [2]*overlay.Section{q.p.A, q.p.B}[side]
	racing := func(a *overlay.Access) bool {
		for _, sp := range q.p.Racy {
			if x := q.p.World.canon(a.Addr); x < q.p.World.canon(sp.Addr)+sp.N && q.p.World.canon(sp.Addr) < x+uint64(a.Size) {
				return true
			}
		}
		return false
	}
	any := false
	for i := range s.Accesses {
		if a := &s.Accesses[i]; racing(a) {
			if a.Writes() || a.Atom {
				return nil
			}
			any = true
		}
	}
	if !any {
		return nil
	}
	loads, err := Matter(s, q.p.World)
	if err != nil {
		return nil
	}
	out := map[uint64]bool{}
	for i := range loads {
		l := &loads[i]
		if a := &s.Accesses[l.Index]; racing(a) {
			only := l.Control && len(l.Reaches) == 0
			if was, known := out[a.PC]; known {
				only = only && was
			}
			out[a.PC] = only
		}
	}
	return out
}
