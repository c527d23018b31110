package record

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// Two places for the guest's physical memory: the numbers of its frames and
// where they are in this process. None of it occurs in the guests by itself.
var physicals = []struct {
	frame uint64
	addr  uintptr
}{{0x5aa5_0ff1_cee0_0001, 0x2bad_c600_0000}, {0x3ee3_1234_9ab0_0001, 0x13c3_a400_0000}}

// memoryBits bound how much physical memory is in use: 2^memoryBits bytes.
const memoryBits = 25

// A secret is a range of 2^bits numbers that tell where physical memory is.
type secret struct {
	what  string
	first uint64
	bits  int
}

func secrets(frame uint64, addr uintptr) []secret {
	return []secret{{"number of a frame", frame &^ 0xffff, 16}, {"address of a frame", frame << 12 &^ (1<<memoryBits - 1), memoryBits},
		{"address here", uint64(addr), memoryBits}, {"line here", uint64(addr) >> 6, memoryBits - 6}, {"page here", uint64(addr) >> 12, memoryBits - 12}}
}

func (s *secret) has(v uint64) bool { return v-s.first < 1<<s.bits }

// find looks for one of the numbers in a file, fixed or of variable length,
// signed or not: where more than chance would put it there.
func (s *secret) find(b []byte) (form string, at int) {
	const enough = 30 // bits that all of the numbers have
	for i := 0; i+8 <= len(b); i++ {
		if s.has(binary.LittleEndian.Uint64(b[i:])) {
			return "fixed", i
		}
		switch v, n := binary.Uvarint(b[i:]); {
		case n*8-s.bits < enough:
		case s.has(v):
			return "variable", i
		case s.has(v >> 1):
			return "signed", i
		}
	}
	return "", -1
}

// No number of a frame of the guest's physical memory, and no address of this
// process, is in a trace, in any mode; and traces of recordings that differ
// only in these are the same, byte for byte, so that nothing was made of them.
func TestNothingPhysicalIsInATrace(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is missing")
	}
	dir := t.TempDir()
	guests := map[string]string{}
	for _, name := range []string{"alias", "sharing", "threads", "pipes", "code"} {
		guests[name] = filepath.Join(dir, name)
		if b, err := exec.Command("gcc", "-O1", "-g", "-w", "-pthread", "-o", guests[name], "../replay/testdata/"+name+".c").CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, b)
		}
	}
	modes := map[string]Config{"default": {}, "all": {MemoryModel: "acqrel", Marks: "time,counters,faults", Snapshots: "start,end"}, "code": {L1I: hwmodel.Geometry{Size: 32 << 10, Ways: 8}, L2: hwmodel.Geometry{Size: 1 << 20, Ways: 16}, Addresses: "slot"}, "ring": {Ring: 64 << 10, KeyFrameEvery: 20000}}
	for _, m := range []string{"page", "none", "last", "zero", "shadow:12"} {
		modes["read log "+m] = Config{ReadLog: m}
	}
	for _, m := range LogModes[1:] {
		modes[m] = Config{LogMode: m}
	}
	for _, m := range []string{"lines", "units", "reserved:4", "ways:4"} {
		modes["accounting "+m] = Config{Accounting: m}
	}
	for _, m := range []string{"slot", "counter", "random"} {
		modes["addresses "+m] = Config{Addresses: m, TLB: hwmodel.TLB{Entries: 16, Ways: 2}}
		modes["ccp, addresses "+m] = Config{Addresses: m, LogMode: LogCCP}
	}
	for mode, cfg := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for name, path := range guests {
				if mode != "default" && name != "alias" && (testing.Short() || name != "sharing") {
					continue
				}
				cfg := cfg
				cfg.Seed, cfg.Slice, cfg.Cores = 3, 2000, 2
				if name == "sharing" {
					cfg.Children = "record"
				}
				var first map[string]content
				for _, at := range physicals {
					cfg.firstFrame, cfg.frameAddr = at.frame, at.addr
					cfg.Argv, cfg.Output = []string{path}, filepath.Join(t.TempDir(), "t.ttd")
					files := recordedFiles(t, cfg)
					for file, c := range files {
						for _, s := range c.tells(at.frame, at.addr) {
							t.Errorf("%s: %s: %s", name, file, s)
						}
					}
					if first == nil {
						first = files
					} else if !reflect.DeepEqual(files, first) {
						t.Errorf("%s: the trace depends on where physical memory is", name)
					}
				}
			}
		})
	}
}

