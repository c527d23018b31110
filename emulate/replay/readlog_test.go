package replay_test

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// assembled builds testdata/name.S, without a C library.
func assembled(t testing.TB, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	args := append([]string{"-nostdlib", "-static", "-o", out, filepath.Join("testdata", name+".S")}, flags...)
	if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// entries says in words what is in a thread's stream up to its exit, but for
// the schedule.
func entries(t *testing.T, s *replay.Session, stream uint32) []string {
	t.Helper()
	var out []string
	var first uint64
	for c := s.Reader().Cursor(stream); ; {
		p, err := c.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		switch p.Kind {
		case traces.Switch:
			continue
		case traces.Start:
			what = "context"
		case traces.Order:
			if first == 0 {
				first = p.Min
				what = "orderable x"
			} else if p.Min > first {
				what = "orderable x+n"
			}
		case traces.Nondet:
			what = "side effects"
		case traces.Read:
			if p.Value > 0x1000 {
				what = "read address"
			} else {
				what = fmt.Sprintf("read %d", p.Value)
			}
			if p.Skip != 0 {
				what += " after others"
			}
		case traces.Fault:
			what = "exception record"
		case traces.Signal:
			what = "exception context"
		case traces.SyscallEnter, traces.Exit:
			return out
		default:
			what = p.String()
		}
		out = append(out, fmt.Sprintf("instr:%d %s", p.Delta, what))
	}
}

// A loop over an array of 5, 0, 0, 2, 2 that copies what isn't 0, with one read
// each time round, gives these entries and no others.
func TestEntriesOfTheReadLogs(t *testing.T) {
	begin := []string{"instr:0 context", "instr:0 orderable x", "instr:0 side effects", "instr:1 read address", "instr:1 read address", "instr:1 read 5"}
	for _, c := range []struct {
		name, log string
		flags     []string
		stream    uint32
		want      []string
	}{
		{"last", "last", nil, 1, []string{"instr:14 read 0", "instr:12 read 2", "instr:18 orderable x+n", "instr:0 side effects"}},
		{"none", "none", nil, 1, []string{"instr:5 read 5", "instr:9 read 0", "instr:6 read 0", "instr:6 read 2", "instr:9 read 2", "instr:9 orderable x+n", "instr:0 side effects"}},
		{"fault", "last", []string{"-DFAULT"}, 2, []string{"instr:14 read 0", "instr:12 read 2", "instr:4 exception record", "instr:0 exception context"}},
		{"fault, none", "none", []string{"-DFAULT"}, 2, []string{"instr:5 read 5", "instr:9 read 0", "instr:6 read 0", "instr:6 read 2", "instr:4 exception record", "instr:0 exception context"}},
	} {
		bin := assembled(t, "copy", c.flags...)
		path, _, _ := recorded(t, record.Config{Seed: 1, ReadLog: c.log}, bin)
		s := open(t, path)
		verify(t, s)
		if got, want := entries(t, s, c.stream), append(slices.Clone(begin), c.want...); !slices.Equal(got, want) {
			t.Errorf("%s: the stream has\n%q, expected\n%q", c.name, got, want)
		}
	}
}

// Every log of reads replays bit for bit, from every key frame.
func TestEveryReadLogReplays(t *testing.T) {
	for _, log := range []string{"none", "last", "zero", "shadow:6", "shadow:16", "page"} {
		for _, name := range []string{"threads", "signals", "code", "faults", "vectors", "../../linux/testdata/traps"} {
			if name == "vectors" && log != "none" {
				continue
			}
			t.Run(log+"/"+filepath.Base(name), func(t *testing.T) {
				t.Parallel()
				cfg := record.Config{Seed: 3, Slice: 2000, KeyFrameEvery: 10000, HashEvery: 5000, ReadLog: log}
				bin := guest(t, name, configFor(t, name, &cfg)...)
				want, status := native(t, bin, "one", "two words")
				path, out, res := recorded(t, cfg, bin, "one", "two words")
				got := res.Status
				if res.Signal != 0 {
					got = 128 + res.Signal
				}
				if out != want || got != status {
					t.Errorf("output %q, status %d; native %q, status %d", out, got, want, status)
				}
				s := open(t, path)
				if h := s.Reader().Header().ReadLog; h != log {
					t.Errorf("the header says %q", h)
				}
				v := verify(t, s)
				if v.Instructions != res.Instructions || v.Reads+v.Pages == 0 || v.Imports != 0 {
					t.Errorf("replayed %+v, recorded %+v", v, res)
				}
				for _, id := range s.Threads() {
					want := end(t, s, id, 0)
					keys := s.Reader().KeyFrames(uint32(id))
					for n := range keys {
						if n > 3 && n < len(keys)-2 {
							continue
						}
						if got := end(t, s, id, n); got != want {
							t.Errorf("thread %d from key frame %d ends at %s, expected %s", id, n, got, want)
						}
					}
				}
			})
		}
	}
}
