package loadsub_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/traces"
)

// A recording of a test program, detected once.
type recording struct {
	t    *testing.T
	s    *replay.Session
	ms   *funcs.Modules
	pass *detect.Pass
}

// recorded compiles a program, records it and runs detection.
func recorded(t *testing.T, source string, seed uint64, flags ...string) *recording {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	args := append([]string{"-g", "-w", "-pthread", "-o", bin, source}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cfg := record.Config{Output: filepath.Join(dir, "t.ttd"), Argv: []string{bin}, Seed: seed, Stdin: null, Stdout: null, Stderr: null}
	if _, err := record.Run(context.Background(), cfg); err != nil {
		t.Fatalf("recording: %v", err)
	}
	r, err := traces.Open(cfg.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s, err := replay.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	var images []funcs.Image
	for _, m := range s.Modules() {
		images = append(images, funcs.Image{Path: m.Path, Base: m.Base, BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime})
	}
	g := &recording{t: t, s: s, ms: funcs.NewModules(images, funcs.Options{})}
	g.pass = &detect.Pass{Session: s, Tree: funcs.NewTree(g.ms)}
	if err := g.pass.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return g
}

// A call is one execution of a function.
type call struct {
	thread emulate.ThreadID
	start  emulate.Count
	sp     uint64
	f      *funcs.Func
}

// Enter and Leave serve funcs.InstanceSink.
func (g *gather) Enter(t *funcs.Tracker, c *x86.CPU) {
	a := t.Level(0)
	g.calls = append(g.calls, call{t.Thread(), a.Count, uint64(a.SP), g.ms.FuncAt(a.Entry)})
}

func (g *gather) Leave(*funcs.Tracker, *x86.CPU, emulate.Count, bool) {}

type gather struct {
	ms    *funcs.Modules
	calls []call
}

// calls lists the executions of functions, by thread.
func (g *recording) calls(names ...string) []call {
	g.t.Helper()
	out := &gather{ms: g.ms}
	var entries []emulate.Addr
	for _, n := range names {
		fs := g.ms.FuncsNamed(n)
		if len(fs) == 0 {
			g.t.Fatalf("no function %s", n)
		}
		entries = append(entries, fs[0].Entry)
	}
	for _, id := range g.s.Threads() {
		th, err := g.s.Thread(id)
		if err != nil {
			g.t.Fatal(err)
		}
		calls := funcs.NewTracker(g.pass.Tree, id, nil)
		calls.Start(emulate.Addr(th.CPU().RIP), th.Count())
		calls.Watch(entries, out)
		th.CPU().Calls = calls
		for err == nil {
			_, err = th.Step()
		}
		if !errors.Is(err, io.EOF) {
			g.t.Fatal(err)
		}
	}
	return out.calls
}

// section captures an execution of a function.
func (g *recording) section(c call) *overlay.Section {
	g.t.Helper()
	t, _, err := g.pass.Seek(c.thread, c.start)
	if err != nil {
		g.t.Fatal(err)
	}
	s, err := overlay.Capture(t.Snapshot(), overlay.Goal{End: overlay.EndReturn, SP: c.sp, Result: loadsub.ResultRegs(g.ms, c.f)})
	if err != nil {
		g.t.Fatal(err)
	}
	if !s.Complete {
		g.t.Fatalf("%v: incomplete", s)
	}
	return s
}

// world knows variables by name.
func (g *recording) world() loadsub.World {
	return loadsub.World{Name: g.name, Canon: detect.Canon(g.s)}
}

func (g *recording) name(a uint64) string {
	if v, ok := g.ms.VarAt(emulate.Addr(a)); ok {
		return v.Path
	}
	return ""
}

// loads lists the loads of a variable in a section.
func (g *recording) loads(s *overlay.Section, name string) []int {
	var out []int
	for i := range s.Accesses {
		if a := &s.Accesses[i]; !a.Writes() && g.name(a.Addr) == name {
			out = append(out, i)
		}
	}
	return out
}
