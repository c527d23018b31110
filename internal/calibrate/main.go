package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	dirs := flag.String("programs", "testdata/truth,testdata/labelled", "folders of labelled programs")
	scratch := flag.String("dir", "", "scratch folder, kept (default: a temporary one)")
	table := flag.String("rows", "classify/testdata/verdicts.csv", "the table of verdicts")
	fresh := flag.Bool("measure", false, "make the table anew, rather than taking it as it is")
	weights := flag.String("weights", "classify/confidence.csv", "the table of weights to write")
	page := flag.String("page", "docs/confidence.md", "the page whose tables to write")
	image := flag.String("plot", "docs/img/confidence.svg", "the plot to write")
	seeds := flag.Int("seeds", 2, "recordings of each program built by gcc -O1")
	others := flag.Int("others", 1, "other builds of each program, in turn by gcc -O0, gcc -O2, clang -O1")
	jobs := flag.Int("j", runtime.NumCPU(), "runs made at the same time")
	limit := flag.Duration("timeout", 2*time.Minute, "time for one run")
	all := flag.Duration("for", 0, "time for all runs; what it leaves out is counted (0: no end)")
	only := flag.String("only", "", "a regular expression for the names of the programs")
	vg := flag.String("valgrind", "", "root of Valgrind's source, for the tests of Helgrind and DRD")
	suite := flag.String("suite", "internal/accuracy/testdata/valgrind.csv", "the table of these tests")
	single := flag.Bool("one", false, "run one program, given with its arguments, and print what is said of it")
	seed := flag.Uint64("seed", 1, "… with this seed")
	leave := flag.String("without", "", "signs not to use, with commas: what are they good for?")
	flag.Parse()
	for _, s := range strings.Split(*leave, ",") {
		without[s] = true
	}
	err := func() error {
		if *single {
			return one(flag.Args(), *seed)
		}
		if *fresh {
			var more []*program
			if *vg != "" {
				var err error
				if more, err = valgrind(*suite, *vg); err != nil {
					return err
				}
			}
			if err := remeasure(*dirs, more, *scratch, *table, *only, *others, *seeds, *jobs, *limit, *all); err != nil {
				return err
			}
		}
		return publish(*table, *weights, *page, *image)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

// remeasure makes the table of verdicts, on the programs in dirs and others.
func remeasure(dirs string, ps []*program, scratch, table, only string, others, seeds, jobs int, limit, all time.Duration) error {
	names, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if scratch == "" {
		if scratch, err = os.MkdirTemp("", "racesim-calibrate-"); err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
	}
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return err
	}
	if scratch, err = filepath.Abs(scratch); err != nil {
		return err
	}
	for _, d := range strings.FieldsFunc(dirs, func(r rune) bool { return r == ',' }) {
		more, err := programs(d)
		if err != nil {
			return err
		}
		for _, p := range more {
			if p.source, err = filepath.Abs(p.source); err != nil {
				return err
			}
		}
		ps = append(ps, more...)
	}
	ps = slices.DeleteFunc(ps, func(p *program) bool { return !names.MatchString(p.name) })
	runs := plan(ps, others, seeds)
	var deadline time.Time
	if all > 0 {
		deadline = time.Now().Add(all)
	}
	left, err := measure(runs, scratch, jobs, limit, deadline)
	if err != nil {
		return err
	}
	var rows []row
	failed := 0
	for _, r := range runs {
		rows = append(rows, r.rows()...)
		if r.err != "" {
			failed++
		}
	}
	fmt.Fprintf(os.Stderr, "%d runs of %d programs, %d of which failed, and %d left out; %d verdicts\n", len(runs)-left, len(ps), failed, left, len(rows))
	if len(rows) == 0 {
		return errors.New("no verdict")
	}
	return write(table, rows)
}
