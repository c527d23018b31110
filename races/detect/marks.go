package detect

import (
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
)

// A mark is a place to seek from.
type mark struct {
	count emulate.Count
	snap  *replay.Snapshot
	calls *funcs.Tracker
	pages int64 // that are kept for it: changed between it and the next one
}

// A marker leaves marks behind in a thread's replay: at most so many, and fewer
// if their memory is more than all threads together may keep.
type marker struct {
	tt     *ThreadTrack
	every  uint64 // instructions
	next   uint64
	copied uint64 // Memory.Copied at the last mark
	kept   *atomic.Int64
	most   int64 // pages of all threads
}

// minEvery is the least distance of marks, in instructions.
const minEvery = 200_000

// between returns how far from one another the marks of a thread are, in
// instructions.
func (p *Pass) between(id emulate.ThreadID) uint64 {
	n := p.Marks
	if n == 0 {
		n = 32
	}
	return max(uint64(p.Session.Last(id))/uint64(n), minEvery)
}

func (p *Pass) marker(tt *ThreadTrack) *marker {
	return &marker{tt: tt, every: p.between(tt.ID), kept: &p.kept, most: p.memory() / markShare / replay.PageSize}
}

// pass leaves a mark if one is due.
func (m *marker) pass(t *replay.Thread, calls *funcs.Tracker) {
	c := uint64(t.Count())
	if c < m.next || t.CPU().Pending().Size != 0 {
		return
	}
	m.account(t)
	m.tt.marks = append(m.tt.marks, mark{count: t.Count(), snap: t.Snapshot(), calls: calls.Clone()})
	m.next = c + m.every
}

// account notes what the last mark takes, and thins the marks out if they take
// too much. The first one stays: replay has to begin somewhere.
func (m *marker) account(t *replay.Thread) {
	n := len(m.tt.marks)
	if n == 0 {
		return
	}
	c := t.Memory().Copied()
	m.tt.marks[n-1].pages = int64(c - m.copied)
	m.kept.Add(int64(c - m.copied))
	m.copied = c
	for len(m.tt.marks) > 1 && m.kept.Load() > m.most {
		m.every *= 2
		m.thin()
	}
}

// thin drops every second mark. What two of them kept is mostly the same pages.
func (m *marker) thin() {
	marks := m.tt.marks
	keep := marks[:0]
	for i := range marks {
		if i%2 == 0 {
			keep = append(keep, marks[i])
			continue
		}
		k := &keep[len(keep)-1]
		m.kept.Add(-min(k.pages, marks[i].pages))
		k.pages = max(k.pages, marks[i].pages)
	}
	clear(marks[len(keep):])
	m.tt.marks = keep
}
