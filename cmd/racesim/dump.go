package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func dumpCommand() *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print the packets of a trace",
		UsageText: "racesim dump [flags] FILE.ttd",
		Description: "One packet a line: thread (0: the process), instructions executed, instructions since the packet before,\n" +
			"kind, fields. docs/trace-format.md says what they mean.\n" +
			"Exit status: 0; 2 wrong use or a damaged trace, of which the whole part is printed.\n\n" +
			"Example:\n   racesim dump --thread 2 --from 10000 --to 20000 bank.ttd",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "events", Usage: "the packets; the default"},
			&cli.BoolFlag{Name: "raw", Usage: "the chunks of the file: place, size, packets, checksum"},
			&cli.BoolFlag{Name: "chunks", Usage: "the execution as chunks between context switches: thread, processing unit, marks, instructions, and the chunks that it comes after"},
			&cli.BoolFlag{Name: "sizes", Usage: "packets and bytes of each kind"},
			&cli.IntFlag{Name: "thread", Value: -1, DefaultText: "all", Usage: "only thread `N`; 0 is the process"},
			&cli.Uint64Flag{Name: "from", Usage: "only packets after `N` instructions of their thread"},
			&cli.Uint64Flag{Name: "to", DefaultText: "the end", Usage: "only packets up to `N` instructions of their thread"},
		},
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			forms := 0
			for _, f := range []string{"events", "raw", "chunks", "sizes"} {
				if c.Bool(f) {
					forms++
				}
			}
			switch {
			case forms > 1:
				return fail(exitUse, "dump: --events, --raw, --chunks and --sizes exclude one another; give one")
			case c.IsSet("thread") && c.Int("thread") < 0:
				return fail(exitUse, "dump: --thread %d: want 0 or more", c.Int("thread"))
			case c.Uint64("to") > 0 && c.Uint64("to") < c.Uint64("from"):
				return fail(exitUse, "dump: --to %d is before --from %d", c.Uint64("to"), c.Uint64("from"))
			case isDir(path):
				return fail(exitUse, "dump: %s has the traces of several processes; name one of its files", path)
			}
			err = racesim.Dump(c.App.Writer, path, racesim.DumpOptions{Chunks: c.Bool("raw"), Slices: c.Bool("chunks"), Sizes: c.Bool("sizes"), Thread: c.Int("thread"),
				From: c.Uint64("from"), To: c.Uint64("to")})
			if err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			return nil
		},
	}
}

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check that the file of a trace is whole",
		UsageText: "racesim verify FILE.ttd|FOLDER",
		Description: "Reads every chunk and packet and compares the checksums. Nothing is executed: whether the trace reproduces\n" +
			"the program is for racesim replay to say.\n" +
			"Exit status: 0 whole; 2 wrong use, damaged or cut off.\n\n" +
			"Example:\n   racesim verify bank.ttd",
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			text, err := racesim.VerifyFile(path)
			fmt.Fprint(c.App.Writer, text)
			if err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			return nil
		},
	}
}
