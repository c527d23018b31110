package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/racesim/racesim/hwmodel"
)

func TestWatchedLinesComeAndGo(t *testing.T) {
	th := &Thread{win: new(hwmodel.Window)}
	want := map[uint64]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		page := r.Uint64N(500) * 7919
		line := page*linesPerPage + r.Uint64N(linesPerPage)
		if r.IntN(3) > 0 {
			if !th.watched.has(line) {
				th.win.Allow(line, nil, true)
			}
			th.Watch(page, 1<<(line&lineInPage))
			want[line] = true
			if e := th.win[line%hwmodel.WindowSize]; e.R == line || e.W == line {
				t.Fatalf("line %#x is watched and has a tag", line)
			}
		} else {
			th.Unwatch(page, 1<<(line&lineInPage))
			delete(want, line)
		}
	}
	if th.watched.on != len(want) {
		t.Errorf("%d lines are watched, want %d", th.watched.on, len(want))
	}
	for page := uint64(0); page < 500*7919; page += 7919 {
		for i := uint64(0); i < linesPerPage; i++ {
			if l := page*linesPerPage + i; th.watched.has(l) != want[l] {
				t.Fatalf("line %#x: watched %v, want %v", l, th.watched.has(l), want[l])
			}
		}
	}
}
