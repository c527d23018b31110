package overlay

import (
	"math/bits"
	"slices"
	"sort"
)

// An End is how one participant of a Run ended.
type End struct {
	Outcome  Outcome
	Detail   string
	Stuck    bool   // it waits for what the others didn't do before they ended
	Diverged bool   // control flow left the recorded path
	Where    string // where it did
	Assumed  int    // reads served with values from later in the recording
	Left     bool   // the frame that the section began in is gone
	Exited   bool   // its last system call ended the thread or the process
	Waited   bool   // it spun on a tracked location until the other had moved
	Worked   bool   // it went on and on, changing memory, until the other had moved
	Steps    uint64
	// Looked is the number of loads of tracked locations; Released that of
	// instructions, and LookedThen of such loads, until what it spun on got its
	// other value (Injected.Then), 0 if it never did.
	Looked, LookedThen uint64
	Released           uint64
	Busy               bool // it did other work while it waited for that
	Racy               Uses // of the racing bytes
	RAX, RDX           uint64
	XMM0               [2]uint64
	Calls              []Call
	Answered           []uint64 // system calls that the user answered, by number
	Texts              []Text   // what it put into the buffers of streams, by descriptor
	Regs               [16]uint64
	XMM                [16][2]uint64
	YMM                [16][2]uint64 // the upper halves
}

// Uses is what a participant does with the racing bytes.
type Uses struct {
	Loads, Stores int
	Falls, Rises  bool // a store makes the value smaller, or larger, as a signed number
	Parts         bool // stores differ in place or size
	addr          uint64
	size          int
}

func (u *Uses) stored(addr uint64, size int, was, is uint64) {
	if u.Stores++; u.Stores == 1 {
		u.addr, u.size = addr, size
	}
	u.Parts = u.Parts || u.addr != addr || u.size != size
	n := 64 - 8*min(size, 8)
	a, b := int64(was<<n), int64(is<<n)
	u.Falls, u.Rises = u.Falls || b < a, u.Rises || b > a
}

// A Result is what a Run produced.
type Result struct {
	Ends  []End
	mem   *Memory
	parts []*participant
	// wrote has, per participant, line -> bytes it wrote.
	wrote []map[uint64]uint64
	read  []map[uint64]uint64
	// elsewhere is asked for lines that no participant knows.
	elsewhere func(line uint64) (*[64]byte, uint64)
	asked     map[uint64]line
}

// Result returns what the run produced. Call it once everything has ended.
func (r *Run) Result() *Result {
	res := &Result{mem: r.mem, parts: r.parts, wrote: r.written, read: r.read, elsewhere: r.elsewhere}
	for _, p := range r.parts {
		c := p.cpu
		if r.spent != nil {
			*r.spent += p.executed
		}
		e := End{Outcome: p.out, Detail: p.detail, Stuck: p.stuck, Diverged: p.diverged, Where: p.where, Assumed: p.assumed, Left: c.R[4] > p.sec.SP, Exited: p.exited, Waited: p.waitedFor, Worked: p.worked,
			Looked: p.glances, LookedThen: p.atRelease, Released: p.released, Busy: p.working,
			Steps: p.executed, Racy: p.racy, RAX: c.R[0], RDX: c.R[2], XMM0: c.X[0], Calls: p.calls, Texts: p.said(), XMM: c.X, YMM: c.Y}
		copy(e.Regs[:], c.R[:16])
		for nr := range p.asked {
			e.Answered = append(e.Answered, nr)
		}
		slices.Sort(e.Answered)
		res.Ends = append(res.Ends, e)
	}
	return res
}

// Byte returns a byte as it is after the run: written, set beforehand, known to
// one of the sections, or elsewhere.
func (r *Result) Byte(addr uint64) (byte, bool) {
	if b, ok := r.mem.Get(addr); ok { // canonical, or the same
		return b, true
	}
	for _, p := range r.parts {
		if b, ok := p.peek(addr); ok {
			return b, true
		}
	}
	if r.elsewhere == nil {
		return 0, false
	}
	l, ok := r.asked[addr>>6]
	if !ok {
		if d, known := r.elsewhere(addr >> 6); d != nil {
			l = line{*d, known}
		}
		if r.asked == nil {
			r.asked = map[uint64]line{}
		}
		r.asked[addr>>6] = l
	}
	return l.data[addr&63], l.mask>>(addr&63)&1 != 0
}

// Uint returns size bytes at addr as a little-endian number, and whether all
// of them are known.
func (r *Result) Uint(addr uint64, size int) (uint64, bool) {
	var v uint64
	all := true
	for i := 0; i < size; i++ {
		b, ok := r.Byte(addr + uint64(i))
		v |= uint64(b) << (8 * i)
		all = all && ok
	}
	return v, all
}

// Wrote reports whether participant part wrote the byte.
func (r *Result) Wrote(part int, addr uint64) bool {
	return r.wrote[part][addr>>6]>>(addr&63)&1 != 0
}

// Shared returns the bytes that two participants touched, one of them by
// writing: not their own stacks, and not what functions did that are quiet.
func (r *Result) Shared() []Span {
	lines := map[uint64]uint64{}
	for i, w := range r.wrote {
		for k := range r.wrote {
			if k == i {
				continue
			}
			for n, m := range w {
				if m &= r.wrote[k][n] | r.read[k][n]; m != 0 {
					lines[n] |= m
				}
			}
		}
	}
	return spans(lines)
}

// Written returns the bytes that any participant wrote, as spans in order.
func (r *Result) Written() []Span {
	lines := map[uint64]uint64{}
	for _, w := range r.wrote {
		for n, m := range w {
			lines[n] |= m
		}
	}
	return spans(lines)
}

// Differing lists the bytes that one of two executions wrote, and that aren't the
// same after both, in order.
func Differing(x, y *Result) []uint64 {
	lines := map[uint64]uint64{}
	for _, r := range []*Result{x, y} {
		for _, w := range r.wrote {
			for n, m := range w {
				lines[n] |= m
			}
		}
	}
	ns := make([]uint64, 0, len(lines))
	for n, m := range lines {
		if a, b := x.mem.get(n), y.mem.get(n); a != nil && b != nil && m&^(a.mask&b.mask) == 0 && a.data == b.data {
			continue
		}
		ns = append(ns, n)
	}
	slices.Sort(ns)
	var out []uint64
	for _, n := range ns {
		for m := lines[n]; m != 0; m &= m - 1 {
			at := n<<6 | uint64(bits.TrailingZeros64(m))
			a, known := x.Byte(at)
			if b, too := y.Byte(at); a != b || known != too {
				out = append(out, at)
			}
		}
	}
	return out
}

// spans turns line masks into sorted, joined spans.
func spans(lines map[uint64]uint64) []Span {
	ns := make([]uint64, 0, len(lines))
	for n := range lines {
		ns = append(ns, n)
	}
	sort.Slice(ns, func(i, j int) bool { return ns[i] < ns[j] })
	var out []Span
	for _, n := range ns {
		for i := uint64(0); i < 64; i++ {
			if lines[n]>>i&1 == 0 {
				continue
			}
			a := n<<6 + i
			if k := len(out) - 1; k >= 0 && out[k].Addr+out[k].N == a {
				out[k].N++
			} else {
				out = append(out, Span{a, 1})
			}
		}
	}
	return out
}

// Part returns the result as far as it concerns participant i.
func (r *Result) Part(i int) *Result {
	return &Result{Ends: r.Ends[i : i+1], mem: r.mem, parts: r.parts[i : i+1], wrote: r.wrote[i : i+1], elsewhere: r.elsewhere}
}
