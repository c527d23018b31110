package loadsub

import (
	"fmt"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
)

// A Class says what kind of memory a load reads, and with that whether anybody
// else can change it.
type Class string

const (
	PrivateStack Class = "private-stack" // of the thread, its address known to nobody else
	Escaped      Class = "escaped"       // on a stack, but others know the address
	Heap         Class = "heap"
	Global       Class = "global"
	Constant     Class = "constant" // not writable
)

// racy says how likely a load of the class is to race, for ranking.
func (c Class) racy() bool { return c != PrivateStack && c != Constant }

// A LoadInfo says what the value of one load of a section is good for.
type LoadInfo struct {
	Index   int      // of the access in the section
	Reaches []string // names of the outputs that the value flows into
	Control bool     // it decides a branch
	Class   Class
	Sync    bool // itself synchronisation: part of an atomic instruction, or of a variable that is
}

// Matters reports whether the value has any effect.
func (l *LoadInfo) Matters() bool { return l.Control || len(l.Reaches) > 0 }

// rank orders loads, best to experiment with first: loads that may race and
// reach an output, then those that only decide branches, then those without
// effect; what can't race after all of them, synchronisation last.
func (l *LoadInfo) rank() int {
	r := 0
	switch {
	case len(l.Reaches) > 0:
	case l.Control:
		r = 1
	default:
		r = 2
	}
	if !l.Class.racy() {
		r += 3
	}
	if l.Sync {
		r += 6
	}
	return r
}

// maxTraced bounds the sections whose loads are told apart, in instructions.
const maxTraced = 200_000

// Matter says for every load of a section which outputs its value flows into,
// by following the executed instructions backwards from the outputs: through
// registers, flags and memory, addresses included. Loads are ranked, best to
// experiment with first; loads of the same instruction and rank keep their
// order. The error says that the section can't be stepped through.
//
// Flow through branches is told apart from flow of data: which of two ways is
// taken may change every output.
func Matter(s *overlay.Section, w World) ([]LoadInfo, error) {
	h, err := s.Trace(maxTraced)
	if err != nil {
		return nil, err
	}
	t := &taint{sec: s, w: w, lines: map[uint64]*[64]outputs{}}
	t.outputs(h)
	t.walk(h)
	var out []LoadInfo
	for i := range s.Accesses {
		a := &s.Accesses[i]
		if a.Writes() {
			continue
		}
		l := LoadInfo{Index: i, Reaches: t.namesOf(t.loads[i]), Control: t.loads[i]&control != 0, Sync: a.Atom, Class: Global}
		if w.Class != nil {
			l.Class = w.Class(a.Addr, int(a.Size))
		}
		if w.Orderable != nil && w.Orderable(a.Addr, int(a.Size)) {
			l.Sync = true
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b LoadInfo) int { return a.rank() - b.rank() })
	return out, nil
}

// outputs is a set of outputs: a bit for each of the first ones, one for all
// others together, and one for branches.
type outputs uint64

const (
	maxNamed         = 62
	others   outputs = 1 << maxNamed
	control  outputs = 1 << 63
)

// A taint is the state of a backward walk: which outputs the value that each
// location has at this point flows into.
type taint struct {
	sec   *overlay.Section
	w     World
	names []string
	calls int // system calls still to be met
	loads []outputs

	regs  [0x3001]outputs // registers, by location
	lines map[uint64]*[64]outputs
}

// output returns the bit of an output.
func (t *taint) output(name string) outputs {
	if i := slices.Index(t.names, name); i >= 0 {
		return 1 << i
	}
	if len(t.names) == maxNamed {
		return others
	}
	t.names = append(t.names, name)
	return 1 << (len(t.names) - 1)
}

func (t *taint) namesOf(o outputs) []string {
	var out []string
	for i, n := range t.names {
		if o>>i&1 != 0 {
			out = append(out, n)
		}
	}
	if o&others != 0 {
		out = append(out, "others")
	}
	return out
}

// at returns the entry of one byte of state, nil if there is none and make
// isn't set.
func (t *taint) at(loc uint64, make bool) *outputs {
	if !overlay.IsMemory(loc) {
		return &t.regs[loc-overlay.LocReg]
	}
	loc = t.w.canon(loc)
	l := t.lines[loc>>6]
	if l == nil {
		if !make {
			return nil
		}
		l = new([64]outputs)
		t.lines[loc>>6] = l
	}
	return &l[loc&63]
}

func (t *taint) get(sp overlay.Span) outputs {
	var o outputs
	for i := uint64(0); i < sp.N; i++ {
		if p := t.at(sp.Addr+i, false); p != nil {
			o |= *p
		}
	}
	return o
}

func (t *taint) add(sp overlay.Span, o outputs) {
	if o == 0 {
		return
	}
	for i := uint64(0); i < sp.N; i++ {
		*t.at(sp.Addr+i, true) |= o
	}
}

func (t *taint) clear(sp overlay.Span) {
	for i := uint64(0); i < sp.N; i++ {
		if p := t.at(sp.Addr+i, false); p != nil {
			*p = 0
		}
	}
}

