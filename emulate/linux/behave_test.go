package linux

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	emu "github.com/racesim/racesim/emulate"
)

// witness hashes everything that a recorder would be told.
type witness struct {
	Plain
	h      hash.Hash
	splits int
	events int
}

func newWitness() *witness { return &witness{h: sha256.New()} }

func (w *witness) note(t *Thread, what string, args ...uint64) {
	w.events++
	w.h.Write([]byte(what))
	if t != nil {
		args = append(args, uint64(t.ID), t.CPU.Count, t.CPU.RIP)
		args = append(args, t.CPU.R[:]...)
	}
	for _, a := range args {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], a)
		w.h.Write(b[:])
	}
}

func (w *witness) SwitchIn(t *Thread, unit int) {
	w.Plain.SwitchIn(t, unit)
	w.note(t, "in", uint64(unit))
}
func (w *witness) SwitchOut(t *Thread) { w.note(t, "out") }
func (w *witness) Split(t *Thread)     { w.splits++; w.note(t, "split") }
func (w *witness) Rep(t *Thread, k uint64) {
	w.note(t, "rep", k)
}
func (w *witness) ThreadStart(t *Thread, parent emu.ThreadID) {
	w.note(t, "start", uint64(parent))
}
func (w *witness) ThreadExit(t *Thread, status int, clear emu.Addr) {
	w.note(t, "exit", uint64(status), uint64(clear))
}
func (w *witness) SyscallEnter(t *Thread, nr uint64, args [6]uint64, rel []Object) {
	w.note(t, "enter", args[:]...)
	for _, o := range rel {
		w.note(nil, "rel", uint64(o.Kind), o.ID)
	}
}
func (w *witness) SyscallExit(t *Thread, nr, ret uint64, eff Effects) {
	w.note(t, "return", ret)
	for _, o := range eff.Acquire {
		w.note(nil, "acq", uint64(o.Kind), o.ID)
	}
}
func (w *witness) KernelWrite(t *Thread, addr emu.Addr, f *Frame, off, n int) {
	w.note(nil, "kernel", uint64(addr), f.ID, uint64(off), uint64(n))
}
func (w *witness) Signal(t *Thread, signo int, code int32, fault emu.Addr, from emu.ThreadID) {
	w.note(t, "signal", uint64(signo), uint64(code), uint64(fault), uint64(from))
}
func (w *witness) Map(m Mapping) {
	w.note(nil, "map"+m.Path, uint64(m.Addr), m.N, uint64(m.Prot), m.Alias)
}

func TestSameSeedSameRun(t *testing.T) {
	splits := 0
	for _, g := range []struct{ src, flags string }{
		{"threads.c", ""}, {"signals.c", ""}, {"pipes.c", ""}, {"futex.c", ""}, {"standard.cc", ""}, {"openmp.c", "-fopenmp"},
	} {
		path := build(t, g.src, strings.Fields(g.flags)...)
		sums := make(map[string]bool)
		for seed := uint64(1); seed <= 3; seed++ {
			var first string
			for run := 0; run < 2; run++ {
				w := newWitness()
				o, err := emulatedBy(t, Config{Seed: seed, Slice: 2000}, w, path)
				if err != nil {
					t.Fatalf("%s: %v", g.src, err)
				}
				splits += w.splits
				sum := fmt.Sprintf("%x %d %d %s", w.h.Sum(nil), w.events, o.instr, o.out)
				if run == 0 {
					first = sum
				} else if sum != first {
					t.Errorf("%s, seed %d: two runs differ:\n%s\n%s", g.src, seed, first, sum)
				}
				sums[sum] = true
			}
		}
		if len(sums) != 3 {
			t.Errorf("%s: three seeds gave %d different runs", g.src, len(sums))
		}
	}
	if splits == 0 {
		t.Error("no run was ever pre-empted inside a read-modify-write instruction")
	}
}

