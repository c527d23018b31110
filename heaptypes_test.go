package racesim_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/racesim/racesim"
)

// Places in heap blocks have the names of members, by what the code that allocates
// them says they hold.
func TestHeapMembers(t *testing.T) {
	for _, c := range []struct {
		source string
		want   []string // member, its type, the block's
	}{
		{"members.c", []string{".conf.level int job", "[3].weight long int item", "[5] int int"}},
		{"members.cpp", []string{"[2].y int point", ".at.x int shape", ".y int point", "[1].sides int shape", ".second.y int pair<int const, app::point>"}},
	} {
		t.Run(c.source, func(t *testing.T) {
			dir := t.TempDir()
			g := guest{name: "members", source: filepath.Join("testdata/heaptypes", c.source), flags: []string{"-O0"}}
			trace := filepath.Join(dir, "t.ttd")
			recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{g.build(t, dir)}, Seed: 1})
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for i := range r.Races {
				l := &r.Races[i].Location
				got[l.Member+" "+l.Type+" "+l.Object] = true
				t.Log(l.Name(), l.Type, l.Object)
			}
			for _, w := range c.want {
				if !got[w] {
					t.Errorf("no race on %s", w)
				}
			}
		})
	}
}
