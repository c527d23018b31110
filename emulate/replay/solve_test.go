package replay

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// made is an execution drawn at random: threads read and write lines under a
// protocol that shows one of those that have a line, and how many.
type made struct {
	ids  []emulate.ThreadID
	ms   *messages
	when map[emulate.ThreadID]map[uint64]int // by thread and packet: its place in the execution
}

func draw(t *rapid.T) *made {
	threads, lines := rapid.IntRange(2, 4).Draw(t, "threads"), rapid.IntRange(1, 3).Draw(t, "lines")
	e := &made{ms: &messages{map[emulate.ThreadID][]message{}, map[emulate.ThreadID][]event{}}, when: map[emulate.ThreadID]map[uint64]int{}}
	for i := range threads {
		e.ids = append(e.ids, emulate.ThreadID(i+1))
		e.when[emulate.ThreadID(i+1)] = map[uint64]int{}
	}
	holders, nth, min, last := make([]uint64, lines), make([]uint64, threads), uint64(0), make([]uint64, threads)
	for now := range rapid.IntRange(1, 60).Draw(t, "steps") {
		i := rapid.IntRange(0, threads-1).Draw(t, "thread")
		id := e.ids[i]
		put := func() uint64 {
			e.when[id][nth[i]] = now
			nth[i]++
			return nth[i] - 1
		}
		if rapid.IntRange(0, 4).Draw(t, "event") == 0 {
			min++
			last[i] = min
			n := put()
			e.ms.events[id] = append(e.ms.events[id], event{nth: n, at: n, min: min})
			continue
		}
		line := rapid.IntRange(0, lines-1).Draw(t, "line")
		write := rapid.Bool().Draw(t, "write")
		others, mine := holders[line]&^(1<<i), holders[line]>>i&1 != 0
		if mine && (!write || others == 0) {
			continue // nobody hears of it
		}
		m := message{min: last[i], line: uint64(line), count: uint64(bits.OnesCount64(others))}
		switch {
		case others == 0:
			m.kind = traces.Import
		case mine:
			m.kind = traces.Upgrade
		case write:
			m.kind = traces.SnoopOwn
		default:
			m.kind = traces.Snoop
		}
		if others != 0 {
			var l []int
			for b := others; b != 0; b &= b - 1 {
				l = append(l, bits.TrailingZeros64(b))
			}
			m.source = e.ids[rapid.SampledFrom(l).Draw(t, "holder")]
		}
		m.nth = put()
		m.at = m.nth
		e.ms.of[id] = append(e.ms.of[id], m)
		if holders[line] |= 1 << i; write || others == 0 {
			holders[line] = 1 << i
		}
	}
	return e
}

// What the solver says of an execution holds in it: every edge, and what a
// message's holder does next on the line, which is among the choices if it is
// left open.
func TestSolvedOrderIsThatOfTheExecution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		v := newSolver(e.ids, e.ms)
		open, err := v.solve()
		if err != nil {
			t.Fatal(err)
		}
		when := func(p place) int { return e.when[e.ids[p.thread]][v.nodes[p.thread][p.node].nth] }
		for k := range v.edges {
			if when(k.a) >= when(k.b) {
				t.Fatalf("edge from step %d to step %d", when(k.a), when(k.b))
			}
		}
		for i := range v.nodes {
			for k := range v.nodes[i] {
				p := place{i, k}
				m := v.nodes[i][k].m
				if m == nil || m.source == 0 {
					continue
				}
				h := v.index[m.source]
				l := v.lines[m.line][h]
				next := 0
				for next < len(l) && when(place{h, l[next]}) < when(p) {
					next++
				}
				if slices.Contains(open, p) {
					if c := v.choices[p]; !slices.Contains(c, next) || len(c) < 2 {
						t.Fatalf("choices %v, in the execution %d", c, next)
					}
					continue
				}
				want := len(v.nodes[h])
				if next < len(l) {
					want = l[next]
				}
				if v.sources[i][k] != want {
					t.Fatalf("the holder's next node is said to be %d, in the execution %d", v.sources[i][k], want)
				}
			}
		}
		// Where lines are offered lies after the message, and not after what the
		// holder does next on the line.
		for id, l := range v.resolved() {
			n := 0
			for _, m := range e.ms.of[id] {
				if !m.wants() {
					continue
				}
				if at, ok := e.when[m.source][l[n]]; ok && at <= e.when[id][m.nth] {
					t.Fatalf("offered at step %d what is wanted at step %d", at, e.when[id][m.nth])
				}
				n++
			}
		}
	})
}

// Choosing wrongly for what is open is contradicted by the inequalities or leads
// to another order that they allow; what was chosen can be taken back.
func TestChoicesCanBeTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t)
		v := newSolver(e.ids, e.ms)
		open, err := v.solve()
		if err != nil || len(open) == 0 {
			return
		}
		before, mark := fmt.Sprint(v.resolved(), v.sources, len(v.edges)), len(v.trail)
		p := rapid.SampledFrom(open).Draw(t, "message")
		m := v.nodes[p.thread][p.node].m
		allowed := 0
		for _, next := range slices.Clone(v.choices[p]) {
			v.settle(v.lines[m.line], p, next)
			if _, err := v.solve(); err == nil {
				allowed++
			}
			v.undo(mark)
		}
		if allowed == 0 {
			t.Fatal("every choice is contradicted, that of the execution, too")
		}
		if _, err := v.solve(); err != nil {
			t.Fatal(err)
		}
		if after := fmt.Sprint(v.resolved(), v.sources, len(v.edges)); after != before {
			t.Fatalf("%s\nbefore the choices %s", after, before)
		}
	})
}
