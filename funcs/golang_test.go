package funcs

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate"
)

func TestGoProgramKnowsItsRuntime(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "guest")
	if out, err := exec.Command("go", "build", "-o", bin, "../testdata/golang/pipeline.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ms := NewModules([]Image{{Path: bin}}, Options{})
	if !ms.IsGo() {
		t.Fatal("a Go program isn't recognised")
	}
	if l := ms.GoLayout(); l.GoID == 0 || l.ChanLock == 0 || l.ChanSize != 8 {
		t.Errorf("layout %+v", l)
	}
	if ms.goRun().resume == 0 {
		t.Error("where goroutines are resumed isn't found")
	}
	for name, want := range map[string]Category{
		"runtime.memmove": MemoryFn, "runtime.mallocgc": Allocator, "runtime.chansend": Internal,
		"runtime.mapassign_faststr": MemoryFn, "internal/sync.runtime_SemacquireMutex": Internal, "time.newTimer": Internal,
		"os.(*File).Write": 0, "fmt.Fprintln": 0,
	} {
		at := ms.GoFunc(name)
		if at == 0 {
			t.Errorf("%s isn't found", name)
			continue
		}
		f := ms.FuncAt(at)
		r, ok := ms.Runtime(f)
		if ok != (want != 0) || r.Category != want {
			t.Errorf("%s is %v (%v), want %v", name, r.Category, ok, want)
		}
		if want == 0 && !f.Library {
			t.Errorf("%s isn't the library's", name)
		}
	}
	if f := ms.FuncAt(emulate.Addr(ms.GoFunc("main.stage"))); f == nil || f.Library || f.Runtime {
		t.Errorf("the program's function is %+v", f)
	}
}

func TestGoPackage(t *testing.T) {
	for name, want := range map[string]string{
		"main.main.func1":                   "main",
		"internal/sync.(*Mutex).lockSlow":   "internal/sync",
		"a.b/c.F[go.shape.struct { x/y.z}]": "a.b/c",
		"gogo":                              "",
	} {
		if got := goPackage(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
