package racesim_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

var checkerSeeds = flag.Int("checker-seeds", 2, "schedules tried for each guest of testdata/checkers")

// expectedFindings reads "checker line" pairs from a guest's comments.
func expectedFindings(t *testing.T, source string) (want []string, flags []string) {
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	none := false
	for i, l := range strings.Split(string(text), "\n") {
		if v, ok := strings.CutPrefix(l, "// flags: "); ok {
			flags = strings.Fields(v)
		}
		none = none || l == "// findings: none"
		if _, v, ok := strings.Cut(l, "// finding: "); ok {
			line := i + 1
			if strings.HasPrefix(l, "// ") {
				line = 0 // it has no place
			}
			want = append(want, fmt.Sprintf("%s %d", strings.TrimSpace(v), line))
		}
	}
	if none != (len(want) == 0) {
		t.Fatalf("%s: says neither what is to be found nor that nothing is", source)
	}
	sort.Strings(want)
	return want, flags
}

// foundLines returns the findings of a report in the same form: the line is
// that of the innermost frame in the guest's source.
func foundLines(r *report.Report, source string) []string {
	var got []string
	for _, f := range r.Findings {
		line := 0
		for _, fr := range f.Stack {
			if filepath.Base(fr.File) == filepath.Base(source) {
				line = fr.Line
				break
			}
		}
		got = append(got, fmt.Sprintf("%s %d", f.Checker, line))
	}
	sort.Strings(got)
	return got
}

func TestCheckersFindWhatIsThere(t *testing.T) {
	paths, err := filepath.Glob("testdata/checkers/*.c*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	for _, p := range paths {
		t.Run(strings.ReplaceAll(filepath.Base(p), ".", "_"), func(t *testing.T) {
			want, flags := expectedFindings(t, p)
			g := guest{name: "guest", source: p, flags: flags}
			dir := t.TempDir()
			bin := g.build(t, dir)
			n := *checkerSeeds
			if testing.Short() {
				n = 1
			}
			for seed := 1; seed <= n; seed++ {
				trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
				native, err := exec.Command(bin).Output()
				if err != nil {
					t.Fatalf("natively: %v", err)
				}
				if out := recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: uint64(seed)}); out != string(native) {
					t.Errorf("seed %d: output %q, natively %q", seed, out, native)
				}
				r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{CheckersOnly: true})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if got := foundLines(r, p); strings.Join(got, "; ") != strings.Join(want, "; ") {
					var b strings.Builder
					report.WriteTable(&b, r)
					t.Errorf("seed %d: found %q, want %q\n%s", seed, got, want, b.String())
				}
			}
		})
	}
}

// TestCheckersChangeTheirMinds looks for what the labelled guests say of
// checkers: "// checker: +double-free" is found in an interleaving.
func TestCheckersChangeTheirMinds(t *testing.T) {
	paths, err := filepath.Glob("testdata/truth/race_*.c*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		want, flags := "", []string(nil)
		for _, l := range strings.Split(string(text), "\n") {
			if v, ok := strings.CutPrefix(l, "// checker: "); ok {
				want = v
			}
			if v, ok := strings.CutPrefix(l, "// flags: "); ok {
				flags = strings.Fields(v)
			}
		}
		if want == "" {
			continue
		}
		n++
		t.Run(strings.ReplaceAll(filepath.Base(p), ".", "_"), func(t *testing.T) {
			dir := t.TempDir()
			g := guest{name: "guest", source: p, flags: flags}
			bin := g.build(t, dir)
			trace := filepath.Join(dir, "t.ttd")
			recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1})
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Races {
				x := &r.Races[i]
				for _, c := range x.Checkers {
					if c.Change != want || x.Verdict != report.Harmful {
						continue
					}
					if !strings.Contains(x.Reason, strings.TrimPrefix(want, "+")) {
						t.Errorf("the reason doesn't say it: %s", x.Reason)
					}
					for _, e := range x.Experiments {
						if strings.Contains(strings.Join(e.Checkers, " "), want) {
							return
						}
					}
				}
			}
			var b strings.Builder
			report.WriteTable(&b, r)
			t.Errorf("no harmful race with %s\n%s", want, b.String())
		})
	}
	if n < 4 {
		t.Errorf("only %d guests", n)
	}
}
