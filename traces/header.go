package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// Version is the version of the format that this package writes. It reads all
// from oldestVersion on; docs/trace-format.md says how they differ.
const (
	Version       = 3
	oldestVersion = 1
)

// A Header says what was recorded and how: all that a replay must be told
// besides the packets. It holds nothing that depends on when or how fast the
// recording was made.
type Header struct {
	Arch        string // instruction set: "x86-64"
	CPULevel    string // what cpuid said: "x86-64-v2"
	ReadLog     string // how reads are logged: "cache"
	MemoryModel string // which events are orderable: "fence"
	LogMode     string // "independent", "ccp", "ccp:memory", "ccp:readers"
	CodeLog     string // how code is logged that isn't a module's: "line", "": by pages
	Cores       uint32 // processing units
	Seed        uint64 // of the scheduler and of guest randomness
	Schedule    string // scheduling policy: "random", …
	Clock       string // guest time: "virtual", "host"
	Hardware    string // geometry of the hardware model, in words
	KeyEvery    uint64 // instructions between key frames of a thread, 0: none
	HashEvery   uint64 // instructions between hashes of a thread, 0: none
	Select      string // functions that were recorded, "": all
	Ring        string // how much of the end is kept, "": everything

	Program string   // path of the executable as given
	Argv    []string // any bytes
	Dir     string   // working directory

	ExePath    string // identity of the executable file
	ExeSize    int64  // bytes
	ExeModTime int64  // ns since 1970
	ExeBuildID string // hexadecimal, empty: none

	// Of a trace that is one of several, each of a process:
	PID        uint32 // the process's number, 0: it is the only trace
	Parent     uint32 // the number of the process that forked it, 0: the first one
	ForkThread uint32 // the thread that did
	ForkMin    uint64 // the last orderable event before it was forked

	// Extra holds fields that this version doesn't know, in their order.
	Extra []Pair
}

// A Pair is one field of the header.
type Pair struct{ Name, Value string }

// headerField ties a field's name in the file to the Header.
type headerField struct {
	name, doc string
	ptr       func(h *Header) any
}

// headerFields is the table of header fields. Numbers are decimal text. A list
// repeats its name, an element each. Fields at their zero value are left out.
var headerFields = []headerField{
	{"arch", "instruction set", func(h *Header) any { return &h.Arch }},
	{"cpu", "level that cpuid reported", func(h *Header) any { return &h.CPULevel }},
	{"readlog", "how reads are logged", func(h *Header) any { return &h.ReadLog }},
	{"memorymodel", "which events are orderable", func(h *Header) any { return &h.MemoryModel }},
	{"logmode", "whether streams depend on one another", func(h *Header) any { return &h.LogMode }},
	{"codelog", "how code that isn't as in a module's file is logged: `line`, by lines that flow into threads; left out, by pages", func(h *Header) any { return &h.CodeLog }},
	{"cores", "processing units", func(h *Header) any { return &h.Cores }},
	{"seed", "of scheduler and guest randomness", func(h *Header) any { return &h.Seed }},
	{"schedule", "scheduling policy", func(h *Header) any { return &h.Schedule }},
	{"clock", "source of guest time", func(h *Header) any { return &h.Clock }},
	{"hardware", "geometry of the hardware model", func(h *Header) any { return &h.Hardware }},
	{"keyevery", "instructions between key frames of a thread", func(h *Header) any { return &h.KeyEvery }},
	{"hashevery", "instructions between hashes of a thread", func(h *Header) any { return &h.HashEvery }},
	{"ring", "how much of the end was kept: bytes, of `thread:` each thread; streams may begin with key frames", func(h *Header) any { return &h.Ring }},
	{"select", "functions that were recorded, patterns separated by commas; the rest are gaps", func(h *Header) any { return &h.Select }},
	{"program", "path of the executable as given", func(h *Header) any { return &h.Program }},
	{"arg", "one argument of the program, from argument 0", func(h *Header) any { return &h.Argv }},
	{"dir", "working directory", func(h *Header) any { return &h.Dir }},
	{"exe.path", "executable file", func(h *Header) any { return &h.ExePath }},
	{"exe.size", "its size in bytes", func(h *Header) any { return &h.ExeSize }},
	{"exe.mtime", "its modification time, ns since 1970", func(h *Header) any { return &h.ExeModTime }},
	{"exe.buildid", "its build id, hexadecimal", func(h *Header) any { return &h.ExeBuildID }},
	{"pid", "number of the process, if there are traces of others", func(h *Header) any { return &h.PID }},
	{"parent", "number of the process that forked it", func(h *Header) any { return &h.Parent }},
	{"forkthread", "the thread that did", func(h *Header) any { return &h.ForkThread }},
	{"forkmin", "last orderable event before that", func(h *Header) any { return &h.ForkMin }},
}

