package checkers

import (
	"fmt"
	"path/filepath"

	"github.com/racesim/racesim/report"
)

// A Field is a name that conditions may use.
type Field struct {
	Name, Doc string
	zero      any
	race      func(*report.Race) any
	finding   func(*report.Finding) any
	values    []string // all that it can be, or that its elements can be; nil: anything
}

// Fields lists what conditions may use. Fields that don't apply to an item are
// empty, zero or false.
var Fields = []Field{
	{"what", `"race" or "finding"`, "", func(*report.Race) any { return "race" }, func(*report.Finding) any { return "finding" }, []string{"race", "finding"}},
	{"id", "identifier of the race; for findings the checker's", "", func(r *report.Race) any { return r.ID }, func(f *report.Finding) any { return f.Checker }, nil},
	{"verdict", `"harmful", "benign", "synchronisation", "unknown"`, "", func(r *report.Race) any { return string(r.Verdict) }, nil, []string{"harmful", "benign", "synchronisation", "unknown"}},
	{"confidence", "0 to 1", 0.0, func(r *report.Race) any { return r.Confidence }, nil, nil},
	{"reason", "why the verdict was given", "", func(r *report.Race) any { return r.Reason }, nil, nil},
	{"count", "conflicting pairs that the race stands for", 0, func(r *report.Race) any { return r.Count }, nil, nil},
	{"kind", `of the location: "global", "heap", "stack", "tls", "mapped", "descriptor", "unknown"`, "", func(r *report.Race) any { return r.Location.Kind }, nil, []string{"global", "heap", "stack", "tls", "mapped", "descriptor", "unknown"}},
	{"symbol", "variable", "", func(r *report.Race) any { return r.Location.Symbol }, nil, nil},
	{"type", "type of the variable", "", func(r *report.Race) any { return r.Location.Type }, nil, nil},
	{"offset", "bytes from the symbol or block", 0, func(r *report.Race) any { return int(r.Location.Offset) }, nil, nil},
	{"size", "bytes", 0, func(r *report.Race) any { return r.Location.Size }, nil, nil},
	{"atomic", "one side at least is an atomic instruction", false, func(r *report.Race) any { return r.Accesses[0].Atomic || r.Accesses[1].Atomic }, nil, nil},
	{"ops", `the operations of both sides: "read", "write", "update", "free"`, []string{}, func(r *report.Race) any { return []string{r.Accesses[0].Op, r.Accesses[1].Op} }, nil, []string{"read", "write", "update", "free"}},
	{"predicted", "the recording shows it only in another order of the critical sections", false, func(r *report.Race) any { return r.Predicted }, nil, nil},
	{"seen", "with --runs, how many runs show it", 0, func(r *report.Race) any { return r.Seen }, func(f *report.Finding) any { return f.Seen }, nil},
	{"changed", `checkers that changed their minds in an experiment: "+double-free", "-leak"`, []string{}, func(r *report.Race) any {
		out := []string{}
		for _, c := range r.Checkers {
			out = append(out, c.Change)
		}
		return out
	}, nil, nil},
	{"lines", "every place on the stacks, as file:line, without folders", []string{}, func(r *report.Race) any { return collect(raceStacks(r), lineName) }, func(f *report.Finding) any { return collect(f.Stack, lineName) }, nil},
	{"functions", "every function on the stacks", []string{}, func(r *report.Race) any {
		return collect(raceStacks(r), func(f report.Frame) string { return f.Function })
	}, func(f *report.Finding) any {
		return collect(f.Stack, func(f report.Frame) string { return f.Function })
	}, nil},
	{"files", "every source file on the stacks, without its folder", []string{}, func(r *report.Race) any { return collect(raceStacks(r), fileName) }, func(f *report.Finding) any { return collect(f.Stack, fileName) }, nil},
	{"modules", "every program or library on the stacks, without its folder", []string{}, func(r *report.Race) any { return collect(raceStacks(r), moduleName) }, func(f *report.Finding) any { return collect(f.Stack, moduleName) }, nil},
	{"checker", "the checker of a finding", "", nil, func(f *report.Finding) any { return f.Checker }, nil},
	{"severity", "as configured so far", "", func(r *report.Race) any { return r.Severity }, func(f *report.Finding) any { return f.Severity }, []string{"", "error", "warning", "note", "off"}},
	{"message", "of a finding", "", nil, func(f *report.Finding) any { return f.Message }, nil},
}

func fileName(f report.Frame) string   { return base(f.File) }
func moduleName(f report.Frame) string { return base(f.Module) }

// fieldValues lists what fields can be, of those for which that is known.
func fieldValues() map[string][]string {
	m := map[string][]string{}
	for _, f := range Fields {
		if f.values != nil {
			m[f.Name] = f.values
		}
	}
	return m
}

func lineName(f report.Frame) string {
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", base(f.File), f.Line)
}

func base(p string) string {
	if p == "" {
		return ""
	}
	return filepath.Base(p)
}

func raceStacks(r *report.Race) []report.Frame {
	return append(append([]report.Frame(nil), r.Accesses[0].Stack...), r.Accesses[1].Stack...)
}

func collect(s []report.Frame, f func(report.Frame) string) []string {
	out := []string{}
	seen := map[string]bool{"": true}
	for _, x := range s {
		if n := f(x); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// FieldNames lists the names in the order of Fields.
func FieldNames() []string {
	var out []string
	for _, f := range Fields {
		out = append(out, f.Name)
	}
	return out
}

func emptyEnv() map[string]any {
	m := map[string]any{}
	for _, f := range Fields {
		m[f.Name] = f.zero
	}
	return m
}

func raceEnv(r *report.Race) map[string]any {
	m := emptyEnv()
	for _, f := range Fields {
		if f.race != nil {
			m[f.Name] = f.race(r)
		}
	}
	return m
}

func findingEnv(x *report.Finding) map[string]any {
	m := emptyEnv()
	for _, f := range Fields {
		if f.finding != nil {
			m[f.Name] = f.finding(x)
		}
	}
	return m
}
