package racesim

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/report"
)

// FailOn lists what a gate can fail on, strictest first: any race or finding
// that is more than a note; suspected, that is harmful or unknown races and findings of severity error;
// harmful races only; none.
var FailOn = []string{"any", "suspected", "harmful", "none"}

// Gate applies the rules (which may be nil) to a report, counts, sorts, and
// says in its summary whether the gate passes.
func Gate(r *report.Report, rules *checkers.Rules, failOn string) error {
	return GateSure(r, rules, failOn, 0)
}

// GateSure is Gate, but that verdicts given with less than a confidence, 0 to 1,
// count as unknown to it. The report keeps them, and a note says how many they
// are.
func GateSure(r *report.Report, rules *checkers.Rules, failOn string, confidence float64) error {
	if err := rules.Apply(r); err != nil {
		return err
	}
	r.Sort()
	r.Summarise()
	failed, unsure := false, 0
	for i := range r.Races {
		x := &r.Races[i]
		verdict := x.Verdict
		if verdict != report.Unknown && x.Confidence < confidence && x.Suppressed == "" && x.Fail == nil {
			verdict = report.Unknown
			unsure++
		}
		switch {
		case x.Suppressed != "":
		case x.Fail != nil:
			failed = failed || *x.Fail
		default:
			failed = failed || raceFails(verdict, failOn)
		}
	}
	if unsure > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("to the gate, %s with a confidence below %g %s unknown", plural(uint64(unsure), "verdict"), confidence, map[bool]string{true: "is", false: "are"}[unsure == 1]))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.Suppressed != "":
		case f.Fail != nil:
			failed = failed || *f.Fail
		default:
			failed = failed || failOn == "any" && f.Severity != "note" || failOn == "suspected" && f.Severity == "error"
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

// Merge unites the reports of several recordings of one program: races of the
// same lines on the same variable become one, as the recording shows it that has
// the worst verdict, with the number of recordings that show it and their
// verdicts if they differ; findings likewise.
func Merge(rs []*report.Report) *report.Report {
	if len(rs) == 1 {
		return rs[0]
	}
	out := &report.Report{Schema: report.Schema}
	races, findings, notes := map[string]int{}, map[string]int{}, map[string]bool{}
	for n, r := range rs {
		here := map[string]bool{}
		for _, x := range r.Races {
			// The number that uniqueIDs put behind an identifier is of one
			// recording only.
			if base := strings.SplitN(x.ID, "-", 3); len(base) == 3 {
				x.ID = base[0] + "-" + base[1]
			}
			k := sameRace(&x)
			i, ok := races[k]
			if !ok {
				i = len(out.Races)
				races[k] = i
				out.Races = append(out.Races, report.Race{})
			}
			y := &out.Races[i]
			total, seen, run, verdicts := y.Count+x.Count, y.Seen, y.Run, y.Verdicts
			if !here[k] {
				seen++
			}
			here[k] = true
			if verdicts == nil {
				verdicts = map[report.Verdict]int{}
			}
			verdicts[x.Verdict]++
			if worse[x.Verdict] > worse[y.Verdict] || x.Verdict == y.Verdict && x.Confidence > y.Confidence {
				*y = x
				run = n + 1
			}
			y.Count, y.Seen, y.Run, y.Verdicts = total, seen, run, verdicts
		}
		for _, f := range r.Findings {
			k := f.Checker
			for _, fr := range f.Stack {
				k += fmt.Sprintf("|%s:%s:%d", fr.Function, fr.File, fr.Line)
			}
			i, ok := findings[k]
			if !ok {
				i = len(out.Findings)
				findings[k] = i
				out.Findings = append(out.Findings, f)
			}
			if !here[k] {
				out.Findings[i].Seen++
			}
			here[k] = true
		}
		for _, s := range r.Notes {
			if !notes[s] {
				notes[s] = true
				out.Notes = append(out.Notes, s)
			}
		}
		out.Experiments = append(out.Experiments, r.Experiments...)
		out.Summary.Instructions += r.Summary.Instructions
		out.Summary.Threads = max(out.Summary.Threads, r.Summary.Threads)
	}
	for i := range out.Races {
		if y := &out.Races[i]; len(y.Verdicts) == 1 {
			y.Verdicts = nil // all runs agree
		}
	}
	out.Summary.Runs = len(rs)
	uniqueIDs(out.Races)
	return out
}

// sameRace is equal for what is one race in several recordings.
func sameRace(x *report.Race) string {
	a, b := x.Accesses[0], x.Accesses[1]
	sides := []string{fmt.Sprintf("%s:%d", a.File, a.Line), fmt.Sprintf("%s:%d", b.File, b.Line)}
	sort.Strings(sides)
	return strings.Join(append(sides, x.ID), "|")
}

// Worst returns the index of the recording that shows the worst of a merged
// report best: its first race that isn't suppressed. Without races, it is the
// one with the most findings.
func Worst(merged *report.Report, rs []*report.Report) int {
	for i := range merged.Races {
		if x := &merged.Races[i]; x.Suppressed == "" && x.Run > 0 {
			return x.Run - 1
		}
	}
	at := 0
	for i, r := range rs {
		if len(r.Findings) > len(rs[at].Findings) {
			at = i
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
		return Load{}, fmt.Errorf("%q: %q isn't the number of a line", s, at[i+1:])
	}
	l := Load{File: at[:i], Line: line}
	if n, err := strconv.ParseInt(val, 0, 64); err == nil {
		l.Value = uint64(n)
	} else if l.Value, err = strconv.ParseUint(val, 0, 64); err != nil {
		return Load{}, fmt.Errorf("%q: value %q isn't an integer", s, val)
	}
	return l, nil
}

// Unused returns the loads that no experiment of a report used.
func Unused(r *report.Report, loads []Load) []Load {
	tried := map[string]bool{}
	note := func(xs []report.Experiment) {
		for i := range xs {
			if xs[i].Source == "user" {
				tried[xs[i].Load] = true
			}
		}
	}
	for i := range r.Races {
		note(r.Races[i].Experiments)
	}
	note(r.Experiments)
	var out []Load
	for _, l := range loads {
		if !tried[l.place()] {
			out = append(out, l)
		}
	}
	return out
}
