package funcs

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// testBase is where the tests pretend that position-independent programs are
// mapped.
const testBase = 0x555555554000

// build compiles testdata/src with flags and returns the program's path.
func build(t testing.TB, src string, flags ...string) string {
	t.Helper()
	cc := "gcc"
	if strings.HasSuffix(src, ".cpp") {
		cc = "g++"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("%s isn't installed", cc)
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(src, filepath.Ext(src)))
	abs, err := filepath.Abs(filepath.Join("testdata", src))
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-o", out, abs, "-pthread"}, flags...)
	if b, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", cc, strings.Join(args, " "), err, b)
	}
	return out
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(b)
}

// load opens one program as the only module.
func load(t testing.TB, path string, opt Options) *Modules {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	ms := NewModules([]Image{{Path: path, Base: testBase, Size: st.Size(), ModTime: st.ModTime().UnixNano()}}, opt)
	for _, n := range ms.Notes() {
		t.Errorf("note: %s", n)
	}
	return ms
}

// symbol returns the run-time address of a symbol, from .symtab.
func symbol(t testing.TB, ms *Modules, name string) emulate.Addr {
	t.Helper()
	m := ms.All()[0]
	f, err := elf.Open(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name || strings.HasPrefix(s.Name, name+".") && elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			return emulate.Addr(s.Value + m.bias)
		}
	}
	t.Fatalf("no symbol %s in %s", name, m.Path)
	return 0
}

func emu(n int) emulate.Addr { return emulate.Addr(n) }
