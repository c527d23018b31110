package racesim_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

// TestSavedExperimentsAreTraces saves what is executed again of guests with
// known truth: each file replays bit for bit, can be analysed, and what an
// interleaving showed is there to be found again.
func TestSavedExperimentsAreTraces(t *testing.T) {
	again := map[string]bool{} // the harm shows in a saved interleaving
	for _, g := range guests(t) {
		switch g.name {
		case "race_lost_update", "race_lost_update_O0", "race_torn_pair", "race_refcount":
			again[g.name] = true
		case "race_string", "race_stop_worker", "race_used_before_init":
		default:
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			dir := t.TempDir()
			trace := filepath.Join(dir, "t.ttd")
			recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{g.build(t, dir)}, Seed: 1})
			saved := filepath.Join(dir, "experiments")
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{SaveExperiments: saved})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Notes {
				if strings.Contains(n, "saved") {
					t.Error(n)
				}
			}
			n, found := 0, false
			for i := range r.Races {
				for k := range r.Races[i].Experiments {
					x := &r.Races[i].Experiments[k]
					if x.Trace == "" {
						if x.Outcome != "unknown" {
							t.Errorf("not saved: %s, %s", x.Function, x.Outcome)
						}
						continue
					}
					n++
					verify(t, x.Trace)
					if x.Source != "interleaving" {
						continue
					}
					e, err := racesim.AnalyzeFile(context.Background(), x.Trace, racesim.AnalyzeOptions{})
					if err != nil {
						t.Fatalf("%s: %v", x.Trace, err)
					}
					for _, race := range e.Races {
						found = found || x.Outcome == "not-serialisable" && race.Verdict == report.Harmful
					}
				}
			}
			if n == 0 {
				t.Error("no experiment was saved")
			}
			if again[g.name] && !found {
				t.Error("no saved interleaving shows the harm when it is analysed")
			}
		})
	}
}
