package report

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// rank orders verdicts by what needs attention first.
var rank = map[Verdict]int{Harmful: 0, Unknown: 1, Benign: 2, Synchronisation: 3}

// Sort orders races by harm, then confidence, then identifier; findings by
// severity.
func (r *Report) Sort() {
	sort.SliceStable(r.Races, func(i, j int) bool {
		a, b := &r.Races[i], &r.Races[j]
		if (a.Suppressed != "") != (b.Suppressed != "") {
			return a.Suppressed == ""
		}
		if rank[a.Verdict] != rank[b.Verdict] {
			return rank[a.Verdict] < rank[b.Verdict]
		}
		if a.Confidence != b.Confidence {
			return a.Confidence > b.Confidence
		}
		return a.ID < b.ID
	})
	sev := map[string]int{"error": 0, "warning": 1, "note": 2}
	sort.SliceStable(r.Findings, func(i, j int) bool {
		return sev[r.Findings[i].Severity] < sev[r.Findings[j].Severity]
	})
}

// Summarise counts verdicts and findings that aren't suppressed; it leaves
// Gate, Instructions and Threads alone.
func (r *Report) Summarise() {
	s := &r.Summary
	s.Harmful, s.Benign, s.Synchronisation, s.Unknown, s.Findings = 0, 0, 0, 0, 0
	for i := range r.Races {
		if r.Races[i].Suppressed != "" {
			continue
		}
		switch r.Races[i].Verdict {
		case Harmful:
			s.Harmful++
		case Benign:
			s.Benign++
		case Synchronisation:
			s.Synchronisation++
		default:
			s.Unknown++
		}
	}
	for i := range r.Findings {
		if r.Findings[i].Suppressed == "" {
			s.Findings++
		}
	}
}

// WriteTable writes r for a person at a terminal: one line per race, ranked by
// harm, then the details of those that matter.
func WriteTable(w io.Writer, r *Report) error {
	p := &printer{w: w}
	if len(r.Races) > 0 {
		p.overview(r)
	}
	for i := range r.Races {
		x := &r.Races[i]
		if x.Suppressed == "" && x.Verdict != Synchronisation {
			p.race(i+1, x)
		}
	}
	p.findings(r)
	for _, n := range r.Notes {
		p.f("note: %s\n", n)
	}
	s := &r.Summary
	p.f("%d harmful, %d unknown, %d benign, %d synchronisation; %s; %s instructions in %s; gate: %s\n",
		s.Harmful, s.Unknown, s.Benign, s.Synchronisation, count(s.Findings, "finding"), group(s.Instructions), count(s.Threads, "thread"), s.Gate)
	return p.err
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) overview(r *Report) {
	t := tablewriter.NewTable(p.w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off}},
		})),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoFormat(tw.Off),
	)
	t.Header([]string{"#", "verdict", "conf.", "variable", "one side", "other side", "seen"})
	for i := range r.Races {
		x := &r.Races[i]
		v := string(x.Verdict)
		if x.Suppressed != "" {
			v = "(" + v + ")"
		}
		t.Append([]string{fmt.Sprint(i + 1), v, fmt.Sprintf("%.2f", x.Confidence), x.Location.Name(),
			x.Accesses[0].short(), x.Accesses[1].short(), fmt.Sprintf("%d×", x.Count)})
	}
	if err := t.Render(); err != nil && p.err == nil {
		p.err = err
	}
	p.f("\n")
}

// Name is the location as a person would write it: conf.level, heap block+8.
func (l *Location) Name() string {
	name := l.Symbol
	switch {
	case name == "" && l.Kind == "heap":
		name = "heap block"
	case name == "" && l.Address != "":
		name = l.Kind + " " + l.Address
	case name == "":
		name = l.Kind
	}
	if l.Offset != 0 {
		name = fmt.Sprintf("%s+%d", name, l.Offset)
	}
	return name
}

func (a *Access) short() string {
	at := a.Function
	if a.File != "" {
		at = fmt.Sprintf("%s:%d", filepath.Base(a.File), a.Line)
	}
	return fmt.Sprintf("%s %s T%d", a.Op, at, a.Thread)
}

func (p *printer) race(n int, x *Race) {
	p.f("[%d] %s (%.2f): %s\n", n, strings.ToUpper(string(x.Verdict)), x.Confidence, x.Reason)
	l := &x.Location
	p.f("    on %s", l.Name())
	if l.Type != "" {
		p.f(" (%s)", l.Type)
	}
	p.f(", %s, %s\n", l.Kind, count(l.Size, "byte"))
	if len(l.AllocatedAt) > 0 {
		p.f("    allocated at\n")
		p.stack(l.AllocatedAt)
	}
	for k := range x.Accesses {
		a := &x.Accesses[k]
		atomic := ""
		if a.Atomic {
			atomic = "atomic "
		}
		p.f("    %s%s by thread %d at %s", atomic, a.Op, a.Thread, a.Position)
		if a.Value != "" {
			p.f(", value %s", a.Value)
		}
		p.f("\n")
		p.stack(a.Stack)
	}
	shown := 0
	for k := range x.Experiments {
		e := &x.Experiments[k]
		if e.Outcome == "same" && k > 0 {
			continue
		}
		if shown == 3 {
			p.f("    …and %d more experiments (--format json lists them)\n", len(x.Experiments)-k)
			break
		}
		shown++
		p.experiment(e)
	}
	p.f("    id %s\n\n", x.ID)
}

func (p *printer) experiment(e *Experiment) {
	p.f("    %s: %s", e.Mode, e.Function)
	if e.Load != "" {
		p.f(", load at %s", e.Load)
	}
	if e.Replacement != "" {
		p.f(" gets %s instead of %s (%s)", e.Replacement, e.Recorded, e.Source)
	}
	p.f(" → %s", e.Outcome)
	if e.Normal != nil {
		if *e.Normal {
			p.f(", normal (%.2f)", e.Score)
		} else {
			p.f(", abnormal (%.2f)", e.Score)
		}
	}
	if e.Detail != "" {
		p.f(": %s", e.Detail)
	}
	p.f("\n")
	for i, o := range e.Outputs {
		if i == 4 {
			p.f("        …\n")
			break
		}
		p.f("        %s: %s → %s\n", o.Name, o.Recorded, o.Reemulated)
	}
}

func (p *printer) stack(s []Frame) {
	for i, f := range s {
		if i == 8 {
			p.f("        … %s\n", count(len(s)-i, "more frame"))
			break
		}
		at := f.Module
		if f.File != "" {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		in := ""
		if f.Inlined {
			in = " (inlined)"
		}
		p.f("        %s%s  %s\n", f.Function, in, at)
	}
}

func (p *printer) findings(r *Report) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Suppressed != "" {
			continue
		}
		p.f("%s %s: %s\n", f.Severity, f.Checker, f.Message)
		p.stack(f.Stack)
		p.f("\n")
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// group writes n with thin groups of three digits: 1,234,567.
func group(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
