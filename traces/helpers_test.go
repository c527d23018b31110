package traces

import (
	"bytes"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// entry is a packet and the stream it is in.
type entry struct {
	stream uint32
	p      Packet
}

// value is what a packet says, comparable whatever its lists' arrays.
func value(p *Packet) []any {
	v := []any{p.Kind, p.Count, p.Delta}
	for _, f := range kindTable[p.Kind].Fields {
		x := reflect.ValueOf(f.ptr(p)).Elem()
		switch {
		case x.Kind() == reflect.Slice && x.Len() == 0:
			v = append(v, "empty")
		case x.Kind() == reflect.Slice: // the packet will be reused
			v = append(v, reflect.AppendSlice(reflect.MakeSlice(x.Type(), 0, x.Len()), x).Interface())
		case x.Kind() == reflect.Pointer:
			v = append(v, x.Elem().Interface())
		default:
			v = append(v, x.Interface())
		}
	}
	return v
}

// fill draws the fields of a packet.
func fill(t *rapid.T, p *Packet) {
	num := rapid.Custom(func(t *rapid.T) uint64 {
		return rapid.Uint64().Draw(t, "x") >> rapid.IntRange(0, 63).Draw(t, "shift")
	})
	for _, f := range kindTable[p.Kind].Fields {
		if f == fMin {
			continue // ascending: the caller's
		}
		switch v := f.ptr(p).(type) {
		case *uint64:
			*v = num.Draw(t, f.Name)
		case *uint32:
			*v = uint32(num.Draw(t, f.Name))
		case *uint8:
			*v = uint8(num.Draw(t, f.Name))
		case *bool:
			*v = rapid.Bool().Draw(t, f.Name)
		case *int64:
			*v = int64(num.Draw(t, f.Name))
		case *int32:
			*v = int32(num.Draw(t, f.Name))
		case *[6]uint64:
			for i := range v {
				v[i] = num.Draw(t, f.Name)
			}
		case *[]byte:
			*v = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, f.Name)
		case **[LineSize]byte:
			*v = new([LineSize]byte)
			for i := range rapid.SampledFrom([]int{0, 1, 8, 31, 32, 33, 63, 64}).Draw(t, "bytes") {
				(*v)[(i*37)%LineSize] = byte(1 + rapid.IntRange(0, 254).Draw(t, "byte"))
			}
		case *string:
			*v = string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, f.Name))
		case *[]uint64:
			*v = rapid.SliceOfN(num, 0, 5).Draw(t, f.Name)
		case *[]Object:
			*v = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Object {
				return Object{uint8(num.Draw(t, "kind")), num.Draw(t, "id")}
			}), 0, 3).Draw(t, f.Name)
		case *[]Range:
			*v = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
				return Range{num.Draw(t, "addr"), num.Draw(t, "n")}
			}), 0, 3).Draw(t, f.Name)
		case *[]LineRange:
			*v = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) LineRange {
				return LineRange{num.Draw(t, "first"), num.Draw(t, "n")}
			}), 0, 3).Draw(t, f.Name)
		case *[]Counter:
			*v = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Counter {
				return Counter{rapid.String().Draw(t, "name"), num.Draw(t, "value")}
			}), 0, 3).Draw(t, f.Name)
		default:
			t.Fatalf("field %s of type %T", f.Name, v)
		}
	}
	partOf(p)
}

// partOf makes a Part hold as many bytes as its mask says, and a TLB packet what
// is possible.
func partOf(p *Packet) {
	switch p.Kind {
	case Part:
		p.Bytes = bytes.Repeat([]byte{7}, bits.OnesCount64(p.Mask))
	case TLB:
		p.Entry, p.N = p.Entry%(maxEntry-1)+1, p.N>>lineBits
	}
}

// write makes a trace of the entries; flush says after which to flush.
func write(t testing.TB, h Header, entries []entry, flush func(i int) bool) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.ttd")
	w, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		e := &entries[i]
		if err := w.Put(e.stream, e.p.Count, &e.p); err != nil {
			t.Fatal(err)
		}
		if flush(i) {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func never(int) bool { return false }

// open opens a trace in memory.
func open(b []byte) (*Reader, error) { return NewReader(bytes.NewReader(b), int64(len(b))) }

// rest reads a cursor to its end or an error other than io.EOF.
func rest(c *Cursor) ([][]any, error) {
	var r [][]any
	for {
		p, err := c.Next()
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return r, err
		}
		r = append(r, value(p))
	}
}

