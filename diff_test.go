package racesim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
)

const diffGuest = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
volatile long balance;
volatile int calls;
__attribute__((noinline)) static void deposit(long n) {
	long old = balance; // racy
	for (volatile int i = 0; i < 20; i++) {}
	balance = old + n;
}
static void *teller(void *p) {
	for (int i = 0; i < 500; i++) deposit((long)p);
	return 0;
}
__attribute__((noinline)) static void one(void) { calls++; }
__attribute__((noinline)) static void other(void) { calls += 2; calls--; }
int main(int argc, char **argv) {
	pthread_t t[3];
	char *copy = strdup(argv[1]);
	if (copy[0] == 'x') // the way parts here
		one();
	else
		other();
	int n = argv[2][0] - '0';
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, teller, (void *)(i + 1));
	for (int i = 0; i < n; i++) pthread_join(t[i], 0);
	return balance < 0;
}
`

// diffOf records the guest twice and compares.
func diffOf(t *testing.T, a, b racesim.RecordConfig) *racesim.Diff {
	t.Helper()
	dir := t.TempDir()
	source, bin := filepath.Join(dir, "guest.c"), filepath.Join(dir, "guest")
	if err := os.WriteFile(source, []byte(diffGuest), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-w", "-pthread", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	var ts []*racesim.Trace
	for i, cfg := range []racesim.RecordConfig{a, b} {
		cfg.Argv = append([]string{bin}, cfg.Argv...)
		cfg.Output, cfg.Slice, cfg.Cores = filepath.Join(dir, string(rune('a'+i))+".ttd"), 300, 2
		recordTo(t, cfg)
		tr, err := racesim.OpenAlone(context.Background(), cfg.Output)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		ts = append(ts, tr)
	}
	d, err := racesim.DiffTraces(context.Background(), ts[0], ts[1:])
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	d.Write(&text)
	t.Log(text.String())
	if s := d.Sections; s.All == 0 || s.All != s.Equal+s.Values+s.Other || s.Kinds > s.All {
		t.Errorf("%+v", s)
	}
	return d
}

func racer(seed uint64) racesim.RecordConfig {
	return racesim.RecordConfig{Argv: []string{"x", "2"}, Seed: seed}
}

// Two recordings of one seed are equal, whatever their log modes.
func TestDiffOfEqualExecutions(t *testing.T) {
	b := racer(1)
	b.LogMode, b.Addresses = "ccp", "slot"
	d := diffOf(t, racer(1), b)
	if !d.Same() || len(d.Compared[0].Threads) != 3 || d.Sections.Equal != d.Sections.All || len(d.Functions) > 0 {
		t.Errorf("%+v", d)
	}
}

// With another seed, threads first read what another left in the racy variable,
// in the function and line that do it.
func TestDiffNamesTheRacyLoad(t *testing.T) {
	d := diffOf(t, racer(1), racer(2))
	if d.Same() {
		t.Fatal("the same")
	}
	found := false
	for _, th := range d.Compared[0].Threads {
		for i, x := range th.Differences {
			if x.Position == "" || x.There == "" || x.Place == "" || i > 1 {
				t.Errorf("thread %d: %+v", th.Thread, x)
			}
			if strings.Contains(x.Place, "deposit guest.c:9") {
				found = true
				if x.Kind != "value" || !strings.Contains(x.What, "reads balance: ") || !strings.Contains(x.What, ", there ") {
					t.Errorf("%+v", x)
				}
			}
		}
	}
	if !found {
		t.Error("nothing about deposit")
	}
	for _, f := range d.Functions {
		if f.Function == "deposit" && f.Values > 0 && f.Kinds > 1 {
			return
		}
	}
	t.Errorf("no sections of deposit with other values: %+v", d.Functions)
}

// What an argument decides: the value read, what only one does, and threads that
// only one has.
func TestDiffOfOtherArguments(t *testing.T) {
	a, b := racer(1), racer(1)
	b.Argv = []string{"y", "1"}
	d := diffOf(t, a, b)
	ths := d.Compared[0].Threads
	if len(ths) != 3 || ths[2].Kind != "alone" || ths[2].Thread != 3 {
		t.Fatalf("%+v", ths)
	}
	own := ths[0].Differences[len(ths[0].Differences)-1]
	if !strings.Contains(own.Place, "main guest.c:22") || own.Kind != "value" || !strings.Contains(own.What, ": 120, there 121") {
		t.Errorf("%+v", own)
	}
	for _, f := range d.Functions {
		if f.Function == "one" && f.Other == 1 {
			return
		}
	}
	t.Errorf("one isn't only here: %+v", d.Functions)
}
