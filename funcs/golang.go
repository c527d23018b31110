package funcs

import (
	"debug/buildinfo"
	"debug/dwarf"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
)

// A program built by the Go tool chain has its run-time in the same file: a
// scheduler, a garbage collector, maps, channels. What these do to their own
// data isn't the program's business; what they do to the program's memory for
// it (copy, clear, grow, look up in a map) is.

// A goRuntime is what must be known of a Go run-time to follow its scheduler.
type goRuntime struct {
	once sync.Once
	m    *Module // nil: the program isn't Go's
	// resume is the instruction by which the scheduler goes on with a
	// goroutine: R14 has its g, RSP its stack pointer, RBX its next instruction.
	resume emulate.Addr
	// copystack moves the stack of the goroutine that is its first argument.
	copystack emulate.Addr
	// leave are the functions by which a thread leaves its goroutine.
	leave  map[uint64]bool
	layout GoLayout
}

// A GoLayout says where the run-time's structures have what matters, in bytes.
// (runtime/runtime2.go, chan.go)
type GoLayout struct {
	GoID                          uint64 // of g, 0: unknown
	ChanCount, ChanSize, ChanLock uint64 // of hchan: qcount, dataqsiz, lock
}

// goLayouts are those of the versions of Go, for programs without debugging
// information; the first one that isn't newer counts.
var goLayouts = []struct {
	minor  int
	layout GoLayout
}{
	{25, GoLayout{GoID: 152, ChanSize: 8, ChanLock: 104}},
	{23, GoLayout{GoID: 160, ChanSize: 8, ChanLock: 96}},
	{0, GoLayout{GoID: 152, ChanSize: 8, ChanLock: 88}},
}

// goLeave are the functions of the run-time that take a goroutine off its
// thread, which others may go on with before the last of them, schedule, is
// called. (runtime/proc.go, coro.go)
var goLeave = []string{"park_m", "goschedImpl", "goyield_m", "preemptPark", "exitsyscallNoP", "exitsyscall0", "coroswitch_m", "goexit0", "schedule"}

// oldestGo is the first version whose timers are known.
const oldestGo = 23

// goMinor returns the x of Go 1.x, which built a module; the newest known one
// if it doesn't say.
func (m *Module) goMinor() int {
	if b, err := buildinfo.ReadFile(m.Path); err == nil {
		if v, ok := strings.CutPrefix(b.GoVersion, "go1."); ok {
			n := 0
			for _, c := range v {
				if c < '0' || c > '9' || n > 1000 {
					break
				}
				n = 10*n + int(c-'0')
			}
			return n
		}
	}
	return goLayouts[0].minor
}

// IsGo says whether the program was built by the Go tool chain.
func (ms *Modules) IsGo() bool { return ms.goRun().m != nil }

// GoInlines says whether functions are known that were expanded in place.
func (ms *Modules) GoInlines() bool { m := ms.goRun().m; return m != nil && m.HasDebugInfo() }

// GoLayout returns the layout of the run-time's structures.
func (ms *Modules) GoLayout() GoLayout { return ms.goRun().layout }

func (ms *Modules) goRun() *goRuntime {
	r := &ms.golang
	r.once.Do(func() {
		for _, m := range ms.All() {
			if m.Kind == ModUser && m.isGo() {
				r.m = m
				break
			}
		}
		if r.m == nil {
			return
		}
		minor := r.m.goMinor()
		for _, l := range goLayouts {
			if minor >= l.minor {
				r.layout = l.layout
				break
			}
		}
		if minor < oldestGo {
			ms.note("%s was built by Go 1.%d: before 1.%d, not all that synchronises is known", r.m.Path, minor, oldestGo)
		}
		if g := r.m.debug(); g != nil {
			g.goLayout(&r.layout)
		}
		r.resume = r.m.findResume()
		exports := r.m.symbols().exports(true)
		if i, ok := exports["runtime.copystack"]; ok {
			r.copystack = emulate.Addr(r.m.symbols().recs[i].lo + r.m.bias)
		}
		r.leave = map[uint64]bool{}
		for _, name := range goLeave {
			if i, ok := exports["runtime."+name]; ok {
				r.leave[r.m.symbols().recs[i].lo+r.m.bias] = true
			}
		}
	})
	return r
}

// isGo says whether the Go linker made m.
func (m *Module) isGo() bool {
	m.goOnce.Do(func() {
		m.golang = m.obj != nil && (m.obj.f.Section(".gopclntab") != nil || m.obj.f.Section(".data.rel.ro.gopclntab") != nil)
	})
	return m.golang
}

