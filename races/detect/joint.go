package detect

import (
	"context"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/traces"
)

// A Joint pass finds races between the processes of one recording, on memory
// that they share. It is a Pass for each process, whose threads are replayed
// side by side and whose events go, in the order in which they were recorded,
// to one Detector.
//
// Only memory that is mapped shared is observed. Its addresses are replaced by
// ones that all processes agree on; others get the process's number on top.
type Joint struct {
	Passes   []*Pass
	Detector *races.Detector

	process map[emulate.ThreadID]int // index of its pass
	regions [][]sharedRegion         // of each process, in the order of mapping
	pids    []uint32
}

// A sharedRegion is where a process maps shared memory.
type sharedRegion struct{ lo, hi, to uint64 }

// Shares reports whether two processes map the same memory, so that there is
// something for a Joint to find.
func Shares(sessions []*replay.Session) bool {
	written := writable(sessions)
	owner := map[uint64]int{}
	for i, s := range sessions {
		for _, m := range s.EveryMapping() {
			if !written[m.Alias] {
				continue
			}
			if first, ok := owner[m.Alias]; ok && first != i {
				return true
			}
			owner[m.Alias] = i
		}
	}
	return false
}

// writable returns the shared memory that some process may write: files that
// all only read, as the C library's, are nobody's business.
func writable(sessions []*replay.Session) map[uint64]bool {
	l := map[uint64]bool{}
	for _, s := range sessions {
		for _, m := range s.EveryMapping() {
			if m.Alias != 0 && m.Prot&protWrite != 0 {
				l[m.Alias] = true
			}
		}
	}
	return l
}

// protWrite is PROT_WRITE of mmap(2).
const protWrite = 2

// NewJoint returns a pass over the processes of a recording. trees[i] belongs
// to sessions[i].
func NewJoint(sessions []*replay.Session, trees []*funcs.Tree) *Joint {
	j := &Joint{process: map[emulate.ThreadID]int{}}
	written := writable(sessions)
	for i, s := range sessions {
		j.Passes = append(j.Passes, &Pass{Session: s, Tree: trees[i], NoCoarse: true, joint: j})
		j.pids = append(j.pids, s.Reader().Header().PID)
		var rs []sharedRegion
		for _, m := range s.EveryMapping() {
			if written[m.Alias] {
				rs = append(rs, sharedRegion{uint64(m.Addr), uint64(m.Addr) + m.N, canonical | m.Alias<<40 + m.AliasOffset})
			}
		}
		j.regions = append(j.regions, rs)
		for _, id := range s.Threads() {
			j.process[id] = i
		}
	}
	return j
}

// canonical marks addresses that all processes agree on.
const canonical = 1 << 63

// processShift is where the number of a process stands in the address of memory
// that is its own.
const processShift = 47

// Process returns the index of the process of a thread.
func (j *Joint) Process(id emulate.ThreadID) int { return j.process[id] }

// PID returns the number of a process.
func (j *Joint) PID(i int) uint32 { return j.pids[i] }

// Address returns where process i maps the memory at an address that all
// processes agree on.
func (j *Joint) Address(i int, a emulate.Addr) (emulate.Addr, bool) {
	for k := len(j.regions[i]) - 1; k >= 0; k-- {
		if r := &j.regions[i][k]; uint64(a) >= r.to && uint64(a) < r.to+(r.hi-r.lo) {
			return emulate.Addr(uint64(a) - r.to + r.lo), true
		}
	}
	return 0, false
}

// agreed returns the address that all processes agree on.
func (j *Joint) agreed(i int, a uint64) (uint64, bool) {
	for k := len(j.regions[i]) - 1; k >= 0; k-- {
		if r := &j.regions[i][k]; a >= r.lo && a < r.hi {
			return r.to + a - r.lo, true
		}
	}
	return a | uint64(i+1)<<processShift, false
}

