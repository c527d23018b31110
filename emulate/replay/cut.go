package replay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A CutStats says what Cut wrote.
type CutStats struct {
	Threads      int
	Instructions uint64
	Slices       int
}

// Cut puts in w the part of the trace from the beginning of slice number first
// to the end of slice number last, of Schedule. Counts, events and positions
// stay what they were. No slices overlap, so that every thread has a place in
// its stream at the cut: it begins there with a key frame, and with the lines
// that it knew and will use. What threads do within the part is ordered within
// it, too: a release before the cut orders nothing after it.
//
// begun is told of each thread at its start, before anything of it is
// executed; the function that it returns gives the calls under way when it is
// called, outermost first, and the count at which the thread had better begin,
// if that is earlier: before a call that should be in the part as a whole. The
// threads must be independent (not Dependent).
func (s *Session) Cut(ctx context.Context, w *traces.Writer, first, last int, text string, begun func(*Thread) func() ([]Frame, emulate.Count)) (CutStats, error) {
	var st CutStats
	sched, err := s.Schedule()
	if err != nil {
		return st, err
	}
	if first < 0 || last < first || last >= len(sched) {
		return st, fmt.Errorf("replay: slices %d to %d of %d", first, last, len(sched))
	}
	c := &cutter{s: s, w: w, from: sched[first].Min, to: sched[last].End, end: last == len(sched)-1 && s.r.Incomplete() == ""}
	if c.end {
		c.to = ^uint64(0)
	}
	st.Slices = last - first + 1
	for _, x := range sched[first : last+1] {
		st.Instructions += uint64(x.To - x.From)
	}
	put := func(name string, value uint64, b []byte) {
		if err == nil {
			err = w.Put(0, 0, &traces.Packet{Kind: traces.Mark, Name: name, Value: value, Bytes: b})
		}
	}
	put(traces.MarkCut, c.from, []byte(text[:min(len(text), traces.MaxBytes)]))
	for _, id := range s.threads {
		if err != nil {
			return st, err
		}
		if err := ctx.Err(); err != nil {
			return st, err
		}
		var frames []Frame
		var there bool
		if frames, there, err = c.thread(ctx, id, begun); there {
			st.Threads++
		}
		for _, f := range frames {
			var b []byte
			for _, x := range []emulate.Addr{f.Entry, f.Site, f.SP} {
				b = binary.LittleEndian.AppendUint64(b, uint64(x))
			}
			put(traces.MarkFrame, uint64(id), b)
		}
	}
	if err != nil {
		return st, err
	}
	return st, c.process()
}

// A cutter writes the events from one to another.
type cutter struct {
	s        *Session
	w        *traces.Writer
	from, to uint64
	end      bool // to the end of the recording
}

// A stretch is the part of a thread's stream that is in a cut, by the numbers of
// its packets.
type stretch struct {
	first, end int    // …that are copied, the first and the one past the last
	none       bool   // it ended before
	before     uint64 // the event after which it begins, 0: where it is due at count
	count      uint64
	last       uint64 // the last event that is copied
	begins     bool   // with the stream
	atStart    bool   // after the stream's first packet
}

// unfinished are kinds of packets whose instruction may be under way when
// others run.
var unfinished = Kinds(traces.SyscallEnter, traces.Fault, traces.Split, traces.Rep)

// find looks for the stretch of a thread.
func (c *cutter) find(id emulate.ThreadID) (x stretch, err error) {
	cur := c.s.r.Cursor(uint32(id))
	dirty, dirtyAt := -1, uint64(0)
	started := false
	for i := 0; ; i++ {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			if c.end {
				x.end = i
			}
			break
		}
		if err != nil {
			return x, err
		}
		if i == 0 {
			x.begins, started = true, p.Kind == traces.Start
		}
		if unfinished.Has(p.Kind) && (dirty < 0 || dirtyAt != p.Count) {
			dirty, dirtyAt = i, p.Count
		}
		if !p.Kind.HasMin() || p.Kind == traces.KeyFrame {
			continue
		}
		if p.Min < c.from {
			x.begins = false
			x.first, x.before, x.count = i+1, p.Min, p.Count
			x.none = p.Kind == traces.Exit
			if dirty >= 0 && dirtyAt == p.Count {
				x.first, x.before = dirty, 0
			}
			x.atStart = i == 0 && started
		}
		if p.Min <= c.to {
			x.end, x.last = i+1, p.Min
		}
	}
	x.none = x.none || x.end <= x.first
	return x, nil
}

// thread puts a thread's part in the trace, and returns the calls with which it
// begins; there is false if it isn't in it.
func (c *cutter) thread(ctx context.Context, id emulate.ThreadID, begun func(*Thread) func() ([]Frame, emulate.Count)) (frames []Frame, there bool, err error) {
	x, err := c.find(id)
	if err != nil || x.none {
		return nil, false, err
	}
	var fills []fill
	if !x.begins {
		t, err := c.s.Thread(id)
		if err != nil {
			return nil, false, err
		}
		calls := begun(t)
		if err := c.seek(ctx, t, &x); err != nil {
			return nil, false, err
		}
		var at emulate.Count
		if frames, at = calls(); at < t.Count() {
			if t, frames, err = c.back(ctx, id, at, &x, begun); err != nil {
				return nil, false, err
			}
		}
		if fills, err = c.start(ctx, t, &x); err != nil {
			return nil, false, err
		}
	} else {
		frames = c.s.Stack(id)
	}
	return frames, true, c.copy(id, &x, fills)
}

// events are the packets that have a number and don't come often.
var events = Kinds(traces.Start, traces.SyscallEnter, traces.SyscallExit, traces.Signal, traces.Switch, traces.Exit)

