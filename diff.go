package racesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/funcs"
)

// A Diff says how an execution, the subject, compares with others.
type Diff struct {
	Subject  string         `json:"subject"`
	Compared []ComparedWith `json:"compared"`
	Sections SectionCount   `json:"sections"` // of the subject
	// Functions are those with sections that aren't equal to any, the most first,
	// but the run-time library's last.
	Functions []FunctionDiff `json:"functions,omitempty"`
}

// Same says whether all threads are equal to those of all compared traces.
func (d *Diff) Same() bool {
	for _, c := range d.Compared {
		for _, t := range c.Threads {
			if t.Kind != "equal" {
				return false
			}
		}
	}
	return true
}

// ComparedWith is what one of the compared traces differs in.
type ComparedWith struct {
	Trace   string       `json:"trace"`
	Threads []ThreadDiff `json:"threads"`
}

// A ThreadDiff says where a thread does something else than the same thread of
// another trace: the one that the same parent created as its same child.
type ThreadDiff struct {
	Thread uint   `json:"thread,omitempty"` // of the subject
	Other  uint   `json:"other,omitempty"`  // of the compared trace
	Kind   string `json:"kind"`             // equal, differs, alone
	Same   uint64 `json:"same"`             // instructions until the first difference
	// Differences are the first one, and the first in the program's own code, or
	// beyond which the two can't be compared, if that is another.
	Differences []Difference `json:"differences,omitempty"`
}

// A Difference is something that two threads don't do alike.
type Difference struct {
	Kind     string `json:"kind"`               // value, address, way, end
	Position string `json:"position,omitempty"` // of the subject's thread
	There    string `json:"there,omitempty"`    // of the other's
	Place    string `json:"place,omitempty"`    // function and line
	What     string `json:"what,omitempty"`     // what it does, and what the other does
}

// A SectionCount says how many sections there are, and how many kinds of them
// that are different from one another.
type SectionCount struct {
	All   uint64 `json:"all"`
	Kinds uint64 `json:"kinds"`
	// Equal are equal to one of a compared trace; Values execute the same
	// instructions as one, with other values; Other are like none.
	Equal  uint64 `json:"equal"`
	Values uint64 `json:"values"`
	Other  uint64 `json:"other"`
}

func (c *SectionCount) add(s sectionStatus) {
	c.All++
	switch s {
	case sectionEqual:
		c.Equal++
	case sectionValues:
		c.Values++
	default:
		c.Other++
	}
}

// A FunctionDiff counts the sections of a function.
type FunctionDiff struct {
	Function string `json:"function"`
	Library  bool   `json:"library,omitempty"` // of the run-time; these come last
	SectionCount
}

type sectionStatus uint8

const (
	sectionOther  sectionStatus = iota
	sectionValues               // the same instructions as one, with other values
	sectionEqual
)

// DiffTraces compares the execution in a trace with those in others, of the same
// program. All traces must be independent (OpenAlone).
func DiffTraces(ctx context.Context, subject *Trace, compared []*Trace) (*Diff, error) {
	mine, err := subject.allSections(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", subject.path(), err)
	}
	d := &Diff{Subject: subject.path()}
	values, paths := map[uint64]bool{}, map[uint64]bool{}
	for _, o := range compared {
		theirs, err := o.allSections(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.path(), err)
		}
		for _, t := range theirs {
			for _, s := range t.l {
				values[s.values], paths[s.path] = true, true
			}
		}
		c := ComparedWith{Trace: o.path()}
		if c.Threads, err = diffThreads(ctx, subject, o, mine, theirs); err != nil {
			return nil, err
		}
		d.Compared = append(d.Compared, c)
	}
	d.count(subject.modules(), mine, values, paths)
	return d, nil
}

