package classify

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinSamples is the number of instances below which a model has no opinion.
const MinSamples = 6

// A Kind says how the values of a location are compared.
type Kind uint8

const (
	_       Kind = iota
	Number       // signed integer
	Pointer      // compared by what it points at, not by its bits
	Real         // floating point
	Raw          // bytes without a known meaning
)

func (k Kind) String() string {
	switch k {
	case Number:
		return "number"
	case Pointer:
		return "pointer"
	case Real:
		return "real"
	case Raw:
		return "raw"
	}
	return "invalid"
}

// A Value is what one input or output held in one instance.
type Value struct {
	Kind Kind    `json:"kind"`
	Num  float64 `json:"num"`  // Number, Real
	Text string  `json:"text"` // Pointer: null, heap, global, stack, code, wild; Raw: hex
}

// A Sample is one instance of a function: its inputs and outputs by name.
type Sample struct {
	Inputs  map[string]Value `json:"inputs"`
	Outputs map[string]Value `json:"outputs"`
}

// A Model knows what a function's outputs are like.
type Model struct {
	Samples int
	outputs map[string]*feature
	// presence of outputs: how often each name is written at all
	present   map[string]int
	always    []string // those that all samples but one at most have
	relations []relation
	given     []given
	// strange has how usual each sample is to the others, ascending.
	strange []float64
}

// A feature models one output, alone and relative to the input of the same name.
type feature struct {
	kind  Kind
	n     int
	value dist // numbers: the value; others: how often each was seen
	delta dist // numbers: value minus the input of the same name
}

// A dist describes what was seen of one quantity.
type dist struct {
	n           int
	seen        map[string]int // times each exact value was seen
	median, mad float64        // of numbers
	dev         []float64      // deviations from the median, ascending
}

func describe(keys []string, x []float64) dist {
	d := dist{n: len(keys), seen: map[string]int{}}
	for _, k := range keys {
		d.seen[k]++
	}
	if len(x) == 0 {
		return d
	}
	x = append([]float64(nil), x...)
	sort.Float64s(x)
	d.median = stat.Quantile(0.5, stat.Empirical, x, nil)
	d.dev = make([]float64, len(x))
	for i, v := range x {
		d.dev[i] = math.Abs(v - d.median)
	}
	sort.Float64s(d.dev)
	d.mad = stat.Quantile(0.5, stat.Empirical, d.dev, nil) * 1.4826 // consistent for the normal distribution
	return d
}

// varied reports whether the quantity is a different one nearly every time, so
// that the frequency of a value says nothing.
func (d *dist) varied() bool { return 2*len(d.seen) > d.n }

// frequency returns how often a value is expected, 0 to 1, by the rule of
// succession. own is 1 if the value is one of those seen, which then doesn't
// count itself, else 0; so that what a sample is to the others compares with
// what an instance is to the samples, the number of these stays the same.
func (d *dist) frequency(key string, own int) float64 {
	return float64(d.seen[key]-own+1) / float64(d.n+2)
}

// tail returns how usual it is to be as far from the median as v, 0 to 1: the
// share of what was seen that is as far, and beyond that what Student's
// distribution gives.
func (d *dist) tail(v float64, own int) float64 {
	far := math.Abs(v - d.median)
	n := len(d.dev) - sort.SearchFloat64s(d.dev, far) - own
	p := float64(n+1) / float64(d.n+2)
	if n == 0 && d.mad > 0 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: math.Max(1, float64(d.n-1))}
		p = math.Min(p, 2*t.Survival(far/d.mad))
	}
	return p
}

// usual returns how usual a number is, 0 to 1.
func (d *dist) usual(key string, v float64, own int) float64 {
	p := d.frequency(key, own)
	if d.varied() {
		if d.seen[key] == own {
			return math.Min(1, d.tail(v, own)) // new values are usual
		}
		p = math.Max(p, d.tail(v, own))
	}
	return math.Min(1, p)
}

// Learn makes a model from the instances of one function.
func Learn(samples []Sample) *Model {
	m := &Model{Samples: len(samples), outputs: map[string]*feature{}, present: map[string]int{}}
	type column struct {
		keys []string
		nums []float64
	}
	values, deltas := map[string]*column{}, map[string]*column{}
	add := func(to map[string]*column, name, key string, x float64, number bool) {
		c := to[name]
		if c == nil {
			c = new(column)
			to[name] = c
		}
		c.keys = append(c.keys, key)
		if number {
			c.nums = append(c.nums, x)
		}
	}
	for _, s := range samples {
		for name, v := range s.Outputs {
			m.present[name]++
			f := m.outputs[name]
			if f == nil {
				f = &feature{kind: v.Kind}
				m.outputs[name] = f
			}
			f.n++
			add(values, name, key(v), v.Num, v.numeric())
			if in, ok := s.Inputs[name]; ok && v.numeric() && in.numeric() {
				d := v.Num - in.Num
				add(deltas, name, fmt.Sprint(d), d, true)
			}
		}
	}
	for name, f := range m.outputs {
		f.value = describe(values[name].keys, values[name].nums)
		if c := deltas[name]; c != nil {
			f.delta = describe(c.keys, c.nums)
		}
	}
	for name, n := range m.present {
		if n >= m.Samples-1 {
			m.always = append(m.always, name)
		}
	}
	sort.Strings(m.always)
	m.relate(samples)
	m.calibrate(samples)
	return m
}

