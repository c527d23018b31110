package checkers

import (
	"github.com/racesim/racesim/report"
)

// A Checker looks for one kind of misbehaviour.
type Checker struct {
	ID       string
	Title    string // one line
	Text     string // what it is, why it matters, how it is found
	Before   string // a small example that it reports
	After    string // the same, mended
	Severity string // error, warning or note
	Options  []Option
	Again    Again
	run      func(f *Facts, opt map[string]int64) []report.Finding
}

// An Option is a whole number that rules.yaml may set.
type Option struct {
	Name, Doc string
	Default   int64
}

func (c *Checker) optionNames() []string {
	names := []string{}
	for _, o := range c.Options {
		names = append(names, o.Name)
	}
	return names
}

// All lists the checkers, in the order in which they are printed.
var All = []*Checker{
	useAfterFree, doubleFree, invalidFree, mismatchedFree, heapOverflow, uninitialised, leak,
	lockOrder, deadlock, wrongUnlock, destroyLocked, waitUnlocked, waitLoop, unjoined, signalUnsafe,
	descriptorLeak, descriptorClosed, falseSharing,
}

// ByID returns the checker with that identifier, or nil.
func ByID(id string) *Checker {
	for _, c := range All {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// IDs lists the identifiers in the order of All.
func IDs() []string {
	var out []string
	for _, c := range All {
		out = append(out, c.ID)
	}
	return out
}

// Run runs every checker that the rules don't switch off. rules may be nil.
func Run(f *Facts, rules *Rules) []report.Finding {
	return run(f, rules, func(*Checker) bool { return true })
}

func run(f *Facts, rules *Rules, wanted func(*Checker) bool) []report.Finding {
	var out []report.Finding
	for _, c := range All {
		s := rules.Setting(c.ID)
		if s.Severity == "off" || !wanted(c) {
			continue
		}
		opt := map[string]int64{}
		for _, o := range c.Options {
			opt[o.Name] = o.Default
		}
		for k, v := range s.Options {
			opt[k] = v
		}
		for _, x := range c.run(f, opt) {
			x.Checker = c.ID
			if x.Severity == "" {
				x.Severity = c.Severity
			}
			if s.Severity != "" {
				x.Severity = s.Severity
			}
			out = append(out, x)
		}
	}
	return out
}
