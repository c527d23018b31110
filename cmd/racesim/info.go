package main

import (
	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func infoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "say what is in a trace",
		UsageText: "racesim info FILE.ttd",
		Description: "Threads, modules, instructions, packets by kind, bytes, bits per instruction, cache and coherence\n" +
			"counters, key frames.\n\n" +
			"Example:\n   racesim info pigz.ttd",
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			if isDir(path) {
				if err := racesim.WriteInfoAll(c.App.Writer, path); err != nil {
					return fail(exitUse, "%s", say(c, err))
				}
				return nil
			}
			tr, err := racesim.Open(path)
			if err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			defer tr.Close()
			if err := tr.WriteInfo(c.App.Writer); err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			return nil
		},
	}
}
