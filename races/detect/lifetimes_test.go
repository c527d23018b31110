package detect

import "testing"

func TestCreationAndJoinOrderLives(t *testing.T) {
	l := newLifetimes()
	l.start(1, 0, 100, 0)
	first := l.Now(1)
	l.start(2, 1, 200, 10)
	mid := l.Now(1)
	two := l.Now(2)
	l.start(3, 2, 300, 5)
	three := l.Now(3)
	l.join(1, 200, 20)
	last := l.Now(1)
	for _, c := range []struct {
		name string
		a, b uint64
		want bool
	}{
		{"before the creation", first, two, false},
		{"after the creation", mid, two, true},
		{"after the join", last, two, false},
		{"a thread with itself", first, last, false},
		{"grandchild", first, three, false},
		{"grandchild that nobody joined", last, three, true},
		{"unknown", 0, two, true},
		{"what thread 1 did at 15 and thread 2", l.At(1, 15), two, true},
		{"what thread 1 did at 9 and thread 2", l.At(1, 9), two, false},
	} {
		if got := l.Concurrent(c.a, c.b); got != c.want {
			t.Errorf("%s: concurrent %v, want %v", c.name, got, c.want)
		}
		if got := l.Concurrent(c.b, c.a); got != c.want {
			t.Errorf("%s, reversed: concurrent %v, want %v", c.name, got, c.want)
		}
	}
}
