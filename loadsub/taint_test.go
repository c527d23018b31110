package loadsub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/loadsub"
)

// matter returns what the loads of variables flow into: "out,the return value",
// "branch", "nothing".
func matter(t *testing.T, g *recording, s *overlay.Section) map[string]string {
	t.Helper()
	w := g.world()
	w.Class = func(addr uint64, size int) loadsub.Class {
		switch n := g.name(addr); {
		case addr < s.SP && s.SP-addr < 1<<20:
			return loadsub.PrivateStack
		case n == "fixed":
			return loadsub.Constant
		}
		return loadsub.Global
	}
	infos, err := loadsub.Matter(s, w)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range infos {
		l := &infos[i]
		n := g.name(s.Accesses[l.Index].Addr)
		if n == "" {
			continue
		}
		r := append([]string(nil), l.Reaches...)
		slices.Sort(r)
		if l.Control {
			r = append(r, "branch")
		}
		if len(r) == 0 {
			r = []string{"nothing"}
		}
		got[n] = strings.Join(r, ",")
		if l.Matters() != (got[n] != "nothing") {
			t.Errorf("%s: Matters is %v", n, l.Matters())
		}
	}
	for i := 1; i < len(infos); i++ {
		a, b := &infos[i-1], &infos[i]
		if a.Class == loadsub.PrivateStack && b.Class == loadsub.Global || len(a.Reaches) == 0 && len(b.Reaches) > 0 && a.Class == b.Class {
			t.Errorf("ranked wrongly: %+v before %+v", *a, *b)
		}
	}
	return got
}

func TestWhatLoadsFlowInto(t *testing.T) {
	for _, opt := range []string{"-O0", "-O1", "-O2"} {
		t.Run(opt, func(t *testing.T) {
			g := recorded(t, "testdata/flows.c", 1, opt)
			const ret = "the return value"
			// Neither constants nor dead values: a at -O0 is loaded for sum.
			got := matter(t, g, g.section(g.calls("flows")[0]))
			for name, want := range map[string]string{"a": "sum", "fixed": "sum", "b": ret, "c": "branch", "d": "nothing", "e": "sum", "table[5]": "sum", "sum": "sum"} {
				if got[name] != want {
					t.Errorf("flows: %s flows into %q, want %q", name, got[name], want)
				}
			}
			got = matter(t, g, g.section(g.calls("copies")[0]))
			for i := 0; i < 6; i++ {
				want := "nothing"
				if i == 2 {
					want = ret
				}
				if v, ok := got[fmt.Sprintf("from.v[%d]", i)]; ok && v != want {
					// Two members may be loaded together.
					if !(i == 3 && v == ret) {
						t.Errorf("copies: from.v[%d] flows into %q, want %q", i, v, want)
					}
				}
			}
			if got = matter(t, g, g.section(g.calls("nothing")[0])); got["a"] != "nothing" || got["b"] != "nothing" {
				t.Errorf("nothing: %v", got)
			}
			if got = matter(t, g, g.section(g.calls("real")[0])); got["half"] != ret {
				t.Errorf("real: %v", got)
			}
		})
	}
}

func TestResultRegistersAreOutputs(t *testing.T) {
	g := recorded(t, "testdata/flows.c", 1, "-O1")
	for name, want := range map[string]overlay.RegSet{
		"flows":   {GPR: [16]uint8{x86.RAX: 0x0f}},
		"copies":  {GPR: [16]uint8{x86.RAX: 0xff}},
		"nothing": {},
		"real":    {XMM: [16]uint16{0: 0x00ff}},
	} {
		s := g.section(g.calls(name)[0])
		got := s.Live.RegSet
		for _, r := range []int{x86.RBX, x86.RBP, x86.R12, x86.R13, x86.R14, x86.R15} {
			got.GPR[r] = 0 // the caller's
		}
		if got != want {
			t.Errorf("%s: live at the return are %+v, want %+v", name, got, want)
		}
	}
}

// An iteration's accumulator is an output, whether it is in a register or in
// the frame; what the next iteration overwrites isn't.
func TestAccumulatorIsAnOutput(t *testing.T) {
	for _, opt := range []string{"-O0", "-O1"} {
		t.Run(opt, func(t *testing.T) {
			g := recorded(t, "testdata/flows.c", 1, opt)
			c := g.calls("total")[0]
			whole := g.section(c)
			loads := []int{}
			for i := range whole.Accesses {
				if a := &whole.Accesses[i]; !a.Writes() && strings.HasPrefix(g.name(a.Addr), "table[") {
					loads = append(loads, i)
				}
			}
			at := whole.Accesses[loads[20]].At
			places, err := loadsub.Places(g.pass, g.ms, c.thread, at, 1)
			if err != nil || !places[0].Loop {
				t.Fatalf("no iteration: %v", err)
			}
			th, _, err := g.pass.Seek(c.thread, places[0].Start)
			if err != nil {
				t.Fatal(err)
			}
			s, err := overlay.Capture(th.Snapshot(), places[0].Goal)
			if err != nil || !s.Complete {
				t.Fatalf("capture: %v", err)
			}
			o := loadsub.Options{World: g.world()}
			ref := loadsub.Reference(s, o)
			for i := range s.Accesses {
				a := &s.Accesses[i]
				if a.At != at || a.Writes() {
					continue
				}
				tr := loadsub.Try(s, i, loadsub.Replacement{Source: loadsub.FromUser, Value: a.Value + 1000}, ref, o)
				if tr.Outcome != "different" || len(tr.Outputs) != 1 {
					t.Fatalf("outcome %s, outputs %+v, want the sum alone", tr.Outcome, tr.Outputs)
				}
			}
		})
	}
}
