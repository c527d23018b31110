package loadsub

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/racesim/racesim/emulate/overlay"
)

// A Weight says what a finding is good for when verdicts are given.
type Weight uint8

const (
	Ignored Weight = iota
	Shown          // it is shown
	Tips           // it decides between two orders if nothing else does
	Decides        // an execution that has it went wrong
)

// A Finding is what a checker finds in an execution.
type Finding struct {
	Checker string // its identifier
	Key     string // the same for what is the same in another execution; "" is one for all
	What    string // a sentence without its full stop
	Weight  Weight
	// Recorded: the recorded execution has it, too. It is nothing new then.
	Recorded bool
}

// A Change is a checker that finds something in one execution of the sections
// and not in those that it is compared with, or the other way round.
type Change struct {
	Checker string // its identifier
	What    string // a sentence without its full stop
	Weight  Weight
	Gone    bool // it is the others that have it
	Order   bool // one of the two serial orders has it
	Runs    int  // executions that have it
}

func (c Change) String() string {
	if c.Gone {
		return "-" + c.Checker
	}
	return "+" + c.Checker
}

// Sentence is what the checker finds, and its name.
func (c Change) Sentence() string { return c.What + " (" + c.Checker + ")" }

// found lists what the checkers find in a run.
func (w World) found(secs []*overlay.Section, r *overlay.Result) []Finding {
	var out []Finding
	add := func(checker, what string) {
		weight := Decides
		if w.Weigh != nil {
			weight = w.Weigh(checker)
		}
		if weight != Ignored {
			out = append(out, Finding{Checker: checker, What: what, Weight: weight})
		}
	}
	for _, f := range r.Findings() {
		add(f.Checker, fmt.Sprintf("thread %d %s", secs[f.Part].Thread, f.What))
	}
	if what := lost(secs, r); what != "" {
		add("leak", what)
	}
	if w.Check != nil {
		out = append(out, w.Check(secs, r)...)
	}
	return out
}

func has(list []Finding, f *Finding) bool {
	return slices.ContainsFunc(list, func(g Finding) bool { return g.Checker == f.Checker && g.Key == f.Key })
}

// changes compares what checkers find in a run with what they find in the
// reference runs: what is new is in none of them, what is gone in all. all says
// that the run came to its end.
func changes(got []Finding, all bool, refs ...[]Finding) []Change {
	var out []Change
	for i := range got {
		f := &got[i]
		if !f.Recorded && !slices.ContainsFunc(refs, func(r []Finding) bool { return has(r, f) }) {
			out = noted(out, Change{Checker: f.Checker, What: f.What, Weight: f.Weight, Runs: 1})
		}
	}
	if len(refs) == 1 && all {
		for i := range refs[0] {
			if f := &refs[0][i]; !has(got, f) {
				out = noted(out, Change{Checker: f.Checker, What: f.What, Weight: f.Weight, Gone: true, Runs: 1})
			}
		}
	}
	return out
}

// noted adds a change, one of each checker.
func noted(list []Change, c Change) []Change {
	i := slices.IndexFunc(list, func(d Change) bool { return d.String() >= c.String() })
	switch {
	case i < 0:
		return append(list, c)
	case list[i].String() != c.String():
		return slices.Insert(list, i, c)
	case c.Weight > list[i].Weight:
		list[i] = c
	}
	return list
}

// decisive returns the first change that is a fault of the execution that has
// it, nil if there is none.
func decisive(list []Change) *Change {
	for i := range list {
		if list[i].Weight == Decides {
			return &list[i]
		}
	}
	return nil
}

// between compares the two serial orders. What is found where a section comes
// first that waited in the recording isn't found in an order that could have been,
// as far as is known: it may have waited for what the other thread did later.
func (p Pair) between(ab, ba *overlay.Result, okAB, okBA bool, inAB, inBA []Finding) []Change {
	var out []Change
	one := func(first *overlay.Section, got, had []Finding) {
		if first.Waits() {
			return
		}
		for _, c := range changes(got, false, had) {
			c.Order = true
			out = noted(out, c)
		}
	}
	ends := func(r *overlay.Result, ok bool) bool {
		for _, e := range r.Ends {
			ok = ok || e.Outcome == overlay.Crashed
		}
		return ok
	}
	if ends(ab, okAB) && ends(ba, okBA) {
		one(p.A, inAB, inBA)
		one(p.B, inBA, inAB)
	}
	return out
}

