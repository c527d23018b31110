package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim/checkers"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "say what a checker looks for",
		UsageText:   "racesim explain [--rules FILE] [ID]",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "rules", Usage: "a rules.yaml `FILE`, whose own checkers are known, too"}},
		Description: "Without ID, lists the checkers.\n\nExample:\n   racesim explain use-after-free",
		Action: func(c *cli.Context) error {
			w := c.App.Writer
			if c.NArg() > 1 {
				return fail(exitUse, "explain: one checker at a time, %d given", c.NArg())
			}
			var own []checkers.Defined
			var rules *checkers.Rules
			if p := c.String("rules"); p != "" {
				r, err := checkers.LoadRules(p)
				if err != nil {
					return fail(exitUse, "explain: %v", err)
				}
				own, rules = r.Defined(), r
			}
			if c.NArg() == 0 {
				for _, k := range own {
					fmt.Fprintf(w, "%-20s %-8s %s\n", k.ID, k.Severity, k.Title)
				}
				for _, k := range checkers.All {
					fmt.Fprintf(w, "%-20s %-8s %s\n", k.ID, k.Severity, k.Title)
				}
				return nil
			}
			for _, k := range own {
				if k.ID == c.Args().First() {
					fmt.Fprintf(w, "%s (%s): %s\n\n%s\n\n%s\n\nA query over %s, see docs/rules.md.\n", k.ID, k.Severity, k.Title, wrap(k.Text, 100), wrap(rules.Explain(k.ID), 100), k.Over)
					return nil
				}
			}
			k := checkers.ByID(c.Args().First())
			if k == nil {
				return fail(exitUse, "explain: no checker %q; known are %s", c.Args().First(), strings.Join(checkers.IDs(), ", "))
			}
			fmt.Fprintf(w, "%s (%s): %s\n\n%s\n\n%s\n\nReported:\n%s\n\nMended:\n%s\n", k.ID, k.Severity, k.Title, wrap(k.Text, 100), wrap(rules.Explain(k.ID), 100), indent(k.Before), indent(k.After))
			for _, o := range k.Options {
				fmt.Fprintf(w, "\nOption %s (default %d): %s\n", o.Name, o.Default, o.Doc)
			}
			return nil
		},
	}
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// wrap breaks a paragraph into lines of at most n characters.
func wrap(s string, n int) string {
	var b strings.Builder
	col := 0
	for _, w := range strings.Fields(s) {
		switch {
		case col == 0:
		case col+1+len(w) > n:
			b.WriteByte('\n')
			col = 0
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(w)
		col += len(w)
	}
	return b.String()
}
