package racesim

import (
	"math/rand"
	"testing"
)

// Which races a budget reaches doesn't depend on the order in which workers are
// done with them.
func TestABudgetReachesTheSameWhoeverIsFaster(t *testing.T) {
	cost := []uint64{30, 0, 50, 10, 40, 20, 5}
	for _, c := range []struct {
		limit uint64
		want  int
	}{{1, 1}, {30, 1}, {31, 3}, {80, 3}, {81, 4}, {130, 5}, {1000, 7}} {
		for seed := int64(0); seed < 50; seed++ {
			b := &purse{limit: c.limit, spent: make([]uint64, len(cost)), known: make([]bool, len(cost))}
			r := rand.New(rand.NewSource(seed))
			// Three workers take numbers in order and end in any.
			next, under := 0, []int{}
			for next < len(cost) || len(under) > 0 {
				if next < len(cost) && len(under) < 3 {
					if !b.empty() {
						under = append(under, next)
					}
					next++
					continue
				}
				k := r.Intn(len(under))
				b.pay(under[k], cost[under[k]])
				under = append(under[:k], under[k+1:]...)
			}
			if got := b.reach(); got != c.want {
				t.Fatalf("limit %d, seed %d: reaches %d, want %d", c.limit, seed, got, c.want)
			}
		}
	}
}
