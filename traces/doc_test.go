package traces

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// encoding returns how docs/trace-format.md calls a field's encoding.
func encoding(f *Field) string {
	switch f.Wire {
	case wireMin:
		return "min"
	case wireSince:
		return "since"
	case wireLine:
		return "line"
	case wirePage:
		return "page"
	case wireFixed:
		return "fixed"
	case wireFull:
		return "full"
	case wireZero:
		return "zero"
	case wireMask:
		return "mask"
	}
	switch t := f.ptr(new(Packet)).(type) {
	case *uint64, *uint32:
		return "number"
	case *int64, *int32:
		return "signed"
	case *uint8, *bool:
		return "byte"
	case *[6]uint64:
		return "six"
	case *[]byte, *string:
		return "bytes"
	case *[]uint64:
		return "numbers"
	case *[]Object:
		return "objects"
	case *[]Range, *[]LineRange:
		return "ranges"
	case *[]Counter:
		return "counters"
	default:
		return fmt.Sprintf("%T?", t)
	}
}

// encodings describes them, in the order of the document.
var encodings = [][2]string{
	{"min", "zigzag of the difference to the min before it in the stream"},
	{"line", "zigzag of the difference to the line before it in the chunk; behind a `tlb` packet in the chunk as under \"Lines named by TLB entries\""},
	{"page", "zigzag of the difference to the page of the `tlb` packet before it in the chunk"},
	{"since", "zigzag of what is left when it is subtracted from the min before it in the stream"},
	{"full", "64 bytes"},
	{"zero", "nothing: 64 bytes 0"},
	{"mask", "8 bytes little-endian, bit i set if byte i isn't 0; then those bytes, lowest first"},
	{"fixed", "8 bytes little-endian"},
	{"number", "uvarint"},
	{"signed", "zigzag"},
	{"byte", "1 byte; a truth value is 0 or 1"},
	{"six", "6 uvarints"},
	{"bytes", "uvarint length, the bytes"},
	{"numbers", "uvarint count, as many uvarints"},
	{"objects", "uvarint count; for each, kind (1 byte) and id (uvarint)"},
	{"ranges", "uvarint count; for each, first address or line as zigzag of the difference to the one before it in the list (the first to 0), and length (uvarint)"},
	{"counters", "uvarint count; for each, uvarint length and bytes of the name, and value (uvarint)"},
}

func packetsTable() string {
	var b strings.Builder
	b.WriteString("| kind | name | stream | fields | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, k := range Kinds() {
		var fields []string
		for _, f := range k.Fields {
			fields = append(fields, fmt.Sprintf("%s: *%s*", f.Name, encoding(f)))
		}
		fmt.Fprintf(&b, "| %d | `%s` | %v | %s | %s |\n", uint8(k.Kind), k.Name, k.Where, strings.Join(fields, ", "), k.Doc)
	}
	b.WriteString("\n| field | in | meaning |\n| --- | --- | --- |\n")
	type meaning struct{ name, doc string }
	var order []meaning
	in := map[meaning][]string{}
	for _, k := range Kinds() {
		for _, f := range k.Fields {
			m := meaning{f.Name, f.Doc}
			if in[m] == nil {
				order = append(order, m)
			}
			in[m] = append(in[m], "`"+k.Name+"`")
		}
	}
	for _, m := range order {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.name, strings.Join(in[m], ", "), m.doc)
	}
	return b.String()
}

func headerTable() string {
	var b strings.Builder
	b.WriteString("| name | value | meaning |\n| --- | --- | --- |\n")
	for _, f := range headerFields {
		kind := "number"
		switch f.ptr(new(Header)).(type) {
		case *string:
			kind = "text"
		case *[]string:
			kind = "text, repeats"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, kind, f.doc)
	}
	return b.String()
}

func encodingsTable() string {
	var b strings.Builder
	b.WriteString("| encoding | bytes |\n| --- | --- |\n")
	for _, e := range encodings {
		fmt.Fprintf(&b, "| *%s* | %s |\n", e[0], e[1])
	}
	return b.String()
}

