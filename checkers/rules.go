package checkers

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
	"gopkg.in/yaml.v3"

	"github.com/racesim/racesim/report"
)

// RulesVersion is the version of rules files that this program reads.
const RulesVersion = 1

// Severities in falling order.
var Severities = []string{"error", "warning", "note", "off"}

// Rules is a rules file, checked and compiled.
type Rules struct {
	Path     string
	checkers map[string]Setting
	queries  []query
	rules    []rule
	suppress []rule
}

// A Setting configures one checker.
type Setting struct {
	Severity string // error, warning, note, off; "" keeps the checker's own
	Options  map[string]int64
}

type rule struct {
	id, description string
	when            *vm.Program
	severity        string
	fail            *bool
	reason          string
	line            int
}

// LoadRules reads a rules file. An error has the form
// "rules.yaml:12: what is wrong; what to do".
func LoadRules(path string) (*Rules, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return ParseRules(path, b)
}

// ParseRules reads the text of a rules file; path is for messages.
func ParseRules(path string, text []byte) (*Rules, error) {
	r := &Rules{Path: path, checkers: map[string]Setting{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s:1: empty; a rules file starts with \"version: %d\"", path, RulesVersion)
	}
	p := &parser{path: path, rules: r}
	p.file(doc.Content[0])
	if p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// parser walks the YAML tree; the first error stays.
type parser struct {
	path  string
	rules *Rules
	err   error
}

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %s", p.path, n.Line, fmt.Sprintf(format, args...))
	}
}

// fields calls f for every key of a mapping; unknown and repeated keys are errors.
func (p *parser) fields(n *yaml.Node, what string, known []string, f func(key string, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s must be a mapping with the keys %s", what, strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case known != nil && !slices.Contains(known, k.Value):
			p.fail(k, "unknown key %q in %s; %s", k.Value, what, meant(k.Value, known))
			return
		case seen[k.Value]:
			p.fail(k, "key %q twice in %s", k.Value, what)
			return
		}
		seen[k.Value] = true
		f(k.Value, n.Content[i+1])
	}
}

func (p *parser) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		p.fail(n, "%s must be a text that isn't empty", what)
	}
	return n.Value
}

func (p *parser) severity(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || !slices.Contains(Severities, n.Value) {
		p.fail(n, "severity %q; %s", n.Value, meant(n.Value, Severities))
	}
	return n.Value
}

func (p *parser) file(n *yaml.Node) {
	version := false
	p.fields(n, "the rules file", []string{"version", "checkers", "queries", "rules", "suppress"}, func(key string, v *yaml.Node) {
		switch key {
		case "version":
			version = true
			if v.Value != fmt.Sprint(RulesVersion) {
				p.fail(v, "version %q; this program reads version %d", v.Value, RulesVersion)
			}
		case "checkers":
			p.settings(v)
		case "queries":
			p.queries(v)
		case "rules":
			p.rules.rules = p.list(v, "a rule", []string{"id", "description", "when", "severity", "fail"})
		case "suppress":
			p.rules.suppress = p.list(v, "a suppression", []string{"id", "when", "reason"})
		}
	})
	if !version {
		p.fail(n, "no version; add \"version: %d\"", RulesVersion)
	}
}

func (p *parser) settings(n *yaml.Node) {
	if n.Tag == "!!null" {
		return
	}
	p.fields(n, "checkers", nil, func(id string, v *yaml.Node) {
		c := ByID(id)
		if c == nil {
			p.fail(v, "unknown checker %q; %s", id, meant(id, IDs()))
			return
		}
		var s Setting
		p.fields(v, "checker "+id, []string{"severity", "options"}, func(key string, v *yaml.Node) {
			if key == "severity" {
				s.Severity = p.severity(v)
				return
			}
			s.Options = map[string]int64{}
			p.fields(v, "options of "+id, c.optionNames(), func(key string, v *yaml.Node) {
				var x int64
				if err := v.Decode(&x); err != nil {
					p.fail(v, "option %s of %s must be a whole number", key, id)
				}
				s.Options[key] = x
			})
		})
		p.rules.checkers[id] = s
	})
}

