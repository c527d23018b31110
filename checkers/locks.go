package checkers

import (
	"fmt"
	"strings"

	"github.com/racesim/racesim/report"
)

var lockOrder = &Checker{
	ID:    "lock-order",
	Title: "locks acquired in conflicting orders: a possible deadlock",
	Text: "One thread acquires B while it holds A, another acquires A while it holds B; with the right timing both wait " +
		"forever. Cycles of any length up to the option length are found (Bensalem and Havelund, \"Dynamic Deadlock " +
		"Analysis\", 2005): the threads must differ and be able to run at the same time (creation, join, barriers, and " +
		"conditions and semaphores that were waited for tell), readers don't wait for readers, attempts that can't block never wait, and cycles that a common gate lock " +
		"protects (one that they don't all hold as readers) don't count. For each thread it is shown where it took the lock " +
		"that it holds and where it wants the other one.",
	Before:   "T1: lock(a); lock(b);   T2: lock(b); lock(a);",
	After:    "T1: lock(a); lock(b);   T2: lock(a); lock(b);",
	Severity: "error",
	Again:    Again{Text: "locks that the sections take, with what the recording shows of all others: cycles that an acquisition of theirs closes."},
	Options:  []Option{{"length", "longest cycle looked for, in locks", 6}},
	run: func(f *Facts, opt map[string]int64) []report.Finding {
		if f.Cycles == nil {
			return nil
		}
		var out []report.Finding
		for _, c := range f.Cycles(int(opt["length"])) {
			out = append(out, cycleFinding(c))
		}
		return out
	},
}

// CycleKey is the same for cycles that the same code makes.
func CycleKey(c []LockEdge) string {
	x := cycleFinding(c)
	x.Checker = lockOrder.ID
	return Key(&x)
}

// wanted ends what is said of a lock that a thread waits for.
const wanted = " wanted"

// cycleFinding begins with the acquisition that comes first in the source.
func cycleFinding(path []LockEdge) report.Finding {
	first := 0
	for i := range path {
		if comesBefore(path[i].ToStack, path[first].ToStack) {
			first = i
		}
	}
	path = append(path[first:len(path):len(path)], path[:first]...)
	var parts []string
	for _, e := range path {
		parts = append(parts, fmt.Sprintf("thread %d holds %s and acquires %s at %s", e.Thread, e.FromName, e.ToName, top(e.ToStack)))
	}
	x := report.Finding{
		Message: "possible deadlock: " + strings.Join(parts, "; "),
		Thread:  path[0].Thread, Position: path[0].Position, Stack: path[0].ToStack,
	}
	for i, e := range path {
		if i > 0 {
			x.Related = append(x.Related, report.Related{What: e.ToName + wanted, Thread: e.Thread, Stack: e.ToStack})
		}
		if len(e.FromStack) > 0 {
			x.Related = append(x.Related, report.Related{What: e.FromName + " taken", Thread: e.Thread, Stack: e.FromStack})
		}
	}
	return x
}

func comesBefore(x, y []report.Frame) bool {
	if len(x) == 0 || len(y) == 0 {
		return len(x) > len(y)
	}
	if x[0].File != y[0].File {
		return x[0].File < y[0].File
	}
	return x[0].Line < y[0].Line
}
