package traces

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeebo/xxh3"
)

// A memStore is a ring's file, and all writes to it.
type memStore struct {
	b      []byte
	writes []memWrite
}

type memWrite struct {
	at int64
	b  []byte
}

func (m *memStore) Close() error { return nil }

func (m *memStore) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(m.b)) {
		return 0, io.EOF
	}
	n := copy(b, m.b[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memStore) WriteAt(b []byte, at int64) (int, error) {
	m.writes = append(m.writes, memWrite{at, bytes.Clone(b)})
	if n := int(at) + len(b); n > len(m.b) {
		m.b = append(m.b, make([]byte, n-len(m.b))...)
	}
	return copy(m.b[at:], b), nil
}

// Whenever a recorder is killed, the file of its ring has every chunk that was
// written and not dropped, in order, and nothing that never was one; and it
// doesn't grow much beyond the most that was in it at a time.
func TestRingFileIsGoodAtAnyMoment(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	store := &memStore{}
	r := ringFile{f: store}
	type kept struct {
		slot slot
		sum  uint64
		n    int
	}
	var live []kept
	chunk := func(i int) []byte {
		p := make([]byte, rnd.Intn(20000))
		rnd.Read(p)
		h := chunkHeader{stream: uint32(1 + i%3), raw: uint32(len(p)) + 1, stored: uint32(len(p)), packets: 1, sum: xxh3.Hash(p)}
		return append(h.encode(nil), p...)
	}
	disk := &memStore{}
	// check compares what is found with what must be there, and may be.
	check := func(when string, must, may []kept) {
		t.Helper()
		found, _, err := (&Reader{ringFile: disk, dec: newDecoder()}).ringSums()
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		k := 0
		for _, sum := range found {
			in := false
			for _, m := range may {
				in = in || m.sum == sum
			}
			if !in {
				t.Fatalf("%s: a chunk was found that isn't one", when)
			}
			if k < len(must) && must[k].sum == sum {
				k++
			}
		}
		if k < len(must) {
			t.Fatalf("%s: chunk %d of %d isn't found, or out of order", when, k, len(must))
		}
	}
	most, bytesLive := int64(0), int64(0)
	for i := range 400 {
		before := append([]kept(nil), live...)
		store.writes = nil
		var gone kept
		if len(live) > 5 && rnd.Intn(2) == 0 || len(live) > 20 {
			k := rnd.Intn(3)
			gone = live[k]
			if err := r.drop(gone.slot); err != nil {
				t.Fatal(err)
			}
			live = append(live[:k:k], live[k+1:]...)
			bytesLive -= gone.slot.n
		} else {
			c := chunk(i)
			s, err := r.add(c)
			if err != nil {
				t.Fatal(err)
			}
			h, _ := decodeChunkHeader(c)
			live = append(live, kept{s, h.sum, len(c)})
			bytesLive += s.n
			if got, err := r.read(s, len(c)); err != nil || !bytes.Equal(got, c) {
				t.Fatalf("chunk %d isn't read as it was written: %v", i, err)
			}
		}
		most = max(most, bytesLive)
		both := append(append([]kept(nil), before...), live...)
		var must []kept
		for _, b := range before {
			if b.sum != gone.sum {
				must = append(must, b)
			}
		}
		for k, w := range store.writes {
			disk.WriteAt(w.b[:rnd.Intn(len(w.b)+1)/8*8], w.at) // torn, but not within a word
			check(fmt.Sprintf("operation %d, within write %d", i, k), nil, both)
			disk.WriteAt(w.b, w.at)
			check(fmt.Sprintf("operation %d, after write %d", i, k), must, both)
		}
		check(fmt.Sprintf("after operation %d", i), live, live)
	}
	if int64(len(store.b)) > 2*most {
		t.Errorf("the file has %d bytes, at most %d were in use", len(store.b), most)
	}
}

// ringSums returns the checksums of the chunks in the file of a ring.
func (r *Reader) ringSums() (sums []uint64, bad int, err error) {
	found, bad, err := r.slotsWith(func(c *chunkInfo) error {
		b := make([]byte, c.stored)
		if _, err := r.ringFile.ReadAt(b, c.offset+chunkHeaderSize); err != nil {
			return err
		}
		if xxh3.Hash(b) != c.sum {
			return fmt.Errorf("checksum")
		}
		return nil
	})
	for _, c := range found {
		sums = append(sums, c.sum)
	}
	return sums, bad, err
}

// What a killed recorder leaves of a ring is read, and so is whatever is left of
// that when its file is damaged or cut off: each stream from a key frame on, with
// no hole.
func TestCutOffRingIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.ttd")
	w, err := Create(path, Header{Arch: "x86-64", Ring: "65536"})
	if err != nil {
		t.Fatal(err)
	}
	w.Ring(64<<10, false)
	rnd := rand.New(rand.NewSource(3))
	put := func(stream uint32, count uint64, p *Packet) {
		t.Helper()
		if err := w.Put(stream, count, p); err != nil {
			t.Fatal(err)
		}
	}
	due, min := [3]bool{}, uint64(0)
	for n := uint64(0); n < 6000; n++ {
		for s := uint32(1); s <= 2; s++ {
			min++
			if n == 0 {
				put(s, n, &Packet{Kind: Start, Thread: s, Min: min})
			}
			if w.GenerationDue() {
				w.NextGeneration()
				due = [3]bool{true, true, true}
			}
			if due[s] {
				due[s] = false
				if err := w.BeginGeneration(s); err != nil {
					t.Fatal(err)
				}
				put(s, n, &Packet{Kind: KeyFrame, Min: min, State: []byte{1}})
			}
			var d [LineSize]byte
			rnd.Read(d[:])
			put(s, n, &Packet{Kind: Import, Line: n, Data: &d})
		}
	}
	put(0, 0, &Packet{Kind: Unmap, Min: min})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	close(w.queue) // all of it is written, and the recorder is gone
	w.done.Wait()
	ring, err := os.ReadFile(path + RingSuffix)
	if err != nil {
		t.Fatal(err)
	}
	imports := func() (n uint64) {
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, st := range r.Streams() {
			c := r.Cursor(st.Stream)
			for i := 0; ; i++ {
				p, err := c.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 && st.Stream > 0 && p.Kind != KeyFrame && p.Kind != Start {
					t.Fatalf("stream %d begins with %v", st.Stream, p)
				}
				if p.Kind == Import {
					n++
				}
			}
		}
		if r.Incomplete() == "" {
			t.Fatal("it passes for complete")
		}
		return n
	}
	all := imports()
	if all < 500 || all > 11000 {
		t.Fatalf("%d imports are left", all)
	}
	if r, err := Open(path); err != nil || r.SafeMin() != min {
		t.Fatalf("%v; all is there up to event %d, expected %d", err, r.SafeMin(), min)
	}
	less := 0
	for i := range 300 {
		b := bytes.Clone(ring)
		if i%3 == 0 {
			b = b[:rnd.Intn(len(b))]
		} else {
			b[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8)
		}
		if err := os.WriteFile(path+RingSuffix, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if n := imports(); n < all {
			less++
		}
	}
	if less == 0 {
		t.Error("no damage was noticed")
	}
	os.Remove(path + RingSuffix)
	if n := imports(); n != 0 {
		t.Errorf("%d imports without the ring's file", n)
	}
}
