package traces

import (
	"encoding/binary"
	"io"
	"path/filepath"
	"testing"
)

// likely fills a line with what memory often holds: small numbers, pointers
// into few regions, text, zeros.
func likely(x *uint64, d *[LineSize]byte) {
	*x = *x*6364136223846793005 + 1442695040888963407
	r := *x >> 40
	for j := 0; j < LineSize; j += 8 {
		var v uint64
		switch r & 3 {
		case 0:
			v = r >> 4 & 0xff
		case 1:
			v = 0x7ffff7d00000 + r&0xfff0
		case 2:
			copy(d[j:], "the text")
			continue
		}
		binary.LittleEndian.PutUint64(d[j:], v)
		r = r>>1 | r<<23
	}
}

func BenchmarkPutImport(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "a"), Header{})
	if err != nil {
		b.Fatal(err)
	}
	x, n := uint64(1), uint64(0)
	var d [LineSize]byte
	for b.Loop() {
		n++
		likely(&x, &d)
		w.PutImport(uint32(1+n>>16&3), n>>18<<16+n&0xffff, n&0xffff, &d)
	}
	b.SetBytes(LineSize)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	_, raw := w.idx.sizes.Total()
	b.ReportMetric(float64(raw)/float64(w.offset), "ratio")
}

func BenchmarkNext(b *testing.B) {
	var entries []entry
	x := uint64(1)
	for i := range uint64(100000) {
		var d [LineSize]byte
		likely(&x, &d)
		entries = append(entries, entry{1, Packet{Kind: Import, Count: i, Line: i, Data: &d}})
	}
	r, err := open(write(b, Header{}, entries, never))
	if err != nil {
		b.Fatal(err)
	}
	c := r.Cursor(1)
	for b.Loop() {
		if _, err := c.Next(); err == io.EOF {
			clear(r.cache)
			c.Rewind()
		}
	}
	b.SetBytes(LineSize)
}

func BenchmarkOpen(b *testing.B) {
	t, _ := small(b)
	for b.Loop() {
		r, err := open(t)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}
