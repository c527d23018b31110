package racesim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/racesim/racesim"
)

const hardwareGuest = `
#include <pthread.h>
struct { volatile int mine, yours; } __attribute__((aligned(64))) beside;
volatile int both __attribute__((aligned(64)));
static void *run(void *p) {
	for (int i = 0; i < 3000; i++) { ++*(volatile int *)p; if (i % 10 == 0) __atomic_fetch_add(&both, 1, 5); }
	return 0;
}
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, run, (void *)&beside.mine);
	run((void *)&beside.yours);
	pthread_join(t, 0);
	return 0;
}
`

// info --hw tells lines that are shared falsely from others, by the variables
// on them, and each unit's hits: what units and last-level cache say fits
// together.
func TestHardwareIsShown(t *testing.T) {
	dir := t.TempDir()
	source, bin, trace := filepath.Join(dir, "guest.c"), filepath.Join(dir, "guest"), filepath.Join(dir, "t.ttd")
	if err := os.WriteFile(source, []byte(hardwareGuest), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-w", "-pthread", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 2, Slice: 100, Cores: 3, TLB: "16/4"})
	tr, err := racesim.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var b strings.Builder
	if err := tr.WriteHardware(context.Background(), &b, 10); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{`(?m)^0x[0-9a-f]+ +\d+  FALSE .*beside\.yours.*beside\.mine`, `(?m)^0x[0-9a-f]+ +\d+  true .*both.*both`, `, 1 of them though each`, `(?m)^TLBs: [1-9]\d* misses, [1-9]\d* evictions, [1-9]\d* flushes$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
	var sum, all [3]uint64 // accesses, hits, misses
	for _, m := range regexp.MustCompile(`(?m)^(unit \d+|all) +(\d+) +(\d+) +[\d.]+% +(\d+) `).FindAllStringSubmatch(text, -1) {
		for i := range sum {
			n, _ := strconv.ParseUint(m[2+i], 10, 64)
			if m[1] == "all" {
				all[i] = n
			} else {
				sum[i] += n
			}
		}
	}
	if sum != all || all[0] != all[1]+all[2] || all[2] == 0 || all[1] < 12000 {
		t.Errorf("units together: accesses, hits, misses %v, all: %v\n%s", sum, all, text)
	}
}
