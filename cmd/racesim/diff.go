package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare executions of a program",
		UsageText: "racesim diff [flags] SUBJECT.ttd COMPARED.ttd…",
		Description: "For each thread: where it first does something else than in a compared trace, and what: another value read or\n" +
			"written, another address, another way. Then, of all that functions do between calls, how much is equal to\n" +
			"something in a compared trace, goes the same way with other values, or is like nothing there.\n" +
			"Exit status: 0 all threads are equal; 1 they aren't; 2 wrong use or unreadable input; 4 internal error.\n\n" +
			"Example:\n   racesim diff failed.ttd good1.ttd good2.ttd",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "table", Usage: "`FORMAT`: table or json"},
		},
		Action: func(c *cli.Context) error {
			format := c.String("format")
			switch {
			case c.NArg() < 2:
				return fail(exitUse, "diff: %d arguments; want a trace and those to compare it with", c.NArg())
			case format != "table" && format != "json":
				return fail(exitUse, "diff: --format %s: want table or json", format)
			}
			var ts []*racesim.Trace
			for _, path := range c.Args().Slice() {
				if isDir(path) {
					return fail(exitUse, "diff: %s has the traces of several processes; name one of its files", path)
				}
				t, err := racesim.OpenAlone(c.Context, path)
				if err != nil {
					return fail(damage(err, exitUse), "%s", say(c, err))
				}
				defer t.Close()
				if s := t.Decoupled(); s != "" {
					fmt.Fprintf(os.Stderr, "racesim: %s: %s\n", path, s)
				}
				ts = append(ts, t)
			}
			d, err := racesim.DiffTraces(c.Context, ts[0], ts[1:])
			if err != nil {
				return fail(damage(err, exitUse), "%s", say(c, err))
			}
			if format == "json" {
				err = printJSON(c.App.Writer, d)
			} else {
				d.Write(c.App.Writer)
			}
			if err == nil && !d.Same() {
				return fail(exitGate, "")
			}
			return err
		},
	}
}
