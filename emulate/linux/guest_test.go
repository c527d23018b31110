package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/racesim/racesim/emulate/x86"
)

// build compiles testdata/name once per set of flags and returns the program.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	key := strings.TrimSuffix(name, filepath.Ext(name)) + strings.ReplaceAll(strings.Join(flags, ""), " ", "")
	out := filepath.Join(buildDir(t), strings.ReplaceAll(key, "/", "_"))
	buildMu.Lock()
	defer buildMu.Unlock()
	if _, err := os.Stat(out); err == nil {
		return out
	}
	cc := "gcc"
	if filepath.Ext(name) == ".cc" {
		cc = "g++"
	}
	args := append([]string{"-O1", "-g0", "-w", "-fno-omit-frame-pointer", "-pthread", "-o", out, filepath.Join("testdata", name)}, flags...)
	args = append(args, "-lm")
	if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, msg)
	}
	return out
}

var (
	buildMu   sync.Mutex
	buildOnce sync.Once
	buildPath string
)

func buildDir(t testing.TB) string {
	buildOnce.Do(func() {
		var err error
		if buildPath, err = os.MkdirTemp("", "racesim-linux-"); err != nil {
			t.Fatal(err)
		}
	})
	return buildPath
}

func TestMain(m *testing.M) {
	code := m.Run()
	if buildPath != "" {
		os.RemoveAll(buildPath)
	}
	os.Exit(code)
}

// outcome is what a run of a program shows.
type outcome struct {
	out    string
	status int
	instr  uint64
}

var guestEnv = []string{"PATH=/usr/bin:/bin", "GUEST=yes", "LC_ALL=C", "OMP_NUM_THREADS=4"}

// nativeLimit is far more than any of the guests takes on the host.
const nativeLimit = time.Minute

// native runs a program on the host. No guest may run beside it in this
// process: between its fork and exec, the copy would hold the guest's pipes open.
func native(t testing.TB, path string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), nativeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = guestEnv, time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		t.Fatalf("natively, %s %v doesn't end within %v; output so far:\n%s", path, args, nativeLimit, out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	status := ws.ExitStatus()
	if ws.Signaled() {
		status = 128 + int(ws.Signal())
	}
	return outcome{out: string(out), status: status}
}

// emulated runs a program as a guest.
func emulated(t testing.TB, cfg Config, path string, args ...string) (outcome, error) {
	t.Helper()
	return emulatedBy(t, cfg, new(Plain), path, args...)
}

func emulatedBy(t testing.TB, cfg Config, h Hooks, path string, args ...string) (outcome, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cfg.Path = path
	cfg.Stdout, cfg.Stderr, cfg.Stdin = out, os.Stderr, null
	if testing.Short() || !testing.Verbose() {
		wnull, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer wnull.Close()
		cfg.Stderr = wnull
	}
	p, err := New(cfg, h, append([]string{path}, args...), guestEnv)
	if err != nil {
		t.Fatal(err)
	}
	st, err := p.Run()
	text, rerr := os.ReadFile(out.Name())
	if rerr != nil {
		t.Fatal(rerr)
	}
	return outcome{string(text), st.Status(), p.Instructions()}, err
}

// same checks that a program does the same as a guest as natively.
func same(t *testing.T, cfg Config, path string, args ...string) {
	t.Helper()
	want := native(t, path, args...)
	got, err := emulated(t, cfg, path, args...)
	if err != nil {
		t.Fatalf("%v; output so far:\n%s", err, got.out)
	}
	if got.out != want.out {
		t.Errorf("output differs:\n%s", diff(got.out, want.out))
	}
	if got.status != want.status {
		t.Errorf("status %d, natively %d", got.status, want.status)
	}
}

