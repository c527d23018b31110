package racesim_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim"
)

// However reads are logged, the analysis of the same execution says the same.
func TestEveryReadLogIsAnalysed(t *testing.T) {
	for _, g := range guests(t) {
		if g.name != "race_lost_update" && g.name != "race_refcount" {
			continue
		}
		bin := g.build(t, t.TempDir())
		verdicts := func(log string) []string {
			path := filepath.Join(t.TempDir(), "t.ttd")
			recordTo(t, racesim.RecordConfig{Output: path, Argv: []string{bin}, Seed: 1, ReadLog: log})
			rep, err := racesim.AnalyzeFile(context.Background(), path, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatalf("%s: %v", log, err)
			}
			var out []string
			for _, r := range rep.Races {
				out = append(out, string(r.Verdict)+" "+r.ID)
			}
			slices.Sort(out)
			return out
		}
		want := verdicts("cache")
		if !strings.Contains(strings.Join(want, " "), "harmful") {
			t.Fatalf("%s: %q, expected a harmful race", g.name, want)
		}
		for _, log := range []string{"page", "none", "last", "zero", "shadow:10"} {
			if got := verdicts(log); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, expected %q", g.name, log, got, want)
			}
		}
	}
}
