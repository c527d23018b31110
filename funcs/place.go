package funcs

import (
	"strings"

	"github.com/racesim/racesim/emulate"
)

// A Place says whose an access is: the user's own code's, or that of a
// run-time function which the user's code called.
type Place struct {
	// Category is 0 for the user's own code, else what the run-time's code is
	// to races. It is that of the outermost run-time function, unless one
	// further in is an allocator's, a synchronisation's or the loader's.
	Category Category
	// Runtime is the outermost run-time function's row; nil for user code. In
	// the threads of an OpenMP run-time it is that run-time's, not the C
	// library's that started them.
	Runtime *Runtime
	// User is the nearest node of the user's code, 0 if there is none (the
	// run-time's own threads and start-up), and UserPC the place in it: of
	// the access, or of the call to the run-time.
	User   NodeID
	UserPC emulate.Addr
}

// Own says whether memory that c touches is the run-time's own business.
func (c Category) Own() bool { return c == SyncAPI || c == Allocator || c == Internal }

// Class returns the category of the code that a node entered; 0 for the
// user's. For a block's Alloc.Node it says whether the run-time allocated the
// block for itself: see Category.Own.
func (t *Tree) Class(id NodeID) Category {
	if id == 0 || id >= t.n.Load() {
		return 0
	}
	return t.node(id).place.Category
}

// RuntimeData says whether a lies in a run-time library's code or data.
func (t *Tree) RuntimeData(a uint64) bool { return t.ms != nil && t.ms.InRuntime(emulate.Addr(a)) }

// Place classifies an access at pc of a thread whose call path is id.
func (t *Tree) Place(id NodeID, pc emulate.Addr) Place {
	user := Place{User: id, UserPC: pc}
	if t.ms == nil || id == 0 || id >= t.n.Load() {
		return user
	}
	n := t.node(id)
	if n.fn != nil && n.fn.Contains(pc) {
		if n.fn.PLT {
			return t.stub(n, pc)
		}
		p := n.place
		if p.Category == 0 {
			p.UserPC = pc
		}
		return p
	}
	f := t.ms.FuncAt(pc)
	switch {
	case f == nil:
		if n.place.Category != 0 {
			return n.place
		}
		return user
	case f.PLT:
		return t.stub(n, pc)
	case !f.Runtime:
		// Another part of the function, or one that the run-time jumped to.
		return user
	case n.place.Category != 0:
		// Further inside the run-time than the last call, by a jump.
		p := n.place
		if r, _ := t.ms.Runtime(f); !p.Category.Own() && decisive(f, r) {
			p.Category = r.Category
		}
		return p
	}
	// The user's function ended in a jump to the run-time's.
	r, _ := t.ms.Runtime(f)
	p := Place{Category: r.Category, Runtime: &r, User: id, UserPC: n.fn.entryOr(pc)}
	if j, ok := t.tailTo(n.fn, f); ok {
		if jr, ok := t.ms.Runtime(j.to); ok {
			p.Runtime, p.Category = &jr, jr.Category
		}
		p.UserPC = j.pc
	}
	return p
}

// stub is the place of a PLT stub: it reads a slot that the loader writes.
func (t *Tree) stub(n *node, pc emulate.Addr) Place {
	p := n.place
	if p.Category == 0 {
		p.User, p.UserPC, p.Runtime = n.place.User, pc, &stubRuntime
	}
	p.Category = Internal
	return p
}

var stubRuntime = Runtime{Category: Internal, Note: "procedure linkage table"}

func (f *Func) entryOr(pc emulate.Addr) emulate.Addr {
	if f == nil {
		return pc
	}
	return f.Entry
}

// decisive says whether a run-time function makes its accesses its own even
// when another run-time function called it.
func decisive(f *Func, r Runtime) bool {
	if r.Go {
		return r.Category.Own()
	}
	return r.Category == Allocator || r.Category == SyncAPI && f.Module.Kind != ModOpenMP || f.Module.isLoader() || streamBuffers[r.Name]
}

// openMP says whether f is an OpenMP run-time's.
func (f *Func) openMP() bool {
	return f.Module.Kind == ModOpenMP || f.Module.Static && strings.HasPrefix(f.Linkage, "gomp_")
}

// cxxLibrary says whether m is the library of C++, rather than what unwinds.
func (m *Module) cxxLibrary() bool {
	return m.Kind == ModCxx && (strings.HasPrefix(m.Name(), "libstdc++") || strings.HasPrefix(m.Name(), "libc++."))
}

// isLoader says whether m is the dynamic loader.
func (m *Module) isLoader() bool {
	return m.Kind == ModLibc && len(m.Name()) > 2 && m.Name()[:2] == "ld"
}

