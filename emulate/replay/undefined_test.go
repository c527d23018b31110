package replay_test

import (
	"context"
	"debug/elf"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
)

func TestRelianceOnUndefinedFlagsIsFound(t *testing.T) {
	bin := guest(t, "undefined", "-static", "-no-pie")
	path, _, res := recorded(t, record.Config{}, bin)
	s := open(t, path)
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]emulate.Addr{}
	for _, y := range syms {
		at[y.Name] = emulate.Addr(y.Value)
	}
	own := func(a emulate.Addr) bool { return a >= at["main"] && a < at["main"]+4096 }
	for _, c := range []replay.Choice{replay.Continue, replay.Fork, replay.Skip} {
		found := map[emulate.Addr]replay.Reliance{}
		n, times, err := s.Undefined(context.Background(), 1, c, func(r replay.Reliance) {
			if own(r.PC) {
				found[r.PC] = r
			}
		})
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if c == replay.Skip { // there is no other key frame
			if len(found) != 1 || n >= res.Instructions {
				t.Errorf("skip: %d instructions of %d, found %v", n, res.Instructions, found)
			}
			continue
		}
		if len(found) != 3 || times < 30 || n != res.Instructions {
			t.Errorf("%v: %d of %d instructions, %d times, found %+v", c, n, res.Instructions, times, found)
		}
		for name, want := range map[string]string{"reads_div": "jb div CF", "reads_shl": "seto shl OF", "reads_bsf": "cmovs bsf SF"} {
			r := found[at[name]]
			if got := r.Reads + " " + r.Leaves + " " + replay.FlagNames(r.Flags); got != want {
				t.Errorf("%v: %s: %q, want %q", c, name, got, want)
			}
			if c == replay.Fork && (len(r.Forks) != 1 || r.Forks[0].Differs == "") {
				t.Errorf("%s: forks %+v, want one that differs", name, r.Forks)
			}
		}
		if r := found[at["reads_div"]]; r.By != at["left_div"] {
			t.Errorf("%v: left by %v, want %v", c, r.By, at["left_div"])
		}
	}
}
