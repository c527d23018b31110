package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A setting is a way to record.
type setting struct {
	name  string
	flags []string
}

// settings are compared with the first, the default.
var settings = []setting{
	{"default", nil},
	{"ccp", []string{"--log-mode", "ccp"}},
	{"ccp:readers", []string{"--log-mode", "ccp:readers"}},
	{"ccp:memory", []string{"--log-mode", "ccp:memory"}},
	{"page", []string{"--read-log", "page"}},
	{"shadow:16", []string{"--read-log", "shadow:16"}},
	{"lines", []string{"--accounting", "lines"}},
	{"units", []string{"--accounting", "units"}},
	{"kernel", []string{"--memory-model", "kernel"}},
	{"msi", []string{"--protocol", "msi"}},
	{"moesi", []string{"--protocol", "moesi"}},
	{"mesif", []string{"--protocol", "mesif"}},
	{"ring", []string{"--ring", "4M"}},
}

// reference is what the first recorder of this family published: mean, lowest
// and highest bits per instruction (Bhansali and others, VEE 2006).
const reference = "0.51 (0.08 to 1.10)"

// recording prints what settings of record cost, on real programs: bits for each
// instruction, and processor time against the default's; and how long replaying
// takes with one and with two workers.
func recording(bin string, size int, only string) error {
	dir, err := os.MkdirTemp("", "racesim-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	programs, err := recorded(dir, size)
	if err != nil {
		return err
	}
	fmt.Printf("bits per instruction, and in brackets the processor time of recording against the default's; published: %s\n\n%-9s", reference, "program")
	for _, s := range settings {
		fmt.Printf(" %14s", s.name)
	}
	fmt.Printf(" %9s\n", "replay 2")
	sums, n := make([]float64, len(settings)), make([]int, len(settings))
	var speedups []float64
	for _, p := range programs {
		if only != "" && !strings.Contains(p.name, only) {
			continue
		}
		fmt.Printf("%-9s", p.name)
		first := 0.0
		for i, s := range settings {
			trace := filepath.Join(dir, "t.ttd")
			os.Remove(trace)
			argv := append(append([]string{bin, "record", "-o", trace}, s.flags...), "--")
			_, cpu := timed(append(argv, p.argv...)...)
			instr, bits := measure(bin, trace)
			if instr == 0 {
				fmt.Printf(" %14s", "-")
				continue
			}
			if st, err := os.Stat(trace + ".mem"); err == nil && s.name == "ccp:memory" {
				bits += float64(st.Size()) * 8 / instr
			}
			if i == 0 {
				first = cpu
				one, _ := timed(bin, "replay", "--workers", "1", trace)
				two, _ := timed(bin, "replay", "--workers", "2", trace)
				speedups = append(speedups, one/two)
			}
			fmt.Printf(" %7.3f (%4.2f)", bits, cpu/first)
			sums[i] += math.Log(bits)
			n[i]++
		}
		if len(speedups) > 0 {
			fmt.Printf(" %9.2f", speedups[len(speedups)-1])
		}
		fmt.Println()
	}
	fmt.Printf("%-9s", "mean")
	for i := range settings {
		fmt.Printf(" %7.3f       ", math.Exp(sums[i]/float64(max(n[i], 1))))
	}
	fmt.Printf(" %9.2f\n\nmeans of bits are geometric; replay 2: time with one worker by time with two, the median last\n", median(speedups))
	return nil
}

// recorded makes the programs' inputs and returns those that are installed.
func recorded(dir string, size int) ([]program, error) {
	input, lines := filepath.Join(dir, "input"), filepath.Join(dir, "lines")
	if err := os.WriteFile(input, text(size), 0o666); err != nil {
		return nil, err
	}
	var b strings.Builder
	for x := uint32(1); b.Len() < size; {
		x = x*1664525 + 1013904223
		fmt.Fprintln(&b, x)
	}
	if err := os.WriteFile(lines, []byte(b.String()), 0o666); err != nil {
		return nil, err
	}
	video := filepath.Join(dir, "video.y4m")
	if err := os.WriteFile(video, y4m(128, 96, 12), 0o666); err != nil {
		return nil, err
	}
	const rows = "with recursive c(x) as (select 1 union all select x+1 from c where x<20000) insert into t select x, 'row '||(x*7919%10007) from c;"
	sql := "create table t(a integer, b text); " + rows + " create index i on t(b); select count(*), sum(a) from t where b like 'row 1%';"
	openmp := filepath.Join(dir, "openmp")
	var ps []program
	for _, c := range [][]string{
		{"pigz", "-p2", "-c", input}, {"pbzip2", "-p2", "-b1", "-c", input}, {"xz", "-T2", "-1", "--block-size=500000", "-c", input},
		{"zstd", "-T2", "-9", "-q", "-c", input}, {"sort", "--parallel=2", "-S", "20M", lines}, {"lbzip2", "-n2", "-c", input},
		{"plzip", "-n2", "-1", "-B", "300KiB", "-c", input}, {"sqlite3", ":memory:", sql},
		{"x264", "--threads", "2", "--preset", "veryfast", "-o", "/dev/null", video},
	} {
		if p, err := exec.LookPath(c[0]); err != nil {
			fmt.Printf("%s is not installed: left out\n", c[0])
		} else {
			ps = append(ps, program{c[0], append([]string{p}, c[1:]...), nil})
		}
	}
	if msg, err := exec.Command("gcc", "-O2", "-fopenmp", "-o", openmp, "internal/bench/kernels/openmp.c").CombinedOutput(); err != nil {
		fmt.Printf("openmp: gcc: %v: %s\n", err, msg)
	} else {
		ps = append(ps, program{"openmp", []string{openmp}, nil})
	}
	return ps, nil
}

// y4m makes a video of a moving gradient with some noise.
func y4m(w, h, frames int) []byte {
	b := fmt.Appendf(nil, "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n", w, h)
	x := uint32(1)
	for f := range frames {
		b = append(b, "FRAME\n"...)
		for i := range w * h {
			x = x*1664525 + 1013904223
			b = append(b, byte(i%w*2+i/w+f*3)^byte(x>>30))
		}
		for range w * h / 2 {
			b = append(b, 128)
		}
	}
	return b
}
