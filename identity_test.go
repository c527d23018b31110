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
)

// identifiers builds a program from its source, records and analyses it, and
// returns what its races are called.
func identifiers(t *testing.T, source string, seed uint64, flags ...string) []string {
	t.Helper()
	dir := t.TempDir()
	src, bin, trace := filepath.Join(dir, "bank.c"), filepath.Join(dir, "bank"), filepath.Join(dir, "t.ttd")
	if err := os.WriteFile(src, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append([]string{"-pthread", "-o", bin, src}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: seed})
	r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{MaxRuns: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range r.Races {
		out = append(out, r.Races[i].ID)
	}
	slices.Sort(out)
	return out
}

// Races keep their identifiers with other seeds, when lines move and when
// others are added to the same functions; without symbols, when code moves.
func TestIdentifiersLast(t *testing.T) {
	text, err := os.ReadFile("examples/bank/bank.c")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	edited := strings.Replace(source, "struct account {", "__attribute__((noinline, used)) static int other(int x)\n{\n\treturn x * 3 + 1;\n}\n\nstruct account {", 1)
	edited = strings.Replace(edited, "\ta->balance -= 1;", "\t// Why it is here.\n\n\ta->balance -= 1;", 1)
	edited = strings.Replace(edited, "deposited %d,", "altogether they deposited %d,", 1)
	for _, flags := range [][]string{{"-g", "-O1"}, {"-g", "-O0"}, {"-O1"}, {"-O1", "-s"}} {
		if testing.Short() && flags[len(flags)-1] == "-O0" {
			continue
		}
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			want := identifiers(t, source, 1, flags...)
			if len(want) < 4 {
				t.Fatalf("only %q", want)
			}
			if got := identifiers(t, edited, 1, flags...); !slices.Equal(got, want) {
				t.Errorf("%q after an edit, %q before", got, want)
			}
			if got := identifiers(t, source, 2, flags...); !slices.Equal(got, want) {
				t.Errorf("%q with another seed, %q before", got, want)
			}
		})
	}
}
