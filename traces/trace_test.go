package traces

import (
	"io"
	"path/filepath"
	"testing"
)

func TestSmallTraceRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttd")
	w, err := Create(path, Header{Arch: "x86-64", Seed: 7, Argv: []string{"a", "\xff"}})
	if err != nil {
		t.Fatal(err)
	}
	put := func(stream uint32, count uint64, p Packet) {
		t.Helper()
		if err := w.Put(stream, count, &p); err != nil {
			t.Fatal(err)
		}
	}
	put(1, 0, Packet{Kind: Start, Thread: 1, Min: 1, State: make([]byte, 100)})
	put(1, 3, Packet{Kind: Import, Line: 0x1000, Data: &[64]byte{1, 2, 3}})
	put(1, 4, Packet{Kind: Import, Line: 0x1001, Data: &[64]byte{}})
	put(1, 9, Packet{Kind: SyscallEnter, Min: 2, Nr: 60, Args: [6]uint64{1, 2, 3, 4, 5, 6}, Objs: []Object{{1, 2}}})
	put(1, 9, Packet{Kind: KeyFrame, Min: 2, State: []byte{1}})
	put(0, 0, Packet{Kind: ProcessExit, Min: 3, Status: -1, Total: 9})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Incomplete() != "" {
		t.Error(r.Incomplete())
	}
	for _, s := range r.Streams() {
		t.Logf("%+v", s)
		c := r.Cursor(s.Stream)
		for {
			p, err := c.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Log(p)
		}
		t.Log(c.SeekKeyFrame(100))
		t.Log(c.Next())
	}
}
