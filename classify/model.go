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
	present map[string]int
}

// A feature models one output, alone and relative to the input of the same name.
type feature struct {
	kind   Kind
	n      int
	values map[string]int // exact values, up to maxValues of them
	robust dist           // numbers: the value
	delta  dist           // numbers: value minus the input of the same name
	order  []float64
}

const maxValues = 64

// dist is a robust description of numbers.
type dist struct {
	n           int
	median, mad float64
	min, max    float64
}

func describe(x []float64) dist {
	if len(x) == 0 {
		return dist{}
	}
	x = append([]float64(nil), x...)
	sort.Float64s(x)
	d := dist{n: len(x), min: x[0], max: x[len(x)-1]}
	d.median = stat.Quantile(0.5, stat.Empirical, x, nil)
	dev := make([]float64, len(x))
	for i, v := range x {
		dev[i] = math.Abs(v - d.median)
	}
	sort.Float64s(dev)
	d.mad = stat.Quantile(0.5, stat.Empirical, dev, nil) * 1.4826 // consistent for the normal distribution
	return d
}

// tail returns how extreme v is: the two-sided tail probability, 0 to 1.
func (d dist) tail(v float64) float64 {
	if d.n == 0 {
		return 1
	}
	if v >= d.min && v <= d.max && d.mad == 0 {
		if v == d.median {
			return 1
		}
		return 2 / float64(d.n+2)
	}
	scale := d.mad
	if scale == 0 {
		// All alike: anything else was never seen in n instances.
		return 1 / float64(d.n+2)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: math.Max(1, float64(d.n-1))}
	p := 2 * t.Survival(math.Abs(v-d.median)/scale)
	if v >= d.min && v <= d.max {
		p = math.Max(p, 2/float64(d.n+2))
	}
	return math.Min(1, p)
}

// Learn makes a model from the instances of one function.
func Learn(samples []Sample) *Model {
	m := &Model{Samples: len(samples), outputs: map[string]*feature{}, present: map[string]int{}}
	nums, deltas := map[string][]float64{}, map[string][]float64{}
	for _, s := range samples {
		for name, v := range s.Outputs {
			m.present[name]++
			f := m.outputs[name]
			if f == nil {
				f = &feature{kind: v.Kind, values: map[string]int{}}
				m.outputs[name] = f
			}
			f.n++
			k := key(v)
			if _, ok := f.values[k]; ok || len(f.values) < maxValues {
				f.values[k]++
			}
			if v.Kind == Number || v.Kind == Real {
				nums[name] = append(nums[name], v.Num)
				if in, ok := s.Inputs[name]; ok {
					deltas[name] = append(deltas[name], v.Num-in.Num)
				}
			}
		}
	}
	for name, f := range m.outputs {
		f.robust, f.delta = describe(nums[name]), describe(deltas[name])
	}
	return m
}

func key(v Value) string {
	if v.Kind == Number || v.Kind == Real {
		return fmt.Sprint(v.Num)
	}
	return v.Text
}

// An Opinion is what a model thinks of one instance.
type Opinion struct {
	Known  bool    // false: too few samples, or nothing comparable
	Normal bool    // meaningful when Known
	Score  float64 // how usual the least usual output is, 0 to 1
	Why    string  // names that output
}

// Abnormal is the score below which an instance is abnormal.
const Abnormal = 0.02

// Judge compares an instance with the model.
func (m *Model) Judge(s Sample) Opinion {
	if m == nil || m.Samples < MinSamples {
		n := 0
		if m != nil {
			n = m.Samples
		}
		return Opinion{Why: fmt.Sprintf("%d instances are too few to know what is normal (%d needed)", n, MinSamples)}
	}
	o := Opinion{Known: true, Normal: true, Score: 1}
	names := make([]string, 0, len(s.Outputs))
	for name := range s.Outputs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		v := s.Outputs[name]
		f := m.outputs[name]
		if f == nil {
			o.lower(1/float64(m.Samples+2), fmt.Sprintf("%s is written, which no other instance did", name))
			continue
		}
		p := f.usual(v, s.Inputs[name], hasInput(s, name))
		o.lower(p, fmt.Sprintf("%s = %s is unusual in %d instances", name, key(v), f.n))
	}
	for name, n := range m.present {
		if _, ok := s.Outputs[name]; !ok && n == m.Samples {
			o.lower(1/float64(m.Samples+2), fmt.Sprintf("%s isn't written, which every other instance did", name))
		}
	}
	// With few samples even "never seen" isn't rare; the bound follows.
	o.Normal = o.Score >= math.Max(Abnormal, 1.5/float64(m.Samples+2))
	return o
}

func hasInput(s Sample, name string) bool { _, ok := s.Inputs[name]; return ok }

func (o *Opinion) lower(p float64, why string) {
	if p < o.Score {
		o.Score, o.Why = p, why
	}
}

// usual returns how usual a value of this output is, 0 to 1.
func (f *feature) usual(v, in Value, hasIn bool) float64 {
	seen := f.values[key(v)]
	switch v.Kind {
	case Number, Real:
		p := 0.0
		if seen > 0 {
			p = float64(seen+1) / float64(f.n+2)
		}
		// Values that differ in nearly every instance (counters, sums) are
		// told by their change or their spread, not by their frequency.
		if hasIn && f.delta.n > 0 {
			p = math.Max(p, f.delta.tail(v.Num-in.Num))
		}
		if len(f.values)*2 > f.n {
			p = math.Max(p, f.robust.tail(v.Num))
		}
		if p == 0 {
			p = 1 / float64(f.n+2)
		}
		return p
	case Raw:
		if len(f.values)*2 > f.n {
			return 0.5 // differs all the time: says nothing
		}
	}
	return float64(seen+1) / float64(f.n+2)
}
