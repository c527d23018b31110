package replay

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// Messages of log mode ccp:readers say who has a line, one of several, and how
// many, but not what that one did last. Without the schedule's marks, the order
// is that of orderable events and what the messages allow: per line, the
// interleavings of its messages are found in which each one's holders are as
// it says. What all of them agree on becomes an edge of a graph over all
// messages and events, which orders more, until nothing is added.

// A solver finds the order of messages without marks.
type solver struct {
	ids     []emulate.ThreadID
	index   map[emulate.ThreadID]int
	nodes   [][]moment // by thread, in the order of its stream
	chain   []place    // orderable events by number
	lines   map[uint64][][]int
	sources [][]int // by thread and node: of a message, the holder's next node on the line; -1: not known
	clocks  [][]uint32
	choices map[place][]int // of a message that isn't settled: how far its holder may have come on the line
	trail   []step          // what was added, to be taken back
	edges   map[edgeKey]bool
	extra   map[place][]place // edges by their ends
	tried   int               // states of interleavings that were looked at
}

// A moment is a node: a message or an orderable event.
type moment struct {
	nth   uint64
	at    uint64 // instruction
	order bool   // an orderable instruction: what follows at the same one happens with it
	m     *message
}

// A place is a node of a thread.
type place struct{ thread, node int }

type edgeKey struct{ a, b place }

// A step is an edge or, with settled, what a message's holder does next.
type step struct {
	edge    edgeKey
	message place
	settled bool
}

// maxStates bounds the states of a line's interleavings that are kept at a time.
const maxStates = 1 << 11

// maxLineStates bounds those that are looked at for a line.
const maxLineStates = 1 << 20

// newSolver collects nodes and lines. Switches are left out.
func newSolver(ids []emulate.ThreadID, ms *messages) *solver {
	v := &solver{ids: ids, index: map[emulate.ThreadID]int{}, lines: map[uint64][][]int{}, edges: map[edgeKey]bool{}, choices: map[place][]int{}, extra: map[place][]place{}}
	type numbered struct {
		min uint64
		p   place
	}
	var chain []numbered
	for i, id := range ids {
		v.index[id] = i
		var l []moment
		events, msgs := ms.events[id], ms.of[id]
		for len(events) > 0 || len(msgs) > 0 {
			if len(msgs) == 0 || len(events) > 0 && events[0].nth < msgs[0].nth {
				if e := events[0]; !e.mark {
					chain = append(chain, numbered{e.min, place{i, len(l)}})
					l = append(l, moment{nth: e.nth, at: e.at, order: e.order})
				}
				events = events[1:]
				continue
			}
			m := &msgs[0]
			by := v.lines[m.line]
			if by == nil {
				by = make([][]int, len(ids))
				v.lines[m.line] = by
			}
			by[i] = append(by[i], len(l))
			l = append(l, moment{nth: m.nth, at: m.at, m: m})
			msgs = msgs[1:]
		}
		v.nodes = append(v.nodes, l)
		src := make([]int, len(l))
		for k := range src {
			src[k] = -1
		}
		v.sources = append(v.sources, src)
	}
	sort.Slice(chain, func(i, j int) bool { return chain[i].min < chain[j].min })
	for _, c := range chain {
		v.chain = append(v.chain, c.p)
	}
	return v
}

// clock computes what must come before each node: how many nodes of each thread.
func (v *solver) clock() error {
	n := len(v.ids)
	v.clocks = make([][]uint32, n)
	for i, l := range v.nodes {
		v.clocks[i] = make([]uint32, len(l)*n)
	}
	next := make([]int, n)      // by thread
	events := make([]uint32, n) // what must come before the next orderable event
	chain := 0
	last := place{-1, 0} // the event before in the chain
	done := func(p place) bool { return next[p.thread] > p.node }
	// glued says whether what happens with the last event is done.
	glued := func() bool {
		if last.thread < 0 {
			return true
		}
		l := v.nodes[last.thread]
		if !l[last.node].order {
			return done(last)
		}
		k := last.node + 1
		for k < len(l) && l[k].m != nil && l[k].at == l[last.node].at {
			k++
		}
		return next[last.thread] >= k
	}
	for {
		progress, left := false, false
		for t := range v.nodes {
		thread:
			for next[t] < len(v.nodes[t]) {
				i := next[t]
				here := place{t, i}
				isEvent := v.nodes[t][i].m == nil
				if isEvent && (v.chain[chain] != here || !glued()) {
					break
				}
				for _, a := range v.extra[here] {
					if !done(a) {
						break thread
					}
				}
				c := v.clocks[t][i*n : i*n+n]
				if i > 0 {
					copy(c, v.clocks[t][(i-1)*n:i*n])
				}
				for _, a := range v.extra[here] {
					join(c, v.clocks[a.thread][a.node*n:a.node*n+n])
				}
				if isEvent {
					if last.thread >= 0 {
						k := last.node
						l := v.nodes[last.thread]
						if l[k].order {
							for k+1 < len(l) && l[k+1].m != nil && l[k+1].at == l[last.node].at {
								k++
							}
						}
						join(events, v.clocks[last.thread][k*n:k*n+n])
					}
					join(c, events)
					last = here
					chain++
				}
				c[t] = uint32(i + 1)
				next[t]++
				progress = true
			}
			left = left || next[t] < len(v.nodes[t])
		}
		if !left {
			return nil
		}
		if !progress {
			return v.stuck(next)
		}
	}
}

