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

// analysed builds and records a program, and analyses the trace.
func analysed(t *testing.T, source string, seed uint64, o racesim.AnalyzeOptions) (*report.Report, string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-w", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	trace := filepath.Join(dir, "t.ttd")
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: seed})
	r, err := racesim.AnalyzeFile(context.Background(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, trace
}

func load(t *testing.T, s string) racesim.Load {
	t.Helper()
	l, err := racesim.ParseLoad(s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Values that the user asks for are tried and judged by what the function
// normally returns, whether the load races or not.
func TestAskedValuesAreTriedAndJudged(t *testing.T) {
	o := racesim.AnalyzeOptions{Loads: []racesim.Load{
		load(t, "score.c:12=5"),    // rate doesn't race; a value that is returned now and then
		load(t, "score.c:12=4000"), // …and one that never is
		load(t, "score.c:9=1"),     // no code
	}}
	r, _ := analysed(t, "testdata/models/score.c", 1, o)
	var got []string
	for _, x := range r.Experiments {
		if x.Source != "user" || x.Load != "score.c:12" || x.Recorded != "3" {
			t.Errorf("experiment %+v", x)
			continue
		}
		normal := "no opinion"
		if x.Normal != nil && *x.Normal {
			normal = "normal"
		} else if x.Normal != nil {
			normal = "abnormal"
		}
		got = append(got, x.Replacement+" "+x.Outcome+" "+normal)
		names := ""
		for _, o := range x.Outputs {
			names += o.Name + " "
		}
		if !strings.Contains(names, "the return value") || !strings.Contains(names, "total[") {
			t.Errorf("outputs %s", names)
		}
	}
	if len(got) < 2 || got[0] != "5 different normal" || got[1] != "4000 different abnormal" {
		t.Errorf("experiments %q", got)
	}
	if s := strings.Join(r.Notes, "\n"); !strings.Contains(s, "score.c:9: no code") {
		t.Errorf("notes %s", s)
	}
	var b strings.Builder
	report.WriteTable(&b, r)
	if !strings.Contains(b.String(), "what you asked for") || !strings.Contains(b.String(), "load at score.c:12 gets 4000 instead of 3 (user) → different, abnormal") {
		t.Errorf("%s", b.String())
	}
}

// A single instance says nothing about what is normal; other traces may.
func TestOtherTracesTeachWhatIsNormal(t *testing.T) {
	opinions := func(r *report.Report) (known, unknown int) {
		for i := range r.Races {
			for _, x := range r.Races[i].Experiments {
				switch {
				case x.Source == "interleaving":
				case x.Normal != nil:
					known++
				case strings.Contains(x.Detail, "too few other instances"):
					unknown++
				}
			}
		}
		return known, unknown
	}
	r, trace := analysed(t, "testdata/models/once.c", 1, racesim.AnalyzeOptions{})
	if known, unknown := opinions(r); known > 0 || unknown == 0 {
		t.Errorf("alone: %d opinions, %d times none", known, unknown)
	}
	var others []string
	for seed := uint64(2); seed < 6; seed++ {
		other := filepath.Join(t.TempDir(), "t.ttd")
		recordTo(t, racesim.RecordConfig{Output: other, Argv: []string{filepath.Join(filepath.Dir(trace), "guest")}, Seed: seed})
		others = append(others, other)
	}
	r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{Models: others})
	if err != nil {
		t.Fatal(err)
	}
	if known, unknown := opinions(r); known == 0 || unknown > 0 {
		t.Errorf("with others: %d opinions, %d times none", known, unknown)
	}

	// The same from a file, learnt in two parts.
	learn := func(paths ...string) *racesim.Model {
		m, err := racesim.Learn(context.Background(), paths)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	file := filepath.Join(t.TempDir(), "m")
	m := learn(others[:2]...)
	m.Merge(learn(others[2:]...))
	if err := m.Write(file); err != nil {
		t.Fatal(err)
	}
	if m, err = racesim.ReadModel(file); err != nil || len(m.Sources) != len(others) || len(m.Sites) == 0 {
		t.Fatalf("read back: %+v, %v", m, err)
	}
	q, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{Learnt: []*racesim.Model{m}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := verdicts(q), verdicts(r); a != b {
		t.Errorf("with a model:\n%s\nwith the traces it was learnt from:\n%s", a, b)
	}
}

// What functions of one build do helps with another, whose code is elsewhere
// and has another size; the report says so.
func TestModelsHelpOtherBuilds(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/models/once.c")
	if err != nil {
		t.Fatal(err)
	}
	build := func(name, source string, flags ...string) string {
		// Of the same name: that is what a function is known by, too.
		os.Mkdir(filepath.Join(dir, name), 0o777)
		bin := filepath.Join(dir, name, "guest")
		if err := os.WriteFile(filepath.Join(dir, name, "once.c"), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("gcc", append([]string{"-g", "-pthread", "-w", "-o", bin, "once.c"}, flags...)...)
		cmd.Dir = filepath.Join(dir, name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		return bin
	}
	old := build("old", string(text), "-O0")
	m := &racesim.Model{Schema: racesim.ModelSchema}
	for seed := uint64(1); seed < 5; seed++ {
		trace := filepath.Join(dir, "t.ttd")
		recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{old}, Seed: seed})
		one, err := racesim.Learn(context.Background(), []string{trace})
		if err != nil {
			t.Fatal(err)
		}
		m.Merge(one)
	}
	shifted := "int before(int x)\n{\n\treturn 3 * x;\n}\n\n" + string(text)
	trace := filepath.Join(dir, "new.ttd")
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{build("new", shifted, "-O1")}, Seed: 1})
	r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{Learnt: []*racesim.Model{m}})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for i := range r.Races {
		for _, x := range r.Races[i].Experiments {
			if x.Normal != nil {
				known++
			}
		}
	}
	if notes := strings.Join(r.Notes, "\n"); known == 0 || !strings.Contains(notes, "look: the model knows it from other builds") {
		t.Errorf("%d opinions; notes: %s", known, notes)
	}
}

// verdicts says what came out, with scores.
func verdicts(r *report.Report) string {
	var b strings.Builder
	for i := range r.Races {
		x := &r.Races[i]
		fmt.Fprintln(&b, x.ID, x.Verdict, x.Confidence)
		for _, e := range x.Experiments {
			fmt.Fprintln(&b, "  ", e.Load, e.Source, e.Outcome, e.Normal != nil && *e.Normal, e.Score)
		}
	}
	return b.String()
}
