package racesim_test

import (
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

// one is the report of a run with one race.
func one(v report.Verdict, confidence float64, line int) *report.Report {
	x := report.Race{ID: "0123456789ab-cdef", Verdict: v, Confidence: confidence, Count: 2, Reason: string(v)}
	for k := range x.Accesses {
		x.Accesses[k] = report.Access{Op: "write", File: "a.c", Line: line}
	}
	return &report.Report{Races: []report.Race{x}}
}

func TestMergedRunsKeepTheWorst(t *testing.T) {
	rs := []*report.Report{one(report.Benign, 0.9, 3), one(report.Harmful, 0.7, 3), one(report.Harmful, 0.9, 3), {}, one(report.Unknown, 0, 8)}
	r := racesim.Merge(rs)
	if err := racesim.Gate(r, nil, "any"); err != nil {
		t.Fatal(err)
	}
	if len(r.Races) != 2 {
		t.Fatalf("%d races, expected 2: the lines differ", len(r.Races))
	}
	x := r.Races[0]
	if x.Verdict != report.Harmful || x.Confidence != 0.9 || x.Seen != 3 || x.Run != 3 || x.Count != 6 {
		t.Errorf("%s %v, seen %d times, of run %d, %d conflicts", x.Verdict, x.Confidence, x.Seen, x.Run, x.Count)
	}
	if x.Verdicts[report.Harmful] != 2 || x.Verdicts[report.Benign] != 1 {
		t.Errorf("verdicts %v", x.Verdicts)
	}
	if y := r.Races[1]; y.Verdicts != nil || y.Run != 5 || y.Seen != 1 {
		t.Errorf("verdicts %v, run %d, seen %d times", y.Verdicts, y.Run, y.Seen)
	}
	if n := racesim.Worst(r, rs); n != 2 {
		t.Errorf("the run to keep is %d, expected 2", n)
	}
}
