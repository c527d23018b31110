package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/racesim/racesim/classify"
)

// Strength of the regularisation: precision of the normal distributions that
// weights are drawn from beforehand, in logits. What a basis or a sign changes
// has to be shown by several programs.
const (
	shrinkVerdict = 0.2 // towards being right in usualShare of the cases
	shrinkBasis   = 1.0
	shrinkSign    = 0.5
	usualShare    = 0.8
)

// without are signs that aren't used, to see what they are good for.
var without = map[string]bool{}

// weigh returns the weight of each row: the rows of one race in one program, of
// one verdict, have one together.
func weigh(rows []row) []float64 {
	n := map[[2]string]int{}
	for _, r := range rows {
		n[[2]string{r.program, r.race}]++
	}
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = 1 / float64(n[[2]string{r.program, r.race}])
	}
	return out
}

// terms lists a verdict's terms.
func terms(rows []row, verdict string) []string {
	bases := map[string]bool{}
	for _, r := range rows {
		if r.verdict == verdict {
			bases[string(r.basis)] = true
		}
	}
	out := append([]string{""}, slices.Sorted(maps.Keys(bases))...)
	for _, s := range classify.Signs {
		out = append(out, s.Name)
	}
	return out
}

// fit finds the weights that explain the rows best.
func fit(rows []row, weight []float64) (classify.Weights, error) {
	out := classify.Weights{}
	for _, verdict := range []string{classify.Harmful, classify.Benign, classify.Synchronisation} {
		ts := terms(rows, verdict)
		type example struct {
			x []float64
			y float64
			w float64
		}
		var all []example
		for i, r := range rows {
			if r.verdict != verdict {
				continue
			}
			x := make([]float64, len(ts))
			x[0] = 1
			for k, t := range ts[1:] {
				if t == string(r.basis) {
					x[k+1] = 1
				}
			}
			for k, s := range classify.Signs {
				x[len(ts)-len(classify.Signs)+k] = s.Of(&r.facts)
			}
			y := 0.0
			if r.right {
				y = 1
			}
			all = append(all, example{x, y, weight[i]})
		}
		prior := make([]float64, len(ts))
		prior[0] = math.Log(usualShare / (1 - usualShare))
		precision := func(k int) float64 {
			switch {
			case k == 0:
				return shrinkVerdict
			case k < len(ts)-len(classify.Signs):
				return shrinkBasis
			case without[ts[k]]:
				return 1e6
			}
			return shrinkSign
		}
		logit := func(w, x []float64) float64 {
			s := 0.0
			for k := range w {
				s += w[k] * x[k]
			}
			return s
		}
		problem := optimize.Problem{
			Func: func(w []float64) float64 {
				loss := 0.0
				for _, e := range all {
					z := logit(w, e.x)
					// log(1+e^z) - y z, without overflow
					loss += e.w * (math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - e.y*z)
				}
				for k := range w {
					d := w[k] - prior[k]
					loss += precision(k) * d * d / 2
				}
				return loss
			},
			Grad: func(g, w []float64) {
				for k := range g {
					g[k] = precision(k) * (w[k] - prior[k])
				}
				for _, e := range all {
					d := e.w * (1/(1+math.Exp(-logit(w, e.x))) - e.y)
					for k := range g {
						g[k] += d * e.x[k]
					}
				}
			},
		}
		res, err := optimize.Minimize(problem, slices.Clone(prior), &optimize.Settings{GradientThreshold: 1e-6}, &optimize.BFGS{})
		if err != nil && res == nil {
			return nil, fmt.Errorf("%s: %w", verdict, err)
		}
		out[verdict] = map[string]float64{}
		for k, t := range ts {
			out[verdict][t] = math.Round(res.X[k]*1000) / 1000
		}
	}
	return out, nil
}

// folds is in how many parts programs are divided for cross-validation.
const folds = 10

func fold(program string) int {
	h := fnv.New32a()
	io.WriteString(h, program)
	return int(h.Sum32() % folds)
}

// predict returns each row's confidence, by weights that were fitted without
// the row's program; 0 for unknown.
func predict(rows []row) ([]float64, error) {
	out := make([]float64, len(rows))
	for f := range folds {
		var train []row
		for _, r := range rows {
			if fold(r.program) != f {
				train = append(train, r)
			}
		}
		w, err := fit(train, weigh(train))
		if err != nil {
			return nil, err
		}
		for i, r := range rows {
			if fold(r.program) == f && r.verdict != classify.Unknown {
				out[i] = w.Confidence(r.verdict, r.basis, r.facts)
			}
		}
	}
	return out, nil
}

// writeWeights writes the table that classify reads, with how much each term
// rests on.
func writeWeights(path string, w classify.Weights, rows []row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := csv.NewWriter(f)
	c.Write([]string{"verdict", "term", "weight", "programs", "verdicts", "right"})
	for _, verdict := range slices.Sorted(maps.Keys(w)) {
		for _, t := range slices.SortedFunc(maps.Keys(w[verdict]), cmp.Compare[string]) {
			programs := map[string]bool{}
			n, right := 0, 0
			for _, r := range rows {
				has := r.verdict == verdict && (t == "" || t == string(r.basis))
				for _, s := range classify.Signs {
					has = has || r.verdict == verdict && t == s.Name && s.Of(&r.facts) > 0
				}
				if has {
					programs[r.program] = true
					n++
					if r.right {
						right++
					}
				}
			}
			c.Write([]string{verdict, t, fmt.Sprint(w[verdict][t]), fmt.Sprint(len(programs)), fmt.Sprint(n), fmt.Sprint(right)})
		}
	}
	c.Flush()
	return c.Error()
}
