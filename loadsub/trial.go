package loadsub

import (
	"math/rand/v2"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
)

// A Source says where a replacement value comes from (SPEC terms: the three
// situations of a load whose location somebody else changed).
type Source string

const (
	// FromEntry: what the location held when the section began; the section
	// hadn't written it before the load.
	FromEntry Source = "entry"
	// FromOwnStore: what the section itself last stored there before the load.
	FromOwnStore Source = "own-store"
	// FromOther: what the other thread stores there, or what was there before.
	FromOther Source = "other-thread"
	// FromTypical and FromAtypical: frequent and rare values that the same
	// load read elsewhere in the recording.
	FromTypical  Source = "typical"
	FromAtypical Source = "atypical"
	// FromBoundary: 0, 1, -1 and the largest and smallest signed values; of
	// pointers only the null pointer.
	FromBoundary Source = "boundary"
	// FromRandom: seeded random bits; FromUser: given by the user.
	FromRandom Source = "random"
	FromUser   Source = "user"
)

// A Replacement is a value to give to a load instead of the recorded one.
type Replacement struct {
	Source Source
	Value  uint64
	// Correct: it undoes what somebody else did to the location during the
	// section. Otherwise it simulates that somebody did.
	Correct bool
	// Freeze: others' changes of the location, and of what the section itself
	// wrote, aren't seen, as if they never came.
	Freeze bool
	// Then, if set, is the value that comes once all the section does is to look.
	Then *uint64
	// Works: or that it goes round a loop that looks each time.
	Works bool
}

// Choices are where replacement values can come from, beside the section
// itself.
type Choices struct {
	// Other is what the location holds if the racing store of another thread
	// comes on the other side of the load: what it writes, or what was there
	// before it.
	Other   uint64
	OtherOK bool
	// Seen counts the values that the same load read elsewhere.
	Seen map[uint64]int
	// User are values that the user asked for.
	User []uint64
	// Boundary asks for boundary values.
	Boundary bool
	// Pointer: the load reads pointers, of which nothing is learnt by inventing
	// some.
	Pointer bool
	// Seed, if not 0, asks for a random value; the same seed gives the same.
	Seed uint64
}

// Essential says whether a value can have come about by the order of threads,
// or somebody wants to know: it is tried whatever the budget.
func (s Source) Essential() bool {
	switch s {
	case FromEntry, FromOwnStore, FromOther, FromUser:
		return true
	}
	return false
}

// boundaries lists the boundary values of a size in bytes.
func boundaries(size int, pointer bool) []uint64 {
	if pointer {
		return []uint64{0}
	}
	top := uint64(1) << (8*min(size, 8) - 1)
	return []uint64{0, 1, ^uint64(0), top - 1, top}
}

// Replacements lists values for the load that is access number i of the
// section, different from the recorded one, most telling first: what undoes
// the interference of others, what others store, typical and atypical values
// of the same load, the user's, boundary and random ones.
func Replacements(s *overlay.Section, i int, c Choices) []Replacement {
	load := &s.Accesses[i]
	mask := valueMask(int(load.Size))
	var out []Replacement
	add := func(src Source, v uint64, correct bool) {
		v &= mask
		if v == load.Value {
			return
		}
		for _, r := range out {
			if r.Value == v {
				return
			}
		}
		out = append(out, Replacement{Source: src, Value: v, Correct: correct})
	}
	if own, stored := lastOwnStore(s, i); stored {
		add(FromOwnStore, own, true)
	} else if entry, known := atEntry(s, i); known {
		add(FromEntry, entry, true)
	}
	if c.OtherOK {
		add(FromOther, c.Other, false)
	}
	if v, ok := typical(c.Seen); ok {
		add(FromTypical, v, true)
	}
	if v, ok := atypical(c.Seen); ok {
		add(FromAtypical, v, false)
	}
	for _, v := range c.User {
		add(FromUser, v, false)
	}
	if c.Boundary {
		for _, v := range boundaries(int(load.Size), c.Pointer) {
			add(FromBoundary, v, false)
		}
	}
	if c.Seed != 0 && !c.Pointer {
		add(FromRandom, rand.New(rand.NewPCG(c.Seed, uint64(load.At))).Uint64(), false)
	}
	return out
}

// minSeen is the number of readings below which nothing is typical.
const minSeen = 6

