package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// usageError says in one line what is wrong with a command line.
func usageError(c *cli.Context, err error, _ bool) error {
	code, name := exitUse, "racesim"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "racesim" {
		name += " " + c.Command.Name
		if c.Command.Name == "record" {
			code = exitRecord
		}
	}
	msg := err.Error()
	for _, r := range reworded {
		if r.found.MatchString(msg) {
			msg = r.found.ReplaceAllString(msg, r.better)
			break
		}
	}
	if strings.HasPrefix(name, "racesim ") {
		msg = strings.TrimPrefix(name, "racesim ") + ": " + msg
	}
	return fail(code, "%s; see %s --help", msg, name)
}

// reworded are complaints of the flag package as a user understands them.
var reworded = []struct {
	found  *regexp.Regexp
	better string
}{
	{regexp.MustCompile(`^flag provided but not defined: -(.)$`), `no flag -$1`},
	{regexp.MustCompile(`^flag provided but not defined: -(.*)$`), `no flag --$1`},
	{regexp.MustCompile(`^flag needs an argument: -(.)$`), `-$1 needs a value`},
	{regexp.MustCompile(`^flag needs an argument: -(.*)$`), `--$1 needs a value`},
	{regexp.MustCompile(`^invalid boolean value (".*") for (?:flag )?-([^ :]+): .*$`), `--$2 takes no value, found $1`},
	{regexp.MustCompile(`^invalid value (".*") for (?:flag )?-([^ :]+): .*out of range.*$`), `--$2 $1: the number is too large`},
	{regexp.MustCompile(`^invalid value (".*") for (?:flag )?-([^ :]+): .*$`), `--$2 $1: want a whole number that isn't negative`},
}

// A line is a command line, taken apart before the flag package sees it: that
// stops at the first argument that isn't a flag, takes "--" for a flag's value,
// and looks for help topics.
type line struct {
	cmd   *cli.Command
	flags []string // with their values
	files []string // what isn't a flag
	help  bool
	// hungry is the flag whose value is missing: nothing follows it, or the
	// "--" before the program.
	hungry string
}

// split takes the arguments of a command apart. Those of record and test end
// with the program; those of the others may stand in any order.
func split(c *cli.Command, args []string) line {
	l := line{cmd: c}
	for rest := args; len(rest) > 0; rest = rest[1:] {
		a := rest[0]
		program := c.Name == "record" || c.Name == "test"
		switch {
		case a == "--":
			l.files = append(l.files, rest[1:]...)
			return l
		case (len(a) < 2 || a[0] != '-') && program:
			l.files = rest
			return l
		case len(a) < 2 || a[0] != '-':
			l.files = append(l.files, a)
			continue
		}
		l.flags = append(l.flags, a)
		switch strings.TrimLeft(a, "-") {
		case "h", "help":
			l.help = true
		}
		if !takesValue(c, a) {
			continue
		}
		if len(rest) == 1 || rest[1] == "--" {
			l.hungry = a
			return l
		}
		rest = rest[1:]
		l.flags = append(l.flags, rest[0])
	}
	return l
}

// tidy brings a command line into the order that the flag package understands.
func tidy(args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	for _, c := range commands() {
		if c.Name != args[1] {
			continue
		}
		l := split(c, args[2:])
		switch {
		case l.help:
			return []string{args[0], c.Name, "--help"}, nil
		case l.hungry != "":
			code := exitUse
			if c.Name == "record" {
				code = exitRecord
			}
			return nil, fail(code, "%s: %s needs a value; see racesim %s --help", c.Name, l.hungry, c.Name)
		}
		out := append([]string{args[0], c.Name}, l.flags...)
		return append(append(out, "--"), l.files...), nil
	}
	return args, nil
}

// takesValue says whether the argument behind a belongs to it.
func takesValue(c *cli.Command, a string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}
