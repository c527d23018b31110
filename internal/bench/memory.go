package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// memoryKernels share memory in different ways. Each takes the number of
// accesses to make and prints how many it made.
var memoryKernels = []string{"sweep.c", "mix.c", "nodes.cc"}

// memory prints what recording and analysis of programs with many accesses take.
func memory(bin string, accesses int64, only, limit string) error {
	dir, err := os.MkdirTemp("", "racesim-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	fmt.Printf("%-8s %13s %13s %9s | %9s %9s %9s | %9s %9s %9s\n", "program", "accesses", "instructions", "trace MB",
		"record s", "CPU s", "peak MB", "analyze s", "CPU s", "peak MB")
	for _, k := range memoryKernels {
		name := strings.TrimSuffix(strings.TrimSuffix(k, ".c"), ".cc")
		if !strings.Contains(name, only) {
			continue
		}
		cc := "gcc"
		if strings.HasSuffix(k, ".cc") {
			cc = "g++"
		}
		prog := filepath.Join(dir, name)
		if msg, err := exec.Command(cc, "-O2", "-fno-tree-vectorize", "-g", "-pthread", "-o", prog, filepath.Join("internal/bench/kernels", k)).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %v: %s", cc, k, err, msg)
		}
		trace := prog + ".ttd"
		rec, out, err := peak(bin, "record", "-o", trace, "--", prog, fmt.Sprint(accesses))
		if err != nil {
			return fmt.Errorf("recording %s: %w", name, err)
		}
		var made int64
		fmt.Sscan(out, &made)
		args := []string{"analyze", "--fail-on", "none"}
		if limit != "" {
			args = append(args, "--memory", limit)
		}
		ana, text, err := peak(append(append([]string{bin}, args...), trace)...)
		if err != nil {
			return fmt.Errorf("analysing %s: %w", name, err)
		}
		instr, _ := measure(bin, trace)
		size := int64(0)
		if st, err := os.Stat(trace); err == nil {
			size = st.Size()
		}
		os.Remove(trace)
		fmt.Printf("%-8s %13d %13.0f %9d | %9.1f %9.1f %9d | %9.1f %9.1f %9d\n", name, made, instr, size>>20,
			rec.wall, rec.cpu, rec.peak, ana.wall, ana.cpu, ana.peak)
		for _, l := range strings.Split(text, "\n") {
			if strings.HasPrefix(l, "note:") {
				fmt.Println("  ", l)
			}
		}
	}
	return nil
}

// A usage is what a process took: seconds, and MB of memory at most.
type usage struct {
	wall, cpu float64
	peak      int64
}

func peak(argv ...string) (usage, string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	u, err := timed(cmd)
	return u, out.String(), err
}

// usageOf runs a program whose output doesn't matter.
func usageOf(argv ...string) (usage, error) { return timed(exec.Command(argv[0], argv[1:]...)) }

// timed runs cmd. The peak is that of one process, the processor time that of
// all.
func timed(cmd *exec.Cmd) (usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start).Seconds()}
	if s := cmd.ProcessState; s != nil {
		u.cpu = (s.UserTime() + s.SystemTime()).Seconds()
		if r, ok := s.SysUsage().(*syscall.Rusage); ok {
			u.peak = r.Maxrss >> 10
		}
	}
	return u, err
}
