package funcs

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/ianlancetaylor/demangle"

	"github.com/racesim/racesim/emulate"
)

// A Func is one function of the guest: an entry and the code up to End. The
// parts of a function that the compiler moved away (.cold) are Funcs of their
// own with the same Name.
type Func struct {
	Name    string   // demangled, without parameters; never empty
	Linkage string   // as in the symbol table; "" if the file doesn't say
	Aliases []string // other symbols at the entry
	Entry   emulate.Addr
	End     emulate.Addr // first address past it
	Module  *Module

	// PLT says that this is a stub that jumps to another module's Name.
	PLT bool
	// IFunc says that the symbol's code is chosen at start-up.
	IFunc bool
	// Runtime says that it belongs to the C or C++ run-time, not to the user.
	Runtime bool
	// Library says that it is the standard library's code compiled into the
	// user's program (a template, an inline function).
	Library bool

	kind atomic.Pointer[kind] // what Modules.Runtime answered
}

// A kind is an answer of Modules.Runtime.
type kind struct {
	r  Runtime
	ok bool
}

// Contains says whether pc is in f.
func (f *Func) Contains(pc emulate.Addr) bool { return pc >= f.Entry && pc < f.End }

// FuncAt returns the function that pc is in, or nil if pc is in no module
// that could be read. Code that no symbol covers is bounded by .eh_frame and
// named module+offset.
func (ms *Modules) FuncAt(pc emulate.Addr) *Func {
	m := ms.ModuleAt(pc)
	if m == nil || m.obj == nil {
		return nil
	}
	s := m.symbols()
	i := s.find(uint64(pc) - m.bias)
	if i < 0 {
		return nil
	}
	return m.funcOf(s, i)
}

// Exported returns the function that a global symbol names, as the dynamic
// loader would find it: in the first module that has it. nil if none has.
func (ms *Modules) Exported(sym string) *Func {
	for _, m := range ms.All() {
		if m.obj == nil {
			continue
		}
		s := m.symbols()
		if i, ok := s.exports(m.Static)[sym]; ok {
			return m.funcOf(s, i)
		}
	}
	return nil
}

// ExportedIn is Exported for code of a life of the process: a program that takes
// another's place has a loader and libraries of its own. What that life has none
// of is looked for in all.
func (ms *Modules) ExportedIn(life int, sym string) *Func {
	for _, m := range ms.All() {
		if m.obj == nil || m.Life != life {
			continue
		}
		s := m.symbols()
		if i, ok := s.exports(m.Static)[sym]; ok {
			return m.funcOf(s, i)
		}
	}
	return ms.Exported(sym)
}

// ExportedEver returns what a global symbol names in each life of the process,
// in order.
func (ms *Modules) ExportedEver(sym string) []*Func {
	var out []*Func
	life := -1
	for _, m := range ms.All() {
		if m.Life == life {
			continue
		}
		life = m.Life
		if f := ms.ExportedIn(life, sym); f != nil && f.Module.Life == life {
			out = append(out, f)
		}
	}
	return out
}

// exports returns the indices of the global functions by symbol. In static
// programs the linker may have made them local.
func (s *symtab) exports(static bool) map[string]int {
	s.expOnce.Do(func() {
		s.exp = map[string]int{}
		for i := range s.recs {
			r := &s.recs[i]
			if !r.global && !static || r.plt || r.name == "" {
				continue
			}
			if k, ok := s.exp[r.name]; ok && s.recs[k].global && !r.global {
				continue
			}
			s.exp[r.name] = i
			for _, a := range r.aliases {
				s.exp[a] = i
			}
		}
	})
	return s.exp
}

// funcOf returns the Func of s.recs[i], made when first asked for.
func (m *Module) funcOf(s *symtab, i int) *Func {
	if f := s.funcs[i].Load(); f != nil {
		return f
	}
	r := &s.recs[i]
	f := &Func{
		Linkage: r.name, Aliases: r.aliases, Module: m, PLT: r.plt, IFunc: r.ifunc,
		Entry: emulate.Addr(r.lo + m.bias), End: emulate.Addr(r.hi + m.bias),
	}
	switch {
	case r.name == "":
		f.Name = fmt.Sprintf("%s+0x%x", m.Name(), r.lo)
	case r.plt:
		f.Name = Demangle(r.name) + "@plt"
	default:
		f.Name = Demangle(r.name)
	}
	f.Runtime = m.isRuntime(s, i, f)
	f.Library = !f.Runtime && (isStdName(f.Name) || m.isGo() && isGoLibrary(f.Name))
	if !s.funcs[i].CompareAndSwap(nil, f) {
		return s.funcs[i].Load()
	}
	return f
}

// FuncsNamed returns the functions whose demangled name or symbol matches
// pattern: a name (deposit, Account::deposit), or a shell pattern as of
// path.Match (test_*). PLT stubs aren't returned. Run-time functions only if
// none of the user's matches.
func (ms *Modules) FuncsNamed(pattern string) []*Func {
	var user, rt []*Func
	seen := map[emulate.Addr]bool{}
	for _, m := range ms.All() {
		if m.obj == nil {
			continue
		}
		s := m.symbols()
		for i := range s.recs {
			r := &s.recs[i]
			if r.plt || r.name == "" || !matchRec(pattern, r) {
				continue
			}
			f := m.funcOf(s, i)
			if seen[f.Entry] {
				continue
			}
			seen[f.Entry] = true
			if f.Runtime {
				rt = append(rt, f)
			} else {
				user = append(user, f)
			}
		}
	}
	if len(user) > 0 {
		return user
	}
	return rt
}

func matchRec(pattern string, r *funcRec) bool {
	if matchName(pattern, r.name) || matchName(pattern, Demangle(r.name)) {
		return true
	}
	for _, a := range r.aliases {
		if matchName(pattern, a) {
			return true
		}
	}
	return false
}

func matchName(pattern, name string) bool {
	if pattern == name {
		return true
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// clones are the suffixes that gcc gives to partial copies of a function.
var clones = regexp.MustCompile(`(\.(cold|part|isra|constprop|lto_priv|llvm|localalias|actor|destroy|_omp_fn)(\.[0-9]+)*)+$`)

// Demangle returns the name of a symbol as in the source, without parameters
// and without the suffixes of compiler-made copies. What isn't mangled comes
// back as it is. Bodies of OpenMP regions are named after their function.
func Demangle(sym string) string {
	base := sym
	suffix := ""
	if i := strings.IndexByte(sym, '.'); i > 0 {
		if loc := clones.FindStringIndex(sym); loc != nil {
			base = sym[:loc[0]]
			if strings.Contains(sym[loc[0]:], "._omp_fn") {
				suffix = " [omp]"
			}
		}
	}
	if strings.HasPrefix(base, "_Z") || strings.HasPrefix(base, "_R") {
		if s, err := demangle.ToString(base, demangle.NoParams, demangle.NoClones, demangle.NoEnclosingParams); err == nil {
			return s + suffix
		}
	}
	return base + suffix
}

// isStdName says whether a demangled name is the standard library's.
func isStdName(name string) bool {
	for _, p := range [...]string{"std::", "__gnu_cxx::", "__gnu_parallel::", "__gthread", "__gthrw_", "operator new", "operator delete"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	// Templates' names come with their return type.
	if i := strings.IndexByte(name, ' '); i > 0 {
		for _, p := range [...]string{" std::", " __gnu_cxx::"} {
			if j := strings.Index(name, p); j > 0 && !strings.ContainsAny(name[:j], "(<") {
				return true
			}
		}
	}
	return false
}
