package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

func testCommand() *cli.Command {
	flags := append(reportFlags(), analysisFlags()...)
	flags = append(flags,
		&cli.StringFlag{Name: "trace", DefaultText: "PROG.ttd, when the gate fails", Usage: "keep the trace as `FILE`"},
		&cli.IntFlag{Name: "runs", Value: 1, Usage: "record `N` times, with seeds derived from one, and merge what is found"},
	)
	return &cli.Command{
		Name:      "test",
		Usage:     "record a program, analyse it, and fail if it races: what a CI job calls",
		UsageText: "racesim test [flags] -- PROG ARGS…",
		Description: "The report goes to stdout, and what the program writes to its stdout to stderr; with -o the report goes to\n" +
			"FILE, and the program's stdout to stdout. The trace is kept, and named, when the gate fails or --trace asks\n" +
			"for it; of several, the one with the worst race. Every run reads stdin from where the first began if it is a\n" +
			"file; else the first gets it. How the program ends doesn't matter to the gate; the report notes it.\n" +
			"Exit status: 0 clean; 1 the gate failed; 2 wrong use; 3 the program could not be run or recorded; 4 internal\n" +
			"error.\n\n" +
			"Example:\n   racesim test --runs 5 --fail-on harmful -- ./unit-tests --filter queue",
		Flags:  append(flags, recordFlags()...),
		Action: runTest,
	}
}

// maxRuns bounds --runs.
const maxRuns = 1000

func runTest(c *cli.Context) error {
	g, err := newGate(c)
	if err != nil {
		return err
	}
	cfg, err := recordConfig(c)
	if err != nil {
		return fail(exitUse, "test: %v", err)
	}
	o, err := analyzeOptions(c, g)
	if err != nil {
		return err
	}
	runs := c.Int("runs")
	if runs < 1 || runs > maxRuns {
		return fail(exitUse, "test: --runs %d: want 1 to %d", runs, maxRuns)
	}
	if p := c.String("trace"); p != "" {
		if err := writable(p); err != nil {
			return fail(exitUse, "test: --trace: %v", err)
		}
	}
	if g.out == "" {
		cfg.Stdout = os.Stderr // stdout is the report's
	}
	dir, err := os.MkdirTemp("", "racesim-")
	if err != nil {
		return fail(exitGuest, "test: a folder for the traces: %v", err)
	}
	defer os.RemoveAll(dir)
	t := &tester{c: c, cfg: cfg, o: o, dir: dir, runs: runs, stdin: offset(os.Stdin)}
	defer t.watch()()
	for i := 0; i < runs; i++ {
		if err := t.run(i); err != nil {
			return err
		}
	}
	recorded := recordedAt(t.paths[0])
	r := racesim.Merge(t.reports)
	r.Runs = t.made
	if err := g.judge(c, r); err != nil {
		return err
	}
	if r.Summary.Gate != "pass" || c.String("trace") != "" {
		// Of several runs, the one that shows the worst is the one to keep.
		worst := racesim.Worst(r, t.reports)
		kept := t.keep(t.paths[worst])
		if worst < len(r.Runs) {
			r.Runs[worst].Trace = kept
		}
	}
	ok, err := g.print(c, r, o.Loads, recorded)
	if err != nil {
		return err
	}
	if !ok {
		return fail(exitGate, "")
	}
	return nil
}

// A tester is one call of test.
type tester struct {
	c       *cli.Context
	cfg     racesim.RecordConfig
	o       racesim.AnalyzeOptions
	dir     string // of the traces
	runs    int
	stdin   int64 // where stdin was, -1: it isn't a file
	paths   []string
	reports []*report.Report
	made    []report.Run // if there are several
	steps   uint64       // while two threads could run, at most

	recording atomic.Bool
	signal    atomic.Int32 // that came while the program ran
}

