package checkers

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite tables in docs/rules.md and golden files")

func typeName(zero any) string {
	switch zero.(type) {
	case string:
		return "text"
	case int:
		return "whole number"
	case float64:
		return "number"
	case bool:
		return "true or false"
	}
	return "list of texts"
}

// TestDocsListWhatThereIs compares the tables of docs/rules.md with the code.
func TestDocsListWhatThereIs(t *testing.T) {
	var fields, kinds, all strings.Builder
	fields.WriteString("| field | of | | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range Fields {
		of := "both"
		switch {
		case f.finding == nil:
			of = "races"
		case f.race == nil:
			of = "findings"
		}
		fmt.Fprintf(&fields, "| `%s` | %s | %s | %s |\n", f.Name, of, typeName(f.zero), f.Doc)
	}
	kinds.WriteString("| over | field | | meaning |\n| --- | --- | --- | --- |\n")
	for _, k := range Kinds {
		fmt.Fprintf(&kinds, "| `%s` | | | %s |\n", k.Name, k.Doc)
		for _, f := range k.Fields[:len(k.Fields)-len(placeFields)] {
			fmt.Fprintf(&kinds, "| | `%s` | %s | %s |\n", f.Name, typeName(f.zero), f.Doc)
		}
	}
	kinds.WriteString("| all of them | | | |\n")
	for _, f := range placeFields {
		fmt.Fprintf(&kinds, "| | `%s` | %s | %s |\n", f.Name, typeName(f.zero), f.Doc)
	}
	all.WriteString("| checker | severity | what it finds | in experiments | options |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range All {
		var opts []string
		for _, o := range c.Options {
			opts = append(opts, fmt.Sprintf("`%s` (%d): %s", o.Name, o.Default, o.Doc))
		}
		fmt.Fprintf(&all, "| `%s` | %s | %s | %s | %s |\n", c.ID, c.Severity, c.Title, Worth((*Rules)(nil).Weighs(c.ID)), strings.Join(opts, "; "))
	}
	const path = "../docs/rules.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, want := range map[string]string{"fields": fields.String(), "kinds": kinds.String(), "checkers": all.String()} {
		from, to := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
		head, rest, ok := strings.Cut(text, from)
		got, tail, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Fatalf("%s: no table %s", path, name)
		}
		if got != want {
			if !*update {
				t.Errorf("%s: the table %s isn't what the code says; go test ./checkers -update", path, name)
			}
			text = head + from + want + to + tail
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRulesExampleLoads reads the file at the root and the example in the docs.
func TestRulesExampleLoads(t *testing.T) {
	if _, err := LoadRules("../rules.yaml"); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("no example in docs/rules.md")
	}
	if _, err := ParseRules("docs/rules.md", []byte(example)); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile("../rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range IDs() {
		if !strings.Contains(string(text), "\n  "+id+":") {
			t.Errorf("rules.yaml doesn't list checker %s", id)
		}
	}
}
