package racesim

import (
	"strings"
	"testing"

	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
)

func TestOrdersInSources(t *testing.T) {
	const na, nr = races.NoAcquire, races.NoRelease
	for _, c := range []struct {
		text     string
		function string
		kind     races.Kind
		failed   bool
		want     races.Loose
	}{
		{"ready.store(true, std::memory_order_relaxed);", "std::atomic<bool>::store", races.Write, false, na | nr},
		{"ready.store(true, std::memory_order::relaxed);", "std::atomic<bool>::store(bool, std::memory_order)", races.Write, false, na | nr},
		{"ready.store(true, std::memory_order_release);", "std::atomic<bool>::store", races.Write, false, na},
		{"ready.store(true, order);", "std::atomic<bool>::store", races.Write, false, 0},
		{"ready.store(true, relaxed);", "std::atomic<bool>::store", races.Write, false, 0},
		{"ready.store(true);", "std::atomic<bool>::store", races.Write, false, 0},
		{"ready = true; // .store(true, std::memory_order_relaxed)", "std::atomic<bool>::operator=", races.Write, false, 0},
		{"if (n) // relaxed", "std::atomic<bool>::operator bool", races.Read, false, 0},
		{"turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);", "std::atomic<int>::store", races.Write, false, na},
		{"turn.store(turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);", "std::atomic<int>::load", races.Read, false, na | nr},
		{"a.load(std::memory_order_relaxed) + b.load(std::memory_order_acquire)", "std::__1::atomic<int>::load", races.Read, false, nr},
		{"a.load(std::memory_order_relaxed) + b.load()", "std::atomic<int>::load", races.Read, false, 0},
		{"n.fetch_sub(1,\n\tstd::memory_order_release) == 1", "std::__atomic_base<int>::fetch_sub", races.Update, false, na},
		{"n.fetch_add(1, cond ? std::memory_order_relaxed : std::memory_order_acquire)", "std::atomic<int>::fetch_add", races.Update, false, 0},
		{"p.compare_exchange_weak(e, n, std::memory_order_release, std::memory_order_relaxed)", "std::atomic<node*>::compare_exchange_weak", races.Update, false, na},
		{"p.compare_exchange_weak(e, n, std::memory_order_release, std::memory_order_relaxed)", "std::atomic<node*>::compare_exchange_weak", races.Read, true, na | nr},
		{"p.compare_exchange_weak(e, n, std::memory_order_acquire, std::memory_order_relaxed)", "std::atomic<node*>::compare_exchange_weak", races.Update, false, nr},
		{"p.compare_exchange_strong(e, n, mo, std::memory_order_relaxed)", "std::atomic<node*>::compare_exchange_strong", races.Update, false, 0},
		{"p.compare_exchange_strong(e, n, std::memory_order_release)", "std::atomic<node*>::compare_exchange_strong", races.Read, true, na},
		{"while (!ready.load(Ordering::Relaxed)) {", "core::sync::atomic::AtomicBool::load", races.Read, false, na | nr},
		{"while (!ready.load(Relaxed)) {", "core::sync::atomic::AtomicBool::load", races.Read, false, na | nr},
		{"while (!__atomic_load_n(&ready, __ATOMIC_RELAXED))", "", races.Read, false, na | nr},
		{"while (!__atomic_load_n(&ready, __ATOMIC_RELAXED))", "", races.Write, false, 0},
		{"__atomic_store_n(&x, __atomic_load_n(&y, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);", "", races.Write, false, na | nr},
		{"__atomic_store_n(&x, __atomic_load_n(&y, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);", "", races.Read, false, nr},
		{"atomic_store_explicit(&x, f(1, 2), memory_order_relaxed);", "", races.Write, false, na | nr},
		{"atomic_store(&x, 1); atomic_store_explicit(&y, 1, memory_order_relaxed);", "", races.Write, false, 0},
		{"atomic_flag_clear_explicit(&l, memory_order_relaxed);", "", races.Write, false, na | nr},
		{"__atomic_compare_exchange_n(&x, &e, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)", "", races.Update, false, 0},
		{"__atomic_compare_exchange_n(&x, &e, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)", "", races.Read, true, na | nr},
		{"LOAD(x)", "", races.Read, false, 0},
		{"#pragma omp atomic\nx++;", "", races.Update, false, na | nr},
		{"#pragma omp atomic update seq_cst\nx++;", "", races.Update, false, 0},
		{"#pragma omp atomic read acquire\nv = x;", "", races.Read, false, nr},
		{"#pragma omp atomic write release\nx = v;", "", races.Write, false, na},
		{"#pragma omp atomic capture\n{\nv = x; x++;", "", races.Update, false, na | nr},
		{"#pragma omp atomic\nx++;\nx = 0;", "", races.Write, false, 0},
	} {
		lines := strings.Split(withoutComments(c.text), "\n")
		line := 1
		if c.text[0] == '#' {
			line = len(lines)
		}
		at := detect.AtomicSite{Line: line, Function: c.function, Kind: c.kind, Failed: c.failed}
		if got := looseIn(lines, &at); got != c.want {
			t.Errorf("%s, %v (failed: %v) by %q: %d, want %d", c.text, c.kind, c.failed, c.function, got, c.want)
		}
	}
}

func TestSourcesWithoutComments(t *testing.T) {
	const in = "a /* b\n// c */ d // e\n\"/* f\" g /**/ h /*"
	const want = "a     \n        d     \n\"/* f\" g      h   "
	if got := withoutComments(in); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
