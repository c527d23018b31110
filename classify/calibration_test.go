package classify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// processes are kinds of functions, as far as a model sees them.
var processes = []struct {
	name string
	next func(r *rand.Rand, i int) Sample
}{
	{"a counter", func(r *rand.Rand, i int) Sample { return counter(float64(r.IntN(1000)), 1) }},
	{"rare errors", func(r *rand.Rand, i int) Sample {
		v := 0.0
		if r.IntN(60) == 0 {
			v = -1
		}
		return out("ret", num(v))
	}},
	{"heavy tails", func(r *rand.Rand, i int) Sample { return out("size", num(math.Floor(math.Exp(3*r.NormFloat64())))) }},
	{"a fraction", func(r *rand.Rand, i int) Sample { return out("share", real(r.Float64())) }},
	{"many outputs", func(r *rand.Rand, i int) Sample {
		s := Sample{Inputs: map[string]Value{}, Outputs: map[string]Value{}}
		for k := range 20 {
			name := fmt.Sprintf("out%d", k)
			s.Inputs[name] = num(float64(r.IntN(50)))
			s.Outputs[name] = num(float64(r.IntN(1 << k)))
		}
		return s
	}},
	{"related", func(r *rand.Rand, i int) Sample {
		x := float64(r.IntN(1000))
		return Sample{Inputs: map[string]Value{"n": num(x), "mode": num(float64(r.IntN(3)))},
			Outputs: map[string]Value{"ret": num(x + 1), "low": num(x - float64(r.IntN(9)))}}
	}},
	{"sometimes written", func(r *rand.Rand, i int) Sample {
		s := out("head", ptr([]string{"heap", "heap", "null"}[r.IntN(3)]))
		if r.IntN(40) == 0 {
			s.Outputs["tail"] = num(float64(i))
		}
		return s
	}},
}

// Of instances that the model hasn't seen, a share of p at most has a score of
// p or less: "abnormal" is wrong about one in a hundred. -v draws it.
func TestScoresAreCalibrated(t *testing.T) {
	const learnt, asked, rounds = 150, 100, 25
	levels := []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5}
	for _, p := range processes {
		at := make([]int, len(levels))
		abnormal, total := 0, 0
		for round := range rounds {
			r := rand.New(rand.NewPCG(7, uint64(round)))
			var s []Sample
			for i := range learnt {
				s = append(s, p.next(r, i))
			}
			m := Learn(s)
			for i := range asked {
				o := m.Judge(p.next(r, learnt+i))
				total++
				if !o.Normal {
					abnormal++
				}
				for k, l := range levels {
					if o.Score <= l {
						at[k]++
					}
				}
			}
		}
		for k, l := range levels {
			share := float64(at[k]) / float64(total)
			t.Logf("%-18s score ≤ %.2f: %.3f %s", p.name, l, share, strings.Repeat("▇", int(share*100+0.5)))
			// Three standard deviations, of models as well as of instances.
			if share > l+3*math.Sqrt(l*(1-l)*(1/float64(total)+1/float64(learnt*rounds))) {
				t.Errorf("%s: a share of %.4f has a score of %v or less", p.name, share, l)
			}
		}
		if share := float64(abnormal) / float64(total); share > 0.016 {
			t.Errorf("%s: a share of %.4f is called abnormal", p.name, share)
		}
	}
}

// What breaks a relation that always held is abnormal, though each value alone
// is usual.
func TestBrokenRelationsAreAbnormal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var learnt []Sample
	for i := range 120 {
		n, on := float64(r.IntN(500)), float64(i%2)
		learnt = append(learnt, Sample{
			Inputs:  map[string]Value{"n": num(n), "on": num(on), "limit": num(n + 1 + float64(r.IntN(50)))},
			Outputs: map[string]Value{"next": num(n + 1), "used": num(n - float64(r.IntN(20))), "ret": num(on * 7)}})
	}
	m := Learn(learnt)
	for _, tc := range []struct {
		name                          string
		n, on, limit, next, used, ret float64
		why                           string
	}{
		{"all as always", 100, 1, 120, 101, 95, 7, ""},
		{"not one more", 100, 1, 120, 140, 95, 7, "next = the input n + 1 in all 120 instances"},
		{"more than there is", 100, 1, 120, 101, 230, 7, "used"},
		{"what belongs to the other case", 100, 1, 120, 101, 95, 0, "ret depends on the input on alone in all 120 instances"},
	} {
		o := m.Judge(Sample{Inputs: map[string]Value{"n": num(tc.n), "on": num(tc.on), "limit": num(tc.limit)},
			Outputs: map[string]Value{"next": num(tc.next), "used": num(tc.used), "ret": num(tc.ret)}})
		if o.Normal != (tc.why == "") || !strings.Contains(o.Why, tc.why) {
			t.Errorf("%s: %+v, want %q", tc.name, o, tc.why)
		}
	}
}
