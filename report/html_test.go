package report

import (
	"bytes"
	"strings"
	"testing"
)

// The page has every race with both sides, the figure of the interleaving that
// goes wrong, and nothing of the program's that a browser would execute.
func TestHTML(t *testing.T) {
	r := sample()
	x := &r.Races[0]
	x.Accesses[0].Code = "if (a < b && c) *p = \"<script>\";"
	x.Experiments[0].Schedule = []Turn{{0, "before its racing access 2"}, {1, "to its end"}, {0, "to its end"}}
	yes := false
	x.Experiments = append(x.Experiments, Experiment{Function: "deposit<int>", Load: "bank.c:7", Mode: "simulate", Source: "other-thread", Recorded: "1", Replacement: "2",
		Outcome: "different", Normal: &yes, Outputs: []Output{{"balance", "2", "3"}}})
	r.Notes = []string{"the trace is incomplete"}
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	for _, want := range []string{"HARMFUL", "<code>balance</code>", "bank.c:7", "thread 2", "thread 3", "runs until before its racing access 2", "runs to its end",
		"balance is 1; neither order of the two ends so, one with 2", "1 → 2", "balance: 2 → 3", "deposit&lt;int&gt;", "the trace is incomplete", "gate: fail"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(s, "<script") || strings.Contains(s, "http") {
		t.Error("the page has a script, or needs something from elsewhere")
	}
	if n := strings.Count(s, "<svg"); n != 3 {
		t.Errorf("%d figures, expected one per race and one of the replaced load", n)
	}
}
