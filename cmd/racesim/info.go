package main

import (
	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func infoCommand() *cli.Command {
	return &cli.Command{
		Name:        "info",
		Usage:       "say what is in a trace",
		ArgsUsage:   "FILE.ttd",
		Description: "Threads, modules, instructions, packets by kind, bytes, bits per instruction, cache and coherence\ncounters, key frames.\n\nExample:\n   racesim info pigz.ttd",
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			tr, err := racesim.Open(path)
			if err != nil {
				return fail(exitUse, "info: %v", err)
			}
			defer tr.Close()
			if err := tr.WriteInfo(c.App.Writer); err != nil {
				return fail(exitUse, "info: %v", err)
			}
			return nil
		},
	}
}