// goLayout reads offsets from the debugging information: the linker puts the
// types of all packages in one unit.
func (g *debugInfo) goLayout(l *GoLayout) {
	want := map[string]*uint64{"runtime.g.goid": &l.GoID, "runtime.hchan.qcount": &l.ChanCount, "runtime.hchan.dataqsiz": &l.ChanSize,
		"runtime.hchan.lock": &l.ChanLock}
	for _, u := range g.units {
		if name, _ := u.entry.Val(dwarf.AttrName).(string); name != "runtime" {
			continue
		}
		r := g.d.Reader()
		r.Seek(u.off)
		r.Next()
		in := ""
		for len(want) > 0 {
			e, err := r.Next()
			if err != nil || e == nil || e.Tag == dwarf.TagCompileUnit {
				return
			}
			name, _ := e.Val(dwarf.AttrName).(string)
			switch {
			case e.Tag == dwarf.TagStructType && (name == "runtime.g" || name == "runtime.hchan"):
				in = name
			case e.Tag == dwarf.TagMember && in != "":
				if p := want[in+"."+name]; p != nil {
					if off, ok := e.Val(dwarf.AttrDataMemberLoc).(int64); ok {
						*p = uint64(off)
						delete(want, in+"."+name)
					}
				}
			case e.Tag == 0:
				in = ""
			case e.Children:
				r.SkipChildren()
			}
		}
		return
	}
}

// GoFunc returns the entry of a function of the Go program by the name that its
// symbol has, 0 if there is none. Functions in assembler have a suffix.
func (ms *Modules) GoFunc(name string) emulate.Addr {
	m := ms.goRun().m
	if m == nil {
		return 0
	}
	s := m.symbols()
	for _, n := range [...]string{name, name + ".abi0"} {
		if i, ok := s.exports(true)[n]; ok {
			return emulate.Addr(s.recs[i].lo + m.bias)
		}
	}
	return 0
}

// GoFuncs returns the entries of the functions that ok holds for.
func (ms *Modules) GoFuncs(ok func(name string) bool) []emulate.Addr {
	m := ms.goRun().m
	if m == nil {
		return nil
	}
	var out []emulate.Addr
	for i := range m.symbols().recs {
		if r := &m.symbols().recs[i]; ok(goName(r.name)) {
			out = append(out, emulate.Addr(r.lo+m.bias))
		}
	}
	return out
}

// findResume finds the jump at the end of runtime.gogo, or of the code that it
// jumps to.
func (m *Module) findResume() emulate.Addr {
	s := m.symbols()
	i, ok := s.exports(true)["runtime.gogo.abi0"]
	if !ok {
		if i, ok = s.exports(true)["runtime.gogo"]; !ok {
			return 0
		}
	}
	const longest = 256
	jump := func(lo, hi uint64) uint64 {
		b := m.obj.bytesAt(lo, int(min(hi-lo, longest)))
		for k := 0; k+2 <= len(b); k++ {
			if b[k] == 0xff && b[k+1] == 0xe3 { // jmp *%rbx
				return lo + uint64(k)
			}
		}
		return 0
	}
	r := &s.recs[i]
	at := jump(r.lo, r.hi)
	if b := m.obj.bytesAt(r.lo, int(min(r.hi-r.lo, longest))); at == 0 {
		for k := 0; k+5 <= len(b) && at == 0; k++ {
			if b[k] == 0xe9 { // jmp rel32
				to := r.lo + uint64(k) + 5 + uint64(int64(int32(le.Uint32(b[k+1:]))))
				if j := s.find(to); j >= 0 {
					at = jump(s.recs[j].lo, s.recs[j].hi)
				}
			}
		}
	}
	if at == 0 {
		return 0
	}
	return emulate.Addr(at + m.bias)
}

// goName is a symbol without the mark of its calling convention.
func goName(sym string) string {
	return strings.TrimSuffix(strings.TrimSuffix(sym, ".abi0"), ".abiinternal")
}

// goPackage returns the path of the package that a function's name begins with,
// "" if it isn't a name of Go's.
func goPackage(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i] // type arguments have paths of their own
	}
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if dot <= 0 {
		return ""
	}
	return name[:slash+1+dot]
}

