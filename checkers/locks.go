package checkers

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/racesim/racesim/report"
)

var lockOrder = &Checker{
	ID:    "lock-order",
	Title: "locks acquired in conflicting orders: a possible deadlock",
	Text: "One thread acquires B while it holds A, another acquires A while it holds B; with the right timing both wait " +
		"forever. Cycles of any length up to the option length are found (Bensalem and Havelund, \"Dynamic Deadlock " +
		"Analysis\", 2005): the threads must differ and be able to run at the same time (creation and join tell), " +
		"readers don't wait for readers, attempts that can't block never wait, and cycles that a common gate lock " +
		"protects (one that they don't all hold as readers) don't count. For each thread it is shown where it took the lock " +
		"that it holds and where it wants the other one.",
	Before:   "T1: lock(a); lock(b);   T2: lock(b); lock(a);",
	After:    "T1: lock(a); lock(b);   T2: lock(a); lock(b);",
	Severity: "error",
	Options:  []Option{{"length", "longest cycle looked for, in locks", 6}},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		s := cycleSearch{next: map[uint64][]*LockEdge{}, length: int(opt["length"]), seen: map[string]bool{}, steps: maxCycleSteps}
		for i := range f.Locks {
			e := &f.Locks[i]
			s.next[e.From] = append(s.next[e.From], e)
		}
		for i := range f.Locks {
			s.walk([]*LockEdge{&f.Locks[i]})
		}
		return s.found
	},
}

// Bounds of the search for cycles.
const (
	maxCycleSteps = 1 << 20
	maxCycles     = 100
)

type cycleSearch struct {
	next   map[uint64][]*LockEdge // by From
	length int
	seen   map[string]bool
	found  []report.Finding
	steps  int
}

// walk extends a path until it closes. A cycle begins with its smallest lock,
// so that each is found once.
func (s *cycleSearch) walk(path []*LockEdge) {
	if s.steps--; s.steps < 0 || len(s.found) >= maxCycles {
		return
	}
	last := path[len(path)-1]
	if last.To == path[0].From {
		if k := cycleKey(path); len(path) > 1 && !s.seen[k] && waits(last, path[0]) {
			s.seen[k] = true
			s.found = append(s.found, cycleFinding(path))
		}
		return
	}
	if len(path) >= s.length || last.To < path[0].From {
		return
	}
	for _, e := range s.next[last.To] {
		if waits(last, e) && compatible(path, e) {
			s.walk(append(path[:len(path):len(path)], e))
		}
	}
}

// waits says whether the thread of e can wait for the lock that the thread of
// o holds.
func waits(e, o *LockEdge) bool { return !e.ToShared || !o.FromShared }

// compatible reports whether e can wait at the same time as all of path:
// another thread, another lock, no common gate.
func compatible(path []*LockEdge, e *LockEdge) bool {
	for _, p := range path {
		if p.Thread == e.Thread || (p.From == e.From) {
			return false
		}
		for _, g := range p.Gates {
			if slices.Contains(e.Gates, g) && !(slices.Contains(p.Readable, g) && slices.Contains(e.Readable, g)) {
				return false
			}
		}
		if p.Concurrent != nil && !p.Concurrent(e) {
			return false
		}
	}
	return true
}

// cycleKey is the same for cycles that the same code makes with other locks.
func cycleKey(path []*LockEdge) string {
	var k []string
	for _, e := range path {
		k = append(k, stackKey(e.ToStack))
	}
	sort.Strings(k)
	return strings.Join(k, "\n")
}

// cycleFinding begins with the acquisition that comes first in the source.
func cycleFinding(path []*LockEdge) report.Finding {
	first := 0
	for i := range path {
		if comesBefore(path[i].ToStack, path[first].ToStack) {
			first = i
		}
	}
	path = append(path[first:len(path):len(path)], path[:first]...)
	var parts []string
	for _, e := range path {
		parts = append(parts, fmt.Sprintf("thread %d holds %s and acquires %s at %s", e.Thread, e.FromName, e.ToName, top(e.ToStack)))
	}
	x := report.Finding{
		Message: "possible deadlock: " + strings.Join(parts, "; "),
		Thread:  path[0].Thread, Position: path[0].Position, Stack: path[0].ToStack,
	}
	for i, e := range path {
		if i > 0 {
			x.Related = append(x.Related, report.Related{What: e.ToName + " wanted", Thread: e.Thread, Stack: e.ToStack})
		}
		x.Related = append(x.Related, report.Related{What: e.FromName + " taken", Thread: e.Thread, Stack: e.FromStack})
	}
	return x
}

func comesBefore(x, y []report.Frame) bool {
	if len(x) == 0 || len(y) == 0 {
		return len(x) > len(y)
	}
	if x[0].File != y[0].File {
		return x[0].File < y[0].File
	}
	return x[0].Line < y[0].Line
}
