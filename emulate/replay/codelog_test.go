package replay_test

import (
	"context"
	"math/rand"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Code that a program makes flows into each thread by lines: the execution is the
// same as when its pages are in the trace, from every key frame and in every part.
func TestCodeByLinesReplays(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	tiny := hwmodel.Geometry{Size: 512, Ways: 2}
	configs := []record.Config{
		{Seed: 1}, {Seed: 2, Slice: 40, L1I: tiny, Cores: 2, ThreadsPerCore: 2},
		{Seed: 3, Slice: 200, KeyFrameEvery: 1500, L1: tiny, L2: hwmodel.Geometry{Size: 2 << 10, Ways: 4}, Accounting: "lines"},
		{Seed: 5, Slice: 100, Addresses: "counter"},
		{Seed: 4, Slice: 2000, KeyFrameEvery: 20000, MemoryModel: "loads"},
		{Seed: 6, Slice: 300, Ring: record.MinRing},
	}
	for _, name := range []string{"code", "patches", "alias", "faults", "vforks"} {
		bin := guest(t, name)
		want, _ := native(t, bin)
		for i, cfg := range configs {
			if testing.Short() && i > 3 {
				break
			}
			cfg.HashEvery, cfg.CodeLog = 500, record.CodeLogLine
			path, out, res := recorded(t, cfg, bin)
			if name != "faults" && out != want {
				t.Errorf("%s, seed %d: printed %q, natively %q", name, cfg.Seed, out, want)
			}
			s := open(t, path)
			if got := s.Reader().Header().CodeLog; got != "line" {
				t.Errorf("the header says %q", got)
			}
			v := verify(t, s)
			if cfg.Ring == 0 && v.Instructions != res.Instructions {
				t.Errorf("%s, seed %d: replayed %+v, recorded %+v", name, cfg.Seed, v, res)
			}
			if n := s.Reader().Sizes().Packets; (name == "code" || name == "patches") && (n[traces.CodeOwn] == 0 || n[traces.Code] > 1) {
				t.Errorf("%s, seed %d: %d codeown and %d code packets", name, cfg.Seed, n[traces.CodeOwn], n[traces.Code])
			}
			if cfg.Ring > 0 {
				continue
			}
			for _, id := range s.Threads() {
				last := end(t, s, id, 0)
				keys := s.Reader().KeyFrames(uint32(id))
				for k := 1; k < len(keys); k += 1 + len(keys)/10 {
					if got := end(t, s, id, k); got != last {
						t.Errorf("%s, seed %d: thread %d from key frame %d ends at %s, expected %s", name, cfg.Seed, id, k, got, last)
					}
				}
			}
			sched, err := s.Schedule()
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				first := rnd.Intn(len(sched))
				part := filepath.Join(t.TempDir(), "part.ttd")
				cut(t, s, part, first, first+rnd.Intn(len(sched)-first))
				if _, err := open(t, part).Verify(context.Background(), 1, nil); err != nil {
					t.Errorf("%s, seed %d: part from slice %d of %d: %v", name, cfg.Seed, first, len(sched), err)
				}
			}
		}
	}
}

// A snapshot between a line's change and its execution goes on like the thread.
func TestCodeByLinesFromSnapshots(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 2, Slice: 300, CodeLog: record.CodeLogLine}, guest(t, "patches"))
	s := open(t, path)
	for _, id := range s.Threads() {
		want := end(t, s, id, 0)
		th, err := s.Thread(id)
		if err != nil {
			t.Fatal(err)
		}
		for at := s.Last(id) / 7; at < s.Last(id); at += s.Last(id) / 7 {
			if _, err := th.RunTo(at); err != nil {
				t.Fatal(err)
			}
			other := th.Snapshot().NewThread()
			if got := endOf(t, other); got != want {
				t.Errorf("thread %d from a snapshot at %d ends at %s, expected %s", id, at, got, want)
			}
		}
		if got := endOf(t, th); got != want {
			t.Errorf("thread %d ends at %s, expected %s", id, got, want)
		}
	}
}

// Other logs have no lines that code could be in.
func TestCodeByLinesNeedsLines(t *testing.T) {
	for _, cfg := range []record.Config{{ReadLog: "page"}, {ReadLog: "last"}, {LogMode: record.LogCCP}} {
		cfg.CodeLog, cfg.Argv, cfg.Output = record.CodeLogLine, []string{"/bin/true"}, filepath.Join(t.TempDir(), "t.ttd")
		if _, err := record.Run(context.Background(), cfg); err == nil {
			t.Errorf("%+v is recorded", cfg)
		}
	}
}
