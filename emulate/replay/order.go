package replay

import (
	"fmt"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// What the threads of a trace did is partly ordered: each thread's events one
// after the other, and across threads what the coherence messages say. An
// ordering is that graph, over the events that the messages name. It is solved
// by ranking them: an event's rank is the length of the longest chain that ends
// in it, so that every inequality holds between ranks.

// An access is one node of an ordering: what a thread does from one of its
// orderable events to the next, as far as others depend on it or it on others.
type access struct {
	thread emulate.ThreadID
	min    uint64 // the event
}

func (a access) String() string { return fmt.Sprintf("%d:%d", a.thread, a.min) }

// An ordering is a set of accesses and of inequalities between them.
type ordering struct {
	of    map[emulate.ThreadID][]access // by thread, in its order once solved
	edges map[edge]bool
}

// An edge says that a came before b.
type edge struct{ a, b access }

func newOrdering() *ordering {
	return &ordering{of: map[emulate.ThreadID][]access{}, edges: map[edge]bool{}}
}

// add notes an access.
func (o *ordering) add(a access) { o.of[a.thread] = append(o.of[a.thread], a) }

// fetched notes that at b a thread got a line that another's a had left: b comes
// after a, and before what that thread does next.
func (o *ordering) fetched(a, b access) {
	if e := (edge{a, b}); !o.edges[e] {
		o.edges[e] = true
		o.add(a)
		o.add(b)
	}
}

// A cycle says that no execution satisfies all inequalities.
type cycle struct{ accesses []access }

func (c *cycle) Error() string {
	s := "replay: the trace's coherence messages contradict one another: "
	for i, a := range c.accesses {
		if i > 0 {
			s += " before "
		}
		if i == 8 {
			return s + "…"
		}
		s += a.String()
	}
	return s
}

// solve returns a rank for every access that satisfies all inequalities, or a
// *cycle.
func (o *ordering) solve() (map[access]int, error) {
	next := map[access][]access{} // edges, with program order
	in := map[access]int{}
	var all []access
	for id, l := range o.of {
		sort.Slice(l, func(i, j int) bool { return l[i].min < l[j].min })
		n := 0
		for i, a := range l {
			if i > 0 && l[i-1] == a {
				continue
			}
			if n > 0 {
				next[l[n-1]] = append(next[l[n-1]], a)
				in[a]++
			}
			l[n] = a
			n++
		}
		o.of[id] = l[:n]
		all = append(all, l[:n]...)
	}
	for e := range o.edges {
		next[e.a] = append(next[e.a], e.b)
		in[e.b]++
		l := o.of[e.a.thread]
		if i := sort.Search(len(l), func(i int) bool { return l[i].min > e.a.min }); i < len(l) {
			next[e.b] = append(next[e.b], l[i])
			in[l[i]]++
		}
	}
	rank := make(map[access]int, len(all))
	var ready []access
	for _, a := range all {
		if in[a] == 0 {
			ready = append(ready, a)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		a := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, b := range next[a] {
			rank[b] = max(rank[b], rank[a]+1)
			if in[b]--; in[b] == 0 {
				ready = append(ready, b)
			}
		}
		if _, ok := rank[a]; !ok {
			rank[a] = 0
		}
	}
	if done == len(all) {
		return rank, nil
	}
	return nil, findCycle(all, next, in)
}

// findCycle returns one among the accesses that still wait for others.
func findCycle(all []access, next map[access][]access, in map[access]int) *cycle {
	prev := map[access]access{}
	for a, l := range next {
		for _, b := range l {
			if in[a] > 0 && in[b] > 0 {
				prev[b] = a
			}
		}
	}
	for _, a := range all {
		if in[a] == 0 {
			continue
		}
		seen := map[access]bool{}
		for !seen[a] { // backwards: everything that waits waits for something that does
			seen[a] = true
			a = prev[a]
		}
		c := []access{a}
		for b := prev[a]; b != a; b = prev[b] {
			c = append(c, b)
		}
		c = append(c, a)
		for i, j := 0, len(c)-1; i < j; i, j = i+1, j-1 {
			c[i], c[j] = c[j], c[i]
		}
		return &cycle{c}
	}
	panic("BUG: replay: an order without solution has no cycle")
}
