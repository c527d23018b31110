// Command benchrec measures the modes of recording side by side, on real
// programs: bits per instruction and recording time of every log of reads,
// accounting, log mode, memory model and protocol, what a ring costs, and replay
// time against the number of workers. With -page it writes them as a page.
//
// Bits per instruction are those of the whole trace file. Times are processor
// seconds of all threads of racesim, but for replay, which is wall-clock: other
// programs on the machine disturb only that. Every trace is replayed and
// verified; a mode that doesn't reproduce the program bit for bit is an error.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/racesim/racesim/internal/prose"
)

// A mode is a way to record: flags of racesim record.
type mode struct {
	name  string
	flags []string
}

// A group is a table: modes that are alternatives.
type group struct {
	title string
	modes []mode
}

var groups = []group{
	{"Logs of reads", []mode{{"cache", nil}, {"page", []string{"--read-log", "page"}}, {"none", []string{"--read-log", "none"}},
		{"last", []string{"--read-log", "last"}}, {"zero", []string{"--read-log", "zero"}}, {"shadow:12", []string{"--read-log", "shadow:12"}},
		{"shadow:20", []string{"--read-log", "shadow:20"}}}},
	{"Log modes", []mode{{"independent", nil}, {"ccp", []string{"--log-mode", "ccp"}}, {"ccp:readers", []string{"--log-mode", "ccp:readers"}},
		{"ccp:memory", []string{"--log-mode", "ccp:memory"}}}},
	{"Accounting", []mode{{"threads", nil}, {"units", []string{"--accounting", "units"}}, {"reserved:4", []string{"--accounting", "reserved:4"}},
		{"lines", []string{"--accounting", "lines"}}, {"ways:4", []string{"--accounting", "ways:4"}}}},
	{"Memory models", []mode{{"kernel", []string{"--memory-model", "kernel"}}, {"fence", nil}, {"loads", []string{"--memory-model", "loads"}},
		{"acqrel", []string{"--memory-model", "acqrel"}}}},
	{"Protocols", []mode{{"msi", []string{"--protocol", "msi"}}, {"mesi", nil}, {"moesi", []string{"--protocol", "moesi"}}, {"mesif", []string{"--protocol", "mesif"}}}},
	{"Addresses", []mode{{"virtual", nil}, {"slot", []string{"--addresses", "slot"}}, {"counter", []string{"--addresses", "counter"}}, {"random", []string{"--addresses", "random"}}}},
	{"Caches, with accounting by lines", []mode{{"256K", acc()}, {"32K", acc("--l1", "32K/8")}, {"32K, L2 256K", acc("--l2", "256K/8")},
		{"32K, L2 256K exclusive", acc("--l2", "256K/8:exclusive")}, {"32K, L2 256K, 2 threads a core", acc("--l2", "256K/8", "--cores", "2", "--threads-per-core", "2")},
		{"256K, L1 code 32K", acc("--l1i", "32K/8")}}},
	{"Rings", []mode{{"no ring", nil}, {"256K", []string{"--ring", "256K"}}, {"thread:256K", []string{"--ring", "thread:256K"}}}},
}

// acc are flags of record with a kind of accounting for which caches matter: a line
// that the last private cache evicts is logged again.
func acc(flags ...string) []string { return append([]string{"--accounting", "lines"}, flags...) }

type program struct {
	name  string
	argv  []string
	stdin string // a file, "": none
}

func main() {
	bin := flag.String("racesim", "bin/racesim", "the program to measure")
	size := flag.Int("bytes", 100_000, "size of the inputs")
	only := flag.String("only", "", "a part of the names of the programs to run")
	tables := flag.String("tables", "", "a part of the names of the tables to measure")
	page := flag.String("page", "", "write a page to this file")
	flag.Parse()
	if err := run(*bin, *size, *only, *tables, *page); err != nil {
		fmt.Fprintln(os.Stderr, "benchrec:", err)
		os.Exit(1)
	}
}

// programs writes inputs to a folder and returns the programs that are there.
func programs(dir string, size int, only string) ([]program, error) {
	input, sql := filepath.Join(dir, "input"), filepath.Join(dir, "input.sql")
	if err := os.WriteFile(input, prose.Text(size), 0o666); err != nil {
		return nil, err
	}
	if err := os.WriteFile(sql, []byte("create table t(a integer, b text);\nwith recursive n(i) as (select 1 union all select i+1 from n where i<4000) insert into t select i*7919%4001, 'text '||i from n;\ncreate index x on t(a);\nselect count(*), sum(a), max(b) from t where a between 100 and 3000;\nselect b from t order by a desc limit 5;\n"), 0o666); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	var ps []program
	for _, p := range []program{
		{"pigz", []string{"pigz", "-p2", "-c", input}, ""},
		{"pbzip2", []string{"pbzip2", "-p2", "-c", input}, ""},
		{"xz", []string{"xz", "-T2", "-0", "--block-size=100000", "-c", input}, ""},
		{"zstd", []string{"zstd", "-T2", "-5", "-q", "-c", input}, ""},
		{"sort", []string{"sort", "--parallel=2", "-S4M", "-o", out, input}, ""},
		{"sqlite3", []string{"sqlite3", ":memory:"}, sql},
		{"gawk", []string{"gawk", "{for(i=1;i<=NF;i++)n[$i]++} END{for(w in n)print n[w], w}", input}, ""},
		{"lbzip2", []string{"lbzip2", "-n2", "-c", input}, ""},
		{"plzip", []string{"plzip", "-n2", "-0", "-B100000", "-c", input}, ""},
		{"sha256sum", []string{"sha256sum", input}, ""},
	} {
		if only != "" && !strings.Contains(p.name, only) {
			continue
		}
		path, err := exec.LookPath(p.argv[0])
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed: left out\n", p.name)
			continue
		}
		p.argv[0] = path
		ps = append(ps, p)
	}
	return ps, nil
}

