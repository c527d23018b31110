package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/racesim/racesim/report"
)

var update = flag.Bool("update", false, "write the generated parts of docs/gaps.md")

const docs = "../../docs/"

// TestReportFieldsAreDocumented compares docs/report.md with the fields of a
// report, and with the second copy of them in report_test.go.
func TestReportFieldsAreDocumented(t *testing.T) {
	var want []string
	perhaps := map[string]bool{}
	fields(reflect.TypeFor[report.Report](), "", func(path string, optional bool) {
		if strings.HasPrefix(path, "experiments[].") { // said in one row
			return
		}
		want = append(want, path)
		perhaps[path] = optional
	})
	var got []string
	_, table, _ := between(t, docs+"report.md", "<!-- fields -->\n", "<!-- /fields -->")
	for _, l := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		c := strings.Split(l, "|")
		if len(c) != 5 {
			t.Fatalf("docs/report.md: %q has %d columns", l, len(c)-2)
		}
		path := strings.Trim(c[1], " `")
		got = append(got, path)
		if (strings.TrimSpace(c[2]) == "perhaps") != perhaps[path] {
			t.Errorf("docs/report.md: %s: perhaps is %v in the program", path, perhaps[path])
		}
	}
	differ(t, "docs/report.md", got, want)

	var second, first []string
	fields(reflect.TypeFor[report.Report](), "", func(path string, _ bool) { first = append(first, path) })
	fields(reflect.TypeFor[jsonReport](), "", func(path string, _ bool) { second = append(second, path) })
	differ(t, "report_test.go", second, first)
}

// fields calls f with the path of every JSON field of a type.
func fields(t reflect.Type, path string, f func(path string, optional bool)) {
	for i := range t.NumField() {
		name, opt, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		p, e := path+name, t.Field(i).Type
		if k := e.Kind(); k == reflect.Slice || k == reflect.Array {
			p, e = p+"[]", e.Elem()
		}
		f(p, opt == "omitempty")
		if e.Kind() == reflect.Struct {
			fields(e, p+".", f)
		}
	}
}

func differ(t *testing.T, where string, got, want []string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: %s is missing", where, w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: there is no %s", where, g)
		}
	}
}

func between(t *testing.T, path, from, to string) (before, text, after string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), from)
	text, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s: no %s … %s", path, from, to)
	}
	return before + from, text, to + after
}

// TestMissingSystemCallsAreListed compares the list in docs/gaps.md with the
// rows of the table that have no implementation.
func TestMissingSystemCallsAreListed(t *testing.T) {
	before, got, after := between(t, docs+"gaps.md", "<!-- system calls -->\n", "<!-- /system calls -->")
	want := missingSyscalls(t)
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile(docs+"gaps.md", []byte(before+want+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/gaps.md lists other system calls than emulate/linux lacks: go test ./cmd/racesim -run MissingSystemCalls -update; want\n%s", want)
}

// missingSyscalls lists, from the tables of emulate/linux, the calls without an
// implementation, and those that answer otherwise than Linux.
func missingSyscalls(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("../../emulate/linux/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal("no emulate/linux")
	}
	var files []*ast.File
	consts := map[string]string{}
	for _, p := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
				if l, ok := v.Values[0].(*ast.BasicLit); ok {
					consts[v.Names[0].Name] = l.Value
				}
			}
			return true
		})
	}
	var rows []syscallRow
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CompositeLit); ok {
				if r, ok := tableRow(c, consts); ok {
					rows = append(rows, r)
				}
			}
			return true
		})
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].nr < rows[j].nr })
	because := map[string][]string{}
	var reasons, differing []string
	for _, r := range rows {
		switch {
		case !r.done:
			if because[r.note] == nil && r.note != "" {
				reasons = append(reasons, r.note)
			}
			because[r.note] = append(because[r.note], "`"+r.name+"`")
		case r.note != "":
			differing = append(differing, fmt.Sprintf("- `%s`: %s\n", r.name, r.note))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "These stop the program:\n\n")
	for _, s := range reasons {
		fmt.Fprintf(&b, "- %s: %s\n", strings.Join(because[s], ", "), s)
	}
	fmt.Fprintf(&b, "- %s: no program has needed them\n\nThese answer otherwise than Linux:\n\n%s", strings.Join(because[""], ", "), strings.Join(differing, ""))
	return b.String()
}

// A syscallRow is what matters here of a row in the table of system calls.
type syscallRow struct {
	nr         int
	name, note string
	done       bool // there is an implementation
}

func tableRow(c *ast.CompositeLit, consts map[string]string) (r syscallRow, ok bool) {
	found := 0
	for _, e := range c.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return r, false
		}
		k, ok := kv.Key.(*ast.Ident)
		if !ok {
			return r, false
		}
		v := ""
		switch x := kv.Value.(type) {
		case *ast.BasicLit:
			v = x.Value
		case *ast.Ident:
			v = consts[x.Name]
		}
		switch k.Name {
		case "nr":
			n, err := strconv.Atoi(v)
			if err != nil {
				return r, false
			}
			r.nr = n
			found++
		case "name":
			r.name = unquote(v)
			found++
		case "note":
			r.note = unquote(v)
		case "fn":
			r.done = true
		}
	}
	return r, found == 2
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}
