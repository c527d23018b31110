package hwmodel

import (
	"fmt"
	"math/rand"
	"testing"
)

// stream is a log in miniature: what each number stands for.
type stream struct {
	entries map[uint64]logged
	told    int // entries told of again
}

type logged struct{ page, alias uint64 }

func (s *stream) LogEntry(id, page, alias uint64) {
	s.entries[id] = logged{page, alias}
	s.told++
}

// Whatever units translate, in whatever address spaces, and whatever is flushed:
// an entry's number is of no other entry that is in a buffer, a log that was told
// of it knows its page, and entries that are logged and live have a common alias
// if they show one physical page at different virtual ones; no two pages have one.
func TestTranslations(t *testing.T) {
	for _, ids := range []TLBIDs{TLBSlot, TLBCounter, TLBRandom} {
		t.Run(ids.String(), func(t *testing.T) {
			rng := rand.New(rand.NewSource(1))
			cfg := Config{Cores: 3, L1: Geometry{4 * 64, 2}, LLC: Geometry{8 * 64, 2}, TLB: TLB{Entries: 12, Ways: 3, IDs: ids}}
			m := New(cfg)
			var physical [20]Line
			shows := map[pageKey]*Line{} // the page tables
			streams := []*stream{{entries: map[uint64]logged{}}, {entries: map[uint64]logged{}}, {entries: map[uint64]logged{}}}
			joined, names := 0, map[uint64]bool{}
			for step := range 40000 {
				key := pageKey{1 + uint64(rng.Intn(2)), uint64(rng.Intn(40))}
				switch rng.Intn(60) {
				case 0: // the page shows another one
					delete(shows, key)
					m.FlushPage(key.page)
					continue
				case 1:
					if rng.Intn(20) == 0 {
						m.FlushTLBs()
					}
					continue
				}
				unit := rng.Intn(3)
				if rng.Intn(10) > 0 {
					key.space = 1 // mostly, no other address space
				}
				if shows[key] == nil {
					shows[key] = &physical[rng.Intn(len(physical))]
				}
				e := m.Translate(unit, key.space, key.page, shows[key])
				if again := m.Translate(unit, key.space, key.page, shows[key]); again != e || e.key != key {
					t.Fatalf("step %d: %+v, then %+v", step, e, again)
				}
				if rng.Intn(3) == 0 {
					continue // used, and nothing is logged by it
				}
				s := streams[rng.Intn(3)]
				id, alias := m.Log(e, s)
				if id == 0 {
					t.Fatalf("step %d: no number", step)
				}
				names[id] = true
				s.entries[id] = logged{key.page, alias}
				joined += int(alias & 1)
				if err := consistent(m, streams, shows); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
			}
			c := m.Total()
			if joined == 0 || c.TLBMisses == 0 || c.TLBEvictions == 0 || c.TLBFlushes == 0 || streams[0].told == 0 {
				t.Errorf("%d joined, %+v: too little happened", joined, c)
			}
			if most := 3 * 12; ids == TLBSlot && len(names) > most {
				t.Errorf("%d numbers for %d places", len(names), most)
			}
		})
	}
}

func consistent(m *Machine, streams []*stream, shows map[pageKey]*Line) error {
	ids := map[uint64]pageKey{}
	live := map[*Line][]*TLBEntry{}
	for u := range m.tlbs.units {
		b := &m.tlbs.units[u]
		for n, tag := range b.tags {
			if tag == 0 {
				continue
			}
			e := &b.entries[n]
			if other, ok := ids[e.id]; ok || e.id == 0 {
				return fmt.Errorf("entries of %v and %v are both called %d", e.key, other, e.id)
			}
			ids[e.id] = e.key
			if b.firsts[n] != shows[e.key] {
				return fmt.Errorf("the entry of %v shows another page than the page table", e.key)
			}
			if len(e.logs) > 0 {
				live[b.firsts[n]] = append(live[b.firsts[n]], e)
			}
		}
	}
	aliases := map[uint64]*Line{}
	for first, l := range live {
		several := false
		for _, e := range l {
			several = several || e.key != l[0].key
		}
		for _, e := range l {
			a := e.phys.alias
			if several && a == 0 {
				return fmt.Errorf("entry %d of %v has no alias", e.id, e.key)
			}
			if other := aliases[a]; a != 0 && other != nil && other != first {
				return fmt.Errorf("two pages have the alias %d", a)
			}
			aliases[a] = first
			for _, s := range e.logs {
				if got := s.(*stream).entries[e.id]; got != (logged{e.key.page, a}) && several {
					return fmt.Errorf("a log has %+v for entry %d of %v with alias %d", got, e.id, e.key, a)
				}
			}
		}
	}
	return nil
}

// Without numbers there is nothing to log; what the buffers do is counted all
// the same.
func TestTranslationsWithoutNumbers(t *testing.T) {
	cfg := DefaultConfig(2)
	cfg.TLB = DefaultTLB
	m := New(cfg)
	var l Line
	for page := range uint64(3000) {
		if e := m.Translate(0, 1, page, &l); e != nil {
			t.Fatal(e)
		}
	}
	if id, alias := m.Log(m.Translate(0, 1, 2999, &l), &stream{}); id != 0 || alias != 0 {
		t.Errorf("entry %d with alias %d", id, alias)
	}
	m.Translate(0, 2, 5, &l)
	if c := m.Counters(0); c.TLBMisses != 3001 || c.TLBEvictions != 3000-1536 || c.TLBFlushes != 1 {
		t.Errorf("%+v", c)
	}
}

func TestTLBSizes(t *testing.T) {
	for s, want := range map[string]bool{"": true, "1536/12": true, "64/4": true, "1/1": true, "64": false, "64/0": false, "65/4": false, "48/4": false, "x/4": false, "-8/4": false, "4194304/4": false, "128/65": false} {
		tlb, err := ParseTLB(s)
		if err == nil {
			c := DefaultConfig(1)
			c.TLB = tlb
			err = c.Check()
		}
		if (err == nil) != want {
			t.Errorf("%q: %v", s, err)
		}
	}
	for i := TLBUnnamed; i <= TLBRandom; i++ {
		if got, err := ParseTLBIDs(i.String()); got != i || err != nil {
			t.Errorf("%v: %v, %v", i, got, err)
		}
	}
	if _, err := ParseTLBIDs("physical"); err == nil {
		t.Error("physical addresses")
	}
}
