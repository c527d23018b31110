package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/emulate/overlay"
)

// analysisFlags are shared by analyze and test.
func analysisFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "report races within the run-time libraries, too"},
		&cli.StringSliceFlag{Name: "load", Usage: "also try `FILE:LINE=VALUE`: a replacement for the loads on that line"},
		&cli.StringSliceFlag{Name: "with", Usage: "learn what is normal from `TRACE`, too"},
		&cli.StringSliceFlag{Name: "model", Usage: "learn what is normal from `MODEL`, too, a file that racesim learn made"},
		&cli.StringFlag{Name: "update-model", Usage: "add what was learnt from this trace to `MODEL`, which is made if it isn't there"},
		&cli.StringSliceFlag{Name: "syscall", Usage: "`NAME=RESULT`: what a system call gives to experiments that make it otherwise than recorded; an integer, an error's name, or a text in double quotes for its buffer; repeat for the next such call"},
		&cli.StringFlag{Name: "save-experiment", Usage: "write a trace of every experiment to the folder `DIR`: replay, analyze, dump and the others take it"},
		&cli.StringFlag{Name: "memory", DefaultText: "4G, or half of what there is", Usage: "the analysis takes about `SIZE` of memory, and reports what it leaves out for it"},
		&cli.IntFlag{Name: "budget", Value: 48, Usage: "`N` interleavings tried per race"},
	}
}

// analyzeOptions is what the flags say about an analysis. Its errors are wrong
// use.
func analyzeOptions(c *cli.Context, g *gate) (racesim.AnalyzeOptions, error) {
	o := racesim.AnalyzeOptions{All: c.Bool("all"), Rules: g.rules, Models: c.StringSlice("with"), MaxRuns: c.Int("budget"), UpdateModel: c.String("update-model"),
		SaveExperiments: c.String("save-experiment")}
	if o.MaxRuns < 1 {
		return o, fail(exitUse, "%s: --budget %d: want 1 or more", c.Command.Name, o.MaxRuns)
	}
	if s := c.String("memory"); s != "" {
		n, err := racesim.ParseSize(s)
		if err != nil || n < racesim.MinMemory || n > math.MaxInt64 {
			return o, fail(exitUse, "%s: --memory %s: want a size of at least %dM, like 2G", c.Command.Name, s, racesim.MinMemory>>20)
		}
		o.Memory = int64(n)
	}
	for _, s := range c.StringSlice("load") {
		l, err := racesim.ParseLoad(s)
		if err != nil {
			return o, fail(exitUse, "%s: --load %v", c.Command.Name, err)
		}
		o.Loads = append(o.Loads, l)
	}
	for _, s := range c.StringSlice("syscall") {
		nr, answer, err := racesim.ParseAnswer(s)
		if err != nil {
			return o, fail(exitUse, "%s: --syscall %v", c.Command.Name, err)
		}
		if o.Answers == nil {
			o.Answers = map[uint64][]overlay.Answer{}
		}
		o.Answers[nr] = append(o.Answers[nr], answer)
	}
	for _, p := range c.StringSlice("model") {
		m, err := racesim.ReadModel(p)
		if err != nil {
			return o, fail(exitUse, "%s", say(c, fmt.Errorf("--model: %w", err)))
		}
		o.Learnt = append(o.Learnt, m)
	}
	if p := o.UpdateModel; p != "" {
		if _, err := racesim.ReadModel(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return o, fail(exitUse, "%s", say(c, fmt.Errorf("--update-model: %w", err)))
		}
	}
	for _, p := range o.Models {
		t, err := racesim.Open(p)
		if err != nil {
			return o, fail(exitUse, "%s", say(c, fmt.Errorf("--with: %w", err)))
		}
		t.Close()
	}
	return o, nil
}

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "find the races of a trace and judge them",
		UsageText: "racesim analyze [flags] FILE.ttd",
		Description: "Exit status: 0 clean; 1 the gate failed; 2 wrong use or unreadable input; 4 internal error.\n\n" +
			"Example:\n   racesim analyze bank.ttd --fail-on harmful --format json -o report.json",
		Flags: append(reportFlags(), analysisFlags()...),
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			g, err := newGate(c)
			if err != nil {
				return err
			}
			o, err := analyzeOptions(c, g)
			if err != nil {
				return err
			}
			return analyzeAndGate(c, g, path, o)
		},
	}
}

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "run the checkers alone on a trace",
		UsageText: "racesim check [flags] FILE.ttd",
		Description: "racesim explain lists the checkers; rules.yaml configures them. Exit status as of analyze.\n\n" +
			"Example:\n   racesim check bank.ttd --rules rules.yaml",
		Flags: reportFlags(),
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			g, err := newGate(c)
			if err != nil {
				return err
			}
			return analyzeAndGate(c, g, path, racesim.AnalyzeOptions{CheckersOnly: true, Rules: g.rules})
		},
	}
}

func analyzeAndGate(c *cli.Context, g *gate, path string, o racesim.AnalyzeOptions) error {
	paths, err := racesim.Traces(path)
	if err != nil {
		return fail(exitUse, "%s", say(c, err))
	}
	for _, p := range paths {
		t, err := racesim.Open(p)
		if err != nil {
			return fail(exitUse, "%s", say(c, err))
		}
		empty, why := t.Empty(), t.Incomplete()
		t.Close()
		if empty && len(paths) == 1 {
			return fail(exitUse, "%s: %s: no thread is in the trace: %s", c.Command.Name, path, why)
		}
	}
	p := newProgress()
	o.Progress = p.call()
	r, err := racesim.AnalyzeFile(c.Context, path, o)
	p.end()
	if err != nil {
		return fail(damage(err, exitInternal), "%s", say(c, fmt.Errorf("%s: %w", path, err)))
	}
	if err := g.judge(c, r); err != nil {
		return err
	}
	ok, err := g.print(c, r, o.Loads, recordedAt(path))
	if err != nil {
		return err
	}
	if !ok {
		return fail(exitGate, "")
	}
	return nil
}
