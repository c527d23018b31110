package hwmodel

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// tiny is a machine whose L1s hold one line, so that another line evicts it.
func tiny(p *Protocol, cores int) *Machine {
	return New(Config{Cores: cores, L1: Geometry{64, 1}, LLC: Geometry{1 << 12, 4}, Protocol: p})
}

// states returns the state of a line in each unit, as letters.
func states(l *Line, units int) string {
	var b strings.Builder
	for u := range units {
		b.WriteString(l.State(u).String())
	}
	return b.String()
}

// do lets a unit load, store ('l', 's') or evict ('e') a line.
func do(m *Machine, unit int, l *Line, req byte) {
	switch req {
	case 'l', 's':
		m.Access(unit, l, 100, req == 's')
	case 'e':
		other := new(Line)
		m.Access(unit, other, 200, false)
		m.Discard(other)
	}
}

// The protocols as the literature has them: each path of requests (unit
// number, then l, s or e) leads to these states. Every reachable cell of the
// state × request tables is crossed.
func TestProtocolsTransitions(t *testing.T) {
	common := map[string]string{
		"0s": "MI", "0s0l": "MI", "0s0s": "MI", "0s0e": "II", "0s1s": "IM",
		"0l0e": "II", "0l1s": "IM", "0l0s": "MI",
		"0l1l0s": "MI", "0l1l1s": "IM", "0s1l0s": "MI", "0s1l1s": "IM", "0s1l0e1s": "IM",
	}
	own := map[*Protocol]map[string]string{
		MSI:   {"0l": "SI", "0l0l": "SI", "0l1l": "SS", "0s1l": "SS", "0l1l0e": "IS", "0l1l0l": "SS", "0l1l0e0l": "SS"},
		MESI:  {"0l": "EI", "0l0l": "EI", "0l1l": "SS", "0s1l": "SS", "0l1l0e": "IS", "0l1l0l": "SS", "0l1l0e0l": "SS"},
		MOESI: {"0l": "EI", "0l0l": "EI", "0l1l": "SS", "0s1l": "OS", "0l1l0e": "IS", "0s1l0l": "OS", "0s1l1e": "OI", "0s1l0e": "IS", "0s1l1e1l": "OS", "0s1l1l": "OS"},
		MESIF: {"0l": "EI", "0l0l": "EI", "0l1l": "SF", "0s1l": "SF", "0l1l0e": "IF", "0l1l1e": "SI", "0l1l1e1l": "SF", "0l1l0l": "SF", "0l1l1l": "SF", "0l1l0e0l": "FS"},
	}
	for p, extra := range own {
		for _, table := range []map[string]string{common, extra} {
			for path, want := range table {
				m, l := tiny(p, 2), new(Line)
				for i := 0; i < len(path); i += 2 {
					do(m, int(path[i]-'0'), l, path[i+1])
				}
				if got := states(l, 2); got != want {
					t.Errorf("%s: %s leads to %s, want %s", p.Name, path, got, want)
				}
			}
		}
	}
}

// Every state of three units that can be reached, with every request from
// there, keeps the invariants of the protocol.
func TestProtocolsReachableStates(t *testing.T) {
	reachable := map[string]int{"msi": 11, "mesi": 14, "moesi": 26, "mesif": 25}
	for _, p := range Protocols {
		seen := map[string]string{"III": ""}
		for queue := []string{"III"}; len(queue) > 0; queue = queue[1:] {
			path := seen[queue[0]]
			for unit := range 3 {
				for _, req := range "lse" {
					next := path + fmt.Sprint(unit) + string(req)
					m, l := tiny(p, 3), new(Line)
					for i := 0; i < len(next); i += 2 {
						do(m, int(next[i]-'0'), l, next[i+1])
					}
					s := states(l, 3)
					if err := coherent(s); err != nil {
						t.Fatalf("%s: %s leads to %s: %v", p.Name, next, s, err)
					}
					if req == 's' && l.State(unit) != Modified {
						t.Errorf("%s: %s leads to %s, want M in unit %d", p.Name, next, s, unit)
					}
					if req == 'l' && l.State(unit) == Invalid {
						t.Errorf("%s: %s leads to %s, want unit %d to hold it", p.Name, next, s, unit)
					}
					if _, ok := seen[s]; !ok {
						seen[s] = next
						queue = append(queue, s)
					}
				}
			}
		}
		if len(seen) != reachable[p.Name] {
			t.Errorf("%s: %d states reachable, want %d: %v", p.Name, len(seen), reachable[p.Name], seen)
		}
	}
}

// coherent checks one line's states, a letter for each unit: one writer or
// many readers, and at most one holder that isn't S.
func coherent(s string) error {
	held := len(s) - strings.Count(s, "I")
	owners := held - strings.Count(s, "S")
	if owners > 1 {
		return fmt.Errorf("two units hold the line in states other than S")
	}
	if strings.ContainsAny(s, "ME") && held > 1 {
		return fmt.Errorf("a unit may write while another holds the line")
	}
	return nil
}

func TestCounters(t *testing.T) {
	m, l := tiny(MESI, 2), new(Line)
	m.Access(0, l, 1, false) // miss, from memory
	m.Access(1, l, 1, false) // miss, from unit 0, which is downgraded
	m.Access(1, l, 1, true)  // upgrade, unit 0 invalidated
	m.Access(0, l, 1, false) // miss, from unit 1, which writes back and is downgraded
	m.Access(0, l, 2, false) // hit under another virtual line
	do(m, 0, l, 'e')         // another line, missing everywhere, evicts it
	m.Access(0, l, 1, false) // miss, from the last level: S doesn't supply
	want0 := Counters{Hits: 1, Misses: 4, Invalidations: 1 + 1, Downgrades: 1, Transfers: 1, Evictions: 1, LLCHits: 1, LLCMisses: 2, Aliases: 1}
	want1 := Counters{Hits: 1, Misses: 1, Upgrades: 1, Downgrades: 1, Transfers: 1, WriteBacks: 1}
	if got := m.Counters(0); got != want0 {
		t.Errorf("unit 0: %+v\nwant    %+v", got, want0)
	}
	if got := m.Counters(1); got != want1 {
		t.Errorf("unit 1: %+v\nwant    %+v", got, want1)
	}
	total, sum := m.Total(), uint64(0)
	for _, c := range total.List() {
		sum += c.Value
	}
	if sum != 14+6 {
		t.Errorf("the list sums to %d, want %d: %+v", sum, 20, total)
	}
}

func TestConfigRejected(t *testing.T) {
	ok := DefaultConfig(4)
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{
		{Cores: 0, L1: ok.L1, LLC: ok.LLC},
		{Cores: 65, L1: ok.L1, LLC: ok.LLC},
		{Cores: 1, L1: Geometry{100, 1}, LLC: ok.LLC},
		{Cores: 1, L1: Geometry{64 * 3, 1}, LLC: ok.LLC},
		{Cores: 1, L1: Geometry{64 << 10, 65}, LLC: ok.LLC},
		{Cores: 1, L1: ok.L1, LLC: Geometry{1 << 40, 16}},
	} {
		if c.Check() == nil {
			t.Errorf("%v passes", c)
		}
	}
}

func TestLineIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Line{}); n > 32 {
		t.Errorf("a Line takes %d bytes, want at most 32", n)
	}
}
