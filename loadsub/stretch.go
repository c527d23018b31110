package loadsub

import (
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// A function that waits, for a thread's end or for input, can't be executed
// again in another order as a whole. Between two such calls it can.

// stretchWindow is how far from an access a stretch reaches, in instructions.
const stretchWindow = 20_000

// Stretch returns the part of p's frame around the instruction with the given
// count that makes no system call, lets no other strand run, and begins and ends in the frame's own code;
// nil if there is none. Whether a lock is held there is for the caller to know.
func Stretch(seek Seeker, id emulate.ThreadID, count emulate.Count, p *Place) (*Place, error) {
	_, calls, err := seek.Seek(id, count)
	if err != nil || p.Depth >= calls.Depth() {
		return nil, err
	}
	fr := frame{calls.Depth() - p.Depth, calls.Level(p.Depth)}
	from := fr.Count
	if count > stretchWindow {
		from = max(from, count-stretchWindow)
	}
	before, err := gaps(seek, id, from, count)
	if err != nil {
		return nil, err
	}
	if n := len(before); n > 0 {
		from = before[n-1] + 1
	}
	after, err := gaps(seek, id, count, count+stretchWindow)
	if err != nil {
		return nil, err
	}
	to := count + stretchWindow
	if len(after) > 0 {
		to = after[0]
	}
	return stretch(seek, id, p, fr, from, count, to)
}

// gaps lists the system calls, signals and the like from one instruction to
// another.
func gaps(seek Seeker, id emulate.ThreadID, from, to emulate.Count) ([]emulate.Count, error) {
	if from >= to {
		return nil, nil
	}
	t, _, err := seek.Seek(id, from)
	if err != nil {
		return nil, err
	}
	s, err := overlay.Capture(t.Snapshot(), overlay.Goal{End: overlay.EndCount, Count: to, MaxSteps: uint64(to - from), NoLive: true})
	if err != nil {
		return nil, err
	}
	var out []emulate.Count
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Kind == overlay.InSyscall || in.Kind == overlay.InContext {
			out = append(out, in.At)
		}
	}
	if b, ok := seek.(Breaker); ok {
		if more := b.Breaks(id, from, to); len(more) > 0 {
			out = append(out, more...)
			slices.Sort(out)
		}
	}
	return out, nil
}

// A Breaker knows, of a program with a scheduler of its own, where a thread goes
// on with another strand, from one instruction to another.
type Breaker interface {
	Breaks(id emulate.ThreadID, from, to emulate.Count) []emulate.Count
}

// stretch finds the first place of the frame's own code from one count on, and
// the last one up to another that isn't passed before the instruction at count.
func stretch(seek Seeker, id emulate.ThreadID, p *Place, fr frame, from, count, to emulate.Count) (*Place, error) {
	t, calls, err := seek.Seek(id, from)
	if err != nil {
		return nil, err
	}
	var start, end emulate.Count
	var pc, sp uint64
	passed := map[uint64]bool{}
	for t.Count() <= to && calls.Depth() >= fr.depth {
		c, now := t.CPU(), t.Count()
		if own := calls.Depth() == fr.depth; own && start == 0 && now <= count {
			start, sp = max(now, 1), c.R[x86.RSP]
		} else if own && start != 0 && c.R[x86.RSP] == sp {
			if now <= count {
				passed[c.RIP] = true
			} else if !passed[c.RIP] {
				end, pc = now, c.RIP
				passed[c.RIP] = true
			}
		}
		if start == 0 && now > count {
			return nil, nil
		}
		if ok, err := run(t, calls, now+1, 0); !ok {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	if start == 0 || end == 0 {
		return nil, nil
	}
	return &Place{Func: p.Func, Part: true, Start: start, Depth: p.Depth,
		Goal: overlay.Goal{End: overlay.EndLoop, PC: pc, SP: uint64(fr.SP), Result: p.Goal.Result, Lo: lo(p.Func), Hi: hi(p.Func)}}, nil
}

func lo(f *funcs.Func) uint64 {
	if f == nil {
		return 0
	}
	return uint64(f.Entry)
}

func hi(f *funcs.Func) uint64 {
	if f == nil {
		return 0
	}
	return uint64(f.End)
}
