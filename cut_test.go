package racesim_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

const partGuest = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *locked, racy;
static void one(int i) {
	pthread_mutex_lock(&m);
	locked[i % 16] += i;
	pthread_mutex_unlock(&m);
	racy += i; // race
}
static void *run(void *a) { for (int i = 0; i < 200; i++) one(i); return a; }
int main(void) {
	pthread_t t[3];
	locked = calloc(16, sizeof *locked);
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%d %d\n", locked[3], racy);
	free(locked);
	return 0;
}
`

// In a part of a recording what races is found, by the calls under way at the
// cut, and what doesn't isn't; nobody complains of blocks and locks whose
// beginning is missing.
func TestPartsAreAnalysed(t *testing.T) {
	dir := t.TempDir()
	source, bin, trace := filepath.Join(dir, "guest.c"), filepath.Join(dir, "guest"), filepath.Join(dir, "t.ttd")
	if err := os.WriteFile(source, []byte(partGuest), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-fno-inline", "-w", "-pthread", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 2, Slice: 300})
	os.Remove(bin) // the part has the names, too
	tr, err := racesim.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := tr.Session().Schedule()
	tr.Close()
	if err != nil || len(sched) < 50 {
		t.Fatalf("%d slices, %v", len(sched), err)
	}
	found := 0
	for _, part := range [][2]int{{1, 2}, {2, 3}, {1, 3}} { // thirds of the recording
		from, to := sched[len(sched)*part[0]/4].Min, sched[len(sched)*part[1]/4].End
		out := filepath.Join(dir, "part.ttd")
		if _, err := racesim.Convert(context.Background(), trace, out, racesim.ConvertOptions{From: fmt.Sprint(from), To: fmt.Sprint(to)}); err != nil {
			t.Fatal(err)
		}
		if _, err := racesim.VerifyFile(out); err != nil {
			t.Error(err)
		}
		r, err := racesim.AnalyzeFile(context.Background(), out, racesim.AnalyzeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		report.WriteTable(&b, r)
		for i := range r.Races {
			if x := &r.Races[i]; x.Location.Symbol != "racy" {
				t.Errorf("events %d to %d: a race on %s\n%s", from, to, x.Location.Symbol, b.String())
			} else if found++; !strings.Contains(b.String(), "\n        run") {
				t.Errorf("events %d to %d: no callers\n%s", from, to, b.String())
			}
		}
		if len(r.Findings) > 0 || len(r.Notes) == 0 {
			t.Errorf("events %d to %d: findings or no notes\n%s", from, to, b.String())
		}
	}
	if found == 0 {
		t.Error("no race was found in any part")
	}
}

// A trace that is written anew says the same: smaller, of any version, and of
// one that was cut off as much as there is.
func TestConvertKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	for _, in := range glob(t, "traces/testdata/version*.ttd") {
		b, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		cutOff := filepath.Join(dir, "off.ttd")
		if err := os.WriteFile(cutOff, b[:len(b)-100], 0o666); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{in, cutOff} {
			for _, o := range []racesim.ConvertOptions{{}, {Level: "best"}, {Embed: "none"}, {Embed: "own"}} {
				out := filepath.Join(dir, "out.ttd")
				os.Remove(out)
				if _, err := racesim.Convert(context.Background(), path, out, o); err != nil {
					t.Fatal(err)
				}
				if got, want := dumped(t, out), dumped(t, path); got != want {
					t.Errorf("%s with %+v: %d bytes of packets, expected %d", path, o, len(got), len(want))
				}
				tr, err := racesim.Open(out)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tr.Verify(1); err != nil || (tr.Incomplete() != "") != (path == cutOff) {
					t.Errorf("%s with %+v: %v, incomplete: %q", path, o, err, tr.Incomplete())
				}
				tr.Close()
			}
		}
	}
	if _, err := racesim.Convert(context.Background(), dir+"/off.ttd", dir+"/off.ttd", racesim.ConvertOptions{}); err == nil || !strings.Contains(err.Error(), "written over") {
		t.Errorf("onto itself: %v", err)
	}
}

// dumped returns the packets of a trace as text, without its files.
func dumped(t *testing.T, path string) string {
	t.Helper()
	var b, kept strings.Builder
	racesim.Dump(&b, path, racesim.DumpOptions{Thread: -1}) // the error may say that it is incomplete
	for _, l := range strings.SplitAfter(b.String(), "\n") {
		if !strings.HasPrefix(l, "files ") {
			kept.WriteString(l)
		}
	}
	return kept.String()
}