// isGoRuntime says whether a function of a Go program belongs to its run-time.
// Some of the run-time's functions bear names of other packages (go:linkname):
// the debugging information knows better.
func (m *Module) isGoRuntime(name string, at uint64) bool {
	name = goName(name)
	if strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "type..") {
		return false // comparing and hashing values of the program's types
	}
	if strings.HasPrefix(name, "_cgo_") || strings.HasPrefix(name, "x_cgo_") {
		return true
	}
	pkg := goPackage(name)
	if runtimePackage(pkg) {
		return true
	}
	if g := m.debug(); g != nil {
		if u := g.unitAt(at); u != nil {
			unit, _ := u.entry.Val(dwarf.AttrName).(string)
			return runtimePackage(unit)
		}
	}
	if pkg == "" {
		// Local functions in assembler, if there is no C code: most are the
		// run-time's.
		return m.Static || strings.HasPrefix(name, "gcWriteBarrier") || strings.HasPrefix(name, "gogo") || strings.HasPrefix(name, "gosave") || strings.HasPrefix(name, "aeshash")
	}
	return isGoLibrary(name) && m.inRuntimeSource(at) || linknamed[name] || strings.Contains(name, ".runtime_")
}

// runtimePackage says whether a package is the run-time or what it is made of.
func runtimePackage(pkg string) bool {
	switch pkg {
	case "runtime", "internal/abi", "internal/bytealg", "internal/chacha8rand", "internal/cpu", "runtime/cgo":
		return true
	}
	return strings.HasPrefix(pkg, "internal/runtime/") || strings.HasPrefix(pkg, "runtime/internal/")
}

// linknamed are functions of the run-time under names of other packages, for
// programs without debugging information.
var linknamed = map[string]bool{
	"time.Sleep": true, "time.newTimer": true, "time.stopTimer": true, "time.resetTimer": true, "time.now": true,
	"internal/sync.throw": true, "internal/sync.fatal": true, "sync.throw": true, "sync.fatal": true, "sync.event": true,
	"os/signal.signal_recv": true, "os/signal.signal_enable": true, "os/signal.signal_disable": true, "os/signal.signal_ignore": true,
	"syscall.Exit": true, "os.sigpipe": true,
}

// goRuntimeOf classifies a function of the Go run-time.
func goRuntimeOf(f *Func) Runtime {
	name := goName(f.Linkage)
	r := Runtime{Name: name, Category: Internal, Go: true}
	pkg := goPackage(name)
	switch {
	case pkg == "internal/runtime/maps" || pkg == "internal/runtime/atomic" || strings.HasPrefix(pkg, "internal/runtime/syscall"):
		r.Category = MemoryFn
	case strings.HasPrefix(name, "_cgo_") || strings.HasPrefix(name, "x_cgo_"):
		r.Category = MemoryFn // C, which uses the C library
	case pkg != "runtime":
	case strings.HasPrefix(name, "runtime.mallocgc"):
		r.Category, r.Alloc = Allocator, RoleGo
	default:
		short := name[len("runtime."):]
		if goMemory[short] {
			r.Category = MemoryFn
		}
		for _, p := range goMemoryPrefixes {
			if strings.HasPrefix(short, p) {
				r.Category = MemoryFn
			}
		}
	}
	return r
}

// goMemory are the functions of package runtime that work on the program's
// memory, or get it some.
var goMemory = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`memmove memclrNoHeapPointers memclrNoHeapPointersChunked memclrHasPointers duffzero duffcopy
		typedmemmove typedmemclr typedslicecopy typedmemclrpartial wbZero wbMove slicecopy growslice nextslicecap newobject newarray
		makeslice makeslice64 makeslicecopy unsafestring unsafeslice rawstring rawbyteslice rawruneslice
		concatstrings concatstring2 concatstring3 concatstring4 concatstring5 concatbytes concatbyte2 concatbyte3 concatbyte4 concatbyte5
		slicebytetostring stringtoslicebyte stringtoslicerune slicerunetostring intstring decoderune countrunes rawstringtmp
		reflect_typedmemmove reflect_typedslicecopy memequal0 memequal8 memequal16 memequal32 memequal64 memequal128
		strequal interequal nilinterequal f32equal f64equal c64equal c128equal efaceeq ifaceeq
		memhash8 memhash16 memhash32 memhash64 memhash128 strhash interhash nilinterhash f32hash f64hash c64hash c128hash typehash
		makemap makemap64 makemap_small mapclone mapclear`) {
		m[n] = true
	}
	return m
}()

var goMemoryPrefixes = []string{"mapassign", "mapaccess", "mapdelete", "mapiter", "mapIter", "convT", "maps_", "reflect_map", "growslice", "racefree"}

// goStandard are the first parts of the standard library's package paths.
var goStandard = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar
		flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime simd slices sort
		strconv strings structs sync syscall testing text time unicode unique vendor weak`) {
		m[n] = true
	}
	return m
}()

// isGoLibrary says whether a function's name is the standard library's.
func isGoLibrary(name string) bool {
	if strings.HasPrefix(name, "type:") {
		return true
	}
	pkg := goPackage(name)
	first, _, _ := strings.Cut(pkg, "/")
	return goStandard[first]
}
