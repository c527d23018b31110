package replay_test

import (
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/hwmodel"
)

// Whatever the hardware is and remembers, the trace is of the same execution.
func TestEveryHardwareReplays(t *testing.T) {
	bin := guest(t, "threads")
	base, _, _ := recorded(t, record.Config{Seed: 5, Slice: 2000}, bin)
	all := open(t, base)
	small, tiny := hwmodel.Geometry{Size: 4 << 10, Ways: 4}, hwmodel.Geometry{Size: 1 << 10, Ways: 2}
	for _, cfg := range []record.Config{
		{Accounting: "lines", L1: small}, {Accounting: "units", L1: small, LLC: hwmodel.Geometry{Size: 16 << 10, Ways: 8}},
		{Accounting: "reserved:4", L1: small, LLC: hwmodel.Geometry{Size: 16 << 10, Ways: 8}}, {Accounting: "ways:1", L1: small},
		{Accounting: "lines", L1: small, Prefetch: 3}, {Prefetch: 1},
		{Protocol: "msi"}, {Protocol: "moesi"}, {Protocol: "mesif"},
		{Accounting: "lines", L1: small, LogMode: record.LogCCP}, {Accounting: "ways:2", ReadLog: "page"},
		// Four units, as in the first recording, on cores of their own or not.
		{Cores: 2, ThreadsPerCore: 2}, {Cores: 1, ThreadsPerCore: 4, Accounting: "lines", L1: small},
		{Cores: 2, ThreadsPerCore: 2, Protocol: "moesi", L2: small, L1: tiny, Accounting: "lines"},
		{Cores: 2, ThreadsPerCore: 2, Protocol: "mesif", L2: small, L2Exclusive: true, L1: small, Accounting: "ways:1"},
		{L1: tiny, L2: small, Prefetch: 2, LLC: hwmodel.Geometry{Size: 8 << 10, Ways: 4}, Accounting: "units"},
		{Cores: 2, ThreadsPerCore: 2, L1: tiny, L2: small, ReadLog: "last"},
		{Cores: 2, ThreadsPerCore: 2, L2: small, L1: tiny, LogMode: record.LogCCP},
		{Cores: 1, ThreadsPerCore: 4, LogMode: record.LogCCPReaders}, {Cores: 2, ThreadsPerCore: 2, LogMode: record.LogCCPMemory},
	} {
		cfg.Seed, cfg.Slice = 5, 2000
		path, _, res := recorded(t, cfg, bin)
		s := open(t, path)
		v := verify(t, s)
		what := cfg.Accounting + " " + cfg.Protocol + " " + cfg.LogMode + " " + cfg.ReadLog
		if v.Instructions != res.Instructions {
			t.Errorf("%s: replayed %+v, recorded %+v", what, v, res)
		}
		if cfg.LogMode != "" { // its threads can't be replayed alone
			out, _ := decoupled(t, path, replay.DecoupleOptions{})
			s = open(t, out)
		}
		for _, id := range s.Threads() {
			if got, want := end(t, s, id, 0), end(t, all, id, 0); got != want {
				t.Errorf("%s: thread %d ends at %s, elsewhere at %s", what, id, got, want)
			}
		}
	}
}