// of returns what the entries of one stream say, without TLB packets, which a
// Writer adds to where chunks need them.
func of(entries []entry, stream uint32) [][]any {
	var r [][]any
	skipped := uint64(0)
	for i := range entries {
		p := &entries[i].p
		if entries[i].stream != stream {
			continue
		}
		skipped += p.Delta
		if p.Kind != TLB {
			v := value(p)
			v[2], skipped = skipped, 0
			r = append(r, v)
		}
	}
	return r
}

// example is a small trace with a packet of every kind, and two of some.
func example() (Header, []entry) {
	h := Header{Arch: "x86-64", CPULevel: "x86-64-v2", ReadLog: "cache", MemoryModel: "fence", CodeLog: "line", LogMode: "independent",
		Cores: 4, Seed: 1, Schedule: "random", Clock: "virtual", Hardware: "cores=4 line=64", KeyEvery: 1000, HashEvery: 100,
		Program: "./a", Argv: []string{"a", "", "\xff\n"}, Dir: "/", Ring: "64M", Select: "a*", ExePath: "/a", ExeSize: 5, ExeModTime: -1, ExeBuildID: "0a", PID: 2, Parent: 1, ForkThread: 4, ForkMin: 3,
		Extra: []Pair{{"later", "field"}}}
	mapped := []entry{
		{0, Packet{Kind: Map, Min: 1, Addr: 0x400000, N: 0x2000, Prot: 5, Path: "/bin/a", Offset: 0x1000}},
		{0, Packet{Kind: Map, Min: 1, Addr: 0x500000, N: 0x1000, Prot: 3, Shared: true, Alias: 1, AliasOffset: 0x1000}},
		{0, Packet{Kind: Module, Min: 1, Path: "/bin/a", Addr: 0x400000, BuildID: "c0ffee", Size: 8000, ModTime: 1700000000e9}},
		{0, Packet{Kind: Code, Min: 1, Addr: 0x400000, Bytes: bytes.Repeat([]byte{0x90}, 4096)}},
		{0, Packet{Kind: CodePage, Min: 1, Addr: 0x401000, Hash: 77}},
		{0, Packet{Kind: CodeOwn, Min: 1, Addr: 0x7fff00001000}},
		{0, Packet{Kind: CodeLines, Line: 0x10041, Bytes: bytes.Repeat([]byte{0xcc}, 128)}},
		{0, Packet{Kind: Snapshot, Min: 1, Addr: 0x500000, Bytes: []byte("snap")}},
	}
	thread := []entry{
		{1, Packet{Kind: Start, Thread: 1, Min: 1, State: bytes.Repeat([]byte{1, 0}, 60)}},
		{1, Packet{Kind: Switch, Min: 2, Unit: 3, In: true}},
		{1, Packet{Kind: Import, Count: 1, Line: 0x1ffff40, Data: &[64]byte{0: 1, 63: 0xff}}},
		{1, Packet{Kind: Import, Count: 1, Line: 0x1ffff41, Data: &[64]byte{}}},
		{1, Packet{Kind: Import, Count: 4, Line: 0x10000, Data: (*[64]byte)(bytes.Repeat([]byte("racesim!"), 8))}},
		{1, Packet{Kind: Order, Count: 20, Min: 3}},
		{1, Packet{Kind: Nondet, Count: 25, What: 2, Regs: []uint64{0, 0xffffffff}}},
		{1, Packet{Kind: Fault, Count: 30, Vector: 14, Addr: 0xdead000, Code: 6}},
		{1, Packet{Kind: Signal, Count: 30, Min: 4, Signo: 11, Code: 1, Addr: 0xdead000, Thread: 1, State: []byte{9}}},
		{1, Packet{Kind: Context, Count: 40, State: []byte{8}}},
		{1, Packet{Kind: SyscallEnter, Count: 100, Min: 5, Nr: 202, Args: [6]uint64{0x7fff0000, 1, 1}, Objs: []Object{{1, 0x7fff0000}}}},
		{1, Packet{Kind: SyscallExit, Count: 101, Min: 7, Nr: 202, Ret: 1, Objs: []Object{{1, 0x7fff0000}}, Reads: []Range{{0x7fff0000, 4}}, Writes: []Range{{0x1000, 8}, {0xf00, 1}}}},
		{1, Packet{Kind: Hash, Count: 200, Hash: 0x0123456789abcdef}},
		{1, Packet{Kind: KeyFrame, Count: 200, Min: 7, State: []byte{7}}},
		{1, Packet{Kind: Split, Count: 210}},
		{1, Packet{Kind: Rep, Count: 220, Iter: 17}},
		{1, Packet{Kind: Read, Count: 221, Skip: 2, Value: 0x5555}},
		{1, Packet{Kind: Part, Count: 222, Line: 0x1ffff41, Mask: 0x81, Own: 0x100, Bytes: []byte{3, 4}}},
		{1, Packet{Kind: Page, Count: 223, N: 0x7fff, Mask: ^uint64(1), Bytes: bytes.Repeat([]byte{5}, 64)}},
		{1, Packet{Kind: PageFrom, Count: 224, N: 0x7fff, Thread: 2, Value: 8}},
		{1, Packet{Kind: Fetch, Count: 226, Line: 0x1ffff43, Thread: 2, Since: 6}},
		{1, Packet{Kind: Memory, Count: 226, Line: 0x1ffff44, Value: 3}},
		{1, Packet{Kind: Snoop, Count: 226, Line: 0x1ffff45, Thread: 2, Value: 2}},
		{1, Packet{Kind: SnoopOwn, Count: 226, Line: 0x1ffff46, Thread: 3, Value: 1}},
		{1, Packet{Kind: Upgrade, Count: 226, Line: 0x1ffff45, Thread: 3, Value: 1}},
		{1, Packet{Kind: FetchOwn, Count: 227, Line: 0x1ffff43, Thread: 1, Since: 7}},
		{1, Packet{Kind: FetchAs, Count: 227, Line: 0x1ffff47, Thread: 2, Since: 6, Value: 0x2ffff47, In: true}},
		{1, Packet{Kind: Around, Count: 228, Line: 0x1ffff3f, Bytes: bytes.Repeat([]byte{6}, 64)}},
		{1, Packet{Kind: TLB, Count: 228, Entry: 3, N: 0x7fffd}},
		{1, Packet{Kind: TLB, Count: 228, Entry: 0xabcdef12, N: 0x7ffff, Alias: 2}},
		{1, Packet{Kind: Import, Count: 228, Line: 0x7fffd << 6, Data: &[64]byte{}, Entry: 3}},
		{1, Packet{Kind: Import, Count: 228, Line: 0x7fffd<<6 + 1, Data: &[64]byte{1: 1}, Entry: 3}},
		{1, Packet{Kind: Import, Count: 228, Line: 0x7ffff<<6 + 63, Data: &[64]byte{}, Entry: 0xabcdef12, Alias: 2}},
		{1, Packet{Kind: Upgrade, Count: 228, Line: 0x10000, Thread: 3, Value: 1}},
		{1, Packet{Kind: TLB, Count: 228, Entry: 3, N: 0x7fff0}},
		{1, Packet{Kind: Fetch, Count: 228, Line: 0x7fff0<<6 + 5, Thread: 2, Since: 6, Entry: 3}},
		{1, Packet{Kind: Gap, Count: 229}},
		{1, Packet{Kind: Mark, Name: "user", Count: 230, Value: 5, Bytes: []byte("here")}},
		{1, Packet{Kind: Exit, Count: 250, Min: 9, Status: -1, Addr: 0x7fff0990}},
	}
	files := []entry{
		{FilesStream, Packet{Kind: File, Path: "/bin/a", BuildID: "c0ffee", Size: 13, ModTime: 1700000000e9, Hash: 5, In: true}},
		{FilesStream, Packet{Kind: Content, Bytes: []byte("an executable")}},
		{FilesStream, Packet{Kind: File, Name: "/bin/a", Path: "/bin/a.debug", Size: 7, ModTime: 1700000000e9, Hash: 6}},
	}
	end := []entry{
		{0, Packet{Kind: Protect, Min: 6, Addr: 0x400000, N: 0x1000, Prot: 1}},
		{0, Packet{Kind: Unmap, Min: 8, Addr: 0x400000, N: 0x1000}},
		{0, Packet{Kind: Shared, Lines: []LineRange{{0x1ffff40, 2}, {0x10000, 1}}}},
		{0, Packet{Kind: Atomics, Writes: []Range{{0x7fff0000, 4}}}},
		{0, Packet{Kind: Counters, Counters: []Counter{{"l1.misses", 7}}}},
		{0, Packet{Kind: ProcessExit, Min: 10, Status: 0, Signo: 6, Total: 250}},
	}
	return h, append(append(append(mapped, files...), thread...), end...)
}
