package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func learnCommand() *cli.Command {
	return &cli.Command{
		Name:      "learn",
		Usage:     "keep what functions normally do, for later analyses",
		UsageText: "racesim learn -o MODEL FILE.ttd|MODEL…",
		Description: "Collects instances of the program's functions, and of the loops that race, from recordings that are as they\n" +
			"should be. Models given among the traces are merged; a trace counts once, however often it was learnt. Functions\n" +
			"are known by name and source file, from build to build. analyze --model compares with them.\n" +
			"Exit status: 0; 2 wrong use or unreadable input; 4 internal error.\n\n" +
			"Example:\n   racesim learn -o bank.model good1.ttd good2.ttd",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write `MODEL`", Required: false},
		},
		Action: func(c *cli.Context) error {
			out := c.String("output")
			switch {
			case out == "":
				return fail(exitUse, "learn: -o MODEL is missing")
			case c.NArg() == 0:
				return fail(exitUse, "learn: no trace; want one or more")
			}
			all := &racesim.Model{Schema: racesim.ModelSchema}
			for _, path := range c.Args().Slice() {
				m, err := racesim.ReadModel(path)
				if errors.Is(err, racesim.ErrNoModel) {
					if m, err = racesim.Learn(c.Context, []string{path}); err != nil {
						return fail(damage(err, exitUse), "%s", say(c, err))
					}
				} else if err != nil {
					return fail(exitUse, "%s", say(c, err))
				}
				all.Merge(m)
			}
			if err := all.Write(out); err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			fmt.Fprintf(c.App.Writer, "%s: %s\n", out, all.Summary())
			return nil
		},
	}
}
