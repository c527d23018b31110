package funcs

import (
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
)

// Category says what a run-time function's accesses mean for races.
type Category uint8

const (
	_ Category = iota
	// SyncAPI functions synchronise. What they do to their own objects is
	// their business; the order they give comes from the atomic operations
	// and system calls they are made of.
	SyncAPI
	// Allocator functions hand out and take back memory. Their bookkeeping is
	// their business; see AllocRole for what they announce.
	Allocator
	// Internal functions keep state of their own behind locks or atomics
	// (stdio, locales, the dynamic loader). That state isn't the user's, and
	// their atomic operations don't order the user's data.
	Internal
	// Unsafe functions keep unprotected state on behalf of their caller: two
	// threads in them race, and it is the user's mistake.
	Unsafe
	// MemoryFn functions read and write memory that the user gave them: their
	// accesses are the user's, at the call.
	MemoryFn
)

func (c Category) String() string {
	switch c {
	case SyncAPI:
		return "synchronisation"
	case Allocator:
		return "allocator"
	case Internal:
		return "internal"
	case Unsafe:
		return "unsafe"
	case MemoryFn:
		return "memory"
	}
	return "invalid"
}

// UserAccess says whether an access that a function of category c makes is to
// be seen as the access of the user who called it.
func (c Category) UserAccess() bool { return c == Unsafe || c == MemoryFn }

// AllocRole says what an allocator function does.
type AllocRole uint8

const (
	NoAlloc           AllocRole = iota
	RoleMalloc                  // (size) -> block
	RoleCalloc                  // (count, size) -> zeroed block
	RoleRealloc                 // (block, size) -> block
	RoleReallocArray            // (block, count, size) -> block
	RoleMemalign                // (alignment, size) -> block
	RolePosixMemalign           // (*block, alignment, size) -> 0
	RoleNew                     // operator new(size): -> block, or an exception
	RoleNewArray                // operator new[](size)
	RoleGo                      // Go: (size in RAX) -> block in RAX
	RoleFree                    // (block)
	RoleDelete                  // operator delete(block)
	RoleDeleteArray             // operator delete[](block)
)

var allocNames = [...]string{"none", "malloc", "calloc", "realloc", "reallocarray", "memalign", "posix_memalign", "new", "new[]", "mallocgc", "free", "delete", "delete[]"}

func (r AllocRole) String() string {
	if int(r) < len(allocNames) {
		return allocNames[r]
	}
	return "invalid"
}

// Frees says whether r gives memory back.
func (r AllocRole) Frees() bool { return r >= RoleFree }

// A Runtime says what a run-time function is.
type Runtime struct {
	Name     string // the symbol that was recognised; module+offset if the code has none
	Category Category
	Alloc    AllocRole
	Go       bool   // of a Go program
	Note     string // for Unsafe: the glibc manual's safety annotation
}

// Runtime classifies a function. ok is false for the user's functions.
func (ms *Modules) Runtime(f *Func) (r Runtime, ok bool) {
	if f == nil {
		return Runtime{}, false
	}
	k := f.kind.Load()
	if k == nil {
		k = new(kind)
		k.r, k.ok = ms.classify(f)
		f.kind.Store(k)
	}
	return k.r, k.ok
}

func (ms *Modules) classify(f *Func) (r Runtime, ok bool) {
	if f.Runtime && f.Module.isGo() {
		return goRuntimeOf(f), true
	}
	if f.PLT {
		// The stub stands for the function behind it.
		if to := f.Module.ms.ExportedIn(f.Module.Life, f.Linkage); to != nil {
			return ms.Runtime(to)
		}
		r, ok := classifyName(f.Linkage)
		if !ok && f.Runtime {
			r = Runtime{Name: f.Linkage, Category: defaultFor(f.Linkage)}
		}
		return r, f.Runtime
	}
	if !f.Runtime {
		// A user's own malloc or operator new is an allocator all the same.
		if r, ok := classifyName(f.Linkage); ok && r.Category == Allocator {
			return r, false
		}
		return Runtime{}, false
	}
	best := Runtime{}
	names := append([]string{f.Linkage}, f.Aliases...)
	for _, n := range names {
		if r, ok := classifyName(n); ok {
			if best.Category == 0 || r.Alloc != NoAlloc && best.Alloc == NoAlloc {
				best = r
			}
		}
	}
	if best.Category != 0 {
		return best, true
	}
	name := f.Linkage
	if name == "" {
		name = f.Name
	}
	return Runtime{Name: name, Category: f.Module.defaultCategory(f.Linkage)}, true
}