// placeOfEntry classifies the function f that edge e enters, and says what it
// does as an allocator. User is left 0 for the user's functions: it is the
// new node itself.
func (t *Tree) placeOfEntry(e edge, f *Func) (Place, AllocRole) {
	r, isRuntime := t.ms.Runtime(f)
	if !isRuntime {
		if f == nil && e.parent != 0 {
			// Code without a module, such as a vdso: as its caller.
			if p := t.Place(e.parent, emulate.Addr(e.site)); p.Category != 0 {
				return p, NoAlloc
			}
		}
		return Place{UserPC: emulate.Addr(e.entry)}, r.Alloc
	}
	if e.parent == 0 {
		return Place{Category: r.Category, Runtime: &r}, r.Alloc
	}
	p := t.Place(e.parent, emulate.Addr(e.site))
	if n := t.node(e.parent); n.fn != nil && n.fn.PLT && n.fn.Contains(emulate.Addr(e.site)) {
		// The function behind the stub jumped to this one.
		p = n.place
	}
	if p.Category == 0 {
		return Place{Category: r.Category, Runtime: &r, User: p.User, UserPC: emulate.Addr(e.site)}, r.Alloc
	}
	switch {
	case p.User == 0 && f.openMP() && !strings.HasPrefix(p.Runtime.Name, "GOMP_"):
		p.Category, p.Runtime = r.Category, &r
	case p.User == 0 && f.Module.cxxLibrary():
		// What the end of a thread sets off (std::notify_all_at_thread_exit,
		// promises made ready then) is done for whoever waits for it.
		p.Category, p.Runtime = SyncAPI, &Runtime{Name: r.Name, Category: SyncAPI}
	case !p.Category.Own() && decisive(f, r):
		p.Category = r.Category
	}
	return p, r.Alloc
}

// A tailJump is a jump at the end of a function that stands for a call.
type tailJump struct {
	pc emulate.Addr
	to *Func
}

// maxScan bounds the size of the functions that are searched for tail jumps.
const maxScan = 1 << 16

// tailJumps returns the jumps from f to the beginning of other functions. The
// search is by bytes: an immediate that looks like one does no harm.
func (t *Tree) tailJumps(f *Func) []tailJump {
	if v, ok := t.tails.Load(f); ok {
		return v.([]tailJump)
	}
	var out []tailJump
	m := f.Module
	lo := uint64(f.Entry) - m.bias
	b := m.obj.bytesAt(lo, min(int(f.End-f.Entry), maxScan))
	s := m.symbols()
	begins := func(a uint64) *Func {
		if k := s.find(a); k >= 0 && s.recs[k].lo == a {
			return m.funcOf(s, k)
		}
		return nil
	}
	for i := 0; i+2 <= len(b); i++ {
		var to *Func
		next := lo + uint64(i)
		switch {
		case b[i] == 0xeb || b[i]&0xf0 == 0x70: // jmp rel8, jcc rel8
			to = begins(next + 2 + uint64(int64(int8(b[i+1]))))
		case b[i] == 0xe9 && i+5 <= len(b): // jmp rel32
			to = begins(next + 5 + uint64(int64(int32(le.Uint32(b[i+1:])))))
		case b[i] == 0x0f && b[i+1]&0xf0 == 0x80 && i+6 <= len(b): // jcc rel32
			to = begins(next + 6 + uint64(int64(int32(le.Uint32(b[i+2:])))))
		case b[i] == 0xff && b[i+1] == 0x25 && i+6 <= len(b): // jmp *slot(%rip)
			slot := lo + uint64(i) + 6 + uint64(int64(int32(le.Uint32(b[i+2:]))))
			if name := s.slots[slot]; name != "" {
				to = t.ms.ExportedIn(m.Life, name)
			}
		}
		if to == nil || to == f || to.Name == f.Name {
			continue
		}
		if to.PLT {
			if x := t.ms.ExportedIn(to.Module.Life, to.Linkage); x != nil {
				to = x
			}
		}
		out = append(out, tailJump{f.Entry + emulate.Addr(i), to})
	}
	t.tails.Store(f, out)
	return out
}

// tailTo finds the jump by which control left one function so that it came to
// another, possibly by way of more functions.
func (t *Tree) tailTo(from, to *Func) (tailJump, bool) {
	if l := t.tailPath(from, to); len(l) > 0 {
		return l[0], true
	}
	return tailJump{}, false
}

// maxTails bounds the number of jumps in a row.
const maxTails = 3

// tailPath returns the jumps by which control came from one function to
// another, nil if they can't be told.
func (t *Tree) tailPath(from, to *Func) []tailJump {
	if from == nil || to == nil || from.Module == nil || from.Module.obj == nil {
		return nil
	}
	for n := 1; n <= maxTails; n++ {
		if l := t.tailSearch(from, to, n); l != nil {
			return l
		}
	}
	l := t.tailJumps(from)
	// Functions chosen at start-up have several bodies, of which stripped
	// libraries don't name any.
	for _, j := range l {
		if j.to.IFunc && j.to.Module == to.Module {
			return []tailJump{j}
		}
	}
	if len(l) == 1 && (l[0].to.Module == to.Module || l[0].to.PLT) {
		return l
	}
	return nil
}

// tailSearch finds a path of exactly n jumps.
func (t *Tree) tailSearch(from, to *Func, n int) []tailJump {
	if from.Module == nil || from.Module.obj == nil {
		return nil
	}
	for _, j := range t.tailJumps(from) {
		if n == 1 {
			if j.to == to || j.to.Name == to.Name {
				return []tailJump{j}
			}
		} else if l := t.tailSearch(j.to, to, n-1); l != nil {
			return append([]tailJump{j}, l...)
		}
	}
	return nil
}
