package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// WriteTable writes r for a person at a terminal: what it comes to, one line
// per race, ranked by harm, then the details of those that matter.
func WriteTable(w io.Writer, r *Report) error {
	p := &printer{w: w}
	if len(r.Races) > 0 {
		p.f("%s\n\n", headline(r))
		p.overview(r)
	}
	n := 0
	for i := range r.Races {
		x := &r.Races[i]
		first, others := r.lead(i)
		if !first {
			continue
		}
		n++
		if x.Suppressed == "" && x.Verdict != Synchronisation {
			p.race(n, x, r, others)
		}
	}
	p.asked(r)
	p.findings(r)
	for _, n := range r.Notes {
		p.f("note: %s\n", n)
	}
	s := &r.Summary
	p.f("%d harmful, %d unknown, %d benign, %d synchronisation; %s; %s instructions in %s", s.Harmful, s.Unknown, s.Benign, s.Synchronisation,
		count(s.Findings, "finding"), group(s.Instructions), count(s.Threads, "thread"))
	if s.Runs > 1 {
		p.f(" and %d runs", s.Runs)
	}
	p.f("; gate: %s\n", s.Gate)
	return p.err
}

// headline says in a few words what a report with races comes to.
func headline(r *Report) string {
	s := &r.Summary
	switch {
	case s.Harmful > 0 && s.Unknown > 0:
		return fmt.Sprintf("%s%s, %d more that may be", count(s.Harmful, "harmful race"), r.of(Harmful, s.Harmful), s.Unknown)
	case s.Harmful > 0:
		return count(s.Harmful, "harmful race") + r.of(Harmful, s.Harmful)
	case s.Unknown > 0:
		return fmt.Sprintf("no race known to be harmful, %d that may be", s.Unknown)
	case s.Benign > 0:
		return fmt.Sprintf("no harmful race; %s", count(s.Benign, "benign one"))
	}
	return "no race"
}

// of says how many causes the n races with a verdict have, if they are fewer.
func (r *Report) of(v Verdict, n int) string {
	causes := map[string]bool{}
	for i := range r.Races {
		if x := &r.Races[i]; x.Verdict == v && x.Suppressed == "" {
			causes[x.Cause] = true
		}
	}
	switch len(causes) {
	case n, 0:
		return ""
	case 1:
		return " of one cause"
	}
	return fmt.Sprintf(" of %d causes", len(causes))
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

// maxMembers bounds the races of one cause that are listed beside the first.
const maxMembers = 4

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
	head := []string{"#", "verdict", "variable", "one side", "other side", "what happens"}
	if r.Summary.Runs > 1 {
		head = append(head, "runs")
	}
	t.Header(head)
	n, left := 0, 0
	for i := range r.Races {
		x := &r.Races[i]
		first, others := r.lead(i)
		number := ""
		if first {
			n++
			number, left = fmt.Sprint(n), maxMembers
		} else if left--; left < 0 {
			if left == -1 {
				t.Append([]string{"", fmt.Sprintf("… %d more", len(others)-maxMembers)})
			}
			continue
		}
		v := string(x.Verdict)
		switch {
		case x.Suppressed != "":
			v = "(" + v + ")"
		case x.Verdict == Harmful:
			v = "HARMFUL"
		}
		row := []string{number, v, short(x.Location.Name(), 32), x.Accesses[0].short(), x.Accesses[1].short(), short(x.effect(), 44)}
		if r.Summary.Runs > 1 {
			row = append(row, fmt.Sprintf("%d of %d", x.Seen, r.Summary.Runs))
		}
		t.Append(row)
	}
	if err := t.Render(); err != nil && p.err == nil {
		p.err = err
	}
	p.f("\n")
}

// short cuts a text to n characters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// telling is the experiment that decided about a race: the first that shows
// what the race does, nil if none does.
func (x *Race) telling() *Experiment {
	if x.byChecker() {
		var first *Experiment
		for i := range x.Experiments {
			e := &x.Experiments[i]
			if len(e.Checkers) > 0 && (first == nil || first.Source != "interleaving" && e.Source == "interleaving") {
				first = e
			}
		}
		if first != nil {
			return first
		}
	}
	for _, outcomes := range []string{"not-serialisable", "crash hang different"} {
		for i := range x.Experiments {
			if e := &x.Experiments[i]; strings.Contains(outcomes, e.Outcome) {
				return e
			}
		}
	}
	return nil
}

// byChecker says that what a checker finds in one order only decided.
func (x *Race) byChecker() bool { return x.Evidence == "checker" || x.Evidence == "warning" }