// feed gives an event of p's process to the detector.
func (j *Joint) feed(p *Pass, e *races.Event) {
	i := j.process[e.Thread]
	x := *e
	switch x.Op {
	case races.OpRelease, races.OpAcquire:
		if x.Object == races.ObjFutex && x.Value < canonical {
			x.Value |= uint64(i+1) << processShift
		}
	case races.OpReset:
		i = j.indexOf(p)
		to, shared := j.agreed(i, uint64(x.Addr))
		if shared {
			return // others may still have it
		}
		x.Addr = emulate.Addr(to)
	default:
		to, _ := j.agreed(i, uint64(x.Addr))
		if x.Addr != 0 {
			x.Addr = emulate.Addr(to)
		}
	}
	j.Detector.Feed(&x)
}

func (j *Joint) indexOf(p *Pass) int {
	for i, q := range j.Passes {
		if q == p {
			return i
		}
	}
	return 0
}

// Run replays and detects. The error is a divergence or a damaged trace.
func (j *Joint) Run(ctx context.Context) error {
	var sync []races.SyncVar
	var sched []replay.Slice
	for i, p := range j.Passes {
		s, err := p.Session.Schedule()
		if err != nil {
			return err
		}
		sched = append(sched, s...)
		for _, a := range p.Session.Atomics() {
			if to, shared := j.agreed(i, a.Addr); shared && a.N >= 1 && a.N <= 64 {
				sync = append(sync, races.SyncVar{Addr: emulate.Addr(to), Size: int(a.N)})
			}
		}
	}
	sort.Slice(sched, func(a, b int) bool { return sched[a].Min < sched[b].Min })
	j.Detector = races.New(races.Config{Sync: sync})
	for i, p := range j.Passes {
		p.Detector = j.Detector
		if err := p.prepare(); err != nil {
			return err
		}
		p.lines = j.lines(i)
		p.log.full = true // nothing is predicted
	}
	j.forks()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var feeds []map[emulate.ThreadID]chan *batch
	for _, p := range j.Passes {
		feeds = append(feeds, p.start(ctx))
	}
	for k := range sched {
		s := &sched[k]
		i := j.process[s.Thread]
		p := j.Passes[i]
		var b *batch
		select {
		case b = <-feeds[i][s.Thread]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b == nil {
			continue // cut off
		}
		p.before = s.Min < p.Session.Begin()
		p.merge(s.Thread, b)
		if b.err != nil {
			return b.err
		}
		b.events, b.notes = b.events[:0], b.notes[:0]
		p.free.Put(b)
		// Whoever waits for the process's end comes after all of it.
		j.Detector.Feed(&races.Event{Op: races.OpRelease, Thread: s.Thread, Object: races.ObjSignal, Value: uint64(j.pids[i]), Scope: races.ScopeUser})
	}
	return nil
}

// lines are those that process i maps shared.
func (j *Joint) lines(i int) *replay.LineSet {
	var rs []traces.LineRange
	for _, r := range j.regions[i] {
		rs = append(rs, traces.LineRange{First: r.lo >> lineShift, N: (r.hi - r.lo) >> lineShift})
	}
	return replay.NewLineSet(rs)
}

// forks lets the first thread of every process start where it was forked.
func (j *Joint) forks() {
	for _, p := range j.Passes {
		h := p.Session.Reader().Header()
		i, ok := j.process[emulate.ThreadID(h.ForkThread)]
		if h.ForkThread == 0 || !ok {
			continue
		}
		first := p.children[0]
		p.children[0] = nil
		for _, b := range first {
			b.parent = emulate.ThreadID(h.ForkThread)
			j.Passes[i].children[b.parent] = append(j.Passes[i].children[b.parent], b)
		}
	}
}

// Between returns the conflicts between processes, each with two accesses, and
// how often it was met.
func (j *Joint) Between() []*races.Candidate {
	var out []*races.Candidate
	for _, c := range j.Detector.Candidates() {
		for _, s := range append([]races.Pair{{First: c.First, Second: c.Second}}, c.Samples...) {
			if j.process[s.First.Thread] != j.process[s.Second.Thread] {
				x := *c
				x.First, x.Second = s.First, s.Second
				out = append(out, &x)
				break
			}
		}
	}
	return out
}
