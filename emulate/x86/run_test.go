package x86

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestFunctionsAgreeWithTheProcessor runs whole C functions natively and
// emulated, at several optimisation levels.
func TestFunctionsAgreeWithTheProcessor(t *testing.T) {
	for _, opt := range []string{"-O0", "-O2", "-O3", "-Os"} {
		t.Run(opt, func(t *testing.T) {
			p := compile(t, "testdata/funcs.c", opt)
			for key, want := range p.out {
				name, seed, _ := strings.Cut(key, " ")
				arg, _ := strconv.ParseUint(seed, 10, 64)
				c, m := p.load(t)
				callTo(c, m, p.syms[name], arg)
				s := c.Run(1 << 40)
				if got := fmt.Sprint(c.R[RAX]); s.Kind != StopBreak || got != want {
					t.Errorf("%s(%s) = %s, native %s; stopped by %v at %#x after %d: %+v", name, seed, got, want, s.Kind, c.RIP, c.Count, s)
				}
			}
		})
	}
}

// BenchmarkFunctions reports guest instructions per second.
func BenchmarkFunctions(b *testing.B) {
	p := compile(b, "testdata/funcs.c", "-O2")
	for _, name := range []string{"f_lz", "f_crc", "f_sort", "f_calls", "f_switch", "f_pop", "f_bits", "f_128"} {
		b.Run(name, func(b *testing.B) {
			c, m := p.load(b)
			var n uint64
			for b.Loop() {
				callTo(c, m, p.syms[name], 1)
				start := c.Count
				if s := c.Run(1 << 40); s.Kind != StopBreak {
					b.Fatalf("stopped by %v at %#x: %+v", s.Kind, c.RIP, s)
				}
				n += c.Count - start
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minst/s")
			b.ReportMetric(float64(n)/float64(b.N), "inst/op")
		})
	}
}