// typical returns the most frequent value, if at least a quarter of the
// readings gave it.
func typical(seen map[uint64]int) (uint64, bool) {
	total, best, times := 0, uint64(0), 0
	for v, n := range seen {
		total += n
		if n > times || n == times && v < best {
			best, times = v, n
		}
	}
	return best, total >= minSeen && 4*times >= total
}

// atypical returns the rarest value, if few readings gave it and others are
// frequent.
func atypical(seen map[uint64]int) (uint64, bool) {
	total, rare, times := 0, uint64(0), 0
	for v, n := range seen {
		total += n
		if times == 0 || n < times || n == times && v < rare {
			rare, times = v, n
		}
	}
	if _, ok := typical(seen); !ok {
		return 0, false
	}
	return rare, 10*times <= total
}

func valueMask(size int) uint64 {
	if size >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*size) - 1
}

// lastOwnStore returns what the section itself last stored to the bytes of
// access i before it, if it stored to any of them.
func lastOwnStore(s *overlay.Section, i int) (uint64, bool) {
	load := &s.Accesses[i]
	v, _ := atEntry(s, i)
	stored := false
	for k := 0; k < i; k++ {
		a := &s.Accesses[k]
		if !a.Writes() || a.Addr >= load.Addr+uint64(load.Size) || load.Addr >= a.Addr+uint64(a.Size) {
			continue
		}
		stored = true
		for b := uint64(0); b < uint64(a.Size); b++ {
			if at := a.Addr + b; at >= load.Addr && at < load.Addr+uint64(load.Size) {
				o := 8 * (at - load.Addr)
				v = v&^(0xff<<o) | (a.Value>>(8*b)&0xff)<<o
			}
		}
	}
	return v, stored
}

// atEntry returns what the bytes of access i held when the section began.
func atEntry(s *overlay.Section, i int) (uint64, bool) {
	load := &s.Accesses[i]
	var v uint64
	for b := uint64(0); b < uint64(load.Size); b++ {
		addr := load.Addr + b
		d, known := s.View.KnownLine(addr >> 6)
		if d != nil && known>>(addr&63)&1 != 0 {
			v |= uint64(d[addr&63]) << (8 * b)
			continue
		}
		// Not known at entry: the first access during the section tells.
		first := firstPre(s, addr)
		if first < 0 {
			return 0, false
		}
		v |= uint64(first) << (8 * b)
	}
	return v, true
}

// firstPre returns the byte at addr before the section's first access to it, or -1.
func firstPre(s *overlay.Section, addr uint64) int {
	for k := range s.Accesses {
		a := &s.Accesses[k]
		if addr >= a.Addr && addr < a.Addr+uint64(a.Size) {
			return int(a.Pre >> (8 * (addr - a.Addr)) & 0xff)
		}
	}
	return -1
}

// A Trial is the re-emulation of one section with one replaced load.
type Trial struct {
	Load        overlay.Access
	Replacement Replacement
	Outcome     string // same, different, crash, hang, diverged, unknown
	Spun        bool   // all it did was to wait for the location to change
	Detail      string
	Outputs     []Output        // the first maxShown
	all         func() []Output // up to maxChanged; nil if there are no more
	// Changes are the checkers that changed their minds.
	Changes []Change
	Result  *overlay.Result
	Assumed int
}

// Bounds of the outputs that are kept of a trial, and of those that are followed.
const (
	maxShown   = 16
	maxChanged = 4096
)

// Changed lists the memory in which the trial of a section differs from the
// reference: not the section's own stack.
func (t *Trial) Changed(s *overlay.Section) []overlay.Span {
	var out []overlay.Span
	list := t.Outputs
	if t.all != nil {
		list = t.all()
	}
	for i := range list {
		if o := &list[i]; o.Addr != 0 && !s.OnStack(o.Addr) {
			out = append(out, overlay.Span{Addr: o.Addr, N: uint64(o.Size)})
		}
	}
	return out
}

