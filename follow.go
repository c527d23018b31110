package racesim

import (
	"fmt"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// What a replaced value changes in a function may not matter to its callers.
// The trial is repeated with longer and longer sections, from the same
// beginning to the return of the function, of its caller and so on, until the
// difference is gone, the world outside of the program sees it, the thread ends
// or the budget does. Then other threads are looked at that read what is left.

// open is a difference that a trial made.
type open struct {
	*trial
	q     *loadsub.Place
	shown int // index of the experiment in the report
}

const (
	maxFollowed = 2       // differences of one race
	followSteps = 150_000 // recorded instructions of all sections of one difference
)

// follow goes after the differences that trials made, and adds what became of
// them to report and evidence.
func (a *analysis) follow(j *judging) {
	gone, all := "", len(j.open) <= maxFollowed
	for i := range j.open {
		o := &j.open[i]
		x := &j.r.Experiments[o.shown]
		if i >= maxFollowed {
			x.Detail = join([]string{x.Detail, "the budget left out what becomes of it later"})
			continue
		}
		f := a.fate(o)
		x.Detail = join([]string{x.Detail, f.text})
		if p := f.public; p != nil {
			if j.ev.Public == "" {
				j.ev.Public = fmt.Sprintf("%s is %s or %s", p.Name, p.Want, p.Got)
			}
			if loadsub.Public(o.Outputs) == nil {
				x.Outputs = append(x.Outputs, report.Output{Name: p.Name, Recorded: p.Want, Reemulated: p.Got})
			}
		}
		if all = all && f.gone; gone == "" {
			gone = f.text
		}
	}
	if all {
		j.ev.Gone = gone
	}
}

// A swap is what two sections leave that depends on their order.
type swap struct {
	later *overlay.Section // the one that ended last in the recording
	*loadsub.Serial
}

// followOrder goes after what the order of two sections decides: where it is
// read next, the reader is executed with what the other order leaves.
func (a *analysis) followOrder(j *judging) {
	w := j.swap
	if w == nil || len(w.Between) == maxChanges {
		return
	}
	var spans []overlay.Span
	for i := range w.Between {
		if o := &w.Between[i]; o.Addr != 0 && !w.later.OnStack(o.Addr) {
			spans = append(spans, overlay.Span{Addr: o.Addr, N: uint64(o.Size)})
		}
	}
	if len(spans) == 0 {
		return
	}
	list, all := a.readings(spans, w.later, true)
	f, ok := a.readWith(list, all, w.Swapped.Uint)
	if !ok {
		return
	}
	for i := len(j.r.Experiments) - 1; i >= 0; i-- {
		if x := &j.r.Experiments[i]; x.Source == "interleaving" && x.Outcome == "different" {
			x.Detail = join([]string{x.Detail, f.text})
			if p := f.public; p != nil {
				x.Outputs = append(x.Outputs, report.Output{Name: p.Name, Recorded: p.Want, Reemulated: p.Got})
			}
			break
		}
	}
	if p := f.public; p != nil {
		j.ev.Public = fmt.Sprintf("%s is %s or %s", p.Name, p.Want, p.Got)
	}
}

// maxChanges bounds the differences between two orders that are followed.
const maxChanges = 64

// A fate is what became of a difference.
type fate struct {
	text   string
	gone   bool
	public *loadsub.Output
}

// fate follows one difference.
func (a *analysis) fate(o *open) fate {
	if p := loadsub.Public(o.Outputs); p != nil {
		return fate{text: "the program puts it out: " + p.Name, public: p}
	}
	_, calls, err := a.pass.Seek(o.bench.s.Thread, o.q.Start)
	if err != nil {
		return fate{text: "what becomes of it isn't known: " + err.Error()}
	}
	left := uint64(followSteps)
	last, lastTrial, lastSec := o.q.String(), o.Trial, o.bench.s
	whole := true // to the end of the thread
	for level := 0; level < calls.Depth(); level++ {
		fr := calls.Level(level)
		f := a.ms.FuncAt(fr.Entry)
		if uint64(fr.SP) < o.q.Goal.SP || uint64(fr.SP) == o.q.Goal.SP && !o.q.Loop && !o.q.Part || f != nil && f.Runtime {
			continue
		}
		s, err := a.capture(o.bench.s.Thread, loadsub.Place{Func: f, Start: o.q.Start,
			Goal: overlay.Goal{End: overlay.EndReturn, SP: uint64(fr.SP), Result: loadsub.ResultRegs(a.ms, f), MaxSteps: left}})
		if err != nil {
			return fate{text: "what becomes of it isn't known: " + err.Error()}
		}
		if !s.Complete {
			whole = false
			break
		}
		left -= min(left, s.Steps())
		t, why := a.again(o, s)
		switch {
		case t == nil:
			return fate{text: "what becomes of it isn't known: " + why}
		case t.Outcome == "same":
			return fate{text: "the difference is gone when " + funcName(f) + " returns", gone: true}
		case t.Outcome != "different" && t.Outcome != "diverged":
			return fate{text: fmt.Sprintf("later there is a %s: %s", t.Outcome, t.Detail)}
		}
		if p := loadsub.Public(t.Outputs); p != nil {
			return fate{text: "the program puts it out: " + p.Name, public: p}
		}
		last, lastTrial, lastSec = funcName(f), t, s
	}
	f := fate{text: fmt.Sprintf("the difference is still there when %s returns", last)}
	if left == 0 || left == followSteps {
		f.text = fmt.Sprintf("the difference is there when %s ends, and the budget doesn't reach further", last)
	}
	if g, ok := a.readBy(lastTrial, lastSec); ok {
		f.text += "; " + g.text
		f.gone = g.gone && whole
		if o.once() {
			f.public = g.public
		}
	}
	return f
}

// once reports whether the thread looks there only once, as far as is known: who
// looks again and again takes what comes.
func (o *open) once() bool {
	s := o.bench.norm.site
	if s == nil {
		return false
	}
	n := 0
	for i := range o.bench.s.Accesses {
		if x := &o.bench.s.Accesses[i]; !x.Writes() && x.Addr == o.Load.Addr {
			n++
		}
	}
	if n > 1 {
		return false
	}
	return s.looks[look{o.bench.a.t, o.bench.s.Thread, o.Load.PC, o.Load.Addr}] <= 1
}

// onceOnly reports whether a pair's order matters once and for all, as far as is
// known: a side that reads does so once in its thread, or both only store, once.
func (a *analysis) onceOnly(g *group, p *races.Pair) bool {
	stores := 0
	for _, x := range []*races.Access{&p.First, &p.Second} {
		n, known := a.comes(x)
		once := !g.comesAgain(x) && known && n <= 1
		switch {
		case x.Kind == races.Write && once:
			stores++
		case x.Kind != races.Write && once:
			return true
		}
	}
	return stores == 2
}

// comesAgain reports whether the group has another access of the same kind by
// the same thread to the same place: loops are often entered past a first look.
func (g *group) comesAgain(x *races.Access) bool {
	for _, c := range g.cands {
		for i := range c.Samples {
			for _, y := range []*races.Access{&c.Samples[i].First, &c.Samples[i].Second} {
				if y.Thread == x.Thread && y.Addr == x.Addr && y.Kind == x.Kind && y.Count != x.Count {
					return true
				}
			}
		}
	}
	return false
}

// looksAgain reports whether the side of a pair that reads is known to do so
// several times: it takes what comes.
func (a *analysis) looksAgain(g *group, p *races.Pair) bool {
	for _, x := range []*races.Access{&p.First, &p.Second} {
		if x.Kind != races.Read {
			continue
		}
		if n, known := a.comes(x); g.comesAgain(x) || known && n > 1 {
			return true
		}
	}
	return false
}

// comes counts how often a thread makes an access, as far as is known: the
// section around it may have been sampled.
func (a *analysis) comes(x *races.Access) (n int, known bool) {
	places, err := a.placesAround(x.Thread, x.Count, 1)
	if err != nil {
		return 0, false
	}
	q := places[0]
	site := a.site(&q)
	if site == nil {
		return 0, false
	}
	n = site.looks[look{a.t, x.Thread, x.PC, uint64(x.Addr)}]
	if n > 1 {
		return n, true
	}
	s, err := a.capture(x.Thread, q)
	if err != nil {
		return 0, false
	}
	n = 0
	for i := range s.Accesses {
		if y := &s.Accesses[i]; y.PC == x.PC && y.Addr == uint64(x.Addr) && !halves(s, i) {
			n++
		}
	}
	return n, true
}

// again makes a trial with a longer section that begins like the trial's.
func (a *analysis) again(o *open, s *overlay.Section) (t *loadsub.Trial, why string) {
	i := -1
	for k := range s.Accesses {
		if x := &s.Accesses[k]; x.At == o.Load.At && x.Addr == o.Load.Addr && x.Kind == o.Load.Kind && x.Size == o.Load.Size {
			i = k
			break
		}
	}
	if i < 0 {
		return nil, "the load isn't in the longer section"
	}
	ref := loadsub.Reference(s, o.bench.opt)
	if bad := loadsub.Faithful(s, ref); len(bad) > 0 {
		return nil, "re-emulating the longer section without a change doesn't give what was recorded"
	}
	return loadsub.Try(s, i, o.Replacement, ref, o.bench.opt), ""
}

func funcName(f *funcs.Func) string {
	if f == nil {
		return "an unknown function"
	}
	return f.Name
}
