package racesim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

// A naming is a guest of testdata/reports with what its report must say, in
// lines such as
//
//	// stack: f g h        some side's stack is f, then g, then h, perhaps with others between
//	// never: f            no side's stack has f
//	// variable: v.m[1]    a race is about this
//	// created: n by f g   a thread called n was created in f, called by g
//
// "[signal]" in a stack stands before a function that a handler interrupted.
type naming struct {
	source                           string
	stack, never, variable, creation []string
}

func namings(t *testing.T) []naming {
	paths, err := filepath.Glob("testdata/reports/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	var out []naming
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		n := naming{source: p}
		for _, l := range strings.Split(string(text), "\n") {
			for what, to := range map[string]*[]string{"stack": &n.stack, "never": &n.never, "variable": &n.variable, "created": &n.creation} {
				if v, ok := strings.CutPrefix(l, "// "+what+": "); ok {
					*to = append(*to, v)
				}
			}
		}
		out = append(out, n)
	}
	return out
}

// compilers are the ways to build a guest in each language.
var compilers = map[string][][]string{
	".c":  {{"gcc", "-g", "-pthread", "-w"}, {"clang-14", "-g", "-pthread", "-w"}},
	".cc": {{"g++", "-g", "-pthread", "-w"}, {"clang++-14", "-g", "-pthread", "-w"}},
	".rs": {{"rustc", "-g", "-A", "warnings"}},
}

// Stacks, variables and threads have the names of the source, whatever
// compiler made the program.
func TestNamesInReports(t *testing.T) {
	levels := []string{"-O0", "-O2"}
	if testing.Short() {
		levels = []string{"-O2"}
	}
	for _, n := range namings(t) {
		ext := filepath.Ext(n.source)
		for k, cc := range compilers[ext] {
			if testing.Short() && k > 0 {
				break
			}
			for _, level := range levels {
				t.Run(strings.Join([]string{filepath.Base(n.source), cc[0], level}, "/"), func(t *testing.T) {
					if _, err := exec.LookPath(cc[0]); err != nil {
						t.Skip(err)
					}
					n.check(t, cc, level)
				})
			}
		}
	}
}

func (n *naming) check(t *testing.T, cc []string, level string) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	if cc[0] == "rustc" {
		level = "-Copt-level=" + level[2:]
	}
	args := slices.Concat(cc[1:], []string{level, "-o", bin, n.source})
	if out, err := exec.Command(cc[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc[0], err, out)
	}
	trace := filepath.Join(dir, "t.ttd")
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1})
	r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{MaxRuns: 4})
	if err != nil {
		t.Fatal(err)
	}
	var stacks [][]string
	var variables, creations []string
	for i := range r.Races {
		x := &r.Races[i]
		variables = append(variables, x.Location.Name())
		for k := range x.Accesses {
			a := &x.Accesses[k]
			stacks = append(stacks, functions(a.Stack))
			creations = append(creations, a.ThreadName+" by "+strings.Join(functions(a.CreatedAt), " "))
		}
	}
	for _, w := range n.stack {
		if !slices.ContainsFunc(stacks, func(s []string) bool { return begins(s, strings.Fields(w)) }) {
			t.Errorf("no stack %q in\n%s", w, lines(stacks))
		}
	}
	for _, w := range n.never {
		if slices.ContainsFunc(stacks, func(s []string) bool { return slices.Contains(s, w) }) {
			t.Errorf("%s is on a stack in\n%s", w, lines(stacks))
		}
	}
	for _, w := range n.variable {
		if !slices.Contains(variables, w) {
			t.Errorf("no race about %s, but about %q", w, variables)
		}
	}
	for _, w := range n.creation {
		if !slices.ContainsFunc(creations, func(s string) bool { return strings.HasPrefix(s, w) }) {
			t.Errorf("no thread %q, but %q", w, creations)
		}
	}
}

func functions(s []report.Frame) []string {
	var out []string
	for _, f := range s {
		if f.Interrupted {
			out = append(out, "[signal]")
		}
		out = append(out, f.Function)
	}
	return out
}

// begins says whether a stack begins like want, and then has the rest of it in
// that order.
func begins(s, want []string) bool {
	if len(s) == 0 || s[0] != want[0] {
		return false
	}
	for _, f := range s {
		if len(want) > 0 && f == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func lines(stacks [][]string) string {
	var b strings.Builder
	for _, s := range stacks {
		if l := strings.Join(s, " ") + "\n"; !strings.Contains(b.String(), l) {
			b.WriteString(l)
		}
	}
	return b.String()
}
