package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"racesim": main})
}

// TestScripts runs testdata/*.txtar. Beyond what testscript knows, a script may
// say:
//
//	status N COMMAND ARGS…   run it; its exit status must be N
//	until FILE               wait until there is such a file
//	signal SIG               send a signal to the command in the background
//	cut FILE N               cut N bytes off a file's end
//	flip FILE N              change a bit of the byte at offset N
//	lines N stdout|stderr    so many lines were written
//	report FILE              it is a report as docs/report.md says
//
// $GUESTS holds the programs of testdata/guests.
func TestScripts(t *testing.T) {
	guests := buildGuests(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GUESTS", guests)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "until": cmdUntil, "signal": cmdSignal, "cut": cmdCut, "flip": cmdFlip, "lines": cmdLines, "report": cmdReport,
		},
	})
}

// buildGuests compiles testdata/guests, and some of them in other ways.
func buildGuests(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sources, err := filepath.Glob("testdata/guests/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no guests: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	build := func(name, src string, flags ...string) {
		src = filepath.Join(here, src)
		args := append([]string{"-g", "-O1", "-pthread", "-o", filepath.Join(dir, name)}, flags...)
		if out, err := exec.Command("gcc", append(args, src)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", src, err, out)
		}
	}
	for _, src := range sources {
		build(strings.TrimSuffix(filepath.Base(src), ".c"), src)
	}
	build("racy-symbols", "testdata/guests/racy.c", "-g0")
	build("racy-stripped", "testdata/guests/racy.c", "-s")
	build("echo-static", "testdata/guests/echo.c", "-static")
	build("echo-static-pie", "testdata/guests/echo.c", "-static-pie")
	// A program for another processor needs no compiler: the head is enough.
	b, err := os.ReadFile(filepath.Join(dir, "echo"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	arm := append([]byte(nil), b...)
	arm[18] = 183 // e_machine: EM_AARCH64
	write("echo-arm", arm)
	i386 := append([]byte(nil), b...)
	i386[4], i386[18] = 1, 3 // EI_CLASS: ELFCLASS32, EM_386
	write("echo-32", i386)
	write("echo-cut", b[:10])
	return dir
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var e *exec.ExitError
	if errors.As(err, &e) {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, expected %s", got, args[0])
	}
}

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s didn't appear", args[0])
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "KILL": os.Kill, "TERM": syscall.SIGTERM}
	cmds := ts.BackgroundCmds()
	if len(args) != 1 || signals[args[0]] == nil || len(cmds) != 1 {
		ts.Fatalf("usage: signal INT|KILL|TERM, with one command in the background")
	}
	ts.Check(cmds[0].Process.Signal(signals[args[0]]))
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.MkAbs(args[0])
	st, err := os.Stat(p)
	ts.Check(err)
	ts.Check(os.Truncate(p, st.Size()-int64(number(ts, args[1]))))
}

func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.MkAbs(args[0])
	b, err := os.ReadFile(p)
	ts.Check(err)
	b[number(ts, args[1])] ^= 1
	ts.Check(os.WriteFile(p, b, 0o666))
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[1]), "\n"); n != number(ts, args[0]) {
		ts.Fatalf("%d lines in %s, expected %s", n, args[1], args[0])
	}
}
