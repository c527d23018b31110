package checkers

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/racesim/racesim/report"
)

// A query is a checker that the user defined: a condition over everything of
// one kind that an execution shows.
type query struct {
	id, title, text string
	kind            *Kind
	when            *vm.Program
	message         *vm.Program // nil: the title
	severity        string
	line            int
}

// A Kind is what queries can look at.
type Kind struct {
	Name, Doc string
	Fields    []KindField
	items     func(*Facts) []item
}

// A KindField is a name that conditions of a query of that kind may use.
type KindField struct {
	Name, Doc string
	zero      any
}

// An item is one thing of a kind.
type item struct {
	env      map[string]any
	thread   uint32
	position string
	stack    []report.Frame
}

// placeFields are those of all kinds that have a call stack.
var placeFields = []KindField{
	{"thread", "number of the thread", 0},
	{"function", "innermost function on the stack", ""},
	{"functions", "every function on the stack", []string{}},
	{"files", "every source file on the stack, without its folder", []string{}},
	{"modules", "every program or library on the stack, without its folder", []string{}},
	{"lines", "every place on the stack, as file:line", []string{}},
}

func placeEnv(thread uint32, s []report.Frame, rest map[string]any) map[string]any {
	rest["thread"] = int(thread)
	rest["function"] = ""
	if len(s) > 0 {
		rest["function"] = s[0].Function
	}
	rest["functions"] = collect(s, func(f report.Frame) string { return f.Function })
	rest["files"] = collect(s, fileName)
	rest["modules"] = collect(s, moduleName)
	rest["lines"] = collect(s, lineName)
	return rest
}

func withPlace(fs ...KindField) []KindField { return append(fs, placeFields...) }

// Kinds lists what queries can look at.
var Kinds = []*Kind{
	{"blocks", "heap blocks that are allocated at the end, those of one call path together; the stack is that of the allocation",
		withPlace(
			KindField{"bytes", "of all of them", 0},
			KindField{"count", "number of blocks", 0},
			KindField{"reachable", "something points to them", false}),
		func(f *Facts) (out []item) {
			for i := range f.Lost {
				b := &f.Lost[i]
				out = append(out, item{placeEnv(b.Thread, b.AllocatedAt, map[string]any{"bytes": int(b.Size), "count": b.Count, "reachable": b.Reachable}), b.Thread, b.Position, b.AllocatedAt})
			}
			return out
		}},
	{"locks", "pairs of locks of which one was taken while the other was held; the stack is that of the taking",
		withPlace(
			KindField{"held", "the lock that was held", ""},
			KindField{"taken", "the lock that was taken", ""},
			KindField{"shared", "it was taken as one of many readers", false},
			KindField{"holders", "every function on the stack where the held one was taken", []string{}}),
		func(f *Facts) (out []item) {
			for i := range f.Pairs {
				e := &f.Pairs[i]
				out = append(out, item{placeEnv(e.Thread, e.ToStack, map[string]any{"held": e.FromName, "taken": e.ToName, "shared": e.ToShared,
					"holders": collect(e.FromStack, func(f report.Frame) string { return f.Function })}), e.Thread, e.Position, e.ToStack})
			}
			return out
		}},
	{"threads", "threads that were created; the stack is that of the creation, thread the one that made it",
		withPlace(
			KindField{"id", "number of the new thread", 0},
			KindField{"joined", "somebody waited for its end", false},
			KindField{"detached", "nobody may", false},
			KindField{"ended", "before the program did", false}),
		func(f *Facts) (out []item) {
			for i := range f.Threads {
				t := &f.Threads[i]
				out = append(out, item{placeEnv(t.Parent, t.Created, map[string]any{"id": int(t.ID), "joined": t.Joined, "detached": t.Detached, "ended": t.Ended}), t.Parent, t.Position, t.Created})
			}
			return out
		}},
	{"descriptors", "descriptors that are open at the end; the stack is that of the opening",
		withPlace(
			KindField{"fd", "its number", 0},
			KindField{"call", "the system call that opened it", ""}),
		func(f *Facts) (out []item) {
			for i := range f.Open {
				o := &f.Open[i]
				out = append(out, item{placeEnv(o.Thread, o.Opened, map[string]any{"fd": o.FD, "call": o.Call}), o.Thread, o.Position, o.Opened})
			}
			return out
		}},
	{"calls", "calls that the program's own code makes, once for each call path; the stack is that of the caller",
		withPlace(
			KindField{"callee", "the function called", ""},
			KindField{"library", "the callee is of the C or C++ library or another run-time", false},
			KindField{"handler", "a signal handler is under way", false}),
		func(f *Facts) (out []item) {
			for i := range f.Calls {
				c := &f.Calls[i]
				out = append(out, item{placeEnv(c.Thread, c.Stack, map[string]any{"callee": c.Callee, "library": c.Library, "handler": c.Handler}), c.Thread, "", c.Stack})
			}
			return out
		}},
}

func kindByName(name string) *Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

func kindNames() []string {
	var out []string
	for _, k := range Kinds {
		out = append(out, k.Name)
	}
	return out
}

func (k *Kind) env() map[string]any {
	m := map[string]any{}
	for _, f := range k.Fields {
		m[f.Name] = f.zero
	}
	return m
}

func (k *Kind) fieldNames() []string {
	var out []string
	for _, f := range k.Fields {
		out = append(out, f.Name)
	}
	return out
}

// Wants says whether a query looks at a kind. r may be nil.
func (r *Rules) Wants(kind string) bool {
	if r != nil {
		for i := range r.queries {
			if r.queries[i].kind.Name == kind && r.queries[i].severity != "off" {
				return true
			}
		}
	}
	return false
}

// run returns what a query finds, one finding for each place.
func (q *query) run(path string, f *Facts) ([]report.Finding, error) {
	var out []report.Finding
	seen := map[string]bool{}
	for _, x := range q.kind.items(f) {
		hit, err := expr.Run(q.when, x.env)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: condition: %s", path, q.line, firstLine(err))
		}
		if !hit.(bool) {
			continue
		}
		msg := q.title
		if q.message != nil {
			v, err := expr.Run(q.message, x.env)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: message: %s", path, q.line, firstLine(err))
			}
			msg = v.(string)
		}
		k := msg + "|" + stackKey(x.stack)
		if seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, report.Finding{Checker: q.id, Severity: q.severity, Message: msg, Thread: x.thread, Position: x.position, Stack: x.stack})
	}
	return out, nil
}

// Queries runs the checkers that a rules file defines. rules may be nil. An
// error names the line of a condition that can't be evaluated.
func Queries(f *Facts, rules *Rules) ([]report.Finding, error) {
	if rules == nil {
		return nil, nil
	}
	var out []report.Finding
	for i := range rules.queries {
		if rules.queries[i].severity == "off" {
			continue
		}
		fs, err := rules.queries[i].run(rules.Path, f)
		if err != nil {
			return nil, err
		}
		out = append(out, fs...)
	}
	return out, nil
}

// A Defined is a checker of a rules file, for `racesim explain`.
type Defined struct{ ID, Title, Text, Severity, Over string }

// Defined lists the checkers of a rules file.
func (r *Rules) Defined() []Defined {
	if r == nil {
		return nil
	}
	var out []Defined
	for _, q := range r.queries {
		out = append(out, Defined{q.id, q.title, q.text, q.severity, q.kind.Name})
	}
	return out
}

func firstLine(err error) string {
	msg, _, _ := strings.Cut(err.Error(), "\n")
	return msg
}
