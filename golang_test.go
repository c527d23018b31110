package racesim_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
			g.build(t, bin)
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

// What calls a function doesn't depend on the thread that its goroutine was on
// when it called.
func TestGoStacksAcrossThreads(t *testing.T) {
	dir := t.TempDir()
	g := goGuest{name: "racy_waits", source: "testdata/golang/racy_waits.go"}
	bin := filepath.Join(dir, g.name)
	g.build(t, bin)
	for seed := uint64(2); seed <= 3; seed++ {
		trace := filepath.Join(dir, "ttd")
		recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: seed})
		r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
		if err != nil || len(r.Races) == 0 {
			t.Fatalf("seed %d: %d races, %v", seed, len(r.Races), err)
		}
		for i := range r.Races {
			for _, a := range r.Races[i].Accesses {
				if !slices.ContainsFunc(a.Stack, func(f report.Frame) bool { return f.Function == "main.main.func1" }) {
					t.Errorf("seed %d: goroutine %d on thread %d: the stack of %s ends with %s", seed, a.Goroutine, a.Thread, a.Function, a.Stack[len(a.Stack)-1].Function)
				}
			}
		}
	}
}

func (g *goGuest) build(t *testing.T, bin string, flags ...string) {
	t.Helper()
	args := append(append([]string{"build", "-o", bin}, flags...), g.source)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Without debugging information, it isn't known where locks were expanded in
// place.
func TestStrippedGoPrograms(t *testing.T) {
	for _, name := range []string{"mutex", "rwmutex", "racy_counter"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			g := goGuest{name: name, source: "testdata/golang/" + name + ".go"}
			bin, trace := filepath.Join(dir, name), filepath.Join(dir, "ttd")
			g.build(t, bin, "-ldflags=-s")
			recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1})
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if racy := strings.HasPrefix(name, "racy_"); racy != (len(r.Races) > 0) || len(r.Findings) > 0 {
				var b strings.Builder
				report.WriteTable(&b, r)
				t.Errorf("%d races\n%s", len(r.Races), b.String())
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
