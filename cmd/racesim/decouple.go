package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func decoupleCommand() *cli.Command {
	return &cli.Command{
		Name:      "decouple",
		Usage:     "make the threads of a trace independent of one another",
		UsageText: "racesim decouple [flags] IN.ttd OUT.ttd",
		Description: "A recording in log mode ccp is small because what one thread has from another isn't logged again, but its\n" +
			"threads replay only together. All of them are replayed once, and OUT.ttd has the bytes: it is what recording\n" +
			"with --log-mode independent would have given. analyze, check, funcs and learn do the same by themselves, each\n" +
			"time.\n" +
			"Exit status: 0; 1 the trace doesn't replay as recorded; 2 wrong use or a damaged trace.\n\n" +
			"Example:\n   racesim record --log-mode ccp -o pigz.ttd -- pigz -p2 -k big.txt\n   racesim decouple pigz.ttd alone.ttd",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), DefaultText: "one per processor", Usage: "`N` threads replayed at the same time"},
			&cli.BoolFlag{Name: "no-marks", DisableDefaultText: true, Usage: "of a recording with --log-mode ccp:readers: find the order of its messages from them and the orderable events alone, not from the schedule's marks"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return fail(exitUse, "decouple: %d arguments; want a trace and the name of the new one", c.NArg())
			}
			in, out := c.Args().Get(0), c.Args().Get(1)
			switch {
			case c.Int("workers") < 1:
				return fail(exitUse, "decouple: --workers %d: want 1 or more", c.Int("workers"))
			case isDir(in):
				return fail(exitUse, "decouple: %s has the traces of several processes; name one of its files", in)
			}
			text, err := racesim.Decouple(c.Context, in, out, c.Int("workers"), c.Bool("no-marks"))
			if err != nil {
				return fail(damage(err, exitGate), "%s", say(c, err))
			}
			fmt.Fprintf(c.App.Writer, "%s: %s", traceFile(out), text)
			return nil
		},
	}
}