func TestRacesShow(t *testing.T) {
	src := filepath.Join(t.TempDir(), "race.c")
	os.WriteFile(src, []byte(`#include <pthread.h>
#include <stdio.h>
static long n;
static void *inc(void *a) { for (int i = 0; i < 20000; i++) __asm__ volatile("incq %0" : "+m"(n)); return 0; }
int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, inc, 0);
	pthread_create(&b, 0, inc, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("%ld\n", n);
}
`), 0o666)
	exe := filepath.Join(t.TempDir(), "race")
	if msg, err := exec.Command("gcc", "-O1", "-pthread", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	lost := 0
	for seed := uint64(0); seed < 10; seed++ {
		o, err := emulated(t, Config{Seed: seed, Slice: 1000}, exe)
		if err != nil {
			t.Fatal(err)
		}
		if o.out != "40000\n" {
			lost++
		}
	}
	if lost < 3 {
		t.Errorf("%d of 10 seeds lost an update, want at least 3", lost)
	}
}

func TestAnotherProgramTakesThePlaceOfTheGuest(t *testing.T) {
	same(t, Config{}, "/bin/sh", "-c", "X=1 exec /bin/sh -c 'echo $X; exec /bin/ls /; echo no'")
	same(t, Config{}, "/bin/sh", "-c", "exec /nonexistent; echo $?")
	same(t, Config{}, "/bin/bash", "-c", "exec -a name /bin/bash -c 'echo $0; kill -9 $$'")
}

func TestForkCanBeForbidden(t *testing.T) {
	_, err := emulated(t, Config{Children: ChildrenForbid}, "/bin/sh", "-c", "/bin/ls | /bin/cat")
	var u *Unsupported
	if !errors.As(err, &u) {
		t.Fatalf("error %v, want an *Unsupported", err)
	}
	if u.Thread != 1 || u.Count == 0 || !strings.Contains(u.Error(), whyForbidden) {
		t.Errorf("unclear: %v", u)
	}
}

func TestUnsupportedInstructionStopsAStrictGuest(t *testing.T) {
	src := filepath.Join(t.TempDir(), "avx.c")
	os.WriteFile(src, []byte(`int main(void) { __asm__ volatile(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0"); return 0; }`), 0o666)
	exe := filepath.Join(t.TempDir(), "avx")
	if msg, err := exec.Command("gcc", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	_, err := emulated(t, Config{Strict: true}, exe)
	var u *Unsupported
	if !errors.As(err, &u) || !strings.Contains(u.Error(), "62 f1 7c 48 58 c0") {
		t.Errorf("error %v, want an *Unsupported with the bytes 62 f1 7c 48 58 c0", err)
	}
}

func TestInstructionsOfOtherProcessorsAreIllegal(t *testing.T) {
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	path := build(t, "absent.c")
	p, err := New(Config{Path: path, Stdin: null, Stdout: null}, new(Plain), []string{path, "avx512"}, guestEnv)
	if err != nil {
		t.Fatal(err)
	}
	st, err := p.Run()
	if err != nil || st.Status() != 128+4 {
		t.Errorf("%v, error %v; want SIGILL at the end", st, err)
	}
	evex := 0
	for _, m := range p.Missed() {
		if strings.HasPrefix(m.What, "instruction 62 f1 ") && m.Answer == "SIGILL" && m.N == 1 {
			evex++
		}
	}
	if evex != 2 {
		t.Errorf("%d instructions of AVX-512 are named among %v, want 2", evex, p.Missed())
	}
}

func TestDeadlockIsReported(t *testing.T) {
	src := filepath.Join(t.TempDir(), "dead.c")
	os.WriteFile(src, []byte(`#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *x) { pthread_mutex_lock(&b); usleep(1000); pthread_mutex_lock(&a); return 0; }
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, f, 0);
	pthread_mutex_lock(&a);
	usleep(1000);
	pthread_mutex_lock(&b);
	return 0;
}
`), 0o666)
	exe := filepath.Join(t.TempDir(), "dead")
	if msg, err := exec.Command("gcc", "-pthread", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	_, err := emulated(t, Config{}, exe)
	var d *Deadlock
	if !errors.As(err, &d) || len(d.Waits) != 2 || !strings.Contains(err.Error(), "futex") {
		t.Errorf("error %v, want a *Deadlock of two threads in futex", err)
	}
}

func TestMemoryLimitEndsTheGuest(t *testing.T) {
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	p, err := New(Config{Path: build(t, "limit.c"), MemoryLimit: 64 << 20, Stdin: null, Stdout: null}, new(Plain), []string{"limit"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := p.Run()
	if m := p.Missed(); err != nil || st.Status() != 128+9 || len(m) != 1 || m[0].What != "memory beyond the limit of 64 MiB" {
		t.Errorf("%v, error %v, missed %v; want SIGKILL and the memory limit", st, err, m)
	}
}

func TestMemoryBeyondTheLimitIsRefused(t *testing.T) {
	o, err := emulated(t, Config{MemoryLimit: 64 << 20}, build(t, "limit.c"))
	const want = "at once 1 12\ntouched 1\nagain 1\nmap 1\naddress space 1, of use 0 -1\nbrk 1\n"
	if err != nil || o.out != want || o.status != 128+9 {
		t.Errorf("status %d, error %v, output %q; want SIGKILL after %q", o.status, err, o.out, want)
	}
}

func TestInterruptEndsTheGuest(t *testing.T) {
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	p, err := New(Config{Path: build(t, "ends.c"), Stdin: null}, new(Plain), []string{"ends", "thread"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	go p.Interrupt(why)
	if _, err := p.Run(); err != nil && err != why {
		t.Errorf("error %v, want %v", err, why)
	}
}

func TestScriptsRunTheirInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	os.WriteFile(script, []byte("#! /bin/cat -\n"), 0o777)
	o, err := emulated(t, Config{}, script)
	if err != nil || o.out != "#! /bin/cat -\n" {
		t.Errorf("output %q, error %v", o.out, err)
	}
}

func TestBadProgramsAreErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	os.WriteFile(text, []byte("hello"), 0o777)
	plain := filepath.Join(dir, "plain")
	os.WriteFile(plain, []byte("hello"), 0o666)
	loop := filepath.Join(dir, "loop")
	os.WriteFile(loop, []byte("#!"+loop+"\n"), 0o777)
	for _, path := range []string{text, plain, loop, dir, filepath.Join(dir, "none")} {
		if _, err := New(Config{Path: path}, new(Plain), []string{path}, nil); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func TestEverySystemCallIsNamed(t *testing.T) {
	for nr, row := range sysTable {
		if row.name == "" && (nr < 335 || nr >= 424 && nr <= 449) {
			t.Errorf("system call %d has no row", nr)
		}
	}
}

// moduleLog keeps the modules that were reported.
type moduleLog struct {
	Plain
	modules []Module
}

func (l *moduleLog) Module(m Module) { l.modules = append(l.modules, m) }

func TestModulesAreReported(t *testing.T) {
	var l moduleLog
	path := build(t, "hello.c")
	if _, err := emulatedBy(t, Config{}, &l, path); err != nil {
		t.Fatal(err)
	}
	if len(l.modules) < 3 || l.modules[0].Path != path || l.modules[0].Base != pieBase {
		t.Fatalf("modules %+v", l.modules)
	}
	libc := false
	for _, m := range l.modules {
		if m.BuildID == "" || m.Size == 0 || m.ModTime == 0 || m.Base&pageMask != 0 {
			t.Errorf("incomplete: %+v", m)
		}
		libc = libc || strings.Contains(m.Path, "libc.so")
	}
	if !libc {
		t.Errorf("no libc among %+v", l.modules)
	}
}

func BenchmarkInterpreter(b *testing.B) {
	path := build(b, "spin.c", "-O2")
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	var n uint64
	for i := 0; i < b.N; i++ {
		p, err := New(Config{Path: path, Stdin: null, Stdout: null}, new(Plain), []string{path}, guestEnv)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Run(); err != nil {
			b.Fatal(err)
		}
		n += p.Instructions()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minstr/s")
}
