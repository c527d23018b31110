package racesim

import (
	"testing"

	"github.com/racesim/racesim/races"
)

func TestSourcesThatSayAtomic(t *testing.T) {
	lines := []string{
		"while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))", // 1
		"	total = __atomic_load_n(&w->done, 0);",
		"atomic_store_explicit(&conf[i].level, n + 1, memory_order_release);",
		"#pragma omp atomic write", // 4
		"a[i] = b;",
		"#pragma omp atomic read seq_cst", // 6
		"v = x;",
		"#pragma omp atomic", // 8
		"x = x + 1;",
		"stop = 1;",
	}
	for _, c := range []struct {
		line int
		kind races.Kind
		name string
		want bool
	}{
		{1, races.Read, "stop", true},
		{1, races.Write, "stop", false},
		{2, races.Read, "job.done", true},
		{2, races.Read, "", true},
		{2, races.Write, "total", false},
		{2, races.Read, "total", false},
		{3, races.Write, "conf[2].level", true},
		{4, races.Write, "a[3]", true},
		{5, races.Write, "a[3]", true},
		{5, races.Read, "b", false},
		{5, races.Write, "b", false},
		{6, races.Read, "x", true},
		{7, races.Read, "x", true},
		{7, races.Write, "v", false},
		{9, races.Write, "x", false},
		{10, races.Write, "stop", false},
		{11, races.Read, "stop", false},
		{0, races.Read, "stop", false},
	} {
		if got := atomicIn(lines, c.line, c.kind, c.name); got != c.want {
			t.Errorf("line %d, %v of %q: %v", c.line, c.kind, c.name, got)
		}
	}
}
