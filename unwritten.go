package racesim

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/traces"
)

// Bounds of trying out what a read of unwritten memory leads to.
const (
	trailSteps   = 30_000 // instructions after the read
	maxTrials    = 3      // reads tried at one instruction
	maxAllTrials = 300    // and in all
)

// uninitialised keeps the reads of unwritten memory that matter: those after
// which, with another value, the thread does something else, and not only until
// the function around it returns.
func (a *analysis) uninitialised(list []detect.Misuse) []checkers.BadAccess {
	var out []checkers.BadAccess
	tried, real := map[uint64]int{}, map[uint64]bool{}
	trials, left := 0, maxIdle
	for i := range list {
		m := &list[i]
		if real[m.PC] || tried[m.PC] >= maxTrials {
			continue
		}
		if trials++; trials > maxAllTrials {
			a.note("only the first %d reads of unwritten heap memory were tried out", maxAllTrials)
			break
		}
		tried[m.PC]++
		if a.matters(m) && !a.idle(m, &left) {
			real[m.PC] = true
			out = append(out, a.badAccess(m))
		}
	}
	return out
}

// matters tries a read with other values.
func (a *analysis) matters(m *detect.Misuse) bool {
	t, _, err := a.pass.Seek(m.Thread, m.Count)
	if err != nil || !wholeRead(t, m) {
		return false
	}
	snap := t.Snapshot()
	plan, err := planTrail(t)
	if err != nil {
		return false
	}
	want := follow(snap, plan, nil)
	if want.err != nil || !want.read {
		return false
	}
	bits := 8 * m.Size
	mask := ^uint64(0) >> (64 - bits)
	tried := map[uint64]bool{want.value: true}
	for _, v := range []uint64{^want.value, 0, mask >> 1, 1, 2} {
		if v &= mask; tried[v] {
			continue
		}
		tried[v] = true
		if got := follow(snap, plan, &v); !got.like(want) {
			return true
		}
	}
	return false
}

// wholeRead says whether the instruction at hand reads just the bytes of m:
// not a piece of something larger, and not to copy memory.
func wholeRead(t *replay.Thread, m *detect.Misuse) bool {
	c := t.CPU()
	in, err := x86.Describe(t.Session().CodeAt(emulate.Addr(c.RIP), t.Min()), c.RIP)
	if err != nil || in.Repeat || c.RIP != m.PC {
		return false
	}
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == x86.OperandMem && o.Read && uint64(o.Size) == m.Size && o.Mem.Addr(c) == uint64(m.Addr) {
			return true
		}
	}
	return false
}

// A trailPlan is what the recording says about the instructions after a read:
// its system calls, up to where they are looked at.
type trailPlan struct {
	start emulate.Count
	end   emulate.Count
	at    uint64 // address read
	calls []plannedCall
}

type plannedCall struct {
	count emulate.Count
	nr    uint64
	args  [6]uint64
	reads []traces.Range
}

// planTrail reads the plan from the packets that come next.
func planTrail(t *replay.Thread) (*trailPlan, error) {
	p := &trailPlan{start: t.Count(), end: t.Count() + trailSteps}
	err := t.LookAhead(func(k *traces.Packet) bool {
		if emulate.Count(k.Count) >= p.end {
			return false
		}
		switch k.Kind {
		case traces.SyscallEnter:
			p.calls = append(p.calls, plannedCall{count: emulate.Count(k.Count), nr: k.Nr, args: k.Args})
		case traces.SyscallExit:
			if n := len(p.calls); n > 0 {
				p.calls[n-1].reads = append([]traces.Range(nil), k.Reads...)
			}
		case traces.Hash, traces.KeyFrame, traces.Signal, traces.Context, traces.Split, traces.Rep, traces.Fault, traces.Exit:
			// From here on all registers are compared, or others.
			p.end = emulate.Count(k.Count)
			return false
		}
		return true
	})
	return p, err
}

