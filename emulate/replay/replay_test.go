package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// forms are the ways in which a guest may be linked.
var forms = map[string][]string{"dynamic": nil, "static": {"-static"}, "static-pie": {"-static-pie"}}

// configFor returns the flags that a guest needs beside those of its form, and
// sets the processor it needs.
func configFor(t *testing.T, name string, cfg *record.Config) []string {
	if name != "vectors" {
		return nil
	}
	b, _ := os.ReadFile("/proc/cpuinfo")
	if !bytes.Contains(b, []byte(" avx2 ")) || !bytes.Contains(b, []byte(" fma ")) {
		t.Skip("the host has no AVX2 to compare with")
	}
	cfg.CPU = "v3"
	return []string{"-O2", "-mavx2", "-mfma"}
}

func TestRecordedRunsLikeNativeAndReplays(t *testing.T) {
	for _, name := range []string{"plain", "threads", "signals", "pipes", "code", "alias", "faults", "vectors", "clears", "../../linux/testdata/traps"} {
		for form, flags := range forms {
			if form == "static-pie" && name != "threads" || form != "dynamic" && name == "faults" {
				continue
			}
			t.Run(filepath.Base(name)+"/"+form, func(t *testing.T) {
				t.Parallel()
				var cfg record.Config
				bin := guest(t, name, append(configFor(t, name, &cfg), flags...)...)
				want, status := native(t, bin, "one", "two words")
				for seed := uint64(1); seed <= 3; seed++ {
					path, out, res := recorded(t, record.Config{Seed: seed, Slice: 3000, HashEvery: 10000, CPU: cfg.CPU}, bin, "one", "two words")
					got := res.Status
					if res.Signal != 0 {
						got = 128 + res.Signal
					}
					if out != want || got != status {
						t.Errorf("seed %d: output %q, status %d; native %q, status %d", seed, out, got, want, status)
					}
					s := open(t, path)
					v := verify(t, s)
					if v.Instructions != res.Instructions || v.Threads != res.Threads || v.CutOff != 0 {
						t.Errorf("seed %d: replayed %+v, recorded %+v", seed, v, res)
					}
					if v.Hashes == 0 && !strings.HasSuffix(name, "traps") { // which is over before it is pre-empted
						t.Errorf("seed %d: no hashes compared", seed)
					}
				}
			})
		}
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	bin := guest(t, "threads")
	var first []byte
	for i := range 3 {
		seed := uint64(7)
		if i == 2 {
			seed = 8
		}
		// The guest sees its descriptors' inode numbers and times, so they must
		// be the same.
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		path := filepath.Join(t.TempDir(), "t.ttd")
		if _, err := record.Run(context.Background(), record.Config{Output: path, Argv: []string{bin}, Seed: seed,
			Stdin: null, Stdout: null, Stderr: null}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0:
			first = b
		case i == 1 && !bytes.Equal(b, first):
			t.Error("two recordings with the same seed differ")
		case i == 2 && bytes.Equal(b, first):
			t.Error("recordings with different seeds are the same")
		}
	}
}

// end replays a thread from one of its key frames to its end and returns the
// hash of its state there.
func end(t *testing.T, s *replay.Session, id emulate.ThreadID, key int) string {
	t.Helper()
	th, err := s.Thread(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := th.StartAt(key); err != nil {
		t.Fatal(err)
	}
	return endOf(t, th)
}

// endOf is end for a thread from where it is.
func endOf(t *testing.T, th *replay.Thread) string {
	t.Helper()
	for {
		if _, err := th.Step(); errors.Is(err, io.EOF) {
			return fmt.Sprintf("%d %v %016x", th.Count(), th.Position(), x86.HashState(x86.AppendState(nil, th.CPU())))
		} else if err != nil {
			t.Fatalf("thread %d: %v", th.ID(), err)
		}
	}
}

func TestEveryKeyFrameLeadsToTheSameEnd(t *testing.T) {
	for _, name := range []string{"threads", "signals", "plain", "alias", "vectors"} {
		cfg := record.Config{Seed: 3, Slice: 2000, KeyFrameEvery: 10000, HashEvery: 5000}
		flags := configFor(t, name, &cfg)
		path, _, _ := recorded(t, cfg, guest(t, name, flags...))
		s := open(t, path)
		verify(t, s)
		frames := 0
		for _, id := range s.Threads() {
			keys := s.Reader().KeyFrames(uint32(id))
			want := end(t, s, id, 0)
			for n := range keys {
				if n > 8 && n < len(keys)-4 {
					continue
				}
				if got := end(t, s, id, n); got != want {
					t.Errorf("%s: thread %d from key frame %d ends at %s, expected %s", name, id, n, got, want)
				}
				frames++
			}
		}
		if frames < 3 {
			t.Errorf("%s: only %d key frames", name, frames)
		}
	}
}

func TestSnapshotsAreIndependent(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 5, Slice: 2000}, guest(t, "threads"))
	s := open(t, path)
	id := s.Threads()[1]
	want := end(t, s, id, 0)
	th, err := s.Thread(id)
	if err != nil {
		t.Fatal(err)
	}
	var snaps []*replay.Snapshot
	for n := emulate.Count(1000); n < s.Last(id); n += s.Last(id) / 7 {
		if _, err := th.RunTo(n); err != nil {
			t.Fatal(err)
		}
		if th.Count() != n {
			t.Fatalf("at %d, expected %d", th.Count(), n)
		}
		snaps = append(snaps, th.Snapshot())
	}
	finish := func(th *replay.Thread) string {
		for {
			if _, err := th.Step(); errors.Is(err, io.EOF) {
				return fmt.Sprintf("%d %v %016x", th.Count(), th.Position(), x86.HashState(x86.AppendState(nil, th.CPU())))
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := finish(th); got != want {
		t.Errorf("with snapshots taken it ends at %s, expected %s", got, want)
	}
	for i := len(snaps) - 1; i >= 0; i-- {
		at := snaps[i].Position()
		n, err := s.Locate(at)
		if err != nil || n != snaps[i].Count() {
			t.Errorf("position %v is count %d (%v), expected %d", at, n, err, snaps[i].Count())
		}
		th.Restore(snaps[i])
		if th.Position() != at {
			t.Errorf("restored at %v, expected %v", th.Position(), at)
		}
		other := snaps[i].NewThread()
		// One of them goes astray; the other must not notice.
		other.Memory().Write(th.CPU().R[x86.RSP], bytes.Repeat([]byte{0xee}, 256))
		if got := finish(th); got != want {
			t.Errorf("from snapshot %d it ends at %s, expected %s", i, got, want)
		}
		if got := finish(snaps[i].NewThread()); got != want {
			t.Errorf("a new thread from snapshot %d ends at %s, expected %s", i, got, want)
		}
	}
}

// watch counts accesses.
type watch struct{ loads, stores int }

func (w *watch) Load(c *x86.CPU, addr uint64, size int, k x86.AccessKind, v uint64) uint64 {
	w.loads++
	return v
}
func (w *watch) Store(c *x86.CPU, addr uint64, size int, v uint64) { w.stores++ }

func TestObservationChangesNothing(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 6, Slice: 2000, HashEvery: 5000}, guest(t, "threads"))
	s := open(t, path)
	if s.Shared() == nil || s.Shared().Len() == 0 || len(s.Atomics()) == 0 {
		t.Fatalf("shared lines %v, atomics %v", s.Shared(), s.Atomics())
	}
	id := s.Threads()[2]
	counts := map[bool]int{}
	orders := 0
	for _, all := range []bool{false, true} {
		th, err := s.Thread(id)
		if err != nil {
			t.Fatal(err)
		}
		w := new(watch)
		th.Observe(s.Shared(), all, w)
		th.OnOrder = func(*replay.Thread, uint64, uint64, int) { orders++ }
		for {
			if _, err := th.Step(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		counts[all] = w.loads + w.stores
	}
	if counts[false] < 20000 || counts[true] <= counts[false] || orders < 2*20000 {
		t.Errorf("%d accesses to shared lines, %d to all, %d orders", counts[false], counts[true], orders)
	}
}

func TestSlicesAreTheWholeExecution(t *testing.T) {
	path, _, res := recorded(t, record.Config{Seed: 9, Slice: 1000}, guest(t, "code"))
	s := open(t, path)
	all, err := s.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	var total uint64
	next := map[emulate.ThreadID]emulate.Count{}
	var last uint64
	for _, g := range all {
		if g.From != next[g.Thread] || g.To < g.From || g.Min <= last {
			t.Fatalf("slice %+v: thread was at %d, last event %d", g, next[g.Thread], last)
		}
		next[g.Thread], last = g.To, g.End
		total += uint64(g.To - g.From)
	}
	if total != res.Instructions {
		t.Errorf("slices have %d instructions, expected %d", total, res.Instructions)
	}
}

func TestChangedImportIsADivergence(t *testing.T) {
	path, _, _ := recorded(t, record.Config{Seed: 4, HashEvery: 1000, Slice: 1000}, guest(t, "threads"))
	r, err := traces.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bad := filepath.Join(t.TempDir(), "bad.ttd")
	w, err := traces.Create(bad, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	// Change the imports of the main thread's stack all through.
	changed := 0
	for _, st := range r.Streams() {
		cur := r.Cursor(st.Stream)
		for {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			q := *p
			if st.Stream == 2 && p.Kind == traces.Import {
				if changed++; changed == 40 {
					d := *p.Data
					for i := range d {
						d[i] ^= 0x5a
					}
					q.Data = &d
				}
			}
			if err := w.Put(st.Stream, p.Count, &q); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, bad).Verify(context.Background(), 2, nil)
	var d *replay.Divergence
	if !errors.As(err, &d) {
		t.Fatalf("error %v, expected a divergence", err)
	}
	if d.Position.Thread != 2 || d.Expected == "" || d.Found == "" {
		t.Errorf("divergence %+v", d)
	}
}

func TestKilledRecordingReplaysUpToItsCut(t *testing.T) {
	if path := os.Getenv("REPLAY_TEST_RECORD"); path != "" {
		record.Run(context.Background(), record.Config{Output: path, Argv: []string{os.Getenv("REPLAY_TEST_GUEST")}, KeyFrameEvery: 1 << 20})
		return
	}
	src := filepath.Join(t.TempDir(), "endless.c")
	os.WriteFile(src, []byte(`
		#include <pthread.h>
		static volatile unsigned char a[1 << 22];
		static void *work(void *p) { for (unsigned x = 1;; x = x * 1103515245 + 12345) a[x >> 10] += x; return 0; }
		int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); return 0; }`), 0o666)
	bin := src + ".out"
	if b, err := exec.Command("gcc", "-O1", "-w", "-pthread", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	path := filepath.Join(t.TempDir(), "t.ttd")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRecordingReplaysUpToItsCut$")
	cmd.Env = append(os.Environ(), "REPLAY_TEST_RECORD="+path, "REPLAY_TEST_GUEST="+bin)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	cmd.Process.Kill()
	cmd.Wait()
	s := open(t, path)
	if s.Reader().Incomplete() == "" {
		t.Fatal("the trace says that it is complete")
	}
	v := verify(t, s)
	if v.Instructions < 1e6 || v.CutOff == 0 || s.Exit() != nil || s.Shared() != nil {
		t.Errorf("replayed %+v, exit %+v", v, s.Exit())
	}
}

func TestMappingsAndModules(t *testing.T) {
	bin := guest(t, "plain")
	path, _, _ := recorded(t, record.Config{}, bin)
	s := open(t, path)
	var names []string
	for _, m := range s.Modules() {
		names = append(names, filepath.Base(m.Path))
	}
	if all := strings.Join(names, " "); !strings.Contains(all, filepath.Base(bin)) || !strings.Contains(all, "libc.so.6") {
		t.Errorf("modules %s", all)
	}
	var stack, text bool
	maps := s.Mappings(^uint64(0))
	for i, m := range maps {
		if i > 0 && maps[i-1].Addr+emulate.Addr(maps[i-1].N) > m.Addr {
			t.Errorf("mappings %+v and %+v overlap", maps[i-1], m)
		}
		stack = stack || m.Path == "[stack]"
		text = text || strings.HasSuffix(m.Path, filepath.Base(bin)) && m.Prot&4 != 0
	}
	if !stack || !text {
		t.Errorf("no stack or no text in %+v", maps)
	}
	if e := s.Exit(); e == nil || e.Status != 3 {
		t.Errorf("exit %+v", e)
	}
}

func TestTraceCutAnywhereReplaysUpToThere(t *testing.T) {
	path, _, res := recorded(t, record.Config{Seed: 2, Slice: 500, HashEvery: 1000, KeyFrameEvery: 50000}, guest(t, "threads"))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.ttd")
	last := uint64(0)
	for i := 1; i <= 40; i++ {
		if err := os.WriteFile(cut, whole[:len(whole)*i/41], 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := traces.Open(cut)
		if err != nil {
			t.Fatal(err)
		}
		s, err := replay.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Verify(context.Background(), 2, nil)
		if err != nil {
			t.Errorf("cut at %d of %d bytes: %v", len(whole)*i/41, len(whole), err)
		}
		if _, err := s.Schedule(); err != nil {
			t.Errorf("cut at %d of %d bytes: %v", len(whole)*i/41, len(whole), err)
		}
		last = v.Instructions
		r.Close()
	}
	if last < res.Instructions/2 {
		t.Errorf("of %d instructions, %d are left", res.Instructions, last)
	}
}

func TestUnsupportedInstructionLeavesAReadableTrace(t *testing.T) {
	src := filepath.Join(t.TempDir(), "avx.c")
	os.WriteFile(src, []byte(`
		#include <stdio.h>
		int main(void) {
			for (volatile int i = 0; i < 100000; i++);
			__asm__ volatile(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0"); // vaddps %zmm0, %zmm0, %zmm0
			return 0;
		}`), 0o666)
	bin := src + ".out"
	if b, err := exec.Command("gcc", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	path := filepath.Join(t.TempDir(), "t.ttd")
	_, err := record.Run(context.Background(), record.Config{Output: path, Argv: []string{bin}, Strict: true})
	var e *record.Error
	if !errors.As(err, &e) || e.Position.Thread != 1 || !strings.Contains(err.Error(), "62 f1 7c 48 58 c0") {
		t.Fatalf("error %v, expected one that names thread 1 and the bytes 62 f1 7c 48 58 c0", err)
	}
	s := open(t, path)
	if v := verify(t, s); v.Instructions < 100000 || s.Exit() != nil || s.Shared() == nil {
		t.Errorf("replayed %+v, exit %+v, shared %v", v, s.Exit(), s.Shared())
	}
	// Unless it is strict, the program gets the signal that processors without the instruction give.
	path, _, res := recorded(t, record.Config{}, bin)
	if res.Signal != int(syscall.SIGILL) || len(res.Missed) != 1 || !strings.Contains(res.Missed[0].What, "62 f1 7c 48 58 c0") {
		t.Errorf("signal %d, missed %+v; expected SIGILL and the instruction", res.Signal, res.Missed)
	}
	if v := verify(t, open(t, path)); v.Instructions != res.Instructions {
		t.Errorf("replayed %d instructions, recorded %d", v.Instructions, res.Instructions)
	}
}

func TestCancelledRecordingIsReadable(t *testing.T) {
	src := filepath.Join(t.TempDir(), "loop.c")
	os.WriteFile(src, []byte(`int main(void) { for (;;); }`), 0o666)
	bin := src + ".out"
	if b, err := exec.Command("gcc", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	path := filepath.Join(t.TempDir(), "t.ttd")
	res, err := record.Run(ctx, record.Config{Output: path, Argv: []string{bin}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, expected that the deadline is exceeded", err)
	}
	if v := verify(t, open(t, path)); v.Instructions != res.Instructions {
		t.Errorf("replayed %d instructions, recorded %d", v.Instructions, res.Instructions)
	}
}

func TestEveryMachineAndScheduleReplays(t *testing.T) {
	bin := guest(t, "threads")
	want, _ := native(t, bin)
	tiny := hwmodel.Geometry{Size: 4 << 10, Ways: 2}
	for name, cfg := range map[string]record.Config{
		"one core":   {Cores: 1},
		"many cores": {Cores: 16},
		"tiny L1":    {L1: tiny, LLC: hwmodel.Geometry{Size: 32 << 10, Ways: 4}},
		"MSI":        {Protocol: "msi", L1: tiny},
		"MOESI":      {Protocol: "moesi", L1: tiny},
		"MESIF":      {Protocol: "mesif", L1: tiny},
		"rr":         {Schedule: "rr"},
		"pct":        {Schedule: "pct"},
		"host clock": {Clock: "host"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Seed, cfg.Slice, cfg.HashEvery, cfg.KeyFrameEvery = 5, 400, 1000, 100000
			path, out, res := recorded(t, cfg, bin)
			if out != want {
				t.Errorf("output %q, expected %q", out, want)
			}
			if v := verify(t, open(t, path)); v.Instructions != res.Instructions {
				t.Errorf("replayed %d instructions of %d", v.Instructions, res.Instructions)
			}
		})
	}
}
