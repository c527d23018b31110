package x86

import (
	"fmt"
	"testing"
)

// regsDiffer describes the first register in which a and b differ.
func regsDiffer(a, b *CPU) string {
	for i := range a.R {
		if a.R[i] != b.R[i] {
			return fmt.Sprintf("R[%d] %#x, %#x", i, a.R[i], b.R[i])
		}
	}
	if a.Flags() != b.Flags() {
		return fmt.Sprintf("flags %#x, %#x", a.Flags(), b.Flags())
	}
	if a.X != b.X {
		return "XMM"
	}
	if a.RIP != b.RIP || a.Count != b.Count {
		return fmt.Sprintf("RIP %#x, %#x; count %d, %d", a.RIP, b.RIP, a.Count, b.Count)
	}
	return ""
}

// TestStepsEqualBlocks compares the run loop's own cases and fusions with the
// handlers, which single steps use, flags included.
func TestStepsEqualBlocks(t *testing.T) {
	for _, opt := range []string{"-O0", "-O2", "-Os"} {
		p := compile(t, "testdata/funcs.c", opt)
		for name, addr := range p.syms {
			if len(name) < 2 || name[:2] != "f_" {
				continue
			}
			t.Run(opt+"/"+name, func(t *testing.T) {
				a, am := p.load(t)
				b, bm := p.load(t)
				callTo(a, am, addr, 1)
				callTo(b, bm, addr, 1)
				for chunk := uint64(1); a.Count < 100000; chunk = chunk*5%97 + 1 {
					from := a.RIP
					s := a.Run(chunk)
					for range chunk {
						if s := b.Run(1); s.Kind != StopLimit {
							break
						}
					}
					if d := regsDiffer(a, b); d != "" {
						t.Fatalf("after %d instructions, %d from %#x: %s", a.Count, chunk, from, d)
					}
					if s.Kind != StopLimit {
						break
					}
				}
			})
		}
	}
}

// TestLeftFlagsAreAlive: BSR leaves flags that the manual calls undefined, so
// those of the instruction before it are seen behind it, however they are run.
func TestLeftFlagsAreAlive(t *testing.T) {
	var flags [2]uint64
	for i := range flags {
		c, m := newFlat()
		b := m.add(0x1000, 4096, false)
		copy(b, []byte{0x31, 0xC0, 0x0F, 0xBD, 0xCA, 0xEB, 0xFE}) // xor eax, eax; bsr ecx, edx; jmp
		c.RIP, c.R[RDX] = 0x1000, 4
		c.SetFlags(CF | OF)
		if i == 0 {
			c.Run(3)
		} else {
			for range 3 {
				c.Run(1)
			}
		}
		flags[i] = c.Flags()
	}
	if flags[0] != flags[1] {
		t.Errorf("flags are %#x, step by step %#x", flags[0], flags[1])
	}
}
