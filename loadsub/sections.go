package loadsub

import (
	"errors"
	"fmt"
	"io"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// A Seeker goes to an instruction of a recorded thread.
type Seeker interface {
	Seek(id emulate.ThreadID, count emulate.Count) (*replay.Thread, *funcs.Tracker, error)
}

// Bounds of the search for sections, in instructions.
const (
	window      = 60_000    // looked at on each side of an access for loops
	maxFunction = 2_000_000 // from a function's entry to the access
)

// A Place is a section around an access, found but not captured yet.
type Place struct {
	Func  *funcs.Func // the function whose frame it is
	Loop  bool        // an iteration of a loop of it, rather than all of it
	Start emulate.Count
	Goal  overlay.Goal
	// Depth is the number of frames between the access and this one.
	Depth int
}

func (p *Place) String() string {
	name := "an unknown function"
	if p.Func != nil {
		name = p.Func.Name
	}
	if p.Loop {
		return "an iteration in " + name
	}
	return name
}

// Places finds sections around the instruction with the given count, from the
// innermost of the program's own frames outwards, at most max of them: an
// iteration of the innermost loop of a frame that contains the access, or the
// whole call. Frames of the run-time are looked through, except that the
// outermost run-time function is a place of its own when the access is in it.
func Places(seek Seeker, ms *funcs.Modules, id emulate.ThreadID, count emulate.Count, max int) ([]Place, error) {
	_, calls, err := seek.Seek(id, count)
	if err != nil {
		return nil, err
	}
	var out []Place
	for level := 0; level < calls.Depth() && len(out) < max; level++ {
		a := calls.Level(level)
		f := ms.FuncAt(a.Entry)
		if f != nil && f.Runtime && (level+1 == calls.Depth() || isRuntime(ms, calls.Level(level+1).Entry)) {
			continue
		}
		ps, err := framePlaces(seek, f, id, count, frame{calls.Depth() - level, a})
		if err != nil {
			return out, err
		}
		for _, p := range ps {
			p.Depth = level
			p.Goal.Result = ResultRegs(ms, f)
			if len(out) < max {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no function or loop iteration around instruction %d of thread %d is short enough", count, id)
	}
	return out, nil
}

func isRuntime(ms *funcs.Modules, pc emulate.Addr) bool {
	f := ms.FuncAt(pc)
	return f != nil && f.Runtime
}

// A frame is one activation on a thread's stack.
type frame struct {
	depth int // the tracker's depth while it is the innermost
	funcs.Activation
}

// framePlaces returns the sections of one frame that contain the instruction:
// the innermost loop iteration if there is a loop, else the whole call.
func framePlaces(seek Seeker, f *funcs.Func, id emulate.ThreadID, count emulate.Count, fr frame) ([]Place, error) {
	from := fr.Count
	if count > window && from < count-window {
		from = count - window
	}
	t, calls, err := seek.Seek(id, from)
	if err != nil {
		return nil, err
	}
	w := &walk{t: t, calls: calls, fr: fr, at: count, lo: uint64(fr.Entry), last: map[uint64]emulate.Count{}}
	if f != nil {
		w.lo, w.hi = uint64(f.Entry), uint64(f.End)
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	if head, start, ok := w.loop(); ok {
		return []Place{{Func: f, Loop: true, Start: start, Goal: overlay.Goal{End: overlay.EndLoop, PC: head, SP: uint64(fr.SP), Lo: w.lo, Hi: w.hi}}}, nil
	}
	if count-fr.Count <= maxFunction {
		return []Place{{Func: f, Start: fr.Count, Goal: overlay.Goal{End: overlay.EndReturn, SP: uint64(fr.SP), Lo: w.lo, Hi: w.hi}}}, nil
	}
	return nil, nil
}

// A walk steps through a window around an access and watches one frame.
type walk struct {
	t      *replay.Thread
	calls  *funcs.Tracker
	fr     frame
	at     emulate.Count // of the access
	lo, hi uint64        // the function's code; hi 0: unknown

	pc    uint64                   // the frame's own instruction at, or calling at, the access
	prev  uint64                   // the frame's previous instruction
	last  map[uint64]emulate.Count // last visit at or before the access
	edges []edge
}

// An edge is a jump backwards within the frame.
type edge struct{ from, to uint64 }

func (w *walk) own(pc uint64) bool {
	return w.calls.Depth() == w.fr.depth && (w.hi == 0 || pc >= w.lo && pc < w.hi)
}

func (w *walk) run() error {
	c := w.t.CPU()
	limit := w.at + window
	for w.t.Count() < limit {
		if w.calls.Depth() < w.fr.depth {
			return nil // the frame was left
		}
		pc, n := c.RIP, w.t.Count()
		if w.own(pc) {
			if w.prev != 0 && pc <= w.prev {
				w.edges = append(w.edges, edge{w.prev, pc})
				if n > w.at && w.covers(edge{w.prev, pc}) {
					return nil // the loop goes round after the access: that settles it
				}
			}
			w.prev = pc
			if n <= w.at {
				w.last[pc] = n
				w.pc = pc
			}
		}
		stop, err := w.t.RunTo(n + 1)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if stop != nil && stop.Kind != x86.StopBreak {
			return nil
		}
		if stop != nil {
			w.calls.Enter(c)
		}
	}
	return nil
}

func (w *walk) covers(e edge) bool { return e.to <= w.pc && w.pc <= e.from }

// loop returns the head of the innermost loop around the access and the count
// at which the iteration began.
func (w *walk) loop() (head uint64, start emulate.Count, ok bool) {
	var best edge
	for _, e := range w.edges {
		if !w.covers(e) {
			continue
		}
		n, seen := w.last[e.to]
		if !seen {
			continue
		}
		if !ok || e.from-e.to < best.from-best.to || e == best {
			best, start, ok = e, n, true
		}
	}
	return best.to, start, ok
}
