package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate/record"
)

// Guests with processes do as natively and replay, whether their children are
// recorded or not.
func TestProcessesReplay(t *testing.T) {
	for _, name := range []string{"fork", "processes", "ipc"} {
		path := guest(t, "../../linux/testdata/"+name)
		want, status := native(t, path)
		for _, children := range []string{"run", "record"} {
			trace, got, res := recorded(t, record.Config{Children: children}, path)
			if got != want || res.Status != status {
				t.Errorf("%s, children %s: status %d, natively %d; prints\n%s\nnatively\n%s", name, children, res.Status, status, got, want)
			}
			if children == "run" {
				verify(t, open(t, trace))
				continue
			}
			files, _ := filepath.Glob(trace + "/*.ttd")
			if len(files) != res.Processes || len(files) < 9 {
				t.Errorf("%s: %d traces of %d processes", name, len(files), res.Processes)
			}
			for _, f := range files {
				s := open(t, f)
				if verify(t, s); s.Exit() == nil {
					t.Errorf("%s: %s doesn't say how its process ended", name, f)
				}
			}
		}
	}
}

// A program that takes another's place gets another processor: it must tell of
// its accesses, too.
func TestEveryLogGoesOnInAnotherProgram(t *testing.T) {
	path, other := guest(t, "vforks", "-no-pie"), guest(t, "plain", "-static")
	want, _ := native(t, path, other)
	for _, cfg := range []record.Config{{ReadLog: "none"}, {ReadLog: "last"}, {ReadLog: "shadow:12"}, {ReadLog: "page"},
		{MemoryModel: "loads"}, {MemoryModel: "acqrel"}, {Ring: record.MinRing}} {
		cfg.Children = "record"
		trace, got, _ := recorded(t, cfg, path, other)
		if got != want {
			t.Errorf("%+v: prints %q, natively %q", cfg, got, want)
		}
		files, _ := filepath.Glob(trace + "/*.ttd")
		if len(files) < 2 {
			t.Errorf("%d traces", len(files))
		}
		for _, f := range files {
			verify(t, open(t, f))
		}
	}
}

// A child made by vfork runs its parent's code until it executes another
// program, whose code may be at the same addresses.
func TestCodeOfTheParentIsForgotten(t *testing.T) {
	path, other := guest(t, "vforks", "-no-pie"), guest(t, "plain", "-static")
	want, _ := native(t, path, other)
	trace, got, _ := recorded(t, record.Config{Children: "record"}, path, other)
	if got != want {
		t.Errorf("prints %q, natively %q", got, want)
	}
	files, _ := filepath.Glob(trace + "/*.ttd")
	for _, f := range files {
		verify(t, open(t, f))
	}
}

// Two recordings of the same processes are equal.
func TestProcessesAreDeterministic(t *testing.T) {
	path := guest(t, "sharing")
	a, _, _ := recorded(t, record.Config{Children: "record", Seed: 3}, path)
	b, _, _ := recorded(t, record.Config{Children: "record", Seed: 3}, path)
	files, _ := filepath.Glob(a + "/*")
	if len(files) != 4 {
		t.Errorf("%d traces", len(files))
	}
	for _, f := range files {
		x, err1 := os.ReadFile(f)
		y, err2 := os.ReadFile(filepath.Join(b, filepath.Base(f)))
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs from run to run", filepath.Base(f))
		}
	}
}
