package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A program is a source file that says what is true of its races.
type program struct {
	name   string // unique
	source string
	cc     []string // compiler and flags, if not those of a build
	args   []string
	flags  []string // beside those of the build
	truth  string   // harmful, benign, synchronisation, none
	races  []label  // of single races
}

// A label says what is true of the races whose variable or functions have a
// name.
type label struct{ name, truth string }

// A build is a way to compile.
type build struct {
	name  string
	c     string // compilers
	cpp   string
	flags []string
	rust  string // rustc's level, in the same place among the builds
}

var builds = []build{
	{"gcc -O1", "gcc", "g++", []string{"-O1"}, "1"},
	{"gcc -O0", "gcc", "g++", []string{"-O0"}, "0"},
	{"gcc -O2", "gcc", "g++", []string{"-O2"}, "2"},
	{"clang -O1", "clang", "clang++", []string{"-O1"}, "3"},
}

// programs reads the labels of all C, C++ and Rust files in a folder:
//
//	// verdict: harmful
//	// race NAME: benign
//	// flags: -fopenmp
func programs(dir string) ([]*program, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.c*"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: no programs", dir)
	}
	rust, err := filepath.Glob(filepath.Join(dir, "*.rs"))
	if err != nil {
		return nil, err
	}
	paths = append(paths, rust...)
	var out []*program
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		p := &program{name: filepath.Base(dir) + "/" + filepath.Base(path), source: path}
		for _, l := range strings.Split(string(text), "\n") {
			if v, ok := strings.CutPrefix(l, "// verdict: "); ok {
				p.truth = v
			} else if v, ok := strings.CutPrefix(l, "// flags: "); ok {
				p.flags = slices.DeleteFunc(strings.Fields(v), func(f string) bool { return strings.HasPrefix(f, "-O") })
			} else if v, ok := strings.CutPrefix(l, "// race "); ok {
				name, truth, ok := strings.Cut(v, ": ")
				if !ok {
					return nil, fmt.Errorf("%s: %q: want // race NAME: VERDICT", path, l)
				}
				p.races = append(p.races, label{name, truth})
			}
		}
		if p.truth == "" {
			return nil, fmt.Errorf("%s: it doesn't say what its verdict is", path)
		}
		out = append(out, p)
	}
	return out, nil
}

// compile builds a program, unless it is there already, and returns its path.
func (p *program) compile(b *build, dir string) (string, error) {
	cc := b.c
	if p.cc != nil {
		return compile(filepath.Join(dir, filepath.Base(p.source)), append(slices.Clone(p.cc), p.source, "-lm", "-lrt"))
	}
	if strings.HasSuffix(p.source, ".cpp") {
		cc = b.cpp
	}
	bin := filepath.Join(dir, strings.NewReplacer("/", "_", " ", "").Replace(p.name+b.name))
	if strings.HasSuffix(p.source, ".rs") {
		return compile(bin, slices.Concat([]string{"rustc", "-g", "--edition", "2021", "-A", "warnings", "-C", "opt-level=" + b.rust, p.source}, p.flags))
	}
	return compile(bin, slices.Concat([]string{cc, "-g", "-pthread", "-w", p.source}, b.flags, p.flags))
}

// building lets one program be compiled at a time.
var building sync.Mutex

// compile runs a compiler for the program bin, unless that is there, newer than
// the sources in the command.
func compile(bin string, command []string) (string, error) {
	building.Lock()
	defer building.Unlock()
	if is, err := os.Stat(bin); err == nil {
		old := slices.ContainsFunc(command, func(f string) bool {
			src, err := os.Stat(f)
			return err == nil && src.Mode().IsRegular() && src.ModTime().After(is.ModTime())
		})
		if !old {
			return bin, nil
		}
	}
	if out, err := exec.Command(command[0], append(command[1:], "-o", bin)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return bin, nil
}

// truthOf says what is true of a race, by the names of its variable and of the
// functions of its sides.
func (p *program) truthOf(symbol string, functions ...string) string {
	for _, l := range p.races {
		if strings.Contains(symbol, l.name) || slices.Contains(functions, l.name) {
			return l.truth
		}
	}
	return p.truth
}
