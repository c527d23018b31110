package racesim

import (
	"errors"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// goroutine notes which goroutine made an access, and where it was made.
func (a *analysis) goroutine(r *report.Access, x *races.Access) {
	g := a.pass.Goroutine(x.Thread, x.Count)
	if g == nil {
		return
	}
	r.Goroutine, r.CreatedBy, r.CreatedAt = g.ID, uint32(g.Parent), nil
	if g.PC != 0 {
		r.CreatedAt = a.ownFrames(g.Ctx, g.PC)
	}
}

// schedules adds to an experiment's world what Go's scheduler is.
func (a *analysis) schedules(w *loadsub.World) {
	if !a.ms.IsGo() {
		return
	}
	parks := a.ms.GoFunc("runtime.mcall")
	w.Leaves = func(target uint64) bool { return target == uint64(parks) }
	w.OwnCode = func(pc uint64) bool {
		r, ok := a.ms.Runtime(a.ms.FuncAt(emulate.Addr(pc)))
		return ok && r.Go && r.Category.Own()
	}
}

var errSwitch = errors.New("the goroutine lets others run meanwhile")

// stays says whether a thread executes one goroutine all through a section.
func (a *analysis) stays(s *overlay.Section) error {
	if a.ms.IsGo() && a.pass.Switches(s.Thread, s.Start, s.Stop) {
		return errSwitch
	}
	return nil
}