// stuck names the nodes that wait for one another.
func (v *solver) stuck(next []int) error {
	s := "replay: the trace's coherence messages contradict one another:"
	for t, i := range next {
		if i < len(v.nodes[t]) {
			s += fmt.Sprintf(" packet %d of thread %d", v.nodes[t][i].nth, v.ids[t])
		}
	}
	return fmt.Errorf("%s wait for one another", s)
}

func join(a, b []uint32) {
	for i, x := range b {
		a[i] = max(a[i], x)
	}
}

// before says whether a must come before b.
func (v *solver) before(a, b place) bool {
	return v.clocks[b.thread][b.node*len(v.ids)+a.thread] > uint32(a.node)
}

// less adds an edge.
func (v *solver) less(a, b place) {
	if a.thread == b.thread || v.before(a, b) {
		return
	}
	if k := (edgeKey{a, b}); !v.edges[k] {
		v.edges[k] = true
		v.trail = append(v.trail, step{edge: k})
		v.extra[b] = append(v.extra[b], a)
	}
}

// solve finds for each snoop what its holder does next on the line. Those of
// which several are possible are returned.
func (v *solver) solve() (open []place, err error) {
	for round := 0; ; round++ {
		if err := v.clock(); err != nil {
			return nil, err
		}
		open = open[:0]
		before := len(v.edges)
		for _, by := range v.lines {
			o, err := v.line(by)
			if err != nil {
				return nil, err
			}
			open = append(open, o...)
		}
		if len(v.edges) == before || round == 8 {
			sort.Slice(open, func(i, j int) bool {
				return open[i].thread < open[j].thread || open[i].thread == open[j].thread && open[i].node < open[j].node
			})
			return open, nil
		}
	}
}

// A lineState is how far a line's messages of each thread have come, and who
// has the line.
type lineState struct {
	pos     [maxSolved]int32
	holders uint64
}

// maxSolved is the number of threads whose messages are solved.
const maxSolved = 16

// A move is one message in an interleaving.
type move struct {
	from, to int // states of two neighbouring layers
	thread   int
	next     int32 // how far the holder had come
}

// line looks at all interleavings of one line's messages.
func (v *solver) line(by [][]int) (open []place, err error) {
	known := true
	for t, l := range by {
		for _, k := range l {
			known = known && (v.nodes[t][k].m.source == 0 || v.sources[t][k] != -1)
		}
	}
	if known {
		return nil, nil
	}
	possible := map[place]uint64{} // by message: bits of how far its holder had come, from base
	base := map[place]int32{}
	layer := []lineState{{}}
	var moves [][]move // since the last layer of one state
	var states [][]lineState
	total, seen := 0, 0
	for _, l := range by {
		total += len(l)
	}
	flush := func() {
		alive := map[int]bool{}
		for i := range layer {
			alive[i] = true
		}
		for d := len(moves) - 1; d >= 0; d-- {
			now := map[int]bool{}
			for _, m := range moves[d] {
				if !alive[m.to] {
					continue
				}
				now[m.from] = true
				if m.next >= 0 {
					p := place{m.thread, by[m.thread][states[d][m.from].pos[m.thread]]}
					if possible[p] == 0 {
						base[p] = m.next
					}
					for ; m.next < base[p]; base[p]-- {
						possible[p] = possible[p]<<1 | possible[p]>>63<<63
					}
					possible[p] |= 1 << min(m.next-base[p], 63)
				}
			}
			alive = now
		}
		moves, states = nil, nil
	}
	for d := 0; d < total; d++ {
		index := map[lineState]int{}
		var after []lineState
		var ms []move
		for i, s := range layer {
			for t, l := range by {
				to, next, ok := v.happen(by, &s, t, l)
				if !ok {
					continue
				}
				k, have := index[to]
				if !have {
					k = len(after)
					index[to] = k
					after = append(after, to)
				}
				ms = append(ms, move{i, k, t, next})
			}
		}
		v.tried += len(after)
		if len(after) == 0 {
			return nil, fmt.Errorf("replay: no order of the coherence messages about line %v gives the holders that they name", emulate.Addr(v.lineOf(by)<<6))
		}
		if seen += len(after); len(after) > maxStates || seen > maxLineStates {
			return v.unsolved(by), nil
		}
		states, moves, layer = append(states, layer), append(moves, ms), after
		if len(layer) == 1 {
			flush()
		}
	}
	flush()
	for t, l := range by {
		for _, k := range l {
			p := place{t, k}
			m := v.nodes[t][k].m
			if m.source == 0 || v.sources[t][k] != -1 {
				continue
			}
			if bits.OnesCount64(possible[p]) != 1 {
				open = append(open, p)
				var c []int
				for b := possible[p]; b != 0; b &= b - 1 {
					c = append(c, int(base[p])+bits.TrailingZeros64(b))
				}
				v.choices[p] = c
				continue
			}
			v.settle(by, p, int(base[p]))
		}
	}
	return open, nil
}

