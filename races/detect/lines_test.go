package detect

import (
	"context"
	"debug/elf"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/traces"
)

var randoms = flag.Int("randoms", 40, "random programs whose races are looked for in two ways")

// What a thread does again isn't looked at, and what it does too often is
// looked at by the line. Neither may lose a race, nor invent one: a thread that
// is tired at once finds what one finds that looks at every access.
func TestCoarseFindsTheSameRaces(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "random")
	if out, err := exec.Command("gcc", "-g", "-O1", "-no-pie", "-pthread", "-o", bin, "testdata/random.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	lo, n := symbol(t, bin, "area")
	number := *randoms
	if testing.Short() {
		number /= 4
	}
	seen, tired := 0, 0
	for seed := 1; seed <= number; seed++ {
		plain := seed % 2
		trace := filepath.Join(dir, fmt.Sprintf("%d.ttd", seed))
		_, err := record.Run(context.Background(), record.Config{Output: trace, Seed: uint64(seed), Slice: 20 + 37*(seed%9),
			Argv: []string{bin, fmt.Sprint(seed), fmt.Sprint(20 + seed*7%100), fmt.Sprint(plain)}})
		if err != nil {
			t.Fatal(err)
		}
		g := openRandom(t, trace, lo, n)
		if plain == 1 {
			// The variables synchronise, known by experiment or not at all.
			if seed%4 == 1 {
				for a := lo; a < lo+n; a += 128 {
					g.sync = append(g.sync, races.SyncVar{Addr: emulate.Addr(a), Size: 4})
				}
			}
		}
		want, all, _ := g.racy(limits{exact: true})
		kinds := g.kinds
		for _, l := range []limits{{looks: 0, per: 1 << 62, coarse: 1}, {looks: 5, per: 1 << 62, coarse: 3}, {looks: 30, per: 50, coarse: 1}, {looks: 0, per: 1 << 62, coarse: 1 << 30}, {looks: 0, per: 1 << 62, coarse: 1 << 30, places: 8}, {}} {
			got, predicted, coarse := g.racy(l)
			for pc, k := range g.kinds {
				if kinds[pc] != 0 && k&^kinds[pc] != 0 {
					t.Errorf("seed %d, limits %+v: the instruction at %#x does %b rather than %b", seed, l, pc, k, kinds[pc])
				}
			}
			seen += len(want)
			tired += coarse
			if a, b := missing(want, got), missing(got, want); len(a)+len(b) > 0 {
				t.Errorf("seed %d, limits %+v: races at %v aren't found, those at %v don't exist", seed, l, a, b)
			}
			if b := missing(predicted, all); len(b) > 0 {
				t.Errorf("seed %d, limits %+v: races at %v are predicted that can't be", seed, l, b)
			}
		}
	}
	t.Logf("%d races, %d lines looked at again", seen, tired)
	if seen == 0 || tired == 0 {
		t.Error("nothing was tried")
	}
}

type random struct {
	t      *testing.T
	s      *replay.Session
	ms     *funcs.Modules
	lo, hi uint64
	sync   []races.SyncVar
	kinds  map[uint64]int // what instructions did in races of the last call of racy, a bit for each races.Kind
}

func openRandom(t *testing.T, trace string, lo, n uint64) *random {
	r, err := traces.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s, err := replay.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	var images []funcs.Image
	for _, m := range s.Modules() {
		images = append(images, funcs.Image{Path: m.Path, Base: m.Base, BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime})
	}
	return &random{t: t, s: s, ms: funcs.NewModules(images, funcs.Options{}), lo: lo, hi: lo + n}
}

// racy returns the granules of the area that are raced for, those with the ones
// predicted, and the number of lines that were looked at again.
func (g *random) racy(l limits) (found, all map[string]bool, again int) {
	closeTo := map[uint64]bool{}
	for look := 1; ; look++ {
		p := &Pass{Session: g.s, Tree: funcs.NewTree(g.ms), Sync: g.sync, Close: closeTo, limits: l, class: func(a emulate.Addr) uint64 { return uint64(a) >> 3 }}
		if err := p.Run(context.Background()); err != nil {
			g.t.Fatal(err)
		}
		if !p.PredictAgain() {
			g.t.Fatal("too much to keep")
		}
		if len(p.Suspects) > 0 {
			again += len(p.Suspects)
			if look > 6 {
				g.t.Fatal("there is no end of suspects")
			}
			for l := range p.Suspects {
				if closeTo[l] {
					g.t.Errorf("line %#x was looked at closely and is still a suspect", l)
				}
				closeTo[l] = true
			}
			continue
		}
		found, all = map[string]bool{}, map[string]bool{}
		g.kinds = map[uint64]int{}
		for _, c := range p.Candidates() {
			if a := uint64(c.Addr); a >= g.lo && a < g.hi {
				k := fmt.Sprintf("%#x", (a-g.lo)&^7)
				g.kinds[c.First.PC] |= 1 << c.First.Kind
				g.kinds[c.Second.PC] |= 1 << c.Second.Kind
				if all[k] = true; c.Reason != races.Predicted {
					found[k] = true
				}
			}
		}
		return found, all, again
	}
}

func missing(in, from map[string]bool) []string {
	var l []string
	for k := range in {
		if !from[k] {
			l = append(l, k)
		}
	}
	sort.Strings(l)
	return l
}

func symbol(t *testing.T, bin, name string) (addr, size uint64) {
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if strings.EqualFold(s.Name, name) {
			return s.Value, s.Size
		}
	}
	t.Fatalf("%s: no symbol %s", bin, name)
	return 0, 0
}
