package checkers

import (
	"fmt"
	"sort"
	"strings"

	"github.com/racesim/racesim/report"
)

var lockOrder = &Checker{
	ID:    "lock-order",
	Title: "locks acquired in conflicting orders: a possible deadlock",
	Text: "One thread acquires B while it holds A, another acquires A while it holds B; with the right timing both wait " +
		"forever. Cycles of any length up to the option length are found (Bensalem and Havelund, \"Dynamic Deadlock " +
		"Analysis\", 2005): the threads must differ, and cycles that a common gate lock protects don't count.",
	Before:   "T1: lock(a); lock(b);   T2: lock(b); lock(a);",
	After:    "T1: lock(a); lock(b);   T2: lock(a); lock(b);",
	Severity: "error",
	Options:  []Option{{"length", "longest cycle looked for, in locks", 4}},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		next := map[uint64][]*LockEdge{}
		for i := range f.Locks {
			e := &f.Locks[i]
			next[e.From] = append(next[e.From], e)
		}
		seen := map[string]bool{}
		var out []report.Finding
		var walk func(path []*LockEdge)
		walk = func(path []*LockEdge) {
			if len(out) >= 100 {
				return
			}
			last := path[len(path)-1]
			if last.To == path[0].From {
				if k := cycleKey(path); len(path) > 1 && !seen[k] {
					seen[k] = true
					out = append(out, cycleFinding(path))
				}
				return
			}
			if int64(len(path)) >= opt["length"] {
				return
			}
			for _, e := range next[last.To] {
				if compatible(path, e) {
					walk(append(path[:len(path):len(path)], e))
				}
			}
		}
		for i := range f.Locks {
			walk([]*LockEdge{&f.Locks[i]})
		}
		return out
	},
}

// compatible reports whether e can wait at the same time as all of path:
// another thread, another lock, no common gate.
func compatible(path []*LockEdge, e *LockEdge) bool {
	for _, p := range path {
		if p.Thread == e.Thread || (p.From == e.From) {
			return false
		}
		for _, g := range p.Gates {
			for _, h := range e.Gates {
				if g == h {
					return false
				}
			}
		}
		if p.Concurrent != nil && !p.Concurrent(e) {
			return false
		}
	}
	return true
}

func cycleKey(path []*LockEdge) string {
	var k []string
	for _, e := range path {
		k = append(k, fmt.Sprintf("%x>%x", e.From, e.To))
	}
	sort.Strings(k)
	return strings.Join(k, " ")
}

func cycleFinding(path []*LockEdge) report.Finding {
	var parts []string
	for _, e := range path {
		parts = append(parts, fmt.Sprintf("thread %d holds %s and acquires %s at %s", e.Thread, e.FromName, e.ToName, top(e.ToStack)))
	}
	return report.Finding{
		Message: "possible deadlock: " + strings.Join(parts, "; "),
		Thread:  path[0].Thread, Position: path[0].Position, Stack: path[0].ToStack,
	}
}
