package replay_test

import (
	"context"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// Any part of a recording replays: threads are cut in system calls, handlers,
// faults, halves of updates and repeated string instructions. Its slices are
// those of the recording. A part of a part is one, too.
func TestPartsReplay(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	n := 12
	if testing.Short() {
		n = 5
	}
	for _, name := range []string{"sharing", "signals", "faults", "threads", "pipes", "code", "sharing zero", "threads none", "pipes page"} {
		name, log, _ := strings.Cut(name, " ")
		path, _, _ := recorded(t, record.Config{Seed: 3, Slice: 60, KeyFrameEvery: 2000, HashEvery: 300, ReadLog: log}, guest(t, name))
		whole := open(t, path)
		if log != "" { // lines of which it isn't known what all bytes are
			whole = open(t, translated(t, whole))
			name += ", log of reads " + log
		}
		sched, err := whole.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			first := rnd.Intn(len(sched))
			last := first + rnd.Intn(min(len(sched)-first, 1+len(sched)>>rnd.Intn(6)))
			out := filepath.Join(t.TempDir(), "part.ttd")
			cut(t, whole, out, first, last)
			part := open(t, out)
			v, err := part.Verify(context.Background(), 1, nil)
			if err != nil {
				t.Errorf("%s, slices %d to %d of %d: %v", name, first, last, len(sched), err)
				continue
			}
			got, err := part.Schedule()
			if err != nil || len(got) != last-first+1 {
				t.Errorf("%s, slices %d to %d of %d: %d slices, %v", name, first, last, len(sched), len(got), err)
				continue
			}
			var sum uint64
			for k, x := range got {
				w := sched[first+k]
				if w.End > got[len(got)-1].End { // the end of one that has none
					w.End = x.End
				}
				if x != w {
					t.Errorf("%s, slices %d to %d of %d: slice %v, expected %v", name, first, last, len(sched), x, w)
					break
				}
				sum += uint64(x.To - x.From)
			}
			if v.Instructions < sum {
				t.Errorf("%s, slices %d to %d of %d: %d instructions replayed, %d in the slices", name, first, last, len(sched), v.Instructions, sum)
			}
			if i == 0 && len(got) > 2 {
				again := filepath.Join(t.TempDir(), "again.ttd")
				cut(t, part, again, 1, len(got)-2)
				if _, err := open(t, again).Verify(context.Background(), 1, nil); err != nil {
					t.Errorf("%s, slices %d to %d of %d: a part of it: %v", name, first, last, len(sched), err)
				}
			}
		}
	}
}

// translated writes a trace with a log of lines.
func translated(t *testing.T, s *replay.Session) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "lines.ttd")
	w, err := traces.Create(out, s.TranslatedHeader())
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Translate(w); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cut(t *testing.T, s *replay.Session, out string, first, last int) {
	t.Helper()
	w, err := traces.Create(out, s.Reader().Header())
	if err != nil {
		t.Fatal(err)
	}
	w.Chunks()
	_, err = s.Cut(context.Background(), w, first, last, "a part", func(th *replay.Thread) func() ([]replay.Frame, emulate.Count) {
		return func() ([]replay.Frame, emulate.Count) { // sometimes from earlier on
			return nil, th.Count() - min(th.Count(), emulate.Count(th.Count()%3*20))
		}
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatalf("slices %d to %d: %v", first, last, err)
	}
}
