package replay_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/record"
)

// By default a thread has key frames as far as they cost little: one that
// computes with little memory has several, one that goes through much of it
// again and again has none or one, and what is asked for is done in any case.
func TestKeyFramesCostLittle(t *testing.T) {
	bin := guest(t, "keyframes")
	for _, x := range []struct {
		bytes       string
		every       int64
		least, most int
	}{{"1000", 0, 2, 5}, {"4000000", 0, 0, 1}, {"4000000", 10_000_000, 3, 5}, {"1000", -1, 0, 0}} {
		path, _, res := recorded(t, record.Config{KeyFrameEvery: x.every}, bin, x.bytes)
		if res.KeyFrames < x.least || res.KeyFrames > x.most {
			t.Errorf("%s bytes, every %d: %d key frames in %d instructions, expected %d to %d", x.bytes, x.every, res.KeyFrames, res.Instructions, x.least, x.most)
		}
		if v := verify(t, open(t, path)); v.Segments != res.KeyFrames+1 {
			t.Errorf("%s bytes, every %d: %d segments, %d key frames", x.bytes, x.every, v.Segments, res.KeyFrames)
		}
	}
}
