package replay

import "testing"

func TestTurnsThatOverlapAreFound(t *testing.T) {
	for _, c := range []struct {
		turns []turn
		ok    bool
	}{
		{nil, true},
		{[]turn{{1, 5, 9}, {2, 10, 12}, {1, 1, 4}}, true},
		{[]turn{{1, 5, 7}, {1, 7, 9}, {2, 10, 12}}, true}, // with a key frame in it
		{[]turn{{1, 5, 9}, {2, 9, 12}}, false},
		{[]turn{{2, 8, 12}, {1, 5, 9}}, false},
	} {
		if err := inTurn(c.turns); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.turns, err)
		}
	}
}
