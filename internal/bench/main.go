// Command bench measures racesim against native runs, Valgrind's tools and
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
	"slices"
	"sort"
	"strings"
)

// tools in the order in which each round runs them.
var tools = []string{"native", "tsan", "none", "helgrind", "drd", "record", "analyze"}

func main() {
	rounds := flag.Int("n", 5, "rounds; the medians are printed")
	bin := flag.String("racesim", "bin/racesim", "the program to measure")
	size := flag.Int("bytes", 3_000_000, "size of the input to compress")
	only := flag.String("only", "", "a part of the names of the programs to run")
	with := flag.String("tools", strings.Join(tools, ","), "what to run")
	out := flag.String("out", "", "a file for all figures, in the format of Go benchmarks")
	accesses := flag.Int64("memory", 0, "measure memory instead, of programs that make so many accesses")
	limit := flag.String("limit", "", "with -memory: what analyze gets as --memory")
	prof := flag.String("profile", "", "record in this process instead, and write a profile for the compiler to this file")
	flag.Parse()
	var err error
	if *prof != "" {
		err = profile(*prof, *only, *size)
	} else if *accesses > 0 {
		err = memory(*bin, *accesses, *only, *limit)
	} else {
		err = run(*rounds, *bin, *size, *only, *out, strings.Split(*with, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, bin string, size int, only, figures string, with []string) error {
	for _, t := range with {
		if !slices.Contains(tools, t) {
			return fmt.Errorf("no tool %q; there are %s", t, strings.Join(tools, ", "))
		}
	}
	dir, err := os.MkdirTemp("", "racesim-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	ps, err := programs(dir, only, size)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		fmt.Println("valgrind is not installed: left out")
		with = slices.DeleteFunc(with, func(t string) bool { return t == "none" || t == "helgrind" || t == "drd" })
	}
	var all strings.Builder
	t := newTable(with)
	for _, p := range ps {
		f := measured{}
		trace := filepath.Join(dir, p.name+".ttd")
		for range rounds {
			for _, tool := range tools {
				argv := command(tool, bin, trace, &p)
				if argv == nil || !slices.Contains(with, tool) {
					continue
				}
				u, err := usageOf(argv...)
				if err != nil && tool != "tsan" { // which ends with 66 when it reports
					fmt.Fprintf(os.Stderr, "bench: %s: %v\n", strings.Join(argv, " "), err)
				}
				f[tool] = append(f[tool], u)
				fmt.Fprintf(&all, "Benchmark/program=%s/tool=%s 1 %.0f ns/op %.0f cpu-ns/op %d peak-MB\n", p.name, tool, u.wall*1e9, u.cpu*1e9, u.peak)
			}
		}
		instr, bits := measure(bin, trace)
		os.Remove(trace)
		t.row(p, f, instr, bits)
	}
	t.end()
	if figures == "" {
		return nil
	}
	return os.WriteFile(figures, []byte(all.String()), 0o666)
}

// command is how a tool runs p; nil: it can't.
func command(tool, bin, trace string, p *program) []string {
	switch tool {
	case "native":
		return p.argv
	case "tsan":
		return p.tsan
	case "record":
		return append([]string{bin, "record", "-o", trace, "--"}, p.argv...)
	case "analyze":
		return []string{bin, "analyze", "--fail-on", "none", trace}
	}
	return append([]string{"valgrind", "--tool=" + tool, "-q"}, p.argv...)
}

// measured holds what the tools took in each round.
type measured map[string][]usage

// ratio returns the median over the rounds of f of a tool's figure by that of
// another.
func (m measured) ratio(a, b string, f func(usage) float64) (float64, bool) {
	var r []float64
	for i := range min(len(m[a]), len(m[b])) {
		if y := f(m[b][i]); y > 0 {
			r = append(r, f(m[a][i])/y)
		}
	}
	return median(r), len(r) > 0
}

func (m measured) median(tool string, f func(usage) float64) float64 {
	var v []float64
	for _, u := range m[tool] {
		v = append(v, f(u))
	}
	return median(v)
}

func wall(u usage) float64   { return u.wall }
func cpu(u usage) float64    { return u.cpu }
func peakMB(u usage) float64 { return float64(u.peak) }

// A table is what bench prints.
type table struct {
	with   []string
	ratios map[string][]float64 // of all programs
}

// The ratios: of what, a tool's by another's.
var ratios = []struct {
	name, a, b string
	of         func(usage) float64
}{
	{"rec/helgr", "record", "helgrind", wall},
	{"rec/drd", "record", "drd", wall},
	{"rec/none", "record", "none", wall},
	{"CPU/tsan", "record", "tsan", cpu},
	{"ana/rec", "analyze", "record", wall},
}

func newTable(with []string) *table {
	t := &table{with: with, ratios: map[string][]float64{}}
	fmt.Printf("%-8s", "seconds")
	for _, tool := range tools {
		if slices.Contains(with, tool) {
			fmt.Printf(" %8s", tool)
		}
	}
	fmt.Print(" |")
	for _, r := range ratios {
		if t.has(r.a) && t.has(r.b) {
			fmt.Printf(" %9s", r.name)
		}
	}
	fmt.Printf(" | %8s %8s | %9s %9s\n", "Minstr/s", "bit/inst", "native MB", "record MB")
	return t
}

func (t *table) has(tool string) bool { return slices.Contains(t.with, tool) }

func (t *table) row(p program, m measured, instr, bits float64) {
	fmt.Printf("%-8s", p.name)
	for _, tool := range tools {
		switch {
		case !t.has(tool):
		case len(m[tool]) == 0:
			fmt.Printf(" %8s", "-")
		default:
			fmt.Printf(" %8.2f", m.median(tool, wall))
		}
	}
	fmt.Print(" |")
	for _, r := range ratios {
		if !t.has(r.a) || !t.has(r.b) {
			continue
		}
		v, ok := m.ratio(r.a, r.b, r.of)
		if !ok {
			fmt.Printf(" %9s", "-")
			continue
		}
		t.ratios[r.name] = append(t.ratios[r.name], v)
		fmt.Printf(" %9.2f", v)
	}
	speed := 0.0
	if s := m.median("record", cpu); s > 0 {
		speed = instr / s / 1e6
	}
	fmt.Printf(" | %8.0f %8.3f | %9.0f %9.0f\n", speed, bits, m.median("native", peakMB), m.median("record", peakMB))
}

// end prints the medians of the ratios over all programs.
func (t *table) end() {
	for _, r := range ratios {
		if v := t.ratios[r.name]; len(v) > 1 {
			fmt.Printf("median of %s: %.2f\n", r.name, median(v))
		}
	}
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
