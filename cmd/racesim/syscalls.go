package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/racesim/racesim/emulate/linux"
)

func syscallsCommand() *cli.Command {
	return &cli.Command{
		Name:      "syscalls",
		Usage:     "list the Linux system calls and how far they are supported",
		UsageText: "racesim syscalls [NAME…]",
		Description: "supported: as on Linux. partly: with what the note says missing. refused: always that answer, as from a\n" +
			"kernel without it. unsupported: answers ENOSYS, and record names it at the end (or stops there, with --strict).\n\n" +
			"Example:\n   racesim syscalls futex mmap",
		Action: func(c *cli.Context) error {
			want := map[string]bool{}
			for _, a := range c.Args().Slice() {
				want[a] = true
			}
			if bad := writeSyscalls(c.App.Writer, want); bad != "" {
				return fail(exitUse, "syscalls: there is no system call %s on x86-64", bad)
			}
			return nil
		},
	}
}

// writeSyscalls prints the calls in want, or all if it is empty. It returns a
// name that there isn't.
func writeSyscalls(w io.Writer, want map[string]bool) (bad string) {
	all := len(want) == 0
	for _, s := range linux.Syscalls() {
		if !all && !want[s.Name] {
			continue
		}
		delete(want, s.Name)
		fmt.Fprintf(w, "%3d  %-24s %-11s  %s\n", s.Nr, s.Name, s.Support, remark(s))
	}
	for name := range want {
		if bad == "" || name < bad {
			bad = name
		}
	}
	return bad
}

// remark says of a call what its support alone doesn't.
func remark(s linux.Syscall) string {
	var l []string
	if s.Support == linux.Refused {
		l = append(l, "answers "+s.Answer)
	}
	if s.Note != "" {
		l = append(l, s.Note)
	}
	return strings.Join(l, ": ")
}
