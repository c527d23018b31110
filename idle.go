package racesim

import (
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races/detect"
)

// maxIdle bounds the reads that are tried out for whether their value matters.
const maxIdle = 40

// idle says whether a read of memory that isn't the program's makes no
// difference: whatever value it gives, the function around it, or the iteration
// of a loop, does the same. Some allocators look at the page that a pointer is in
// before they know whose it is.
func (a *analysis) idle(m *detect.Misuse, left *int) bool {
	if m.Write || m.Kernel || m.Size > 8 || *left == 0 {
		return false
	}
	*left--
	places, err := a.placesAround(m.Thread, m.Count, 1)
	if err != nil || len(places) == 0 {
		return false
	}
	s, err := a.capture(m.Thread, places[0])
	if err != nil || !s.Complete {
		return false
	}
	at := -1
	for i := range s.Accesses {
		if x := &s.Accesses[i]; x.At == m.Count && x.Kind == x86.Read && x.Addr == uint64(m.Addr) && uint64(x.Size) == m.Size {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	opt := loadsub.Options{World: a.world(m.Thread, m.Count)}
	ref := loadsub.Reference(s, opt)
	if ref.Ends[0].Outcome != overlay.Done || len(loadsub.Faithful(s, ref)) > 0 {
		return false
	}
	was, mask := s.Accesses[at].Value, ^uint64(0)>>(64-8*m.Size)
	for _, v := range []uint64{^was, 0, 1, 2, mask >> 1, mask} {
		if v &= mask; v == was {
			continue
		}
		if t := loadsub.Try(s, at, loadsub.Replacement{Source: loadsub.FromBoundary, Value: v}, ref, opt); t.Outcome != "same" {
			return false
		}
	}
	return true
}
