package main

import (
	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func infoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "say what is in a trace",
		UsageText: "racesim info [--hw] FILE.ttd",
		Description: "Threads, modules, instructions, packets by kind, bytes, bits per instruction, cache and coherence\n" +
			"counters, key frames. With --hw what the caches did: hits and misses of each unit, what came from other units, and\n" +
			"the lines that moved between threads, with the variables on them; falsely shared ones are those of which each\n" +
			"thread uses bytes of its own. That takes a replay and a look at all shared lines.\n\n" +
			"Example:\n   racesim info pigz.ttd",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "hw", Usage: "what the caches did, by unit, and which lines moved between threads"},
			&cli.IntFlag{Name: "lines", Value: 20, Usage: "with --hw, show the `N` lines that moved most"},
		},
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			if c.Bool("hw") {
				if isDir(path) {
					return fail(exitUse, "info: %s has the traces of several processes; name one of its files", path)
				}
				tr, err := racesim.OpenAlone(c.Context, path)
				if err == nil {
					defer tr.Close()
					err = tr.WriteHardware(c.Context, c.App.Writer, c.Int("lines"))
				}
				if err != nil {
					return fail(damage(err, exitGate), "%s", say(c, err))
				}
				return nil
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
