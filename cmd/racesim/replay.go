package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:        "replay",
		Usage:       "replay all threads of a trace in parallel and verify them",
		ArgsUsage:   "FILE.ttd",
		Description: "Every system call, order number and register hash is compared; the first difference is an error.\n\nExample:\n   racesim replay pigz.ttd",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), Usage: "segments replayed at the same time"},
		},
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			tr, err := racesim.Open(path)
			if err != nil {
				return fail(exitUse, "replay: %v", err)
			}
			defer tr.Close()
			text, err := tr.Verify(c.Int("workers"))
			fmt.Fprint(c.App.Writer, text)
			if err != nil {
				return fail(exitGate, "%v", err)
			}
			return nil
		},
	}
}

// oneTrace returns the command's only argument.
func oneTrace(c *cli.Context) (string, error) {
	if c.NArg() != 1 {
		return "", fail(exitUse, "%s: one trace is needed, %d given; see racesim %s --help", c.Command.Name, c.NArg(), c.Command.Name)
	}
	return c.Args().First(), nil
}
