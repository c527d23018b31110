// Command bench measures racesim against native runs, Helgrind and
// ThreadSanitizer, on real programs and kernels, in one run of this machine.
//
// Every round runs all tools on one program after the other, so that ratios
// hold when the machine's speed drifts; medians are printed, ratios being taken
// within a round. Programs that aren't installed are named and left out. With
// -out, all figures go to a file in the format of Go benchmarks, which benchstat
// compares: benchstat -col /tool FILE.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/racesim/racesim/internal/prose"
)

type program struct {
	name string
	argv []string // natively
	tsan []string // built with ThreadSanitizer, nil: not available
}

func main() {
	rounds := flag.Int("n", 5, "rounds; the medians are printed")
	bin := flag.String("racesim", "bin/racesim", "the program to measure")
	size := flag.Int("bytes", 3_000_000, "size of the input to compress")
	only := flag.String("only", "", "a part of the names of the programs to run")
	out := flag.String("out", "", "a file for all figures, in the format of Go benchmarks")
	accesses := flag.Int64("memory", 0, "measure memory instead, of programs that make so many accesses")
	limit := flag.String("limit", "", "with -memory: what analyze gets as --memory")
	flag.Parse()
	if *accesses > 0 {
		if err := memory(*bin, *accesses, *only, *limit); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*rounds, *bin, *size, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, bin string, size int, only, figures string) error {
	dir, err := os.MkdirTemp("", "racesim-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	input := filepath.Join(dir, "input")
	if err := os.WriteFile(input, prose.Text(size), 0o666); err != nil {
		return err
	}
	var ps []program
	for _, c := range [][]string{{"pigz", "-p2", "-c", input}, {"pbzip2", "-p2", "-c", input}, {"xz", "-T2", "-3", "-c", input}, {"zstd", "-T2", "-9", "-q", "-c", input}} {
		if p, err := exec.LookPath(c[0]); err != nil {
			fmt.Printf("%s is not installed: left out\n", c[0])
		} else {
			ps = append(ps, program{c[0], append([]string{p}, c[1:]...), nil})
		}
	}
	for _, k := range []string{"matrix", "sort"} {
		p := program{name: k}
		for i, flags := range [][]string{{"-O2"}, {"-O2", "-fsanitize=thread"}} {
			out := filepath.Join(dir, fmt.Sprintf("%s%d", k, i))
			args := append(flags, "-g", "-pthread", "-o", out, filepath.Join("internal/bench/kernels", k+".c"))
			if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				fmt.Printf("%s: gcc %s: %v: %s\n", k, strings.Join(flags, " "), err, msg)
				continue
			}
			if i == 0 {
				p.argv = []string{out}
			} else {
				p.tsan = []string{out}
			}
		}
		ps = append(ps, p)
	}
	_, noHelgrind := exec.LookPath("valgrind")
	if noHelgrind != nil {
		fmt.Println("valgrind is not installed: no Helgrind")
	}
	var all strings.Builder
	fmt.Printf("%-8s %8s %9s %9s %9s %9s | %9s %9s %9s %10s %8s\n", "program", "native s", "tsan s", "helgrind", "record s", "analyze s", "rec/helgr", "ana/rec", "by CPU", "Minstr/s", "bit/inst")
	for _, p := range ps {
		if only != "" && !strings.Contains(p.name, only) || p.argv == nil {
			continue
		}
		trace := filepath.Join(dir, p.name+".ttd")
		var native, tsan, helg, rec, ana []float64
		var ratio, ratio2, byCPU []float64
		for i := 0; i < rounds; i++ {
			measured := func(tool string, argv ...string) (wall, cpu float64) {
				wall, cpu = timed(argv...)
				fmt.Fprintf(&all, "Benchmark/program=%s/tool=%s 1 %.0f ns/op %.0f cpu-ns/op\n", p.name, tool, wall*1e9, cpu*1e9)
				return wall, cpu
			}
			n, _ := measured("native", p.argv...)
			native = append(native, n)
			if p.tsan != nil {
				t, _ := measured("tsan", p.tsan...)
				tsan = append(tsan, t)
			}
			h := 0.0
			if noHelgrind == nil {
				h, _ = measured("helgrind", append([]string{"valgrind", "--tool=helgrind", "-q"}, p.argv...)...)
				helg = append(helg, h)
			}
			r, rCPU := measured("record", append([]string{bin, "record", "-o", trace, "--"}, p.argv...)...)
			a, aCPU := measured("analyze", bin, "analyze", "--fail-on", "none", trace)
			rec, ana = append(rec, r), append(ana, a)
			if h > 0 {
				ratio = append(ratio, r/h)
			}
			ratio2, byCPU = append(ratio2, a/r), append(byCPU, aCPU/rCPU)
		}
		instr, bits := measure(bin, trace)
		fmt.Printf("%-8s %8.2f %9s %9s %9.2f %9.2f | %9s %9.2f %9.2f %10.1f %8.3f\n", p.name, median(native), show(tsan), show(helg),
			median(rec), median(ana), show(ratio), median(ratio2), median(byCPU), instr/median(rec)/1e6, bits)
	}
	if figures == "" {
		return nil
	}
	return os.WriteFile(figures, []byte(all.String()), 0o666)
}

// timed runs a program and returns how long it took and the processor time of
// all its threads, in seconds.
func timed(argv ...string) (wall, cpu float64) {
	cmd := exec.Command(argv[0], argv[1:]...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", strings.Join(argv, " "), err)
	}
	wall = time.Since(start).Seconds()
	if s := cmd.ProcessState; s != nil {
		cpu = (s.UserTime() + s.SystemTime()).Seconds()
	}
	return wall, cpu
}

// measure asks racesim info for instructions and bits per instruction.
func measure(bin, trace string) (instr, bits float64) {
	out, err := exec.Command(bin, "info", trace).Output()
	if err != nil {
		return 0, 0
	}
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(l, "instructions") {
			fmt.Sscanf(l, "instructions %f, %f bits", &instr, &bits)
		}
	}
	return instr, bits
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = append([]float64(nil), x...)
	sort.Float64s(x)
	return x[len(x)/2]
}

func show(x []float64) string {
	if len(x) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", median(x))
}
