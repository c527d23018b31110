package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// A Cause is what one change of the program would mend: races that share both
// source lines, or one variable and the lock that is missing.
type Cause struct {
	ID      string   `json:"id"` // the least of its races' identifiers
	Verdict Verdict  `json:"verdict"`
	What    string   `json:"what,omitempty"` // in a few words
	Lock    string   `json:"lock,omitempty"` // that one side holds at times, and not always both
	Races   []string `json:"races"`          // identifiers, the worst first
	Count   int      `json:"count"`          // conflicts of all its races
}

// Group finds the causes of the races that aren't suppressed, and sets Cause of
// each of these. Races must be in the order in which they are to be shown.
func (r *Report) Group() {
	g := newGrouping(r.Races)
	r.Causes = []Cause{}
	at := map[int]int{}
	for i := range r.Races {
		x := &r.Races[i]
		x.Cause = ""
		if x.Suppressed != "" {
			continue
		}
		root := g.find(i)
		k, ok := at[root]
		if !ok {
			k = len(r.Causes)
			at[root] = k
			r.Causes = append(r.Causes, Cause{ID: x.ID, Verdict: x.Verdict})
		}
		c := &r.Causes[k]
		c.ID = min(c.ID, x.ID)
		c.Races = append(c.Races, x.ID)
		c.Count += x.Count
		if rank[x.Verdict] < rank[c.Verdict] {
			c.Verdict = x.Verdict
		}
		if c.Lock == "" {
			c.Lock = g.lock[i]
		}
		g.members[k] = append(g.members[k], i)
	}
	for k := range r.Causes {
		c := &r.Causes[k]
		for _, i := range g.members[k] {
			r.Races[i].Cause = c.ID
		}
		c.What = g.what(c, g.members[k])
	}
}

// A grouping unites races.
type grouping struct {
	races    []Race
	parent   []int
	variable []string // of each race: equal for those about one variable; "": unknown
	lock     []string // of each race: the lock that is missing; "": none is known
	members  map[int][]int
}

func newGrouping(races []Race) *grouping {
	g := &grouping{races: races, members: map[int][]int{}}
	used := map[string]map[string]int{} // locks by variable: at how many accesses
	for i := range races {
		x := &races[i]
		g.parent = append(g.parent, i)
		v := x.variable()
		g.variable = append(g.variable, v)
		if used[v] == nil {
			used[v] = map[string]int{}
		}
		for k := range x.Accesses {
			for _, l := range x.Accesses[k].Locks {
				used[v][l]++
			}
		}
	}
	first := map[string]int{}
	for i := range races {
		x := &races[i]
		g.lock = append(g.lock, missing(x, g.variable[i], used[g.variable[i]]))
		if x.Suppressed != "" {
			continue
		}
		class := fmt.Sprint(x.Verdict == Synchronisation)
		var keys []string
		if l := x.lines(); l != "" {
			keys = append(keys, class+"|lines|"+l)
		}
		if v := g.variable[i]; v != "" {
			keys = append(keys, class+"|variable|"+v+"|"+g.lock[i])
		}
		for _, k := range keys {
			if j, ok := first[k]; ok {
				g.parent[g.find(i)] = g.find(j)
			} else {
				first[k] = i
			}
		}
	}
	return g
}

func (g *grouping) find(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// missing is the lock that would have kept a race from being: one that only one
// side holds, or else one that other races on the variable know.
func missing(x *Race, variable string, used map[string]int) string {
	if variable == "" {
		return "" // a lock that one side has needn't have to do with it
	}
	a, b := x.Accesses[0].Locks, x.Accesses[1].Locks
	var one []string
	for _, l := range append(slices.Clone(a), b...) {
		if slices.Contains(a, l) != slices.Contains(b, l) {
			one = append(one, l)
		}
	}
	if len(one) == 0 {
		if len(a)+len(b) > 0 {
			return ""
		}
		for l := range used {
			one = append(one, l)
		}
	}
	best := ""
	for _, l := range one {
		if best == "" || used[l] > used[best] || used[l] == used[best] && l < best {
			best = l
		}
	}
	return best
}

// variable names the variable of a race, without members and indices; blocks of
// one call path are one variable. "" if it isn't known.
func (x *Race) variable() string {
	l := &x.Location
	for k := range x.Accesses {
		if op := x.Accesses[k].Op; op != "read" && op != "write" && op != "update" {
			return "" // the end of something, not its content
		}
	}
	switch {
	case l.Variable != "":
		return l.Kind + "|" + l.Variable + "|" + l.Base
	case l.Kind == "heap" && len(l.AllocatedAt) > 0:
		var s []string
		for _, f := range l.AllocatedAt {
			s = append(s, f.Function+" "+f.Place())
		}
		return "heap|" + strings.Join(s, "|")
	case l.Kind == "global":
		return "global|" + l.Symbol
	}
	return ""
}

// lines names both source lines of a race, "" if one isn't known.
func (x *Race) lines() string {
	var s []string
	for k := range x.Accesses {
		a := &x.Accesses[k]
		if a.File == "" {
			return ""
		}
		s = append(s, fmt.Sprintf("%s:%d", a.File, a.Line))
	}
	sort.Strings(s)
	return strings.Join(s, "|")
}

// what says in a few words what the races of a cause have in common.
func (g *grouping) what(c *Cause, members []int) string {
	x := &g.races[members[0]]
	name := x.Location.Variable
	if name == "" {
		name = x.Location.Name()
		if s := x.Location.Symbol; x.Location.Kind == "heap" && s != "" {
			name = s
		}
	}
	same := true
	for _, i := range members {
		same = same && g.variable[i] == g.variable[members[0]]
	}
	switch {
	case c.Verdict == Synchronisation || len(members) == 1 && c.Lock == "":
		return ""
	case c.Lock != "" && same && g.variable[members[0]] != "":
		return fmt.Sprintf("%s is accessed with %s held and without", name, c.Lock)
	case same && g.variable[members[0]] != "":
		return fmt.Sprintf("%s is accessed without a common lock", name)
	}
	return "the same lines race, on different memory"
}

// lead says whether the race at index i is the first of its cause; others are
// the indices of the other races of that cause.
func (r *Report) lead(i int) (first bool, others []int) {
	if r.Races[i].Cause == "" {
		return true, nil
	}
	first = true
	for k := range r.Races {
		if k != i && r.Races[k].Cause == r.Races[i].Cause {
			first = first && k > i
			others = append(others, k)
		}
	}
	return first, others
}

// cause returns the cause of a race; nil if it has none.
func (r *Report) cause(x *Race) *Cause {
	for k := range r.Causes {
		if x.Cause != "" && r.Causes[k].ID == x.Cause {
			return &r.Causes[k]
		}
	}
	return nil
}
