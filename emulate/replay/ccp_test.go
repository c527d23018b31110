package replay_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// decoupled decouples a trace and returns the name of the result.
func decoupled(t testing.TB, path string, o replay.DecoupleOptions) (string, replay.Decoupled) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "alone.ttd")
	d, err := open(t, path).Decouple(context.Background(), out, o)
	if err != nil {
		t.Fatalf("decoupling: %v", err)
	}
	return out, d
}

// sameStreams compares all packets of two traces, as text and with their
// content, and returns how many there are.
func sameStreams(t testing.TB, got, want string) (n int) {
	t.Helper()
	a, b := open(t, got).Reader(), open(t, want).Reader()
	if len(a.Streams()) != len(b.Streams()) {
		t.Fatalf("%d streams, want %d", len(a.Streams()), len(b.Streams()))
	}
	for _, st := range b.Streams() {
		ca, cb := a.Cursor(st.Stream), b.Cursor(st.Stream)
		for {
			p, err := ca.Next()
			q, err2 := cb.Next()
			if errors.Is(err, io.EOF) && errors.Is(err2, io.EOF) {
				break
			}
			if err != nil || err2 != nil {
				t.Fatalf("stream %d: %v, want %v", st.Stream, err, err2)
			}
			n++
			same := p.String() == q.String() && (p.Kind != traces.Import || *p.Data == *q.Data)
			if !same {
				t.Fatalf("stream %d: %v\n%v\nwant %v\n%v", st.Stream, p, p.Data, q, q.Data)
			}
		}
	}
	return n
}

// quietly records a program whose output goes nowhere: a file's number and time
// would be in the recording.
func quietly(t testing.TB, cfg record.Config, argv ...string) (string, record.Result) {
	t.Helper()
	devnull, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer devnull.Close()
	cfg.Argv, cfg.Stdin, cfg.Stdout, cfg.Stderr = argv, devnull, devnull, devnull
	cfg.Output = filepath.Join(t.TempDir(), "t.ttd")
	res, err := record.Run(context.Background(), cfg)
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
	return cfg.Output, res
}

// A recording in which threads depend on one another replays bit for bit, and
// decoupled it is the independent recording of the same seed, packet by packet.
func TestDependentRecordingIsTheIndependentOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		few   bool // threads share too little for a smaller trace
	}{
		{"threads", nil, false}, {"signals", nil, true}, {"pipes", nil, true}, {"code", nil, true}, {"alias", nil, true},
		{"sharing", nil, true}, {"../../linux/testdata/openmp", []string{"-fopenmp"}, false},
		{"../../linux/testdata/pithreads", nil, false},
	} {
		name := filepath.Base(c.name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := guest(t, c.name, c.flags...)
			for i, cfg := range []record.Config{
				{Seed: 2, Slice: 3000, HashEvery: 10000, KeyFrameEvery: 20000},
				{Seed: 1, Slice: 500, HashEvery: 5000, KeyFrameEvery: -1},
				{Seed: 3, Slice: 3000, Cores: 2, KeyFrameEvery: 100000},
			} {
				if i == 2 && testing.Short() {
					break
				}
				alone, res := quietly(t, cfg, bin)
				for _, mode := range record.LogModes[1:] {
					cfg.LogMode = mode
					path, res2 := quietly(t, cfg, bin)
					if res2.Instructions != res.Instructions || res2.Status != res.Status {
						t.Fatalf("seed %d, %s: %+v, independently %+v", cfg.Seed, mode, res2, res)
					}
					s := open(t, path)
					for workers := 1; workers <= 3; workers += 2 {
						v, err := s.Verify(context.Background(), workers, nil)
						if err != nil {
							t.Fatalf("seed %d, %s: %v", cfg.Seed, mode, err)
						}
						if v.Instructions != res.Instructions || v.Threads != res.Threads || v.CutOff != 0 {
							t.Errorf("seed %d, %s: replayed %+v, recorded %+v", cfg.Seed, mode, v, res)
						}
					}
					if st := s.Reader().FileSize(); i == 0 && res.Threads > 1 && !c.few && st >= res.Bytes {
						t.Errorf("seed %d, %s: %d bytes, independently %d", cfg.Seed, mode, st, res.Bytes)
					}
					out, _ := decoupled(t, path, replay.DecoupleOptions{})
					sameStreams(t, out, alone)
					verify(t, open(t, out))
					if mode != record.LogCCPReaders || name == "pithreads" && (testing.Short() || i > 0) {
						continue
					}
					out, d := decoupled(t, path, replay.DecoupleOptions{NoMarks: true})
					// Threads that contend for a lock by the thousand leave too much open.
					if t.Log(d.Solved); d.Solved.Marks && name != "pithreads" || !d.Solved.Marks && d.Solved.Replays == 0 {
						t.Errorf("seed %d: no order found: %v", cfg.Seed, d.Solved)
					}
					sameStreams(t, out, alone)
				}
			}
		})
	}
}