// effect says in a few words what a race does.
func (x *Race) effect() string {
	switch x.Verdict {
	case Synchronisation:
		return "one side waits for the other"
	case Benign:
		for i := range x.Experiments {
			if e := &x.Experiments[i]; e.Source == "interleaving" && e.Outcome == "different" {
				return "always as in one of the two orders"
			}
		}
		return "same result in every order tried"
	case Harmful:
		if e := x.telling(); e != nil && e.Outcome == "not-serialisable" && len(e.Outputs) > 0 {
			o := &e.Outputs[0]
			return fmt.Sprintf("%s: %s instead of %s", o.Name, o.Reemulated, o.Recorded)
		}
		for _, c := range x.Checkers {
			if x.byChecker() && strings.Contains(x.Reason, c.What) {
				return "in one order only: " + c.What
			}
		}
	}
	return x.Reason
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
	if l.Kind == "mapped" {
		name = filepath.Base(name)
	}
	if l.Object != "" {
		return name + l.Member
	}
	if plus := fmt.Sprintf("+%d", l.Offset); l.Offset != 0 && !strings.HasSuffix(name, plus) {
		name += plus
	}
	return name
}

// short is what an access did and where. A function's name says more than an
// offset.
func (a *Access) short() string {
	f := a.Frame()
	if f.File == "" && !f.Unnamed() {
		return a.Op + " " + f.Function
	}
	return a.Op + " " + f.Place()
}

func (p *printer) race(n int, x *Race, r *Report, others []int) {
	runs := r.Summary.Runs
	l := &x.Location
	p.f("[%d] %s", n, strings.ToUpper(string(x.Verdict)))
	if x.Confidence > 0 {
		p.f(" (%.2f)", x.Confidence)
	}
	p.f(": %s", l.Name())
	if l.Type != "" {
		p.f(" (%s)", l.Type)
	}
	p.f(", %s, %s", l.Kind, count(l.Size, "byte"))
	if l.Object != "" {
		p.f(", in a block of %s", l.Object)
	}
	p.f("\n")
	p.f("    why: %s\n", x.Reason)
	if c := r.cause(x); c != nil && c.What != "" {
		p.f("    cause: %s\n", c.What)
	}
	if x.Predicted {
		p.f("    when: not in this run, in which the critical sections came in an order that kept the two apart\n")
	}
	p.witness(x.Witness)
	for k := range x.Accesses {
		p.access(&x.Accesses[k])
	}
	if len(l.AllocatedAt) > 0 {
		p.f("    allocated%s at\n", by(l.AllocatedBy))
		p.stack(l.AllocatedAt)
	}
	if len(l.FreedAt) > 0 {
		p.f("    freed%s at\n", by(l.FreedBy))
		p.stack(l.FreedAt)
	}
	for _, c := range x.Checkers {
		p.f("    checker %s, in %s: %s\n", c.Change, count(c.Runs, "execution"), c.What)
	}
	p.experiments(x)
	p.members(x, r, others)
	p.f("    id %s, %s", x.ID, count(x.Count, "conflict"))
	if runs > 1 {
		p.f(" in %d of %d runs", x.Seen, runs)
		p.run(x, r)
	}
	p.f("\n\n")
}

// run says which of several recordings a race is told from, and what the others
// say.
func (p *printer) run(x *Race, r *Report) {
	var vs []string
	for _, v := range []Verdict{Harmful, Unknown, Benign, Synchronisation} {
		if n := x.Verdicts[v]; n > 0 {
			vs = append(vs, fmt.Sprintf("%s in %d", v, n))
		}
	}
	if len(vs) > 0 {
		p.f(" (%s)", strings.Join(vs, ", "))
	}
	if x.Run < 1 || x.Run > len(r.Runs) {
		return
	}
	q := &r.Runs[x.Run-1]
	p.f("; this is run %d", x.Run)
	if q.Trace != "" {
		p.f(", %s", q.Trace)
	} else {
		p.f(", record --seed %d --schedule %s", q.Seed, q.Schedule)
	}
}

// members lists the other races with the cause of x.
func (p *printer) members(x *Race, r *Report, others []int) {
	for n, i := range others {
		if n == 2*maxMembers {
			p.f("    … %s\n", count(len(others)-n, "more race"))
			break
		}
		y := &r.Races[i]
		p.f("    also %s: %s, %s and %s; id %s, %s\n", y.Verdict, y.Location.Name(), y.Accesses[0].short(), y.Accesses[1].short(), y.ID, count(y.Count, "conflict"))
	}
}

func (p *printer) access(a *Access) {
	p.f("    %s: ", a.who())
	if a.Atomic {
		p.f("atomic ")
	}
	p.f("%s in %s, %s", a.Op, a.Function, a.Place())
	if a.Value != "" {
		p.f(", value %s", a.Value)
	}
	if len(a.Locks) > 0 {
		p.f(", holding %s", strings.Join(a.Locks, ", "))
	}
	p.f(", position %s\n", a.Position)
	if a.Code != "" {
		p.f("        > %s\n", a.Code)
	}
	if a.Moved > 0 {
		p.f("        in the recording, others changed these bytes %s between this section's accesses\n", count(a.Moved, "time"))
	}
	p.stack(a.Stack)
	if s := inner(a.CreatedAt); len(s) > 0 {
		p.f("      created by %s: %s\n", a.creator(), path(s))
	}
}

