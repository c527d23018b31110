package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A Choice is what becomes of a thread that relies on a flag which an instruction
// left undefined.
type Choice uint8

const (
	_ Choice = iota
	// Continue goes on with what was recorded.
	Continue
	// Fork also executes the instruction that reads with each other value that the
	// flags might have, and says what becomes of it; then it goes on as Continue.
	Fork
	// Skip goes on at the thread's next key frame.
	Skip
)

func (c Choice) String() string {
	switch c {
	case Continue:
		return "continue"
	case Fork:
		return "fork"
	case Skip:
		return "skip"
	}
	return "invalid"
}

// ParseChoice reads what Choice.String printed.
func ParseChoice(s string) (Choice, error) {
	for _, c := range []Choice{Continue, Fork, Skip} {
		if s == c.String() {
			return c, nil
		}
	}
	return 0, fmt.Errorf("replay: undefined flags %q: want continue, fork or skip", s)
}

// A Reliance is an instruction that reads flags which an earlier one left
// undefined (Intel SDM volume 2, "Flags Affected"): other processors may do
// something else there.
type Reliance struct {
	Position emulate.Position
	PC, By   emulate.Addr // the instruction that reads, and the one that left the flags
	Reads    string       // their names: "jb"
	Leaves   string       // "div"
	Flags    uint64       // masks of RFLAGS bits
	// Forks are what the instruction does with other values; only of Fork.
	Forks []Branch
}

// A Branch is one other outcome of an instruction.
type Branch struct {
	Flags   uint64 // the values of Reliance.Flags
	Differs string // from the recording; "" if nothing does
}

// FlagNames lists the arithmetic flags in a mask: "CF, ZF".
func FlagNames(mask uint64) string {
	var l []string
	for _, f := range []struct {
		bit  uint64
		name string
	}{{x86.CF, "CF"}, {x86.PF, "PF"}, {x86.AF, "AF"}, {x86.ZF, "ZF"}, {x86.SF, "SF"}, {x86.OF, "OF"}} {
		if mask&f.bit != 0 {
			l = append(l, f.name)
		}
	}
	return strings.Join(l, ", ")
}

// maxReliances bounds how many are reported of one pair of instructions: further
// ones are counted only.
const maxReliances = 1

// Undefined replays a thread instruction by instruction and calls found for each
// pair of instructions of which one relies on flags that the other left undefined,
// where that happens first. It returns how many instructions were replayed and how
// often flags were relied on. Replaying so is some hundred times as slow as
// otherwise; recording takes no part in it.
func (s *Session) Undefined(ctx context.Context, id emulate.ThreadID, c Choice, found func(Reliance)) (n, reliances uint64, err error) {
	if s.Dependent() {
		return 0, 0, errors.New("replay: threads of this trace don't replay alone: decouple it first")
	}
	t, err := s.Thread(id)
	if err != nil {
		return 0, 0, err
	}
	w := &flagWatch{t: t, choice: c, found: found, seen: map[[2]uint64]int{}}
	for {
		if n%65536 == 0 && ctx.Err() != nil {
			return n, w.total, ctx.Err()
		}
		switch err := w.step(); {
		case errors.Is(err, io.EOF):
			return n, w.total, nil
		case err != nil:
			return n, w.total, err
		}
		n++
	}
}

// flagWatch follows which flags of a thread are undefined.
type flagWatch struct {
	t      *Thread
	choice Choice
	found  func(Reliance)
	seen   map[[2]uint64]int
	total  uint64

	undef uint64 // flags
	left  [64]struct {
		pc   uint64
		name string
	} // by bit number: who left it undefined
}

// step replays one instruction.
func (w *flagWatch) step() error {
	t := w.t
	pc := t.cpu.RIP
	if err := t.Settle(); err != nil {
		return err
	}
	if t.cpu.RIP != pc {
		w.undef = 0 // a signal's handler, or its end
	}
	u, ok := t.cpu.FlagUse()
	if ok && u.Read&w.undef != 0 {
		skipped, err := w.relies(u)
		if err != nil || skipped {
			return err
		}
	}
	pc = t.cpu.RIP
	if stop, err := t.RunTo(emulate.Count(t.cpu.Count + 1)); err != nil {
		return err
	} else if stop != nil {
		return fmt.Errorf("replay: thread %d: %s", t.id, describeStop(stop))
	}
	w.undef = w.undef&^u.Written | u.Undefined
	for m := u.Undefined; m != 0; m &= m - 1 {
		by := &w.left[bits.TrailingZeros64(m)]
		by.pc, by.name = pc, u.Mnemonic
	}
	return nil
}

// relies handles an instruction that reads undefined flags. skipped says that the
// thread is at another place now.
func (w *flagWatch) relies(u x86.FlagUse) (skipped bool, err error) {
	t := w.t
	mask := u.Read & w.undef
	by := w.left[bits.TrailingZeros64(mask)]
	r := Reliance{Position: t.Position(), PC: emulate.Addr(t.cpu.RIP), By: emulate.Addr(by.pc), Reads: u.Mnemonic, Leaves: by.name, Flags: mask}
	w.total++
	key := [2]uint64{t.cpu.RIP, by.pc}
	if w.seen[key]++; w.seen[key] <= maxReliances {
		if w.choice == Fork {
			if r.Forks, err = t.forks(mask); err != nil {
				return false, err
			}
		}
		w.found(r)
	}
	if w.choice != Skip {
		return false, nil
	}
	for i, k := range t.KeyFrames() {
		if k.Count > t.cpu.Count {
			w.undef = 0
			return true, t.StartAt(i)
		}
	}
	return true, io.EOF
}

// forks executes the next instruction with each other value of the flags in mask.
func (t *Thread) forks(mask uint64) ([]Branch, error) {
	at := t.Snapshot()
	flags := t.cpu.Flags()
	recorded, err := t.after(at, flags)
	if err != nil {
		return nil, err
	}
	var l []Branch
	for other := mask; ; other = (other - 1) & mask { // all subsets, the empty one last
		if other != flags&mask {
			b := Branch{Flags: other}
			if s, err := t.after(at, flags&^mask|other); err != nil {
				b.Differs = "what follows isn't in the recording"
			} else {
				b.Differs = s.differs(recorded)
			}
			l = append(l, b)
		}
		if other == 0 {
			break
		}
	}
	t.Restore(at)
	return l, nil
}

// registers are the state after an instruction, without flags.
type registers struct {
	r   [20]uint64
	rip uint64
	x   [16][2]uint64
}

// after executes one instruction from a snapshot with the given flags.
func (t *Thread) after(at *Snapshot, flags uint64) (s registers, err error) {
	t.Restore(at)
	t.cpu.SetFlags(flags)
	if _, err := t.RunTo(at.Count() + 1); err != nil {
		return s, err
	}
	copy(s.r[:], t.cpu.R[:])
	s.rip, s.x = t.cpu.RIP, t.cpu.X
	return s, nil
}

// registerNames are those of the general registers by number.
var registerNames = [16]string{"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

// differs says in what s isn't what was recorded.
func (s registers) differs(recorded registers) string {
	if s.rip != recorded.rip {
		return fmt.Sprintf("goes to %#x instead of %#x", s.rip, recorded.rip)
	}
	for i, n := range registerNames {
		if s.r[i] != recorded.r[i] {
			return fmt.Sprintf("%s is %#x instead of %#x", n, s.r[i], recorded.r[i])
		}
	}
	if s.x != recorded.x {
		return "a vector register differs"
	}
	return ""
}
