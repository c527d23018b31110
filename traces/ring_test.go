package traces

import (
	"math/rand"
	"path/filepath"
	"testing"
)

// A ring keeps the end: no more than its size and a generation, each stream from
// a key frame on or from its start, the process whole.
func TestRingKeepsTheEnd(t *testing.T) {
	for _, each := range []bool{false, true} {
		const size = 64 << 10
		path := filepath.Join(t.TempDir(), "r.ttd")
		w, err := Create(path, Header{Arch: "x86-64"})
		if err != nil {
			t.Fatal(err)
		}
		w.Ring(size, each)
		rng := rand.New(rand.NewSource(1))
		put := func(stream uint32, count uint64, p *Packet) {
			t.Helper()
			if err := w.Put(stream, count, p); err != nil {
				t.Fatal(err)
			}
		}
		var due [4]bool
		min := uint64(0)
		for n := uint64(0); n < 20000; n++ {
			for s := uint32(1); s <= 3; s++ {
				if s == 3 && n > 5000 && n < 19000 {
					continue // it waits
				}
				min++
				if n == 0 {
					put(s, n, &Packet{Kind: Start, Thread: s, Min: min})
				}
				if w.GenerationDue() {
					w.NextGeneration()
					due = [4]bool{true, true, true, true}
				}
				if due[s] {
					due[s] = false
					if err := w.BeginGeneration(s); err != nil {
						t.Fatal(err)
					}
					put(s, n, &Packet{Kind: KeyFrame, Min: min, State: []byte{1}})
				}
				var d [LineSize]byte
				rng.Read(d[:])
				put(s, n, &Packet{Kind: Import, Line: n, Data: &d})
			}
			if n%1000 == 0 {
				put(0, 0, &Packet{Kind: Unmap, Min: min, Addr: n})
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var stored, most uint64
		imports := uint64(0)
		for _, st := range r.Streams() {
			c := r.Cursor(st.Stream)
			first, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if st.Stream == 0 {
				if st.Packets != 20 {
					t.Errorf("%d packets of the process, expected 20", st.Packets)
				}
				continue
			}
			stored += st.Stored
			most = max(most, st.Stored)
			if first.Kind != KeyFrame {
				t.Errorf("each %v: stream %d begins with %v", each, st.Stream, first)
			}
			last := first.Count
			for {
				p, err := c.Next()
				if err != nil {
					break
				}
				if p.Kind == Import {
					imports++
				}
				last = p.Count
			}
			if last != 19999 {
				t.Errorf("each %v: stream %d ends at %d", each, st.Stream, last)
			}
		}
		const generation = size/ringPart + 8<<10
		if !each && (stored > size+generation || stored < size/4) || each && (most > size+generation || most < size/4) {
			t.Errorf("each %v: %d bytes are kept, %d of a stream; the ring has %d", each, stored, most, size)
		}
		if n := r.Sizes().Packets[Import]; n != imports {
			t.Errorf("each %v: the index counts %d imports, %d are there", each, n, imports)
		}
	}
}
