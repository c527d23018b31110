package replay

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// Back goes backwards from instruction before of a thread to the last one that
// is at pc, and returns its count; false if there is none. It replays the piece
// behind the last key frame, then the two pieces before it, then four, and so
// on: what is near is found soon, and little is replayed twice.
func (s *Session) Back(id emulate.ThreadID, before emulate.Count, pc emulate.Addr) (emulate.Count, bool, error) {
	t, err := s.newThread(id)
	if err != nil {
		return 0, false, err
	}
	if s.Dependent() {
		return 0, false, fmt.Errorf("replay: thread %d depends on others: only decoupled threads go backwards", id)
	}
	keys := t.KeyFrames()
	end := sort.Search(len(keys), func(i int) bool { return keys[i].Count >= uint64(before) })
	t.cpu.Blocks.Break(uint64(pc))
	for n := 1; end > 0; n *= 2 {
		from := max(end-n, 0)
		if err := t.StartAt(from); err != nil {
			return 0, false, err
		}
		t.cpu.Blocks.Break(uint64(pc))
		at, found := emulate.Count(0), false
		for t.Count() < before {
			stop, err := t.RunTo(before)
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, false, err
			}
			if stop != nil && stop.Kind == x86.StopBreak && t.Count() < before {
				at, found = t.Count(), true
			}
			if stop == nil {
				break
			}
		}
		if found {
			return at, true, nil
		}
		end, before = from, emulate.Count(keys[from].Count)
	}
	return 0, false, nil
}
