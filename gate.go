package racesim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/report"
)

// FailOn lists what a gate can fail on, strictest first: any race or finding;
// suspected, that is harmful or unknown races and findings of severity error;
// harmful races only; none.
var FailOn = []string{"any", "suspected", "harmful", "none"}

// Gate applies the rules (which may be nil) to a report, counts, sorts, and
// says in its summary whether the gate passes.
func Gate(r *report.Report, rules *checkers.Rules, failOn string) error {
	if err := rules.Apply(r); err != nil {
		return err
	}
	r.Sort()
	r.Summarise()
	failed := false
	for i := range r.Races {
		x := &r.Races[i]
		switch {
		case x.Suppressed != "":
		case x.Fail != nil:
			failed = failed || *x.Fail
		default:
			failed = failed || raceFails(x.Verdict, failOn)
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.Suppressed != "":
		case f.Fail != nil:
			failed = failed || *f.Fail
		default:
			failed = failed || failOn == "any" || failOn == "suspected" && f.Severity == "error"
		}
	}
	r.Summary.Gate = "pass"
	if failed {
		r.Summary.Gate = "fail"
	}
	return nil
}

func raceFails(v report.Verdict, failOn string) bool {
	switch failOn {
	case "any":
		return v != report.Synchronisation
	case "suspected":
		return v == report.Harmful || v == report.Unknown
	case "harmful":
		return v == report.Harmful
	}
	return false
}

// worse orders verdicts for merging.
var worse = map[report.Verdict]int{report.Synchronisation: 1, report.Benign: 2, report.Unknown: 3, report.Harmful: 4}

// Merge unites the reports of several recordings of one program: races with
// the same identifier become one, with the worst verdict and the number of
// recordings that show it.
func Merge(rs []*report.Report) *report.Report {
	if len(rs) == 1 {
		return rs[0]
	}
	out := &report.Report{}
	byID := map[string]int{}
	found := map[string]bool{}
	notes := map[string]bool{}
	for _, r := range rs {
		here := map[string]bool{}
		for _, x := range r.Races {
			i, ok := byID[x.ID]
			if !ok {
				i = len(out.Races)
				byID[x.ID] = i
				out.Races = append(out.Races, x)
				out.Races[i].Count = 0
				out.Races[i].Seen = 0
			}
			y := &out.Races[i]
			n, seen := y.Count+x.Count, y.Seen
			if !here[x.ID] {
				seen++
			}
			here[x.ID] = true
			if worse[x.Verdict] > worse[y.Verdict] {
				*y = x
			}
			y.Count, y.Seen = n, seen
		}
		for _, f := range r.Findings {
			k := f.Checker
			for _, fr := range f.Stack {
				k += fmt.Sprintf("|%s:%s:%d", fr.Function, fr.File, fr.Line)
			}
			if !found[k] {
				found[k] = true
				out.Findings = append(out.Findings, f)
			}
		}
		for _, n := range r.Notes {
			if !notes[n] {
				notes[n] = true
				out.Notes = append(out.Notes, n)
			}
		}
		out.Summary.Instructions += r.Summary.Instructions
		out.Summary.Threads = max(out.Summary.Threads, r.Summary.Threads)
	}
	return out
}

// Worst returns the index of the report with the worst race.
func Worst(rs []*report.Report) int {
	best, at := -1, 0
	for i, r := range rs {
		score := len(r.Findings)
		for _, x := range r.Races {
			score = max(score, 1000*worse[x.Verdict])
		}
		if score > best {
			best, at = score, i
		}
	}
	return at
}

// A Load names the loads of a source line, and a value to give them.
type Load struct {
	File  string // as in the debug information, or the end of it
	Line  int
	Value uint64
}

// ParseLoad reads FILE:LINE=VALUE; VALUE is a Go integer literal, perhaps negative.
func ParseLoad(s string) (Load, error) {
	at, val, ok := strings.Cut(s, "=")
	i := strings.LastIndexByte(at, ':')
	if !ok || i < 1 {
		return Load{}, fmt.Errorf("%q: want FILE:LINE=VALUE, for instance bank.c:12=0", s)
	}
	line, err := strconv.Atoi(at[i+1:])
	if err != nil || line < 1 {
		return Load{}, fmt.Errorf("%q: line %q isn't a number", s, at[i+1:])
	}
	l := Load{File: at[:i], Line: line}
	if n, err := strconv.ParseInt(val, 0, 64); err == nil {
		l.Value = uint64(n)
	} else if l.Value, err = strconv.ParseUint(val, 0, 64); err != nil {
		return Load{}, fmt.Errorf("%q: value %q isn't an integer", s, val)
	}
	return l, nil
}