func (p *parser) list(n *yaml.Node, what string, known []string) []rule {
	if n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "must be a list, each with the keys %s", strings.Join(known, ", "))
		return nil
	}
	var out []rule
	for _, item := range n.Content {
		r := rule{line: item.Line}
		p.fields(item, what, known, func(key string, v *yaml.Node) {
			switch key {
			case "id":
				r.id = p.text(v, "id")
			case "description":
				r.description = p.text(v, "description")
			case "reason":
				r.reason = p.text(v, "reason")
			case "severity":
				r.severity = p.severity(v)
			case "fail":
				var b bool
				if err := v.Decode(&b); err != nil {
					p.fail(v, "fail must be true or false")
				}
				r.fail = &b
			case "when":
				r.when = p.condition(v)
			}
		})
		switch {
		case p.err != nil:
		case what == "a suppression" && r.reason == "":
			p.fail(item, "a suppression needs a reason")
		case what == "a rule" && r.id == "":
			p.fail(item, "a rule needs an id")
		case r.when == nil && what == "a suppression" && r.id != "":
			// A suppression by the race's or finding's identifier alone.
			// The first part of an identifier stands for all that begin so.
			r.when, _ = compile(fmt.Sprintf("id == %q || id startsWith %q", r.id, r.id+"-"))
		case r.when == nil:
			p.fail(item, "%s needs a condition (when)", what)
		}
		out = append(out, r)
	}
	return out
}

// queries reads checkers of the user's own.
func (p *parser) queries(n *yaml.Node) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "queries must be a list")
		return
	}
	seen := map[string]bool{}
	for _, item := range n.Content {
		q := query{severity: "warning", line: item.Line}
		var when, message *yaml.Node
		p.fields(item, "a query", []string{"id", "title", "text", "over", "when", "message", "severity"}, func(key string, v *yaml.Node) {
			switch key {
			case "id":
				q.id = p.text(v, "id")
				switch {
				case ByID(q.id) != nil:
					p.fail(v, "id %q is that of a built-in checker", q.id)
				case seen[q.id]:
					p.fail(v, "id %q twice", q.id)
				}
				seen[q.id] = true
			case "title":
				q.title = p.text(v, "title")
			case "text":
				q.text = p.text(v, "text")
			case "over":
				if q.kind = kindByName(v.Value); q.kind == nil {
					p.fail(v, "unknown kind %q; %s", v.Value, meant(v.Value, kindNames()))
				}
			case "when":
				when = v
			case "message":
				message = v
			case "severity":
				q.severity = p.severity(v)
			}
		})
		switch {
		case p.err != nil:
			return
		case q.id == "":
			p.fail(item, "a query needs an id")
		case q.title == "":
			p.fail(item, "a query needs a title")
		case q.kind == nil:
			p.fail(item, "a query needs to say what it looks at (over): %s", strings.Join(kindNames(), ", "))
		case when == nil:
			p.fail(item, "a query needs a condition (when)")
		default:
			q.when = p.expression(when, "condition", q.kind.env(), q.kind.fieldNames(), nil, expr.AsBool())
			if message != nil {
				q.message = p.expression(message, "message", q.kind.env(), q.kind.fieldNames(), nil, expr.AsKind(reflect.String))
			}
		}
		p.rules.queries = append(p.rules.queries, q)
	}
}

// condition compiles a condition over races and findings.
func (p *parser) condition(n *yaml.Node) *vm.Program {
	return p.expression(n, "condition", emptyEnv(), FieldNames(), fieldValues(), expr.AsBool())
}

// Where the expression library says that it found what is wrong, and what.
var (
	exprPlace   = regexp.MustCompile(` \((\d+):(\d+)\)$`)
	exprUnknown = regexp.MustCompile(`^unknown name (\S+)`)
)