// A content is what is in a trace.
type content struct {
	bytes   []byte   // header and payloads, uncompressed
	numbers []uint64 // in all packets, whatever their encoding
}

// tells says what tells of physical memory.
func (c *content) tells(frame uint64, addr uintptr) (l []string) {
	for _, s := range secrets(frame, addr) {
		if form, i := s.find(c.bytes); i >= 0 {
			l = append(l, fmt.Sprintf("%s (%s: % x) at byte %#x", s.what, form, c.bytes[i:i+8], i))
		}
		for _, v := range c.numbers {
			if s.has(v) {
				l = append(l, fmt.Sprintf("%s: %#x", s.what, v))
			}
		}
	}
	return l
}

// recordedFiles records a program whose descriptors are /dev/null and returns
// what is in the files of the recording, by name.
func recordedFiles(t *testing.T, cfg Config) map[string]content {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cfg.Stdin, cfg.Stdout, cfg.Stderr = null, null, null
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(cfg.Output + "*")
	if cfg.Children == "record" {
		files, _ = filepath.Glob(cfg.Output + "/*")
	}
	m := map[string]content{}
	for _, f := range files {
		m[filepath.Base(f)] = contentOf(t, f)
	}
	if len(m) == 0 {
		t.Fatal("no files")
	}
	return m
}

func contentOf(t *testing.T, path string) (c content) {
	t.Helper()
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.bytes = fmt.Appendf(nil, "%+v", r.Header())
	for i := range r.Chunks() {
		b, err := r.Payload(i)
		if err != nil {
			t.Fatal(err)
		}
		c.bytes = append(c.bytes, b...)
	}
	for _, s := range r.Streams() {
		for cur := r.Cursor(s.Stream).WithTLB(); ; {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			c.numbers = appendNumbers(c.numbers, reflect.ValueOf(*p))
		}
	}
	return c
}

// appendNumbers appends all numbers of 64 bits in v.
func appendNumbers(l []uint64, v reflect.Value) []uint64 {
	switch v.Kind() {
	case reflect.Uint64:
		l = append(l, v.Uint())
	case reflect.Int64:
		l = append(l, uint64(v.Int()))
	case reflect.Struct:
		for i := range v.NumField() {
			l = appendNumbers(l, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return l
		}
		for i := range v.Len() {
			l = appendNumbers(l, v.Index(i))
		}
	}
	return l
}

// The test before finds what it looks for.
func TestPhysicalNumbersAreFound(t *testing.T) {
	for _, at := range physicals {
		addr := uint64(at.addr) + 0x323456
		for _, v := range []uint64{at.frame + 77, (at.frame + 77) << 12, addr, addr >> 6, addr >> 12} {
			if c := (content{numbers: []uint64{3, v}}); c.tells(at.frame, at.addr) == nil {
				t.Errorf("the number %#x isn't found", v)
			}
			for i, b := range [][]byte{binary.LittleEndian.AppendUint64(nil, v), binary.AppendUvarint(nil, v), binary.AppendUvarint(nil, v<<1)} {
				if i > 0 && v <= addr>>6 {
					continue // too short to be told from chance
				}
				if c := (content{bytes: append(append(make([]byte, 10), b...), make([]byte, 9)...)}); c.tells(at.frame, at.addr) == nil {
					t.Errorf("%#x isn't found in % x", v, b)
				}
			}
		}
	}
}
