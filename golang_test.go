package racesim_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

// A Go guest is a program of testdata/golang. Its first line says what variable
// must be reported, or several with bars between them, and maybe the verdict;
// without one, nothing may be.
type goGuest struct {
	name, source, verdict string
	variables             []string
}

func goGuests(t *testing.T) []goGuest {
	paths, err := filepath.Glob("testdata/golang/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	var out []goGuest
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		g := goGuest{name: strings.TrimSuffix(filepath.Base(p), ".go"), source: p}
		line, _, _ := strings.Cut(string(text), "\n")
		if v, ok := strings.CutPrefix(line, "// race: "); ok {
			vars, verdict, _ := strings.Cut(v, " ")
			g.variables, g.verdict = strings.Split(vars, "|"), verdict
		}
		if (g.variables != nil) != strings.HasPrefix(g.name, "racy_") {
			t.Fatalf("%s: the first line must say what is reported", p)
		}
		out = append(out, g)
	}
	return out
}

func TestGoPrograms(t *testing.T) {
	n := min(*seeds, 3)
	if testing.Short() {
		n = 1
	}
	for _, g := range goGuests(t) {
		t.Run(g.name, func(t *testing.T) {
			if testing.Short() && g.name == "http" {
				t.Skip("takes long to build")
			}
			dir := t.TempDir()
			bin := filepath.Join(dir, g.name)
			if out, err := exec.Command("go", "build", "-o", bin, g.source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for seed := 1; seed <= n; seed++ {
				trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
				recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: uint64(seed)})
				r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
				if err != nil {
					t.Fatalf("seed %d: analyze: %v", seed, err)
				}
				if problem := g.judge(r); problem != "" {
					var b strings.Builder
					report.WriteTable(&b, r)
					t.Errorf("seed %d: %s\n%s", seed, problem, b.String())
				}
			}
		})
	}
}

// judge compares a report with the truth.
func (g *goGuest) judge(r *report.Report) string {
	if g.variables == nil {
		if len(r.Races) > 0 || len(r.Findings) > 0 {
			return "there is nothing to report"
		}
		return ""
	}
	found := ""
	for i := range r.Races {
		x := &r.Races[i]
		for _, v := range g.variables {
			if !strings.HasPrefix(x.Location.Symbol, v) {
				continue
			}
			if a := &x.Accesses[0]; a.Goroutine == 0 || len(a.Stack) == 0 || !strings.HasPrefix(a.Function, "main.") {
				return fmt.Sprintf("%s: made by goroutine %d in %s", v, a.Goroutine, a.Function)
			}
			if found = v; g.verdict == "" || string(x.Verdict) == g.verdict {
				return ""
			}
		}
	}
	if found != "" {
		return found + " isn't called " + g.verdict
	}
	return "the race isn't found"
}
