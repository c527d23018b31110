// Command racesim records unmodified x86-64 Linux programs, replays them, finds
// their data races and says which of them matter. See README.md.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

// Exit statuses of analyze, check, test, replay and info.
const (
	exitGate     = 1
	exitUse      = 2
	exitGuest    = 3
	exitInternal = 4
	// exitRecord is record's own failure; its other statuses are the guest's.
	exitRecord = 125
)

// exitError ends the program with a status and, unless empty, one line.
type exitError struct {
	code int
	msg  string
}

func (e *exitError) Error() string { return e.msg }

func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Sprintf(format, args...)}
}

func main() { os.Exit(run(os.Args)) }

// run is main with an exit status, for tests.
func run(args []string) (code int) {
	own := exitInternal
	if len(args) > 1 && args[1] == "record" {
		own = exitRecord
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "racesim: internal error: %v\n", r)
			if os.Getenv("RACESIM_DEBUG") != "" {
				os.Stderr.Write(debug.Stack())
			} else {
				fmt.Fprintln(os.Stderr, "racesim: set RACESIM_DEBUG=1 to see where, and report it")
			}
			code = own
		}
	}()
	app := &cli.App{
		Name:                   "racesim",
		Usage:                  "record unmodified programs, replay them, find their data races and say which matter",
		UsageText:              "racesim COMMAND [flags] …",
		UseShortOptionHandling: true,
		HideHelpCommand:        true,
		Commands:               []*cli.Command{recordCommand(), replayCommand(), infoCommand(), analyzeCommand(), checkCommand(), testCommand(), explainCommand()},
		ExitErrHandler:         func(*cli.Context, error) {},
		OnUsageError:           usageError,
		CommandNotFound: func(c *cli.Context, name string) {
			fmt.Fprintf(os.Stderr, "racesim: no command %q; racesim --help lists them\n", name)
			code = exitUse
		},
	}
	for _, c := range app.Commands {
		c.OnUsageError = usageError
	}
	err := app.Run(args)
	var e *exitError
	switch {
	case err == nil:
		return code
	case errors.As(err, &e):
		if e.msg != "" {
			fmt.Fprintln(os.Stderr, "racesim: "+oneLine(e.msg))
		}
		return e.code
	default:
		fmt.Fprintln(os.Stderr, "racesim: "+oneLine(err.Error()))
		if own == exitRecord {
			return exitRecord
		}
		return exitUse
	}
}

func usageError(c *cli.Context, err error, sub bool) error {
	code := exitUse
	if c.Command != nil && c.Command.Name == "record" {
		code = exitRecord
	}
	name := "racesim"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "racesim" {
		name += " " + c.Command.Name
	}
	return fail(code, "%v; see %s --help", err, name)
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
