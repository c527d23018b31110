package funcs

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// Files come from outside: whatever their bytes, the answer may be poor but
// must come.
func TestDamagedFilesDoNotPanic(t *testing.T) {
	prog := build(t, "instance.c", "-g", "-O1", "-static", "-nostdlib", "-no-pie")
	good, err := os.ReadFile(prog)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "damaged")
	opened := 0
	for i := range 400 {
		b := append([]byte(nil), good...)
		switch {
		case i%4 == 0:
			b = b[:rng.IntN(len(b))]
		default:
			// A burst somewhere behind the header.
			at := 64 + rng.IntN(len(b)-64)
			for k := at; k < min(at+1+rng.IntN(24), len(b)); k++ {
				b[k] = byte(rng.Uint32())
			}
		}
		if err := os.WriteFile(path, b, 0o777); err != nil {
			t.Fatal(err)
		}
		ms := NewModules([]Image{{Path: path}}, noDebug)
		tree := NewTree(ms)
		id := tree.Root(0x401000)
		for a := emulate.Addr(0x400f00); a < 0x401200; a += 13 {
			tree.Stack(id, a)
			tree.Place(id, a)
			if f := ms.FuncAt(a); f != nil {
				ms.Signature(f)
				opened++
			}
			ms.LocalAt(a, 0x7fffffff0000, 0x7fffffff0000-16)
		}
		for a := emulate.Addr(0x402f00); a < 0x404200; a += 31 {
			ms.VarAtSize(a, 4)
		}
		ms.PCsOfLine("instance.c", 17)
		ms.AddrOfVar("total")
		tree.JumpTargets(nil)
	}
	if opened == 0 {
		t.Error("no damaged file could be opened: the test tests nothing")
	}
}
