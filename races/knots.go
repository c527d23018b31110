package races

// Knots lists the edges that can be part of a cycle: those between locks of
// one strongly connected component of the graph, in the order in which they
// were first seen. It takes time in proportion to the number of edges
// (R. Tarjan, Depth-first search and linear graph algorithms, 1972).
func (g *LockGraph) Knots() []*LockEdge {
	next := map[LockID][]LockID{}
	for _, e := range g.edges {
		next[e.From] = append(next[e.From], e.To)
	}
	k := knots{next: next, num: map[LockID]int{}, low: map[LockID]int{}, part: map[LockID]int{}}
	for _, e := range g.edges {
		if k.num[e.From] == 0 {
			k.visit(e.From)
		}
	}
	var out []*LockEdge
	for _, e := range g.edges {
		if k.part[e.From] == k.part[e.To] {
			out = append(out, e)
		}
	}
	return out
}

// knots is the state of the search: locks are numbered from 1 as they are
// found; part is a lock's component once that is complete.
type knots struct {
	next      map[LockID][]LockID
	num, low  map[LockID]int
	part      map[LockID]int
	open      []LockID
	n, counts int
}

// A visit is a lock whose successors are being looked at.
type visit struct {
	lock LockID
	next []LockID
}

func (k *knots) visit(start LockID) {
	path := []visit{k.enter(start)}
	for len(path) > 0 {
		v := &path[len(path)-1]
		if len(v.next) > 0 {
			to := v.next[0]
			v.next = v.next[1:]
			if k.num[to] == 0 {
				path = append(path, k.enter(to))
			} else if k.part[to] == 0 {
				k.low[v.lock] = min(k.low[v.lock], k.num[to])
			}
			continue
		}
		l := v.lock
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1].lock
			k.low[up] = min(k.low[up], k.low[l])
		}
		if k.low[l] != k.num[l] {
			continue
		}
		for k.counts++; ; {
			m := k.open[len(k.open)-1]
			k.open = k.open[:len(k.open)-1]
			k.part[m] = k.counts
			if m == l {
				break
			}
		}
	}
}

func (k *knots) enter(l LockID) visit {
	k.n++
	k.num[l], k.low[l] = k.n, k.n
	k.open = append(k.open, l)
	return visit{l, k.next[l]}
}
