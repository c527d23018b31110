package checkers

import (
	"slices"
	"strings"

	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// Experiments execute two racing sections again, in other orders or with other
// values. The checkers run over these executions, too. What one finds in some of
// them only is evidence in the verdict of the race.

// An Again says what a checker does with sections that are executed again.
type Again struct {
	// Text says what it looks for there, and with what it is compared.
	Text string
	// Inside: it is found while the sections execute, not by what they did in all.
	Inside bool
	// Places: it is about places in the program, not about what happens there. One
	// that the recording shows anyway is nothing new.
	Places bool
	// Tips: its finding alone makes no race harmful. It decides between two orders
	// of which nothing else says that one is wrong.
	Tips bool
}

// Worth says in a few words what findings of that weight are good for.
func Worth(w loadsub.Weight) string {
	switch w {
	case loadsub.Decides:
		return "decides"
	case loadsub.Tips:
		return "tips the balance"
	case loadsub.Shown:
		return "is shown"
	}
	return "isn't looked for"
}

// Weighs says what findings of a checker, built-in or of the rules, are good for
// in experiments. Those that are errors decide, notes don't. r may be nil.
func (r *Rules) Weighs(id string) loadsub.Weight {
	c, severity := ByID(id), r.Setting(id).Severity
	if c != nil && severity == "" {
		if severity = c.Severity; severity != "note" && !c.Again.Tips {
			return loadsub.Decides
		}
	}
	if c == nil && r != nil {
		for i := range r.queries {
			if r.queries[i].id == id {
				severity = r.queries[i].severity
			}
		}
	}
	switch {
	case severity == "off" || severity == "":
		return loadsub.Ignored
	case severity == "note":
		return loadsub.Shown
	case severity == "error" || c != nil && !c.Again.Tips:
		return loadsub.Decides
	}
	return loadsub.Tips
}

// RunAgain runs the checkers and queries that look at what sections did in all,
// over an execution of them. rules may be nil.
func RunAgain(f *Facts, rules *Rules) ([]report.Finding, error) {
	out := run(f, rules, func(c *Checker) bool { return !c.Again.Inside })
	own, err := Queries(f, rules)
	return append(out, own...), err
}

// Explain says where a checker, built-in or of the rules, looks, and what it is
// worth if it finds something in some executions of two racing sections only.
func (r *Rules) Explain(id string) string {
	text := "what its condition holds for, of what the sections do."
	if c := ByID(id); c != nil {
		text = c.Again.Text
	}
	out := "It looks at the recording, and in experiments, where the sections around a race are executed in other orders and with other values, for " + text
	if AboutPlaces(id) {
		out += " A place where the recording has it, too, is nothing new."
	}
	switch r.Weighs(id) {
	case loadsub.Decides:
		out += " If only some orders have it, the race is harmful."
	case loadsub.Tips:
		out += " If only one order has it, that decides between two that differ for good; alone it makes no race harmful."
	case loadsub.Shown:
		out += " It is shown, and decides nothing."
	default:
		out += " It is off."
	}
	return out
}

// AboutPlaces says whether the findings of a checker, built-in or of the rules,
// are about places: see Again.
func AboutPlaces(id string) bool {
	c := ByID(id)
	return c == nil || c.Again.Places
}

// Key is the same for findings of a checker that are about the same.
func Key(f *report.Finding) string {
	k := []string{place(f.Stack)}
	if f.Checker == unjoined.ID {
		k = append(k, f.Message) // which threads
	}
	if f.Checker == lockOrder.ID {
		for i := range f.Related {
			if strings.HasSuffix(f.Related[i].What, wanted) {
				k = append(k, place(f.Related[i].Stack))
			}
		}
	}
	slices.Sort(k)
	return strings.Join(k, "\n")
}
