package replay

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// together replays all threads of a trace whose threads depend on one another,
// from their starts, workers at a time. each is called in a goroutine for every
// thread, with a token to execute.
func (s *Session) together(x *exchange, each func(t *Thread) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		at    uint64
	)
	for _, id := range s.threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer x.ended(id)
			x.run <- struct{}{}
			defer func() { <-x.run }()
			t, err := s.begin(x, id)
			if err == nil {
				err = each(t)
			}
			if err == nil {
				if x.byPacket {
					x.passed(t, math.MaxUint64)
				}
				return
			}
			min := uint64(0)
			if t != nil {
				min = t.min
			}
			mu.Lock()
			if first == nil || min < at {
				first, at = err, min
			}
			mu.Unlock()
		}()
	}
	wg.Wait()
	return first
}

// begin returns a thread at its start that takes part in x.
func (s *Session) begin(x *exchange, id emulate.ThreadID) (*Thread, error) {
	t, err := s.newThread(id)
	if err != nil {
		return nil, err
	}
	t.peers = x
	x.mu.Lock()
	x.threads[id] = t
	x.mu.Unlock()
	return t, t.StartAt(0)
}

// verifyTogether is Verify for threads that depend on one another.
func (s *Session) verifyTogether(ctx context.Context, workers int, progress func(done uint64)) (Verified, error) {
	total := Verified{Threads: len(s.threads), Segments: len(s.threads)}
	x, err := s.newExchange(workers)
	if err != nil {
		return total, err
	}
	var mu sync.Mutex
	var done atomic.Uint64
	err = s.together(x, func(t *Thread) error {
		t.Want = Kinds(traces.Switch)
		cut, err := t.toEnd(ctx, func(n uint64) {
			if d := done.Add(n); progress != nil {
				progress(d)
			}
		})
		mu.Lock()
		defer mu.Unlock()
		total.Stats.add(t.stats)
		if cut {
			total.CutOff++
		}
		return err
	})
	if e := ctx.Err(); e != nil {
		err = e
	}
	return total, err
}

// toEnd replays the rest of a thread; ran is told now and then of so many more
// instructions. cut says that the stream ends before the thread does.
func (t *Thread) toEnd(ctx context.Context, ran func(n uint64)) (cut bool, err error) {
	reported := uint64(0)
	defer func() { ran(t.stats.Instructions - reported) }()
	for {
		if _, err := t.Step(); errors.Is(err, io.EOF) {
			return !t.ended, nil
		} else if err != nil {
			return false, err
		}
		if n := t.stats.Instructions; n-reported > 1<<20 {
			ran(n - reported)
			reported = n
			if ctx.Err() != nil {
				return false, nil
			}
		}
	}
}
