package loadsub_test

import (
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
)

// outside is a world that knows streams and the heap.
func (g *recording) outside() loadsub.World {
	w := g.world()
	w.Quiet = func(target uint64) bool {
		r, ok := g.ms.Runtime(g.ms.FuncAt(emulate.Addr(target)))
		return ok && r.Category.Own()
	}
	w.Heap = func(target uint64) overlay.HeapCall {
		f := g.ms.FuncAt(emulate.Addr(target))
		switch r, _ := g.ms.Runtime(f); {
		case f == nil || uint64(f.Entry) != target:
		case r.Alloc == funcs.RoleMalloc:
			return overlay.HeapAlloc
		case r.Alloc == funcs.RoleFree:
			return overlay.HeapFree
		}
		return 0
	}
	for _, pc := range g.pass.Tree.JumpTargets(nil) {
		w.Jumps = append(w.Jumps, uint64(pc))
	}
	at, ok := g.ms.DataNamed("_IO_2_1_stdout_")
	if !ok {
		g.t.Fatal("no stdout")
	}
	w.Streams = []uint64{uint64(at)}
	return w
}

// try replaces the first load of a variable in the last execution of a function.
func (g *recording) try(function, variable string, value uint64) *loadsub.Trial {
	g.t.Helper()
	calls := g.calls(function)
	s := g.section(calls[len(calls)-1])
	o := loadsub.Options{World: g.outside()}
	ref := loadsub.Reference(s, o)
	if bad := loadsub.Faithful(s, ref); len(bad) > 0 {
		g.t.Fatalf("%s: without a change: %+v", function, bad)
	}
	return loadsub.Try(s, g.loads(s, variable)[0], loadsub.Replacement{Source: loadsub.FromUser, Value: value}, ref, o)
}

// What is printed is an output, whatever place in the buffer it gets.
func TestWhatIsPrintedIsAnOutput(t *testing.T) {
	for _, opt := range []string{"-O0", "-O2"} {
		tr := recorded(t, "testdata/outside.c", 1, opt).try("show", "level", 12345)
		p := loadsub.Public(tr.Outputs)
		if p == nil || p.Name != "what thread 1 writes to descriptor 1" || p.Want != `"level 3 of all\n"` || p.Got != `"level 12345 of all\n"` {
			t.Errorf("%s: %+v", opt, tr.Outputs)
		}
	}
}

func TestMisuseOfTheHeapIsACrash(t *testing.T) {
	for _, opt := range []string{"-O0", "-O2"} {
		g := recorded(t, "testdata/outside.c", 1, opt)
		for variable, want := range map[string]string{"again": "frees the block at 0x", "look": "reads memory at 0x"} {
			tr := g.try("drop", variable, 1)
			if tr.Outcome != "crash" || !strings.HasPrefix(tr.Detail, want) || !strings.HasSuffix(tr.Detail, "which is free already") {
				t.Errorf("%s, %s: %s, %s", opt, variable, tr.Outcome, tr.Detail)
			}
		}
	}
}
