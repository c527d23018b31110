package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// Of a module's code only the lines that are executed are in the trace, and it
// replays without the file, as often as it has key frames. Whoever has the file
// gets all of a page, from another file nothing.
func TestOnlyExecutedCodeIsInTheTrace(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "plain")
	b, err := os.ReadFile(guest(t, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	path, _, _ := recorded(t, record.Config{Seed: 3, KeyFrameEvery: 3000, Slice: 300, Embed: "none"}, bin)
	os.Remove(bin)
	s := open(t, path)
	verify(t, s)
	sizes := s.Reader().Sizes()
	if sizes.Packets[traces.CodePage] == 0 || sizes.Packets[traces.Code] != 0 {
		t.Fatalf("%d codepage and %d code packets, expected only the first", sizes.Packets[traces.CodePage], sizes.Packets[traces.Code])
	}
	if n, most := sizes.Bytes[traces.CodeLines], sizes.Packets[traces.CodePage]*replay.PageSize/2; n > most {
		t.Errorf("%d bytes of code, expected at most %d", n, most)
	}
	var m replay.Mapping
	for _, x := range s.EveryMapping() {
		if x.Path == bin && x.Prot&4 != 0 {
			m = x
		}
	}
	known := 0
	for a := m.Addr; a < m.Addr+emulate.Addr(m.N); a += 64 {
		if s.CodeAt(a, 0) == nil != s.CodeMissing(a, 0) {
			t.Errorf("%v: %d bytes of code, missing: %v", a, len(s.CodeAt(a, 0)), s.CodeMissing(a, 0))
		}
		if s.CodeAt(a, 0) != nil {
			known++
		}
	}
	if known == 0 || known == int(m.N/64) {
		t.Fatalf("%d of %d lines are known", known, m.N/64)
	}
	for _, wrong := range []bool{true, false} {
		s := open(t, path)
		s.StaticCode(func(num uint64) []byte {
			if a := emulate.Addr(num << replay.PageShift); a < m.Addr || a >= m.Addr+emulate.Addr(m.N) {
				return nil
			}
			p := make([]byte, replay.PageSize)
			copy(p, b[m.Offset+num<<replay.PageShift-uint64(m.Addr):])
			if wrong {
				p[77] ^= 1
			}
			return p
		})
		verify(t, s)
		for _, num := range s.CodePages() {
			a := emulate.Addr(num << replay.PageShift)
			if a < m.Addr || a >= m.Addr+emulate.Addr(m.N) {
				continue
			}
			got := s.CodeAt(a, 0)
			if all := bytes.Equal(got, b[m.Offset+uint64(a-m.Addr):][:len(got)]) && len(got) == replay.PageSize; all == wrong {
				t.Errorf("wrong file: %v, page %v: %d bytes are known", wrong, a, len(got))
			}
		}
	}
}

// A trace whose packets of code are wrong is refused, and one that lacks lines
// doesn't replay.
func TestWrongCodePacketsAreRefused(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 3}, guest(t, "plain"))
	r := open(t, path).Reader()
	for _, x := range []struct {
		what, want string
		change     func(p *traces.Packet) bool // false: left out
	}{
		{"no page", "no codepage packet", func(p *traces.Packet) bool { return p.Kind != traces.CodePage }},
		{"half a line", "expected whole lines", func(p *traces.Packet) bool {
			if p.Kind == traces.CodeLines {
				p.Bytes = p.Bytes[:len(p.Bytes)-1]
			}
			return true
		}},
		{"two pages", "expected whole lines", func(p *traces.Packet) bool {
			if p.Kind == traces.CodeLines {
				p.Bytes = make([]byte, replay.PageSize+64)
			}
			return true
		}},
		{"beyond memory", "beyond user memory", func(p *traces.Packet) bool {
			if p.Kind == traces.CodeLines {
				p.Line = 1 << 60
			}
			return true
		}},
		{"a page beyond memory", "beyond user memory", func(p *traces.Packet) bool {
			if p.Kind == traces.CodePage {
				p.Addr = 1 << 60
			}
			return true
		}},
		{"no lines", "divergence", func(p *traces.Packet) bool { return p.Kind != traces.CodeLines }},
	} {
		out := filepath.Join(t.TempDir(), "x.ttd")
		w, err := traces.Create(out, r.Header())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range append([]uint32{0}, uint32(1)) {
			for cur := r.Cursor(n); ; {
				p, err := cur.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				q := *p
				if x.change(&q) {
					if err := w.Put(n, q.Count, &q); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := traces.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		s, err := replay.Open(d)
		if err == nil {
			_, err = s.Verify(context.Background(), 1, nil)
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, expected %q", x.what, err, x.want)
		}
		d.Close()
	}
}
