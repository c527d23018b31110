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
			&cli.StringFlag{Name: "undefined", Usage: "report where flags are read that an instruction left undefined, and then `HOW` to go on: continue as recorded, fork over all values, or skip to the next key frame"},
			&cli.Uint64Flag{Name: "back", Usage: "instead, go backwards in one thread to the last execution of the instruction at `ADDRESS`, and say when that was"},
			&cli.UintFlag{Name: "thread", Value: 1, Usage: "with --back: thread `N`"},
			&cli.Uint64Flag{Name: "before", DefaultText: "the end", Usage: "with --back: begin at instruction `N` of the thread"},
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
			if how := c.String("undefined"); how != "" {
				return replayUndefined(c, path, how)
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
			if c.IsSet("back") {
				text, err := tr.Back(c.Uint("thread"), c.Uint64("before"), c.Uint64("back"))
				if err != nil {
					return fail(damage(err, exitGate), "%s", say(c, fmt.Errorf("%s: %w", path, err)))
				}
				fmt.Fprint(c.App.Writer, text)
				return nil
			}
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

// replayUndefined replays a trace, or those of a folder, and reports reliance on
// undefined flags.
func replayUndefined(c *cli.Context, path, how string) error {
	if _, err := replay.ParseChoice(how); err != nil {
		return fail(exitUse, "replay: --undefined %s: want continue, fork or skip", how)
	}
	err := each(path, func(tr *racesim.Trace) error { return tr.WriteUndefined(c.Context, c.App.Writer, how) })
	if err != nil {
		return fail(damage(err, exitGate), "%s", say(c, err))
	}
	return nil
}

// each opens the traces of a recording one after the other.
func each(path string, f func(tr *racesim.Trace) error) error {
	paths, err := racesim.Traces(path)
	if err != nil {
		return err
	}
	for _, p := range paths {
		tr, err := racesim.Open(p)
		if err != nil {
			return err
		}
		err = f(tr)
		tr.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
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
