package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes r in the form that Schema names, indented, with empty lists
// instead of nulls.
func WriteJSON(w io.Writer, r *Report) error {
	c := *r
	c.Schema = Schema
	if c.Races == nil {
		c.Races = []Race{}
	}
	if c.Causes == nil {
		c.Causes = []Cause{}
	}
	if c.Findings == nil {
		c.Findings = []Finding{}
	}
	c.Races = append([]Race{}, c.Races...)
	for i := range c.Races {
		x := &c.Races[i]
		if x.Location.AllocatedAt == nil {
			x.Location.AllocatedAt = []Frame{}
		}
		if x.Experiments == nil {
			x.Experiments = []Experiment{}
		}
		for k := range x.Accesses {
			if x.Accesses[k].Stack == nil {
				x.Accesses[k].Stack = []Frame{}
			}
		}
		x.Experiments = withOutputs(x.Experiments)
	}
	if len(c.Experiments) > 0 {
		c.Experiments = withOutputs(c.Experiments)
	}
	c.Findings = append([]Finding{}, c.Findings...)
	for i := range c.Findings {
		if c.Findings[i].Stack == nil {
			c.Findings[i].Stack = []Frame{}
		}
		for k := range c.Findings[i].Related {
			if c.Findings[i].Related[k].Stack == nil {
				c.Findings[i].Related[k].Stack = []Frame{}
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(r io.Reader) (*Report, error) {
	var x Report
	if err := json.NewDecoder(r).Decode(&x); err != nil {
		return nil, fmt.Errorf("report: not a report: %w", err)
	}
	if x.Schema != Schema {
		return nil, fmt.Errorf("report: schema %q, expected %q", x.Schema, Schema)
	}
	return &x, nil
}

// withOutputs copies experiments, with empty lists of outputs instead of nulls.
func withOutputs(xs []Experiment) []Experiment {
	out := append([]Experiment{}, xs...)
	for k := range out {
		if out[k].Outputs == nil {
			out[k].Outputs = []Output{}
		}
	}
	return out
}
