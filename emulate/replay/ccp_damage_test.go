package replay_test

import (
	"context"
	"errors"
	"io"
	"math/rand"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// rewritten copies a trace, letting change alter each packet.
func rewritten(t *testing.T, path string, change func(stream uint32, p *traces.Packet)) string {
	t.Helper()
	r := open(t, path).Reader()
	out := filepath.Join(t.TempDir(), "other.ttd")
	w, err := traces.Create(out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range r.Streams() {
		cur := r.Cursor(st.Stream)
		for {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			q := *p
			change(st.Stream, &q)
			if err := w.Put(st.Stream, q.Count, &q); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Wrong coherence messages are an error or change nothing; they never make the
// threads wait for ever, nor decoupling end well with another execution.
func TestWrongMessagesAreNoticed(t *testing.T) {
	bin := guest(t, "threads")
	for _, mode := range []string{record.LogCCP, record.LogCCPReaders} {
		path, res := quietly(t, record.Config{Seed: 4, LogMode: mode, Slice: 2000, HashEvery: 2000}, bin)
		sizes := open(t, path).Reader().Sizes()
		n := int(sizes.Packets[traces.Fetch] + sizes.Packets[traces.Snoop])
		if n < 20 {
			t.Fatalf("%s: %d messages", mode, n)
		}
		noticed := 0
		seeds := int64(12)
		if testing.Short() {
			seeds = 5
		}
		for seed := range seeds {
			r := rand.New(rand.NewSource(seed))
			at, k := r.Intn(n), 0
			other := rewritten(t, path, func(stream uint32, p *traces.Packet) {
				if p.Kind != traces.Fetch && p.Kind != traces.Snoop {
					return
				}
				if k++; k-1 != at {
					return
				}
				switch r.Intn(4) {
				case 0:
					p.Thread = uint32(1 + r.Intn(res.Threads))
				case 1:
					p.Since += uint64(r.Intn(2000))
					p.Value++
				case 2:
					p.Since -= min(p.Since, uint64(r.Intn(2000)))
					p.Value--
				case 3:
					p.Thread = 1000
				}
			})
			r2, err := traces.Open(other)
			if err != nil {
				t.Fatal(err)
			}
			s, err := replay.Open(r2)
			if err == nil {
				_, err = s.Verify(context.Background(), 2, nil)
			}
			if err != nil {
				noticed++
			}
			for _, noMarks := range []bool{false, true} {
				out := filepath.Join(t.TempDir(), "alone.ttd")
				if _, e := s.Decouple(context.Background(), out, replay.DecoupleOptions{NoMarks: noMarks}); e == nil {
					verify(t, open(t, out))
				}
			}
			r2.Close()
		}
		if noticed == 0 {
			t.Errorf("%s: no wrong message was noticed", mode)
		}
	}
}
