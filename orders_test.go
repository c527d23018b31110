package racesim_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

// What only the language leaves unordered is reported, and no experiment on this
// processor says that it does no harm.
func TestRelaxedPublication(t *testing.T) {
	text, err := os.ReadFile("testdata/orders/relaxed_publish.cpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, from, to string
		want           int
	}{
		{"relaxed", "", "", 1},
		{"fences", "ready.store(", "std::atomic_thread_fence(std::memory_order_release);\n\t\tready.store(", 0},
		{"acquire and release", "memory_order_relaxed", "memory_order_seq_cst", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, "publish.cpp")
			s := string(text)
			if c.from != "" {
				s = strings.ReplaceAll(s, c.from, c.to)
			}
			if err := os.WriteFile(src, []byte(s), 0o666); err != nil {
				t.Fatal(err)
			}
			g := guest{name: "publish", source: src, flags: []string{"-O1"}}
			trace := filepath.Join(dir, "t.ttd")
			recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{g.build(t, dir)}, Seed: 1})
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Races) != c.want || c.want > 0 && (r.Races[0].Verdict != report.Unknown || !strings.Contains(r.Races[0].Reason, "relaxed")) {
				var b strings.Builder
				report.WriteTable(&b, r)
				t.Error(b.String())
			}
		})
	}
}