// settle notes how far a message's holder had come on the line.
func (v *solver) settle(by [][]int, p place, next int) {
	h := v.index[v.nodes[p.thread][p.node].m.source]
	l := by[h]
	v.trail = append(v.trail, step{message: p, settled: true})
	v.less(place{h, l[next-1]}, p)
	if next < len(l) {
		v.sources[p.thread][p.node] = l[next]
		v.less(p, place{h, l[next]})
	} else {
		v.sources[p.thread][p.node] = len(v.nodes[h])
	}
}

// undo takes back what was added since the trail had n steps.
func (v *solver) undo(n int) {
	for len(v.trail) > n {
		s := v.trail[len(v.trail)-1]
		v.trail = v.trail[:len(v.trail)-1]
		if s.settled {
			v.sources[s.message.thread][s.message.node] = -1
			continue
		}
		delete(v.edges, s.edge)
		v.extra[s.edge.b] = v.extra[s.edge.b][:len(v.extra[s.edge.b])-1]
	}
}

// unsolved returns the line's messages of which nothing is known.
func (v *solver) unsolved(by [][]int) (open []place) {
	for t, l := range by {
		for _, k := range l {
			if v.nodes[t][k].m.source != 0 && v.sources[t][k] == -1 {
				open = append(open, place{t, k})
			}
		}
	}
	return open
}

func (v *solver) lineOf(by [][]int) uint64 {
	for t, l := range by {
		for _, k := range l {
			return v.nodes[t][k].m.line
		}
	}
	return 0
}

// happen lets a thread's next message about a line happen, if it can: nothing that
// must come before is left, and those have the line that it says. next is how
// far its holder has come, -1 if it names none.
func (v *solver) happen(by [][]int, s *lineState, t int, l []int) (to lineState, next int32, ok bool) {
	if int(s.pos[t]) == len(l) {
		return to, 0, false
	}
	here := place{t, l[s.pos[t]]}
	m := v.nodes[t][here.node].m
	for u, ul := range by {
		if u != t && int(s.pos[u]) < len(ul) && v.before(place{u, ul[s.pos[u]]}, here) {
			return to, 0, false
		}
	}
	to, next = *s, -1
	to.pos[t]++
	if m.source == 0 {
		to.holders = 1 << t
		return to, next, true
	}
	h := v.index[m.source]
	others := s.holders &^ (1 << t)
	if others>>h&1 == 0 || uint64(bits.OnesCount64(others)) != m.count {
		return to, 0, false
	}
	if mine := s.holders>>t&1 != 0; mine != (m.kind == traces.Upgrade) {
		// Only after a key frame a thread asks for what it has.
		if !mine || s.pos[t] > 0 && v.nodes[t][l[s.pos[t]-1]].m.keys == m.keys {
			return to, 0, false
		}
	}
	if k := v.sources[t][here.node]; k != -1 { // settled in an earlier round
		if s.pos[h] < int32(len(by[h])) && by[h][s.pos[h]] != k || int(s.pos[h]) == len(by[h]) && k != len(v.nodes[h]) {
			return to, 0, false
		}
	}
	next = s.pos[h]
	if m.kind == traces.Snoop {
		to.holders |= 1 << t
	} else {
		to.holders = 1 << t
	}
	return to, next, true
}

// resolved says for each snoop before which packet of its holder's stream the
// line is as it was: the first that must come after it.
func (v *solver) resolved() map[emulate.ThreadID][]uint64 {
	r := map[emulate.ThreadID][]uint64{}
	n := len(v.ids)
	for t, l := range v.nodes {
		for i := range l {
			if m := l[i].m; m != nil && m.wants() {
				h := v.index[m.source]
				k := sort.Search(len(v.nodes[h]), func(k int) bool { return v.clocks[h][k*n+t] > uint32(i) })
				at := uint64(math.MaxUint64)
				if k < len(v.nodes[h]) {
					at = v.nodes[h][k].nth
				}
				r[v.ids[t]] = append(r[v.ids[t]], at)
			}
		}
	}
	return r
}
