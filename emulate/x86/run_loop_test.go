package x86

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/racesim/racesim/emulate/x86/internal/loopgen"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestRunLoopIsGenerated keeps run_loop.go in step with its generator.
func TestRunLoopIsGenerated(t *testing.T) {
	want, err := loopgen.Source()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("run_loop.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("run_loop.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("run_loop.go isn't what internal/loopgen writes; run this test with -update")
	}
}
