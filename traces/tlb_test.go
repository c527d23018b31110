package traces

import (
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
)

// Lines that entries name come back whole, with the entry and its alias,
// whatever the chunks and wherever a key frame is; TLB packets are there as
// needed, and nobody sees them who doesn't ask.
func TestLinesNamedByEntries(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	type slot struct{ page, alias uint64 }
	slots := map[uint64]slot{}
	var entries []entry
	entries = append(entries, entry{1, Packet{Kind: Start, Thread: 1, Min: 1}})
	named := 0
	for i := range 20000 {
		p := Packet{Kind: Import, Count: uint64(i), Line: rng.Uint64() >> 10, Data: &[LineSize]byte{byte(i)}}
		if id := uint64(rng.Intn(40)); id > 0 {
			if rng.Intn(10) == 0 || slots[id].page == 0 {
				slots[id] = slot{rng.Uint64() >> 20, uint64(rng.Intn(3))}
			}
			p.Entry, p.Alias, p.Line = id<<(rng.Intn(2)*40), slots[id].alias, slots[id].page<<lineBits|uint64(rng.Intn(64))
			named++
		}
		switch rng.Intn(100) {
		case 0:
			p = Packet{Kind: KeyFrame, Count: p.Count, Min: 1}
		case 1:
			p.Kind, p.Thread, p.Since = Fetch, 1, 1
		case 2:
			p.Kind, p.Mask, p.Bytes = Part, 1, []byte{1}
		case 3:
			p = Packet{Kind: Mark, Count: p.Count, Name: "x"}
		}
		entries = append(entries, entry{1, p})
	}
	for _, every := range []int{1 << 30, 700, 7} {
		r, err := open(write(t, Header{}, entries, func(i int) bool { return i%every == every-1 }))
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Sizes().Packets[TLB]; n == 0 || every == 1<<30 && n > uint64(named)/4 {
			t.Errorf("%d TLB packets for %d lines", n, named)
		}
		same := func(c *Cursor, from int) {
			t.Helper()
			count := entries[from].p.Count
			for i := from; i < len(entries); i++ {
				want := &entries[i].p
				p, err := c.Next()
				if err != nil {
					t.Fatal(err)
				}
				if p.Kind != want.Kind || p.Count != want.Count || p.Kind.hasLine() && (p.Line != want.Line || p.Entry != want.Entry || want.Entry != 0 && p.Alias != want.Alias) {
					t.Fatalf("packet %d: %v, want %v", i, p, want)
				}
				if i > from && p.Delta != p.Count-count {
					t.Fatalf("packet %d: delta %d, want %d", i, p.Delta, p.Count-count)
				}
				count = p.Count
				if i%97 == 0 {
					old := c
					c = c.Clone() // which must not share what decoding changes
					for range 50 {
						old.Next()
					}
				}
			}
		}
		same(r.Cursor(1), 0)
		for i := range entries {
			if p := &entries[i].p; p.Kind == KeyFrame && i%5 == 0 {
				c := r.Cursor(1)
				k, err := c.SeekKeyFrame(p.Count)
				if err != nil || k.Count != p.Count {
					t.Fatal(k, err)
				}
				same(c, i)
			}
		}
	}
}

// A packet that can't be put leaves no trace in the coding of those after it.
func TestRefusedPacketLeavesEntriesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttd")
	w, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	line := uint64(0x7fffd << lineBits)
	put := func(p Packet) error { return w.Put(1, 0, &p) }
	put(Packet{Kind: Start, Thread: 1, Min: 1})
	put(Packet{Kind: Import, Line: line + 3, Data: &[LineSize]byte{}, Entry: 9})
	if err := put(Packet{Kind: Around, Line: line + 40, Bytes: make([]byte, MaxBytes+1), Entry: 9}); err == nil {
		t.Error("too many bytes were put")
	}
	if err := put(Packet{Kind: Import, Line: line, Data: &[LineSize]byte{}, Entry: maxEntry}); err == nil {
		t.Error("an entry that is too large was put")
	}
	put(Packet{Kind: Import, Line: line + 4, Data: &[LineSize]byte{}, Entry: 9})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, lines := r.Cursor(1), ""
	for {
		p, err := c.Next()
		if err != nil {
			break
		}
		lines += p.String() + "\n"
	}
	if !strings.HasSuffix(lines, "line=0x1ffff43 tlb=9 data=zero\n@0 instr:0 import line=0x1ffff44 tlb=9 data=zero\n") {
		t.Error(lines)
	}
}