// A figure is what one recording gave.
type figure struct {
	bits float64 // of the file, for each instruction
	cpu  float64 // s
}

// record records a program in a mode and verifies the trace.
func record(bin, trace string, p program, m mode) (figure, float64, error) {
	argv := append([]string{bin, "record", "-o", trace}, m.flags...)
	argv = append(append(argv, "--"), p.argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	if p.stdin != "" {
		f, err := os.Open(p.stdin)
		if err != nil {
			return figure{}, 0, err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	cmd.Run() // the status is the program's
	if cmd.ProcessState == nil {
		return figure{}, 0, fmt.Errorf("%s could not be started", bin)
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	out, err := exec.Command(bin, "replay", trace).CombinedOutput()
	if err != nil {
		return figure{}, 0, fmt.Errorf("%s, %s: replay: %v: %s", p.name, m.name, err, out)
	}
	var replayed float64
	fmt.Sscanf(string(out), "replayed %f", &replayed)
	st, err := os.Stat(trace)
	if err != nil {
		return figure{}, 0, err
	}
	size := st.Size()
	if st, err := os.Stat(trace + ".mem"); err == nil { // of ccp:memory
		size += st.Size()
		os.Remove(trace + ".mem")
	}
	return figure{float64(size) * 8 / replayed, cpu}, replayed, nil
}

// replaySize is how much larger the inputs are whose traces are replayed with one
// and two workers: of shorter ones a segment is too large a part.
const replaySize = 10

func run(bin string, size int, only, tables, page string) error {
	dir, err := os.MkdirTemp("", "racesim-benchrec-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	ps, err := programs(dir, size, only)
	if err != nil {
		return err
	}
	trace := filepath.Join(dir, "t.ttd")
	var b strings.Builder
	b.WriteString(introduction)
	for _, g := range groups {
		if !strings.Contains(g.title, tables) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\nBits per instruction, and processor seconds to record.\n\n| program | M instructions |", g.title)
		for _, m := range g.modes {
			fmt.Fprintf(&b, " %s |", m.name)
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(g.modes)) + "\n")
		sums := make([]float64, len(g.modes))
		n := 0
		for _, p := range ps {
			var row strings.Builder
			instr := 0.0
			for i, m := range g.modes {
				f, got, err := record(bin, trace, p, m)
				if err != nil {
					return err
				}
				instr = max(instr, got)
				sums[i] += math.Log(f.bits)
				fmt.Fprintf(&row, " %.3f, %.1f s |", f.bits, f.cpu)
			}
			n++
			fmt.Fprintf(&b, "| %s | %.1f |%s\n", p.name, instr/1e6, row.String())
			fmt.Fprintf(os.Stderr, "%s: %s %s\n", g.title, p.name, row.String())
		}
		b.WriteString("| geometric mean | |")
		for i := range sums {
			fmt.Fprintf(&b, " %.3f |", math.Exp(sums[i]/float64(max(n, 1))))
		}
		b.WriteString("\n")
		if strings.HasPrefix(g.title, "Caches") {
			b.WriteString("\nA line that the last private cache evicts is logged again when it is used. Accesses that a window answers aren't seen by the caches: behind a small first level the second knows better what is in use.\n")
		}
		if g.title == "Rings" {
			b.WriteString("\nOf a ring, the instructions are those that were kept, and so are the bits for each.\n")
		}
	}
	if strings.Contains("Replay", tables) {
		if err := replays(&b, bin, dir, size, only); err != nil {
			return err
		}
	}
	if page == "" {
		fmt.Print(b.String())
		return nil
	}
	return os.WriteFile(page, []byte(b.String()), 0o666)
}

// replays measures replaying with one and two workers.
func replays(b *strings.Builder, bin, dir string, size int, only string) error {
	trace := filepath.Join(dir, "t.ttd")
	b.WriteString("\n## Replay\n\nSeconds by the clock with one and two workers, on two cores that others use, too. Segments between key frames, here 10 million instructions, are replayed at the same time, of different threads and of one. The inputs are ten times as large.\n\n| program | threads and segments | 1 worker | 2 workers | 1 / 2 |\n|---|---|---|---|---|\n")
	ps, err := programs(dir, replaySize*size, only)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if _, _, err := record(bin, trace, p, mode{"key frames", []string{"--key-frames", "10000000"}}); err != nil {
			return err
		}
		var wall [2]float64
		what := ""
		for round := 0; round < 3; round++ {
			for i := range wall {
				start := time.Now()
				out, err := exec.Command(bin, "replay", "--workers", fmt.Sprint(i+1), trace).Output()
				if err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				if w := time.Since(start).Seconds(); round == 0 || w < wall[i] {
					wall[i] = w
				}
				if _, after, ok := strings.Cut(string(out), "instructions of "); ok {
					what, _, _ = strings.Cut(after, ":")
				}
			}
		}
		fmt.Fprintf(b, "| %s | %s | %.2f | %.2f | %.2f |\n", p.name, what, wall[0], wall[1], wall[0]/wall[1])
	}
	return nil
}

const introduction = `# What recording costs

Every mode of recording on the same programs, measured by ` + "`make bench-recording`" + `; each trace was replayed and
compared bit for bit. The first recorder of this family, which logs values read that a predictor gets wrong, was published
with 0.51 bits per instruction on average, 0.08 to 1.10 (Bhansali et al., Framework for instruction-level tracing and
analysis of program executions, VEE 2006). Bits are those of the whole file, with the code that was executed: short
programs have more for each instruction.
`