func (v Value) numeric() bool { return v.Kind == Number || v.Kind == Real }

func key(v Value) string {
	if v.numeric() {
		return fmt.Sprint(v.Num)
	}
	return v.Text
}

// An Opinion is what a model thinks of one instance.
type Opinion struct {
	Known  bool // false: too few samples, or nothing comparable
	Normal bool // meaningful when Known
	// Score is the share of recorded instances that are as strange to the others
	// as this one, 0 to 1: an instance like them has a score of p or less with
	// probability p.
	Score float64
	Why   string // names what is strangest
}

// Abnormal is the score at or below which an instance is abnormal. With fewer
// than 99 samples it takes being stranger than all of them, which happens by
// chance with probability 1/(samples+1): that is then the score.
const Abnormal = 0.01

// calibrate finds how strange each sample is to the others.
func (m *Model) calibrate(samples []Sample) {
	for i := range samples {
		p, _ := m.strangest(&samples[i], i)
		m.strange = append(m.strange, p)
	}
	sort.Float64s(m.strange)
}

// Judge compares an instance with the model. The score is that of conformal
// prediction (Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random
// World", chapter 2).
func (m *Model) Judge(s Sample) Opinion {
	if m == nil || m.Samples < MinSamples {
		n := 0
		if m != nil {
			n = m.Samples
		}
		return Opinion{Why: fmt.Sprintf("too few other instances to know what is normal: %d, and %d are needed", n, MinSamples)}
	}
	p, why := m.strangest(&s, -1)
	as := sort.Search(len(m.strange), func(i int) bool { return m.strange[i] > p*(1+1e-9) })
	o := Opinion{Known: true, Score: float64(as+1) / float64(m.Samples+1), Why: why}
	o.Normal = as > 0 && o.Score > Abnormal
	return o
}

// strangest returns how usual the least usual thing about an instance is, and
// names it. self is its index if it is one of the samples, which then doesn't
// count among them; else -1.
func (m *Model) strangest(s *Sample, self int) (float64, string) {
	own := 0
	if self >= 0 {
		own = 1
	}
	never := 1 / float64(m.Samples+2)
	o := Opinion{Score: 1}
	names := make([]string, 0, len(s.Outputs))
	for name := range s.Outputs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		v := s.Outputs[name]
		f := m.outputs[name]
		if f == nil || f.n == own {
			o.lower(never, fmt.Sprintf("%s is written, which no other instance did", name))
			continue
		}
		in, has := s.Inputs[name]
		p, how := f.usual(v, in, has, own)
		o.lower(p, fmt.Sprintf("%s %s, which is unusual in %d instances", name, how, f.n-own))
	}
	for _, name := range m.always {
		if _, ok := s.Outputs[name]; !ok && m.present[name] == m.Samples-own {
			o.lower(never, fmt.Sprintf("%s isn't written, which every other instance did", name))
		}
	}
	m.related(s, self, never, &o)
	return o.Score, o.Why
}

func (o *Opinion) lower(p float64, why string) {
	if p < o.Score {
		o.Score, o.Why = p, why
	}
}

// usual returns how usual a value of this output is, 0 to 1, and what about it
// was looked at, in words.
func (f *feature) usual(v, in Value, hasIn bool, own int) (p float64, how string) {
	k := key(v)
	how = "is " + k
	if !v.numeric() {
		if v.Kind == Raw && f.value.varied() {
			return 0.5, how // differs all the time: says nothing
		}
		return f.value.frequency(k, own), how
	}
	p = f.value.usual(k, v.Num, own)
	if !hasIn || !in.numeric() || 5*f.delta.n < 4*f.n {
		return p, how
	}
	// Counters and sums are told by how they change: whichever of value and
	// change takes fewer forms says more.
	d := v.Num - in.Num
	kd := fmt.Sprint(d)
	q := f.delta.usual(kd, d, own)
	if len(f.delta.seen) < len(f.value.seen) || len(f.delta.seen) == len(f.value.seen) && q > p {
		return q, "changes by " + kd
	}
	return p, how
}
