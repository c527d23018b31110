package detect

import (
	"fmt"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// Places that are looked for are often near one another: those of one race, of
// the sections around its accesses, of what other threads knew then. So Seek
// leaves a mark shortly before each place that it had to go far for.
const (
	farSeek   = 60_000 // instructions
	nearMarks = 20_000 // before the place
	maxVisits = 32
)

// visits are the marks that Seek left, the ones that were of use last first.
type visits struct {
	sync.Mutex
	list []visit
}

type visit struct {
	id emulate.ThreadID
	mark
}

// best returns the last mark of a thread before count, if it is later than m.
func (v *visits) best(id emulate.ThreadID, count emulate.Count, m mark) mark {
	v.Lock()
	defer v.Unlock()
	at := -1
	for i := range v.list {
		if x := &v.list[i]; x.id == id && x.count <= count && x.count > m.count {
			m, at = x.mark, i
		}
	}
	if at > 0 {
		x := v.list[at]
		copy(v.list[1:at+1], v.list[:at])
		v.list[0] = x
	}
	return m
}

func (v *visits) add(id emulate.ThreadID, m mark) {
	v.Lock()
	defer v.Unlock()
	if len(v.list) < maxVisits {
		v.list = append(v.list, visit{})
	}
	copy(v.list[1:], v.list)
	v.list[0] = visit{id, m}
}

// Seek returns a replay of a thread, and its calls, about to execute the
// instruction with the given count, with what is due before it applied.
func (p *Pass) Seek(id emulate.ThreadID, count emulate.Count) (*replay.Thread, *funcs.Tracker, error) {
	tt := p.Threads[id]
	if tt == nil || len(tt.marks) == 0 {
		return nil, nil, fmt.Errorf("thread %d was not replayed", id)
	}
	m := tt.marks[0]
	for i := range tt.marks {
		// What is asked for is a system call's beginning.
		if at := &tt.marks[i]; at.count < count || at.count == count && !at.snap.InCall() {
			m = *at
		}
	}
	m = p.visits.best(id, count, m)
	t := m.snap.NewThread()
	calls := m.calls.Clone()
	calls.SetSinks(nil)
	calls.Watch(nil, nil)
	t.CPU().Calls = calls
	t.OnSignal = func(pc uint64) {
		c := t.CPU()
		calls.Push(c, pc, c.RIP, c.R[x86.RSP])
	}
	for _, a := range p.jumps {
		t.CPU().Blocks.Break(uint64(a))
	}
	if count > m.count+farSeek {
		if err := RunTo(t, calls, count-nearMarks); err != nil {
			return nil, nil, err
		}
		if t.CPU().Pending().Size == 0 {
			p.visits.add(id, mark{count: t.Count(), snap: t.Snapshot(), calls: calls.Clone()})
		}
	}
	if err := RunTo(t, calls, count); err != nil {
		return nil, nil, err
	}
	return t, calls, t.Settle()
}

// RunTo executes until the thread is about to execute the instruction with the
// given count, and tells calls of functions that are jumped to. The error is a
// divergence, or that the thread stopped before.
func RunTo(t *replay.Thread, calls *funcs.Tracker, count emulate.Count) error {
	for t.Count() < count {
		stop, err := t.RunTo(count)
		if err != nil {
			return err
		}
		if stop != nil && stop.Kind == x86.StopBreak {
			calls.Enter(t.CPU())
			continue
		}
		if stop != nil {
			return fmt.Errorf("thread %d stopped at instruction %d: %v", t.ID(), t.Count(), stop.Kind)
		}
	}
	return nil
}
