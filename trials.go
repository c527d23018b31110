package racesim

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// reads reports whether an access is a load whose value can be replaced.
func reads(x *races.Access) bool {
	return (x.Kind == races.Read || x.Kind == races.Update) && !x.Kernel
}

// maxAgain is the number of further loads of the racing bytes, in the same
// section, that are tried.
const maxAgain = 2

// trials replaces one side's racing load, and then other loads of the same
// bytes in the same section that flow into an output.
func (a *analysis) trials(j *judging, s *overlay.Section, side, other *races.Access, q *loadsub.Place) {
	if !reads(side) || !s.Complete {
		return
	}
	i := findLoad(s, side)
	if i < 0 {
		return
	}
	b := a.bench(s, q, a.world(side.Thread, side.Count))
	if b == nil {
		return
	}
	var c loadsub.Choices
	c.Other, c.OtherOK = a.otherValue(&s.Accesses[i], side, other)
	if b.norm.site != nil {
		c.Seen = b.norm.site.seen[side.PC]
	}
	c.User = a.valuesAsked(a.frame(side))
	at := a.frame(side)
	if !j.invented[side.PC] {
		j.invented[side.PC] = true
		c.Boundary, c.Seed = true, randomSeed
		c.Pointer = side.Size == 8 && a.region(side.Value) != ""
	}
	done := b.all(i, &at, c, &j.budget)
	tried := 0
	for k := range b.matter {
		l := &b.matter[k]
		x := &s.Accesses[l.Index]
		if l.Sync || len(l.Reaches) == 0 || x.PC == side.PC ||
			x.Addr >= uint64(side.Addr)+uint64(side.Size) || uint64(side.Addr) >= x.Addr+uint64(x.Size) {
			continue
		}
		if tried == maxAgain {
			j.loadsLeft++
			continue
		}
		tried++
		at := a.lineOf(x.PC)
		done = append(done, b.all(l.Index, &at, loadsub.Choices{}, &j.budget)...)
	}
	for _, d := range done {
		j.r.Experiments = append(j.r.Experiments, d.shown)
		for _, c := range d.Changes {
			changed(j.r, c)
		}
		switch d.Replacement.Source {
		case loadsub.FromEntry, loadsub.FromOwnStore, loadsub.FromOther:
			// Only these can come about by the order of the two threads.
			j.ev.Trials = append(j.ev.Trials, d.evidence())
			if d.Outcome == "different" || d.Outcome == "diverged" {
				j.open = append(j.open, open{trial: d, q: q, shown: len(j.r.Experiments) - 1})
			}
		}
	}
}

// otherValue returns what a load, or the piece of it that a section has, reads
// if the other side's store comes later, having come before, or earlier.
func (a *analysis) otherValue(piece *overlay.Access, load, store *races.Access) (uint64, bool) {
	if store.Kind != races.Write && store.Kind != races.Update || store.Size > 8 || piece.Size > 8 {
		return 0, false
	}
	stored := store.Value
	if a.order(store.Thread, store.Count, load.Thread, load.Count) {
		t, _, err := a.pass.Seek(store.Thread, store.Count)
		if err != nil {
			return 0, false
		}
		var ok bool
		if stored, ok = overlay.ReadUint(t.Memory(), uint64(store.Addr), store.Size); !ok {
			return 0, false
		}
	}
	v, any := piece.Value, false
	for k := uint64(0); k < uint64(store.Size); k++ {
		if at := uint64(store.Addr) + k - piece.Addr; at < uint64(piece.Size) {
			v = v&^(0xff<<(8*at)) | stored>>(8*k)&0xff<<(8*at)
			any = true
		}
	}
	return v, any
}

// lineOf is the place of an instruction for a report.
func (a *analysis) lineOf(pc uint64) report.Frame {
	fs := a.ms.Frames(emulate.Addr(pc))
	for _, f := range fs {
		if !f.Runtime && !f.Library {
			return reportFrame(f)
		}
	}
	return reportFrame(fs[0])
}

// A bench is a section set up for trials.
type bench struct {
	a      *analysis
	s      *overlay.Section
	q      *loadsub.Place
	opt    loadsub.Options
	ref    *overlay.Result
	norm   *normality
	before classify.Opinion // of what was recorded
	matter []loadsub.LoadInfo
	blind  string // why matter is missing
}

// A trial is one re-emulation and what was made of it.
type trial struct {
	*loadsub.Trial
	bench   *bench
	opinion classify.Opinion
	before  classify.Opinion
	shown   report.Experiment
}

// bench re-emulates a section without a change. If that isn't what was
// recorded, nothing can be learnt from it: a note says so, and it is nil.
func (a *analysis) bench(s *overlay.Section, q *loadsub.Place, w loadsub.World) *bench {
	w.Class, w.Orderable = a.class, a.orderable
	b := &bench{a: a, s: s, q: q, opt: loadsub.Options{World: w}}
	b.ref = loadsub.Reference(s, b.opt)
	if bad := loadsub.Faithful(s, b.ref); len(bad) > 0 {
		a.note("thread %d: re-emulating %v without a change doesn't give what was recorded (%s): its trials are left out", s.Thread, q, bad[0].Name)
		return nil
	}
	b.norm = a.normality(q, s)
	b.before = b.norm.judge(a.outcome(s, b.ref, nil, 0))
	var err error
	if b.matter, err = loadsub.Matter(s, w); err != nil {
		b.blind = err.Error()
	}
	return b
}

