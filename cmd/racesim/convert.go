package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/emulate/replay"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a trace anew: smaller, a part of it, with or without the program's files",
		UsageText: "racesim convert [flags] IN.ttd OUT.ttd",
		Description: "OUT.ttd is compressed harder, in the newest version of the format. With --from or --to it has only the part\n" +
			"between two places, to the slice: threads begin there where they were then, positions stay what they are, and it\n" +
			"is replayed and analysed like any trace. With --embed all it has the executables and libraries that are on\n" +
			"this machine as they were recorded, and can be analysed elsewhere. IN and OUT may be folders of recordings.\n" +
			"Exit status: 0; 1 the part doesn't replay as recorded; 2 wrong use or a damaged trace.\n\n" +
			"Example:\n   racesim convert --from 1:9000:0 --to 2:12000:50 pigz.ttd part.ttd",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "level", Value: "better", DefaultText: "better", Usage: "compress `HOW`: fastest (as recording does), default, better or best"},
			&cli.StringFlag{Name: "from", DefaultText: "the start", Usage: "`PLACE`: a position, thread:sequence:steps, or the number of an orderable event"},
			&cli.StringFlag{Name: "to", DefaultText: "the end", Usage: "`PLACE`, like --from"},
			&cli.StringFlag{Name: "embed", DefaultText: "those that are in IN", Usage: "`WHOSE` executables and libraries to keep: own (all but the distribution's), all or none"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return fail(exitUse, "convert: %d arguments; want a trace and the name of the new one", c.NArg())
			}
			o := racesim.ConvertOptions{Level: c.String("level"), From: c.String("from"), To: c.String("to"), Embed: c.String("embed")}
			if err := o.Check(); err != nil {
				return fail(exitUse, "convert: %v", err)
			}
			text, err := racesim.Convert(c.Context, c.Args().Get(0), c.Args().Get(1), o)
			fmt.Fprint(c.App.Writer, text)
			if err != nil {
				var d *replay.Divergence
				if errors.As(err, &d) {
					return fail(exitGate, "%s", say(c, err))
				}
				return fail(exitUse, "%s", say(c, err))
			}
			return nil
		},
	}
}
