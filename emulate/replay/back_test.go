package replay_test

import (
	"errors"
	"io"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
)

// Going backwards finds, one by one, the places that going forwards meets.
func TestBackFindsWhatForwardsMeets(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 3, Slice: 2000, KeyFrameEvery: 10000}, guest(t, "threads"))
	s := open(t, path)
	id := s.Threads()[1]
	th, err := s.Thread(id)
	if err != nil {
		t.Fatal(err)
	}
	// An instruction that is executed now and then: where the thread is at some
	// count.
	if _, err := th.RunTo(s.Last(id) / 2); err != nil {
		t.Fatal(err)
	}
	pc := emulate.Addr(th.CPU().RIP)
	if err := th.StartAt(0); err != nil {
		t.Fatal(err)
	}
	th.CPU().Blocks.Break(uint64(pc))
	var want []emulate.Count
	for {
		stop, err := th.RunTo(s.Last(id))
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if stop == nil {
			break
		}
		want = append(want, th.Count())
	}
	if len(want) == 0 {
		t.Fatal("the instruction is never met")
	}
	before := s.Last(id)
	for i := len(want) - 1; i >= max(0, len(want)-20); i-- {
		at, ok, err := s.Back(id, before, pc)
		if err != nil || !ok || at != want[i] {
			t.Fatalf("back from %d: %d, %v, %v; forwards it is met at %d", before, at, ok, err, want[i])
		}
		before = at
	}
	if at, ok, err := s.Back(id, want[0], pc); ok || err != nil {
		t.Errorf("before the first: %d, %v, %v", at, ok, err)
	}
}