// pairs returns h's fields as they stand in the file.
func (h *Header) pairs() []Pair {
	var r []Pair
	add := func(name, value string) { r = append(r, Pair{name, value}) }
	for _, f := range headerFields {
		switch v := f.ptr(h).(type) {
		case *string:
			if *v != "" {
				add(f.name, *v)
			}
		case *uint32:
			if *v != 0 {
				add(f.name, strconv.FormatUint(uint64(*v), 10))
			}
		case *uint64:
			if *v != 0 {
				add(f.name, strconv.FormatUint(*v, 10))
			}
		case *int64:
			if *v != 0 {
				add(f.name, strconv.FormatInt(*v, 10))
			}
		case *[]string:
			for _, s := range *v {
				add(f.name, s)
			}
		}
	}
	return append(r, h.Extra...)
}

// setPair sets the field named, or keeps the pair in Extra.
func (h *Header) setPair(name, value string) error {
	for _, f := range headerFields {
		if f.name != name {
			continue
		}
		var err error
		switch v := f.ptr(h).(type) {
		case *string:
			*v = value
		case *uint32:
			var n uint64
			n, err = strconv.ParseUint(value, 10, 32)
			*v = uint32(n)
		case *uint64:
			*v, err = strconv.ParseUint(value, 10, 64)
		case *int64:
			*v, err = strconv.ParseInt(value, 10, 64)
		case *[]string:
			*v = append(*v, value)
		}
		if err != nil {
			return fmt.Errorf("header field %s: %q, expected a decimal number", name, value)
		}
		return nil
	}
	h.Extra = append(h.Extra, Pair{name, value})
	return nil
}

// The file begins with magic (4 bytes), version, length of the fields in
// bytes, number of fields (4 bytes each, little-endian), the fields, and the
// hash of all that. A field is name and value, each as uvarint length and bytes.
const (
	fileMagic     = "TTD\x1a"
	headerFixed   = 16
	headerTrailer = 8
)

// encode returns the header as it stands in the file.
func (h *Header) encode() ([]byte, error) {
	var body []byte
	pairs := h.pairs()
	for _, p := range pairs {
		body = binary.AppendUvarint(body, uint64(len(p.Name)))
		body = append(body, p.Name...)
		body = binary.AppendUvarint(body, uint64(len(p.Value)))
		body = append(body, p.Value...)
	}
	if len(body) > MaxHeader || len(pairs) > MaxHeaderPairs {
		return nil, fmt.Errorf("traces: header of %d bytes and %d fields, maximum %d and %d", len(body), len(pairs), MaxHeader, MaxHeaderPairs)
	}
	b := []byte(fileMagic)
	b = binary.LittleEndian.AppendUint32(b, Version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(pairs)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b)), nil
}

// headerSize returns the header's size in bytes, from its first headerFixed bytes.
func headerSize(b []byte) (int64, error) {
	if string(b[:4]) != fileMagic {
		return 0, fmt.Errorf("starts with % x, expected % x: this is not a trace", b[:4], fileMagic)
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v < oldestVersion || v > Version {
		return 0, fmt.Errorf("format version %d, expected %d to %d: use the racesim that recorded it, or record again", v, oldestVersion, Version)
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if n > MaxHeader {
		return 0, fmt.Errorf("header of %d bytes, maximum %d", n, MaxHeader)
	}
	return headerFixed + int64(n) + headerTrailer, nil
}

// decodeHeader reads the header, of headerSize bytes.
func decodeHeader(b []byte) (Header, error) {
	var h Header
	n := len(b) - headerTrailer
	if got, want := xxh3.Hash(b[:n]), binary.LittleEndian.Uint64(b[n:]); got != want {
		return h, fmt.Errorf("header: checksum %016x, expected %016x: the file is damaged", got, want)
	}
	pairs := binary.LittleEndian.Uint32(b[12:])
	if pairs > MaxHeaderPairs {
		return h, fmt.Errorf("header: %d fields, maximum %d", pairs, MaxHeaderPairs)
	}
	b = b[headerFixed:n]
	str := func() (string, error) {
		l, k := binary.Uvarint(b)
		if k <= 0 || l > uint64(len(b)-k) {
			return "", errors.New("header ends inside a field")
		}
		s := string(b[k : k+int(l)])
		b = b[k+int(l):]
		return s, nil
	}
	for range pairs {
		name, err := str()
		if err != nil {
			return h, err
		}
		value, err := str()
		if err != nil {
			return h, err
		}
		if err := h.setPair(name, value); err != nil {
			return h, err
		}
	}
	if len(b) != 0 {
		return h, fmt.Errorf("header: %d bytes after the last field", len(b))
	}
	return h, nil
}
