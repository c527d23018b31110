package replay_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/hwmodel"
)

// Whatever the hardware is and remembers, the trace is of the same execution.
func TestEveryHardwareReplays(t *testing.T) {
	bin := guest(t, "threads")
	base, _, _ := recorded(t, record.Config{Seed: 5, Slice: 2000}, bin)
	all := open(t, base)
	small := hwmodel.Geometry{Size: 4 << 10, Ways: 4}
	for _, cfg := range []record.Config{
		{Accounting: "lines", L1: small}, {Accounting: "units", L1: small, LLC: hwmodel.Geometry{Size: 16 << 10, Ways: 8}},
		{Accounting: "reserved:4", L1: small, LLC: hwmodel.Geometry{Size: 16 << 10, Ways: 8}}, {Accounting: "ways:1", L1: small},
		{Accounting: "lines", L1: small, Prefetch: 3}, {Prefetch: 1},
		{Protocol: "msi"}, {Protocol: "moesi"}, {Protocol: "mesif"},
		{Accounting: "lines", L1: small, LogMode: record.LogCCP}, {Accounting: "ways:2", ReadLog: "page"},
	} {
		cfg.Seed, cfg.Slice = 5, 2000
		path, _, res := recorded(t, cfg, bin)
		s := open(t, path)
		v := verify(t, s)
		what := cfg.Accounting + " " + cfg.Protocol + " " + cfg.LogMode + " " + cfg.ReadLog
		if v.Instructions != res.Instructions {
			t.Errorf("%s: replayed %+v, recorded %+v", what, v, res)
		}
		if cfg.LogMode != "" {
			continue // its threads can't be replayed alone
		}
		for _, id := range s.Threads() {
			if got, want := end(t, s, id, 0), end(t, all, id, 0); got != want {
				t.Errorf("%s: thread %d ends at %s, elsewhere at %s", what, id, got, want)
			}
		}
	}
}
