package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed testdata/valgrind.csv
var valgrindLabels string

// valgrindVersion is the source package that the labels are for.
const valgrindVersion = "1:3.19.0-1"

// A suite is a set of labelled programs.
type suite struct {
	name, title string
	cases       []testCase
	compile     func(c *testCase) []string // the compiler and its arguments but for the output
	libs        []string
	bins        string // a folder
	building    sync.Mutex
}

// A testCase is a program with arguments, of which it is known whether it has a
// data race.
type testCase struct {
	name, source string
	args         []string
	race         bool
	verdict      string // what racesim has to say, "" if that isn't known: harmful, benign, synchronisation or none
}

func (c *testCase) label() string {
	switch {
	case c.verdict != "":
		return c.verdict
	case c.race:
		return "race"
	}
	return "norace"
}

// disputed says that it is a matter of definition whether there is a race:
// plain accesses by which threads synchronise.
func (c *testCase) disputed() bool { return c.verdict == "synchronisation" }

func (p *plan) suite(name string) (*suite, error) {
	switch name {
	case "valgrind":
		return p.valgrind()
	case "truth":
		return p.own()
	}
	return nil, fmt.Errorf("no suite is called %q", name)
}

// valgrind is the suite of Helgrind's and DRD's tests.
func (p *plan) valgrind() (*suite, error) {
	root := p.source
	if root == "" {
		var err error
		if root, err = p.fetch(); err != nil {
			return nil, err
		}
	}
	rows, err := csv.NewReader(strings.NewReader(valgrindLabels)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("testdata/valgrind.csv: %w", err)
	}
	s := &suite{name: "valgrind", title: "Tests of Helgrind and DRD " + valgrindVersion, libs: []string{"-lm", "-lrt"}, bins: filepath.Join(p.scratch, "valgrind")}
	for i, r := range rows[1:] {
		if len(r) != 4 || r[3] != "race" && r[3] != "norace" {
			return nil, fmt.Errorf("testdata/valgrind.csv: row %d isn't name,source,args,race|norace", i+2)
		}
		s.cases = append(s.cases, testCase{name: r[0], source: filepath.Join(root, r[1]), args: strings.Fields(r[2]), race: r[3] == "race"})
	}
	common := strings.Fields("-g -O1 -w -pthread -DVGO_linux=1 -DVGA_amd64=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -DNVALGRIND")
	for _, d := range []string{"", "include", "coregrind"} {
		common = append(common, "-I"+filepath.Join(root, d))
	}
	s.compile = func(c *testCase) []string {
		l := []string{"gcc"}
		if strings.HasSuffix(c.source, ".cpp") {
			l = []string{"g++", "-std=gnu++14"}
		}
		if l = append(l, common...); strings.Contains(c.source, "tsan_unittest") {
			l = append(l, `-DTHREAD_WRAPPERS="tsan_thread_wrappers_pthread.h"`)
		}
		return append(l, c.source)
	}
	return s, nil
}

// fetch gets Valgrind's source package through apt-get, with lists of its own,
// and returns the unpacked source's root.
func (p *plan) fetch() (string, error) {
	dir := filepath.Join(p.scratch, "source")
	root := filepath.Join(dir, "root")
	if _, err := os.Stat(filepath.Join(root, "drd", "tests")); err == nil {
		return root, nil
	}
	for _, d := range []string{"lists/partial", "archives/partial", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			return "", err
		}
	}
	list := filepath.Join(dir, "sources.list")
	if err := os.WriteFile(list, []byte("deb-src http://deb.debian.org/debian bookworm main\n"), 0o666); err != nil {
		return "", err
	}
	apt := []string{"-q", "-o", "Dir::Etc::SourceList=" + list, "-o", "Dir::Etc::SourceParts=-", "-o", "Dir::State::Lists=" + filepath.Join(dir, "lists"),
		"-o", "Dir::Cache::archives=" + filepath.Join(dir, "archives"), "-o", "APT::Sandbox::User=root"}
	for _, c := range [][]string{append(apt, "update"), append(apt, "source", "--download-only", "valgrind="+valgrindVersion)} {
		cmd := exec.Command("apt-get", c...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("apt-get %s: %w (-source takes an unpacked source of valgrind %s)\n%s", strings.Join(c, " "), err, valgrindVersion, out)
		}
	}
	tars, _ := filepath.Glob(filepath.Join(dir, "valgrind_*.orig.tar.*"))
	if len(tars) != 1 {
		return "", fmt.Errorf("%s has %d archives of valgrind's source, rather than one", dir, len(tars))
	}
	if out, err := exec.Command("tar", "-C", root, "--strip-components=1", "-xf", tars[0]).CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w\n%s", err, out)
	}
	return root, nil
}

// own is the suite of racesim's own guests.
func (p *plan) own() (*suite, error) {
	s := &suite{name: "truth", title: "racesim's own guests", bins: filepath.Join(p.scratch, "truth")}
	paths, err := filepath.Glob(filepath.Join(p.truth, "*.c*"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: no guests", p.truth)
	}
	flags := map[string][]string{}
	for _, f := range paths {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		base := filepath.Base(f)
		c := testCase{name: strings.TrimSuffix(base, filepath.Ext(base)), source: f}
		for _, l := range strings.Split(string(text), "\n") {
			if v, ok := strings.CutPrefix(l, "// verdict: "); ok {
				c.verdict = v
			}
			if v, ok := strings.CutPrefix(l, "// flags: "); ok {
				flags[f] = strings.Fields(v)
			}
		}
		if c.verdict == "" {
			return nil, fmt.Errorf("%s: it doesn't say what its verdict is", f)
		}
		c.race = c.verdict == "harmful" || c.verdict == "benign"
		s.cases = append(s.cases, c)
	}
	s.compile = func(c *testCase) []string {
		cc := "gcc"
		if strings.HasSuffix(c.source, ".cpp") {
			cc = "g++"
		}
		return append([]string{cc, "-g", "-pthread", "-w", c.source}, flags[c.source]...)
	}
	return s, nil
}

// build compiles a case, unless it is there already, and returns the program.
func (s *suite) build(c *testCase, more []string) (string, error) {
	s.building.Lock()
	defer s.building.Unlock()
	rel := strings.NewReplacer("/", "_", "-", "").Replace(strings.Join(more, "_"))
	base := filepath.Base(filepath.Dir(filepath.Dir(c.source))) + "_" + filepath.Base(c.source)
	bin := filepath.Join(s.bins, base+rel)
	if info, err := os.Stat(bin); err == nil {
		if src, err := os.Stat(c.source); err == nil && !src.ModTime().After(info.ModTime()) {
			return bin, nil
		}
	}
	if err := os.MkdirAll(s.bins, 0o777); err != nil {
		return "", err
	}
	l := append(s.compile(c), more...)
	l = append(append(l, "-o", bin), s.libs...)
	if out, err := exec.Command(l[0], l[1:]...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(l, " "), err, out)
	}
	return bin, nil
}