// expression compiles an expression over the given fields. Constants that a
// field is compared with must be among its values.
func (p *parser) expression(n *yaml.Node, what string, env map[string]any, names []string, values map[string][]string, as expr.Option) *vm.Program {
	text := p.text(n, what)
	if p.err != nil {
		return nil
	}
	check := &constants{values: values}
	prog, err := expr.Compile(text, expr.Env(env), as, expr.Patch(check))
	if err == nil && check.wrong == "" {
		return prog
	}
	at := *n
	msg := check.wrong
	if err != nil {
		msg = firstLine(err)
		if m := exprPlace.FindStringSubmatch(msg); m != nil {
			msg = strings.TrimSuffix(msg, m[0])
			if line, _ := strconv.Atoi(m[1]); n.Style&yaml.LiteralStyle != 0 {
				at.Line += line // the text begins on the line after the mark
			}
		}
		if m := exprUnknown.FindStringSubmatch(msg); m != nil {
			msg += "; " + meant(m[1], names)
		}
	}
	shown := strings.Join(strings.Fields(text), " ")
	if len(shown) > 80 {
		shown = shown[:80] + "…"
	}
	p.fail(&at, "%s %q: %s", what, shown, msg)
	return nil
}

// constants looks for comparisons of a field with a text that it never is.
type constants struct {
	values map[string][]string
	wrong  string
}

// Visit serves ast.Visitor.
func (c *constants) Visit(node *ast.Node) {
	b, ok := (*node).(*ast.BinaryNode)
	if !ok || c.wrong != "" {
		return
	}
	switch b.Operator {
	case "==", "!=":
		c.compare(b.Left, b.Right)
		c.compare(b.Right, b.Left)
	case "in":
		c.compare(b.Left, b.Right)
		c.compare(b.Right, b.Left) // a constant in a list that is a field
	}
}

func (c *constants) compare(field, with ast.Node) {
	id, ok := field.(*ast.IdentifierNode)
	if !ok || c.values[id.Value] == nil {
		return
	}
	say := func(v string) {
		if !slices.Contains(c.values[id.Value], v) && c.wrong == "" {
			c.wrong = fmt.Sprintf("%s is never %q; %s", id.Value, v, meant(v, c.values[id.Value]))
		}
	}
	switch x := with.(type) {
	case *ast.StringNode:
		say(x.Value)
	case *ast.ArrayNode:
		for _, e := range x.Nodes {
			if t, ok := e.(*ast.StringNode); ok {
				say(t.Value)
			}
		}
	}
}

func compile(cond string) (*vm.Program, error) {
	return expr.Compile(cond, expr.Env(emptyEnv()), expr.AsBool())
}

// Setting returns how the file configures checker id.
func (r *Rules) Setting(id string) Setting {
	if r == nil {
		return Setting{}
	}
	return r.checkers[id]
}

// Apply lets the rules and suppressions mark the report's races and findings.
// A condition that fails while it is evaluated is an error that names its line.
func (r *Rules) Apply(rep *report.Report) error {
	if r == nil {
		return nil
	}
	for i := range rep.Races {
		x := &rep.Races[i]
		env := raceEnv(x)
		if err := r.apply(env, &x.Severity, &x.Fail, &x.Suppressed); err != nil {
			return err
		}
	}
	kept := rep.Findings[:0]
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if s := r.Setting(f.Checker).Severity; s != "" {
			f.Severity = s
		}
		if err := r.apply(findingEnv(f), &f.Severity, &f.Fail, &f.Suppressed); err != nil {
			return err
		}
		if f.Severity != "off" {
			kept = append(kept, *f)
		}
	}
	rep.Findings = kept
	return nil
}

func (r *Rules) apply(env map[string]any, severity *string, fail **bool, suppressed *string) error {
	for i := range r.rules {
		q := &r.rules[i]
		hit, err := q.matches(r.Path, env)
		if err != nil {
			return err
		}
		if hit {
			if q.severity != "" {
				*severity = q.severity
			}
			if q.fail != nil {
				*fail = q.fail
			}
		}
	}
	for i := range r.suppress {
		q := &r.suppress[i]
		hit, err := q.matches(r.Path, env)
		if err != nil {
			return err
		}
		if hit {
			*suppressed = q.reason
		}
	}
	return nil
}

func (q *rule) matches(path string, env map[string]any) (bool, error) {
	v, err := expr.Run(q.when, env)
	if err != nil {
		return false, fmt.Errorf("%s:%d: condition: %s", path, q.line, firstLine(err))
	}
	return v.(bool), nil
}
