package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// A Rule is what SARIF calls a rule: a kind of result.
type Rule struct {
	ID, Title, Text string
}

// raceRule is the rule of all races; their verdicts are levels.
var raceRule = Rule{"data-race", "Conflicting accesses that nothing orders",
	"Two threads access the same memory, at least one of them stores, and nothing orders the two. The level is the verdict: error: harmful; warning: unknown; note: benign; none: synchronisation."}

// sourceRoot is the base that paths below the present folder are relative to.
const sourceRoot = "%SRCROOT%"

// WriteSARIF writes r as SARIF 2.1.0 (OASIS), for code scanning: a result for
// each race and each finding, with both sides, stacks, the identifier as a
// partial fingerprint, and suppressions. rules describe the checkers.
func WriteSARIF(w io.Writer, r *Report, rules []Rule) error {
	root, err := os.Getwd()
	if err != nil {
		root = ""
	}
	s := sarifWriter{root: root}
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(sarif.NewToolComponent().WithName("racesim")))
	for _, x := range append([]Rule{raceRule}, rules...) {
		run.AddRule(x.ID).WithShortDescription(text(x.Title)).WithFullDescription(text(strings.TrimSpace(x.Text)))
	}
	if root != "" {
		run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{sourceRoot: *sarif.NewArtifactLocation().WithURI(fileURI(root) + "/")}
	}
	for i := range r.Races {
		s.race(run, &r.Races[i])
	}
	for i := range r.Findings {
		s.finding(run, &r.Findings[i])
	}
	call := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, n := range r.Notes {
		call.ToolExecutionNotifications = append(call.ToolExecutionNotifications, sarif.NewNotification().WithLevel("note").WithMessage(message(n)))
	}
	run.Invocations = append(run.Invocations, call)
	out := sarif.NewReport()
	out.AddRun(run)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func text(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

func message(s string) *sarif.Message { return sarif.NewMessage().WithText(s) }

type sarifWriter struct {
	root string // of relative paths; "": there are none
}

// level is that of a race: what a rule made it, or else its verdict's.
func (x *Race) level() string {
	switch x.Severity {
	case "error", "warning", "note":
		return x.Severity
	case "off":
		return "none"
	}
	switch x.Verdict {
	case Harmful:
		return "error"
	case Unknown:
		return "warning"
	case Benign:
		return "note"
	}
	return "none"
}

func (s *sarifWriter) race(run *sarif.Run, x *Race) {
	res := run.CreateResultForRule(raceRule.ID).WithLevel(x.level())
	if res.Level == "none" {
		res.Kind = "informational"
	}
	a, b := &x.Accesses[0], &x.Accesses[1]
	res.Message = message(fmt.Sprintf("%s data race on %s: %s in %s and %s in %s. %s.", x.Verdict, x.Location.Name(),
		a.Op, a.Function, b.Op, b.Function, strings.TrimSuffix(x.Reason, ".")))
	res.PartialFingerprints = map[string]string{"racesim/v1": x.ID}
	res.OccurrenceCount = &x.Count
	if x.Confidence > 0 { // unknown claims nothing
		res.Rank = 100 * x.Confidence
	}
	res.Locations = append(res.Locations, s.access(a))
	res.RelatedLocations = append(res.RelatedLocations, s.access(b).WithID(1))
	flow := sarif.NewCodeFlow()
	for k := range x.Accesses {
		c := &x.Accesses[k]
		l := sarif.NewThreadFlowLocation().WithLocation(s.access(c))
		l.Importance = "essential"
		if len(c.Stack) > 0 {
			st := s.stack(c.Stack).WithMessage(message(fmt.Sprintf("thread %d, position %s", c.Thread, c.Position)))
			res.Stacks = append(res.Stacks, st)
			l.Stack = st
		}
		flow.AddThreadFlow(sarif.NewThreadFlow().WithID(fmt.Sprint(c.Thread)).AddLocation(l))
	}
	res.CodeFlows = append(res.CodeFlows, flow)
	if len(x.Location.AllocatedAt) > 0 {
		res.Stacks = append(res.Stacks, s.stack(x.Location.AllocatedAt).WithMessage(message("allocated at")))
	}
	res.Properties = sarif.NewPropertyBag().Add("verdict", x.Verdict).Add("confidence", x.Confidence).Add("variable", x.Location.Name())
	if x.Predicted {
		res.Properties.Add("predicted", true)
	}
	suppress(res, x.Suppressed)
}

func (s *sarifWriter) finding(run *sarif.Run, f *Finding) {
	run.AddRule(f.Checker) // a rule of the user's may be unknown to the program
	res := run.CreateResultForRule(f.Checker).WithLevel(f.Severity).WithMessage(message(f.Message))
	for i := range f.Stack {
		if fr := &f.Stack[i]; fr.File != "" {
			res.Locations = append(res.Locations, s.frame(fr))
			break
		}
	}
	if len(res.Locations) == 0 && len(f.Stack) > 0 {
		res.Locations = append(res.Locations, s.frame(&f.Stack[0]))
	}
	if len(f.Stack) > 0 {
		res.Stacks = append(res.Stacks, s.stack(f.Stack))
	}
	suppress(res, f.Suppressed)
}

func suppress(res *sarif.Result, why string) {
	if why != "" {
		res.Suppressions = append(res.Suppressions, sarif.NewSuppression().WithKind("external").WithJustification(why))
	}
}

// access is the place of one side, with what happens there.
func (s *sarifWriter) access(a *Access) *sarif.Location {
	f := a.Frame()
	l := s.frame(&f)
	what := a.Op
	if a.Atomic {
		what = "atomic " + what
	}
	return l.WithMessage(message(fmt.Sprintf("%s by thread %d", what, a.Thread)))
}

func (s *sarifWriter) stack(frames []Frame) *sarif.Stack {
	st := sarif.NewStack()
	for i := range frames {
		f := sarif.NewStackFrame().WithLocation(s.frame(&frames[i]))
		if m := frames[i].Module; m != "" {
			f.Module = &m
		}
		st.AddFrame(f)
	}
	return st
}

// frame is a place: file and line, or the module.
func (s *sarifWriter) frame(f *Frame) *sarif.Location {
	l := sarif.NewLocation().AddLogicalLocation(sarif.NewLogicalLocation().WithFullyQualifiedName(f.Function).WithKind("function"))
	file := f.File
	if file == "" {
		file = f.Module
	}
	if file == "" {
		return l
	}
	p := sarif.NewPhysicalLocation().WithArtifactLocation(s.artifact(file))
	if f.File != "" && f.Line > 0 {
		p.WithRegion(sarif.NewRegion().WithStartLine(f.Line))
	}
	return l.WithPhysicalLocation(p)
}

// artifact names a file: relative to the root if it is below it.
func (s *sarifWriter) artifact(file string) *sarif.ArtifactLocation {
	if !filepath.IsAbs(file) {
		return sarif.NewArtifactLocation().WithURI((&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()).WithURIBaseID(sourceRoot)
	}
	if rel, err := filepath.Rel(s.root, file); err == nil && s.root != "" && rel != ".." && !strings.HasPrefix(rel, "../") {
		return s.artifact(rel)
	}
	return sarif.NewArtifactLocation().WithURI(fileURI(file))
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}
