package checkers

import (
	"strings"
	"testing"

	"github.com/racesim/racesim/report"
)

func TestBadRulesNameTheLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "r.yaml:1: empty"},
		{"rules: []\n", "no version"},
		{"version: 2\n", "r.yaml:1: version \"2\""},
		{"version: 1\ncolour: red\n", "r.yaml:2: unknown key \"colour\""},
		{"version: 1\ncheckers:\n  leek: {severity: error}\n", "r.yaml:3: unknown checker \"leek\""},
		{"version: 1\ncheckers:\n  leak: {severity: fatal}\n", "r.yaml:3: severity \"fatal\""},
		{"version: 1\ncheckers:\n  leak: {options: {depth: 1}}\n", "r.yaml:3: unknown key \"depth\""},
		{"version: 1\nrules:\n  - id: a\n    when: verdit == \"harmful\"\n", "r.yaml:4: condition"},
		{"version: 1\nrules:\n  - id: a\n    when: confidence\n", "r.yaml:4: condition"},
		{"version: 1\nrules:\n  - id: a\n", "r.yaml:3: a rule needs a condition"},
		{"version: 1\nsuppress:\n  - when: symbol == \"x\"\n", "r.yaml:3: a suppression needs a reason"},
		{"version: 1\nversion: 1\n", "twice"},
		{"a: [1\n", "line 1"},
	} {
		_, err := ParseRules("r.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error of several lines: %v", c.text, err)
		}
	}
}

func TestRulesMarkRacesAndFindings(t *testing.T) {
	r, err := ParseRules("r.yaml", []byte(`version: 1
checkers:
  leak: {severity: "off"}
rules:
  - id: stats-are-fine
    description: counters of package stats may be a little off
    when: what == "race" && "stats.c" in files && verdict != "harmful"
    severity: note
    fail: false
suppress:
  - when: symbol startsWith "dbg_"
    reason: debugging only
`))
	if err != nil {
		t.Fatal(err)
	}
	rep := &report.Report{
		Races: []report.Race{
			{Verdict: report.Unknown, Accesses: [2]report.Access{{Stack: []report.Frame{{File: "/src/stats.c"}}}}},
			{Verdict: report.Harmful, Location: report.Location{Symbol: "dbg_level"}},
		},
		Findings: []report.Finding{{Checker: "leak", Severity: "warning"}, {Checker: "lock-order", Severity: "error"}},
	}
	if err := r.Apply(rep); err != nil {
		t.Fatal(err)
	}
	if f := rep.Races[0].Fail; f == nil || *f || rep.Races[0].Severity != "note" {
		t.Errorf("first race: %+v", rep.Races[0])
	}
	if rep.Races[1].Suppressed != "debugging only" {
		t.Errorf("second race: %+v", rep.Races[1])
	}
	if len(rep.Findings) != 1 || rep.Findings[0].Checker != "lock-order" {
		t.Errorf("findings: %+v", rep.Findings)
	}
}

func TestEveryCheckerIsDocumented(t *testing.T) {
	for _, c := range All {
		if c.Title == "" || c.Text == "" || c.Before == "" || c.After == "" || c.Severity == "" || c.run == nil {
			t.Errorf("%s: incomplete", c.ID)
		}
	}
}

func TestLockOrderCycle(t *testing.T) {
	edge := func(th uint32, from, to uint64, gates ...uint64) LockEdge {
		return LockEdge{Thread: th, From: from, To: to, Gates: gates, ToStack: []report.Frame{{File: "x.c", Line: int(10*from + to)}}}
	}
	shared := func(e LockEdge) LockEdge {
		e.FromShared, e.ToShared = true, true
		return e
	}
	reading := func(e LockEdge) LockEdge {
		e.Readable = e.Gates
		return e
	}
	later := func(e LockEdge) LockEdge {
		e.Concurrent = func(*LockEdge) bool { return false }
		return e
	}
	for _, c := range []struct {
		name  string
		edges []LockEdge
		want  int
	}{
		{"opposite orders", []LockEdge{edge(1, 1, 2), edge(2, 2, 1)}, 1},
		{"same thread", []LockEdge{edge(1, 1, 2), edge(1, 2, 1)}, 0},
		{"gate", []LockEdge{edge(1, 1, 2, 9), edge(2, 2, 1, 9)}, 0},
		{"gate for reading", []LockEdge{reading(edge(1, 1, 2, 9)), reading(edge(2, 2, 1, 9))}, 1},
		{"gate for reading and writing", []LockEdge{reading(edge(1, 1, 2, 9)), edge(2, 2, 1, 9)}, 0},
		{"three", []LockEdge{edge(1, 1, 2), edge(2, 2, 3), edge(3, 3, 1)}, 1},
		{"readers", []LockEdge{shared(edge(1, 1, 2)), shared(edge(2, 2, 1))}, 0},
		{"a reader and a writer", []LockEdge{shared(edge(1, 1, 2)), edge(2, 2, 1)}, 1},
		{"never at the same time", []LockEdge{later(edge(1, 1, 2)), edge(2, 2, 1)}, 0},
		{"same order", []LockEdge{edge(1, 1, 2), edge(2, 1, 2)}, 0},
	} {
		if got := len(lockOrder.run(&Facts{Locks: c.edges}, map[string]int64{"length": 4})); got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.want)
		}
	}
}
