package replay_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/traces"
)

// Marks are in the trace where something happened, and don't change the replay;
// without being asked for, only the program's own are there.
func TestMarks(t *testing.T) {
	bin := guest(t, "marks")
	want, _ := native(t, bin)
	for _, marks := range []string{"", "time,counters,faults"} {
		path, out, res := recorded(t, record.Config{Seed: 1, Marks: marks}, bin)
		if out != want {
			t.Errorf("printed %q, natively %q", out, want)
		}
		s := open(t, path)
		if v := verify(t, s); v.Instructions != res.Instructions {
			t.Errorf("replayed %+v, recorded %+v", v, res)
		}
		var user []string
		var values []uint64
		n := map[string]int{}
		faults := 0 // between the program's marks
		last := uint64(0)
		for c := s.Reader().Cursor(1); ; {
			p, err := c.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Kind != traces.Mark {
				continue
			}
			n[p.Name]++
			switch p.Name {
			case traces.MarkUser:
				user, values = append(user, string(p.Bytes)), append(values, p.Value)
			case traces.MarkFault:
				if len(user) == 1 {
					faults++
				}
			case traces.MarkTime:
				if p.Value < last {
					t.Errorf("the clock goes back from %d to %d", last, p.Value)
				}
				last = p.Value
			case traces.MarkCounters:
				if !strings.Contains(string(p.Bytes), "l1.misses=") {
					t.Errorf("counters %q", p.Bytes)
				}
			}
		}
		if !slices.Equal(user, []string{"begin", "end of the loop"}) || !slices.Equal(values, []uint64{7, 1 << 40}) {
			t.Errorf("the program's marks are %q, %d", user, values)
		}
		if marks == "" && len(n) != 1 || marks != "" && (n[traces.MarkTime] == 0 || n[traces.MarkCounters] == 0 || faults < 250 || faults > 260) {
			t.Errorf("marks %q: %v, %d pages of 256 accessed between the program's", marks, n, faults)
		}
	}
}