// seek replays a thread up to where its stretch begins.
func (c *cutter) seek(ctx context.Context, t *Thread, x *stretch) error {
	if x.atStart {
		return nil
	}
	if x.before == 0 {
		for t.Count() < emulate.Count(x.count) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := t.RunTo(emulate.Count(x.count)); err != nil {
				return c.ended(t, err)
			}
		}
		return t.Settle()
	}
	return c.ended(t, c.until(ctx, t, x.before))
}

// until replays a thread until it has applied the packet with event min.
func (c *cutter) until(ctx context.Context, t *Thread, min uint64) error {
	t.Want = events
	for t.Min() < min {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := t.Step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cutter) ended(t *Thread, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("replay: thread %d ends at instruction %d, before the cut", t.ID(), t.Count())
	}
	return err
}

// A fill is a line that a thread knew before the cut, and where in its stream,
// by the number of the packet that it precedes, and at which count it has to
// flow in.
type fill struct {
	before int
	count  uint64
	line   uint64
	mask   uint64 // of the bytes that it knew
	data   *[hwmodel.LineSize]byte
}

// put puts the line in the trace, or as much of it as was known.
func (f *fill) put(w *traces.Writer, stream uint32) error {
	if f.mask == ^uint64(0) {
		return w.PutImport(stream, f.count, f.line, f.data)
	}
	p := traces.Packet{Kind: traces.Part, Line: f.line, Mask: f.mask}
	for m := f.mask; m != 0; m &= m - 1 {
		p.Bytes = append(p.Bytes, f.data[bits.TrailingZeros64(m)])
	}
	return w.Put(stream, f.count, &p)
}

// back makes a stretch begin at an earlier instruction.
func (c *cutter) back(ctx context.Context, id emulate.ThreadID, at emulate.Count, x *stretch, begun func(*Thread) func() ([]Frame, emulate.Count)) (*Thread, []Frame, error) {
	t, err := c.s.Thread(id)
	if err != nil {
		return nil, nil, err
	}
	calls := begun(t)
	for t.Count() < at {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if _, err := t.RunTo(at); err != nil {
			return nil, nil, c.ended(t, err)
		}
	}
	frames, _ := calls()
	x.first = 1 + int(t.stats.Packets) - int(t.q.len()) // its first packet, and what it took, without what waits
	return t, frames, nil
}

// start puts a thread's key frame in the trace, and finds the lines that it
// knows already when it uses them.
func (c *cutter) start(ctx context.Context, t *Thread, x *stretch) ([]fill, error) {
	snap := t.Snapshot()
	p := &traces.Packet{Kind: traces.KeyFrame, Min: t.Min(), State: x86.AppendState(nil, t.CPU())}
	if err := c.w.Put(uint32(t.ID()), uint64(t.Count()), p); err != nil {
		return nil, err
	}
	var fills []fill
	u := snap.NewThread()
	u.Memory().Forget()
	waiting := x.first + int(u.q.len()) // packets that the thread has taken are before it
	u.Unknown = func(_ *Thread, line uint64, _ bool) *[hwmodel.LineSize]byte {
		d, mask := snap.KnownLine(line)
		if mask == 0 {
			return nil
		}
		f := fill{waiting + int(u.stats.Packets) - int(u.q.len()), u.cpu.InstrCount(), line, mask, d}
		if u.p != nil && !u.old && u.p.Count == f.count && interrupts.Has(u.p.Kind) {
			f.before-- // it is being applied
		}
		fills = append(fills, f)
		return d
	}
	if err := c.until(ctx, u, x.last); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return fills, nil
}

// interrupts are kinds of packets that execute a part of their instruction.
var interrupts = Kinds(traces.Fault, traces.Split, traces.Rep)

// copy puts the packets of a stretch in the trace, with what flows in beside.
// Of what was unfinished at the cut, slices before it are there, too: they
// aren't in the schedule (see Session.Begins).
func (c *cutter) copy(id emulate.ThreadID, x *stretch, fills []fill) error {
	cur := c.s.r.Cursor(uint32(id))
	flow := func(i int) error {
		for len(fills) > 0 && fills[0].before <= i {
			f := &fills[0]
			if err := f.put(c.w, uint32(id)); err != nil {
				return err
			}
			fills = fills[1:]
		}
		return nil
	}
	for i := 0; i < x.end; i++ {
		p, err := cur.Next()
		if err != nil {
			return err
		}
		if i < x.first {
			continue
		}
		if err := flow(i); err != nil {
			return err
		}
		if err := c.w.Put(uint32(id), p.Count, p); err != nil {
			return err
		}
	}
	return flow(x.end)
}

// process puts the process stream in the trace: all that was so before the cut,
// and what changed within it.
func (c *cutter) process() error {
	cur := c.s.r.Cursor(0)
	later := map[uint64]bool{} // pages of code whose last version comes after the cut
	for {
		p, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch p.Kind {
		case traces.Code, traces.CodePage, traces.CodeOwn:
			later[p.Addr>>PageShift] = p.Min > c.to
		}
		switch {
		case p.Kind == traces.CodeLines && later[p.Line/linesPerPage]:
			continue
		case p.Kind == traces.Counters && (c.from > 1 || !c.end):
			continue // of all of the recording
		case p.Kind == traces.ProcessExit && !c.end, p.Kind != traces.ProcessExit && p.Kind.HasMin() && p.Min > c.to:
			continue
		case p.Kind == traces.Mark && (p.Name == traces.MarkFrame || p.Name == traces.MarkCut || p.Name == traces.MarkDeadlock && !c.end):
			continue
		case p.Kind == traces.Mark && p.Name == traces.MarkExec && p.Value > c.to:
			continue
		}
		if err := c.w.Put(0, 0, p); err != nil {
			return err
		}
	}
}
