package loadsub

import (
	"errors"
	"fmt"
	"io"
	"slices"

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
	Part  bool        // a stretch of it without system calls
	Start emulate.Count
	Goal  overlay.Goal
	// Depth is the number of frames between the access and this one.
	Depth int
	// Whole is all of the call, if this is an iteration and the call is short
	// enough.
	Whole *Place
	outer *Place // an iteration of the loop around that loop, in the same frame
}

func (p *Place) String() string {
	name := "an unknown function"
	if p.Func != nil {
		name = p.Func.Name
	}
	if p.Loop {
		return "an iteration in " + name
	}
	if p.Part {
		return "a part of " + name
	}
	return name
}

// Places finds sections around the instruction with the given count, from the
// innermost of the program's own frames outwards, at most max frames: an
// iteration of the innermost loop of a frame that contains the access, or the
// whole call; of the first frame, an iteration of the loop around that one, too,
// as if the inner loop were a function. Frames of the run-time are looked through, except that the
// outermost run-time function is a place of its own when the access is in it.
func Places(seek Seeker, ms *funcs.Modules, id emulate.ThreadID, count emulate.Count, max int) ([]Place, error) {
	_, calls, err := seek.Seek(id, count)
	if err != nil {
		return nil, err
	}
	var out []Place
	frames := 0
	for level := 0; level < calls.Depth() && frames < max; level++ {
		a := calls.Level(level)
		f := ms.FuncAt(a.Entry)
		if f != nil && f.Runtime && (level+1 == calls.Depth() || isRuntime(ms, calls.Level(level+1).Entry)) {
			continue
		}
		p, err := framePlace(seek, f, id, count, frame{calls.Depth() - level, a})
		if err != nil {
			return out, err
		}
		if p == nil {
			// Too long as a whole: what is around the access.
			q := &Place{Func: f, Depth: level, Goal: overlay.Goal{SP: uint64(a.SP), Result: ResultRegs(ms, f)}}
			if q, err = Stretch(seek, id, count, q); err != nil {
				return out, err
			}
			if q != nil {
				out = append(out, *q)
				frames++
			}
			continue
		}
		frames++
		for _, q := range []*Place{p, p.Whole, p.outer} {
			if q != nil {
				q.Depth = level
				q.Goal.Result = ResultRegs(ms, f)
			}
		}
		out = append(out, *p)
		if q := p.outer; q != nil && frames == 1 {
			q.Whole = p.Whole
			out = append(out, *q)
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

// framePlace returns the section of one frame that contains the instruction:
// the innermost loop iteration if there is a loop, else the whole call; nil if
// it is too long.
func framePlace(seek Seeker, f *funcs.Func, id emulate.ThreadID, count emulate.Count, fr frame) (*Place, error) {
	var whole *Place
	if count-fr.Count <= maxFunction {
		whole = &Place{Func: f, Start: fr.Count, Goal: overlay.Goal{End: overlay.EndReturn, SP: uint64(fr.SP)}}
	}
	w := &walk{seek: seek, id: id, fr: fr, at: count, lo: uint64(fr.Entry)}
	if f != nil {
		w.lo, w.hi = uint64(f.Entry), uint64(f.End)
	}
	heads, err := w.loops()
	if err != nil {
		return nil, err
	}
	iteration := func(head uint64) (*Place, error) {
		start, err := w.visit(head)
		if start == 0 || err != nil {
			return nil, err
		}
		return &Place{Func: f, Loop: true, Start: start, Goal: overlay.Goal{End: overlay.EndLoop, PC: head, SP: uint64(fr.SP), Lo: w.lo, Hi: w.hi}, Whole: whole}, nil
	}
	if len(heads) == 0 {
		return whole, nil
	}
	p, err := iteration(heads[0])
	if err != nil || p == nil {
		return whole, err
	}
	if len(heads) > 1 {
		if p.outer, err = iteration(heads[1]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// A walk looks for the loops that a frame is in when it, or what it calls,
// executes an instruction.
type walk struct {
	seek   Seeker
	id     emulate.ThreadID
	fr     frame
	at     emulate.Count // the instruction
	lo, hi uint64        // the function's code; hi 0: unknown
}

// loops returns the heads of the loops, innermost first.
func (w *walk) loops() ([]uint64, error) {
	t, calls, err := w.seek.Seek(w.id, w.at)
	if err != nil {
		return nil, err
	}
	pc := t.CPU().RIP // the frame's own instruction at, or calling at, w.at
	if n := calls.Depth() - w.fr.depth; n > 0 {
		pc = uint64(calls.Level(n - 1).Site)
	}
	code := func(pc uint64) []byte { return t.Code(t.CPU(), pc) }
	f := newFlow(code, w.lo, w.hi, uint64(w.fr.Entry), nil)
	if f.table {
		jumps, err := w.jumps(code)
		if err != nil {
			return nil, err
		}
		f = newFlow(code, w.lo, w.hi, uint64(w.fr.Entry), jumps)
	}
	return f.headers(pc), nil
}

// from goes to the beginning of the frame, or as near as the window allows.
func (w *walk) from() (*replay.Thread, *funcs.Tracker, error) {
	from := w.fr.Count
	if w.at > window && from < w.at-window {
		from = w.at - window
	}
	return w.seek.Seek(w.id, from)
}

// visit returns the count at which the frame was at head last, at or before the
// instruction; 0: not in the window.
func (w *walk) visit(head uint64) (emulate.Count, error) {
	t, calls, err := w.from()
	if err != nil {
		return 0, err
	}
	c := t.CPU()
	c.Blocks.Break(head)
	last := emulate.Count(0)
	for {
		if c.RIP == head && calls.Depth() == w.fr.depth {
			last = t.Count()
		}
		if t.Count() >= w.at {
			return last, nil
		}
		if ok, err := run(t, calls, w.at, head); !ok {
			return last, err
		}
	}
}

// jumps notes where the frame's indirect jumps lead within the window.
func (w *walk) jumps(code func(pc uint64) []byte) (map[uint64][]uint64, error) {
	t, calls, err := w.from()
	if err != nil {
		return nil, err
	}
	out := map[uint64][]uint64{}
	tables := map[uint64]bool{}
	prev := uint64(0)
	for t.Count() < w.at+window && calls.Depth() >= w.fr.depth {
		if pc := t.CPU().RIP; calls.Depth() == w.fr.depth {
			if prev != 0 && !slices.Contains(out[prev], pc) {
				out[prev] = append(out[prev], pc)
			}
			table, seen := tables[pc]
			if !seen {
				_, table = successors(code(pc), pc)
				tables[pc] = table
			}
			if prev = 0; table {
				prev = pc
			}
		}
		if ok, err := run(t, calls, t.Count()+1, 0); !ok {
			return out, err
		}
	}
	return out, nil
}

// run executes up to a count, or to a break. own is a break that isn't for the
// tracker. ok is false at the end of the thread.
func run(t *replay.Thread, calls *funcs.Tracker, limit emulate.Count, own uint64) (ok bool, err error) {
	stop, err := t.RunTo(limit)
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, err
	case stop != nil && stop.Kind != x86.StopBreak:
		return false, nil
	case stop != nil && t.CPU().RIP != own:
		calls.Enter(t.CPU())
	}
	return true, nil
}
