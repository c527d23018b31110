package racesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// To compare executions, each thread's is cut at calls and returns: a section is
// what one activation of a function does without calling another. Two sections
// are equal if they execute the same instructions and read and write the same
// values at the same addresses.

// A section is one of a thread's.
type section struct {
	at     emulate.Count
	pc     emulate.Addr // where it begins
	path   uint64       // hash of which instructions touched memory, and when
	values uint64       // the same, with addresses and values
}

// A stepKind says what a diffStep is.
type stepKind uint8

const (
	stepLoad stepKind = iota + 1
	stepStore
	stepCall   // or return
	stepEnter  // a system call: value is its number
	stepReturn // of a system call
	stepNondet
)

// A diffStep is something that an instruction did with memory or got from outside.
type diffStep struct {
	kind  stepKind
	size  int
	at    emulate.Count
	pc    emulate.Addr
	addr  uint64    // of memory; target of a call
	value uint64    // read or written; result
	args  [6]uint64 // of a system call
}

// A stepper hears all steps of a thread. It is the thread's x86.Watcher and
// x86.CallSink.
type stepper struct {
	th   *replay.Thread
	step func(s *diffStep)
}

func (w *stepper) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	w.step(&diffStep{kind: stepLoad, size: size, at: emulate.Count(c.InstrCount()), pc: emulate.Addr(c.PC()), addr: addr, value: v})
	return v
}

func (w *stepper) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	w.step(&diffStep{kind: stepStore, size: size, at: emulate.Count(c.InstrCount()), pc: emulate.Addr(c.PC()), addr: addr, value: v})
}

func (w *stepper) Call(c *x86.CPU, site, target, sp uint64) { w.turn(c, site, target) }
func (w *stepper) Ret(c *x86.CPU, site, target, sp uint64)  { w.turn(c, site, target) }

func (w *stepper) turn(c *x86.CPU, site, target uint64) {
	w.step(&diffStep{kind: stepCall, at: emulate.Count(c.InstrCount()), pc: emulate.Addr(site), addr: target})
}

// walk replays the rest of a thread and hands its steps over, until its end or
// until enough says so.
func walk(ctx context.Context, th *replay.Thread, step func(s *diffStep), enough func() bool) error {
	w := &stepper{th, step}
	th.Observe(nil, true, w)
	th.CPU().Calls = w
	th.Want = replay.Kinds(traces.SyscallEnter, traces.SyscallExit, traces.Nondet, traces.Switch)
	for {
		ev, err := th.Step()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		s := diffStep{at: th.Count(), pc: emulate.Addr(th.CPU().RIP)}
		switch p := ev.Packet; ev.Kind {
		case traces.SyscallEnter:
			s.kind, s.value, s.args = stepEnter, p.Nr, p.Args
			step(&s)
		case traces.SyscallExit:
			s.kind, s.addr, s.value = stepReturn, p.Nr, p.Ret
			step(&s)
		case traces.Nondet:
			s.kind, s.addr = stepNondet, uint64(p.What)
			for _, v := range p.Regs {
				s.value = mix(s.value, v)
			}
			step(&s)
		}
		if enough != nil && enough() {
			return nil
		}
	}
}

// mix adds a number to a hash.
func mix(h, v uint64) uint64 { return bits.RotateLeft64(h^v, 29) * 0x9e3779b97f4a7c15 }

// sections replays a thread and cuts it.
func (t *Trace) sections(ctx context.Context, id emulate.ThreadID) (out []section, end emulate.Count, err error) {
	th, err := t.s.Thread(id)
	if err != nil {
		return nil, 0, err
	}
	cur := section{at: th.Count(), pc: emulate.Addr(th.CPU().RIP)}
	some := false
	err = walk(ctx, th, func(s *diffStep) {
		h := mix(uint64(s.kind)<<8|uint64(s.size), uint64(s.pc))
		h = mix(h, uint64(s.at-cur.at))
		if s.kind == stepCall {
			h = mix(h, s.addr)
		}
		cur.path = mix(cur.path, h)
		h = mix(mix(h, s.addr), s.value)
		for _, a := range s.args {
			h = mix(h, a)
		}
		cur.values, some = mix(cur.values, h), true
		if s.kind == stepCall {
			out = append(out, cur)
			cur, some = section{at: s.at, pc: emulate.Addr(s.addr)}, false
		}
	}, nil)
	if end = th.Count(); some || end > cur.at {
		h := uint64(end - cur.at)
		cur.path, cur.values = mix(cur.path, h), mix(cur.values, h)
		out = append(out, cur)
	}
	return out, end, err
}

// A stepList is what a thread does from an instruction on, as it is replayed
// beside another.
type stepList struct {
	batches chan []diffStep
	batch   []diffStep
	err     error // of the replay, once batches is closed
}

// batchSize is the number of steps that are handed over at a time.
const batchSize = 1 << 10

// stepsFrom replays a thread from an instruction on.
func (t *Trace) stepsFrom(ctx context.Context, id emulate.ThreadID, from emulate.Count) *stepList {
	l := &stepList{batches: make(chan []diffStep, 4)}
	go func() {
		defer close(l.batches)
		th, err := t.s.Thread(id)
		if err == nil && from > 0 {
			_, err = th.RunTo(from)
		}
		if err != nil {
			l.err = err
			return
		}
		var b []diffStep
		gone := false
		send := func() {
			select {
			case l.batches <- b:
			case <-ctx.Done():
				gone = true
			}
			b = nil
		}
		l.err = walk(ctx, th, func(s *diffStep) {
			if b = append(b, *s); len(b) == batchSize {
				send()
			}
		}, func() bool { return gone })
		if !gone {
			send()
		}
	}()
	return l
}

// next returns the thread's next step, nil after the last.
func (l *stepList) next() *diffStep {
	for len(l.batch) == 0 {
		var ok bool
		if l.batch, ok = <-l.batches; !ok {
			return nil
		}
	}
	s := &l.batch[0]
	l.batch = l.batch[1:]
	return s
}

// threadSections are those of a thread, with what tells which one it is.
type threadSections struct {
	id   emulate.ThreadID
	name string // which child of which thread: "1.2" is the second of the first's
	l    []section
	end  emulate.Count
}

// allSections cuts all threads of a trace.
func (t *Trace) allSections(ctx context.Context) ([]*threadSections, error) {
	ids := t.s.Threads()
	out, errs := make([]*threadSections, len(ids)), make([]error, len(ids))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	names, children := map[emulate.ThreadID]string{}, map[emulate.ThreadID]int{}
	for i, id := range ids {
		parent := emulate.ThreadID(0)
		if p, err := t.r.Cursor(uint32(id)).Next(); err == nil && p.Kind == traces.Start {
			parent = emulate.ThreadID(p.Parent)
		}
		children[parent]++
		names[id] = fmt.Sprint(children[parent])
		if n := names[parent]; n != "" {
			names[id] = n + "." + names[id]
		}
		out[i] = &threadSections{id: id, name: names[id]}
		wait.Add(1)
		go func() {
			defer wait.Done()
			free <- struct{}{}
			defer func() { <-free }()
			out[i].l, out[i].end, errs[i] = t.sections(ctx, id)
		}()
	}
	wait.Wait()
	return out, errors.Join(errs...)
}
