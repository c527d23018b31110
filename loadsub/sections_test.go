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

// A function that creates and joins threads is executed again in parts.
func TestStretchBetweenSystemCalls(t *testing.T) {
	for _, opt := range []string{"-O0", "-O2"} {
		g := recorded(t, "testdata/late.c", 1, opt)
		s := g.section(g.calls("main")[0])
		for i := range s.Accesses {
			x := &s.Accesses[i]
			if !x.Writes() || g.name(x.Addr) != "told" {
				continue
			}
			places, err := loadsub.Places(g.pass, g.ms, s.Thread, x.At, 1)
			if err != nil {
				t.Fatal(err)
			}
			p, err := loadsub.Stretch(g.pass, s.Thread, x.At, &places[0])
			if err != nil || p == nil || !p.Part || p.Start > x.At || p.String() != "a part of main" {
				t.Fatalf("%s: %+v, %v", opt, p, err)
			}
			th, _, err := g.pass.Seek(s.Thread, p.Start)
			if err != nil {
				t.Fatal(err)
			}
			part, err := overlay.Capture(th.Snapshot(), p.Goal)
			if err != nil || !part.Complete || part.Stop <= x.At || part.Steps() > s.Steps()/2 {
				t.Errorf("%s: %v, complete %v, of %v around %d: %v", opt, part, part.Complete, s, x.At, err)
			}
			for k := range part.Inputs {
				if part.Inputs[k].Kind == overlay.InSyscall {
					t.Errorf("%s: a system call in %v", opt, part)
				}
			}
		}
	}
}
