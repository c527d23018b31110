package traces

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// readAll opens a trace and reads every stream, from the start and from each
// key frame. It returns what it read and the first error.
func readAll(b []byte) (map[uint32][][]any, *Reader, error) {
	r, err := open(b)
	if err != nil {
		return nil, nil, err
	}
	got := map[uint32][][]any{}
	for _, n := range streams(r) {
		c := r.Cursor(n)
		l, e := rest(c)
		got[n] = l
		for _, k := range c.KeyFrames() {
			if err := c.Seek(k); err == nil {
				c.Next()
			}
		}
		if err == nil {
			err = e
		}
	}
	return got, r, err
}

// streams returns the numbers of all streams.
func streams(r *Reader) (out []uint32) {
	for n := range r.byStream {
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// isPrefix says whether each stream of got begins a stream of want.
func isPrefix(got, want map[uint32][][]any) error {
	for s, l := range got {
		if len(l) > len(want[s]) || len(l) > 0 && !reflect.DeepEqual(l, want[s][:len(l)]) {
			return fmt.Errorf("stream %d has %d packets that weren't written so", s, len(l))
		}
	}
	return nil
}

// small is the example in several chunks, with what it says.
func small(t testing.TB) ([]byte, map[uint32][][]any) {
	h, entries := example()
	b := write(t, h, entries, func(i int) bool { return i%9 == 8 })
	return b, map[uint32][][]any{0: of(entries, 0), 1: of(entries, 1), FilesStream: of(entries, FilesStream)}
}

func count(m map[uint32][][]any) (n int) {
	for _, l := range m {
		n += len(l)
	}
	return n
}

// A trace cut off at any byte opens up to its last whole chunk, and says so.
func TestCutOffAnywhere(t *testing.T) {
	b, want := small(t)
	whole, r, err := readAll(b)
	if err != nil || !reflect.DeepEqual(whole, want) {
		t.Fatalf("uncut: %v", err)
	}
	start := r.idx.chunks[0].offset
	for n := range len(b) {
		got, cut, err := readAll(b[:n:n])
		if int64(n) < start {
			if err == nil || !strings.Contains(err.Error(), "header") {
				t.Fatalf("cut off at %d, in the header: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut off at %d: %v", n, err)
		}
		if cut.Incomplete() == "" {
			t.Fatalf("cut off at %d, but complete", n)
		}
		packets, safe := 0, uint64(0)
		for _, c := range r.idx.chunks {
			if c.offset+chunkHeaderSize+int64(c.stored) <= int64(n) {
				packets += int(c.packets)
				if c.stream == syncStream {
					safe = c.lastMin
				}
			}
		}
		if count(got) != packets-int(cut.Sizes().Packets[TLB]) || cut.SafeMin() != safe {
			t.Fatalf("cut off at %d: %d packets, safe up to min %d, want %d and %d", n, count(got), cut.SafeMin(), packets, safe)
		}
		if err := isPrefix(got, want); err != nil {
			t.Fatalf("cut off at %d: %v", n, err)
		}
	}
}

// Any bit flipped gives an error or the data as written, with what is missing
// reported; never something else.
func TestEveryBitFlipped(t *testing.T) {
	b, want := small(t)
	for i := range b {
		for bit := range 8 {
			d := bytes.Clone(b)
			d[i] ^= 1 << bit
			got, r, err := readAll(d)
			if e := isPrefix(got, want); e != nil {
				t.Fatalf("bit %d of byte %d: %v", bit, i, e)
			}
			if err == nil && count(got) != count(want) && r.Incomplete() == "" {
				t.Fatalf("bit %d of byte %d: %d packets of %d, and no complaint", bit, i, count(got), count(want))
			}
		}
	}
}

// A recording with any bit flipped opens with an error that names a place, or
// with less than all of it and such a complaint, or reads as it was written.
func TestEveryBitOfARecordingFlipped(t *testing.T) {
	b, err := os.ReadFile(fmt.Sprintf("testdata/version%d.ttd", Version))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := readAll(b)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`offset 0x[0-9a-f]+|header|footer|format version|starts with`)
	step := 1
	if testing.Short() {
		step = 3
	}
	for i := 0; i < 8*len(b); i += step {
		b[i/8] ^= 1 << (i % 8)
		got, r, err := readAll(b)
		b[i/8] ^= 1 << (i % 8)
		if e := isPrefix(got, all); e != nil {
			t.Fatalf("bit %d of byte %d: %v", i%8, i/8, e)
		}
		complaint := ""
		if err != nil {
			complaint = err.Error()
		} else {
			complaint = r.Incomplete()
		}
		if complaint == "" && count(got) != count(all) || complaint != "" && !place.MatchString(complaint) {
			t.Fatalf("bit %d of byte %d: %d packets of %d, complaint %q", i%8, i/8, count(got), count(all), complaint)
		}
	}
}

// Errors name the chunk, where it is, what was expected and found.
func TestErrorsNamePlaces(t *testing.T) {
	b, _ := small(t)
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	n := r.byStream[1][len(r.byStream[1])-1] // of a thread
	c := r.idx.chunks[n]
	damaged := func(change func(d []byte)) string {
		d := bytes.Clone(b)
		change(d)
		_, r, err := readAll(d)
		if err == nil {
			return r.Incomplete()
		}
		return err.Error()
	}
	reseal := func(d []byte) {
		h := d[c.offset:]
		binary.LittleEndian.PutUint64(h[64:], xxh3.Hash(h[:64]))
	}
	place := fmt.Sprintf("chunk %d at offset %#x: ", n, c.offset)
	for what, x := range map[string]struct {
		change func(d []byte)
		want   string
	}{
		"payload":  {func(d []byte) { d[c.offset+chunkHeaderSize] ^= 1 }, place + "checksum"},
		"header":   {func(d []byte) { d[c.offset+20] ^= 1 }, place + "header: checksum"},
		"magic":    {func(d []byte) { d[c.offset] ^= 1 }, place + "magic"},
		"swapped":  {func(d []byte) { d[c.offset+24]++; reseal(d) }, place + "header {"},
		"version":  {func(d []byte) { d[4] = 9 }, "format version 9, expected 1 to 3"},
		"no trace": {func(d []byte) { copy(d, "\x7fELF") }, "this is not a trace"},
		"length": {func(d []byte) {
			binary.LittleEndian.PutUint32(d[c.offset+16:], MaxChunkRaw+1)
			reseal(d)
			copy(d[len(d)-footerSize:], "gone") // so that the chunks are scanned
		}, place + "length 1048577, maximum 1048576"},
		"index": {func(d []byte) { d[len(d)-footerSize-1] ^= 1 }, "checksum"},
	} {
		if got := damaged(x.change); !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want it to contain %q", what, got, x.want)
		}
	}
}

// A chunk that claims to be big, or is a decompression bomb, takes no memory.
func TestClaimsAreBounded(t *testing.T) {
	enc := newEncoder()
	bomb := enc.EncodeAll(make([]byte, 200<<20), nil)
	head, err := (&Header{}).encode()
	if err != nil {
		t.Fatal(err)
	}
	h := chunkHeader{stream: 1, raw: MaxChunkRaw, stored: uint32(len(bomb)), packets: 1, sum: xxh3.Hash(bomb)}
	b := append(h.encode(head), bomb...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := open(b)
	runtime.ReadMemStats(&after)
	if err != nil || !strings.Contains(r.Incomplete(), "decompressing") {
		t.Errorf("a bomb: %v, %q", err, r.Incomplete())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
		t.Errorf("a bomb took %d bytes", n)
	}
}

// A recording that was never closed is found under the name it was to have.
func TestUnfinishedRecordingOpens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttd")
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	h, entries := example()
	w, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if err := w.Put(entries[i].stream, entries[i].p.Count, &entries[i].p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Path() != path+IncompleteSuffix || !strings.Contains(r.Incomplete(), "no footer") {
		t.Errorf("%s: %q", r.Path(), r.Incomplete())
	}
	got, err := rest(r.Cursor(1))
	if err != nil || !reflect.DeepEqual(got, of(entries, 1)) {
		t.Errorf("%d packets, %v", len(got), err)
	}
}

// FuzzOpen reads whatever bytes.
func FuzzOpen(f *testing.F) {
	b, _ := small(f)
	f.Add(b)
	f.Add(b[:len(b)-40])
	f.Add([]byte(fileMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		readAll(b)
	})
}

// FuzzPackets decodes whatever bytes as a chunk's payload, without the
// checksums that protect it in a file. What decodes must be encoded so that it
// decodes to the same.
func FuzzPackets(f *testing.F) {
	_, entries := example()
	cs := map[uint32]*coder{0: {}, 1: {}, FilesStream: {}}
	raw := map[uint32][]byte{}
	for i := range entries {
		e := &entries[i]
		c := cs[e.stream]
		e.p.Delta = e.p.Count - c.count
		c.count = e.p.Count
		raw[e.stream], _ = c.appendPacket(raw[e.stream], e.stream, &e.p)
	}
	for stream, b := range raw {
		f.Add(b, stream)
	}
	f.Fuzz(func(t *testing.T, b []byte, stream uint32) {
		read := func(b []byte) (list [][]any, out []byte) {
			d := decoder{b: b, chunk: stream}
			var c coder
			var p Packet
			for d.off < len(b) {
				if d.next(&p) != nil {
					break
				}
				p.AppendText(nil)
				list = append(list, value(&p))
				var err error
				if out, err = c.appendPacket(out, stream, &p); err != nil {
					t.Fatalf("%v decodes but doesn't encode: %v", &p, err)
				}
			}
			return list, out
		}
		first, out := read(b)
		second, _ := read(out)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%v\nencodes to\n%v", first, second)
		}
	})
}

// FuzzHeader and the index decode whatever bytes behind a good checksum.
func FuzzHeader(f *testing.F) {
	h, _ := example()
	b, _ := h.encode()
	f.Add(b[:len(b)-headerTrailer])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
		if len(b) < headerFixed+headerTrailer {
			return
		}
		if n, err := headerSize(b); err == nil && n == int64(len(b)) {
			decodeHeader(b)
		}
	})
}

func FuzzIndex(f *testing.F) {
	b, _ := small(f)
	r, err := open(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.idx.encode())
	f.Fuzz(func(t *testing.T, b []byte) { decodeIndex(b, 100) })
}