// run records and analyses once.
func (t *tester) run(i int) error {
	cfg := t.cfg
	cfg.Seed = racesim.DeriveSeed(t.cfg.Seed, i)
	cfg.Schedule = racesim.WithSteps(cfg.Schedule, t.steps)
	cfg.Output = filepath.Join(t.dir, fmt.Sprintf("run%d.ttd", i+1))
	if i > 0 && t.stdin >= 0 {
		if _, err := os.Stdin.Seek(t.stdin, io.SeekStart); err != nil {
			return fail(exitGuest, "test: stdin for run %d: %v", i+1, err)
		}
	}
	t.recording.Store(true)
	res, err := racesim.Record(t.c.Context, cfg)
	// A signal that ended the program came to this process, too, if it came
	// from outside; whoever receives it here may be a little slower.
	for i := 0; res.Signal != 0 && t.signal.Load() == 0 && i < 50; i++ {
		time.Sleep(time.Millisecond)
	}
	t.recording.Store(false)
	switch s := syscall.Signal(t.signal.Load()); {
	case err != nil && !res.Deadlock:
		if res.Threads > 0 {
			t.keep(cfg.Output)
		}
		return fail(exitGuest, "%s", say(t.c, err))
	case s != 0 && res.Signal == int(s):
		t.keep(cfg.Output)
		return fail(exitGuest, "test: the program was ended by the signal that racesim got: %v", s)
	}
	p := newProgress()
	t.o.Progress = p.call()
	r, err := racesim.AnalyzeFile(t.c.Context, cfg.Output, t.o)
	p.end()
	if err != nil {
		t.keep(cfg.Output)
		return fail(exitInternal, "test: the trace just recorded: %v", err)
	}
	if s := res.ExitCode(); s != 0 && !res.Deadlock {
		r.Notes = append(r.Notes, ended(res))
	}
	t.steps = max(t.steps, res.Contended)
	t.reports = append(t.reports, r)
	t.paths = append(t.paths, cfg.Output)
	if t.runs > 1 {
		s := &r.Summary
		t.made = append(t.made, report.Run{Seed: cfg.Seed, Schedule: cfg.Schedule})
		how := ""
		if strings.HasPrefix(cfg.Schedule, "pct") {
			how = ", schedule " + cfg.Schedule
		}
		fmt.Fprintf(os.Stderr, "racesim: run %d of %d: seed %d%s: %d harmful, %d unknown, %d benign, %d synchronisation, %d findings\n",
			i+1, t.runs, cfg.Seed, how, s.Harmful, s.Unknown, s.Benign, s.Synchronisation, s.Findings)
	}
	return nil
}

func ended(res racesim.RecordResult) string {
	if res.Signal != 0 {
		return fmt.Sprintf("the program was killed by signal %d (%v)", res.Signal, syscall.Signal(res.Signal))
	}
	return fmt.Sprintf("the program ended with status %d", res.Status)
}

// watch notices the signals that end a program: while it runs, they are the
// program's (Record passes them on); else they end racesim, and its temporary
// folder goes. The result stops watching.
func (t *tester) watch() func() {
	ch := make(chan os.Signal, 4)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	go func() {
		for s := range ch {
			n := s.(syscall.Signal)
			if t.recording.Load() {
				t.signal.Store(int32(n))
				continue
			}
			os.RemoveAll(t.dir)
			os.Exit(128 + int(n))
		}
	}()
	return func() { signal.Stop(ch); close(ch) }
}

// keep moves a trace out of the temporary folder, names it and returns its name.
// That it can't be kept doesn't change the verdict, but is said.
func (t *tester) keep(path string) string {
	path = traceFile(path)
	to := t.c.String("trace")
	if to == "" {
		to = traceName(t.cfg.Argv[0])
	}
	if err := move(path, to); err != nil {
		fmt.Fprintf(os.Stderr, "racesim: test: the trace is lost: %v; --trace FILE keeps it elsewhere\n", err)
		return ""
	}
	fmt.Fprintf(os.Stderr, "racesim: the trace is %s; racesim analyze %s looks at it again\n", to, to)
	return to
}

// move renames a file, or copies it to another file system.
func move(from, to string) error {
	err := os.Rename(from, to)
	if err == nil || !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if isDir(from) {
		return os.CopyFS(to, os.DirFS(from))
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		os.Remove(to)
		return err
	}
	return out.Close()
}

// offset is where a file is being read, -1 if it isn't a regular file.
func offset(f *os.File) int64 {
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return -1
	}
	n, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	return n
}
