package racesim

import (
	"slices"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// A script notes what a directed run does.
type script struct {
	st    *stage
	r     *overlay.Run
	steps []report.WitnessStep
}

// stop says that a participant stands still.
func (s *script) stop(n int) {
	s.add(n, "stops here", s.r.PC(n))
}

func (s *script) add(n int, what string, pc uint64) {
	step := report.WitnessStep{Thread: uint32(s.st.ids[n]), What: what, At: s.st.a.lineOf(pc)}
	if !s.r.Diverged(n) {
		step.Instruction = uint64(s.r.Count(n))
	}
	s.steps = append(s.steps, step)
}

// call notes calls of functions that synchronise.
func (s *script) call(n int, site, target, arg uint64) {
	ms := s.st.a.ms
	f := ms.FuncAt(emulate.Addr(target))
	if f == nil || uint64(f.Entry) != target || !f.Runtime {
		return
	}
	if from := ms.FuncAt(emulate.Addr(site)); from == nil || from.Runtime {
		return
	}
	if rt, ok := ms.Runtime(f); ok && rt.Category == funcs.SyncAPI {
		what := strings.TrimSuffix(f.Name, "@plt")
		if what == "pthread_join" || what == "pthread_create" {
			return
		}
		// Not the members that the C library's types have.
		if name, _, _ := strings.Cut(s.st.a.name(arg), ".__"); name != "" {
			what += "(" + name + ")"
		}
		s.add(n, what, site)
	}
}

// witness makes a report of it.
func (s *script) witness(p *races.Pair, first, second int) *report.Witness {
	w := &report.Witness{Executed: true}
	s.add(second, "comes to its "+p.Second.Kind.String(), p.Second.PC)
	s.add(first, "goes on with its "+p.First.Kind.String(), p.First.PC)
	if n := len(s.steps) - 3; n > maxShown {
		w.LeftOut = n - maxShown
		s.steps = append(s.steps[:1], s.steps[1+w.LeftOut:]...)
	}
	w.Steps = s.steps
	for i, id := range s.st.ids {
		if s.r.Strayed(i) {
			w.Other = append(w.Other, uint32(id))
		}
	}
	slices.Sort(w.Other)
	return w
}
