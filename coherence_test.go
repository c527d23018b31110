package racesim_test

import (
	"testing"

	"github.com/racesim/racesim"
)

// A section that another thread's stores flowed into between its own accesses
// says so; the writer, whose bytes nobody else changes, doesn't.
func TestWhatTheCachesSawOfARace(t *testing.T) {
	r, _ := analysed(t, "testdata/coherence/polled_total.c", 1, racesim.AnalyzeOptions{})
	found := false
	for i := range r.Races {
		x := &r.Races[i]
		if x.Location.Symbol != "shared.total" {
			continue
		}
		for _, side := range x.Accesses {
			found = found || side.Op == "read" && side.Moved > 0
			if side.Op != "read" && side.Moved > 0 {
				t.Errorf("%s at line %d: others changed its bytes %d times; nobody else writes them", side.Op, side.Line, side.Moved)
			}
		}
	}
	if !found {
		t.Errorf("no reader whose bytes changed under its hands: %+v", r.Races)
	}
}