// classifyName looks a symbol up in the table.
func classifyName(sym string) (Runtime, bool) {
	if i := strings.IndexByte(sym, '@'); i > 0 {
		sym = sym[:i]
	}
	if sym == "" {
		return Runtime{}, false
	}
	if r, ok := runtimeNames()[sym]; ok {
		return r, true
	}
	for _, p := range runtimePrefixes {
		if strings.HasPrefix(sym, p.prefix) {
			return Runtime{Name: sym, Category: p.cat, Note: p.note}, true
		}
	}
	return Runtime{}, false
}

// runtimeNames expands the table once.
var runtimeNames = sync.OnceValue(func() map[string]Runtime {
	m := map[string]Runtime{}
	for _, row := range runtimeTable {
		for _, n := range strings.Fields(row.names) {
			m[n] = Runtime{Name: n, Category: row.cat, Alloc: row.alloc, Note: row.note}
		}
	}
	return m
})

// defaultCategory is for functions of the run-time that the table doesn't
// name.
func (m *Module) defaultCategory(sym string) Category {
	switch m.Kind {
	case ModOpenMP:
		return SyncAPI
	case ModAllocator:
		return Allocator
	}
	return defaultFor(sym)
}

// defaultFor judges by name alone: what libstdc++ does to strings and
// containers it does to the user's memory; everything else is internal.
func defaultFor(sym string) Category {
	for _, p := range cxxMemoryPrefixes {
		if strings.HasPrefix(sym, p) {
			return MemoryFn
		}
	}
	return Internal
}

// moduleKinds recognise run-time libraries by their file names.
var moduleKinds = []struct {
	re   *regexp.Regexp
	kind ModuleKind
}{
	{regexp.MustCompile(`^(libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libanl|libcrypt|libnsl|libnss_\w+|libBrokenLocale|libthread_db)([-.]\d+(\.\d+)*)?\.so(\.\d+)*$`), ModLibc},
	{regexp.MustCompile(`^ld(-linux-x86-64|-musl-x86_64|64|-\d+\.\d+)?\.so(\.\d+)*$`), ModLibc},
	{regexp.MustCompile(`^(libstdc\+\+|libgcc_s|libc\+\+|libc\+\+abi|libunwind|libsupc\+\+|libatomic|libquadmath)\.so`), ModCxx},
	{regexp.MustCompile(`^(libgomp|libomp|libiomp5)([-.]\w+)?\.so`), ModOpenMP},
	{regexp.MustCompile(`^lib(jemalloc|tcmalloc|mimalloc|tbbmalloc|hoard|snmalloc|rpmalloc|nedmalloc|scudo)([-_]\w+)*([-.]\d[\w.]*)?\.so`), ModAllocator},
	{regexp.MustCompile(`^lib(asan|tsan|ubsan|lsan|hwasan)\.so`), ModSanitizer},
}

func moduleKind(path string) ModuleKind {
	if strings.HasPrefix(path, "[vdso") {
		return ModLibc
	}
	base := filepath.Base(path)
	for _, k := range moduleKinds {
		if k.re.MatchString(base) {
			return k.kind
		}
	}
	return ModUser
}

// isRuntime says whether a function of m is the run-time's: by its module, and
// in programs that contain their run-time, one by one.
func (m *Module) isRuntime(s *symtab, i int, f *Func) bool {
	if m.Kind != ModUser {
		return true
	}
	r := &s.recs[i]
	if m.isGo() && !r.plt {
		return m.isGoRuntime(r.name, r.lo)
	}
	if r.plt {
		// What is behind the stub matters.
		if to := m.ms.ExportedIn(m.Life, r.name); to != nil {
			return to.Runtime
		}
		_, ok := classifyName(r.name)
		return ok || m.ms.hostNames().has(r.name)
	}
	if startFiles[r.name] {
		return true
	}
	if !m.Static {
		// A dynamic program may still contain libgcc or libstdc++.
		if g := m.debug(); g != nil {
			if _, sub := g.subAt(r.lo); sub != nil {
				return false
			}
		}
		return strings.HasPrefix(r.name, "_Unwind_") || strings.HasPrefix(r.name, "__cxa_") || strings.HasPrefix(r.name, "GOMP_")
	}
	if g := m.debug(); g != nil {
		_, sub := g.subAt(r.lo)
		return sub == nil
	}
	if !s.named {
		m.ms.note("%s is static and has no symbols: its run-time can't be told from the program", m.Path)
		return false
	}
	return m.staticRuntime(s, i)
}

// startFiles are the functions of crt1.o, crti.o, crtbegin.o.
var startFiles = map[string]bool{
	"_start": true, "_init": true, "_fini": true, "deregister_tm_clones": true, "register_tm_clones": true,
	"__do_global_dtors_aux": true, "frame_dummy": true, "_dl_relocate_static_pie": true,
	"__libc_csu_init": true, "__libc_csu_fini": true,
}

