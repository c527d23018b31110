package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Decoupled says what Decouple did.
type Decoupled struct {
	Stats
	Threads int
	Solved  Solved // of a trace whose messages don't say their order, with NoMarks
	Fetches uint64 // entries that depended on another thread or the second file
}

// arrivals is the number of lines of a thread that may wait to be written.
const arrivals = 1 << 12

// Decouple writes the trace to a new file in which every thread stands alone:
// all threads are replayed together, and what a thread got from another is
// written where its stream only said from whom. Of a trace that
// was cut off, as much is written as all of it can be replayed, without an
// index, like a trace that was cut off.
func (s *Session) Decouple(ctx context.Context, path string, o DecoupleOptions) (Decoupled, error) {
	o.complete()
	d := Decoupled{Threads: len(s.threads)}
	if !s.Dependent() {
		return d, fmt.Errorf("replay: the trace's threads are independent already")
	}
	x, err := s.exchangeFor(ctx, o, &d)
	if err != nil {
		return d, err
	}
	h := s.r.Header()
	h.LogMode = "independent"
	w, err := traces.Create(path, h)
	if err != nil {
		return d, err
	}
	if err := w.CopyFiles(s.r); err != nil {
		w.Abort()
		os.Remove(path + traces.IncompleteSuffix)
		return d, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := map[emulate.ThreadID]chan [hwmodel.LineSize]byte{}
	for _, id := range s.threads {
		n := arrivals
		if x.grant {
			// A thread may wait until another has gone far beyond what is written.
			n = int(s.last[id].Packets)
		}
		lines[id] = make(chan [hwmodel.LineSize]byte, n)
	}
	x.took = func(t *Thread, data *[hwmodel.LineSize]byte) {
		select {
		case lines[t.id] <- *data:
			return
		default:
		}
		<-x.run // whoever isn't ahead executes meanwhile
		select {
		case lines[t.id] <- *data:
		case <-ctx.Done():
		}
		x.run <- struct{}{}
	}
	x.gone = func(id emulate.ThreadID) { close(lines[id]) }
	replayed := make(chan error, 1)
	stats := make(chan Stats, len(s.threads))
	go func() {
		replayed <- s.together(x, func(t *Thread) error {
			t.Want = Kinds(traces.Switch)
			_, err := t.toEnd(ctx, func(uint64) {})
			stats <- t.stats
			return err
		})
	}()
	m := merger{s: s, w: w, x: x, lines: lines}
	err = m.merge(ctx)
	if err != nil {
		stop()
	}
	if e := <-replayed; e != nil && !errors.Is(err, context.Canceled) {
		err = e // why a line didn't come
	}
	close(stats)
	for st := range stats {
		d.Stats.add(st)
	}
	d.Fetches = m.fetches
	switch {
	case err != nil:
		w.Abort()
		os.Remove(path + traces.IncompleteSuffix)
	case s.r.Incomplete() != "":
		err = w.Abort()
	default:
		err = w.Close()
	}
	return d, err
}

// A merger writes the packets of all streams in the order of their events. That
// is the order in which lines become known: one that a thread got from another
// comes after what the other had got before.
type merger struct {
	s       *Session
	w       *traces.Writer
	x       *exchange
	lines   map[emulate.ThreadID]chan [hwmodel.LineSize]byte
	streams []*mergeStream // with a packet to write
	fetches uint64
}

// A mergeStream is a stream at the packet to be written next.
type mergeStream struct {
	stream uint32
	cur    *traces.Cursor
	p      *traces.Packet
}

func (m *merger) merge(ctx context.Context) error {
	streams := []*mergeStream{{stream: 0, cur: m.s.r.Cursor(0)}}
	for _, id := range m.s.threads {
		streams = append(streams, &mergeStream{stream: uint32(id), cur: m.s.r.Cursor(uint32(id))})
	}
	for _, g := range streams {
		if err := m.advance(g); err != nil {
			return err
		}
	}
	flushed := false
	for len(m.streams) > 0 {
		g := m.streams[0]
		for _, o := range m.streams[1:] {
			if o.cur.Min() < g.cur.Min() {
				g = o
			}
		}
		if g.cur.Min() > m.s.r.SafeMin() && !flushed {
			flushed = true
			if err := m.w.Flush(); err != nil {
				return err
			}
		}
		// As much of the stream as comes before the next one's.
		for min := g.cur.Min(); g.p != nil && g.cur.Min() == min; {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := m.put(g); err != nil {
				return err
			}
		}
		if g.p != nil {
			continue
		}
		for i, o := range m.streams {
			if o == g {
				m.streams = append(m.streams[:i], m.streams[i+1:]...)
				break
			}
		}
	}
	if m.s.r.Incomplete() != "" && !flushed {
		return m.w.Flush()
	}
	return nil
}

// advance reads a stream's first packet.
func (m *merger) advance(g *mergeStream) error {
	var err error
	if g.p, err = g.cur.Next(); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	m.streams = append(m.streams, g)
	return nil
}

// put writes a stream's packet and reads the next.
func (m *merger) put(g *mergeStream) error {
	var err error
	switch g.p.Kind {
	case traces.Memory:
		data := m.s.imageOf(g.p.Line, g.p.Value)
		if data == nil {
			g.p = nil // as when it is replayed
			return nil
		}
		m.fetches++
		err = m.w.PutImportBy(g.stream, g.p.Count, g.p.Line, data, g.p.Entry, g.p.Alias)
	case traces.Upgrade: // says nothing of what flows in
	case traces.Fetch, traces.FetchOwn, traces.FetchAs, traces.Snoop, traces.SnoopOwn:
		data, ok := m.line(emulate.ThreadID(g.stream))
		if !ok {
			g.p = nil // the other's stream ends earlier, or the replay failed
			return nil
		}
		m.fetches++
		err = m.w.PutImportBy(g.stream, g.p.Count, g.p.Line, &data, g.p.Entry, g.p.Alias)
	default:
		err = m.w.Put(g.stream, g.p.Count, g.p)
	}
	if err != nil {
		return err
	}
	if g.p, err = g.cur.Next(); errors.Is(err, io.EOF) {
		g.p, err = nil, nil
	}
	return err
}

// line waits for the next line that a thread got from another.
func (m *merger) line(id emulate.ThreadID) ([hwmodel.LineSize]byte, bool) {
	select {
	case d, ok := <-m.lines[id]:
		return d, ok
	default:
	}
	m.x.await(id, 1) // it may pause because nobody waits for it
	d, ok := <-m.lines[id]
	m.x.await(id, -1)
	return d, ok
}