// change adds what an interleaving showed.
func (s *Serial) change(new []Change) {
	for _, c := range new {
		i := 0
		for i < len(s.Changes) && s.Changes[i].Checker != c.Checker {
			i++
		}
		if i == len(s.Changes) {
			s.Changes = append(s.Changes, c)
			continue
		}
		s.Changes[i].Runs++
	}
}

func done(r *overlay.Result) bool {
	for i := range r.Ends {
		if r.Ends[i].Outcome != overlay.Done {
			return false
		}
	}
	return true
}

// Kept says whether a small number, such as a descriptor's, is in memory that
// outlives the sections, or in a register that is read afterwards.
func Kept(secs []*overlay.Section, r *overlay.Result, n uint32) bool {
	kept := false
	r.Ints(func(at uint64, v uint32) { kept = kept || v == n && outlives(secs, at) })
	for i, s := range secs {
		for k, v := range r.Ends[i].Regs {
			kept = kept || uint32(v) == n && (s.Live == nil || s.Live.GPR[k] != 0)
		}
		for k, v := range r.Ends[i].XMM {
			for _, w := range v {
				kept = kept || (uint32(w) == n || uint32(w>>32) == n) && (s.Live == nil || s.Live.XMM[k] != 0)
			}
		}
	}
	return kept
}

// lost says which block, allocated by the sections and not freed, nothing points
// to at their ends: no memory that outlives them and no register that is read
// afterwards. "" if there is none, or if they didn't come to their ends.
func lost(secs []*overlay.Section, r *overlay.Result) string {
	blocks := r.New()
	if len(blocks) == 0 || !done(r) {
		return ""
	}
	addrs := slices.Sorted(maps.Keys(blocks))
	reached := pointed(secs, r, addrs, blocks)
	for _, a := range addrs {
		if !reached[a] {
			return fmt.Sprintf("a block of %d bytes is allocated and then nothing points to it any more", blocks[a])
		}
	}
	return ""
}

// Reached returns the blocks, of those that the sections allocated and didn't
// free, that something points to at their ends.
func Reached(secs []*overlay.Section, r *overlay.Result) map[uint64]bool {
	blocks := r.New()
	return pointed(secs, r, slices.Sorted(maps.Keys(blocks)), blocks)
}

// pointed returns those blocks, of the given ones, that memory which outlives the
// sections points to, or a register that is read afterwards. addrs are in order.
func pointed(secs []*overlay.Section, r *overlay.Result, addrs []uint64, blocks map[uint64]uint64) map[uint64]bool {
	reached := map[uint64]bool{}
	point := func(v uint64) {
		i := sort.Search(len(addrs), func(i int) bool { return addrs[i] > v }) - 1
		if i >= 0 && v < addrs[i]+max(blocks[addrs[i]], 1) {
			reached[addrs[i]] = true
		}
	}
	r.Words(func(at, v uint64) {
		i := sort.Search(len(addrs), func(i int) bool { return addrs[i] > at }) - 1
		if i >= 0 && at < addrs[i]+blocks[addrs[i]] && v >= addrs[i] && v < addrs[i]+blocks[addrs[i]] {
			return // in itself
		}
		if outlives(secs, at) {
			point(v)
		}
	})
	for i, s := range secs {
		for k, v := range r.Ends[i].Regs {
			if s.Live == nil || s.Live.GPR[k] != 0 {
				point(v)
			}
		}
		for k, v := range r.Ends[i].XMM {
			if s.Live == nil || s.Live.XMM[k] != 0 {
				point(v[0])
				point(v[1])
			}
		}
	}
	return reached
}
