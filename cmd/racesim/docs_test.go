package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/report"
)

var update = flag.Bool("update", false, "write the generated part of docs/syscalls.md")

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
		if name == "-" {
			continue
		}
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

// TestSystemCallsAreListed compares docs/syscalls.md with the table.
func TestSystemCallsAreListed(t *testing.T) {
	before, got, after := between(t, docs+"syscalls.md", "<!-- system calls -->\n", "<!-- /system calls -->")
	count := map[linux.Support]int{}
	var b strings.Builder
	for _, s := range linux.Syscalls() {
		count[s.Support]++
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", s.Nr, s.Name, s.Support, strings.ReplaceAll(remark(s), "|", "\\|"))
	}
	want := fmt.Sprintf("%d supported, %d partly, %d refused, %d unsupported.\n\n| number | name | support | remark |\n|---|---|---|---|\n%s",
		count[linux.Supported], count[linux.Partly], count[linux.Refused], count[linux.NotSupported], b.String())
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile(docs+"syscalls.md", []byte(before+want+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/syscalls.md differs from the table in emulate/linux: go test ./cmd/racesim -run SystemCalls -update")
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}
