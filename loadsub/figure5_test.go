package loadsub_test

import (
	"fmt"
	"testing"

	"github.com/racesim/racesim/loadsub"
)

// figure5 undoes the change that the other thread made to a variable during a
// function, as figure 5 of the method's description has it.
func figure5(t *testing.T, function, variable string, recordedValue uint64, source loadsub.Source, value uint64, outputs map[string][2]string) {
	for _, opt := range []string{"-O0", "-O2"} {
		for seed := uint64(1); seed <= 2; seed++ {
			t.Run(fmt.Sprintf("%s/%d", opt, seed), func(t *testing.T) {
				g := recorded(t, "testdata/figure5.c", seed, opt)
				calls := g.calls(function)
				if len(calls) != 1 {
					t.Fatalf("%d executions of %s", len(calls), function)
				}
				s := g.section(calls[0])
				loads := g.loads(s, variable)
				i := loads[len(loads)-1]
				if v := s.Accesses[i].Value; v != recordedValue {
					t.Fatalf("the last load of %s reads %d, want %d", variable, v, recordedValue)
				}
				o := loadsub.Options{World: g.world()}
				ref := loadsub.Reference(s, o)
				if bad := loadsub.Faithful(s, ref); len(bad) > 0 {
					t.Fatalf("re-emulation without a change: %+v", bad)
				}
				reps := loadsub.Replacements(s, i, loadsub.Choices{})
				if len(reps) == 0 || reps[0].Source != source || reps[0].Value != value || !reps[0].Correct {
					t.Fatalf("replacements %+v, want %s %d to correct", reps, source, value)
				}
				tr := loadsub.Try(s, i, reps[0], ref, o)
				if tr.Outcome != "different" {
					t.Fatalf("outcome %s (%s), want different", tr.Outcome, tr.Detail)
				}
				got := map[string][2]string{}
				for _, x := range tr.Outputs {
					got[x.Name] = [2]string{x.Want, x.Got}
				}
				if fmt.Sprint(got) != fmt.Sprint(outputs) {
					t.Errorf("outputs %v, want %v", got, outputs)
				}
			})
		}
	}
}

func TestFigure5a(t *testing.T) {
	figure5(t, "input_changed", "x", 40, loadsub.FromEntry, 1,
		map[string][2]string{"out": {"140", "101"}, "the return value": {"40", "1"}})
}

func TestFigure5b(t *testing.T) {
	figure5(t, "own_store_to_input", "y", 41, loadsub.FromOwnStore, 4,
		map[string][2]string{"out": {"341", "304"}, "the return value": {"41", "4"}, "y": {"41", "4"}})
}

func TestFigure5c(t *testing.T) {
	figure5(t, "own_store", "z", 42, loadsub.FromOwnStore, 6,
		map[string][2]string{"out": {"42", "6"}, "the return value": {"42", "6"}, "z": {"42", "6"}})
}
