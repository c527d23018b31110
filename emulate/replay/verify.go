package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// Verified says what a verification replayed and compared.
type Verified struct {
	Stats
	Threads  int
	Segments int // pieces between key frames, each replayed by itself
	// CutOff counts threads whose end isn't in the trace.
	CutOff int
}

// A segment is a thread's execution from one key frame to the next.
type segment struct {
	id   emulate.ThreadID
	n    int // number of the key frame
	last bool
	min  uint64 // at its start
	len  uint64 // instructions
}

// segments lists all segments, the longest first.
func (s *Session) segments() []segment {
	var all []segment
	for _, id := range s.threads {
		keys := s.r.KeyFrames(uint32(id))
		for i, k := range keys {
			g := segment{id: id, n: i, last: i == len(keys)-1, min: k.Min, len: s.last[id].LastCount - k.Count}
			if !g.last {
				g.len = keys[i+1].Count - k.Count
			}
			all = append(all, g)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].len > all[j].len })
	return all
}

// Verify replays every thread, in segments between key frames, and compares
// all that the trace holds to compare with. workers is the number of segments
// replayed at a time, 0 for one per host processor. progress, if set, is called
// now and then, from several goroutines, with the number of instructions
// replayed so far. The error is that of the divergence that comes first in the
// order of events.
func (s *Session) Verify(ctx context.Context, workers int, progress func(done uint64)) (Verified, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if s.Dependent() {
		return s.verifyTogether(ctx, workers, progress)
	}
	queue := s.segments()
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		next  atomic.Int64
		done  atomic.Uint64
		total = Verified{Threads: len(s.threads), Segments: len(queue)}
		turns []turn
		first error
		at    uint64
	)
	for range min(workers, len(queue)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var code decodedCode
			for {
				i := int(next.Add(1)) - 1
				if i >= len(queue) || ctx.Err() != nil {
					return
				}
				g := queue[i]
				st, own, cut, err := s.verifySegment(ctx, g, &code, func(n uint64) {
					d := done.Add(n)
					if progress != nil {
						progress(d)
					}
				})
				mu.Lock()
				total.Stats.add(st)
				turns = append(turns, own...)
				if cut {
					total.CutOff++
				}
				if err != nil && (first == nil || g.min < at) {
					first, at = err, g.min
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	if first == nil {
		first = inTurn(turns)
	}
	return total, first
}

// A turn is a thread's stay on a unit, by the first and last of its orderable
// events. Each thread's events only go forward, which is checked as they are
// applied; that turns don't overlap makes them one order of all threads.
type turn struct {
	id       emulate.ThreadID
	from, to uint64
}

// inTurn says which turns overlap, if any do.
func inTurn(turns []turn) error {
	sort.Slice(turns, func(i, j int) bool { return turns[i].from < turns[j].from })
	for i := 1; i < len(turns); i++ {
		if a, b := turns[i-1], turns[i]; b.from <= a.to && a.id != b.id {
			return fmt.Errorf("replay: thread %d has orderable events %d to %d, and thread %d has %d to %d: they overlap", a.id, a.from, a.to, b.id, b.from, b.to)
		}
	}
	return nil
}

// A decodedCode is what one worker has decoded: of a program whose code never
// changes, that is as good for its next segment, whichever thread's that is.
type decodedCode struct {
	blocks *x86.BlockCache
	codes  codePages
}

// verifySegment replays one segment. cut says that the thread's stream ends
// before the thread does.
func (s *Session) verifySegment(ctx context.Context, g segment, code *decodedCode, ran func(n uint64)) (st Stats, turns []turn, cut bool, err error) {
	t, err := s.newThread(g.id)
	if err != nil {
		return st, nil, false, err
	}
	if err := t.StartAt(g.n); err != nil {
		return st, nil, false, err
	}
	if len(s.recodes) == 0 && s.r.Sizes().Packets[traces.CodeOwn] == 0 {
		if code.blocks != nil {
			t.cpu.Blocks, t.codes = code.blocks, code.codes
		}
		defer func() { code.blocks, code.codes = t.cpu.Blocks, t.codes }()
	}
	from, in := t.min, false
	t.Want = Kinds(traces.Switch, traces.KeyFrame)
	reported := uint64(0)
	for {
		ev, err := t.Step()
		if n := t.stats.Instructions; n-reported > 1<<20 {
			ran(n - reported)
			reported = n
			if ctx.Err() != nil {
				return t.stats, turns, false, nil
			}
		}
		if errors.Is(err, io.EOF) {
			if in {
				turns = append(turns, turn{g.id, from, t.min})
			}
			ran(t.stats.Instructions - reported)
			return t.stats, turns, !t.ended, nil
		}
		if err != nil {
			return t.stats, turns, false, err
		}
		if ev.Kind == traces.Switch {
			if in = ev.Packet.In; in {
				from = ev.Packet.Min
			} else {
				turns = append(turns, turn{g.id, from, ev.Packet.Min})
			}
		}
		if ev.Kind == traces.KeyFrame {
			if in {
				turns = append(turns, turn{g.id, from, t.min})
			}
			ran(t.stats.Instructions - reported)
			return t.stats, turns, false, nil
		}
	}
}
