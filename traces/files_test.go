package traces

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
)

// Files come back byte for byte, whatever their sizes, and read from anywhere;
// of one that isn't there to the end it is known that it isn't.
func TestFilesComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttd")
	w, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(1))
	sizes := []int64{1, contentSize - 1, contentSize, contentSize + 1, 1<<20 + 7}
	var want [][]byte
	for i, n := range sizes {
		b := make([]byte, n)
		rnd.Read(b[:n/2])
		want = append(want, b)
		f := FileInfo{Path: fmt.Sprint("/f", i), BuildID: "01", ModTime: int64(i)}
		if f.Hash, f.Size, err = HashFile(bytes.NewReader(b)); err != nil || f.Size != n {
			t.Fatal(err, f.Size)
		}
		if err := w.PutFile(f, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		if err := w.Put(1, uint64(i), &Packet{Kind: Split}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.PutFile(FileInfo{Path: "/named", Size: 5}, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.PutFile(FileInfo{Path: "/shrunk", Size: 5}, bytes.NewReader([]byte("abc"))); err == nil {
		t.Error("a file that is shorter than it was is put without complaint")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files, err := r.Files()
	if err != nil || len(files) != len(sizes)+2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, b := range want {
		f := files[i]
		got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
		if err != nil || !bytes.Equal(got, b) || !f.Embedded() {
			t.Errorf("file of %d bytes: %d bytes, %v, embedded %v", len(b), len(got), err, f.Embedded())
		}
		for range 20 {
			off := rnd.Int63n(f.Size + 1)
			part := make([]byte, rnd.Int63n(2*contentSize))
			n, err := f.ReadAt(part, off)
			if k := min(int64(len(part)), f.Size-off); int64(n) != k || !bytes.Equal(part[:n], b[off:off+k]) || (err == io.EOF) != (n < len(part)) {
				t.Fatalf("%d bytes at %d of %d: %d, %v", len(part), off, f.Size, n, err)
			}
		}
	}
	for _, f := range files[len(sizes):] {
		if f.Embedded() {
			t.Errorf("%s counts as embedded", f.Path)
		}
	}
	if s := r.Streams(); len(s) != 1 || s[0].Stream != 1 {
		t.Errorf("streams %v, expected thread 1's only", s)
	}
}

// A folder in the way is noticed before anything is recorded.
func TestFolderInTheWay(t *testing.T) {
	dir := t.TempDir()
	if w, err := Create(dir, Header{}); err == nil || !strings.Contains(err.Error(), dir+" is a folder") {
		t.Errorf("%v, %v; expected that it is a folder", w, err)
	}
}