// A trail is where a thread went.
type trail struct {
	plan  *trailPlan
	t     *replay.Thread
	put   *uint64 // the value to read instead
	value uint64  // the value read
	read  bool
	steps []trailStep
	data  [][]byte // of system calls
	calls []plannedCall
	err   error // it couldn't go on like the recording
}

type trailStep struct {
	count emulate.Count
	pc    uint64
	addr  uint64
}

// Load serves x86.Watcher.
func (r *trail) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	r.step(addr)
	if !r.read && r.t.Count() == r.plan.start {
		r.read, r.value = true, v
		if r.put != nil {
			return *r.put
		}
	}
	return v
}

// Store serves x86.Watcher.
func (r *trail) Store(c *x86.CPU, addr uint64, size int, v uint64) { r.step(addr) }

func (r *trail) step(addr uint64) {
	r.steps = append(r.steps, trailStep{r.t.Count(), r.t.CPU().PC(), addr})
}

// follow replays a thread from a snapshot, with another value for its first
// load if put isn't nil.
func follow(s *replay.Snapshot, plan *trailPlan, put *uint64) *trail {
	r := &trail{plan: plan, t: s.NewThread(), put: put}
	r.t.Observe(nil, true, r)
	r.t.Want = replay.Kinds(traces.SyscallExit)
	for i := range plan.calls {
		c := &plan.calls[i]
		if r.err = r.runTo(c.count); r.err != nil {
			return r
		}
		r.call(c)
		if r.err != nil {
			return r
		}
	}
	r.err = r.runTo(plan.end)
	return r
}

func (r *trail) runTo(count emulate.Count) error {
	for r.t.Count() < count {
		if _, err := r.t.RunTo(count); err != nil {
			return err
		}
	}
	return nil
}

// call notes what a system call is given, and hides differences that it
// doesn't look at.
func (r *trail) call(c *plannedCall) {
	if r.err = r.t.Settle(); r.err != nil {
		return
	}
	regs := &r.t.CPU().R
	got := plannedCall{count: c.count, nr: regs[0]}
	for i, reg := range syscallArgs {
		if i < argCount(c.nr) {
			got.args[i] = regs[reg]
		} else {
			regs[reg] = c.args[i]
		}
	}
	r.calls = append(r.calls, got)
	for _, g := range c.reads {
		b := make([]byte, min(g.N, 1<<16))
		r.data = append(r.data, b[:r.t.Memory().Read(g.Addr, b)])
	}
	if c == &r.plan.calls[len(r.plan.calls)-1] && len(c.reads) == 0 && c.count+1 >= r.plan.end {
		return // it never returned
	}
	if _, err := r.t.Step(); err != nil {
		r.err = err
	}
}

// syscallArgs are the registers of a system call's arguments.
var syscallArgs = [6]int{7, 6, 2, 10, 8, 9}

// argCounts are the arguments that system calls with more or less than three
// look at (Linux, x86-64); of others the first three count.
var argCounts = map[uint64]int{
	3: 1, 9: 6, 11: 2, 12: 1, 17: 4, 18: 4, 24: 0, 35: 2, 39: 0, 60: 1, 202: 4, 230: 4, 231: 1, 257: 4, 262: 4,
}

func argCount(nr uint64) int {
	if n, ok := argCounts[nr]; ok {
		return n
	}
	return 3
}

// like says whether two trails are the same, as far as both go.
func (r *trail) like(o *trail) bool {
	var d *replay.Divergence
	if r.err != nil && o.err == nil {
		return !errors.As(r.err, &d)
	}
	if len(r.steps) != len(o.steps) || len(r.calls) != len(o.calls) || len(r.data) != len(o.data) {
		return false
	}
	for i := range r.steps {
		if r.steps[i] != o.steps[i] {
			return false
		}
	}
	for i := range r.calls {
		if fmt.Sprint(r.calls[i]) != fmt.Sprint(o.calls[i]) {
			return false
		}
	}
	for i := range r.data {
		if !bytes.Equal(r.data[i], o.data[i]) {
			return false
		}
	}
	return true
}
