package checkers

import (
	"path/filepath"

	"github.com/racesim/racesim/report"
)

// A Field is a name that conditions may use.
type Field struct {
	Name, Doc string
	zero      any
	race      func(*report.Race) any
	finding   func(*report.Finding) any
}

// Fields lists what conditions may use. Fields that don't apply to an item are
// empty, zero or false.
var Fields = []Field{
	{"what", `"race" or "finding"`, "", func(*report.Race) any { return "race" }, func(*report.Finding) any { return "finding" }},
	{"id", "identifier of the race; for findings the checker's", "", func(r *report.Race) any { return r.ID }, func(f *report.Finding) any { return f.Checker }},
	{"verdict", `"harmful", "benign", "synchronisation", "unknown"`, "", func(r *report.Race) any { return string(r.Verdict) }, nil},
	{"confidence", "0 to 1", 0.0, func(r *report.Race) any { return r.Confidence }, nil},
	{"reason", "why the verdict was given", "", func(r *report.Race) any { return r.Reason }, nil},
	{"count", "conflicting pairs that the race stands for", 0, func(r *report.Race) any { return r.Count }, nil},
	{"kind", `of the location: "global", "heap", "stack", "tls", "mapped", "unknown"`, "", func(r *report.Race) any { return r.Location.Kind }, nil},
	{"symbol", "variable", "", func(r *report.Race) any { return r.Location.Symbol }, nil},
	{"type", "type of the variable", "", func(r *report.Race) any { return r.Location.Type }, nil},
	{"offset", "bytes from the symbol or block", 0, func(r *report.Race) any { return int(r.Location.Offset) }, nil},
	{"size", "bytes", 0, func(r *report.Race) any { return r.Location.Size }, nil},
	{"atomic", "one side at least is an atomic instruction", false, func(r *report.Race) any { return r.Accesses[0].Atomic || r.Accesses[1].Atomic }, nil},
	{"ops", `the operations of both sides: "read", "write", "update", "free"`, []string{}, func(r *report.Race) any { return []string{r.Accesses[0].Op, r.Accesses[1].Op} }, nil},
	{"functions", "every function on the stacks", []string{}, func(r *report.Race) any {
		return collect(raceStacks(r), func(f report.Frame) string { return f.Function })
	}, func(f *report.Finding) any {
		return collect(f.Stack, func(f report.Frame) string { return f.Function })
	}},
	{"files", "every source file on the stacks, without its folder", []string{}, func(r *report.Race) any { return collect(raceStacks(r), fileName) }, func(f *report.Finding) any { return collect(f.Stack, fileName) }},
	{"modules", "every program or library on the stacks, without its folder", []string{}, func(r *report.Race) any { return collect(raceStacks(r), moduleName) }, func(f *report.Finding) any { return collect(f.Stack, moduleName) }},
	{"checker", "the checker of a finding", "", nil, func(f *report.Finding) any { return f.Checker }},
	{"severity", "as configured so far", "", func(r *report.Race) any { return r.Severity }, func(f *report.Finding) any { return f.Severity }},
	{"message", "of a finding", "", nil, func(f *report.Finding) any { return f.Message }},
}

func fileName(f report.Frame) string   { return base(f.File) }
func moduleName(f report.Frame) string { return base(f.Module) }

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