// diff shows the first lines that differ.
func diff(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b bytes.Buffer
	for i := 0; i < max(len(g), len(w)) && b.Len() < 2000; i++ {
		var x, y string
		if i < len(g) {
			x = g[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if x != y {
			fmt.Fprintf(&b, "line %d\n  guest:  %.200q\n  native: %.200q\n", i+1, x, y)
		}
	}
	return b.String()
}

func TestGuestsDoAsNatively(t *testing.T) {
	for _, g := range []struct {
		src   string
		flags string
		args  string
	}{
		{"hello.c", "", "one two"},
		{"hello.c", "-static", "one"},
		{"hello.c", "-static-pie", ""},
		{"hello.c", "-no-pie -O3", "x"},
		{"threads.c", "", ""},
		{"threads.c", "-static", ""},
		{"threads.c", "-static-pie -O3", ""},
		{"pithreads.c", "", ""},
		{"signals.c", "", ""},
		{"signals.c", "-static -O2", ""},
		{"faults.c", "", ""},
		{"traps.c", "", ""},
		{"traps.c", "-static -O2", ""},
		{"absent.c", "", ""},
		{"caps.c", "", ""},
		{"netif.c", "", ""},
		{"waitv.c", "", ""},
		{"proc.c", "", "x"},
		{"proc.c", "-static", "x"},
		{"limits.c", "", ""},
		{"pipes.c", "", ""},
		{"futex.c", "", ""},
		{"memory.c", "", ""},
		{"files.c", "", ""},
		{"sockets.c", "", ""},
		{"clocks.c", "", ""},
		{"standard.cc", "", ""},
		{"standard.cc", "-static -O2", ""},
		{"openmp.c", "-fopenmp", ""},
		{"ends.c", "", "abort"},
		{"ends.c", "", "segv"},
		{"ends.c", "", "fpe"},
		{"ends.c", "", "kill"},
		{"ends.c", "", "thread"},
		{"ends.c", "", "spin"},
		{"ends.c", "", "main"},
		{"ends.c", "", "_exit"},
		{"ends.c", "-fstack-protector-all", "overflow"},
	} {
		name := strings.TrimSpace(g.src + " " + g.flags + " " + g.args)
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			path := build(t, g.src, strings.Fields(g.flags)...)
			for seed := uint64(1); seed <= 2; seed++ {
				same(t, Config{Seed: seed}, path, strings.Fields(g.args)...)
			}
		})
	}
}

func TestForksDoAsNatively(t *testing.T) {
	for _, name := range []string{"fork.c", "processes.c", "ipc.c", "locks.c", "pidfds.c", "sigio.c"} {
		for _, flags := range []string{"", "-static -O2"} {
			path := build(t, name, strings.Fields(flags)...)
			for seed := uint64(1); seed <= 2; seed++ {
				same(t, Config{Seed: seed}, path)
			}
		}
	}
}

// hostHas says whether the host's processor has the features, as /proc/cpuinfo
// names them.
func hostHas(t *testing.T, features ...string) bool {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "flags"); ok {
			have := strings.Fields(rest)
			return !slices.ContainsFunc(features, func(f string) bool { return !slices.Contains(have, f) })
		}
	}
	return false
}

func TestVectorsDoAsNatively(t *testing.T) {
	if !hostHas(t, "avx2", "fma", "xsave") {
		t.Skip("the host has no AVX2 to compare with")
	}
	for _, flags := range []string{"-O2 -mavx2 -mfma", "-O3 -static -march=x86-64-v3"} {
		path := build(t, "vectors.c", strings.Fields(flags)...)
		for seed := uint64(1); seed <= 2; seed++ {
			same(t, Config{Seed: seed, CPU: x86.Level3}, path)
		}
	}
	// With the libraries' code for that level.
	for _, src := range []string{"hello.c", "threads.c", "signals.c", "standard.cc", "memory.c"} {
		same(t, Config{CPU: x86.Level3}, build(t, src, "-O3", "-march=x86-64-v3"))
	}
	same(t, Config{CPU: x86.Level1}, build(t, "standard.cc"))
}

func TestSchedulesDoAsNatively(t *testing.T) {
	for _, cfg := range []Config{
		{Schedule: ScheduleRR, Slice: 500},
		{Schedule: SchedulePCT, Seed: 5},
		{Schedule: ScheduleRandom, Slice: 37, Seed: 9},
		{Cores: 1},
		{Cores: 2, HostClock: true},
	} {
		t.Run(fmt.Sprintf("%v_%d", cfg.Schedule, cfg.Cores), func(t *testing.T) {
			same(t, cfg, build(t, "threads.c"))
			same(t, cfg, build(t, "pipes.c"))
			same(t, cfg, build(t, "openmp.c", "-fopenmp"))
		})
	}
}
