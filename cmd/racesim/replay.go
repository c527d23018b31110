package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/emulate/replay"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "replay all threads of a trace in parallel and verify them",
		UsageText: "racesim replay [flags] FILE.ttd",
		Description: "Every system call, order number, key frame and register hash is compared.\n" +
			"Exit status: 0 replayed as recorded, as far as the trace goes; 1 it did something else; 2 wrong use or a\n" +
			"damaged trace; 4 internal error.\n\n" +
			"Example:\n   racesim replay pigz.ttd",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "workers", Value: runtime.NumCPU(), DefaultText: "one per processor", Usage: "`N` segments replayed at the same time"},
		},
		Action: func(c *cli.Context) error {
			path, err := oneTrace(c)
			if err != nil {
				return err
			}
			if n := c.Int("workers"); n < 1 {
				return fail(exitUse, "replay: --workers %d: want 1 or more", n)
			}
			if isDir(path) {
				text, err := racesim.VerifyAll(path, c.Int("workers"))
				fmt.Fprint(c.App.Writer, text)
				if err != nil {
					return fail(damage(err, exitGate), "%s", say(c, err))
				}
				return nil
			}
			tr, err := racesim.Open(path)
			if err != nil {
				return fail(exitUse, "%s", say(c, err))
			}
			defer tr.Close()
			if tr.Empty() {
				return fail(exitUse, "replay: %s: no thread is in the trace: %s", path, tr.Incomplete())
			}
			text, err := tr.Verify(c.Int("workers"))
			fmt.Fprint(c.App.Writer, text)
			if err != nil {
				return fail(damage(err, exitGate), "%s", say(c, fmt.Errorf("%s: %w", path, err)))
			}
			if d := tr.Damaged(); d != "" {
				return fail(exitUse, "replay: %s: damaged: %s", path, d)
			}
			return nil
		},
	}
}

// isDir says whether path is the folder of a recording with children.
func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// damage is the exit status for an error of reading or replaying a trace:
// diverged if what was executed isn't what was recorded, else that of
// unreadable input.
func damage(err error, diverged int) int {
	var d *replay.Divergence
	if errors.As(err, &d) {
		return diverged
	}
	return exitUse
}

// oneTrace returns the command's only argument.
func oneTrace(c *cli.Context) (string, error) {
	if c.NArg() != 1 {
		return "", fail(exitUse, "%s: one trace is needed, %d given; see racesim %s --help", c.Command.Name, c.NArg(), c.Command.Name)
	}
	return c.Args().First(), nil
}
