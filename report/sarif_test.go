package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// What is written is valid by the standard's own schema, and has what code
// scanning shows: level, both places, a fingerprint, suppressions.
func TestSARIF(t *testing.T) {
	r := sample()
	r.Races[1].Suppressed = "a hint, rechecked"
	r.Races[1].Accesses[0].Stack = []Frame{{Function: "main", Module: "/usr/bin/prog", Offset: "0x1200"}}
	r.Notes = []string{"the trace is incomplete"}
	r.Findings = []Finding{{Checker: "leak", Severity: "warning", Message: "24 bytes are lost", Stack: []Frame{{Function: "malloc", Module: "/lib/libc.so.6"}, {Function: "push", File: "/src/a b.c", Line: 3}}}}
	var b bytes.Buffer
	if err := WriteSARIF(&b, r, []Rule{{"leak", "Lost memory", "Nothing points to it."}}); err != nil {
		t.Fatal(err)
	}
	x, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Validate(); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	res := x.Runs[0].Results
	if len(res) != 3 || res[0].Level != "error" || res[1].Level != "note" || res[2].Level != "warning" {
		t.Fatalf("results: %s", b.String())
	}
	if res[0].PartialFingerprints["racesim/v1"] != "a" || len(res[0].Stacks) != 2 || len(res[0].RelatedLocations) != 1 {
		t.Errorf("a race without identifier, stacks or its other side")
	}
	if p := res[0].Locations[0].PhysicalLocation; *p.ArtifactLocation.URI != "bank.c" || *p.Region.StartLine != 7 {
		t.Errorf("a race is at %s", *p.ArtifactLocation.URI)
	}
	if len(res[1].Suppressions) != 1 {
		t.Error("a suppression is lost")
	}
	if p := res[2].Locations[0].PhysicalLocation; *p.ArtifactLocation.URI != "file:///src/a%20b.c" {
		t.Errorf("a finding is at %s", *p.ArtifactLocation.URI)
	}
	if !strings.Contains(b.String(), "the trace is incomplete") {
		t.Error("a note is lost")
	}
}
