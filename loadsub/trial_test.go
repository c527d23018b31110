package loadsub_test

import (
	"fmt"
	"testing"

	"github.com/racesim/racesim/loadsub"
)

func TestReplacementsAreInOrderOfWhatTheyTell(t *testing.T) {
	g := recorded(t, "testdata/figure5.c", 1, "-O1")
	s := g.section(g.calls("own_store_to_input")[0])
	loads := g.loads(s, "y")
	i := loads[len(loads)-1]
	seen := map[uint64]int{17: 30, 18: 5, 19: 1}
	list := func(c loadsub.Choices) string {
		out := ""
		for _, r := range loadsub.Replacements(s, i, c) {
			out += fmt.Sprintf("%s %d %v; ", r.Source, int32(r.Value), r.Correct)
		}
		return out
	}
	for _, tc := range []struct {
		c    loadsub.Choices
		want string
	}{
		{loadsub.Choices{}, "own-store 4 true; "},
		{loadsub.Choices{Other: 41, OtherOK: true}, "own-store 4 true; "}, // what it read
		{loadsub.Choices{Other: 12, OtherOK: true, Seen: seen, User: []uint64{1 << 40, 4, 9}},
			"own-store 4 true; other-thread 12 false; typical 17 true; atypical 19 false; user 0 false; user 9 false; "},
		{loadsub.Choices{Seen: map[uint64]int{17: 3, 19: 1}}, "own-store 4 true; "},                 // too few
		{loadsub.Choices{Seen: map[uint64]int{1: 2, 2: 2, 3: 2, 5: 2, 6: 2}}, "own-store 4 true; "}, // all alike
		{loadsub.Choices{User: []uint64{0}, Boundary: true},
			"own-store 4 true; user 0 false; boundary 1 false; boundary -1 false; boundary 2147483647 false; boundary -2147483648 false; "},
		{loadsub.Choices{Boundary: true, Pointer: true, Seed: 7}, "own-store 4 true; boundary 0 false; "}, // no invented pointers
	} {
		if got := list(tc.c); got != tc.want {
			t.Errorf("%+v: %s\nwant %s", tc.c, got, tc.want)
		}
	}
	a, b := list(loadsub.Choices{Seed: 5}), list(loadsub.Choices{Seed: 5})
	if a != b || a == list(loadsub.Choices{Seed: 6}) || a == list(loadsub.Choices{}) {
		t.Errorf("random values: %s, again %s", a, b)
	}
}
