package funcs

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/racesim/racesim/emulate"
)

// An Image is an ELF file in the guest's memory, as it was recorded.
type Image struct {
	Path    string
	Life    int          // of the process: counts the programs that took its place
	Base    emulate.Addr // what to add to the file's virtual addresses; 0 for programs with fixed ones
	BuildID string       // hex; empty: not recorded, not compared
	Size    int64        // of the file, bytes; 0: not recorded, not compared
	ModTime int64        // of the file, ns since 1970; 0: not recorded, not compared
}

// Options choose where Modules look.
type Options struct {
	// DebugDirs are the roots of separate debug files; nil means
	// /usr/lib/debug. An empty slice that isn't nil means none.
	DebugDirs []string
	// Stored, if it isn't nil, finds what the trace has of a module, or of its
	// separate debugging information; nil: nothing.
	Stored func(im Image, debug bool) *Stored
	// NoDWARF ignores debugging information, as if the files had none.
	NoDWARF bool
}

// Modules are the ELF images of one guest process. They answer what is at an
// address. Files are opened and parsed when first asked about.
type Modules struct {
	opt  Options
	mods []*Module // in the order given
	mu   sync.RWMutex
	byLo []*Module // sorted by lo

	notesMu sync.Mutex
	notes   []string
	noted   map[string]bool

	golang goRuntime
	frames frameCache
	host   hostNames
	bodies sync.Map // emulate.Addr → *Func, see Body
}

// NewModules prepares images for questions. It opens each file to learn its
// extent; one that can't be used is a Note, and addresses in it have no names.
func NewModules(images []Image, opt Options) *Modules {
	if opt.DebugDirs == nil {
		opt.DebugDirs = defaultDebugDirs
	}
	ms := &Modules{opt: opt, noted: map[string]bool{}}
	for _, im := range images {
		ms.Add(im)
	}
	return ms
}

// Add adds an image, such as one that was loaded later. An image that is
// there already, at the same base, is left alone.
func (ms *Modules) Add(im Image) *Module {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.mods {
		if m.Path == im.Path && m.Base == im.Base {
			return m
		}
	}
	m := openModule(ms, im)
	m.index = len(ms.mods)
	ms.mods = append(ms.mods, m)
	byLo := append(append([]*Module(nil), ms.byLo...), m)
	sort.SliceStable(byLo, func(i, j int) bool { return byLo[i].lo < byLo[j].lo })
	ms.byLo = byLo
	return m
}

// All returns the modules in the order in which they were added.
func (ms *Modules) All() []*Module {
	ms.mu.RLock()
	defer ms.mu.RUnlock()
	return append([]*Module(nil), ms.mods...)
}

// ModuleAt returns the module whose segments span a, or nil.
func (ms *Modules) ModuleAt(a emulate.Addr) *Module {
	ms.mu.RLock()
	s := ms.byLo
	ms.mu.RUnlock()
	i := sort.Search(len(s), func(i int) bool { return s[i].lo > uint64(a) })
	for i--; i >= 0; i-- {
		if uint64(a) < s[i].hi {
			return s[i]
		}
		if i < len(s)-4 {
			break // images don't nest; a few replaced ones may overlap
		}
	}
	return nil
}

// Notes returns one sentence for everything that limits the answers: files
// that are missing or have changed, debugging information that can't be read.
// They are sorted: what is found first depends on who asks.
func (ms *Modules) Notes() []string {
	ms.notesMu.Lock()
	defer ms.notesMu.Unlock()
	return slices.Sorted(slices.Values(ms.notes))
}

func (ms *Modules) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	ms.notesMu.Lock()
	defer ms.notesMu.Unlock()
	if !ms.noted[s] {
		ms.noted[s] = true
		ms.notes = append(ms.notes, s)
	}
}

// A Module is one Image with what its file says.
type Module struct {
	Image
	// Kind says whose code this is.
	Kind ModuleKind
	// Static says that the program has no dynamic loader: the run-time is in
	// the same file as the user's code.
	Static bool

	copiesOnce sync.Once
	copies     [][2]uint64 // see copied

	ms     *Modules
	index  int
	bias   uint64 // run-time address minus the file's
	lo, hi uint64 // run-time addresses of the first and past the last byte
	obj    *object

	goOnce sync.Once
	golang bool // see isGo
	pclns  pclnTable

	symOnce  sync.Once
	syms     *symtab
	fdesOnce sync.Once
	fdes     frame.FrameDescriptionEntries
	dbgOnce  sync.Once
	dbg      *debugInfo // nil: none
}

// ModuleKind says whose code a module holds.
type ModuleKind uint8

const (
	_ ModuleKind = iota
	ModUser
	ModLibc      // libc, libm, libpthread, the dynamic loader, …
	ModCxx       // libstdc++, libgcc_s, libc++
	ModOpenMP    // libgomp, libomp
	ModSanitizer // run-times of instrumented programs
	ModAllocator // libraries that stand in for malloc: jemalloc, tcmalloc, …
)

func (k ModuleKind) String() string {
	switch k {
	case ModUser:
		return "user"
	case ModLibc:
		return "C library"
	case ModCxx:
		return "C++ library"
	case ModOpenMP:
		return "OpenMP run-time"
	case ModSanitizer:
		return "sanitizer run-time"
	case ModAllocator:
		return "allocator"
	}
	return "invalid"
}

// Name returns the file's name without its folder.
func (m *Module) Name() string { return filepath.Base(m.Path) }

// Range returns the first address of the module and the one past its last.
func (m *Module) Range() (lo, hi emulate.Addr) { return emulate.Addr(m.lo), emulate.Addr(m.hi) }

// Bias returns the difference between run-time addresses and the file's.
func (m *Module) Bias() uint64 { return m.bias }

// HasDebugInfo says whether source lines are known for at least some code.
func (m *Module) HasDebugInfo() bool { return m.debug() != nil }

func (m *Module) symbols() *symtab {
	m.symOnce.Do(func() { m.syms = loadSymbols(m) })
	return m.syms
}

func (m *Module) debug() *debugInfo {
	m.dbgOnce.Do(func() {
		if m.obj != nil && !m.ms.opt.NoDWARF {
			m.dbg = loadDebug(m)
		}
	})
	return m.dbg
}
