package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// A plan is what to measure.
type plan struct {
	racesim  string         // the program
	scratch  string         // a folder for everything that is fetched and built
	source   string         // the root of Valgrind's source; "": fetch it
	truth    string         // the folder of racesim's own guests
	tools    []string       // names of those to run
	suites   []string       // valgrind, truth
	only     *regexp.Regexp // names of the cases to run
	seeds    int            // runs of racesim, each with another seed
	repeat   int            // runs of ThreadSanitizer
	timeout  time.Duration  // of one run
	jobs     int            // cases measured at the same time
	markdown string         // a file for the tables
}

func main() {
	p := plan{}
	flag.StringVar(&p.racesim, "racesim", "bin/racesim", "the program to measure")
	flag.StringVar(&p.scratch, "dir", "", "scratch folder, kept: what is there already isn't fetched or built again (default: a temporary one)")
	flag.StringVar(&p.source, "source", "", "root of Valgrind's source, instead of fetching it")
	flag.StringVar(&p.truth, "truth", "testdata/truth", "folder of racesim's own guests")
	flag.IntVar(&p.seeds, "seeds", 3, "runs of racesim for each case, with seeds 1, 2, …")
	flag.IntVar(&p.repeat, "repeat", 3, "runs of ThreadSanitizer for each case")
	flag.DurationVar(&p.timeout, "timeout", 2*time.Minute, "time for one run")
	flag.StringVar(&p.markdown, "markdown", "", "a file for the tables, as in docs/accuracy.md")
	flag.IntVar(&p.jobs, "j", runtime.NumCPU(), "cases measured at the same time")
	only := flag.String("only", "", "a regular expression for the names of the cases to run")
	names := flag.String("tools", "racesim,tsan,helgrind,drd", "the tools to run")
	suites := flag.String("suites", "valgrind,truth", "the suites to run")
	flag.Parse()
	p.tools, p.suites = strings.Split(*names, ","), strings.Split(*suites, ",")
	err := error(nil)
	if p.only, err = regexp.Compile(*only); err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func (p *plan) run() error {
	if p.scratch == "" {
		d, err := os.MkdirTemp("", "racesim-accuracy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(d)
		p.scratch = d
	}
	for _, f := range []*string{&p.racesim, &p.scratch, &p.truth} {
		abs, err := filepath.Abs(*f)
		if err != nil {
			return err
		}
		*f = abs
	}
	if _, err := os.Stat(p.racesim); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	var tools []*tool
	for _, n := range p.tools {
		t, err := p.tool(n)
		if err != nil {
			return err
		}
		if t != nil {
			tools = append(tools, t)
		}
	}
	var done []*measured
	for _, n := range p.suites {
		s, err := p.suite(n)
		if err != nil {
			return err
		}
		m, err := p.measure(s, tools)
		if err != nil {
			return err
		}
		done = append(done, m)
	}
	text := p.tables(done, tools)
	fmt.Print(text)
	if p.markdown != "" {
		return os.WriteFile(p.markdown, []byte(text), 0o666)
	}
	return nil
}

// measure runs all tools on all cases of a suite.
func (p *plan) measure(s *suite, tools []*tool) (*measured, error) {
	m := &measured{suite: s}
	for i := range s.cases {
		if c := &s.cases[i]; p.only.MatchString(c.name) {
			m.rows = append(m.rows, row{c: c, got: make([]outcome, len(tools))})
		}
	}
	next := make(chan *row)
	errs := make(chan error, p.jobs)
	for range p.jobs {
		go func() {
			err := error(nil)
			for r := range next {
				if err == nil {
					err = p.one(s, r, tools)
				}
			}
			errs <- err
		}()
	}
	for i := range m.rows {
		next <- &m.rows[i]
	}
	close(next)
	var err error
	for range p.jobs {
		err = errors.Join(err, <-errs)
	}
	return m, err
}

// one runs all tools on one case.
func (p *plan) one(s *suite, r *row, tools []*tool) error {
	line := fmt.Sprintf("%-34s %-16s", r.c.name, r.c.label())
	for k, t := range tools {
		bin, err := s.build(r.c, t.flags)
		if err != nil {
			return err
		}
		r.got[k] = t.run(p, bin, r.c.args)
		line += fmt.Sprintf(" %s: %-8s", t.name, r.got[k].text())
	}
	fmt.Fprintln(os.Stderr, strings.TrimSpace(line))
	return nil
}
