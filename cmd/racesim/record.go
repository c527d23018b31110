package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// recordFlags are the flags of record, which test shares.
func recordFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "cpu", DefaultText: linux.DefaultCPU.String()[len("x86-64-"):], Usage: "`LEVEL` of the processor that the program sees: v1, v2 or v3 (x86-64-v3, with AVX2 and FMA)"},
		&cli.IntFlag{Name: "cores", Value: 4, Usage: "`N` virtual cores, 1 to 64"},
		&cli.IntFlag{Name: "threads-per-core", Value: 1, Usage: "`N` hardware threads of each core, 1 to 8: processing units that share its caches"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` determines the schedule and the program's random bytes"},
		&cli.StringFlag{Name: "schedule", Value: "random", DefaultText: "random", Usage: "`HOW` to choose who runs next: random, rr (in turn) or pct[:DEPTH[:STEPS]] (random priorities, changed at DEPTH-1 points, 2, of STEPS instructions)"},
		&cli.StringFlag{Name: "clock", Value: "virtual", DefaultText: "virtual", Usage: "`WHAT` time follows: executed instructions (virtual) or the machine's clock (host)"},
		&cli.StringFlag{Name: "log-mode", Value: record.LogIndependent, DefaultText: record.LogIndependent, Usage: "`HOW` what another thread has is logged: as everything else (independent); only from whom it came (ccp), which is smaller, but threads then don't replay alone; or so, and what no thread has as snapshots of memory in a second file (ccp:memory), or so, and only one of those that have a line and their number are named (ccp:readers)"},
		&cli.IntFlag{Name: "slice", DefaultText: "30000", Usage: "mean number of `INSTRUCTIONS` between pre-emptions"},
		&cli.StringFlag{Name: "children", Value: "run", DefaultText: "run", Usage: "`WHAT` becomes of processes that the program forks: run beside it, unrecorded; record, into a folder with a trace for each; or forbid"},
		&cli.StringFlag{Name: "embed", Value: "own", DefaultText: "own", Usage: "`WHOSE` executables and libraries, with debugging information, to keep in the trace: own (all but the distribution's), all or none"},
		&cli.BoolFlag{Name: "strict", Usage: "stop where the program asks for what isn't supported, instead of answering ENOSYS or the like"},
		&cli.StringFlag{Name: "mem-limit", Value: "16G", DefaultText: "16G", Usage: "the program's memory ends at `SIZE`: beyond it gets ENOMEM"},
		&cli.StringFlag{Name: "l1", DefaultText: "256K/8, with --l2 32K/8", Usage: "private data cache of each core: `SIZE/WAYS`"},
		&cli.StringFlag{Name: "l1i", DefaultText: "none", Usage: "private cache of each core for code: `SIZE/WAYS`; recording takes several times as long with it"},
		&cli.StringFlag{Name: "l2", DefaultText: "none", Usage: "private second level of each core: `SIZE/WAYS`, which has what the first one has (inclusive), or SIZE/WAYS:exclusive, which has what the first one for data had to give up"},
		&cli.StringFlag{Name: "llc", Value: "16M/16", DefaultText: "16M/16", Usage: "shared last-level cache: `SIZE/WAYS`"},
		&cli.StringFlag{Name: "tlb", DefaultText: "none; with --addresses " + hwmodel.DefaultTLB.String(), Usage: "translation buffer (TLB) of each unit, which makes recording slower: `ENTRIES/WAYS`"},
		&cli.StringFlag{Name: "addresses", Value: "virtual", DefaultText: "virtual", Usage: "`HOW` lines are named in the trace: by their virtual addresses (virtual), or by entries of the TLBs, which are logged and called by their place (slot), a number counted from the last flush on (counter) or a random one (random)"},
		&cli.StringFlag{Name: "select", DefaultText: "everything", Usage: "record only functions of these `NAMES`, with what they call, and what comes shortly after: patterns (parse_*) separated by commas"},
		&cli.Uint64Flag{Name: "select-distance", DefaultText: "200000", Usage: "recording stops so many `INSTRUCTIONS` after a selected function returned"},
		&cli.StringFlag{Name: "protocol", Value: "mesi", DefaultText: "mesi", Usage: "coherence `PROTOCOL`: msi, mesi, moesi or mesif"},
		&cli.StringFlag{Name: "accounting", Value: "threads", DefaultText: "threads", Usage: "`WHO` remembers what is logged: each thread for ever (threads), a flag for each unit on the lines of its core's caches (lines), bits for units in the last-level cache (units), the same in ways of it that are taken from the program (reserved:WAYS), or a flag on lines that may only be in some ways (ways:WAYS)"},
		&cli.IntFlag{Name: "prefetch", Usage: "`N` lines that a miss of a cache brings in beside its own"},
		&cli.StringFlag{Name: "snapshot", DefaultText: "none", Usage: "put the whole memory in the trace, for values that the program never reads, at `TIMES`: start, end, mark (where it puts a mark named snapshot), separated by commas"},
		&cli.StringFlag{Name: "marks", DefaultText: "none", Usage: "annotate the trace with `SOME` of time (the program's clock when a thread gets a unit), counters (of caches and coherence, when it loses it), faults (first accesses to pages), separated by commas"},
		&cli.StringFlag{Name: "ring", DefaultText: "everything is kept", Usage: "keep only the end of the execution, about `SIZE` of the trace; thread:SIZE: of each thread's part"},
		&cli.StringFlag{Name: "read-log", Value: "cache", DefaultText: "cache", Usage: "`HOW` what the program reads is logged: cache (lines that flow in), page (pages that change hands), or values: none (all of them), last (but the one read last), zero, shadow:N (but what a copy of 2^N bytes holds)"},
		&cli.StringFlag{Name: "code-log", Value: "page", DefaultText: "page", Usage: "`HOW` code is logged that the program makes or changes: its page, when it is executed first and when it has changed (page), or, through the code cache, lines that a thread executes and doesn't have (line)"},
		&cli.StringFlag{Name: "memory-model", Value: "fence", DefaultText: "fence", Usage: "`WHICH` events are numbered among all threads: the kernel's (kernel), locked instructions and fences, too (fence), every load (loads), or every load and store (acqrel)"},
		&cli.Uint64Flag{Name: "key-frames", DefaultText: "by what they cost: at least 12000000, and never more often than an eighth of what the thread has done, up to 50000000", Usage: "`INSTRUCTIONS` of a thread between places where replay can start"},
	}
}

// recordConfig is what the flags and arguments say about a recording. Its
// errors are wrong use.
func recordConfig(c *cli.Context) (racesim.RecordConfig, error) {
	cfg := racesim.RecordConfig{
		Argv: c.Args().Slice(), Env: os.Environ(),
		CPU: c.String("cpu"), Cores: c.Int("cores"), Seed: c.Uint64("seed"), Schedule: c.String("schedule"), Clock: c.String("clock"),
		Slice: c.Int("slice"), LogMode: c.String("log-mode"), Children: c.String("children"), Embed: c.String("embed"), Strict: c.Bool("strict"), KeyFrames: c.Uint64("key-frames"),
		ReadLog: c.String("read-log"), MemoryModel: c.String("memory-model"), Ring: c.String("ring"), Marks: c.String("marks"), Snapshots: c.String("snapshot"), Select: c.String("select"), Distance: c.Uint64("select-distance"), Protocol: c.String("protocol"), Accounting: c.String("accounting"), Prefetch: c.Int("prefetch"),
		L1: c.String("l1"), L1I: c.String("l1i"), L2: c.String("l2"), CodeLog: c.String("code-log"), LLC: c.String("llc"), ThreadsPerCore: c.Int("threads-per-core"), TLB: c.String("tlb"), Addresses: c.String("addresses"), Signals: true,
	}
	if len(cfg.Argv) == 0 {
		return cfg, fmt.Errorf("no program; it stands behind the flags: racesim %s -- PROG ARGS…", c.Command.Name)
	}
	if cfg.Cores < 1 {
		return cfg, fmt.Errorf("--cores %d: want 1 to 64", cfg.Cores)
	}
	if cfg.ThreadsPerCore < 1 {
		return cfg, fmt.Errorf("--threads-per-core %d: want 1 to 8", cfg.ThreadsPerCore)
	}
	var err error
	if cfg.MemoryLimit, err = racesim.ParseSize(c.String("mem-limit")); err != nil {
		return cfg, fmt.Errorf("--mem-limit: %w", err)
	}
	return cfg, cfg.Check()
}

func recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "run a program on the software processor and record it",
		UsageText: "racesim record [flags] -- PROG ARGS…",
		Description: "The program's stdin, stdout, stderr and exit status pass through (death by signal n as 128+n), and the\n" +
			"signals that racesim gets. racesim's own failures exit with 125; what was recorded until then can be read.\n" +
			"FILE is called FILE" + traces.IncompleteSuffix + " until the recording is closed.\n\n" +
			"Example:\n   racesim record -o pigz.ttd --seed 7 -- pigz -p2 -k big.txt",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "o", DefaultText: "PROG.ttd in this folder", Usage: "the trace `FILE`, with --children=record a folder"},
		}, recordFlags()...),
		Action: func(c *cli.Context) error {
			cfg, err := recordConfig(c)
			if err != nil {
				return fail(exitRecord, "record: %v", err)
			}
			cfg.Output = c.String("o")
			if cfg.Output == "" {
				cfg.Output = traceName(cfg.Argv[0])
			}
			res, err := racesim.Record(c.Context, cfg)
			for _, m := range res.Unembedded {
				fmt.Fprintf(os.Stderr, "racesim: not embedded: %s\n", m)
			}
			for _, m := range res.Missed {
				fmt.Fprintf(os.Stderr, "racesim: not supported: %s\n", m)
			}
			if err != nil {
				msg := say(c, err)
				if res.Threads > 0 {
					msg += "; what was recorded is in " + traceFile(cfg.Output)
				}
				return fail(exitRecord, "%s", msg)
			}
			if res.ExitCode() != 0 {
				return fail(res.ExitCode(), "")
			}
			return nil
		},
	}
}

// traceName is the name of a program's trace unless another is asked for.
func traceName(prog string) string { return filepath.Base(prog) + ".ttd" }

// traceFile is the file that a recording to path left: path, or the name that
// a trace has until it is closed.
func traceFile(path string) string {
	if p := path + traces.IncompleteSuffix; exists(p) {
		return p
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
