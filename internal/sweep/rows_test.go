package main

import (
	"strings"
	"testing"
)

// The table can be read, and has what it promises.
func TestTheTable(t *testing.T) {
	all, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 80 {
		t.Errorf("%d rows", len(all))
	}
	ports := map[string]string{}
	for _, r := range all {
		if r.Ready != "" {
			if other := ports[r.Ready]; other != "" {
				t.Errorf("%s and %s listen at %s", other, r.Name, r.Ready)
			}
			ports[r.Ready] = r.Name
		}
		if r.Package == "" && !strings.HasPrefix(r.Run[0], "./") && !strings.HasPrefix(r.Run[0], "go") {
			t.Errorf("%s names no package that has %s", r.Name, r.Run[0])
		}
	}
}