// outputs marks what is an output at the section's end: live registers, and
// memory that outlives the section, by words of 4 bytes.
func (t *taint) outputs(h *overlay.History) {
	s := t.sec
	if s.Live != nil {
		for r := 0; r < 16; r++ {
			if m := s.Live.GPR[r]; m != 0 && r != x86.RSP {
				o := t.output(RegisterName(s, r))
				for b := uint64(0); b < 8; b++ {
					if m>>b&1 != 0 {
						t.add(overlay.Span{Addr: overlay.LocReg + 8*uint64(r) + b, N: 1}, o)
					}
				}
			}
			if m := s.Live.XMM[r]; m != 0 {
				o := t.output(XMMName(s, r))
				for b := uint64(0); b < 16; b++ {
					if m>>b&1 != 0 {
						t.add(overlay.Span{Addr: overlay.LocXMM + 16*uint64(r) + b, N: 1}, o)
					}
				}
			}
			if m := s.Live.YMM[r]; m != 0 {
				o := t.output(YMMName(s, r))
				for b := uint64(0); b < 16; b++ {
					if m>>b&1 != 0 {
						t.add(overlay.Span{Addr: overlay.LocYMM + 16*uint64(r) + b, N: 1}, o)
					}
				}
			}
		}
	}
	secs := []*overlay.Section{s}
	words := map[uint64]outputs{}
	quiet := t.quiet(h)
	for i := range h.Steps {
		if seen(&h.Steps[i]) {
			t.calls++
		}
		if quiet[i] {
			continue
		}
		h.Steps[i].Writes(func(sp overlay.Span) {
			if !overlay.IsMemory(sp.Addr) {
				return
			}
			for a := sp.Addr; a < sp.Addr+sp.N; a++ {
				if !outlives(secs, a) {
					continue
				}
				c := t.w.canon(a)
				o := words[c>>2]
				if o == 0 {
					o = t.output(nameOf(t.w.Name, a&^3))
					words[c>>2] = o
				}
				*t.at(a, true) |= o
			}
		})
	}
}

// quiet tells which steps are within functions whose stores are no outputs.
func (t *taint) quiet(h *overlay.History) []bool {
	out := make([]bool, len(h.Steps))
	if t.w.Quiet == nil {
		return out
	}
	depth, from := 0, -1
	for i := range h.Steps {
		out[i] = from >= 0
		switch h.Steps[i].Branch {
		case x86.BranchCall:
			depth++
			if from < 0 && i+1 < len(h.Steps) && t.w.Quiet(h.Steps[i+1].PC) {
				from = depth
			}
		case x86.BranchRet:
			depth--
			if from > depth {
				from = -1
			}
		}
	}
	return out
}

// A tainted is a byte that an instruction copies, and the outputs that what it
// copies flows into.
type tainted struct {
	from uint64
	outputs
}

// walk goes backwards over the instructions.
func (t *taint) walk(h *overlay.History) {
	t.loads = make([]outputs, len(t.sec.Accesses))
	next := len(t.sec.Accesses)
	var moved []tainted
	for i := len(h.Steps) - 1; i >= 0; i-- {
		st := &h.Steps[i]
		if st.Call >= 0 {
			t.call(h, i)
			continue
		}
		moved = moved[:0]
		var used, copied outputs
		copies := false
		st.Copies(func(from, to, n uint64) {
			copies = copies || n > 0
			for k := range n {
				if p := t.at(to+k, false); p != nil && *p != 0 {
					moved = append(moved, tainted{from + k, *p})
					copied |= *p
				}
			}
		})
		st.Writes(func(sp overlay.Span) { used |= t.get(sp) })
		if st.Mixes() {
			used |= t.regs[overlay.LocOther-overlay.LocReg]
		}
		st.Writes(t.clear)
		if decides(st) {
			used |= control
		}
		for _, m := range moved {
			*t.at(m.from, true) |= m.outputs
		}
		st.Reads(func(sp overlay.Span, addr bool) { t.add(sp, used) })
		if copies && !decides(st) {
			used = copied
		}
		next = t.note(st.At, next, used)
	}
}

// decides reports whether the instruction chooses where control goes from what
// it reads. Returns don't: their address is nobody's data.
func decides(st *overlay.Step) bool {
	switch st.Branch {
	case x86.BranchCond, x86.BranchJump, x86.BranchCall:
		return true
	}
	return false
}

// note records what the loads of the instruction with count at flow into. next
// is one past the accesses that may be its.
func (t *taint) note(at emulate.Count, next int, o outputs) int {
	for next > 0 && t.sec.Accesses[next-1].At >= at {
		next--
		if a := &t.sec.Accesses[next]; a.At == at && !a.Writes() {
			t.loads[next] |= o
		}
	}
	return next
}

// seen reports whether an instruction is a system call that others notice.
func seen(st *overlay.Step) bool { return st.Call >= 0 && !overlay.Unseen(uint64(st.Call)) }

// call goes backwards over a system call. Its arguments and what the kernel
// reads flow into its results, and are an output if others notice the call.
func (t *taint) call(h *overlay.History, i int) {
	st := &h.Steps[i]
	result := overlay.Span{Addr: overlay.LocReg + 8*x86.RAX, N: 8}
	o := t.get(result)
	t.clear(result)
	st.Writes(t.clear)
	for _, sp := range h.CallWrites[i] {
		o |= t.get(sp)
		t.clear(sp)
	}
	if seen(st) {
		o |= t.output(fmt.Sprintf("system call %d", t.calls))
		t.calls--
	}
	for _, sp := range overlay.CallArgs(st.Call) {
		t.add(sp, o)
	}
	for _, sp := range h.CallReads[i] {
		t.add(sp, o)
	}
}
