package traces

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite golden files and the tables in docs")

// drawEntries draws packets of all kinds in several streams.
func drawEntries(t *rapid.T) []entry {
	var inThread, inProcess, inFiles []Kind
	for _, k := range Kinds() {
		if k.Form == 0 && k.Where.allows(1) {
			inThread = append(inThread, k.Kind)
		}
		if k.Form == 0 && k.Where.allows(0) {
			inProcess = append(inProcess, k.Kind)
		}
		if k.Form == 0 && k.Where.allows(FilesStream) {
			inFiles = append(inFiles, k.Kind)
		}
	}
	counts, min := map[uint32]uint64{}, uint64(0)
	n := rapid.IntRange(0, 60).Draw(t, "packets")
	entries := make([]entry, n)
	for i := range entries {
		e := &entries[i]
		e.stream = rapid.SampledFrom([]uint32{0, 1, 2, 700, FilesStream}).Draw(t, "stream")
		kinds := inThread
		switch e.stream {
		case 0:
			kinds = inProcess
		case FilesStream:
			kinds = inFiles
		default:
			counts[e.stream] += rapid.Uint64().Draw(t, "delta") >> rapid.IntRange(8, 63).Draw(t, "shift")
		}
		e.p.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		e.p.Count = counts[e.stream]
		if e.p.Kind.HasMin() {
			min += rapid.Uint64Range(1, 1000).Draw(t, "min")
			e.p.Min = min
		}
		fill(t, &e.p)
	}
	return entries
}

// What is put in is read back: every packet, from the start and from every key
// frame, in every stream, whatever the chunks.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := drawEntries(rt)
		flushes := rapid.SliceOfN(rapid.Bool(), len(entries), len(entries)).Draw(rt, "flushes")
		r, err := open(write(t, Header{}, entries, func(i int) bool { return flushes[i] }))
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		if s := r.Incomplete(); s != "" {
			rt.Fatalf("incomplete: %s", s)
		}
		packets := 0
		for _, s := range r.Streams() {
			want := of(entries, s.Stream)
			n, last := 0, uint64(0)
			for i := range entries {
				if entries[i].stream == s.Stream {
					n, last = n+1, entries[i].p.Count
				}
			}
			packets += n
			if s.Packets != uint64(n) || s.LastCount != last {
				rt.Fatalf("stream %d: %+v for %d packets", s.Stream, s, n)
			}
			c := r.Cursor(s.Stream)
			got, err := rest(c)
			if err != nil {
				rt.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("stream %d:\n%v\nwant\n%v", s.Stream, got, want)
			}
			checkKeyFrames(rt, c, want)
		}
		files, err := rest(r.Cursor(FilesStream))
		if want := of(entries, FilesStream); err != nil || !reflect.DeepEqual(files, want) {
			rt.Fatalf("files: %v, %v\nwant\n%v", files, err, want)
		}
		if packets += len(files); packets != len(entries) {
			rt.Fatalf("%d packets in all streams, want %d", packets, len(entries))
		}
		sizes := r.Sizes()
		if n, _ := sizes.Total(); n != uint64(packets) {
			rt.Fatalf("%d packets in the statistics, want %d", n, packets)
		}
	})
}

func checkKeyFrames(t *rapid.T, c *Cursor, want [][]any) {
	keys := 0
	for i, p := range want {
		if p[0] != Start && p[0] != KeyFrame {
			continue
		}
		k := c.KeyFrames()[keys]
		keys++
		if k.Kind != p[0] || k.Count != p[1] {
			t.Fatalf("key frame %d is %+v, want %v", keys, k, p)
		}
		if err := c.Seek(k); err != nil {
			t.Fatal(err)
		}
		got, err := rest(c)
		if err != nil {
			t.Fatal(err)
		}
		got[0][2] = want[i][2] // a TLB packet may be between it and the one before
		if !reflect.DeepEqual(got, want[i:]) {
			t.Fatalf("from %+v:\n%v\nwant\n%v", k, got, want[i:])
		}
		if f, err := c.SeekKeyFrame(k.Count); err != nil || f.Count != k.Count {
			t.Fatalf("SeekKeyFrame(%d): %+v, %v", k.Count, f, err)
		}
		if k.Count > 0 && keys == 1 {
			if _, err := c.SeekKeyFrame(k.Count - 1); err == nil {
				t.Fatalf("a key frame before the first")
			}
		}
	}
	if keys != len(c.KeyFrames()) {
		t.Fatalf("%d key frames, want %d", len(c.KeyFrames()), keys)
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	h, entries := example()
	r, err := open(write(t, h, entries, never))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header(); !reflect.DeepEqual(got, h) {
		t.Errorf("%+v\nwant %+v", got, h)
	}
	// Every field of the example is set, so that none is missing in the table.
	v := reflect.ValueOf(h)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the example leaves %s out", v.Type().Field(i).Name)
		}
	}
}

