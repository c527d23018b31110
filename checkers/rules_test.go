package checkers

import (
	"os"
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
		if c.Title == "" || c.Text == "" || c.Before == "" || c.After == "" || c.Severity == "" || c.run == nil || c.Again.Text == "" {
			t.Errorf("%s: incomplete", c.ID)
		}
	}
}

func TestLockOrderBeginsWithWhatComesFirst(t *testing.T) {
	edge := func(th uint32, line int) LockEdge {
		return LockEdge{Thread: th, FromName: "a", ToName: "b", ToStack: []report.Frame{{File: "x.c", Line: line}}, FromStack: []report.Frame{{File: "x.c", Line: line - 1}}}
	}
	f := &Facts{Cycles: func(length int) [][]LockEdge {
		if length != 4 {
			t.Errorf("cycles of %d locks asked for", length)
		}
		return [][]LockEdge{{edge(3, 20), edge(2, 10)}}
	}}
	got := lockOrder.run(f, map[string]int64{"length": 4})
	if len(got) != 1 || got[0].Thread != 2 || got[0].Stack[0].Line != 10 || len(got[0].Related) != 3 {
		t.Errorf("%+v", got)
	}
}

// TestBadRules compares what is said of mistakes with testdata/bad.txt.
func TestBadRules(t *testing.T) {
	b, err := os.ReadFile("testdata/bad.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out, file strings.Builder
	for _, l := range strings.SplitAfter(string(b), "\n") {
		switch {
		case strings.HasPrefix(l, "#"):
			out.WriteString(l)
		case strings.HasPrefix(l, ">"):
			_, err := ParseRules("r.yaml", []byte(file.String()))
			if err == nil {
				t.Errorf("no error:\n%s", file.String())
			} else if got := "> " + err.Error() + "\n"; got != l {
				if !*update {
					t.Errorf("%s\ngot  %swant %s", file.String(), got, l)
				}
				out.WriteString(got)
			} else {
				out.WriteString(l)
			}
			file.Reset()
		default:
			out.WriteString(l)
			file.WriteString(l)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/bad.txt", []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoodConditions(t *testing.T) {
	race := report.Race{Verdict: report.Harmful, Confidence: 0.9, Count: 3, Seen: 2, Predicted: true, Location: report.Location{Kind: "heap", Symbol: "q.c:12", Size: 8},
		Accesses: [2]report.Access{{Op: "read", Atomic: true, Stack: []report.Frame{{Function: "get", File: "/src/q.c", Line: 12, Module: "/bin/app"}}}, {Op: "write"}},
		Checkers: []report.CheckerChange{{Change: "+double-free"}}}
	for _, c := range []struct {
		when string
		want bool
	}{
		{`verdict == "harmful"`, true},
		{`verdict in ["benign", "unknown"]`, false},
		{`confidence >= 0.9 && count > 2`, true},
		{`"q.c" in files and "get" in functions`, true},
		{`"q.c:12" in lines`, true},
		{`any(modules, # startsWith "app")`, true},
		{`symbol matches "^q\\.c:[0-9]+$"`, true},
		{`"+double-free" in changed`, true},
		{`predicted && seen == 2`, true},
		{`not atomic`, false},
		{`what == "finding"`, false},
		{`checker == ""`, true},
		{`len(ops) == 2 && ops[0] == "read"`, true},
	} {
		r, err := ParseRules("r.yaml", []byte("version: 1\nrules:\n  - id: a\n    when: |\n      "+c.when+"\n    fail: true\n"))
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		rep := &report.Report{Races: []report.Race{race}}
		if err := r.Apply(rep); err != nil {
			t.Errorf("%s: %v", c.when, err)
		} else if got := rep.Races[0].Fail != nil; got != c.want {
			t.Errorf("%s: %v", c.when, got)
		}
	}
}

func TestQueries(t *testing.T) {
	at := func(fn string, line int) []report.Frame {
		return []report.Frame{{Function: fn, File: "/src/a.c", Line: line}}
	}
	f := &Facts{
		Lost:    []Block{{Size: 4096, Count: 2, Reachable: true, AllocatedAt: at("cache", 3)}, {Size: 8, Count: 1, AllocatedAt: at("main", 4)}},
		Pairs:   []LockEdge{{FromName: "log.m", ToName: "db.m", ToStack: at("save", 9), FromStack: at("log", 8)}},
		Threads: []Thread{{ID: 2, Detached: true, Created: at("start", 5)}},
		Open:    []OpenFile{{FD: 5, Call: "socket", Opened: at("dial", 6)}},
		Calls:   []Call{{Callee: "gets", Library: true, Stack: at("ask", 7)}, {Callee: "gets", Library: true, Stack: at("ask", 7)}},
	}
	for _, c := range []struct{ over, when, message, want string }{
		{"blocks", `bytes > 1000 && "a.c" in files`, `"cache of " + string(bytes)`, "cache of 4096"},
		{"blocks", `not reachable`, ``, "title"},
		{"locks", `held == "log.m" && taken == "db.m" && "log" in holders`, `held + " before " + taken`, "log.m before db.m"},
		{"threads", `detached and function == "start"`, ``, "title"},
		{"descriptors", `call == "socket" && fd > 2`, ``, "title"},
		{"calls", `callee == "gets" && library && not handler`, `"calls " + callee`, "calls gets"},
		{"calls", `callee == "puts"`, ``, ""},
	} {
		text := "version: 1\nqueries:\n  - id: mine\n    title: title\n    over: " + c.over + "\n    severity: error\n    when: |\n      " + c.when + "\n"
		if c.message != "" {
			text += "    message: |\n      " + c.message + "\n"
		}
		r, err := ParseRules("r.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		if !r.Wants(c.over) {
			t.Errorf("%s isn't wanted", c.over)
		}
		fs, err := Queries(f, r)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		var got []string
		for _, x := range fs {
			if x.Checker != "mine" || x.Severity != "error" || len(x.Stack) == 0 {
				t.Errorf("%s: %+v", c.when, x)
			}
			got = append(got, x.Message)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.when, got, c.want)
		}
	}
}

func TestIdleReadsAreWarnings(t *testing.T) {
	at := []report.Frame{{Function: "look", File: "a.c", Line: 3}}
	for _, c := range []struct {
		idle bool
		want string
	}{{false, "error"}, {true, "warning"}} {
		fs := Run(&Facts{Freed: []BadAccess{{Size: 4, Stack: at, Idle: c.idle}}}, nil)
		if len(fs) != 1 || fs[0].Severity != c.want {
			t.Errorf("idle %v: %+v", c.idle, fs)
		}
	}
}

func TestClosingAgainIsAWarning(t *testing.T) {
	for _, c := range []struct {
		call   string
		by, th uint32
		want   string
	}{{"close", 1, 1, "warning"}, {"close", 1, 2, "error"}, {"write", 1, 1, "error"}} {
		fs := Run(&Facts{Closed: []FileMisuse{{FD: 4, Call: c.call, Thread: c.th, ClosedBy: c.by, Stack: []report.Frame{{Function: "f"}}}}}, nil)
		if len(fs) != 1 || fs[0].Severity != c.want {
			t.Errorf("%+v: %+v", c, fs)
		}
	}
}
