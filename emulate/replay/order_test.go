package replay_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/traces"
)

// Each memory model numbers the events of those before it, and more; all replay
// bit for bit, in the order that the numbers promise.
func TestMemoryModels(t *testing.T) {
	for _, log := range []string{"cache", "page", "last"} {
		var before uint64
		for i, model := range []string{"kernel", "fence", "loads", "acqrel"} {
			cfg := record.Config{Seed: 3, Slice: 2000, KeyFrameEvery: 10000, HashEvery: 5000, ReadLog: log, MemoryModel: model}
			path, _, res := recorded(t, cfg, guest(t, "threads"))
			s := open(t, path)
			if h := s.Reader().Header().MemoryModel; h != model {
				t.Errorf("the header says %q, expected %q", h, model)
			}
			v := verify(t, s)
			if v.Instructions != res.Instructions {
				t.Errorf("%s, %s: replayed %+v, recorded %+v", log, model, v, res)
			}
			sizes := s.Reader().Sizes()
			if n := sizes.Packets[traces.Order]; n != v.Orders || (i == 0) != (n == 0) || n < before || i > 1 && n == before {
				t.Errorf("%s, %s: %d ordered instructions in the trace, %d replayed, %d in the model before", log, model, n, v.Orders, before)
			} else {
				before = n
			}
			for _, id := range s.Threads() {
				want := end(t, s, id, 0)
				if got := end(t, s, id, len(s.Reader().KeyFrames(uint32(id)))-1); got != want {
					t.Errorf("%s, %s: thread %d from its last key frame ends at %s, expected %s", log, model, id, got, want)
				}
			}
		}
	}
}