func TestEveryKindInExample(t *testing.T) {
	_, entries := example()
	r, err := open(write(t, Header{}, entries, never))
	if err != nil {
		t.Fatal(err)
	}
	sizes := r.Sizes()
	for _, k := range Kinds() {
		if sizes.Packets[k.Kind] == 0 {
			t.Errorf("no %v packet", k.Kind)
		}
	}
}

func TestPacketTextGolden(t *testing.T) {
	_, entries := example()
	r, err := open(write(t, Header{}, entries, never))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range r.Streams() {
		c := r.Cursor(s.Stream)
		for p, err := c.Next(); err != io.EOF; p, err = c.Next() {
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(p.String() + "\n")
		}
	}
	const name = "testdata/packets.golden"
	if *update {
		os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("text differs from %s (go test -update rewrites it):\n%s", name, b.String())
	}
}

// big returns enough packets for many chunks in three streams.
func big() []entry {
	var entries []entry
	line := [LineSize]byte{}
	x := uint64(1)
	for i := range 30000 {
		for j := range line {
			x = x*6364136223846793005 + 1442695040888963407
			line[j] = byte(x >> 56)
		}
		d := line
		s := uint32(1 + i%3)
		if i%5000 < 3 {
			entries = append(entries, entry{s, Packet{Kind: KeyFrame, Count: uint64(i), Min: uint64(i), State: []byte{byte(i)}}})
		}
		entries = append(entries, entry{s, Packet{Kind: Import, Count: uint64(i), Line: x >> 22, Data: &d}})
	}
	return entries
}

func TestSameInputGivesSameBytes(t *testing.T) {
	entries := big()
	a := write(t, Header{}, entries, func(i int) bool { return i%7000 == 0 })
	b := write(t, Header{}, entries, func(i int) bool {
		if i%100 == 0 {
			runtime.Gosched() // other timing
		}
		return i%7000 == 0
	})
	if !bytes.Equal(a, b) {
		t.Error("two writes of the same packets differ")
	}
}

func TestCursorsReadConcurrently(t *testing.T) {
	entries := big()
	r, err := open(write(t, Header{}, entries, never))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.idx.chunks); n < 6 {
		t.Fatalf("%d chunks: too few for this test", n)
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			got, err := rest(r.Cursor(uint32(1 + i%3)))
			if want := of(entries, uint32(1+i%3)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("cursor %d: %d packets of %d, %v", i, len(got), len(want), err)
			}
		}()
	}
	wg.Wait()
}