// A World is what experiments need to know of the recording as a whole. Every
// field may be nil.
type World struct {
	// Spent, if it isn't nil, counts the instructions that experiments execute.
	Spent *uint64
	// Quiet names run-time functions, by entry, whose own stores are no outputs.
	Quiet func(target uint64) bool
	// Name says what an address is called, for sentences.
	Name func(addr uint64) string
	// Scalar returns the value of a variable that holds the byte at an address.
	Scalar func(addr uint64) (Scalar, bool)
	// Canon maps an address to the one that all mappings of the same memory
	// share.
	Canon func(addr uint64) uint64
	// Elsewhere tells what other threads know of a line.
	Elsewhere func(line uint64) (*[64]byte, uint64)
	// Unmapped says that nothing was ever mapped at an address.
	Unmapped func(addr uint64) bool
	// Fatal names run-time functions, by entry, that end the program because
	// something is wrong; "" for others.
	Fatal func(target uint64) string
	// Code returns instruction bytes of pages that the recording never executed.
	Code func(pc uint64) []byte
	// Heap says what allocator functions do, by entry, Jumps which of them are
	// jumped to, and BlockSize how large a block is, 0 if that isn't known.
	Heap      func(target uint64) overlay.HeapCall
	Jumps     []uint64
	BlockSize func(addr uint64) uint64
	// Family says by functions of which family a block was allocated.
	Family func(addr uint64) (overlay.HeapCall, bool)
	// Inside returns the block that an address is in the middle of, 0: none.
	Inside func(addr uint64) uint64
	// Lock says what functions do to locks, by entry, and Edges which bytes of a
	// line lie between heap blocks, as the recording has them.
	Lock  func(target uint64) overlay.LockCall
	Edges func(line uint64) uint64
	// Watch says what a run keeps account of, for Check, which looks at it when all
	// has ended. Both may be nil.
	Watch *overlay.Watch
	Check func(secs []*overlay.Section, r *overlay.Result) []Finding
	// Weigh says what the findings of a checker that looks at the run itself are
	// good for; nil: they all decide.
	Weigh func(checker string) Weight
	// StreamList is the address of the C library's list of streams, 0 if
	// unknown; Streams are those that are always there.
	StreamList uint64
	Streams    []uint64
	// Answers are the user's, to system calls that were not recorded.
	Answers map[uint64][]overlay.Answer
	// Internal says that the instruction at pc is the run-time's, for its own
	// purposes.
	Internal func(pc uint64) bool
	// Leaves and OwnCode: see overlay.Run.Scheduler.
	Leaves, OwnCode func(pc uint64) bool
	// Class says what kind of memory is at an address.
	Class func(addr uint64, size int) Class
	// Orderable says that atomic instructions access a location.
	Orderable func(addr uint64, size int) bool
}

func (w World) apply(r *overlay.Run) {
	r.Spend(w.Spent)
	if w.Canon != nil {
		r.Aliases(w.Canon)
	}
	if w.Elsewhere != nil {
		r.Elsewhere(w.Elsewhere)
	}
	if w.Unmapped != nil {
		r.Unmapped(w.Unmapped)
	}
	if w.Fatal != nil {
		r.Fatal(w.Fatal)
	}
	if w.Leaves != nil {
		r.Scheduler(w.Leaves, w.OwnCode)
	}
	if w.Code != nil {
		r.Code(w.Code)
	}
	r.Answers(w.Answers)
	if w.Quiet != nil {
		r.Quiet(w.Quiet)
	}
	if w.Heap != nil {
		r.Heap(w.Heap, w.Jumps, w.BlockSize, w.Inside)
		r.Families(w.Family)
		r.Checks(w.Lock, w.Edges, w.Name)
		if w.Watch != nil {
			r.Watch(*w.Watch)
		}
	}
}

// streams must come after everything that a run begins with is set.
func (w World) streams(r *overlay.Run) {
	if w.StreamList != 0 || len(w.Streams) > 0 {
		r.Streams(w.StreamList, w.Streams)
	}
}

func (w World) canon(addr uint64) uint64 {
	if w.Canon == nil {
		return addr
	}
	return w.Canon(addr)
}

// Options configure Try.
type Options struct {
	World
	// Budget bounds the instructions; 0: four times the recorded ones and
	// 200,000 more.
	Budget uint64
	// Log, if set, is what a trial writes itself to.
	Log *overlay.Log
}

// Reference re-emulates a section without any change. Its outputs must be the
// recorded ones; Faithful tells.
func Reference(s *overlay.Section, o Options) *overlay.Result {
	r := overlay.New(s)
	o.apply(r)
	r.Go(0)
	r.Settle(0)
	return r.Result()
}

func (o Options) apply(r *overlay.Run) {
	o.World.apply(r)
	o.World.streams(r)
	if o.Budget != 0 {
		r.Budget(o.Budget)
	}
}

