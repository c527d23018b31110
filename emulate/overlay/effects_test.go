package overlay

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// session records a program.
func session(t *testing.T, source string, flags ...string) *replay.Session {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	args := append([]string{"-g", "-w", "-pthread", "-o", bin, source}, flags...)
	if out, err := exec.Command("gcc", append(args, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cfg := record.Config{Output: filepath.Join(dir, "t.ttd"), Argv: []string{bin}, Seed: 1, CPU: "v3", Stdin: null, Stdout: null, Stderr: null}
	if _, err := record.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	r, err := traces.Open(cfg.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s, err := replay.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accesses collects what an instruction really does to memory.
type accesses struct{ loads, stores []Span }

func (a *accesses) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	a.loads = append(a.loads, Span{addr, uint64(size)})
	return v
}

func (a *accesses) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	a.stores = append(a.stores, Span{addr, uint64(size)})
}

// covered reports whether every byte of sp is in one of the spans.
func covered(sp Span, in []Span) bool {
	for a := sp.Addr; a < sp.Addr+sp.N; a++ {
		ok := false
		for _, x := range in {
			ok = ok || a >= x.Addr && a < x.Addr+x.N
		}
		if !ok {
			return false
		}
	}
	return true
}

// Everything that an executed instruction changes is among what it is said to
// write, and everything that it loads among what it is said to read.
func TestInstructionsDoWhatIsSaid(t *testing.T) {
	for _, src := range []string{"../../loadsub/testdata/library.c", "../replay/testdata/vectors.c"} {
		t.Run(filepath.Base(src), func(t *testing.T) { doWhatIsSaid(t, src) })
	}
}

func doWhatIsSaid(t *testing.T, src string) {
	flags := []string{"-O2"}
	if strings.Contains(src, "vectors") {
		flags = append(flags, "-mavx2", "-mfma")
	}
	s := session(t, src, flags...)
	seen := map[string]bool{}
	failed := 0
	for _, id := range s.Threads() {
		th, err := s.Thread(id)
		if err != nil {
			t.Fatal(err)
		}
		w := newStepper(th)
		acc := &accesses{}
		th.Observe(nil, true, acc)
		for n := 0; n < 120_000 && failed < 20; n++ {
			if err := th.Settle(); err != nil {
				t.Fatal(err)
			}
			c := th.CPU()
			r, x, fl, fpu := c.R, vectors(c), c.Flags(), c.F
			acc.loads, acc.stores = acc.loads[:0], acc.stores[:0]
			st, err := w.one()
			if errors.Is(err, io.EOF) || errors.Is(err, errEnded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if w.foreign {
				continue
			}
			seen[st.Mnemonic] = true
			if st.Opaque {
				t.Errorf("unknown instruction at 0x%x", st.PC)
				failed++
			}
			var writes, loads []Span
			st.Writes(func(sp Span) { writes = append(writes, sp) })
			st.Loads(func(sp Span) { loads = append(loads, sp) })
			now := vectors(c)
			st.Copies(func(from, to, n uint64) {
				if IsMemory(from) {
					loads = append(loads, Span{from, n})
				}
				if !covered(Span{to, n}, writes) {
					t.Errorf("%s at 0x%x copies to 0x%x, which it doesn't write", st.Mnemonic, st.PC, to)
					failed++
				}
				for i := uint64(0); i < n && !IsMemory(from) && !IsMemory(to); i++ {
					if a, b := regByte(&r, &x, from+i), regByte(&c.R, &now, to+i); a != b {
						t.Errorf("%s at 0x%x doesn't copy byte %d", st.Mnemonic, st.PC, i)
						failed++
					}
				}
			})
			for i := uint64(0); i < 16*8; i++ {
				if i/8 != x86.RSP && regByte(&r, &x, LocReg+i) != regByte(&c.R, &now, LocReg+i) && !covered(Span{LocReg + i, 1}, writes) && !(st.Call >= 0 && i < 8) {
					t.Errorf("%s at 0x%x changes byte %d of register %d", st.Mnemonic, st.PC, i%8, i/8)
					failed++
				}
			}
			for i := uint64(0); i < 2*xmmSize; i++ {
				if regByte(&r, &x, LocXMM+i) != regByte(&c.R, &now, LocXMM+i) && !covered(Span{LocXMM + i, 1}, writes) {
					t.Errorf("%s at 0x%x changes byte %d of xmm%d", st.Mnemonic, st.PC, i%16, i/16)
					failed++
				}
			}
			for i := uint64(0); i < 32; i++ {
				if (fl^c.Flags())>>i&1 != 0 && !covered(Span{LocFlag + i, 1}, writes) {
					t.Errorf("%s at 0x%x changes bit %d of RFLAGS", st.Mnemonic, st.PC, i)
					failed++
				}
			}
			if fpu != c.F && !st.Mixes() {
				t.Errorf("%s at 0x%x changes the x87 state", st.Mnemonic, st.PC)
				failed++
			}
			for _, sp := range acc.loads {
				if st.Call < 0 && !covered(sp, loads) {
					t.Errorf("%s at 0x%x reads %d bytes at 0x%x, said are %x", st.Mnemonic, st.PC, sp.N, sp.Addr, loads)
					failed++
				}
			}
			for _, sp := range acc.stores {
				if st.Call < 0 && !covered(sp, writes) {
					t.Errorf("%s at 0x%x writes %d bytes at 0x%x, said are %x", st.Mnemonic, st.PC, sp.N, sp.Addr, writes)
					failed++
				}
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d kinds of instructions", len(seen))
	}
}

// vectors returns the vector registers in the order of their locations.
func vectors(c *x86.CPU) (v [32][2]uint64) {
	copy(v[:16], c.X[:])
	copy(v[16:], c.Y[:])
	return v
}

func regByte(r *[32]uint64, x *[32][2]uint64, loc uint64) byte {
	if loc >= LocXMM {
		i := loc - LocXMM
		return byte(x[i/16][i%16/8] >> (8 * (i % 8)))
	}
	i := loc - LocReg
	return byte(r[i/8] >> (8 * (i % 8)))
}
