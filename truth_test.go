package racesim_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

var (
	seeds = flag.Int("seeds", 5, "schedules tried for each guest with known truth")
	keep  = flag.String("keep", "", "directory for the traces and programs that were judged wrongly")
)

// A guest is a program of testdata/truth with what must be said of it.
type guest struct {
	name, source, verdict string
	cc                    string // the compiler, "": gcc or g++
	flags                 []string
	seeds                 int // schedules that it needs at least, 0: as many as the others
}

func guests(t *testing.T) []guest {
	paths, err := filepath.Glob("testdata/truth/*.c*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	var out []guest
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(p)
		g := guest{name: strings.TrimSuffix(base, filepath.Ext(base)), source: p}
		for _, l := range strings.Split(string(text), "\n") {
			if v, ok := strings.CutPrefix(l, "// verdict: "); ok {
				g.verdict = v
			}
			if v, ok := strings.CutPrefix(l, "// flags: "); ok {
				g.flags = strings.Fields(v)
			}
			if v, ok := strings.CutPrefix(l, "// seeds: "); ok {
				if g.seeds, err = strconv.Atoi(v); err != nil {
					t.Fatalf("%s: %v", p, err)
				}
			}
		}
		if g.verdict == "" {
			t.Fatalf("%s: no verdict", p)
		}
		out = append(out, g)
	}
	return out
}

// build compiles a guest.
func (g *guest) build(t *testing.T, dir string) string {
	cc := "gcc"
	if strings.HasSuffix(g.source, ".cpp") {
		cc = "g++"
	}
	if g.cc != "" {
		cc = g.cc
	}
	bin := filepath.Join(dir, g.name)
	args := append([]string{"-g", "-pthread", "-w", "-o", bin, g.source}, g.flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return bin
}

func TestTruth(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = 1
	}
	for _, g := range guests(t) {
		n := n
		if !testing.Short() {
			n = max(n, g.seeds)
		}
		t.Run(g.name, func(t *testing.T) { g.test(t, n) })
	}
}

// TestTruthLibomp has the OpenMP guests built by clang, with its run-time library.
func TestTruthLibomp(t *testing.T) {
	n := 2
	if testing.Short() {
		n = 1
	}
	for _, g := range guests(t) {
		if !strings.Contains(g.name, "openmp") {
			continue
		}
		for _, name := range []string{"clang", "clang-14"} {
			if strings.HasSuffix(g.source, ".cpp") {
				name = strings.Replace(name, "clang", "clang++", 1)
			}
			if p, err := exec.LookPath(name); err == nil {
				g.cc = p
			}
		}
		if g.cc == "" {
			t.Skip("no clang")
		}
		if strings.Contains(g.name, "sections") && g.verdict != "none" {
			continue // a static loop: one thread may execute both, in order
		}
		t.Run(g.name, func(t *testing.T) { g.test(t, n) })
	}
}

// keepFile copies a file to the directory that was asked for.
func keepFile(t *testing.T, path, name string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(*keep, name), data, 0o755)
	}
	if err != nil {
		t.Error(err)
	}
}

// test records a guest with n seeds and compares what is said of it with the truth.
func (g *guest) test(t *testing.T, n int) {
	dir := t.TempDir()
	bin := g.build(t, dir)
	native, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatalf("natively: %v", err)
	}
	for seed := 1; seed <= n; seed++ {
		trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
		out := recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: uint64(seed)})
		if out != string(native) {
			t.Errorf("seed %d: output %q, natively %q", seed, out, native)
		}
		if seed == 1 {
			verify(t, trace)
		}
		r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
		if err != nil {
			t.Fatalf("seed %d: analyze: %v", seed, err)
		}
		if err := racesim.Gate(r, nil, "suspected"); err != nil {
			t.Fatal(err)
		}
		if problem := g.judge(r); problem != "" {
			var b strings.Builder
			report.WriteTable(&b, r)
			t.Errorf("seed %d: %s\n%s", seed, problem, b.String())
			if *keep != "" {
				keepFile(t, trace, fmt.Sprintf("%s-%d.ttd", g.name, seed))
				keepFile(t, bin, g.name)
			}
		}
	}
}

// judge compares a report with the truth.
func (g *guest) judge(r *report.Report) string {
	s := r.Summary
	switch g.verdict {
	case "harmful":
		if s.Harmful == 0 {
			return "nothing harmful found"
		}
		return ""
	case "benign":
		if s.Benign == 0 {
			return "no benign race found"
		}
	case "none":
		if s.Benign+s.Synchronisation > 0 {
			return "a race was found where there is none"
		}
	}
	if s.Harmful > 0 {
		return "called harmful"
	}
	if s.Unknown > 0 {
		return "called unknown"
	}
	return ""
}

// recordTo records a program and returns what it wrote to its stdout.
func recordTo(t *testing.T, cfg racesim.RecordConfig) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cfg.Stdout = f
	res, err := racesim.Record(context.Background(), cfg)
	if err != nil {
		t.Fatalf("record: %v", err)
	}
	if res.ExitCode() != 0 {
		t.Fatalf("record: the guest's exit status is %d", res.ExitCode())
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// verify replays a trace.
func verify(t *testing.T, trace string) {
	t.Helper()
	tr, err := racesim.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if text, err := tr.Verify(2); err != nil {
		t.Fatalf("replay: %v\n%s", err, text)
	}
}
