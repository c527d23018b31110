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
	text := hardwareOf(t, trace)
	for _, want := range []string{`(?m)^0x[0-9a-f]+ +\d+  FALSE .*beside\.yours.*beside\.mine`, `(?m)^0x[0-9a-f]+ +\d+  true .*both.*both`, `, 1 of them though each`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
	cacheTable(t, text, "TLB")
	if all := cacheTable(t, text, "L1 data"); all[1] < 12000 {
		t.Errorf("hits %d\n%s", all[1], text)
	}

	// All levels, and units that share them.
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 2, Slice: 100, Cores: 1, ThreadsPerCore: 2, L1I: "1K/2", L1: "1K/2", L2: "4K/4"})
	text = hardwareOf(t, trace)
	for _, name := range []string{"L1 data", "L1 code", "L2", "LLC"} {
		cacheTable(t, text, name)
	}
	if !strings.Contains(text, "of siblings") || regexp.MustCompile(`(?m)^all .* [1-9]\d*\n`).FindString(text) == "" {
		t.Errorf("no hits of siblings:\n%s", text)
	}

	// Of a ring, hits are those of what is left.
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 2, Slice: 100, Ring: "8K", MemoryModel: "loads"})
	text = hardwareOf(t, trace)
	if all := cacheTable(t, text, "L1 data"); !strings.Contains(text, "by threads") || all[0] < 100 || all[0] > 40000 {
		t.Errorf("a ring:\n%s", text)
	}
}

// hardwareOf is what info --hw prints.
func hardwareOf(t *testing.T, trace string) string {
	t.Helper()
	tr, err := racesim.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var b strings.Builder
	if err := tr.WriteHardware(context.Background(), &b, 10); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cacheTable returns the last line of a table, accesses, hits and misses, of which
// the others must be parts.
func cacheTable(t *testing.T, text, name string) (all [3]uint64) {
	t.Helper()
	_, table, ok := strings.Cut(text, "\n"+name+"  ")
	if !ok {
		t.Fatalf("there is no table of %s:\n%s", name, text)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var sum [3]uint64
	for _, m := range regexp.MustCompile(`(?m)^(unit \d+|thread \d+|all) +(\d+) +(\d+) +[\d.]+% +(\d+) `).FindAllStringSubmatch(table, -1) {
		for i := range sum {
			n, _ := strconv.ParseUint(m[2+i], 10, 64)
			if m[1] == "all" {
				all[i] = n
			} else {
				sum[i] += n
			}
		}
	}
	if sum != all || all[0] != all[1]+all[2] || all[2] == 0 {
		t.Errorf("%s: units together: accesses, hits, misses %v, all: %v\n%s", name, sum, all, text)
	}
	return all
}
