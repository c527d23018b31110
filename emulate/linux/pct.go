package linux

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A PCT says how SchedulePCT chooses (Burckhardt, Kothari, Musuvathi,
// Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs, ASPLOS 2010): the runnable thread of highest priority runs. Priorities
// are random; at Depth-1 random instructions, the thread that executes one
// falls behind all others. A bug that Depth ordering constraints bring about,
// in a program of n threads that executes Steps instructions, is then found
// with a probability of at least 1/(n*Steps^(Depth-1)).
//
// Programs that wait by spinning would never end: a thread that yields, or that
// ran for a million instructions while others could, without waiting for
// anything meanwhile, falls behind, too.
type PCT struct {
	Depth int // from 1; 0: 3
	// Steps is the number of instructions that are executed while two threads
	// can run, about: a run before counted them (Process.Contended). 0 is
	// unknown: then the points are chosen on every scale.
	Steps uint64
}

const (
	pctDepth    = 3
	maxPCTDepth = 64
	pctPatience = 1_000_000
	// Points on an unknown scale are from 2^pctLeast to 2^pctMost instructions.
	pctLeast, pctMost = 6, 22
	// Threads begin with priorities above firstPriority; those lowered at a
	// point have some above lowPriority, all others that fell behind below it.
	firstPriority = 1 << 32
	lowPriority   = 1 << 31
)

// ParsePCT reads pct, pct:DEPTH or pct:DEPTH:STEPS.
func ParsePCT(s string) (PCT, error) {
	var c PCT
	f := strings.Split(s, ":")
	bad := fmt.Errorf("schedule %q: want pct, pct:DEPTH or pct:DEPTH:STEPS, with a depth from 1 to %d", s, maxPCTDepth)
	if f[0] != "pct" || len(f) > 3 {
		return c, bad
	}
	if len(f) > 1 {
		n, err := strconv.Atoi(f[1])
		if err != nil || n < 1 || n > maxPCTDepth {
			return c, bad
		}
		c.Depth = n
	}
	if len(f) > 2 {
		n, err := strconv.ParseUint(f[2], 10, 63)
		if err != nil || n == 0 {
			return c, bad
		}
		c.Steps = n
	}
	return c, nil
}

func (c PCT) String() string {
	switch {
	case c.Steps > 0:
		return fmt.Sprintf("pct:%d:%d", c.depth(), c.Steps)
	case c.Depth > 0:
		return fmt.Sprintf("pct:%d", c.Depth)
	}
	return "pct"
}

func (c PCT) depth() int {
	if c.Depth == 0 {
		return pctDepth
	}
	return c.Depth
}

// A changePoint is where priorities change.
type changePoint struct {
	at   uint64 // instructions while two threads can run
	prio uint64 // what the running thread gets
}

// points draws the change points, in ascending order.
func (c PCT) points(rng *random) []changePoint {
	var out []changePoint
	for i := 1; i < c.depth(); i++ {
		at := uint64(0)
		if c.Steps > 0 {
			at = below64(rng, c.Steps)
		} else {
			scale := uint64(1) << (pctLeast + rng.below(pctMost-pctLeast))
			at = scale + below64(rng, scale)
		}
		// The order of the points in time is random among the priorities.
		out = append(out, changePoint{1 + at, lowPriority + uint64(i)})
	}
	slices.SortFunc(out, func(a, b changePoint) int { return int(int64(a.at - b.at)) })
	return out
}

// below64 draws a number below n.
func below64(rng *random, n uint64) uint64 {
	hi, _ := bits.Mul64(rng.next(), n)
	return hi
}