// who names the thread of an access.
func (a *Access) who() string {
	s := fmt.Sprintf("thread %d", a.Thread)
	if a.Goroutine != 0 {
		s = fmt.Sprintf("goroutine %d on %s", a.Goroutine, s)
	}
	if a.Task != 0 {
		s = fmt.Sprintf("task %d on %s", a.Task, s)
	}
	if a.ThreadName != "" {
		s += " (" + a.ThreadName + ")"
	}
	return s
}

// creator names who created it.
func (a *Access) creator() string {
	if a.Goroutine != 0 {
		return fmt.Sprintf("goroutine %d", a.CreatedBy)
	}
	return fmt.Sprintf("thread %d", a.CreatedBy)
}

// by names a thread that did something.
func by(thread uint32) string {
	if thread == 0 {
		return ""
	}
	return fmt.Sprintf(" by thread %d", thread)
}

// path is a stack on one line, innermost first.
func path(s []Frame) string {
	var out []string
	for i, f := range s {
		if i == 4 {
			out = append(out, "…")
			break
		}
		at := f.Place()
		if at != f.Function {
			at = f.Function + " " + at
		}
		out = append(out, at)
	}
	return strings.Join(out, " ← ")
}

// experiments shows the one that decided, then up to two more that changed
// something.
func (p *printer) experiments(x *Race) {
	told := x.telling()
	if told == nil && len(x.Experiments) > 0 {
		told = &x.Experiments[len(x.Experiments)-1]
	}
	if told == nil {
		return
	}
	p.experiment(told)
	shown := 1
	for k := range x.Experiments {
		e := &x.Experiments[k]
		// Values that nobody ever stored there are for those who ask.
		invented := e.Source == "boundary" || e.Source == "random"
		if e != told && e.Outcome != "same" && !invented && shown < 3 {
			p.experiment(e)
			shown++
		}
	}
	if n := len(x.Experiments) - shown; n > 0 {
		p.f("    %s in the JSON report\n", count(n, "more experiment"))
	}
	if len(x.LeftOut) > 0 {
		p.f("    the budget left out %s\n", strings.Join(x.LeftOut, "; "))
	}
}

// asked prints the experiments that belong to no race.
func (p *printer) asked(r *Report) {
	if len(r.Experiments) == 0 {
		return
	}
	p.f("what you asked for, on loads that don't race\n")
	for k := range r.Experiments {
		p.experiment(&r.Experiments[k])
	}
	p.f("\n")
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
	for _, c := range e.Checkers {
		p.f(", %s", c)
	}
	if e.Normal != nil {
		if *e.Normal {
			p.f(", normal (%.2f)", e.Score)
		} else {
			p.f(", abnormal (%.2f)", e.Score)
		}
	}
	p.f("\n")
	if e.Trace != "" {
		p.f("        saved as %s\n", e.Trace)
	}
	if e.Detail != "" {
		p.f("        %s\n", e.Detail)
	}
	if e.Outcome == "same" {
		return
	}
	for i, o := range e.Outputs {
		if i == 4 {
			p.f("        …\n")
			break
		}
		p.f("        %s: %s → %s\n", o.Name, o.Recorded, o.Reemulated)
	}
}

// outermost are functions that every thread starts with.
var outermost = map[string]bool{"start_thread": true, "clone": true, "clone3": true, "__clone": true, "__clone3": true,
	"__libc_start_call_main": true, "__libc_start_main": true, "__libc_start_main_impl": true, "_start": true}

// inner leaves out the frames with which every thread starts.
func inner(s []Frame) []Frame {
	for i := range s {
		if i > 0 && outermost[s[i].Function] {
			return s[:i]
		}
	}
	return s
}

func (p *printer) stack(s []Frame) {
	lines := fold(s)
	for i := 0; i < len(lines); i++ {
		if i == 8 && len(lines) > 12 {
			p.f("        … %s\n", count(len(lines)-i-3, "more frame"))
			i = len(lines) - 3
		}
		f := &lines[i]
		if folded := f.Folded(); folded != "" {
			p.f("        … %s\n", folded)
			continue
		}
		at := f.Place()
		if f.File != "" {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		} else if f.Offset == "" {
			at = f.Module
		}
		in := ""
		switch {
		case f.Interrupted:
			in = " (interrupted by a signal)"
		case f.Inlined:
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
		for _, o := range f.Related {
			p.f("    %s", o.What)
			if o.Thread != 0 {
				p.f(" by thread %d", o.Thread)
			}
			p.f("\n")
			p.stack(o.Stack)
		}
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
