package funcs

import (
	"strings"
	"testing"
)

func TestVariablesAreNamedByMemberPath(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O2", "-no-pie"}, {"-g", "-O1", "-static"}, {"-g", "-gdwarf-4"}} {
		prog := build(t, "bank.c", flags...)
		ms := load(t, prog, Options{DebugDirs: []string{}})
		for _, c := range []struct {
			symbol string
			off    int
			size   int
			path   string
			typ    string
		}{
			{"balance", 0, 4, "balance", "int"},
			{"balance", 2, 1, "balance", "int"},
			{"conf", 0, 1, "conf.name[0]", "char"},
			{"conf", 5, 1, "conf.name[5]", "char"},
			{"conf", 16, 8, "conf.level", "double"},
			{"conf", 24, 2, "conf.in.a", "short"},
			{"conf", 26, 1, "conf.in.f1|f2", "unsigned"},
			{"conf", 32, 8, "conf.u.l", "long"},
			{"conf", 33, 1, "conf.u.l", "long"},
			{"ring", 28, 4, "ring[3].y", "int"},
			{"ring", 24, 8, "ring[3]", "point"},
			{"hidden", 40, 8, "hidden[1][2]", "volatile long"},
			{"calls", 0, 4, "counter::calls", "int"},
		} {
			a := symbol(t, ms, c.symbol)
			v, ok := ms.VarAtSize(a+emu(c.off), c.size)
			if !ok || v.Path != c.path || v.Offset != int64(c.off) || v.Kind != VarGlobal {
				t.Errorf("%v: %s+%d: got %q offset %d (%v), want %q", flags, c.symbol, c.off, v.Path, v.Offset, ok, c.path)
				continue
			}
			if !strings.HasPrefix(v.Type, c.typ) {
				t.Errorf("%v: %s: type %q, want %q", flags, c.path, v.Type, c.typ)
			}
			if !strings.HasSuffix(v.File, "testdata/bank.c") || v.Line == 0 {
				t.Errorf("%v: %s declared at %s:%d", flags, c.path, v.File, v.Line)
			}
		}
		if l := ms.AddrOfVar("calls"); len(l) != 1 || l[0].Addr != symbol(t, ms, "calls") {
			t.Errorf("%v: AddrOfVar(calls) = %+v", flags, l)
		}
		if v, ok := ms.VarAt(symbol(t, ms, "main")); ok {
			t.Errorf("%v: main is a variable: %+v", flags, v)
		}
	}
}

func TestVariablesFromSymbolsAlone(t *testing.T) {
	ms := load(t, build(t, "bank.c", "-O2"), Options{DebugDirs: []string{}})
	v, ok := ms.VarAt(symbol(t, ms, "ring") + 20)
	if !ok || v.Path != "ring+20" || v.Size != 64 || v.Offset != 20 {
		t.Errorf("got %+v %v, want ring+20", v, ok)
	}
}

func TestThreadLocalVariables(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O2", "-static"}} {
		ms := load(t, build(t, "bank.c", flags...), Options{DebugDirs: []string{}})
		m := ms.All()[0]
		const fs = 0x7ffff7d80740
		found := map[string]bool{}
		for a := emu(fs - 256); a < fs; a++ {
			if v, ok := ms.TLSVarAt(fs, a); ok && v.Kind == VarTLS {
				found[v.Path] = true
			}
		}
		for _, want := range []string{"per_thread", "tls_point.x", "tls_point.y"} {
			if !found[want] {
				t.Errorf("%v: %s isn't below the thread pointer of %s; found %v", flags, want, m.Name(), found)
			}
		}
		if _, ok := ms.TLSVarAt(fs, fs); ok {
			t.Errorf("the thread control block is a variable")
		}
	}
}

func TestLocalsByFrame(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O1"}} {
		ms := load(t, build(t, "bank.c", flags...), Options{DebugDirs: []string{}})
		f := ms.FuncsNamed("local")
		if len(f) != 1 {
			t.Fatalf("%v: local is %d functions", flags, len(f))
		}
		const cfa = 0x7fffffffe000
		found := map[string]string{}
		for pc := f[0].Entry; pc < f[0].End; pc++ {
			for a := emu(cfa - 128); a < cfa; a++ {
				if v, ok := ms.LocalAt(pc, cfa, a); ok {
					found[v.Path] = v.Type
				}
			}
		}
		for _, want := range []string{"here.y", "grid[2]"} {
			if found[want] == "" {
				if flags[1] != "-O0" && want == "here.y" {
					continue // kept in registers
				}
				t.Errorf("%v: no local %s; found %v", flags, want, found)
			}
		}
	}
}

