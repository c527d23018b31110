package checkers

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/report"
)

var falseSharing = &Checker{
	ID:    "false-sharing",
	Title: "threads use different variables in one cache line, which moves to and fro between them",
	Text: "Nothing is wrong with the result, but each access waits for the line to come from another processor: the program " +
		"may run ten times as fast without. Seen is, in the recorded caches, how often a line came to a thread because " +
		"another one had written it (transfers), while the threads never touched the same bytes. A thread counts if the line " +
		"came to it at least as often as the option transfers says, and it made at least uses accesses. Give what each thread " +
		"writes a line of its own: alignas(64), or padding.",
	Before:   "struct { long hits, misses; } n;   // two threads, one counts each",
	After:    "struct { alignas(64) long hits; alignas(64) long misses; } n;",
	Severity: "note",
	Again:    Again{Text: "lines that both sections access at least uses times, at different bytes. There are no caches in experiments, so transfers aren't counted.", Places: true, Tips: true},
	Options: []Option{
		{"transfers", "transfers to each of the threads below which nothing is reported", 16},
		{"uses", "accesses by each of the threads below which nothing is reported", 2000},
	},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		if f.Falsely == nil {
			return nil
		}
		var out []report.Finding
		seen := map[string]bool{}
		for _, l := range f.Falsely(int(opt["transfers"]), int(opt["uses"])) {
			var parts, names []string
			for i, u := range l.Users {
				if i == maxUsers {
					parts = append(parts, fmt.Sprintf("%d more threads use it", len(l.Users)-maxUsers))
					break
				}
				verb := "reads"
				if u.Writes {
					verb = "writes"
				}
				parts = append(parts, fmt.Sprintf("thread %d %s %s", u.Thread, verb, u.Name))
				names = append(names, u.Name)
			}
			k := strings.Join(names, "|")
			if seen[k] {
				continue
			}
			seen[k] = true
			moved := fmt.Sprintf("a cache line moved %d times between threads that use different parts of it", l.Transfers)
			if l.Transfers == 0 {
				moved = "threads use different parts of one cache line"
			}
			out = append(out, report.Finding{Message: moved + ": " + strings.Join(parts, ", "),
				Thread: l.Users[0].Thread, Stack: l.AllocatedAt})
		}
		return out
	},
}

// maxUsers is the number of threads that a finding names.
const maxUsers = 4
