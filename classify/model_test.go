package classify

import (
	"fmt"
	"strings"
	"testing"
)

func num(x float64) Value  { return Value{Kind: Number, Num: x} }
func ptr(k string) Value   { return Value{Kind: Pointer, Text: k} }
func raw(x string) Value   { return Value{Kind: Raw, Text: x} }
func real(x float64) Value { return Value{Kind: Real, Num: x} }

// counter is an instance that adds by to a sum.
func counter(from, by float64) Sample {
	return Sample{Inputs: map[string]Value{"sum": num(from)}, Outputs: map[string]Value{"sum": num(from + by)}}
}

func out(name string, v Value) Sample { return Sample{Outputs: map[string]Value{name: v}} }

func TestModelsJudge(t *testing.T) {
	many := func(n int, f func(i int) Sample) []Sample {
		var s []Sample
		for i := 0; i < n; i++ {
			s = append(s, f(i))
		}
		return s
	}
	deposits := many(100, func(i int) Sample { return counter(float64(i*i), 10-float64(i%3/2)) })
	codes := many(100, func(i int) Sample { return out("ret", num(float64(i%5/4)-1)) })
	sizes := many(100, func(i int) Sample { return out("ret", num(float64(1000+(i*37)%101))) })
	pointers := many(50, func(i int) Sample { return out("head", ptr("heap")) })
	shares := many(60, func(i int) Sample { return out("rate", real(0.5+float64(i)/1000)) })
	hashes := many(60, func(i int) Sample { return out("digest", raw(fmt.Sprint(i*i))) })
	for _, tc := range []struct {
		name   string
		learnt []Sample
		s      Sample
		normal bool
		why    string
	}{
		{"a usual change", deposits, counter(77, 10), true, ""},
		{"a change that a third of the instances make", deposits, counter(5, 9), true, ""},
		{"a change never seen", deposits, counter(500, 3), false, "sum changes by 3"},
		{"a usual code", codes, out("ret", num(-1)), true, ""},
		{"a code never seen", codes, out("ret", num(7)), false, "ret is 7"},
		{"a number among many", sizes, out("ret", num(1042.5)), true, ""},
		{"a number far from all", sizes, out("ret", num(9000)), false, "ret is 9000"},
		{"a pointer as always", pointers, out("head", ptr("heap")), true, ""},
		{"a null pointer for once", pointers, out("head", ptr("null")), false, "head is null"},
		{"a fraction among others", shares, out("rate", real(0.5123)), true, ""},
		{"a fraction elsewhere", shares, out("rate", real(-4)), false, "rate"},
		{"bytes that always differ", hashes, out("digest", raw("new")), true, ""},
		{"an output nobody else has", pointers, Sample{Outputs: map[string]Value{"head": ptr("heap"), "tail": num(1)}}, false, "tail is written"},
		{"an output missing", deposits, Sample{}, false, "sum isn't written"},
	} {
		o := Learn(tc.learnt).Judge(tc.s)
		if !o.Known || o.Normal != tc.normal || !strings.Contains(o.Why, tc.why) || o.Score < 0 || o.Score > 1 {
			t.Errorf("%s: %+v, want normal %v because %q", tc.name, o, tc.normal, tc.why)
		}
	}
}

// Each of the samples that a model learnt from is normal to it.
func TestWhatWasLearntIsNormal(t *testing.T) {
	var learnt []Sample
	for i := 0; i < 40; i++ {
		s := counter(float64(i), 1)
		s.Outputs["ret"] = num(float64(i % 2))
		s.Outputs["p"] = ptr([]string{"null", "heap"}[i%2])
		learnt = append(learnt, s)
	}
	m := Learn(learnt)
	for i, s := range learnt {
		if o := m.Judge(s); !o.Known || !o.Normal {
			t.Errorf("sample %d: %+v", i, o)
		}
	}
}

func TestFewInstancesGiveNoOpinion(t *testing.T) {
	var learnt []Sample
	for n := 0; n < MinSamples; n++ {
		o := Learn(learnt).Judge(counter(1, 1))
		if o.Known || !strings.Contains(o.Why, fmt.Sprintf("is normal: %d,", n)) {
			t.Errorf("%d instances: %+v", n, o)
		}
		learnt = append(learnt, counter(float64(n), 1))
	}
	if o := Learn(learnt).Judge(counter(1, 1)); !o.Known || !o.Normal {
		t.Errorf("%d instances: %+v", len(learnt), o)
	}
	if o := Learn(learnt).Judge(counter(1, 5)); o.Normal {
		t.Errorf("%d instances, an odd change: %+v", len(learnt), o)
	}
	var none *Model
	if o := none.Judge(counter(1, 1)); o.Known {
		t.Errorf("no model: %+v", o)
	}
}
