package replay_test

import (
	"debug/elf"
	"errors"
	"io"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/traces"
)

// Only the selected function is recorded, what comes right after it, and the
// thread that it creates; gaps replay as gaps.
func TestSelectedFunctionsAreRecorded(t *testing.T) {
	bin := guest(t, "select")
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var entry uint64
	for _, s := range syms {
		if s.Name == "chosen" {
			entry = s.Value
		}
	}
	want, _ := native(t, bin)
	for _, log := range []string{"cache", "last"} {
		cfg := record.Config{Seed: 1, ReadLog: log, SelectNames: "chosen", SelectDistance: 1000, HashEvery: 5000,
			Select: func(m linux.Module) []emulate.Addr {
				if m.Path != bin {
					return nil
				}
				return []emulate.Addr{m.Base + emulate.Addr(entry)}
			}}
		path, out, res := recorded(t, cfg, bin)
		if out != want {
			t.Errorf("printed %q, natively %q", out, want)
		}
		s := open(t, path)
		v := verify(t, s)
		if v.Threads != 4 || v.Instructions > res.Instructions/3 || v.Instructions < 6*5000+600000 {
			t.Errorf("%s: replayed %+v of %d instructions", log, v, res.Instructions)
		}
		// Main: on and off for each pair of calls. The thread that main created
		// isn't recorded, those that chosen created are.
		for i, max := range []int{7, 1, 0, 0} {
			id := emulate.ThreadID(i + 1)
			gaps, keys := 0, 0
			for c := s.Reader().Cursor(uint32(id)); ; {
				p, err := c.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				switch p.Kind {
				case traces.Gap:
					gaps++
				case traces.KeyFrame:
					keys++
				}
			}
			if gaps > max || max > 0 && gaps == 0 || i == 0 && keys < 6 {
				t.Errorf("%s: thread %d has %d gaps and %d key frames, expected up to %d", log, id, gaps, keys, max)
			}
			for n := range s.Reader().KeyFrames(uint32(id)) {
				if got, whole := end(t, s, id, n), end(t, s, id, 0); got != whole {
					t.Errorf("%s: thread %d from key frame %d ends at %s, from the start at %s", log, id, n, got, whole)
				}
			}
		}
	}
}