func TestSignatures(t *testing.T) {
	ms := load(t, build(t, "bank.c", "-g", "-O0"), Options{DebugDirs: []string{}})
	sig := func(name string) Signature {
		f := ms.FuncsNamed(name)
		if len(f) != 1 {
			t.Fatalf("%s is %d functions", name, len(f))
		}
		s := ms.Signature(f[0])
		if !s.Known {
			t.Fatalf("%s: signature isn't known", name)
		}
		return s
	}
	s := sig("scale")
	want := []struct {
		name string
		reg  Reg
	}{{"f", RegXMM0}, {"p", RegRDI}, {"s", RegRSI}, {"n", RegRDX}}
	if len(s.Params) != len(want) {
		t.Fatalf("scale has %d parameters", len(s.Params))
	}
	for i, w := range want {
		p := s.Params[i]
		if p.Name != w.name || len(p.Regs) != 1 || p.Regs[0] != w.reg {
			t.Errorf("scale: parameter %d is %s in %v, want %s in %v", i, p.Name, p.Regs, w.name, w.reg)
		}
	}
	if s.Result.Class != ClassSSE || s.Result.Regs[0] != RegXMM0 {
		t.Errorf("scale returns %v in %v", s.Result.Class, s.Result.Regs)
	}
	if s := sig("release"); s.Result.Class != ClassVoid || len(s.Result.Regs) != 0 {
		t.Errorf("release returns %v in %v", s.Result.Class, s.Result.Regs)
	}
	if s := sig("work"); s.Result.Class != ClassInteger || s.Result.Type.Kind != TypePointer {
		t.Errorf("work returns %v", s.Result)
	}
}

func TestCxxNames(t *testing.T) {
	ms := load(t, build(t, "shapes.cpp", "-g", "-O0"), Options{DebugDirs: []string{}})
	for _, name := range []string{"geo::Rect::area", "thrower", "geo::total<int>", "geo::Rect::Rect"} {
		if len(ms.FuncsNamed(name)) == 0 && len(ms.FuncsNamed("* "+name)) == 0 {
			t.Errorf("no function %s", name)
		}
	}
	for sym, path := range map[string]string{"unit": "unit.w", "_ZN3geo4Rect4madeE": "geo::Rect::made", "_ZN3geo12_GLOBAL__N_15quietE": "geo::(anonymous namespace)::quiet"} {
		off, size := emu(0), 4
		if sym == "unit" {
			off, size = 16, 8
		}
		if v, ok := ms.VarAtSize(symbol(t, ms, sym)+off, size); !ok || v.Path != path {
			t.Errorf("%s: got %q, want %q", sym, v.Path, path)
		}
	}
	if v, ok := ms.VarAtSize(symbol(t, ms, "unit")+8, 4); !ok || v.Path != "unit.id" {
		t.Errorf("member of a base class: got %q, want unit.id", v.Path)
	}
}

func TestPCsOfLine(t *testing.T) {
	ms := load(t, build(t, "bank.c", "-g", "-O0"), Options{DebugDirs: []string{}})
	r := ms.PCsOfLine("bank.c", 20)
	if len(r) == 0 {
		t.Fatal("no code for bank.c:20")
	}
	for _, x := range r {
		if f, l := ms.Line(x.Lo); l != 20 || !strings.HasSuffix(f, "bank.c") {
			t.Errorf("0x%x is %s:%d", uint64(x.Lo), f, l)
		}
		if fn := ms.FuncAt(x.Lo); fn.Name != "twice" && fn.Name != "counter" {
			t.Errorf("0x%x is in %s", uint64(x.Lo), fn.Name)
		}
	}
	if r := ms.PCsOfLine("ank.c", 20); len(r) != 0 {
		t.Errorf("part of a file's name matched: %v", r)
	}
}
