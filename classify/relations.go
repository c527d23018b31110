package classify

import (
	"fmt"
	"math"
	"sort"
)

// Beside single outputs a model knows relations that held in all instances:
// between an output and an input, or between two outputs. Each has been tried on
// all samples; one that failed in a single sample counts for that sample alone,
// when it is compared with the others.

// Bounds of what is looked at.
const (
	maxColumns  = 12 // numeric outputs, and as many numeric inputs
	minDistinct = 3  // values of a column: less is for frequencies
	maxCases    = 4  // values of an input that outputs depend on
)

// A relationKind says what holds between a and b.
type relationKind uint8

const (
	_          relationKind = iota
	offset                  // a = b + c
	atLeast                 // a ≥ b
	atMost                  // a ≤ b
	determined              // a has one value for each value of b
)

// A side names a column: an input or an output.
type side struct {
	name  string
	input bool
}

func (x side) of(s *Sample) (Value, bool) {
	m := s.Outputs
	if x.input {
		m = s.Inputs
	}
	v, ok := m[x.name]
	return v, ok
}

func (x side) String() string {
	if x.input {
		return "the input " + x.name
	}
	return x.name
}

// A relation is one that held in all samples, or in all but one.
type relation struct {
	kind relationKind
	a, b side
	c    float64
	by   map[string]string // determined: a's value by b's
	// cases are how many different values a had: the more, the less it is chance.
	// An order counts as two, more than being the largest of all.
	cases int
	fail  int // the sample in which it failed, -1: none
}

func (r *relation) holds(s *Sample) bool {
	x, okX := r.a.of(s)
	y, okY := r.b.of(s)
	if !okX || !okY {
		return true // something else will be said of that
	}
	if r.kind == determined {
		want, known := r.by[key(y)]
		return !known || want == key(x)
	}
	if !x.numeric() || !y.numeric() {
		return true
	}
	switch r.kind {
	case offset:
		return x.Num == y.Num+r.c
	case atLeast:
		return x.Num >= y.Num
	case atMost:
		return x.Num <= y.Num
	}
	return true
}

func (r *relation) String() string {
	switch {
	case r.kind == determined:
		return fmt.Sprintf("%v depends on %v alone", r.a, r.b)
	case r.kind == atLeast:
		return fmt.Sprintf("%v ≥ %v", r.a, r.b)
	case r.kind == atMost:
		return fmt.Sprintf("%v ≤ %v", r.a, r.b)
	case r.c == 0:
		return fmt.Sprintf("%v = %v", r.a, r.b)
	case r.c < 0:
		return fmt.Sprintf("%v = %v - %v", r.a, r.b, -r.c)
	}
	return fmt.Sprintf("%v = %v + %v", r.a, r.b, r.c)
}

// A given is how an output is distributed for one value of an input that takes
// few.
type given struct {
	in, out side
	value   string // of the input
	d       dist
}

// relate finds relations.
func (m *Model) relate(samples []Sample) {
	if len(samples) < MinSamples {
		return
	}
	outs := columns(samples, false)
	ins := columns(samples, true)
	for i, a := range outs {
		for _, b := range ins {
			if a.side.name != b.side.name { // the change of one location is a feature
				m.compare(samples, a, b)
			}
		}
		for _, b := range outs[i+1:] {
			m.compare(samples, a, b)
		}
	}
	m.condition(samples)
}

// A column is what all samples have for one input or output.
type column struct {
	side side
	num  []float64
	n    int // different values
}

