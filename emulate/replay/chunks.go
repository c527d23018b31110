package replay

import (
	"errors"
	"io"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// A Chunk is what a thread did from one context switch to the next: a Slice with
// what it depends on. Switches are marks with ascending numbers, so that chunks
// are in order; inside a chunk no order relative to others is needed.
type Chunk struct {
	Slice
	// After lists the chunks (places in the list) whose effects this one may
	// have seen, or that saw what this one replaced: the thread's previous one,
	// the creator's, those that gave up what a system call acquired, and, if the
	// trace's threads depend on one another, those that lines came from and
	// those that got lines which this one may have changed. In such a trace all
	// orders that keep them replay alike. Ascending.
	After []int
}

// Chunks returns the recording as chunks, in the order of their marks.
func (s *Session) Chunks() ([]Chunk, error) {
	slices, err := s.Schedule()
	if err != nil {
		return nil, err
	}
	c := chunker{s: s, chunks: make([]Chunk, len(slices)), of: map[emulate.ThreadID][]int{}, after: make([]map[int]bool, len(slices))}
	for i, g := range slices {
		c.chunks[i].Slice = g
		if l := c.of[g.Thread]; len(l) > 0 {
			c.depend(i, l[len(l)-1])
		}
		c.of[g.Thread] = append(c.of[g.Thread], i)
	}
	for _, id := range s.threads {
		if err := c.read(id); err != nil {
			return nil, err
		}
	}
	c.synchronise()
	for i, m := range c.after {
		for j := range m {
			c.chunks[i].After = append(c.chunks[i].After, j)
		}
		sort.Ints(c.chunks[i].After)
	}
	return c.chunks, nil
}

// A chunker collects what chunks depend on.
type chunker struct {
	s      *Session
	chunks []Chunk
	of     map[emulate.ThreadID][]int // chunks of each thread
	after  []map[int]bool
	events []syncEvent
}

// A syncEvent is a system call's entry that releases an object, or its exit that
// acquires one.
type syncEvent struct {
	min     uint64
	chunk   int
	object  traces.Object
	acquire bool
}

// depend notes that chunk i comes after chunk j.
func (c *chunker) depend(i, j int) {
	if i < 0 || j < 0 || i == j {
		return
	}
	if c.after[i] == nil {
		c.after[i] = map[int]bool{}
	}
	c.after[i][j] = true
}

// at returns the chunk in which a thread came to its event min, or after which
// it did without running; and the one that follows. -1: none.
func (c *chunker) at(id emulate.ThreadID, min uint64) (is, next int) {
	l := c.of[id]
	n := sort.Search(len(l), func(i int) bool { return c.chunks[l[i]].Min > min })
	is, next = -1, -1
	if n > 0 {
		is = l[n-1]
	}
	if n < len(l) {
		next = l[n]
	}
	return is, next
}

// read goes through a thread's stream.
func (c *chunker) read(id emulate.ThreadID) error {
	cur := c.s.r.Cursor(uint32(id))
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		here, next := c.at(id, cur.Min())
		switch p.Kind {
		case traces.Start:
			if p.Parent != 0 {
				creator, _ := c.at(emulate.ThreadID(p.Parent), p.Min)
				c.depend(next, creator)
			}
		case traces.Fetch, traces.FetchOwn, traces.FetchAs:
			from, then := c.at(emulate.ThreadID(p.Thread), p.Since)
			if emulate.ThreadID(p.Thread) != id {
				c.depend(here, from)
				c.depend(then, here)
			}
		case traces.SyscallEnter, traces.SyscallExit:
			for _, o := range p.Objs {
				c.events = append(c.events, syncEvent{p.Min, here, o, p.Kind == traces.SyscallExit})
			}
		}
	}
}

// synchronise lets each acquisition come after what every thread last released
// of the object before.
func (c *chunker) synchronise() {
	sort.Slice(c.events, func(i, j int) bool { return c.events[i].min < c.events[j].min })
	released := map[traces.Object]map[emulate.ThreadID]int{}
	for _, e := range c.events {
		if e.chunk < 0 {
			continue
		}
		if !e.acquire {
			if released[e.object] == nil {
				released[e.object] = map[emulate.ThreadID]int{}
			}
			released[e.object][c.chunks[e.chunk].Thread] = e.chunk
			continue
		}
		for _, j := range released[e.object] {
			c.depend(e.chunk, j)
		}
	}
}
