package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/report"
)

// formats of a report.
var formats = []string{"table", "json", "sarif", "html"}

// write writes a report in one of them.
func write(w io.Writer, format string, r *report.Report, own *checkers.Rules) error {
	switch format {
	case "json":
		return report.WriteJSON(w, r)
	case "sarif":
		var rules []report.Rule
		for _, c := range checkers.All {
			rules = append(rules, report.Rule{ID: c.ID, Title: c.Title, Text: c.Text})
		}
		for _, c := range own.Defined() {
			rules = append(rules, report.Rule{ID: c.ID, Title: c.Title, Text: c.Text})
		}
		return report.WriteSARIF(w, r, rules)
	case "html":
		return report.WriteHTML(w, r)
	}
	return report.WriteTable(w, r)
}

// reportFlags are shared by analyze, check and test.
func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "table", DefaultText: "table", Usage: "`FORM` of the report: table, json, sarif or html"},
		&cli.StringFlag{Name: "o", DefaultText: "stdout", Usage: "write the report to `FILE`"},
		&cli.StringFlag{Name: "fail-on", Value: "suspected", DefaultText: "suspected", Usage: "`WHAT` fails the gate: any, suspected (harmful or unknown), harmful, none"},
		&cli.Float64Flag{Name: "min-confidence", DefaultText: "0", Usage: "to the gate, verdicts given with less than `P` (0 to 1) are unknown"},
		&cli.StringFlag{Name: "rules", Usage: "a rules.yaml `FILE`: checkers, rules, suppressions"},
	}
}

// A gate is what the flags say about judging and printing a report.
type gate struct {
	format, out, failOn string
	confidence          float64 // below which verdicts count as unknown
	rules               *checkers.Rules
}

// newGate checks the flags before any work is done.
func newGate(c *cli.Context) (*gate, error) {
	g := &gate{format: c.String("format"), out: c.String("o"), failOn: c.String("fail-on"), confidence: c.Float64("min-confidence")}
	if !slices.Contains(formats, g.format) {
		return nil, fail(exitUse, "%s: --format %q: want %s", c.Command.Name, g.format, strings.Join(formats, ", "))
	}
	if !slices.Contains(racesim.FailOn, g.failOn) {
		return nil, fail(exitUse, "%s: --fail-on %q: want one of %s", c.Command.Name, g.failOn, strings.Join(racesim.FailOn, ", "))
	}
	if !(g.confidence >= 0 && g.confidence <= 1) {
		return nil, fail(exitUse, "%s: --min-confidence %g: want 0 to 1", c.Command.Name, g.confidence)
	}
	if p := c.String("rules"); p != "" {
		r, err := checkers.LoadRules(p)
		if err != nil {
			return nil, fail(exitUse, "%s: %v", c.Command.Name, err)
		}
		g.rules = r
	}
	if g.out != "" {
		if err := writable(g.out); err != nil {
			return nil, fail(exitUse, "%s: -o: %v", c.Command.Name, err)
		}
	}
	return g, nil
}

// writable says why a file can't be written, without changing what is there.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		f.Close()
		return os.Remove(path)
	}
	if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		f.Close()
	}
	return err
}

// judge applies the rules and the gate.
func (g *gate) judge(c *cli.Context, r *report.Report) error {
	if err := racesim.GateSure(r, g.rules, g.failOn, g.confidence); err != nil {
		return fail(exitUse, "%s: %v", c.Command.Name, err)
	}
	return nil
}

// print writes a report that was judged. loads are the user's; recorded is when
// the trace was.
func (g *gate) print(c *cli.Context, r *report.Report, loads []racesim.Load, recorded time.Time) (passed bool, err error) {
	racesim.Quote(r, recorded)
	for _, l := range racesim.Unused(r, loads) {
		r.Notes = append(r.Notes, fmt.Sprintf("--load %s:%d was not tried: no load that could be experimented with is on that line", l.File, l.Line))
	}
	var b bytes.Buffer
	if err := write(&b, g.format, r, g.rules); err != nil {
		return false, fail(exitInternal, "%s: %v", c.Command.Name, err)
	}
	if g.out != "" {
		err = os.WriteFile(g.out, b.Bytes(), 0o666)
	} else {
		_, err = c.App.Writer.Write(b.Bytes())
	}
	if err != nil {
		return false, fail(exitUse, "%s: writing the report: %v", c.Command.Name, err)
	}
	if g.out != "" {
		s := &r.Summary
		fmt.Fprintf(os.Stderr, "racesim: %d harmful, %d unknown, %d benign, %d synchronisation; %d findings; gate: %s; report: %s\n",
			s.Harmful, s.Unknown, s.Benign, s.Synchronisation, s.Findings, s.Gate, g.out)
	}
	return r.Summary.Gate == "pass", nil
}

// recordedAt is when a trace was closed.
func recordedAt(path string) time.Time {
	st, err := os.Stat(traceFile(path))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}
