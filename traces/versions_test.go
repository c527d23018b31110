package traces

import (
	"fmt"
	"path/filepath"
	"testing"
)

// A trace of each version of the format is kept, and read: complete, with every
// packet in place. emulate/replay replays them.
func TestEveryVersionIsRead(t *testing.T) {
	for v := oldestVersion; v <= Version; v++ {
		name := filepath.Join("testdata", fmt.Sprintf("version%d.ttd", v))
		r, err := Open(name)
		if err != nil {
			t.Errorf("%v; each version needs a sample (testdata/sample.c)", err)
			continue
		}
		if r.Version() != v || r.Incomplete() != "" || len(r.Streams()) != 3 {
			t.Errorf("%s: version %d, streams %v, incomplete: %q", name, r.Version(), r.Streams(), r.Incomplete())
		}
		for _, n := range streams(r) {
			got, err := rest(r.Cursor(n))
			if err != nil || len(got) == 0 {
				t.Errorf("%s: stream %d: %d packets, %v", name, n, len(got), err)
			}
		}
		if f, err := r.Files(); err != nil || (len(f) > 0) != (v > 1) {
			t.Errorf("%s: %d files, %v", name, len(f), err)
		}
		r.Close()
	}
}
