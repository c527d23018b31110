package loadsub_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
)

// What an iteration leaves in a register is an output, however long the loop
// goes on before the function uses it.
func TestIterationWhoseResultIsUsedLate(t *testing.T) {
	g := recorded(t, "testdata/late.c", 1, "-O1")
	calls := g.calls("collect")
	if len(calls) != 1 {
		t.Fatalf("%d executions of collect", len(calls))
	}
	whole := g.section(calls[0])
	load := &whole.Accesses[g.loads(whole, "sample")[10]]
	places, err := loadsub.Places(g.pass, g.ms, whole.Thread, load.At, 1)
	if err != nil || !places[0].Loop || places[0].Whole == nil {
		t.Fatalf("places %+v, %v; want an iteration of a short call", places, err)
	}
	th, _, err := g.pass.Seek(whole.Thread, places[0].Start)
	if err != nil {
		t.Fatal(err)
	}
	s, err := overlay.Capture(th.Snapshot(), places[0].Goal)
	if err != nil {
		t.Fatal(err)
	}
	loads := g.loads(s, "sample")
	if len(loads) != 1 {
		t.Fatalf("%d loads in an iteration", len(loads))
	}
	o := loadsub.Options{World: g.world()}
	ref := loadsub.Reference(s, o)
	tr := loadsub.Try(s, loads[0], loadsub.Replacement{Source: loadsub.FromUser, Value: 101}, ref, o)
	for _, x := range tr.Outputs {
		if x.Addr == 0 && x.Want == "0" && x.Got == "1" {
			return
		}
	}
	t.Errorf("%s, outputs %+v; want a register that becomes 1", tr.Outcome, tr.Outputs)
}
