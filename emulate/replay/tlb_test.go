package replay_test

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// packetsOf returns all packets of a trace's streams, with TLB packets or as
// they are to whoever doesn't know of them.
func packetsOf(t testing.TB, r *traces.Reader, tlb bool, f func(stream uint32, p *traces.Packet)) {
	t.Helper()
	for _, st := range r.Streams() {
		c := r.Cursor(st.Stream)
		if tlb {
			c.WithTLB()
		}
		for {
			p, err := c.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			f(st.Stream, p)
		}
	}
}

var entryNames = regexp.MustCompile(` tlb=\d+`)

// said returns what a trace says, whatever lines are called.
func said(t testing.TB, path string) (l []string) {
	t.Helper()
	packetsOf(t, open(t, path).Reader(), false, func(_ uint32, p *traces.Packet) {
		s := entryNames.ReplaceAllString(p.String(), "")
		if p.Kind == traces.Import {
			s += string(p.Data[:])
		}
		if p.Kind != traces.Counters {
			l = append(l, s)
		}
	})
	return l
}

// Whatever names lines have, a trace says the same and replays bit for bit, from
// its key frames, too; a dependent one is decoupled to the independent one.
func TestLinesNamedByTLBEntries(t *testing.T) {
	for _, name := range []string{"threads", "alias", "code", "signals"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := guest(t, name)
			base := record.Config{Seed: 2, Slice: 2000, Cores: 2, HashEvery: 5000, KeyFrameEvery: 20000}
			plain, res := quietly(t, base, bin)
			want := said(t, plain)
			for i, tlb := range []hwmodel.TLB{{}, {Entries: 4, Ways: 2}} {
				for _, addresses := range []string{"slot", "counter", "random"} {
					if i == 1 && addresses == "random" && testing.Short() {
						continue
					}
					cfg := base
					cfg.TLB, cfg.Addresses = tlb, addresses
					path, res2 := quietly(t, cfg, bin)
					s := open(t, path)
					if v := verify(t, s); v.Instructions != res.Instructions || res2.Instructions != res.Instructions {
						t.Fatalf("%s: replayed %+v, recorded %+v and %+v", addresses, v, res2, res)
					}
					got := said(t, path)
					if len(got) != len(want) {
						t.Fatalf("%s: %d packets, with virtual addresses %d", addresses, len(got), len(want))
					}
					for i := range want {
						if got[i] != want[i] {
							t.Fatalf("%s: packet %d is %q, with virtual addresses %q", addresses, i, got[i], want[i])
						}
					}
					allNamed(t, s.Reader())
					for _, mode := range record.LogModes[1:] {
						if testing.Short() && (i == 0 || mode != record.LogCCP) {
							continue
						}
						cfg := cfg
						cfg.LogMode = mode
						dependent, _ := quietly(t, cfg, bin)
						verify(t, open(t, dependent))
						allNamed(t, open(t, dependent).Reader())
						out, _ := decoupled(t, dependent, replay.DecoupleOptions{})
						sameStreams(t, out, path)
					}
				}
			}
			cfg := base
			cfg.Addresses, cfg.Ring, cfg.KeyFrameEvery = "counter", 16<<10, 0
			path, _ := quietly(t, cfg, bin)
			verify(t, open(t, path))
		})
	}
}

// allNamed checks that every line that flows in is named by an entry.
func allNamed(t testing.TB, r *traces.Reader) {
	t.Helper()
	n := 0
	packetsOf(t, r, false, func(stream uint32, p *traces.Packet) {
		switch p.Kind {
		case traces.Import, traces.Fetch, traces.FetchOwn, traces.Memory, traces.Snoop, traces.SnoopOwn, traces.Upgrade:
			if n++; p.Entry == 0 {
				t.Fatalf("stream %d: %v", stream, p)
			}
		}
	})
	if n == 0 || r.Sizes().Packets[traces.TLB] == 0 {
		t.Errorf("%d lines, %d TLB packets", n, r.Sizes().Packets[traces.TLB])
	}
}

// Entries for two virtual addresses of one memory, in one process or in several,
// have a common alias, and no two memories have one.
func TestAliasesByTLBEntries(t *testing.T) {
	for _, name := range []string{"alias", "sharing"} {
		cfg := record.Config{Seed: 2, Slice: 2000, Cores: 2, Addresses: "slot"}
		if name == "sharing" {
			cfg.Children = "record"
		}
		path, _ := quietly(t, cfg, guest(t, name))
		files := []string{path}
		if name == "sharing" {
			files, _ = filepath.Glob(path + "/*.ttd")
		}
		type memory struct{ object, page uint64 }
		type place struct {
			file int
			page uint64
		}
		of := map[uint64]memory{}           // by alias
		at := map[memory]map[place]uint64{} // the alias that each place was last given
		for i, f := range files {
			s := open(t, f)
			packetsOf(t, s.Reader(), true, func(_ uint32, p *traces.Packet) {
				if p.Kind != traces.TLB {
					return
				}
				var m memory
				for _, x := range s.EveryMapping() {
					if a := p.N << 12; x.Alias != 0 && a >= uint64(x.Addr) && a < uint64(x.Addr)+x.N {
						m = memory{x.Alias, (x.AliasOffset + a - uint64(x.Addr)) >> 12}
					}
				}
				if p.Alias != 0 {
					if m.object == 0 {
						t.Errorf("%s: %v, which no other address has", name, p)
					}
					if o, ok := of[p.Alias]; ok && o != m {
						t.Errorf("%s: alias %d is of %v and %v", name, p.Alias, o, m)
					}
					of[p.Alias] = m
				}
				if m.object != 0 {
					if at[m] == nil {
						at[m] = map[place]uint64{}
					}
					at[m][place{i, p.N}] = p.Alias
				}
			})
		}
		common := 0
		for m, places := range at {
			n := map[uint64]int{}
			for _, a := range places {
				n[a]++
			}
			for a, k := range n {
				if a != 0 && k > 1 {
					common++
				}
			}
			if name == "alias" && n[0] > 0 {
				t.Errorf("%v has places without alias: %v", m, places)
			}
		}
		if common == 0 {
			t.Errorf("%s: no places with a common alias: %v", name, at)
		}
	}
}
