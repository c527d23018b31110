package replay

import (
	"bytes"
	"testing"
)

func TestMemoryForkIsIndependent(t *testing.T) {
	m := NewMemory()
	const at = 0x7fff_ffff_e03c // straddles two lines
	m.Write(at, []byte("abcdefgh"))
	f := m.Fork()
	m.Write(at, []byte("ABCD"))
	f.Write(at+4, []byte("1234"))
	got := func(m *Memory) string {
		b := make([]byte, 8)
		if n := m.Read(at, b); n != 8 {
			t.Fatalf("read %d bytes, want 8", n)
		}
		return string(b)
	}
	if g := got(m); g != "ABCDefgh" {
		t.Errorf("original holds %q", g)
	}
	if g := got(f); g != "abcd1234" {
		t.Errorf("fork holds %q", g)
	}
	g := f.Fork()
	f.Write(at, []byte("x"))
	if s := got(g); s != "abcd1234" {
		t.Errorf("second fork holds %q", s)
	}
}

func TestMemoryKnowsOnlyWhatCameIn(t *testing.T) {
	m := NewMemory()
	if m.Line(0x1000>>6) != nil {
		t.Error("an empty memory knows a line")
	}
	m.Write(0x1000, make([]byte, 64))
	b := bytes.Repeat([]byte{1}, 100)
	if n := m.Read(0x1000, b); n != 64 {
		t.Errorf("read %d known bytes, want 64", n)
	}
	if n := m.Read(1<<63, b); n != 0 {
		t.Errorf("read %d bytes outside of the address space", n)
	}
	var pages []uint64
	m.Write(0x7fff_0000_0000, []byte{1})
	m.Pages(func(num uint64, _ *[PageSize]byte, known uint64) bool {
		pages = append(pages, num)
		if known != 1 {
			t.Errorf("page %#x: known %#x, want 1", num, known)
		}
		return true
	})
	if len(pages) != 2 || pages[0] != 1 || pages[1] != 0x7fff_0000_0 {
		t.Errorf("pages %#x", pages)
	}
	m.Forget()
	if m.Line(0x1000>>6) != nil {
		t.Error("a line is known after Forget")
	}
}

func BenchmarkMemoryFork(b *testing.B) {
	m := NewMemory()
	for i := range uint64(1000) {
		m.Write(i<<PageShift, []byte{1})
	}
	b.ReportAllocs()
	for b.Loop() {
		f := m.Fork()
		f.Write(0x5000, []byte{2})
	}
}
