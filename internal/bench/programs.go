package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/racesim/racesim/internal/prose"
)

// A program is what is measured.
type program struct {
	name string
	kind string
	argv []string // natively
	tsan []string // built with ThreadSanitizer, nil: not available
}

// A kernel is compiled from a file in internal/bench/kernels.
type kernel struct {
	file, kind string
	flags      []string
}

var kernels = []kernel{
	{"sort.c", "sorting", nil},
	{"hash.c", "hashing", nil},
	{"matrix.c", "matrix", nil},
	{"alloc.cc", "allocation-heavy C++", nil},
	{"locks.c", "lock-heavy", nil},
	{"atomics.c", "atomics-heavy", nil},
	{"calls.c", "system-call-heavy", nil},
	{"stencil.c", "OpenMP, doubles", []string{"-fopenmp", "-lm"}},
}

// programs returns those whose names contain only, with their inputs and
// binaries in dir. It names what isn't installed.
func programs(dir, only string, size int) ([]program, error) {
	input := filepath.Join(dir, "input")
	if err := os.WriteFile(input, prose.Text(size), 0o666); err != nil {
		return nil, err
	}
	var ps []program
	installed := func(kind string, argv ...string) {
		name := strings.TrimSuffix(filepath.Base(argv[0]), "3")
		if !strings.Contains(name, only) {
			return
		}
		p, err := exec.LookPath(argv[0])
		if err != nil {
			fmt.Printf("%s is not installed: left out\n", argv[0])
			return
		}
		ps = append(ps, program{name: name, kind: kind, argv: append([]string{p}, argv[1:]...)})
	}
	installed("compression", "pigz", "-p2", "-c", input)
	installed("compression", "pbzip2", "-p2", "-c", input)
	installed("compression", "xz", "-T2", "-3", "-c", input)
	installed("compression", "zstd", "-T2", "-9", "-q", "-c", input)
	for _, k := range kernels {
		name := strings.TrimSuffix(k.file, filepath.Ext(k.file))
		if !strings.Contains(name, only) {
			continue
		}
		cc := "gcc"
		if strings.HasSuffix(k.file, ".cc") {
			cc = "g++"
		}
		p := program{name: name, kind: k.kind}
		for i, flags := range [][]string{{"-O2"}, {"-O2", "-fsanitize=thread"}} {
			out := filepath.Join(dir, fmt.Sprintf("%s%d", name, i))
			args := append(flags, "-g", "-pthread", "-o", out, filepath.Join("internal/bench/kernels", k.file))
			if msg, err := exec.Command(cc, append(args, k.flags...)...).CombinedOutput(); err != nil {
				fmt.Printf("%s: %s %s: %v: %s\n", name, cc, strings.Join(flags, " "), err, msg)
				continue
			}
			if i == 0 {
				p.argv = []string{out}
			} else {
				p.tsan = []string{out}
			}
		}
		if p.argv != nil {
			ps = append(ps, p)
		}
	}
	installed("interpreter", "python3", "internal/bench/kernels/objects.py")
	return ps, nil
}
