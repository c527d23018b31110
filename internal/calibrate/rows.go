package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/racesim/racesim/classify"
)

// A row is a verdict of which it is known whether it is right.
type row struct {
	program, build string
	seed           int
	race           string // variable, without indices, or the functions
	lines          string // of both sides
	truth          string
	verdict        string
	basis          classify.Basis
	right          bool
	facts          classify.Facts
}

// rows compares what a run said with the truth. That is of all of a program's
// races unless it says otherwise of some: "any" is of those of which there is
// no saying, mostly because they follow from another one.
func (r *run) rows() []row {
	var out []row
	for _, s := range r.said {
		truth := r.p.truthOf(s.Symbol, s.Functions[:]...)
		if truth == "any" {
			continue
		}
		x := row{program: r.p.name, build: r.b.name, seed: r.seed, race: s.name(), lines: fmt.Sprintf("%d/%d", min(s.Lines[0], s.Lines[1]), max(s.Lines[0], s.Lines[1])), truth: truth, verdict: s.Verdict, basis: s.Basis, facts: s.Facts}
		// Synchronisation is no race.
		x.right = s.Verdict == truth || truth == "none" && s.Verdict == classify.Synchronisation
		out = append(out, x)
	}
	return out
}

var indices = regexp.MustCompile(`\[\d+\]|\+\d+|:\d+`)

// name is what is the same in all runs.
func (s *said) name() string {
	if s.Symbol != "" {
		return indices.ReplaceAllString(s.Symbol, "")
	}
	return s.Functions[0] + "/" + s.Functions[1]
}

var columns = []string{"program", "build", "seed", "race", "lines", "truth", "verdict", "basis", "right"}

// write puts rows into a table.
func write(path string, rows []row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if err := w.Write(append(slices.Clone(columns), classify.FactNames()...)); err != nil {
		return err
	}
	for _, r := range rows {
		l := []string{r.program, r.build, fmt.Sprint(r.seed), r.race, r.lines, r.truth, r.verdict, string(r.basis), "0"}
		if r.right {
			l[len(columns)-1] = "1"
		}
		for _, n := range r.facts.Row() {
			l = append(l, fmt.Sprint(n))
		}
		if err := w.Write(l); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// read reads a table of rows.
func read(r io.Reader) ([]row, error) {
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	want := append(slices.Clone(columns), classify.FactNames()...)
	if len(all) == 0 || !slices.Equal(all[0], want) {
		return nil, fmt.Errorf("the columns aren't %s: measure anew", strings.Join(want, ","))
	}
	var out []row
	for i, l := range all[1:] {
		x := row{program: l[0], build: l[1], race: l[3], lines: l[4], truth: l[5], verdict: l[6], basis: classify.Basis(l[7]), right: l[8] == "1"}
		ns := make([]int, len(l)-len(columns))
		if x.seed, err = strconv.Atoi(l[2]); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		for k := range ns {
			if ns[k], err = strconv.Atoi(l[len(columns)+k]); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+2, err)
			}
		}
		x.facts = classify.FactsOf(ns)
		out = append(out, x)
	}
	return out, nil
}
