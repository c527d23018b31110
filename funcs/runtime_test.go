package funcs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// withLibraries adds this machine's libc and loader to a program's modules, at
// made-up places.
func withLibraries(t testing.TB, prog string, opt Options) *Modules {
	t.Helper()
	ms := load(t, prog, opt)
	base := emulate.Addr(0x7ffff0000000)
	for _, lib := range []string{"libc.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgomp.so.1"} {
		for _, dir := range append(hostDirs, "/lib64") {
			p := filepath.Join(dir, lib)
			if _, err := os.Stat(p); err == nil {
				ms.Add(Image{Path: p, Base: base})
				base += 0x1000000
				break
			}
		}
	}
	if ms.Exported("malloc") == nil || ms.Exported("_ZdlPv") == nil {
		t.Skip("this machine's libc or libstdc++ isn't where it is looked for")
	}
	return ms
}

var noDebug = Options{DebugDirs: []string{}}

func TestStubsAreNamedAfterTheirFunctions(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0", "-Wl,-z,now"}, {"-O2", "-fcf-protection"}, {"-O2", "-s"}} {
		ms := withLibraries(t, build(t, "bank.c", flags...), noDebug)
		found := map[string]bool{}
		m := ms.All()[0]
		s := m.symbols()
		for i := range s.recs {
			if f := m.funcOf(s, i); f.PLT {
				found[f.Name] = true
				if !f.Runtime {
					t.Errorf("%v: %s isn't the run-time's", flags, f.Name)
				}
				if ms.FuncAt(f.Entry+1) != f {
					t.Errorf("%v: the middle of %s is in %v", flags, f.Name, ms.FuncAt(f.Entry+1))
				}
			}
		}
		for _, want := range []string{"malloc@plt", "pthread_create@plt", "printf@plt", "free@plt"} {
			if !found[want] {
				t.Errorf("%v: no %s; found %v", flags, want, found)
			}
		}
	}
}

func TestRuntimeFunctionsAreClassified(t *testing.T) {
	ms := withLibraries(t, build(t, "bank.c"), noDebug)
	for name, want := range map[string]Category{
		"malloc": Allocator, "free": Allocator, "_Znwm": Allocator, "_ZdaPvm": Allocator,
		"pthread_mutex_lock": SyncAPI, "pthread_create": SyncAPI, "sem_wait": SyncAPI, "call_once": SyncAPI,
		"_ZNSt18condition_variable10notify_oneEv": SyncAPI, "__cxa_guard_acquire": SyncAPI,
		"GOMP_barrier": SyncAPI, "GOMP_parallel": SyncAPI, "GOMP_critical_start": SyncAPI, "omp_set_lock": SyncAPI,
		"GOMP_loop_dynamic_next": Internal, "GOMP_single_start": Internal, "omp_get_thread_num": Internal,
		"fopen": Internal, "rand": Internal, "strerror": Internal, "__cxa_throw": Internal, "_ZNSolsEi": MemoryFn,
		"strtok": Unsafe, "localtime": Unsafe, "setenv": Unsafe, "getenv": Unsafe, "readdir": Unsafe, "drand48": Unsafe,
		"memcpy": MemoryFn, "strlen": MemoryFn, "qsort": MemoryFn, "printf": MemoryFn, "strtok_r": MemoryFn,
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm": MemoryFn,
		"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_":    MemoryFn,
	} {
		f := ms.Exported(name)
		if f == nil {
			t.Errorf("%s isn't exported", name)
			continue
		}
		if r, ok := ms.Runtime(f); !ok || r.Category != want {
			t.Errorf("%s is %v (%v), want %v", name, r.Category, ok, want)
		}
	}
	for _, name := range []string{"main", "work", "counter"} {
		for _, f := range ms.FuncsNamed(name) {
			if f.Runtime {
				t.Errorf("%s is the run-time's", name)
			}
		}
	}
}

func TestTableIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range runtimeTable {
		if row.cat == 0 || row.cat == Unsafe && row.note == "" {
			t.Errorf("row %.40q: no category, or unsafe without a reason", row.names)
		}
		for _, n := range strings.Fields(row.names) {
			if seen[n] {
				t.Errorf("%s is in two rows", n)
			}
			seen[n] = true
		}
	}
}