// columns lists the numeric inputs or outputs that every sample has and that
// take several values, by name.
func columns(samples []Sample, input bool) []column {
	of := func(s *Sample) map[string]Value {
		if input {
			return s.Inputs
		}
		return s.Outputs
	}
	var names []string
	for name, v := range of(&samples[0]) {
		if v.numeric() {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var out []column
next:
	for _, name := range names {
		c := column{side: side{name, input}}
		distinct := map[float64]bool{}
		for i := range samples {
			v, ok := of(&samples[i])[name]
			if !ok || !v.numeric() || math.IsNaN(v.Num) {
				continue next
			}
			c.num = append(c.num, v.Num)
			distinct[v.Num] = true
		}
		if len(distinct) < minDistinct {
			continue
		}
		c.n = len(distinct)
		if out = append(out, c); len(out) == maxColumns {
			break
		}
	}
	return out
}

// compare adds the relations between two columns.
func (m *Model) compare(samples []Sample, a, b column) {
	add := func(kind relationKind, c float64, holds func(i int) bool) bool {
		fail := -1
		for i := range samples {
			if !holds(i) {
				if fail >= 0 {
					return false
				}
				fail = i
			}
		}
		r := relation{kind: kind, a: a.side, b: b.side, c: c, fail: fail, cases: 2}
		if kind == offset {
			r.cases = a.n
		}
		m.relations = append(m.relations, r)
		return fail < 0
	}
	c := common(a.num, b.num)
	if add(offset, c, func(i int) bool { return a.num[i] == b.num[i]+c }) {
		return // the order follows
	}
	add(atLeast, 0, func(i int) bool { return a.num[i] >= b.num[i] })
	add(atMost, 0, func(i int) bool { return a.num[i] <= b.num[i] })
}

// common returns the difference that two of the first three pairs agree on.
func common(a, b []float64) float64 {
	d := [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]}
	if d[0] == d[1] || d[0] == d[2] {
		return d[0]
	}
	return d[1]
}

// condition finds inputs of few values, and how outputs are distributed for
// each of these.
func (m *Model) condition(samples []Sample) {
	var names []string
	for name := range samples[0].Inputs {
		names = append(names, name)
	}
	sort.Strings(names)
	var outs []string
	for name := range m.outputs {
		outs = append(outs, name)
	}
	sort.Strings(outs)
	outs = outs[:min(len(outs), maxColumns)]
	used := 0
	for _, name := range names {
		cases := map[string][]int{}
		for i := range samples {
			if v, ok := samples[i].Inputs[name]; ok && len(cases) <= maxCases {
				cases[key(v)] = append(cases[key(v)], i)
			}
		}
		if len(cases) < 2 || len(cases) > maxCases {
			continue
		}
		if used++; used > maxColumns {
			return
		}
		tied := map[string]bool{}
		for _, out := range outs {
			tied[out] = m.determine(samples, name, out)
		}
		values := make([]string, 0, len(cases))
		for value := range cases {
			values = append(values, value)
		}
		sort.Strings(values)
		for _, value := range values {
			is := cases[value]
			if len(is) < 2*MinSamples {
				continue
			}
			for _, out := range outs {
				if tied[out] {
					continue
				}
				var keys []string
				for _, i := range is {
					if v, ok := samples[i].Outputs[out]; ok {
						keys = append(keys, key(v))
					}
				}
				if d := describe(keys, nil); d.n >= 2*MinSamples && !d.varied() {
					m.given = append(m.given, given{side{name, true}, side{out, false}, value, d})
				}
			}
		}
	}
}

// determine finds out whether an output has one value for each value of an
// input, and several in all.
func (m *Model) determine(samples []Sample, in, out string) bool {
	r := relation{kind: determined, a: side{out, false}, b: side{in, true}, by: map[string]string{}, fail: -1}
	type pair struct{ in, out string }
	n := map[pair]int{}
	best := map[string]int{}
	distinct := map[string]bool{}
	for i := range samples {
		x, okX := r.a.of(&samples[i])
		y, okY := r.b.of(&samples[i])
		if !okX || !okY {
			return false
		}
		p := pair{key(y), key(x)}
		if n[p]++; n[p] > best[p.in] {
			best[p.in], r.by[p.in] = n[p], p.out
		}
	}
	for _, v := range r.by {
		distinct[v] = true
	}
	if len(distinct) < 2 {
		return false
	}
	for i := range samples {
		if r.holds(&samples[i]) {
			continue
		}
		if r.fail >= 0 {
			return false
		}
		r.fail = i
	}
	r.cases = len(distinct)
	m.relations = append(m.relations, r)
	return r.fail < 0
}

// related lowers o by the relations that s breaks. self and never are as in
// strangest.
func (m *Model) related(s *Sample, self int, never float64, o *Opinion) {
	own := 0
	if self >= 0 {
		own = 1
	}
	for i := range m.relations {
		r := &m.relations[i]
		if r.fail >= 0 && r.fail != self || r.fail < 0 && self >= 0 || r.holds(s) {
			continue
		}
		o.lower(never/float64(r.cases), fmt.Sprintf("%v in all %d instances, but not here", r, m.Samples-own))
	}
	for i := range m.given {
		g := &m.given[i]
		in, okIn := g.in.of(s)
		out, okOut := g.out.of(s)
		if !okIn || !okOut || key(in) != g.value {
			continue
		}
		k := key(out)
		o.lower(g.d.frequency(k, own), fmt.Sprintf("%v is %s although %v is %s, which is unusual in %d instances", g.out, k, g.in, g.value, g.d.n-own))
	}
}
