package racesim

import (
	"path/filepath"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// The user can name a line whose loads get another value. If a load of the line
// races, the trial is part of the race; otherwise some executions of the line
// are looked for, and experiments that belong to no race are made with them.

// A lineAsked is one such line with its values.
type lineAsked struct {
	load   Load
	values []uint64
	code   []funcs.PCRange
	at     []execution // where it is executed
}

// An execution is an instruction of a thread.
type execution struct {
	thread emulate.ThreadID
	count  emulate.Count
}

const (
	maxExecutions = 8  // of a line by one thread that are kept
	maxLooked     = 12 // looked at
	maxAsked      = 2  // and experimented with
)

// linesAsked finds the code of the lines that the user named.
func (a *analysis) linesAsked() []*lineAsked {
	var out []*lineAsked
next:
	for _, l := range a.o.Loads {
		for _, k := range out {
			if k.load.File == l.File && k.load.Line == l.Line {
				k.values = append(k.values, l.Value)
				continue next
			}
		}
		k := &lineAsked{load: l, values: []uint64{l.Value}, code: a.ms.PCsOfLine(l.File, l.Line)}
		if len(k.code) == 0 {
			a.note("%s:%d: no code comes from this line, as far as the debugging information says", l.File, l.Line)
		}
		out = append(out, k)
	}
	return out
}

// valuesAsked returns the values for loads at a place.
func (a *analysis) valuesAsked(f report.Frame) []uint64 {
	var out []uint64
	for _, l := range a.o.Loads {
		if l.Line == f.Line && sameFile(f.File, l.File) {
			out = append(out, l.Value)
		}
	}
	return out
}

// sameFile reports whether want is the file, or the end of its path.
func sameFile(file, want string) bool {
	return file == want || strings.HasSuffix(file, "/"+strings.TrimPrefix(filepath.ToSlash(filepath.Clean(want)), "/"))
}

// asked makes the experiments that the user asked for and that no race has.
func (a *analysis) asked() {
	raced := map[string]bool{}
	for i := range a.rep.Races {
		for _, e := range a.rep.Races[i].Experiments {
			if e.Source == string(loadsub.FromUser) {
				raced[e.Load] = true
			}
		}
	}
	for _, l := range a.lines {
		if len(l.code) == 0 || raced[l.name()] {
			continue
		}
		a.askedOf(l)
	}
}

func (l *lineAsked) name() string { return l.load.place() }

// place is what an experiment's load is called.
func (l Load) place() string {
	f := report.Frame{File: l.File, Line: l.Line}
	return f.Place()
}

// spread picks some executions, of different threads first.
func (a *analysis) spread(all []execution) []execution {
	var out []execution
	for n := 0; n < maxExecutions; n++ {
		seen := map[emulate.ThreadID]int{}
		for _, x := range all {
			if seen[x.thread] == n && len(out) < maxLooked {
				out = append(out, x)
			}
			seen[x.thread]++
		}
	}
	return out
}

// askedOf experiments with executions of a line: first of all with those whose
// load flows into an output.
func (a *analysis) askedOf(l *lineAsked) {
	type one struct {
		b     *bench
		loads []int
	}
	var idle []one
	n := 0
	for _, x := range a.spread(l.at) {
		if n == maxAsked {
			return
		}
		b := a.benchAt(x)
		if b == nil {
			continue
		}
		loads := b.ranked(l, x.count)
		if len(loads) == 0 {
			continue
		}
		if i := b.info(loads[0]); i != nil && len(i.Reaches) == 0 {
			idle = append(idle, one{b, loads})
			continue
		}
		b.asked(l, loads)
		n++
	}
	for ; n < maxAsked && len(idle) > 0; n++ {
		idle[0].b.asked(l, idle[0].loads)
		idle = idle[1:]
	}
}

// benchAt sets up the section around an execution, nil if there is none.
func (a *analysis) benchAt(x execution) *bench {
	places, err := a.placesAround(x.thread, x.count, 1)
	if err != nil {
		return nil
	}
	s, err := a.capture(x.thread, places[0])
	if err != nil || !s.Complete {
		return nil
	}
	return a.bench(s, &places[0], a.world(x.thread, x.count))
}

// asked replaces loads of a line, one of each instruction.
func (b *bench) asked(l *lineAsked, loads []int) {
	done := map[uint64]bool{}
	for _, i := range loads {
		pc := b.s.Accesses[i].PC
		if done[pc] {
			continue
		}
		done[pc] = true
		f := b.a.lineOf(pc)
		for _, r := range loadsub.Replacements(b.s, i, loadsub.Choices{User: l.values}) {
			if r.Source == loadsub.FromUser {
				b.a.rep.Experiments = append(b.a.rep.Experiments, b.try(i, &f, r).shown)
			}
		}
	}
}

// ranked lists the loads of a line from a given instruction on, most telling
// first: the variables of the program rather than the frame's.
func (b *bench) ranked(l *lineAsked, from emulate.Count) []int {
	var out []int
	add := func(i int) {
		x := &b.s.Accesses[i]
		if x.At < from || x.Writes() {
			return
		}
		for _, r := range l.code {
			if emulate.Addr(x.PC) >= r.Lo && emulate.Addr(x.PC) < r.Hi {
				out = append(out, i)
				return
			}
		}
	}
	if b.matter == nil {
		for i := range b.s.Accesses {
			add(i)
		}
		return out
	}
	for k := range b.matter {
		if b.matter[k].Class != loadsub.Constant {
			add(b.matter[k].Index)
		}
	}
	return out
}