func TestStaticProgramsAreSplit(t *testing.T) {
	for _, flags := range [][]string{{"-static", "-g", "-O2"}, {"-static", "-O1"}, {"-static-pie", "-O1"}} {
		ms := load(t, build(t, "bank.c", flags...), noDebug)
		m := ms.All()[0]
		if !m.Static {
			t.Fatalf("%v: not static", flags)
		}
		s := m.symbols()
		var user []string
		for i := range s.recs {
			if f := m.funcOf(s, i); !f.Runtime {
				user = append(user, f.Name)
			}
		}
		got := map[string]bool{}
		for _, n := range user {
			got[n] = true
		}
		for _, want := range []string{"main", "work", "counter", "release", "local"} {
			if !got[want] {
				t.Errorf("%v: %s isn't the user's", flags, want)
			}
		}
		if len(user) > 12 {
			t.Errorf("%v: %d functions are the user's: %.400q", flags, len(user), user)
		}
		for _, n := range []string{"malloc", "free"} {
			if r, ok := ms.Runtime(ms.Exported(n)); !ok || r.Alloc == NoAlloc {
				t.Errorf("%v: %s is %+v %v", flags, n, r, ok)
			}
		}
	}
}

func TestUnnamedCodeHasBounds(t *testing.T) {
	prog := build(t, "bank.c", "-O1")
	full := load(t, prog, noDebug)
	full.FuncsNamed("main") // reads the symbols
	run(t, "strip", prog)
	ms := load(t, prog, noDebug)
	for _, name := range []string{"work", "local", "main"} {
		f := full.FuncsNamed(name)[0]
		g := ms.FuncAt(f.Entry + 3)
		if g == nil || g.Entry != f.Entry || g.End != f.End {
			t.Errorf("%s is 0x%x..0x%x, stripped %+v", name, uint64(f.Entry), uint64(f.End), g)
			continue
		}
		if g.Linkage != "" || !strings.HasPrefix(g.Name, "bank+0x") {
			t.Errorf("stripped %s is called %q", name, g.Name)
		}
	}
}

func TestSeparateDebugFiles(t *testing.T) {
	prog := build(t, "bank.c", "-g", "-O1")
	dir := t.TempDir()
	id := load(t, prog, noDebug).All()[0].obj.buildID
	if id == "" {
		t.Skip("no build id")
	}
	dbg := filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(dbg), 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, "objcopy", "--only-keep-debug", prog, dbg)
	run(t, "strip", prog)
	ms := load(t, prog, Options{DebugDirs: []string{dir}})
	f := ms.FuncsNamed("work")
	if len(f) != 1 {
		t.Fatal("work has no symbol")
	}
	if file, line := ms.Line(f[0].Entry); !strings.HasSuffix(file, "bank.c") || line != 49 {
		t.Errorf("work is at %s:%d", file, line)
	}
	if l := ms.AddrOfVar("balance"); len(l) != 1 || l[0].Type != "int" {
		t.Errorf("balance: %+v", l)
	}
}

func TestChangedFilesAreNoted(t *testing.T) {
	prog := build(t, "bank.c")
	ms := NewModules([]Image{{Path: prog, BuildID: "00"}, {Path: prog + "x", Base: 0x1000}}, noDebug)
	n := strings.Join(ms.Notes(), "\n")
	if len(ms.Notes()) != 2 || !strings.Contains(n, "changed") || !strings.Contains(n, "no such file") {
		t.Errorf("notes: %s", n)
	}
	if ms.FuncAt(0x401000) != nil {
		t.Errorf("a changed file still names functions")
	}
}

