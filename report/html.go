package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"figure":  func(x *Race) template.HTML { return x.figure() },
	"trial":   func(e Experiment) template.HTML { return e.figure() },
	"place":   func(f Frame) string { return f.Place() },
	"upper":   func(v Verdict) string { return strings.ToUpper(string(v)) },
	"percent": func(p float64) string { return fmt.Sprintf("%.0f", 100*p) },
	"name":    func(x *Race) string { return x.Location.Name() },
	"at":      func(a Access) string { return a.Place() },
	"who":     func(a Access) string { return a.who() },
	"creator": func(a Access) string { return a.creator() },
	"path":    func(s []Frame) string { return path(inner(s)) },
	"by":      by,
	"join":    func(s []string) string { return strings.Join(s, ", ") },
	"what":    what,
	"inc":     func(i int) int { return i + 1 },
	"group":   group,
	"shown":   func(x *Race) []Experiment { return x.shown() },
	"stack":   fold,
}).Parse(pageText))

// WriteHTML writes r as one page that needs nothing else: for each race both
// sides with their code, what was executed again, and figures of how it goes
// wrong.
func WriteHTML(w io.Writer, r *Report) error {
	c := htmlPage{Report: r}
	for i := range r.Races {
		c.Judged = append(c.Judged, &r.Races[i])
	}
	return page.Execute(w, c)
}

// An htmlPage is what the page is made from.
type htmlPage struct {
	*Report
	Judged []*Race
}

// Why is what several races have in common with x, "" if that isn't known.
func (p htmlPage) Why(x *Race) string {
	if c := p.cause(x); c != nil {
		return c.What
	}
	return ""
}

// shown lists a race's experiments, the one that decided first.
func (x *Race) shown() []Experiment {
	told := x.telling()
	var out []Experiment
	if told != nil {
		out = append(out, *told)
	}
	for i := range x.Experiments {
		if e := &x.Experiments[i]; e != told {
			out = append(out, *e)
		}
	}
	return out
}
