package replay_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/traces"
)

// What a ring kept replays bit for bit: threads from a full key frame on, or
// from their start, to their end.
func TestRingReplays(t *testing.T) {
	bin := guest(t, "threads")
	whole, _, _ := recorded(t, record.Config{Seed: 3, Slice: 500, HashEvery: 5000}, bin)
	all := open(t, whole)
	for _, each := range []bool{false, true} {
		path, _, res := recorded(t, record.Config{Seed: 3, Slice: 500, HashEvery: 5000, Ring: record.MinRing, RingPerThread: each}, bin)
		s := open(t, path)
		v := verify(t, s)
		if v.Instructions >= res.Instructions || v.KeyFrames == 0 && v.Segments < 2 {
			t.Errorf("each %v: replayed %+v, recorded %+v: nothing was dropped", each, v, res)
		}
		cut := 0
		for _, id := range s.Threads() {
			keys := s.Reader().KeyFrames(uint32(id))
			if keys[0].Kind == traces.KeyFrame {
				cut++
			}
			want := end(t, all, id, 0)
			for n := range keys {
				if got := end(t, s, id, n); got != want {
					t.Errorf("each %v: thread %d from key frame %d ends at %s, in the whole trace at %s", each, id, n, got, want)
				}
			}
		}
		if cut == 0 || s.Begin() == 0 {
			t.Errorf("each %v: no thread begins with a key frame", each)
		}
		sched, err := s.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for _, sl := range sched {
			sum += uint64(sl.To - sl.From)
		}
		if sum != v.Instructions {
			t.Errorf("each %v: the slices have %d instructions, the threads %d", each, sum, v.Instructions)
		}
	}
}