func TestAccessesAreAttributed(t *testing.T) {
	ms := withLibraries(t, build(t, "bank.c", "-g", "-O2"), noDebug)
	tree := NewTree(ms)
	fn := func(name string) *Func {
		f := ms.Exported(name)
		if f == nil {
			f = ms.FuncsNamed(name)[0]
		}
		return f
	}
	main, malloc := fn("main"), fn("malloc")
	root := tree.Root(fn("_start").Entry)
	start := tree.Child(root, fn("_start").Entry, fn("__libc_start_main").Entry)
	inMain := tree.Child(start, fn("__libc_start_main").Entry+1, main.Entry)
	site := main.Entry + 10
	check := func(what string, id NodeID, pc emulate.Addr, cat Category, user NodeID, at emulate.Addr, name string) {
		t.Helper()
		p := tree.Place(id, pc)
		got := ""
		if p.Runtime != nil {
			got = p.Runtime.Name
		}
		if p.Category != cat || p.User != user || user != 0 && p.UserPC != at || got != name {
			t.Errorf("%s: %v in %q, user node %d at %v; want %v in %q, %d at %v", what, p.Category, got, p.User, p.UserPC, cat, name, user, at)
		}
	}
	check("start-up", start, fn("__libc_start_main").Entry+1, SyncAPI, 0, 0, "_start")
	check("main", inMain, site, 0, inMain, site, "")
	m := tree.Child(inMain, site, malloc.Entry)
	check("malloc", m, malloc.Entry+4, Allocator, inMain, site, "malloc")
	check("inside malloc", tree.Child(m, malloc.Entry+4, fn("free").Entry-1), fn("free").Entry-1, Allocator, inMain, site, "malloc")
	f := tree.Child(inMain, site, fn("fopen").Entry)
	fm := tree.Child(f, fn("fopen").Entry+1, malloc.Entry)
	check("malloc in fopen", fm, malloc.Entry, Internal, inMain, site, "fopen")
	if !tree.Class(f).Own() || tree.Class(inMain).Own() {
		t.Errorf("fopen's blocks are the user's, or the user's fopen's")
	}
	p := tree.Child(inMain, site, fn("printf").Entry)
	check("printf", p, fn("printf").Entry, MemoryFn, inMain, site, "printf")
	if b := tree.Child(p, fn("printf").Entry+1, fn("_IO_file_doallocate").Entry); !tree.Class(b).Own() || tree.Class(p).Own() {
		t.Errorf("the buffer of a stream is the user's, or what printf is given is not")
	}
	check("malloc in printf", tree.Child(p, fn("printf").Entry, malloc.Entry), malloc.Entry, Allocator, inMain, site, "printf")
	q := tree.Child(inMain, site, fn("qsort").Entry)
	cmp := tree.Child(q, fn("qsort").Entry+1, fn("counter").Entry)
	check("comparison function", cmp, fn("counter").Entry+1, 0, cmp, fn("counter").Entry+1, "")
	plt := ms.All()[0].stubOf("malloc")
	s := tree.Child(inMain, site, plt)
	check("the stub's slot", s, plt, Internal, inMain, site, "malloc")
	check("malloc behind its stub", s, malloc.Entry+2, Allocator, inMain, site, "malloc")
	// release() ends in a jump to free.
	r := tree.Child(inMain, site, fn("release").Entry)
	check("free after a jump", r, fn("free").Entry+2, Allocator, r, fn("release").Entry, "free")
	if got := fmt.Sprint(names(tree.Stack(r, fn("free").Entry))); got != "[free release main __libc_start_main _start]" {
		t.Errorf("stack of free after a jump: %s", got)
	}
	// words() ends in a jump to strtok, and that in one to strtok_r.
	words, inner := fn("words"), ms.Exported("strtok_r")
	u := tree.Place(tree.Child(inMain, site, words.Entry), inner.Entry+8)
	if u.Category != Unsafe || u.Runtime.Name != "strtok" {
		t.Errorf("strtok after two jumps: %v %+v", u.Category, u.Runtime)
	}
	got := fmt.Sprint(names(tree.Stack(tree.Child(inMain, site, words.Entry), inner.Entry+8)))
	if !strings.Contains(got, "strtok words main") {
		t.Errorf("stack after two jumps: %s", got)
	}
	if targets := tree.JumpTargets(nil); !slices.Contains(targets, fn("free").Entry) || len(targets) > 8 {
		t.Errorf("jump targets %v, want free at %v", targets, fn("free").Entry)
	}
}

func (m *Module) stubOf(name string) emulate.Addr {
	s := m.symbols()
	for i := range s.recs {
		if s.recs[i].plt && s.recs[i].name == name {
			return emulate.Addr(s.recs[i].lo + m.bias)
		}
	}
	return 0
}

