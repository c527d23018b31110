package loadsub

import (
	"fmt"
	"sort"

	"github.com/racesim/racesim/emulate/overlay"
)

// A Change is a checker that finds something in one execution of the sections
// and not in those that it is compared with, or the other way round.
type Change struct {
	Checker string // its identifier
	What    string // a sentence without its full stop
	Gone    bool   // it is the others that have it
	Order   bool   // one of the two serial orders has it
	Runs    int    // executions that have it
}

func (c Change) String() string {
	if c.Gone {
		return "-" + c.Checker
	}
	return "+" + c.Checker
}

// Sentence is what the checker finds, and its name.
func (c Change) Sentence() string { return c.What + " (" + c.Checker + ")" }

// found lists what the checkers find in a run, the first of each.
func found(secs []*overlay.Section, r *overlay.Result) map[string]string {
	out := map[string]string{}
	for _, f := range r.Findings() {
		if out[f.Checker] == "" {
			out[f.Checker] = fmt.Sprintf("thread %d %s", secs[f.Part].Thread, f.What)
		}
	}
	if what := lost(secs, r); what != "" {
		out["leak"] = what
	}
	return out
}

// changes compares what checkers find in a run with the reference runs: what is
// new is in none of them, what is gone in all.
func changes(secs []*overlay.Section, r *overlay.Result, refs []*overlay.Result) []Change {
	got := found(secs, r)
	had, all := map[string]bool{}, map[string]int{}
	first := map[string]string{}
	for _, q := range refs {
		for id, what := range found(secs, q) {
			had[id] = true
			if all[id]++; first[id] == "" {
				first[id] = what
			}
		}
	}
	var out []Change
	for id, what := range got {
		if !had[id] {
			out = append(out, Change{Checker: id, What: what, Runs: 1})
		}
	}
	if len(refs) == 1 && done(r) {
		for id := range all {
			if got[id] == "" {
				out = append(out, Change{Checker: id, What: first[id], Gone: true, Runs: 1})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Checker < out[j].Checker })
	return out
}

// between compares the two serial orders. What is found where a section comes
// first that waited in the recording isn't found in an order that could have been,
// as far as is known: it may have waited for what the other thread did later.
func (p Pair) between(ab, ba *overlay.Result, okAB, okBA bool) []Change {
	secs := []*overlay.Section{p.A, p.B}
	var out []Change
	one := func(first *overlay.Section, r, q *overlay.Result) {
		if first.Waits() {
			return
		}
		had := found(secs, q)
		for id, what := range found(secs, r) {
			if had[id] == "" {
				out = append(out, Change{Checker: id, What: what, Order: true, Runs: 1})
			}
		}
	}
	ends := func(r *overlay.Result, ok bool) bool {
		for _, e := range r.Ends {
			ok = ok || e.Outcome == overlay.Crashed
		}
		return ok
	}
	if ends(ab, okAB) && ends(ba, okBA) {
		one(p.A, ab, ba)
		one(p.B, ba, ab)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Checker < out[j].Checker })
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

// lost says which block, allocated by the sections and not freed, nothing points
// to at their ends: no memory that outlives them and no register that is read
// afterwards. "" if there is none, or if they didn't come to their ends.
func lost(secs []*overlay.Section, r *overlay.Result) string {
	blocks := r.New()
	if len(blocks) == 0 || !done(r) {
		return ""
	}
	addrs := make([]uint64, 0, len(blocks))
	for a := range blocks {
		addrs = append(addrs, a)
	}
	sort.Slice(addrs, func(i, j int) bool { return addrs[i] < addrs[j] })
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
	for _, a := range addrs {
		if !reached[a] {
			return fmt.Sprintf("a block of %d bytes is allocated and then nothing points to it any more", blocks[a])
		}
	}
	return ""
}