// Faithful says in what the re-emulation of a section without any change
// differs from the recording: registers at the end, and every byte that the
// section wrote. It must be nothing.
func Faithful(s *overlay.Section, r *overlay.Result) []Output {
	if e := &r.Ends[0]; e.Outcome != overlay.Done {
		return []Output{{Name: "the end", Want: "completion", Got: endText(e)}}
	}
	var out []Output
	for i, v := range r.Ends[0].Regs {
		if v != s.Exit.R[i] {
			out = append(out, Output{Name: regNames[i], Want: number(s.Exit.R[i], 8), Got: number(v, 8)})
		}
	}
	last := lastBytes(s)
	for addr, want := range last {
		if got, ok := r.Byte(addr); ok && got != want && r.Wrote(0, addr) {
			out = append(out, Output{Name: nameOf(nil, addr), Addr: addr, Want: number(uint64(want), 1), Got: number(uint64(got), 1)})
		}
	}
	return out
}

// lastBytes returns what the bytes that a section wrote held for it at its end:
// its own last store, or what others wrote afterwards.
func lastBytes(s *overlay.Section) map[uint64]byte {
	last := map[uint64]byte{}
	in := 0
	foreign := func(until emulate.Count) {
		for ; in < len(s.Inputs) && s.Inputs[in].At <= until; in++ {
			x := &s.Inputs[in]
			for i := uint64(0); x.Kind == overlay.InImport && i < 64; i++ {
				if _, ok := last[x.Line<<6+i]; ok && x.Foreign>>i&1 != 0 {
					last[x.Line<<6+i] = x.Data[i]
				}
			}
		}
	}
	for i := range s.Accesses {
		a := &s.Accesses[i]
		foreign(a.At)
		if a.Kind == x86.Write {
			for b := uint64(0); b < uint64(a.Size); b++ {
				last[a.Addr+b] = byte(a.Value >> (8 * b))
			}
		}
	}
	foreign(s.Stop - 1)
	return last
}

// Try re-emulates the section with access i, a load, replaced, and compares it
// with the reference. Without one (nil) outputs aren't compared: the outcome is
// "different" if the section came to an end.
func Try(s *overlay.Section, i int, rep Replacement, ref *overlay.Result, o Options) *Trial {
	load := s.Accesses[i]
	t := &Trial{Load: load, Replacement: rep}
	r := overlay.New(s)
	o.apply(r)
	if o.Log != nil {
		r.Save(o.Log)
	}
	r.Track(overlay.Span{Addr: load.Addr, N: uint64(load.Size)})
	x := r.Inject(0, load.At, load.Addr, int(load.Size), rep.Value)
	switch {
	case rep.Freeze:
		x.Freeze()
		if rep.Then != nil {
			x.Then(*rep.Then)
			if rep.Works {
				x.Works()
			}
		}
	case rep.Correct:
		x.Hold()
	}
	r.Go(0)
	r.Settle(0)
	t.Result = r.Result()
	if ref != nil {
		secs := []*overlay.Section{s}
		t.Changes = changes(o.found(secs, t.Result), done(t.Result), o.found(secs, ref))
	}
	e := &t.Result.Ends[0]
	t.Detail, t.Assumed = e.Detail, e.Assumed
	for _, nr := range e.Answered {
		if t.Detail != "" {
			t.Detail += "; "
		}
		t.Detail += "with the answer given for " + overlay.CallName(nr)
	}
	switch e.Outcome {
	case overlay.Crashed:
		t.Outcome = "crash"
	case overlay.Spun:
		t.Outcome, t.Spun = "hang", true
	case overlay.Hung:
		t.Outcome = "hang"
	case overlay.Unknown:
		t.Outcome = "unknown"
	default:
		if ref == nil {
			t.Outcome = "different"
			break
		}
		differ := func(limit int) []Output { return diff([]*overlay.Section{s}, o.World, ref, t.Result, limit) }
		if t.Outputs = differ(maxShown); len(t.Outputs) == maxShown {
			t.all = func() []Output { return differ(maxChanged) }
		}
		switch {
		case len(t.Outputs) == 0:
			t.Outcome = "same"
		case e.Diverged:
			t.Outcome = "diverged" // control flow left the recorded path
		default:
			t.Outcome = "different"
		}
	}
	return t
}
