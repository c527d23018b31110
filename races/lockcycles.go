package races

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// A CycleSearch says which cycles of a LockGraph are looked for.
type CycleSearch struct {
	Limit  int // cycles at most
	Length int // edges of a cycle at most: 2 finds the inversion of two locks
	// Sets tells the locks of a set, as Detector.Lockset does.
	Sets func(LocksetID) []LockID
	// Concurrent says whether two locks may be taken at the same time; nil: always.
	Concurrent func(a, b *LockEdge) bool
	// Same tells edges of one kind: of cycles whose edges have the same texts one
	// is listed. nil: of those with the same locks.
	Same func(e *LockEdge) string
}

// maxCycleSteps bounds the search for cycles: edges that are tried.
const maxCycleSteps = 1 << 20

// Cycles lists lock-order cycles: what could deadlock in another schedule. Every
// lock is taken while the one before it is held, by different threads that may
// do so at the same time; no reader waits for a reader; and no two of the threads
// hold a common gate lock, which would keep them apart, unless both hold it as
// readers. (S. Bensalem, K. Havelund, Dynamic deadlock analysis of
// multi-threaded programs, 2005.)
func (g *LockGraph) Cycles(q CycleSearch) [][]*LockEdge {
	s := cycleSearch{CycleSearch: q, next: map[LockID][]*LockEdge{}, seen: map[string]bool{}, steps: maxCycleSteps}
	knots := g.Knots() // no others make cycles
	for _, e := range knots {
		s.next[e.From] = append(s.next[e.From], e)
	}
	for _, e := range knots {
		s.walk([]*LockEdge{e})
	}
	return s.found
}

type cycleSearch struct {
	CycleSearch
	next  map[LockID][]*LockEdge // by From
	seen  map[string]bool
	found [][]*LockEdge
	steps int
}

// walk extends a path until it closes. A cycle begins with its smallest lock,
// so that each is found once.
func (s *cycleSearch) walk(path []*LockEdge) {
	if s.steps--; s.steps < 0 || len(s.found) >= s.Limit {
		return
	}
	last := path[len(path)-1]
	if last.To == path[0].From {
		if len(path) < 2 || !waitsFor(last, path[0]) {
			return
		}
		// Neither the same code with other locks nor the same threads with these
		// locks in other parts of their lives.
		if k, l := s.key(path), lives(path); !s.seen[k] && !s.seen[l] {
			s.seen[k], s.seen[l] = true, true
			s.found = append(s.found, path)
		}
		return
	}
	if len(path) >= s.Length || last.To < path[0].From {
		return
	}
	for _, e := range s.next[last.To] {
		if waitsFor(last, e) && s.fits(path, e) {
			s.walk(append(path[:len(path):len(path)], e))
		}
	}
}

// waitsFor says whether the thread of e can wait for the lock that the thread of
// o holds.
func waitsFor(e, o *LockEdge) bool { return !e.Mode.Shared() || !o.HeldMode.Shared() }

// fits says whether e's thread can wait at the same time as all of the path.
func (s *cycleSearch) fits(path []*LockEdge, e *LockEdge) bool {
	for _, o := range path {
		if o.Taken.Thread == e.Taken.Thread || o.From == e.From {
			return false
		}
		both := common(s.Sets(o.Readable), s.Sets(e.Readable)) // two readers don't exclude one another
		for _, g := range common(s.Sets(o.Gates), s.Sets(e.Gates)) {
			if !slices.Contains(both, g) {
				return false
			}
		}
		if s.Concurrent != nil && !s.Concurrent(o, e) {
			return false
		}
	}
	return true
}

// lives is the same for cycles that differ in the parts of the threads' lives.
func lives(path []*LockEdge) string {
	k := "lives"
	for _, e := range path {
		k += fmt.Sprintf(" %d %d %d %d %d %d %d", e.From, e.To, e.Taken.Thread, e.Gates, e.Readable, e.Mode, e.HeldMode)
	}
	return k
}

func (s *cycleSearch) key(path []*LockEdge) string {
	var k []string
	for _, e := range path {
		if s.Same != nil {
			k = append(k, s.Same(e))
		} else {
			k = append(k, string([]byte{byte(e.From >> 24), byte(e.From >> 16), byte(e.From >> 8), byte(e.From)}))
		}
	}
	sort.Strings(k)
	return strings.Join(k, "\n")
}