// count gives each section of the subject its status: that of the kind that it
// is of.
func (d *Diff) count(ms *funcs.Modules, mine []*threadSections, values, paths map[uint64]bool) {
	kinds := map[uint64]sectionStatus{}
	of := map[string]*FunctionDiff{}
	for _, t := range mine {
		for _, s := range t.l {
			st, ok := kinds[s.values]
			if !ok {
				if paths[s.path] {
					st = sectionValues
				}
				if values[s.values] {
					st = sectionEqual
				}
				kinds[s.values] = st
			}
			d.Sections.add(st)
			name := ms.Frames(s.pc)[0].Function
			f := of[name]
			if f == nil {
				f = &FunctionDiff{Function: name, Library: library(ms, s.pc)}
				of[name] = f
			}
			f.add(st)
			if !ok {
				f.Kinds++
			}
		}
	}
	d.Sections.Kinds = uint64(len(kinds))
	for _, f := range of {
		if f.Equal < f.All {
			d.Functions = append(d.Functions, *f)
		}
	}
	sort.Slice(d.Functions, func(i, j int) bool {
		a, b := &d.Functions[i], &d.Functions[j]
		if a.Library != b.Library {
			return b.Library
		}
		if a.Other != b.Other {
			return a.Other > b.Other
		}
		if a.Values != b.Values {
			return a.Values > b.Values
		}
		return a.Function < b.Function
	})
}

