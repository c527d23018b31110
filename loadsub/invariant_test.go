package loadsub_test

import (
	"fmt"
	"testing"

	"github.com/racesim/racesim/loadsub"
)

// Substituting the value that a load has read changes nothing, for every load.
func TestRecordedValueChangesNothing(t *testing.T) {
	for _, g := range []struct {
		source    string
		flags     []string
		functions []string
		least     int // sections
	}{
		{"testdata/figure5.c", []string{"-O0"}, []string{"input_changed", "own_store_to_input", "own_store", "hand_over"}, 6},
		{"testdata/figure5.c", []string{"-O2"}, []string{"input_changed", "own_store_to_input", "own_store"}, 3},
		{"testdata/flows.c", []string{"-O0"}, []string{"flows", "copies", "nothing", "real", "total"}, 40},
		{"testdata/flows.c", []string{"-O2"}, []string{"flows", "copies", "real", "run"}, 26},
		{"testdata/library.c", []string{"-O1"}, []string{"work", "keep", "text"}, 60},
	} {
		t.Run(fmt.Sprint(g.source, g.flags), func(t *testing.T) {
			rec := recorded(t, g.source, 3, g.flags...)
			calls := rec.calls(g.functions...)
			if len(calls) < g.least {
				t.Fatalf("%d executions, want %d at least", len(calls), g.least)
			}
			o := loadsub.Options{World: rec.world()}
			tried := 0
			for _, c := range calls {
				s := rec.section(c)
				ref := loadsub.Reference(s, o)
				if bad := loadsub.Faithful(s, ref); len(bad) > 0 {
					t.Errorf("%s, %v: without a change: %+v", c.f.Name, s, bad)
					continue
				}
				every := 1 + len(s.Accesses)/50
				for i := 0; i < len(s.Accesses); i += every {
					a := &s.Accesses[i]
					if a.Writes() {
						continue
					}
					tried++
					tr := loadsub.Try(s, i, loadsub.Replacement{Source: loadsub.FromUser, Value: a.Value}, ref, o)
					if tr.Outcome != "same" {
						t.Errorf("%s, %v: load %d at 0x%x of 0x%x: %s %s %+v", c.f.Name, s, i, a.PC, a.Addr, tr.Outcome, tr.Detail, tr.Outputs)
					}
				}
			}
			if tried < 20 {
				t.Errorf("%d loads tried", tried)
			}
		})
	}
}
