package replay_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// guests builds each test program once.
var guests struct {
	sync.Mutex
	dir   string
	built map[string]string
}

func TestMain(m *testing.M) {
	if file := os.Getenv(playerFile); file != "" {
		play(file)
		return
	}
	guests.built = map[string]string{}
	code := m.Run()
	os.RemoveAll(guests.dir)
	os.Exit(code)
}

// guest compiles testdata/name.c with the given flags.
func guest(t testing.TB, name string, flags ...string) string {
	t.Helper()
	guests.Lock()
	defer guests.Unlock()
	key := name + strings.Join(flags, "")
	if p := guests.built[key]; p != "" {
		return p
	}
	if guests.dir == "" {
		d, err := os.MkdirTemp("", "replay")
		if err != nil {
			t.Fatal(err)
		}
		guests.dir = d
	}
	out := filepath.Join(guests.dir, strings.ReplaceAll(key, "/", "_"))
	args := append([]string{"-O1", "-g", "-w", "-pthread", "-o", out, filepath.Join("testdata", name+".c")}, flags...)
	if b, err := exec.Command("gcc", append(args, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	guests.built[key] = out
	return out
}

// native runs a program on the host and returns its output and status as a
// shell shows it.
func native(t testing.TB, argv ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	st := cmd.ProcessState
	if st == nil {
		t.Fatal(err)
	}
	if c := st.ExitCode(); c >= 0 {
		return out.String(), c
	}
	return out.String(), 128 + int(st.Sys().(syscall.WaitStatus).Signal())
}

// recorded records a program and returns the trace's name, what the program
// printed, and the result.
func recorded(t testing.TB, cfg record.Config, argv ...string) (string, string, record.Result) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	devnull, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer devnull.Close()
	cfg.Argv = argv
	cfg.Stdin, cfg.Stdout, cfg.Stderr = devnull, out, devnull
	if cfg.Output == "" {
		cfg.Output = filepath.Join(dir, "t.ttd")
	}
	res, err := record.Run(context.Background(), cfg)
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Output, string(b), res
}

// open opens a trace for the length of the test.
func open(t testing.TB, path string) *replay.Session {
	t.Helper()
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s, err := replay.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verify replays everything.
func verify(t testing.TB, s *replay.Session) replay.Verified {
	t.Helper()
	v, err := s.Verify(context.Background(), 0, nil)
	if err != nil {
		t.Fatalf("verifying: %v", err)
	}
	return v
}
