package checkers

import (
	"fmt"
	"sort"
	"strings"

	"github.com/racesim/racesim/report"
)

var deadlock = &Checker{
	ID:    "deadlock",
	Title: "every thread waits for ever",
	Text: "The recording ended because no thread could go on: each waits for something that only another one, or nobody, " +
		"could do. It says where each of them waits and, for locks, who holds them. A program in which some threads go on " +
		"while others are stuck isn't recognised; see lock-order for deadlocks that didn't happen in this run.",
	Before:   "T1: lock(a); lock(b);   T2: lock(b); lock(a);   // both have their first one",
	After:    "T1: lock(a); lock(b);   T2: lock(a); lock(b);",
	Severity: "error",
	Again:    Again{Text: "sections of which each waits for a lock that the other one holds.", Inside: true},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		if len(f.Stuck) == 0 {
			return nil
		}
		s := append([]Stuck(nil), f.Stuck...)
		// Who waits for a lock tells more than who waits for them.
		sort.SliceStable(s, func(i, j int) bool { return s[i].Lock != "" && s[j].Lock == "" })
		var parts []string
		for i := range s {
			x := &s[i]
			p := fmt.Sprintf("thread %d waits", x.Thread)
			if x.Lock != "" {
				p += " for " + x.Lock
				if x.Holder != 0 {
					p += fmt.Sprintf(", which thread %d holds,", x.Holder)
				}
			}
			if len(x.Stack) > 0 {
				p += " at " + top(x.Stack)
			}
			if parts = append(parts, p); len(parts) == maxStuck && len(s) > maxStuck {
				parts = append(parts, fmt.Sprintf("%d more threads wait", len(s)-maxStuck))
				break
			}
		}
		return []report.Finding{{Message: "no thread can go on: " + strings.Join(parts, "; "), Thread: s[0].Thread, Position: s[0].Position, Stack: s[0].Stack}}
	},
}

// maxStuck is the number of threads that a finding describes.
const maxStuck = 8
