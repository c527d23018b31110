package racesim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/report"
)

// moody is a program of which a race decides what it calls, locks, opens and
// allocates; nothing of that comes out of it.
const moody = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int thorough;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) void slow(void) { __asm__ volatile(""); }
static __attribute__((noinline)) void serve(void) {
	if (thorough) {
		slow();
		pthread_mutex_lock(&a);
		pthread_mutex_lock(&b);
		pthread_mutex_unlock(&b);
		pthread_mutex_unlock(&a);
		free(malloc(300));
	}
}
static void *set(void *arg) { for (volatile int k = 0; k < 20000; k++); thorough = 1; return NULL; }
static void *work(void *arg) { serve(); return NULL; }
int main(void) {
	pthread_t t[2];
	pthread_create(&t[0], NULL, set, NULL);
	pthread_create(&t[1], NULL, work, NULL);
	for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
`

// TestQueriesLookAtExperiments has queries of each severity look at what a
// section does in one order only.
func TestQueriesLookAtExperiments(t *testing.T) {
	dir := t.TempDir()
	src, bin, trace := filepath.Join(dir, "moody.c"), filepath.Join(dir, "moody"), filepath.Join(dir, "t.ttd")
	if err := os.WriteFile(src, []byte(moody), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1})
	for _, c := range []struct {
		name, query string
		changed     bool
		harmful     bool
	}{
		{"an error", `{id: mine, title: slow is called, over: calls, when: 'callee == "slow"', severity: error}`, true, true},
		{"a warning where orders end alike", `{id: mine, title: slow is called, over: calls, when: 'callee == "slow"', severity: warning}`, true, false},
		{"a note", `{id: mine, title: slow is called, over: calls, when: 'callee == "slow"', severity: note}`, true, false},
		{"off", `{id: mine, title: slow is called, over: calls, when: 'callee == "slow"', severity: "off"}`, false, false},
		{"locks", `{id: mine, title: b under a, over: locks, when: 'held == "a" && taken == "b" && function == "serve"', severity: error}`, true, true},
		{"what doesn't hold", `{id: mine, title: other, over: locks, when: 'held == "b"', severity: error}`, false, false},
		{"what everybody calls anyway", `{id: mine, title: serve, over: calls, when: 'callee == "serve"', severity: error}`, false, false},
		{"blocks that are freed", `{id: mine, title: a large block, over: blocks, when: 'bytes > 200', severity: error}`, false, false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			rules, err := checkers.ParseRules("r.yaml", []byte("version: 1\nqueries:\n  - "+c.query+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			changed, harmful := false, false
			for i := range r.Races {
				harmful = harmful || r.Races[i].Verdict == report.Harmful
				changed = changed || slices.ContainsFunc(r.Races[i].Checkers, func(x report.CheckerChange) bool { return x.Change == "+mine" })
			}
			if changed != c.changed || harmful != c.harmful {
				var b strings.Builder
				report.WriteTable(&b, r)
				t.Errorf("changed %v, harmful %v, want %v, %v\n%s", changed, harmful, c.changed, c.harmful, b.String())
			}
		})
	}
}