func TestCloneIsIndependent(t *testing.T) {
	_, entries := example()
	r, err := open(write(t, Header{}, entries, never))
	if err != nil {
		t.Fatal(err)
	}
	want := of(entries, 1)
	c := r.Cursor(1)
	if c.Packet() != nil || c.Clone().Packet() != nil {
		t.Error("a packet before the first Next")
	}
	for i := range want {
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
		d := c.Clone()
		got, err := rest(c.Clone())
		if err != nil || len(got) != len(want)-i-1 || len(got) > 0 && !reflect.DeepEqual(got, want[i+1:]) {
			t.Fatalf("clone after packet %d reads %v, %v", i, got, err)
		}
		e := c.Clone()
		e.Next() // must not disturb the others' packets
		if !reflect.DeepEqual(value(d.Packet()), want[i]) || !reflect.DeepEqual(value(c.Packet()), want[i]) {
			t.Fatalf("packet %d of the clone is %v, want %v", i, d.Packet(), want[i])
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	r, err := open(write(t, Header{}, big(), never))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cursor(1)
	c.Next()
	if n := testing.AllocsPerRun(1000, func() { c.Next() }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

func TestPutRejected(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a"), Header{})
	if err != nil {
		t.Fatal(err)
	}
	line := &[LineSize]byte{}
	good := func(stream uint32, count uint64, p Packet) {
		t.Helper()
		if err := w.Put(stream, count, &p); err != nil {
			t.Error(err)
		}
	}
	bad := func(want string, stream uint32, count uint64, p Packet) {
		t.Helper()
		if err := w.Put(stream, count, &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	good(1, 10, Packet{Kind: Order, Min: 5})
	bad("count 9 after one at 10", 1, 9, Packet{Kind: Order, Min: 6})
	bad("min 4 after 5", 1, 10, Packet{Kind: Order, Min: 4})
	bad("without data", 1, 10, Packet{Kind: Import})
	bad("map packet put in stream 1", 1, 10, Packet{Kind: Map})
	bad("order packet put in stream 0", 0, 0, Packet{Kind: Order})
	bad("import-zero packet put", 1, 10, Packet{Kind: importZero})
	bad("kind(99)", 1, 10, Packet{Kind: 99})
	bad("maximum 65536", 1, 10, Packet{Kind: Context, State: make([]byte, MaxBytes+1)})
	bad("maximum 8192", 0, 0, Packet{Kind: Shared, Lines: make([]LineRange, MaxItems+1)})
	bad("maximum 16384", 0, 0, Packet{Kind: Mark, Name: strings.Repeat("x", MaxString+1)})
	bad("maximum 1048575", MaxStreams, 0, Packet{Kind: Order})
	bad("at count 1", 0, 1, Packet{Kind: Mark})
	if err := w.PutImport(0, 0, 1, line); err == nil {
		t.Error("an import in stream 0")
	}
	if err := w.PutImport(1, 3, 1, line); err == nil {
		t.Error("an import at an earlier count")
	}
	if w.PutOrder(0, 0, 9) == nil || w.PutOrder(1, 9, 9) == nil || w.PutOrder(1, 10, 4) == nil {
		t.Error("an order packet in stream 0, at an earlier count, or with an earlier min")
	}
	good(1, 11, Packet{Kind: Order, Min: 6})
	if _, err := Create(filepath.Join(dir, "a"), Header{}); err == nil || !strings.Contains(err.Error(), "another recording") {
		t.Errorf("a second writer of one file: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Close() == nil || w.Flush() == nil || w.Put(1, 12, &Packet{Kind: Order, Min: 9}) == nil || w.Abort() == nil {
		t.Error("a closed writer goes on")
	}
	r, err := Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := rest(r.Cursor(1)); err != nil || len(got) != 2 {
		t.Errorf("%d packets, %v: what was rejected left traces", len(got), err)
	}
}

func TestWriteErrorIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	w, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.f.Close() // as a full disk: every write fails
	w.Put(1, 0, &Packet{Kind: Start, Min: 1})
	w.Flush()
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "writing chunk 0 at offset") {
		t.Errorf("%v, want an error that names the chunk", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the trace has its final name: %v", err)
	}
}

func TestManyStreamsAreCutTogether(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "a"), Header{})
	if err != nil {
		t.Fatal(err)
	}
	state := make([]byte, 60000)
	for s := range uint32(1500) {
		if err := w.Put(s+1, 0, &Packet{Kind: Start, Min: uint64(s), State: state}); err != nil {
			t.Fatal(err)
		}
		if w.held > maxBuffered+maxPacket {
			t.Fatalf("%d bytes held, maximum %d", w.held, maxBuffered)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// The short cuts write what Put writes.
func TestShortCutsWriteTheSame(t *testing.T) {
	line := &[LineSize]byte{1, 2, 3}
	made := func(import_, order func(w *Writer) error) []byte {
		path := filepath.Join(t.TempDir(), "a")
		w, err := Create(path, Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(import_(w), order(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a := made(func(w *Writer) error { return w.Put(1, 5, &Packet{Kind: Import, Line: 1 << 40, Data: line}) },
		func(w *Writer) error { return w.Put(1, 500, &Packet{Kind: Order, Min: 1 << 33}) })
	b := made(func(w *Writer) error { return w.PutImport(1, 5, 1<<40, line) },
		func(w *Writer) error { return w.PutOrder(1, 500, 1<<33) })
	if !bytes.Equal(a, b) {
		t.Error("the files differ")
	}
}

// What a Writer that is never closed has handed on is enough to replay all
// threads up to SafeMin.
func TestWriterFlushesByItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	w, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	min := uint64(0)
	for s := range uint32(5) {
		min++
		if err := w.Put(s+1, 0, &Packet{Kind: Start, Min: min, State: []byte{1}}); err != nil {
			t.Fatal(err)
		}
	}
	var line [LineSize]byte
	for i := range uint64(100000) {
		for j := range line {
			line[j] = byte(i>>8) + byte(j)*byte(i) + 1
		}
		min++
		if err := errors.Join(w.PutImport(1, i, i, &line), w.PutOrder(1, i, min)); err != nil {
			t.Fatal(err)
		}
	}
	w.stop() // as if killed
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.Streams()) != 5 || r.SafeMin() < min/2 || r.Incomplete() == "" {
		t.Errorf("%d streams, safe up to %d of %d, %q", len(r.Streams()), r.SafeMin(), min, r.Incomplete())
	}
}
