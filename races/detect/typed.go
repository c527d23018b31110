package detect

import (
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
)

// Atomic loads and stores are plain instructions on x86-64, all but sequentially
// consistent stores. That they are meant to synchronise only the source says:
// they are in functions of the language's library, nearly always expanded in
// place, which debugging information names.

// atomicFunctions begin the names of such functions.
var atomicFunctions = []string{
	"std::atomic<", "std::atomic_ref<", "std::atomic_flag::", "std::__atomic_base<", "std::__atomic_float<", "std::__atomic_ref<", "std::__atomic_impl::",
	"std::atomic_load", "std::atomic_store", "std::atomic_exchange", "std::atomic_fetch_", "std::atomic_compare_", "std::atomic_flag_",
	"std::__1::atomic<", "std::__1::__atomic_base<", "std::__1::__cxx_atomic_", "std::__1::atomic_flag::", "std::__1::atomic_ref<",
	"core::sync::atomic::", "boost::atomics::", "boost::atomic",
	"sync/atomic.", "internal/runtime/atomic.",
}

// atomic reports whether the program's instruction at pc makes atomic accesses.
func (f *follower) atomic(pc uint64) bool {
	a, known := f.atomics[pc]
	if !known {
		a = f.p.Atomics[pc] || inAtomicFunction(f.p.Tree.Modules().Frames(emulate.Addr(pc)))
		if f.atomics == nil {
			f.atomics = map[uint64]bool{}
		}
		f.atomics[pc] = a
	}
	return a
}

// inAtomicFunction says whether the function at an instruction, or one that was
// expanded there, is one of atomicFunctions.
func inAtomicFunction(fs []funcs.Frame) bool {
	for _, f := range fs {
		if atomicFunction(f.Function) {
			return true
		}
		if !f.Inlined {
			break
		}
	}
	return false
}

func atomicFunction(name string) bool {
	for _, p := range atomicFunctions {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
