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

// anywhere lets the flags of a command that takes a file stand behind the
// file, too. It works on the whole command line, before it is parsed,
// because the flag package stops at the first that is no flag.
func anywhere(args []string) []string {
	if len(args) < 3 {
		return args
	}
	i := slices.IndexFunc(commands(), func(c *cli.Command) bool { return c.Name == args[1] })
	if i < 0 {
		return args
	}
	c := commands()[i]
	if c.Name == "record" || c.Name == "test" {
		return args // what follows the program is the program's
	}
	var flags, files []string
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		a := rest[0]
		if a == "--" {
			files = append(files, rest[1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			files = append(files, a)
			continue
		}
		flags = append(flags, a)
		if takesValue(c, a) && len(rest) > 1 {
			rest = rest[1:]
			flags = append(flags, rest[0])
		}
	}
	out := append([]string{args[0], args[1]}, flags...)
	return append(append(out, "--"), files...)
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

// swallowed returns the flag whose value would be the "--" before the program,
// as in "racesim test -o -- ./prog"; "" if there is none.
func swallowed(args []string) string {
	if len(args) < 3 {
		return ""
	}
	for _, c := range commands() {
		if c.Name != args[1] {
			continue
		}
		for i := 2; i+1 < len(args) && len(args[i]) > 1 && args[i][0] == '-' && args[i] != "--"; i++ {
			if takesValue(c, args[i]) {
				if args[i+1] == "--" {
					return args[i]
				}
				i++
			}
		}
	}
	return ""
}