// info says what a load flows into, nil if that isn't known.
func (b *bench) info(i int) *loadsub.LoadInfo {
	for k := range b.matter {
		if b.matter[k].Index == i {
			return &b.matter[k]
		}
	}
	return nil
}

// trialSteps bounds the recorded instructions of the sections that are
// re-emulated for one race with values that no order of the threads leads to.
const trialSteps = 200_000

// randomSeed is that of random replacement values.
const randomSeed = 1

// A budget bounds the trials of one race.
type budget struct {
	steps uint64
	left  map[loadsub.Source]int // values left out
}

// spend reports whether a trial fits.
func (b *budget) spend(src loadsub.Source, steps uint64) bool {
	if src.Essential() {
		return true
	}
	if b.steps += steps; b.steps <= trialSteps {
		return true
	}
	if b.left == nil {
		b.left = map[loadsub.Source]int{}
	}
	b.left[src]++
	return false
}

// leftOut says in sentences what wasn't tried.
func (b *budget) leftOut() []string {
	var out []string
	for _, src := range []loadsub.Source{loadsub.FromTypical, loadsub.FromAtypical, loadsub.FromBoundary, loadsub.FromRandom} {
		if n := b.left[src]; n > 0 {
			out = append(out, fmt.Sprintf("replacement values from %s: %d", src, n))
		}
	}
	return out
}

// all tries all replacements of one load that the budget allows.
func (b *bench) all(i int, at *report.Frame, c loadsub.Choices, limit *budget) []*trial {
	var out []*trial
	for _, rep := range loadsub.Replacements(b.s, i, c) {
		if !limit.spend(rep.Source, b.s.Steps()) {
			continue
		}
		out = append(out, b.try(i, at, rep))
	}
	return out
}

// try replaces one load.
func (b *bench) try(i int, at *report.Frame, rep loadsub.Replacement) *trial {
	t := &trial{bench: b, Trial: loadsub.Try(b.s, i, rep, b.ref, b.opt), before: b.before}
	if e := &t.Result.Ends[0]; e.Outcome == overlay.Done {
		t.opinion = b.norm.judge(b.a.outcome(b.s, t.Result, &t.Load, rep.Value))
	} else {
		t.opinion.Why = "it doesn't come to its end"
	}
	var checkers []string
	for _, c := range t.Changes {
		checkers = append(checkers, c.String())
	}
	size := int(t.Load.Size)
	x := report.Experiment{Function: b.q.String(), Load: at.Place(), Mode: "simulate", Source: string(rep.Source),
		Recorded: number(t.Load.Value, size), Replacement: number(rep.Value, size), Outcome: t.Outcome}
	if rep.Correct {
		x.Mode = "correct"
	}
	x.Checkers = checkers
	for _, o := range t.Outputs {
		x.Outputs = append(x.Outputs, report.Output{Name: o.Name, Recorded: o.Want, Reemulated: o.Got})
	}
	details := []string{t.Detail, b.flows(i)}
	if t.opinion.Known {
		normal := t.opinion.Normal
		x.Normal, x.Score = &normal, t.opinion.Score
		if !normal {
			details = append(details, t.opinion.Why)
		}
		if !b.before.Normal {
			details = append(details, "what was recorded isn't normal either: "+b.before.Why)
		}
	} else {
		details = append(details, t.opinion.Why)
	}
	x.Detail = join(details)
	b.saveTrial(&x, i, rep)
	t.shown = x
	return t
}

// flows says in words what a load is good for, if that needs saying.
func (b *bench) flows(i int) string {
	l := b.info(i)
	switch {
	case l == nil && b.blind != "":
		return "where its value flows isn't known: " + b.blind
	case l == nil || len(l.Reaches) > 0:
		return ""
	case l.Control:
		return "the value only decides branches"
	}
	return "the value reaches no output"
}

func join(parts []string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

// evidence is what the trial says about the race.
func (t *trial) evidence() classify.Trial {
	what := t.Detail
	if len(t.Outputs) > 0 {
		o := &t.Outputs[0]
		what = fmt.Sprintf("%s is %s instead of %s", o.Name, o.Got, o.Want)
	}
	found, mended := "", ""
	for _, c := range t.Changes {
		if c.Weight != loadsub.Decides {
			continue
		}
		if c.Gone {
			mended = c.Sentence()
		} else {
			found = c.Sentence()
		}
	}
	return classify.Trial{Waits: t.Spun, Found: found, Mended: mended, Simulate: !t.Replacement.Correct, Outcome: t.Outcome, What: what, Opinion: t.opinion, Recorded: t.before}
}

// class says what kind of memory a load reads.
func (a *analysis) class(addr uint64, size int) loadsub.Class {
	if a.pass.Detector.BlockAt(emulate.Addr(addr)).ID != 0 {
		return loadsub.Heap
	}
	switch a.region(addr) {
	case "stack":
		if l := a.t.s.Shared(); l != nil && !l.Has(addr>>6) {
			return loadsub.PrivateStack
		}
		return loadsub.Escaped
	case "heap":
		return loadsub.Heap
	case "constant", "code":
		return loadsub.Constant
	}
	return loadsub.Global
}

// orderable reports whether atomic instructions access a location.
func (a *analysis) orderable(addr uint64, size int) bool {
	for _, r := range a.t.s.Atomics() {
		if addr < r.Addr+r.N && r.Addr < addr+uint64(size) {
			return true
		}
	}
	return false
}
