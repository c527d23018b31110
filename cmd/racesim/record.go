package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

// recordFlags are the flags of record, which test shares.
func recordFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "cores", Value: 4, Usage: "virtual processing units, 1 to 64"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "determines the schedule and the guest's random bytes"},
		&cli.StringFlag{Name: "schedule", Value: "random", Usage: "who runs next: random, rr (in turn) or pct (random priorities)"},
		&cli.StringFlag{Name: "clock", Value: "virtual", Usage: "time follows executed instructions (virtual) or the machine (host)"},
		&cli.IntFlag{Name: "slice", Usage: "mean `INSTRUCTIONS` between pre-emptions (default 30000)"},
		&cli.StringFlag{Name: "mem-limit", Value: "16G", Usage: "guest memory beyond it gets ENOMEM"},
		&cli.StringFlag{Name: "l1", Value: "32K/8", Usage: "private data cache of each unit: size/ways"},
		&cli.StringFlag{Name: "llc", Value: "8M/16", Usage: "shared last-level cache: size/ways"},
		&cli.Uint64Flag{Name: "key-frames", Value: 50_000_000, Usage: "`INSTRUCTIONS` of a thread between key frames"},
	}
}

func recordConfig(c *cli.Context) (racesim.RecordConfig, error) {
	cfg := racesim.RecordConfig{
		Argv: c.Args().Slice(), Env: os.Environ(),
		Cores: c.Int("cores"), Seed: c.Uint64("seed"), Schedule: c.String("schedule"), Clock: c.String("clock"),
		Slice: c.Int("slice"), KeyFrames: c.Uint64("key-frames"),
		L1: c.String("l1"), LLC: c.String("llc"), Signals: true,
	}
	if len(cfg.Argv) == 0 {
		return cfg, fmt.Errorf("no program; write it after the flags: racesim %s -- PROG ARGS…", c.Command.Name)
	}
	var err error
	if cfg.MemoryLimit, err = racesim.ParseSize(c.String("mem-limit")); err != nil {
		return cfg, fmt.Errorf("--mem-limit: %w", err)
	}
	return cfg, nil
}

func recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "run a program on the software processor and record it",
		ArgsUsage: "-- PROG ARGS…",
		Description: "The program's stdin, stdout, stderr and exit status pass through (death by signal n as 128+n);\n" +
			"racesim's own failures exit with 125.\n\n" +
			"Example:\n   racesim record -o pigz.ttd --seed 7 -- pigz -p2 -k big.txt",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "o", Usage: "the trace `FILE` (default PROG.ttd in this folder)"},
		}, recordFlags()...),
		Action: func(c *cli.Context) error {
			cfg, err := recordConfig(c)
			if err != nil {
				return fail(exitRecord, "record: %v", err)
			}
			cfg.Output = c.String("o")
			if cfg.Output == "" {
				cfg.Output = filepath.Base(cfg.Argv[0]) + ".ttd"
			}
			res, err := racesim.Record(c.Context, cfg)
			if err != nil {
				return fail(exitRecord, "record: %v", err)
			}
			if res.ExitCode() != 0 {
				return fail(res.ExitCode(), "")
			}
			return nil
		},
	}
}
