package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// execute runs this test's program as racesim and returns what it printed on
// both ends, and its exit status.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := self(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func self(args ...string) *exec.Cmd {
	return &exec.Cmd{Path: os.Args[0], Args: append([]string{"racesim"}, args...)}
}

// A recording whose racesim is killed at any moment, or whose disk is full at
// any size, is found under the name that it was to have, says how far it goes,
// and replays up to there.
func TestKilledRecordingsReplay(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "input")
	rnd := rand.New(rand.NewSource(1))
	var text bytes.Buffer
	for range 60000 {
		fmt.Fprintln(&text, rnd.Int63())
	}
	if err := os.WriteFile(input, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	program := []string{"sort", input}
	if p, err := exec.LookPath("pigz"); err == nil {
		program = []string{p, "-p3", "-k", "-c", input} // with threads
	}
	n := 5
	if testing.Short() {
		n = 2
	}
	opened := 0
	for i := range 2 * n {
		trace := filepath.Join(dir, fmt.Sprintf("killed%d.ttd", i))
		ring := [][]string{nil, {"--ring", "64K"}, nil, {"--ring", "thread:32K"}}[i%4]
		cmd := self(append(append([]string{"record", "-o", trace, "--slice", "3000"}, ring...), append([]string{"--"}, program...)...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.Intn(1500)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if incompleteIsGood(t, trace) {
			opened++
		}
	}
	for i := range n {
		trace := filepath.Join(dir, fmt.Sprintf("full%d.ttd", i))
		cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, rnd.Intn(600)), "sh", os.Args[0]}, append([]string{"record", "-o", trace, "--"}, program...)...)...)
		// sh can't choose the name under which the program is called.
		link := filepath.Join(dir, "racesim")
		os.Symlink(os.Args[0], link)
		cmd.Args[4] = link
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		cmd.Run()
		if c := cmd.ProcessState.ExitCode(); c != exitRecord && c != 0 || c != 0 && strings.Count(complaint.String(), "\n") != 1 {
			t.Errorf("file too large: exit status %d: %s", c, complaint.String())
		}
		if incompleteIsGood(t, trace) {
			opened++
		}
	}
	if opened == 0 {
		t.Error("no recording that was ended early had anything in it")
	}
}

// incompleteIsGood checks what is left of a recording; false: nothing is.
func incompleteIsGood(t *testing.T, trace string) bool {
	t.Helper()
	if exists(trace) { // it came to its end
		if _, e, code := execute(t, "replay", trace); code != 0 {
			t.Errorf("%s, complete: exit status %d: %s", trace, code, e)
		}
		return false
	}
	if st, err := os.Stat(traceFile(trace)); err != nil || st.Size() < 2000 {
		return false // before the first chunk
	}
	out, e, code := execute(t, "info", trace)
	if code != 0 || !strings.Contains(out, "\nincomplete   ") || !strings.Contains(out, trace+".incomplete") {
		t.Errorf("%s: info: exit status %d\n%s%s", trace, code, out, e)
		return false
	}
	if strings.Contains(out, "\ninstructions 0") {
		return false
	}
	if out, e, code := execute(t, "replay", trace); code != 0 || !strings.Contains(out, "bit for bit") {
		t.Errorf("%s: replay: exit status %d\n%s%s", trace, code, out, e)
	}
	if _, e, code := execute(t, "verify", trace); code != exitUse || !strings.Contains(e, "at offset 0x") {
		t.Errorf("%s: verify: exit status %d: %s", trace, code, e)
	}
	if _, e, code := execute(t, "analyze", "--fail-on", "none", trace); code != 0 {
		t.Errorf("%s: analyze: exit status %d: %s", trace, code, e)
	}
	return true
}
