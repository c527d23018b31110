package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/report"
)

// reportFlags are shared by analyze, check and test.
func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "table", Usage: "table or json"},
		&cli.StringFlag{Name: "o", Usage: "write the report to `OUT` instead of stdout"},
		&cli.StringFlag{Name: "fail-on", Value: "suspected", Usage: "what fails the gate: any, suspected (harmful or unknown), harmful, none"},
		&cli.StringFlag{Name: "rules", Usage: "a rules.yaml `FILE`: checkers, rules, suppressions"},
	}
}

// analysisFlags are shared by analyze and test.
func analysisFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "all", Usage: "report races within the run-time libraries, too"},
		&cli.StringSliceFlag{Name: "load", Usage: "also try `FILE:LINE=VALUE`: a replacement for loads on that line"},
		&cli.StringSliceFlag{Name: "with", Usage: "learn what is normal from `TRACE`, too"},
		&cli.IntFlag{Name: "budget", Value: 48, Usage: "interleavings tried per race"},
	}
}

// A gate is what the flags say about judging and printing a report.
type gate struct {
	format, out, failOn string
	rules               *checkers.Rules
}

func newGate(c *cli.Context) (*gate, error) {
	g := &gate{format: c.String("format"), out: c.String("o"), failOn: c.String("fail-on")}
	if !slices.Contains([]string{"table", "json"}, g.format) {
		return nil, fail(exitUse, "--format %q; use table or json", g.format)
	}
	if !slices.Contains(racesim.FailOn, g.failOn) {
		return nil, fail(exitUse, "--fail-on %q; use %s", g.failOn, strings.Join(racesim.FailOn, ", "))
	}
	if p := c.String("rules"); p != "" {
		r, err := checkers.LoadRules(p)
		if err != nil {
			return nil, fail(exitUse, "%v", err)
		}
		g.rules = r
	}
	return g, nil
}

// print applies the rules and the gate, and writes the report.
func (g *gate) print(c *cli.Context, r *report.Report) (passed bool, err error) {
	if err := racesim.Gate(r, g.rules, g.failOn); err != nil {
		return false, fail(exitUse, "%v", err)
	}
	var b bytes.Buffer
	if g.format == "json" {
		err = report.WriteJSON(&b, r)
	} else {
		err = report.WriteTable(&b, r)
	}
	if err != nil {
		return false, fail(exitInternal, "%v", err)
	}
	if g.out != "" {
		if err := os.WriteFile(g.out, b.Bytes(), 0o666); err != nil {
			return false, fail(exitUse, "report: %v", err)
		}
	} else if _, err := c.App.Writer.Write(b.Bytes()); err != nil {
		return false, fail(exitUse, "report: %v", err)
	}
	return r.Summary.Gate == "pass", nil
}

func analyzeOptions(c *cli.Context, g *gate) (racesim.AnalyzeOptions, error) {
	o := racesim.AnalyzeOptions{All: c.Bool("all"), Rules: g.rules, Models: c.StringSlice("with"), MaxRuns: c.Int("budget")}
	for _, s := range c.StringSlice("load") {
		l, err := racesim.ParseLoad(s)
		if err != nil {
			return o, fail(exitUse, "--load: %v", err)
		}
		o.Loads = append(o.Loads, l)
	}
	return o, nil
}

func analyzeCommand() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "find the races of a trace and judge them",
		ArgsUsage: "FILE.ttd",
		Description: "Exit status: 0 clean; 1 the gate failed; 2 wrong use or unreadable input; 4 internal error.\n\n" +
			"Example:\n   racesim analyze bank.ttd --fail-on harmful --format json -o report.json",
		Flags: append(reportFlags(), analysisFlags()...),
		Action: func(c *cli.Context) error {
			g, err := newGate(c)
			if err != nil {
				return err
			}
			path, err := oneTrace(c)
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

func analyzeAndGate(c *cli.Context, g *gate, path string, o racesim.AnalyzeOptions) error {
	r, err := racesim.AnalyzeFile(c.Context, path, o)
	if err != nil {
		return fail(exitUse, "%v", err)
	}
	ok, err := g.print(c, r)
	if err != nil {
		return err
	}
	if !ok {
		return fail(exitGate, "")
	}
	return nil
}

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "run the checkers alone on a trace",
		ArgsUsage:   "FILE.ttd",
		Description: "Exit status as for analyze.\n\nExample:\n   racesim check bank.ttd --rules rules.yaml",
		Flags:       reportFlags(),
		Action: func(c *cli.Context) error {
			g, err := newGate(c)
			if err != nil {
				return err
			}
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			return analyzeAndGate(c, g, path, racesim.AnalyzeOptions{CheckersOnly: true, Rules: g.rules})
		},
	}
}

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "say what a checker looks for",
		ArgsUsage:   "[ID]",
		Description: "Without ID, lists the checkers.\n\nExample:\n   racesim explain use-after-free",
		Action: func(c *cli.Context) error {
			w := c.App.Writer
			if c.NArg() == 0 {
				for _, k := range checkers.All {
					fmt.Fprintf(w, "%-20s %-8s %s\n", k.ID, k.Severity, k.Title)
				}
				return nil
			}
			k := checkers.ByID(c.Args().First())
			if k == nil {
				return fail(exitUse, "explain: no checker %q; known are %s", c.Args().First(), strings.Join(checkers.IDs(), ", "))
			}
			fmt.Fprintf(w, "%s (%s): %s\n\n%s\n\nReported:\n    %s\nMended:\n    %s\n", k.ID, k.Severity, k.Title, k.Text, k.Before, k.After)
			for _, o := range k.Options {
				fmt.Fprintf(w, "\nOption %s (default %d): %s\n", o.Name, o.Default, o.Doc)
			}
			return nil
		},
	}
}
