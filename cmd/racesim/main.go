// Command racesim records unmodified x86-64 Linux programs, replays them, finds
// their data races and says which of them matter. See README.md.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

// Exit statuses of all commands but record.
const (
	exitGate     = 1 // the gate failed; of replay: it doesn't do what was recorded
	exitUse      = 2 // wrong use, or unreadable input
	exitGuest    = 3 // the program could not be run or recorded
	exitInternal = 4 // racesim is wrong
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

// commands in the order in which help lists them.
func commands() []*cli.Command {
	return []*cli.Command{recordCommand(), replayCommand(), infoCommand(), dumpCommand(), verifyCommand(), convertCommand(), decoupleCommand(), analyzeCommand(), checkCommand(), testCommand(), funcsCommand(), diffCommand(), learnCommand(), explainCommand(), syscallsCommand()}
}

// run is main with an exit status.
func run(args []string) (code int) {
	own := exitUse
	if len(args) > 1 && args[1] == "record" {
		own = exitRecord
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "racesim: internal error: %s; RACESIM_DEBUG=1 in the environment shows where: please report it\n", oneLine(fmt.Sprint(r)))
			if os.Getenv("RACESIM_DEBUG") != "" {
				os.Stderr.Write(debug.Stack())
			}
			code = exitInternal
			if own == exitRecord {
				code = exitRecord
			}
		}
	}()
	args, err := tidy(args)
	if err == nil {
		err = app().Run(args)
	}
	var e *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		if e.msg != "" {
			fmt.Fprintln(os.Stderr, "racesim: "+oneLine(e.msg))
		}
		return e.code
	}
	fmt.Fprintln(os.Stderr, "racesim: "+oneLine(err.Error()))
	return own
}

func app() *cli.App {
	a := &cli.App{
		Name:      "racesim",
		Usage:     "record unmodified programs, replay them, find their data races and say which matter",
		UsageText: "racesim COMMAND [flags] …; racesim COMMAND --help shows flags and an example",
		Description: "Example:\n   gcc -g -pthread -o bank bank.c\n" +
			"   racesim test -- ./bank",
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		Commands:                  commands(),
		ErrWriter:                 io.Discard, // the library's own complaints; ours are written by run
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return fail(exitUse, "no command; racesim --help lists them")
			}
			return fail(exitUse, "no command %q; racesim --help lists them", c.Args().First())
		},
	}
	for _, c := range a.Commands {
		c.HideHelpCommand = true // a program may be called "help"
		c.OnUsageError = usageError
	}
	return a
}

// say renders an error of a command without the names of the packages that it
// came through.
func say(c *cli.Context, err error) string {
	return c.Command.Name + packages.ReplaceAllString(": "+err.Error(), ": ")
}

var packages = regexp.MustCompile(`: (?:(?:record|traces|linux|replay|hwmodel|checkers|racesim): )+`)

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
