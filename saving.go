package racesim

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
	"github.com/racesim/racesim/traces"
)

// Experiments can be kept: each is executed once more and written to a trace of
// its own, in which the sections are threads that begin where they do and know
// what they read.

// save writes an experiment with sections, which run executes, to a new trace
// in the folder that the user named, and returns the file; "" if nothing is to
// be kept, or it failed: then there is a note.
func (a *analysis) save(x *report.Experiment, secs []*overlay.Section, run func(l *overlay.Log)) string {
	dir := a.o.SaveExperiments
	if dir == "" {
		return ""
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		a.note("experiments aren't saved: %v", err)
		return ""
	}
	race := a.judged
	if race == "" {
		race = "load"
	}
	if a.saved == nil {
		a.saved = map[string]int{}
	}
	a.saved[race]++
	path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", race, a.saved[race], traces.Suffix))
	text := x.Function
	if x.Load != "" {
		text += fmt.Sprintf(", load at %s gets %s instead of %s", x.Load, x.Replacement, x.Recorded)
	}
	l, err := overlay.NewLog(path, text, secs[0])
	if err == nil {
		for _, s := range secs {
			l.Stack(s.Thread, a.stackAt(s))
		}
		run(l)
		err = l.Close()
	}
	if err != nil {
		a.note("an experiment with %s isn't saved: %v", x.Function, err)
		return ""
	}
	return path
}

// stackAt returns the calls under way when a section begins, outermost first.
func (a *analysis) stackAt(s *overlay.Section) []replay.Frame {
	_, calls, err := a.pass.Seek(s.Thread, s.Start)
	if err != nil {
		return nil
	}
	var out []replay.Frame
	for i := calls.Depth() - 1; i >= 0; i-- {
		f := calls.Level(i)
		out = append(out, replay.Frame{Entry: f.Entry, Site: f.Site, SP: f.SP})
	}
	return out
}

// saveTrial keeps a trial of a bench.
func (b *bench) saveTrial(x *report.Experiment, i int, rep loadsub.Replacement) {
	x.Trace = b.a.save(x, []*overlay.Section{b.s}, func(l *overlay.Log) {
		o := b.opt
		o.Log = l
		loadsub.Try(b.s, i, rep, nil, o)
	})
}

// savePair keeps what shows most of a pair of sections.
func (a *analysis) savePair(x *report.Experiment, p loadsub.Pair, s *loadsub.Serial) {
	x.Trace = a.save(x, []*overlay.Section{p.A, p.B}, func(l *overlay.Log) { p.Save(s, l) })
}