func names(fs []Frame) (out []string) {
	for _, f := range fs {
		out = append(out, f.Function)
	}
	return out
}

type allocLog []string

func (l *allocLog) Alloc(a Alloc) {
	s := fmt.Sprintf("%v %d at %v", a.Role, a.Size, a.Addr)
	if a.Old != 0 {
		s += fmt.Sprintf(" from %v", a.Old)
	}
	if a.Undo {
		s += " undone"
	}
	*l = append(*l, s)
}

func (l *allocLog) Free(f Free) { *l = append(*l, fmt.Sprintf("%v of %v", f.Role, f.Addr)) }

func TestAllocationsAreReported(t *testing.T) {
	ms := withLibraries(t, build(t, "bank.c", "-O2"), noDebug)
	tree := NewTree(ms)
	var log allocLog
	w := &walker{t, NewTracker(tree, 1, &log), &x86.CPU{}}
	w.c.R[4] = 0x7ffff000
	main := uint64(ms.FuncsNamed("main")[0].Entry)
	w.Start(emulate.Addr(main), 0)
	fn := func(name string) uint64 { return uint64(ms.Exported(name).Entry) }
	regs := func(di, si, dx uint64) { w.c.R[rDI], w.c.R[rSI], w.c.R[rDX] = di, si, dx }
	result := func(v uint64) { w.c.R[rAX] = v }

	regs(24, 0, 0)
	w.call(main, uint64(ms.All()[0].stubOf("malloc")))
	w.body(-16)
	w.call(fn("malloc")+8, fn("free")-8) // something inside
	w.ret(fn("malloc") + 13)
	w.body(16)
	result(0x1000)
	w.ret(main + 5)
	regs(3, 8, 0)
	w.call(main, fn("calloc"))
	result(0x2000)
	w.ret(main + 5)
	regs(0x1000, 100, 0)
	w.call(main, fn("realloc"))
	result(0x3000)
	w.ret(main + 5)
	regs(0x3000, 1<<60, 0)
	w.call(main, fn("realloc"))
	result(0)
	w.ret(main + 5)
	// operator new calls malloc: one block.
	regs(40, 0, 0)
	w.call(main, fn("_Znwm"))
	w.body(-8)
	w.call(fn("_Znwm")+9, fn("malloc"))
	result(0x4000)
	w.ret(fn("_Znwm") + 14)
	w.body(8)
	result(0x4000)
	w.ret(main + 5)
	// operator new throws.
	regs(1<<62, 0, 0)
	w.call(main, fn("_Znwm"))
	w.body(-8)
	w.c.R[4] += 16
	w.call(main+20, main)
	w.ret(main + 25)
	// operator delete(p, n) jumps to operator delete(p), which jumps to free.
	regs(0x4000, 40, 0)
	w.call(main, fn("_ZdlPvm"))
	w.c.RIP = fn("_ZdlPv")
	w.Enter(w.c)
	w.c.RIP = fn("free")
	w.Enter(w.c)
	w.ret(main + 5)
	// release() jumps to free.
	regs(0x3000, 0, 0)
	w.call(main, uint64(ms.FuncsNamed("release")[0].Entry))
	w.c.RIP = fn("free")
	w.Enter(w.c)
	w.ret(main + 5)
	regs(0, 0, 0)
	w.call(main, fn("free"))
	w.ret(main + 5)
	want := "malloc 24 at 0x1000; calloc 24 at 0x2000; realloc of 0x1000; realloc 100 at 0x3000 from 0x1000; " +
		"realloc of 0x3000; realloc 1152921504606846976 at 0x3000 from 0x3000 undone; new 40 at 0x4000; " +
		"delete of 0x4000; free of 0x3000"
	if got := strings.Join(log, "; "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if w.Depth() != 1 {
		t.Errorf("depth %d at the end", w.Depth())
	}
}

func BenchmarkFrames(b *testing.B) {
	ms := load(b, build(b, "shapes.cpp", "-g", "-O2"), noDebug)
	f := ms.FuncsNamed("main")[0]
	for i := 0; b.Loop(); i++ {
		ms.makeFrames(f.Entry + emulate.Addr(i)%(f.End-f.Entry))
	}
}
