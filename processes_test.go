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

// Races between processes are found on the marked lines and nowhere else.
func TestRacesBetweenProcesses(t *testing.T) {
	sources, err := filepath.Glob("testdata/processes/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		marked := map[int]bool{}
		for i, l := range strings.Split(string(text), "\n") {
			if strings.HasSuffix(l, "// race") {
				marked[i+1] = true
			}
		}
		dir := t.TempDir()
		bin := filepath.Join(dir, "guest")
		if out, err := exec.Command("gcc", "-g", "-O1", "-w", "-pthread", "-o", bin, source).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		native, err := exec.Command(bin).Output()
		if err != nil {
			t.Fatalf("natively: %v", err)
		}
		for seed := uint64(1); seed <= 3; seed++ {
			trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
			out := recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: seed, Children: "record"})
			if out != string(native) {
				t.Errorf("%s: output %q, natively %q", source, out, native)
			}
			if _, err := racesim.VerifyAll(trace, 1); err != nil {
				t.Error(err)
			}
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			found := map[int]bool{}
			for i := range r.Races {
				for _, x := range r.Races[i].Accesses {
					found[x.Line] = true
				}
			}
			if fmt.Sprint(found) != fmt.Sprint(marked) {
				var b strings.Builder
				report.WriteTable(&b, r)
				t.Errorf("%s, seed %d: races on lines %v, expected %v\n%s", source, seed, found, marked, b.String())
			}
		}
	}
}
