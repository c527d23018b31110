package main

import (
	"slices"
	"testing"
)

// Every program says what is true of it, in words that are known.
func TestLabelsAreVerdicts(t *testing.T) {
	truths := []string{"harmful", "benign", "synchronisation", "none"}
	names := map[string]bool{}
	for _, dir := range []string{"../../testdata/truth", "../../testdata/labelled"} {
		ps, err := programs(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			names[p.name] = true
			if !slices.Contains(truths, p.truth) {
				t.Errorf("%s: verdict %q", p.name, p.truth)
			}
			for _, l := range p.races {
				if !slices.Contains(append(truths, "any"), l.truth) || l.name == "" {
					t.Errorf("%s: race %q: %q", p.name, l.name, l.truth)
				}
			}
		}
	}
	if len(names) < 150 {
		t.Errorf("%d programs", len(names))
	}
	// What was measured is there.
	for _, r := range landed(t) {
		if !names[r.program] && r.program[:9] != "valgrind/" {
			t.Errorf("a verdict on %s, which isn't there: make calibrate", r.program)
			names[r.program] = true
		}
	}
}

func TestTruthOfARaceIsThatOfItsName(t *testing.T) {
	p := &program{truth: "harmful", races: []label{{"stats", "benign"}, {"reset", "any"}}}
	for _, c := range []struct {
		symbol    string
		functions []string
		want      string
	}{
		{"stats.hits", []string{"get", "get"}, "benign"},
		{"total", []string{"add", "reset"}, "any"},
		{"total", []string{"add", "add"}, "harmful"},
	} {
		if got := p.truthOf(c.symbol, c.functions...); got != c.want {
			t.Errorf("%s in %v is %s, want %s", c.symbol, c.functions, got, c.want)
		}
	}
	r := run{p: &program{name: "p", truth: "none"}, b: &builds[0], said: []said{
		{Symbol: "a[3]", Verdict: "synchronisation"}, {Symbol: "b", Verdict: "benign"}, {Symbol: "c", Verdict: "unknown"}}}
	rows := r.rows()
	if len(rows) != 3 || !rows[0].right || rows[1].right || rows[2].right || rows[0].race != "a" {
		t.Errorf("%+v", rows)
	}
}
