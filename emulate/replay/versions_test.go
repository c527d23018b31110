package replay_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// The kept traces of all versions of the format replay as they were recorded.
func TestEveryVersionReplays(t *testing.T) {
	names, err := filepath.Glob("../../traces/testdata/version*.ttd")
	if err != nil || len(names) < traces.Version {
		t.Fatalf("samples: %v, %v; expected one of each of %d versions", names, err, traces.Version)
	}
	for _, name := range names {
		r, err := traces.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := replay.Open(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v, err := s.Verify(context.Background(), 1, nil)
		if err != nil || v.Instructions != 370 || v.Threads != 2 {
			t.Errorf("%s: %+v, %v; expected 370 instructions of 2 threads", name, v, err)
		}
		r.Close()
	}
}