// What a thread has under another virtual address isn't logged again, be it the
// running one or another.
func TestLineUnderAnotherAddress(t *testing.T) {
	path, _ := quietly(t, record.Config{LogMode: record.LogCCP, Seed: 2, Slice: 500}, guest(t, "alias"))
	s := open(t, path)
	verify(t, s)
	own, others := 0, 0
	packetsOf(t, s.Reader(), false, func(stream uint32, p *traces.Packet) {
		if p.Kind != traces.FetchAs {
			return
		}
		if p.Value%64 != p.Line%64 || p.Value == p.Line {
			t.Errorf("%v", p)
		}
		if p.Thread == stream {
			own++
		} else {
			others++
		}
	})
	if own == 0 || others == 0 {
		t.Errorf("%d lines from the thread itself, %d from others", own, others)
	}
}

// Processes that share memory don't depend on one another: each trace stands
// for its own process.
func TestDependentProcessesReplay(t *testing.T) {
	for _, name := range []string{"sharing", "../../linux/testdata/ipc"} {
		bin := guest(t, name)
		cfg := record.Config{Children: "record", LogMode: record.LogCCP, Slice: 3000}
		dir, _ := quietly(t, cfg, bin)
		cfg.LogMode = ""
		alone, _ := quietly(t, cfg, bin)
		files, _ := filepath.Glob(dir + "/*.ttd")
		if len(files) < 2 {
			t.Fatalf("%s: %d traces", name, len(files))
		}
		for _, f := range files {
			verify(t, open(t, f))
			out, _ := decoupled(t, f, replay.DecoupleOptions{})
			if verify(t, open(t, out)); name == "sharing" { // ipc's files have other names each time
				sameStreams(t, out, filepath.Join(alone, filepath.Base(f)))
			}
		}
	}
}

// Values in a second file are missed if it isn't there, and the file is named.
func TestSecondFileIsNeeded(t *testing.T) {
	path, _, _ := recorded(t, record.Config{LogMode: record.LogCCPMemory}, guest(t, "threads"))
	s := open(t, path)
	verify(t, s)
	for _, k := range []traces.Kind{traces.Import} {
		if n := s.Reader().Sizes().Packets[k]; n > 0 {
			t.Errorf("%d %v packets in the trace", n, k)
		}
	}
	if err := os.Rename(path+traces.ImagesSuffix, path+".elsewhere"); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, path).Verify(context.Background(), 0, nil)
	if err == nil || !strings.Contains(err.Error(), path+traces.ImagesSuffix) {
		t.Errorf("%v", err)
	}
}

// Threads that depend on others can't be replayed alone.
func TestDependentThreadIsRefused(t *testing.T) {
	path, _, _ := recorded(t, record.Config{LogMode: record.LogCCP}, guest(t, "threads"))
	if th, err := open(t, path).Thread(1); err == nil {
		t.Errorf("thread %d", th.ID())
	}
	alone, _, _ := recorded(t, record.Config{}, guest(t, "threads"))
	if _, err := open(t, alone).Decouple(context.Background(), filepath.Join(t.TempDir(), "x.ttd"), replay.DecoupleOptions{}); err == nil {
		t.Error("an independent trace was decoupled")
	}
}

// A dependent trace that was cut off replays and decouples as far as all its
// streams go.
func TestDependentTraceCutOff(t *testing.T) {
	path, _, res := recorded(t, record.Config{LogMode: record.LogCCP, Slice: 1000, HashEvery: 5000}, guest(t, "threads"))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := 1; part < 8; part++ {
		cut := filepath.Join(t.TempDir(), "cut.ttd")
		if err := os.WriteFile(cut, b[:len(b)*part/8], 0o666); err != nil {
			t.Fatal(err)
		}
		s := open(t, cut)
		v, err := s.Verify(context.Background(), 0, nil)
		if err != nil {
			t.Fatalf("%d/8: %v", part, err)
		}
		if v.Instructions >= res.Instructions || part > 4 && v.Instructions == 0 {
			t.Errorf("%d/8: %d of %d instructions", part, v.Instructions, res.Instructions)
		}
		out := filepath.Join(t.TempDir(), "alone.ttd")
		if _, err := s.Decouple(context.Background(), out, replay.DecoupleOptions{}); err != nil {
			t.Fatalf("%d/8: %v", part, err)
		}
		r, err := traces.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Incomplete() == "" {
			t.Errorf("%d/8: the result is complete", part)
		}
		alone, err := replay.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if verify(t, alone); r.SafeMin() < s.Reader().SafeMin() {
			t.Errorf("%d/8: safe up to %d, together %d", part, r.SafeMin(), s.Reader().SafeMin())
		}
	}
}
