package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim"
)

func funcsCommand() *cli.Command {
	return &cli.Command{
		Name:      "funcs",
		Usage:     "list the functions of a trace, or one's instances",
		UsageText: "racesim funcs [flags] FILE.ttd [NAME]",
		Description: "Without NAME: the program's functions and how often they were called. With it: what instances of that\n" +
			"function read before they wrote it (inputs) and left behind (outputs), by access path, with the values that\n" +
			"occur most. What system calls write is among neither.\n" +
			"Exit status: 0; 2 wrong use or unreadable input; 4 internal error.\n\n" +
			"Example:\n   racesim funcs bank.ttd deposit",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "list the functions of the run-time libraries, too"},
			&cli.IntFlag{Name: "instances", Value: 5, Usage: "show `N` instances one by one"},
			&cli.IntFlag{Name: "look", Value: 400, Usage: "look at `N` instances, spread over the recording"},
			&cli.StringFlag{Name: "format", Value: "table", Usage: "`FORMAT`: table or json"},
		},
		Action: func(c *cli.Context) error {
			if n := c.NArg(); n < 1 || n > 2 {
				return fail(exitUse, "funcs: %d arguments; want a trace and perhaps a function's name", n)
			}
			path, name := c.Args().Get(0), c.Args().Get(1)
			format := c.String("format")
			switch {
			case format != "table" && format != "json":
				return fail(exitUse, "funcs: --format %s: want table or json", format)
			case c.Int("look") < 1 || c.Int("instances") < 0:
				return fail(exitUse, "funcs: --look %d --instances %d: want 1 or more, and 0 or more", c.Int("look"), c.Int("instances"))
			case isDir(path):
				return fail(exitUse, "funcs: %s has the traces of several processes; name one of its files", path)
			}
			t, err := racesim.OpenAlone(c.Context, path)
			if err != nil {
				return fail(damage(err, exitUse), "%s", say(c, err))
			}
			defer t.Close()
			if s := t.Decoupled(); s != "" {
				fmt.Fprintf(os.Stderr, "racesim: %s: %s\n", path, s)
			}
			if name == "" {
				fs, err := t.Functions(c.Context, c.Bool("all"))
				if err != nil {
					return fail(damage(err, exitUse), "%s", say(c, fmt.Errorf("%s: %w", path, err)))
				}
				if format == "json" {
					return printJSON(c.App.Writer, fs)
				}
				listFunctions(c.App.Writer, fs)
				return nil
			}
			r, err := t.Function(c.Context, name, racesim.FunctionOptions{Looked: c.Int("look")})
			if err != nil {
				return fail(damage(err, exitUse), "%s", say(c, fmt.Errorf("%s: %w", path, err)))
			}
			if format == "json" {
				return printJSON(c.App.Writer, r)
			}
			showFunction(c.App.Writer, r, c.Int("instances"))
			return nil
		},
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func times(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func listFunctions(w io.Writer, fs []racesim.FunctionUse) {
	fmt.Fprintf(w, "%10s %7s  function\n", "calls", "threads")
	for i := range fs {
		fmt.Fprintf(w, "%10d %7d  %s  %s\n", fs[i].Calls, fs[i].Threads, fs[i].Name, fs[i].Place())
	}
}

func showFunction(w io.Writer, r *racesim.FunctionReport, most int) {
	fmt.Fprintf(w, "%s, %s: %s by %s, %d looked at\n", r.Name, r.Place(), times(r.Calls, "call"), times(uint64(r.Threads), "thread"), r.Looked)
	show := func(title string, us []racesim.ValueUse) {
		fmt.Fprintln(w, title)
		width := 0
		for _, u := range us {
			width = max(width, len(u.Name))
		}
		for _, u := range us {
			var vs []string
			rest := u.Seen
			for _, v := range u.Values {
				vs = append(vs, fmt.Sprintf("%s ×%d", v.Value, v.Times))
				rest -= v.Times
			}
			if rest > 0 {
				vs = append(vs, fmt.Sprintf("%d others ×%d", u.Distinct-len(u.Values), rest))
			}
			fmt.Fprintf(w, "    %-*s  %s\n", width, u.Name, strings.Join(vs, ", "))
		}
	}
	show("inputs", r.Inputs)
	show("outputs", r.Outputs)
	if len(r.Uninitialised) > 0 {
		show("read before anything was written there", r.Uninitialised)
	}
	if most = min(most, len(r.Instances)); most > 0 {
		fmt.Fprintln(w, "instances")
	}
	for i := range r.Instances[:most] {
		x := &r.Instances[i]
		end := ""
		if !x.Returned {
			end = ", never returned"
		}
		fmt.Fprintf(w, "    %s  %d instructions%s: %s → %s\n", x.Position, x.Instructions, end, values(x.Inputs), values(x.Outputs))
	}
	if n := len(r.Instances) - most; n > 0 {
		fmt.Fprintf(w, "    %d more with --instances %d or --format json\n", n, len(r.Instances))
	}
}

// maxShown bounds the values of one instance in a line.
const maxShown = 12

func values(vs []racesim.NamedValue) string {
	var out []string
	for i, v := range vs {
		if i == maxShown {
			out = append(out, fmt.Sprintf("%d more", len(vs)-i))
			break
		}
		out = append(out, v.Name+"="+v.Value)
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, " ")
}