func limitsTable() string {
	var b strings.Builder
	b.WriteString("| what | maximum |\n| --- | --- |\n")
	for _, l := range []struct {
		what string
		max  int
	}{
		{"streams", MaxStreams},
		{"length of a chunk's payload, uncompressed", MaxChunkRaw},
		{"length of the header's fields", MaxHeader},
		{"number of the header's fields", MaxHeaderPairs},
		{"length of the index's payload, uncompressed", MaxIndexRaw},
		{"length of a *bytes* field that is content or state", MaxBytes},
		{"length of a *bytes* field that is a path or name", MaxString},
		{"items of a list in a packet", MaxItems},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", l.what, l.max)
	}
	return b.String()
}

// exampleListing is a small trace in hexadecimal, part by part.
func exampleListing(t *testing.T) string {
	entries := []entry{
		{1, Packet{Kind: Start, Thread: 1, Min: 1, State: []byte{0xaa, 0xbb}}},
		{1, Packet{Kind: Import, Count: 3, Line: 0x1000}},
		{1, Packet{Kind: Import, Count: 3, Line: 0x1001}},
		{1, Packet{Kind: Exit, Count: 300, Min: 2, Status: -1}},
	}
	entries[1].p.Data = &[LineSize]byte{}
	entries[2].p.Data = &[LineSize]byte{0: 5, 9: 0xff}
	b := write(t, Header{Arch: "x86-64", Seed: 7, Argv: []string{"ls", "-l"}}, entries, never)
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	part := func(name string, from, to int) {
		fmt.Fprintf(&out, "%s\n", name)
		for ; from < to; from += 16 {
			fmt.Fprintf(&out, "  %04x  % x\n", from, b[from:min(from+16, to)])
		}
	}
	chunk := int(r.idx.chunks[0].offset)
	payload := chunk + chunkHeaderSize
	index := payload + int(r.idx.chunks[0].stored)
	out.WriteString("```\n")
	part("header", 0, chunk)
	part("header of chunk 0", chunk, payload)
	d := newChunkDecoder(&r.idx.chunks[0], b[payload:index])
	for d.off < len(d.b) {
		var p Packet
		at := d.off
		if err := d.next(&p); err != nil {
			t.Fatal(err)
		}
		text := p.String()
		if i := strings.Index(text, " data="); i >= 0 {
			text = text[:i]
		}
		part(text, payload+at, payload+d.off)
	}
	part("index", index, len(b)-footerSize)
	part("footer", len(b)-footerSize, len(b))
	out.WriteString("```\n")
	return out.String()
}

// The tables in docs/trace-format.md are those of the code.
func TestDocumentIsTrue(t *testing.T) {
	const name = "../docs/trace-format.md"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	for mark, table := range map[string]string{"packets": packetsTable(), "header": headerTable(), "encodings": encodingsTable(), "limits": limitsTable(), "example": exampleListing(t)} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
		i, j := strings.Index(text, begin), strings.Index(text, end)
		if i < 0 || j < i {
			t.Fatalf("%s lacks the marks for the table %q", name, mark)
		}
		i += len(begin)
		if text[i:j] != table {
			if !*update {
				t.Errorf("%s: the table %q isn't that of the code (go test -update rewrites it); it should be\n%s", name, mark, table)
			}
			text = text[:i] + table + text[j:]
		}
	}
	if *update && text != string(doc) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The table is complete: names and fields are unique, everything is said, and
// every encoding is described.
func TestKindTable(t *testing.T) {
	described := map[string]bool{}
	for _, e := range encodings {
		described[e[0]] = true
	}
	names := map[string]bool{}
	for _, k := range Kinds() {
		if names[k.Name] || k.Doc == "" || k.Where.String() == "invalid" {
			t.Errorf("kind %d, %q: name taken, no text, or no stream", k.Kind, k.Name)
		}
		names[k.Name] = true
		at := map[any]bool{}
		p := new(Packet)
		for _, f := range k.Fields {
			x := f.ptr(p)
			if at[x] || f.Doc == "" || f.Name == "" {
				t.Errorf("%s: field %q shares its place with another, or isn't described", k.Name, f.Name)
			}
			at[x] = true
			if !described[encoding(f)] {
				t.Errorf("%s: field %q: encoding %s isn't described", k.Name, f.Name, encoding(f))
			}
			if reflect.TypeOf(x).Kind() != reflect.Pointer {
				t.Errorf("%s: field %q isn't a pointer", k.Name, f.Name)
			}
		}
	}
}
