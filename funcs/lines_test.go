package funcs

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// An address of .text, and what addr2line says of it.
type lineTruth struct {
	pc     uint64
	frames [][2]string // symbol, file:line
}

// addr2line asks binutils about the instructions of .text.
func addr2line(t *testing.T, prog string) []lineTruth {
	t.Helper()
	if _, err := exec.LookPath("addr2line"); err != nil {
		t.Skip("addr2line isn't installed")
	}
	f, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	var in strings.Builder
	var pcs []uint64
	step := max(text.Size/20000, 1)
	for a := text.Addr; a < text.Addr+text.Size; a += step {
		pcs = append(pcs, a)
		fmt.Fprintf(&in, "%x\n", a)
	}
	cmd := exec.Command("addr2line", "-f", "-i", "-a", "-e", prog)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var truth []lineTruth
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i := 0; i < len(lines); {
		a, err := strconv.ParseUint(strings.TrimPrefix(lines[i], "0x"), 16, 64)
		if err != nil || !strings.HasPrefix(lines[i], "0x") {
			t.Fatalf("addr2line: line %q isn't an address", lines[i])
		}
		tr := lineTruth{pc: a}
		for i++; i+1 < len(lines) && !strings.HasPrefix(lines[i], "0x"); i += 2 {
			loc, _, _ := strings.Cut(lines[i+1], " (disc")
			tr.frames = append(tr.frames, [2]string{lines[i], loc})
		}
		truth = append(truth, tr)
	}
	return truth
}

func TestFramesAgreeWithAddr2line(t *testing.T) {
	for _, c := range []struct {
		src   string
		flags []string
	}{
		{"bank.c", []string{"-g", "-O0"}},
		{"bank.c", []string{"-g", "-O1", "-gdwarf-4"}},
		{"bank.c", []string{"-g", "-O2", "-no-pie"}},
		{"bank.c", []string{"-g", "-O2", "-static"}},
		{"shapes.cpp", []string{"-g", "-O0"}},
		{"shapes.cpp", []string{"-g", "-O2"}},
	} {
		t.Run(c.src+strings.Join(c.flags, ""), func(t *testing.T) {
			t.Parallel()
			prog := build(t, c.src, c.flags...)
			ms := load(t, prog, Options{DebugDirs: []string{}})
			m := ms.All()[0]
			bad, checked := 0, 0
			for _, tr := range addr2line(t, prog) {
				if ms.FuncAt(emulate.Addr(tr.pc+m.bias)) == nil {
					continue // padding between functions
				}
				if tr.frames[0][1] == "??:0" || strings.HasSuffix(tr.frames[0][1], ":?") {
					continue
				}
				checked++
				got := ms.Frames(emulate.Addr(tr.pc + m.bias))
				if d := differs(got, tr.frames); d != "" {
					bad++
					t.Logf("pc 0x%x: %s\n got %v\nwant %v", tr.pc, d, got, tr.frames)
				}
			}
			// binutils 2.40 itself is wrong at some places: it names file 1 for
			// functions without a file attribute, and the symbol at an address
			// rather than the function inlined there.
			if bad*50 > checked {
				t.Errorf("%d of %d addresses differ", bad, checked)
			}
			if checked < 200 && !m.Static {
				t.Errorf("only %d addresses with lines: the test tests nothing", checked)
			}
			for _, n := range ms.Notes() {
				t.Errorf("note: %s", n)
			}
		})
	}
}

func differs(got []Frame, want [][2]string) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d frames, want %d", len(got), len(want))
	}
	for i, w := range want {
		j := strings.LastIndexByte(w[1], ':')
		file, line := path.Clean(w[1][:j]), w[1][j+1:]
		if line == "?" {
			line = "0"
		}
		if got[i].File != file || strconv.Itoa(got[i].Line) != line {
			return fmt.Sprintf("frame %d at %s:%d, want %s:%s", i, got[i].File, got[i].Line, file, line)
		}
		if n := Demangle(w[0]); got[i].Function != n && !strings.HasSuffix(got[i].Function, "::"+n) {
			return fmt.Sprintf("frame %d in %s, want %s", i, got[i].Function, n)
		}
		if got[i].Inlined != (i < len(want)-1) {
			return fmt.Sprintf("frame %d: inlined %v", i, got[i].Inlined)
		}
	}
	return ""
}
