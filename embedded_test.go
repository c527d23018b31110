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

const embeddedGuest = `
#include <pthread.h>
#include <stdio.h>
int counter_of_guest;
void *raise_it(void *a) { for (int i = 0; i < 50; i++) counter_of_guest++; return 0; }
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, raise_it, 0);
	raise_it(0);
	pthread_join(t, 0);
	printf("%d\n", counter_of_guest);
	return 0;
}
`

// A program's names and lines come from the trace when its files are gone, with
// debugging information that stood apart, too. What isn't embedded and has
// changed isn't used, and the report says so.
func TestTracesCarryTheirModules(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	source, bin := filepath.Join(dir, "guest.c"), filepath.Join(dir, "guest")
	if err := os.WriteFile(source, []byte(embeddedGuest), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(argv ...string) {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	build := func(flags ...string) { run(append([]string{"gcc", "-w", "-pthread", "-o", bin, source}, flags...)...) }
	record := func(embed string) string {
		trace := filepath.Join(dir, fmt.Sprintf("%s-%d.ttd", embed, len(glob(t, dir+"/*.ttd"))))
		recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1, Slice: 100, Embed: embed})
		return trace
	}
	look := func(trace string) (names bool, notes string) {
		t.Helper()
		tr, err := racesim.Open(trace)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		if _, err := tr.Verify(1); err != nil {
			t.Error(err)
		}
		r, err := tr.Analyze(ctx, racesim.AnalyzeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		report.WriteTable(&b, r)
		names = strings.Contains(b.String(), "counter_of_guest") && strings.Contains(b.String(), "guest.c:5")
		fs, err := tr.Functions(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range fs {
			all = append(all, f.Name)
		}
		if strings.Contains(strings.Join(all, " "), "raise_it") != names {
			t.Errorf("%s: functions %v, report\n%s", trace, all, b.String())
		}
		if _, err := racesim.VerifyFile(trace); err != nil {
			t.Error(err)
		}
		return names, strings.Join(r.Notes, "\n")
	}

	build("-g", "-O1", "-Wl,--build-id=sha1")
	own, none := record("own"), record("none")
	run("objcopy", "--only-keep-debug", bin, bin+".debug")
	run("strip", bin)
	run("objcopy", "--add-gnu-debuglink="+bin+".debug", bin)
	apart := record("own")
	build("-g", "-O1", "-Wl,--build-id=none")
	anonymous := record("none")

	for what, c := range map[string]struct {
		trace  string
		change func()
		names  bool
		note   string
	}{
		"gone, embedded":                     {own, func() { os.Remove(bin); os.Remove(bin + ".debug") }, true, ""},
		"gone, embedded with debug file":     {apart, func() { os.Remove(bin); os.Remove(bin + ".debug") }, true, ""},
		"rebuilt, embedded":                  {own, func() { build("-g", "-O2", "-Wl,--build-id=sha1") }, true, ""},
		"gone, not embedded":                 {none, func() { os.Remove(bin) }, false, "isn't in the trace"},
		"rebuilt, not embedded":              {none, func() { build("-g", "-O2", "-Wl,--build-id=sha1") }, false, "has changed since the recording (build id "},
		"the same again, without a build id": {anonymous, func() { build("-g", "-O1", "-Wl,--build-id=none") }, true, ""},
		"another one, without a build id":    {anonymous, func() { build("-g", "-O2", "-Wl,--build-id=none") }, false, "has changed since the recording ("},
		"another one of the same size":       {anonymous, func() { build("-g", "-O1", "-Wl,--build-id=none"); flip(t, bin) }, false, "(hash "},
	} {
		c.change()
		names, notes := look(c.trace)
		if names != c.names || c.note == "" && strings.Contains(notes, bin) || !strings.Contains(notes, c.note) {
			t.Errorf("%s: names %v, notes %q; expected %v, %q", what, names, notes, c.names, c.note)
		}
	}
}

// flip changes the last byte of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(path, b, 0o777); err != nil {
		t.Fatal(err)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	l, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The traces of a recording's processes have each file once, and find it in one
// another.
func TestProcessesShareEmbeddedFiles(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "guest")
	if out, err := exec.Command("gcc", "-g", "-O1", "-w", "-pthread", "-o", bin, glob(t, "testdata/processes/*.c")[0]).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	trace := filepath.Join(dir, "all")
	recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin}, Seed: 1, Children: "record"})
	os.Remove(bin)
	paths, err := racesim.Traces(trace)
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	embedded := 0
	for _, p := range paths {
		tr, err := racesim.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := tr.WriteInfo(&b); err != nil {
			t.Fatal(err)
		}
		tr.Close()
		for _, l := range strings.Split(b.String(), "\n") {
			if strings.Contains(l, bin+"  ") && !strings.HasSuffix(l, "  embedded") {
				t.Errorf("%s: %q", p, l)
			}
		}
		if strings.Contains(b.String(), "bytes of embedded files") {
			embedded++
		}
	}
	if embedded != 1 {
		t.Errorf("%d of %d traces have files, expected 1", embedded, len(paths))
	}
}
