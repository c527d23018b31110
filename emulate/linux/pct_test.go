package linux

import (
	"slices"
	"testing"
)

// found counts the seeds with which a guest of testdata/depth.c shows its bug.
func found(t *testing.T, schedule, depth string) int {
	t.Helper()
	cfg := Config{}
	var err error
	if cfg.Schedule, err = ParseSchedule(schedule); err != nil {
		t.Fatal(err)
	}
	if cfg.Schedule == SchedulePCT {
		if cfg.PCT, err = ParsePCT(schedule); err != nil {
			t.Fatal(err)
		}
	}
	path, n := build(t, "depth.c"), 0
	for cfg.Seed = 1; cfg.Seed <= 40; cfg.Seed++ {
		o, err := emulated(t, cfg, path, depth)
		if err != nil {
			t.Fatal(err)
		}
		n += o.status
	}
	return n
}

// What the paper promises: bugs that need a thread to be held up for long are
// found with as many change points as they need, and random slices don't do it.
func TestPCTFindsDeepBugs(t *testing.T) {
	random, one, two := found(t, "random", "2"), found(t, "pct:1:60000", "2"), found(t, "pct:2:60000", "2")
	if random > 0 || one > 0 || two < 3 {
		t.Errorf("a bug of depth 2: %d times at random, %d with depth 1, %d with depth 2, of 40", random, one, two)
	}
	if unknown := found(t, "pct", "2"); unknown < 3 {
		t.Errorf("a bug of depth 2: %d of 40 with an unknown number of steps", unknown)
	}
	two, three := found(t, "pct:2:18000", "3"), found(t, "pct:3:18000", "3")
	if two > 0 || three < 4 {
		t.Errorf("a bug of depth 3: %d times with depth 2, %d with depth 3, of 40", two, three)
	}
}

// A thread that spins falls behind, too, if others wake up now and then and
// run before it: otherwise this never ends.
func TestPCTSpinnersFallBehind(t *testing.T) {
	path := build(t, "ticks.c")
	for seed := uint64(1); seed <= 12; seed++ {
		if o, err := emulated(t, Config{Schedule: SchedulePCT, Seed: seed}, path); err != nil || o.status != 0 {
			t.Errorf("seed %d: status %d, %v", seed, o.status, err)
		}
	}
}

func TestPCTChangePoints(t *testing.T) {
	rng := random(7)
	late := 0
	for range 1000 {
		ps := PCT{Depth: 4, Steps: 1000}.points(&rng)
		if len(ps) != 3 || !slices.IsSortedFunc(ps, func(a, b changePoint) int { return int(a.at) - int(b.at) }) {
			t.Fatalf("%v", ps)
		}
		seen := map[uint64]bool{}
		for _, p := range ps {
			if p.at < 1 || p.at > 1000 || p.prio <= lowPriority || p.prio >= firstPriority || seen[p.prio] {
				t.Fatalf("%v", ps)
			}
			seen[p.prio] = true
			if p.at > 500 {
				late++
			}
		}
	}
	if late < 1400 || late > 1600 {
		t.Errorf("%d of 3000 points in the second half", late)
	}
	for _, s := range []string{"pct", "pct:2", "pct:3:18000"} {
		if c, err := ParsePCT(s); err != nil || c.String() != s {
			t.Errorf("%s: %v, %v", s, c, err)
		}
	}
	for _, s := range []string{"pct:0", "pct:x", "pct:3:", "pct:3:0", "pct:1:2:3", "pct:65", "pct:-1"} {
		if _, err := ParseSchedule(s); err == nil {
			t.Errorf("%s is taken", s)
		}
	}
}
