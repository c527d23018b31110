package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/report"
)

func testCommand() *cli.Command {
	flags := append(reportFlags(), analysisFlags()...)
	flags = append(flags,
		&cli.StringFlag{Name: "trace", Usage: "keep the trace as `FILE.ttd`"},
		&cli.IntFlag{Name: "runs", Value: 1, Usage: "record this many times, with seeds derived from one, and merge what is found"},
	)
	return &cli.Command{
		Name:      "test",
		Usage:     "record a program, analyse it, and fail if it races: what a CI job calls",
		ArgsUsage: "-- PROG ARGS…",
		Description: "The report goes to stdout, or to -o. The trace is kept, and named, when the gate fails or --trace asks for it.\n" +
			"Exit status: 0 clean; 1 the gate failed; 2 wrong use; 3 the program could not be run or recorded; 4 internal error.\n\n" +
			"Example:\n   racesim test --runs 5 --fail-on harmful -- ./unit-tests --filter queue",
		Flags:  append(flags, recordFlags()...),
		Action: runTest,
	}
}

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
	if runs < 1 || runs > 1000 {
		return fail(exitUse, "test: --runs %d; use 1 to 1000", runs)
	}
	dir, err := os.MkdirTemp("", "racesim-")
	if err != nil {
		return fail(exitGuest, "test: %v", err)
	}
	defer os.RemoveAll(dir)
	var reports []*report.Report
	var paths []string
	for i := 0; i < runs; i++ {
		run := cfg
		run.Seed = racesim.DeriveSeed(cfg.Seed, i)
		run.Output = filepath.Join(dir, fmt.Sprintf("run%d.ttd", i+1))
		res, err := racesim.Record(c.Context, run)
		if err != nil {
			keepTrace(c, run.Output)
			return fail(exitGuest, "test: %v", err)
		}
		r, err := racesim.AnalyzeFile(c.Context, run.Output, o)
		if err != nil {
			return fail(exitInternal, "test: the trace just recorded: %v", err)
		}
		if s := res.ExitCode(); s != 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("the program ended with status %d", s))
		}
		reports = append(reports, r)
		paths = append(paths, run.Output)
	}
	merged := racesim.Merge(reports)
	ok, err := g.print(c, merged)
	if err != nil {
		return err
	}
	if !ok || c.String("trace") != "" {
		// Of several runs, the one that shows the worst is the one to keep.
		if err := keepTrace(c, paths[racesim.Worst(reports)]); err != nil {
			return err
		}
	}
	if !ok {
		return fail(exitGate, "")
	}
	return nil
}

// keepTrace moves a trace out of the temporary folder and names it.
func keepTrace(c *cli.Context, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		if b, err = os.ReadFile(path + ".incomplete"); err != nil {
			return nil // nothing was recorded
		}
	}
	to := c.String("trace")
	if to == "" {
		to = filepath.Base(c.Args().First()) + ".ttd"
	}
	if err := os.WriteFile(to, b, 0o666); err != nil {
		return fail(exitUse, "test: keeping the trace: %v", err)
	}
	fmt.Fprintf(os.Stderr, "racesim: the trace is %s; racesim analyze %s looks at it again\n", to, to)
	return nil
}
