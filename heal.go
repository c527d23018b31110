package racesim

import (
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
)

// healed looks whether what the odd interleavings of two sections change is gone
// later: when the functions around them return, then those that called these,
// out to the threads' own. It returns the first of them, "" if it is never gone,
// as far as the budget reaches. unread says that what is left then is memory that
// nobody reads in the rest of the recording.
func (a *analysis) healed(p loadsub.Pair, s *loadsub.Serial, qa, qb *loadsub.Place) (where string, unread bool) {
	for _, c := range s.Changes {
		if !c.Order {
			return "", false // what a checker has found is true however it goes on
		}
	}
	as, bs := a.longer(p.A, qa), a.longer(p.B, qb)
	for level := 0; level < max(len(as), len(bs)) && len(as) > 0 && len(bs) > 0; level++ {
		if level > 0 && level+1 < max(len(as), len(bs)) {
			continue // the innermost functions, and the outermost
		}
		x, y := as[min(level, len(as)-1)], bs[min(level, len(bs)-1)]
		sa, errA := a.capture(p.A.Thread, x)
		sb, errB := a.capture(p.B.Thread, y)
		if errA != nil || errB != nil {
			return "", false
		}
		left, ok := p.Later(s, sa, sb)
		if ok && len(left) == 0 {
			if n := funcName(x.Func); n != funcName(y.Func) {
				return n + " and " + funcName(y.Func) + " return", false
			}
			return funcName(x.Func) + " returns", false
		}
		if unread = ok; ok {
			later := sb
			if a.order(sb.Thread, sb.Stop-1, sa.Thread, sa.Stop-1) {
				later = sa
			}
			list, all := a.readings(left, later, true)
			unread = all && len(list) == 0
		}
	}
	return "", unread
}

// longer lists sections that begin like s, at place q, and end with the return
// of the functions around it.
func (a *analysis) longer(s *overlay.Section, q *loadsub.Place) []loadsub.Place {
	_, calls, err := a.pass.Seek(s.Thread, q.Start)
	if err != nil {
		return nil
	}
	var out []loadsub.Place
	for level := 0; level < calls.Depth(); level++ {
		fr := calls.Level(level)
		f := a.ms.FuncAt(fr.Entry)
		if uint64(fr.SP) < q.Goal.SP || f != nil && f.Runtime {
			continue
		}
		out = append(out, loadsub.Place{Func: f, Start: q.Start,
			Goal: overlay.Goal{End: overlay.EndReturn, SP: uint64(fr.SP), Result: loadsub.ResultRegs(a.ms, f), MaxSteps: followSteps}})
	}
	return out
}
