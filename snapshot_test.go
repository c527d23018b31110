package racesim_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

const snapshotGuest = `
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
const char *table;
int pick = 1, sum;
pthread_barrier_t b;
void *change(void *a) { pthread_barrier_wait(&b); pick = 40; return 0; }
int look(void) { return table[pick * 4096 + 5]; }
int main(int argc, char **argv) {
	pthread_t t;
	int fd = open(argv[1], O_RDONLY);
	table = mmap(0, 64 * 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	pthread_barrier_init(&b, 0, 2);
	pthread_create(&t, 0, change, 0);
	pthread_barrier_wait(&b);
	sum = look();
	pthread_join(t, 0);
	printf("%d\n", sum);
	return 0;
}
`

// With a snapshot, experiments know memory that the recording never read, and
// the traces show it; without, they say that they don't.
func TestSnapshotsTellWhatWasNeverRead(t *testing.T) {
	dir := t.TempDir()
	source, bin, data := filepath.Join(dir, "guest.c"), filepath.Join(dir, "guest"), filepath.Join(dir, "data")
	content := make([]byte, 64*4096)
	for i := range content {
		content[i] = byte(i >> 12)
	}
	for path, b := range map[string][]byte{source: []byte(snapshotGuest), data: content} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("gcc", "-g", "-O1", "-fno-inline", "-w", "-pthread", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	for _, when := range []string{"", "end"} {
		trace := filepath.Join(dir, "t"+when+".ttd")
		recordTo(t, racesim.RecordConfig{Output: trace, Argv: []string{bin, data}, Seed: 1, Snapshots: when})
		tr, err := racesim.Open(trace)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Verify(1); err != nil {
			t.Error(err)
		}
		found := false
		for _, im := range tr.Session().Images() {
			found = found || bytes.Contains(im.Data, content[4096:8*4096])
		}
		r, err := tr.Analyze(context.Background(), racesim.AnalyzeOptions{})
		tr.Close()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		report.WriteTable(&b, r)
		if len(r.Races) != 1 || r.Races[0].Location.Symbol != "pick" {
			t.Fatalf("snapshots %q:\n%s", when, b.String())
		}
		known := !strings.Contains(b.String(), "which the recording never showed") && r.Races[0].Verdict != "unknown"
		if found != (when != "") || known != (when != "") {
			t.Errorf("snapshots %q: the file is there: %v, experiments know it: %v\n%s", when, found, known, b.String())
		}
	}
}
