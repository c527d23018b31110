package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
)

// Every load on x86-64 acquires and every store releases, and so do locked
// instructions. What the program asked for may be less: then its compiler, and
// other processors, may do what this one doesn't. The source says what it asked
// for.

// An AtomicSite is where a program's source has an atomic access.
type AtomicSite struct {
	Module, File string
	Line         int
	// Function is the library's that makes the access, as the source calls it;
	// "": the compiler's own.
	Function string
	Kind     races.Kind
	Failed   bool // an exchange that compared, and found something else
}

// maxAtomicCalls bounds the library's functions between the source's call and the
// access.
const maxAtomicCalls = 8

// loose says what an access that synchronises doesn't do, says the source.
func (f *follower) loose(e *races.Event) races.Loose {
	if f.p.Loose == nil || e.Flags&(races.Internal|races.Kernel) != 0 || e.Scope != races.ScopeUser {
		return 0
	}
	k := looseKey{pc: e.PC, kind: e.Kind, failed: e.Kind == races.Read && e.Flags&races.Atomic != 0}
	within := e.Typed && funcsOnly(f.p.Tree.Modules().Frames(emulate.Addr(e.PC)))
	if within {
		k.ctx = e.Ctx
	}
	l, known := f.looses[k]
	if !known {
		if at, ok := f.atomicSite(e); ok {
			at.Kind, at.Failed = k.kind, k.failed
			l = f.p.Loose(at)
		}
		if f.looses == nil {
			f.looses = map[looseKey]races.Loose{}
		}
		f.looses[k] = l
	}
	return l
}

type looseKey struct {
	ctx    uint32 // if the callers matter
	pc     uint64
	kind   races.Kind
	failed bool
}

// funcsOnly says whether an instruction is in no function but the library's
// atomic ones.
func funcsOnly(fs []funcs.Frame) bool {
	for _, x := range fs {
		if !atomicFunction(x.Function) {
			return false
		}
	}
	return true
}

// atomicSite returns the place in the program's source that an atomic access is
// from.
func (f *follower) atomicSite(e *races.Event) (at AtomicSite, ok bool) {
	t := f.p.Tree
	node, pc := e.Ctx, emulate.Addr(e.PC)
	for range maxAtomicCalls {
		for _, x := range t.Modules().Frames(pc) {
			if !atomicFunction(x.Function) {
				at.Module, at.File, at.Line = x.Module, x.File, x.Line
				return at, x.File != "" && x.Line > 0
			}
			at.Function = x.Function
		}
		n := t.Node(node)
		for n.Parent != 0 {
			if fn := t.Func(n.Parent); fn == nil || !fn.PLT {
				break
			}
			n = t.Node(n.Parent)
		}
		if n.Parent == 0 || n.Signal {
			return at, false
		}
		node, pc = n.Parent, n.Site
	}
	return at, false
}