// staticRuntime judges a function of a static program without debugging
// information: by the names that the host's libraries export, by names that
// are reserved for the implementation, and for the rest by company: the
// linker places the members of an archive together.
func (m *Module) staticRuntime(s *symtab, i int) bool {
	known := func(r *funcRec) (rt, sure bool) {
		if startFiles[r.name] {
			return false, true // between them and the archives stands the user's code
		}
		if _, ok := classifyName(r.name); ok || m.ms.hostNames().has(r.name) {
			return true, true
		}
		for _, p := range internalPrefixes {
			if strings.HasPrefix(r.name, p) {
				return true, true
			}
		}
		if r.name == "" || r.global && reserved(r.name) > 0 {
			return true, true
		}
		// The members of libc.a are linked from parts, and name an object where
		// compilers name a source.
		if strings.HasSuffix(r.origin, ".o") || m.inSection(r.lo, "__libc_freeres_fn") {
			return true, true
		}
		return false, r.global
	}
	if rt, sure := known(&s.recs[i]); sure {
		return rt
	}
	before, after := false, false
	for k := i - 1; k >= 0; k-- {
		if rt, sure := known(&s.recs[k]); sure {
			before = rt
			break
		}
	}
	for k := i + 1; k < len(s.recs); k++ {
		if rt, sure := known(&s.recs[k]); sure {
			after = rt
			break
		}
	}
	return before && after
}

// inSection says whether file address a is in the section called name.
func (m *Module) inSection(a uint64, name string) bool {
	s := m.obj.f.Section(name)
	return s != nil && a >= s.Addr && a < s.Addr+s.Size
}

// hostNames are the functions that this machine's run-time libraries export.
type hostNames struct {
	once  sync.Once
	names map[string]bool
}

// hostLibraries are where Debian, Fedora and Arch keep them.
var hostLibraries = []string{
	"libc.so.6", "libm.so.6", "libpthread.so.0", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1",
}

var hostDirs = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"}

func (ms *Modules) hostNames() *hostNames {
	h := &ms.host
	h.once.Do(func() {
		h.names = map[string]bool{}
		for _, lib := range hostLibraries {
			for _, dir := range hostDirs {
				f, err := elf.Open(filepath.Join(dir, lib))
				if err != nil {
					continue
				}
				syms, _ := f.DynamicSymbols()
				for _, s := range syms {
					t := elf.ST_TYPE(s.Info)
					if s.Section != elf.SHN_UNDEF && (t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC) {
						h.names[s.Name] = true
					}
				}
				f.Close()
				break
			}
		}
	})
	return h
}

func (h *hostNames) has(sym string) bool {
	if i := strings.IndexByte(sym, '@'); i > 0 {
		sym = sym[:i]
	}
	return h.names[sym]
}

// InRuntime says whether a lies in a run-time library: code, or state that
// isn't the user's. In static programs nothing can be told apart by address.
func (ms *Modules) InRuntime(a emulate.Addr) bool {
	m := ms.ModuleAt(a)
	if m == nil || m.Kind != ModUser {
		return m != nil
	}
	return m.copied(uint64(a) - m.bias)
}

// copied says whether a, an address of m's file, lies in a copy of a run-time
// library's variable: programs have std::cout and stdout in their own data
// (psABI, R_X86_64_COPY).
func (m *Module) copied(a uint64) bool {
	m.copiesOnce.Do(func() {
		if m.obj == nil {
			return
		}
		syms, err := m.obj.f.DynamicSymbols()
		rela := m.obj.f.Section(".rela.dyn")
		if err != nil || rela == nil {
			return
		}
		b, err := rela.Data()
		if err != nil {
			return
		}
		for ; len(b) >= 24; b = b[24:] {
			info := binary.LittleEndian.Uint64(b[8:])
			i := info >> 32
			if elf.R_X86_64(uint32(info)) != elf.R_X86_64_COPY || i == 0 || i > uint64(len(syms)) || !cLibraryVersion.MatchString(syms[i-1].Version) {
				continue
			}
			at := binary.LittleEndian.Uint64(b)
			m.copies = append(m.copies, [2]uint64{at, at + syms[i-1].Size})
		}
	})
	for _, c := range m.copies {
		if a >= c[0] && a < c[1] {
			return true
		}
	}
	return false
}

// cLibraryVersion matches the versions that the run-time libraries give their
// symbols.
var cLibraryVersion = regexp.MustCompile(`^(GLIBC|GLIBCXX|CXXABI|GOMP|OMP)_`)
