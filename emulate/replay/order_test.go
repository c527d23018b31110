package replay

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/racesim/racesim/emulate"
)

// Messages of an execution have a solution whose ranks satisfy them all: the
// fetch comes after what it fetches, and before the other's next access.
func TestOrderingOfAnExecutionIsSolved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOrdering()
		last := map[emulate.ThreadID]uint64{}
		type fetch struct{ a, b access }
		var all []fetch
		for min := uint64(1); min < 60; min++ {
			id := emulate.ThreadID(rapid.IntRange(1, 4).Draw(t, "thread"))
			last[id] = min
			for range rapid.IntRange(0, 2).Draw(t, "fetches") {
				from := emulate.ThreadID(rapid.IntRange(1, 4).Draw(t, "from"))
				if last[from] != 0 && from != id {
					all = append(all, fetch{access{from, last[from]}, access{id, min}})
					o.fetched(all[len(all)-1].a, all[len(all)-1].b)
				}
			}
		}
		rank, err := o.solve()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if rank[f.a] >= rank[f.b] {
				t.Fatalf("%v has rank %d, %v, which fetches from it, %d", f.a, rank[f.a], f.b, rank[f.b])
			}
			for _, next := range o.of[f.a.thread] {
				if next.min > f.a.min && rank[next] <= rank[f.b] {
					t.Fatalf("%v has rank %d, %v fetches before it at rank %d", next, rank[next], f.b, rank[f.b])
				}
			}
		}
	})
}

// Messages that no execution can have are refused, and the circle is named.
func TestOrderingFindsTheCircle(t *testing.T) {
	o := newOrdering()
	o.fetched(access{1, 10}, access{2, 5})
	o.fetched(access{2, 5}, access{3, 7})
	o.fetched(access{3, 7}, access{1, 4})
	o.fetched(access{4, 1}, access{1, 4})
	_, err := o.solve()
	var c *cycle
	if !errors.As(err, &c) || len(c.accesses) < 3 || c.accesses[0] != c.accesses[len(c.accesses)-1] {
		t.Fatalf("%v", err)
	}
	if strings.Contains(err.Error(), "4:1") {
		t.Errorf("%v: 4:1 is in no circle", err)
	}
}