// diffThreads compares threads of the same names.
func diffThreads(ctx context.Context, a, b *Trace, mine, theirs []*threadSections) ([]ThreadDiff, error) {
	var out []ThreadDiff
	by := map[string]*threadSections{}
	for _, t := range theirs {
		by[t.name] = t
	}
	for _, t := range mine {
		o := by[t.name]
		delete(by, t.name)
		if o == nil {
			out = append(out, ThreadDiff{Thread: uint(t.id), Kind: "alone"})
			continue
		}
		x := ThreadDiff{Thread: uint(t.id), Other: uint(o.id), Kind: "equal", Same: uint64(t.end)}
		i := 0
		for i < len(t.l) && i < len(o.l) && t.l[i].values == o.l[i].values && t.l[i].at == o.l[i].at {
			i++
		}
		if i < len(t.l) || i < len(o.l) {
			from := t.end
			if i < len(t.l) {
				from = t.l[i].at
			} else if i > 0 {
				from = t.l[i-1].at
			}
			if err := firstDifference(ctx, a, b, from, &x); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	for _, o := range theirs {
		if by[o.name] != nil {
			out = append(out, ThreadDiff{Other: uint(o.id), Kind: "alone"})
		}
	}
	return out, nil
}

// firstDifference replays two threads, which do the same up to an instruction,
// side by side from there, as long as they go the same way.
func firstDifference(ctx context.Context, a, b *Trace, from emulate.Count, x *ThreadDiff) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mine := a.stepsFrom(ctx, emulate.ThreadID(x.Thread), from)
	theirs := b.stepsFrom(ctx, emulate.ThreadID(x.Other), from)
	x.Kind, x.Same = "differs", uint64(from)
	c := comparison{a: a, b: b, ms: a.modules(), os: b.modules(), x: x, pairs: map[[2]uint64]bool{}, shifts: map[uint64]bool{}}
	for !c.done(mine, theirs) {
	}
	stop()
	for _, l := range []*stepList{mine, theirs} {
		for range l.batches {
		}
		if l.err != nil && !errors.Is(l.err, context.Canceled) {
			return l.err
		}
	}
	return nil
}

// A comparison is of two threads that go the same way.
type comparison struct {
	a, b   *Trace
	ms, os *funcs.Modules
	x      *ThreadDiff
	last   *diffStep     // that both have done
	shift  emulate.Count // how many instructions more than the other the subject has executed here
	// What differed once differs again wherever it is used, which says nothing
	// new: two values in place of one another, and addresses that are so far apart.
	pairs  map[[2]uint64]bool
	shifts map[uint64]bool
}

// done looks at the next step of both, and says whether there is nothing more to
// find. In the run-time library, the two may part: what it does for a lock
// depends on who else wants it, and tells little. They are compared again from
// where both are back in other code.
func (c *comparison) done(mine, theirs *stepList) bool {
	s, o := mine.next(), theirs.next()
	if !c.together(s, o) {
		if s == nil && o == nil {
			if len(c.x.Differences) == 0 {
				c.add(s, o)
			}
			return true
		}
		if s == nil || o == nil || !library(c.ms, s.pc) || !library(c.os, o.pc) {
			c.add(s, o)
			return true
		}
		if len(c.x.Differences) == 0 {
			c.add(s, o)
		}
		for s != nil && library(c.ms, s.pc) {
			s = mine.next()
		}
		for o != nil && library(c.os, o.pc) {
			o = theirs.next()
		}
		if s == nil && o == nil {
			return true
		}
		if s != nil && o != nil {
			c.shift = s.at - o.at
		}
		if !c.together(s, o) {
			c.add(s, o)
			return true
		}
	}
	c.last = s
	if !c.news(s, o) {
		return false
	}
	own := !library(c.ms, s.pc)
	if own || len(c.x.Differences) == 0 {
		c.add(s, o)
	}
	return own
}

// together says whether two steps are of the same instruction.
func (c *comparison) together(s, o *diffStep) bool {
	return s != nil && o != nil && s.pc == o.pc && s.at == o.at+c.shift && s.kind == o.kind && s.size == o.size
}

// library says whether an instruction is of the run-time library, or of a stub
// by which that is called.
func library(ms *funcs.Modules, pc emulate.Addr) bool {
	f := ms.FuncAt(pc)
	return f == nil || f.Runtime || f.PLT
}

// telling is where numbers begin that mean the same each time, pointers where
// addresses of mapped memory do.
const (
	telling  = 1 << 16
	pointers = 1 << 32
)

// news says whether a difference doesn't follow from one before. Addresses that
// are whole pages apart are of the same place in memory that was mapped elsewhere.
func (c *comparison) news(s, o *diffStep) bool {
	n := 0
	differ := func(v, w uint64) {
		p := [2]uint64{v, w}
		if v == w || c.pairs[p] {
			return
		}
		if v >= pointers && w >= pointers && (v-w)%4096 == 0 {
			c.shifts[v-w] = true
		}
		if v >= telling && w >= telling {
			if c.shifts[v-w] {
				return
			}
			c.pairs[p] = true
		}
		n++
	}
	differ(s.addr, o.addr)
	differ(s.value, o.value)
	for i := range s.args {
		differ(s.args[i], o.args[i])
	}
	return n > 0
}

// add describes a difference.
func (c *comparison) add(s, o *diffStep) {
	var d Difference
	place := s
	if s == nil {
		place = c.last
	}
	if place != nil {
		d.Place = codePlace(c.ms, place.pc)
		d.Position = c.a.positionOf(emulate.ThreadID(c.x.Thread), place.at)
		if len(c.x.Differences) == 0 {
			c.x.Same = uint64(place.at)
		}
	}
	if o != nil {
		d.There = c.b.positionOf(emulate.ThreadID(c.x.Other), o.at)
	}
	switch {
	case s == nil && o == nil:
		d.Kind, d.What = "end", "both end, after different numbers of instructions"
	case s == nil:
		d.Kind, d.What = "end", fmt.Sprintf("it ends; there it goes on and %s", o.text(c.os, true))
	case o == nil:
		d.Kind, d.What = "end", fmt.Sprintf("%s; there it has ended", s.text(c.ms, false))
	case !c.together(s, o):
		d.Kind, d.What = "way", fmt.Sprintf("%s; there it %s", s.text(c.ms, false), o.text(c.os, true))
		if c.last != nil {
			d.What += fmt.Sprintf("; the last thing that both do: %s", c.last.text(c.ms, true))
		}
	case s.kind == stepEnter:
		d.Kind, d.What = "value", fmt.Sprintf("%s; there it %s", s.text(c.ms, false), o.text(c.os, false))
	case s.addr != o.addr:
		d.Kind, d.What = "address", fmt.Sprintf("%s; there it %s", s.text(c.ms, false), o.text(c.os, false))
	default:
		d.Kind, d.What = "value", fmt.Sprintf("%s, there %s", s.text(c.ms, false), s.number(o.value))
	}
	c.x.Differences = append(c.x.Differences, d)
}

// positionOf returns the position of an instruction of a thread.
func (t *Trace) positionOf(id emulate.ThreadID, at emulate.Count) string {
	th, err := t.s.Thread(id)
	if err != nil {
		return ""
	}
	if at > 0 {
		if _, err := th.RunTo(at); err != nil {
			return ""
		}
	}
	if err := th.Settle(); err != nil {
		return ""
	}
	return th.Position().String()
}

func (s *diffStep) number(v uint64) string {
	if v > 1<<16 {
		return fmt.Sprintf("%#x", v)
	}
	return fmt.Sprint(v)
}

// text says what a step does, and where, if that isn't said elsewhere.
func (s *diffStep) text(ms *funcs.Modules, where bool) string {
	at := ""
	if where {
		at = " at " + codePlace(ms, s.pc)
	}
	location := fmt.Sprintf("%#x", s.addr)
	if v, ok := ms.VarAtSize(emulate.Addr(s.addr), s.size); ok {
		location = v.Path
	}
	switch s.kind {
	case stepLoad:
		return fmt.Sprintf("reads %s%s: %s", location, at, s.number(s.value))
	case stepStore:
		return fmt.Sprintf("writes %s%s: %s", location, at, s.number(s.value))
	case stepCall:
		return fmt.Sprintf("goes from %s to %s", codePlace(ms, s.pc), codePlace(ms, emulate.Addr(s.addr)))
	case stepEnter:
		var args []string
		for _, a := range s.args {
			args = append(args, s.number(a))
		}
		return fmt.Sprintf("calls %s(%s)%s", linux.SyscallName(s.value), strings.Join(args, ", "), at)
	case stepReturn:
		return fmt.Sprintf("gets from %s%s: %s", linux.SyscallName(s.addr), at, s.number(s.value))
	}
	return "executes a non-deterministic instruction" + at
}

// shownFunctions is how many functions WriteDiff lists.
const shownFunctions = 15

// Write writes the comparison for people.
func (d *Diff) Write(w io.Writer) {
	for _, c := range d.Compared {
		fmt.Fprintf(w, "%s compared with %s\n", d.Subject, c.Trace)
		for _, t := range c.Threads {
			switch {
			case t.Thread == 0:
				fmt.Fprintf(w, "  thread %d is only there\n", t.Other)
			case t.Kind == "alone":
				fmt.Fprintf(w, "  thread %d is only here\n", t.Thread)
			case t.Kind == "equal":
				fmt.Fprintf(w, "  thread %d: equal, %s\n", t.Thread, plural(t.Same, "instruction"))
			default:
				fmt.Fprintf(w, "  thread %d: equal for %s\n", t.Thread, plural(t.Same, "instruction"))
			}
			for _, x := range t.Differences {
				fmt.Fprint(w, "    ")
				if x.Position != "" {
					fmt.Fprintf(w, "at %s", x.Position)
				}
				if x.There != "" {
					fmt.Fprintf(w, ", there %s", x.There)
				}
				fmt.Fprintf(w, ": %s: %s\n", x.Place, x.What)
			}
		}
	}
	n := d.Sections
	fmt.Fprintf(w, "%s of %s: %d equal to one of a compared trace, %d with other values, %d like none\n",
		plural(n.All, "section"), plural(n.Kinds, "kind"), n.Equal, n.Values, n.Other)
	if len(d.Functions) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%10s %10s %12s %10s  function\n", "sections", "equal", "other values", "like none")
	for i, f := range d.Functions {
		if i == shownFunctions {
			fmt.Fprintf(w, "%s more\n", plural(uint64(len(d.Functions)-i), "function"))
			break
		}
		fmt.Fprintf(w, "%10d %10d %12d %10d  %s\n", f.All, f.Equal, f.Values, f.Other, f.Function)
	}
}
