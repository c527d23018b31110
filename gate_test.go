package racesim

import (
	"strings"
	"testing"

	"github.com/racesim/racesim/report"
)

// To the gate, verdicts given with too little confidence are unknown.
func TestGateTakesUnsureVerdictsForUnknown(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name       string
		race       report.Race
		confidence float64
		fails      string // the gates that fail, of any suspected harmful
	}{
		{"harmful", report.Race{Verdict: report.Harmful, Confidence: 0.9}, 0.9, "any suspected harmful"},
		{"harmful, unsure", report.Race{Verdict: report.Harmful, Confidence: 0.7}, 0.9, "any suspected"},
		{"benign", report.Race{Verdict: report.Benign, Confidence: 0.95}, 0.9, "any"},
		{"benign, unsure", report.Race{Verdict: report.Benign, Confidence: 0.55}, 0.9, "any suspected"},
		{"benign, and nobody asks", report.Race{Verdict: report.Benign, Confidence: 0.55}, 0, "any"},
		{"synchronisation, unsure", report.Race{Verdict: report.Synchronisation, Confidence: 0.8}, 0.9, "any suspected"},
		{"unknown", report.Race{Verdict: report.Unknown}, 0.9, "any suspected"},
		{"benign, unsure, suppressed", report.Race{Verdict: report.Benign, Confidence: 0.55, Suppressed: "known"}, 0.9, ""},
		{"a rule decides", report.Race{Verdict: report.Benign, Confidence: 0.55, Fail: &yes}, 0.9, "any suspected harmful none"},
	} {
		for _, on := range FailOn {
			r := &report.Report{Races: []report.Race{c.race}}
			if err := GateSure(r, nil, on, c.confidence); err != nil {
				t.Fatal(err)
			}
			want := "pass"
			if strings.Contains(c.fails, on) {
				want = "fail"
			}
			if r.Summary.Gate != want {
				t.Errorf("%s: the gate %s is a %s, want %s", c.name, on, r.Summary.Gate, want)
			}
			if r.Races[0].Verdict != c.race.Verdict {
				t.Errorf("%s: the report says %s", c.name, r.Races[0].Verdict)
			}
		}
	}
}
