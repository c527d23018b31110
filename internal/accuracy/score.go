package main

import (
	"fmt"
	"strings"
	"time"
)

// measured are the outcomes of all tools on a suite.
type measured struct {
	suite *suite
	rows  []row
}

type row struct {
	c   *testCase
	got []outcome // by tool
}

// A score counts how often a tool was right.
type score struct {
	tp, fp, tn, fn int
	cpu            time.Duration // for one run of each case
	missed, wrong  []string
	failed         []string
}

func (m *measured) score(tool int) score {
	var s score
	for i := range m.rows {
		r := &m.rows[i]
		o := &r.got[tool]
		if o.runs > 0 {
			s.cpu += o.cpu / time.Duration(o.runs)
		}
		if r.c.disputed() {
			continue
		}
		if o.failed != "" {
			s.failed = append(s.failed, fmt.Sprintf("%s (%s)", r.c.name, strings.Join(strings.Fields(o.failed), " ")))
		}
		switch {
		case r.c.race && o.race:
			s.tp++
		case r.c.race:
			s.fn++
			s.missed = append(s.missed, r.c.name)
		case o.race:
			s.fp++
			s.wrong = append(s.wrong, r.c.name)
		default:
			s.tn++
		}
	}
	return s
}

// ratio is a/b, 0 if that isn't defined.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (s *score) precision() float64 { return ratio(s.tp, s.tp+s.fp) }
func (s *score) recall() float64    { return ratio(s.tp, s.tp+s.fn) }

// f1 is the harmonic mean of precision and recall.
func (s *score) f1() float64 { return ratio(2*s.tp, 2*s.tp+s.fp+s.fn) }

// tables renders everything as Markdown.
func (p *plan) tables(ms []*measured, tools []*tool) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "## %s\n\n", m.suite.title)
		fmt.Fprintf(&b, "| tool | true + | false + | true − | false − | precision | recall | F1 | CPU seconds |\n|---|---|---|---|---|---|---|---|---|\n")
		scores := make([]score, len(tools))
		for k, t := range tools {
			scores[k] = m.score(k)
			s := &scores[k]
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.3f | %.3f | %.3f | %.0f |\n", t.title, s.tp, s.fp, s.tn, s.fn, s.precision(), s.recall(), s.f1(), s.cpu.Seconds())
		}
		b.WriteByte('\n')
		for k, t := range tools {
			for _, l := range []struct {
				what  string
				names []string
			}{{"false alarms", scores[k].wrong}, {"missed", scores[k].missed}, {"failed", scores[k].failed}} {
				if len(l.names) > 0 {
					fmt.Fprintf(&b, "- %s, %s: %s\n", t.name, l.what, strings.Join(l.names, ", "))
				}
			}
		}
		b.WriteByte('\n')
		for k, t := range tools {
			if t.name == "racesim" && m.suite.name == "truth" {
				m.confusion(&b, k)
			}
		}
	}
	return b.String()
}

// confusion writes how often racesim said what of guests with known verdicts.
func (m *measured) confusion(b *strings.Builder, tool int) {
	cols := append([]string(nil), verdicts...)
	fmt.Fprintf(b, "Verdicts of racesim, the worst of each run, against the truth:\n\n| truth | %s |\n|---|%s\n", strings.Join(cols, " | "), strings.Repeat("---|", len(cols)))
	right, total := 0, 0
	var wrong []string
	for _, truth := range []string{"harmful", "benign", "synchronisation", "none"} {
		n := map[string]int{}
		for i := range m.rows {
			r := &m.rows[i]
			if r.c.verdict != truth {
				continue
			}
			for v, k := range r.got[tool].said {
				n[v] += k
				total += k
				if v == truth {
					right += k
				} else {
					wrong = append(wrong, fmt.Sprintf("%s (%s, %d×)", r.c.name, v, k))
				}
			}
		}
		fmt.Fprintf(b, "| %s |", truth)
		for _, v := range cols {
			fmt.Fprintf(b, " %d |", n[v])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "\n%d of %d runs right.", right, total)
	if len(wrong) > 0 {
		fmt.Fprintf(b, " Others: %s.", strings.Join(wrong, ", "))
	}
	b.WriteString("\n\n")
}
