package main

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/racesim/racesim/classify"
)

// made returns rows of programs, whose verdicts are right with a probability
// that depends on basis and facts.
func made(programs int) (rows []row, truth []float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for p := range programs {
		x := row{program: string(rune('a'+p%26)) + string(rune('a'+p/26)), race: "x", verdict: classify.Benign, basis: classify.BySerialisable}
		if p%2 == 0 {
			x.basis = classify.ByOrdersAlike
		}
		x.facts = classify.Facts{Interleavings: 10, Skipped: p % 3 / 2 * 5}
		q := map[classify.Basis]float64{classify.BySerialisable: 0.7, classify.ByOrdersAlike: 0.95}[x.basis]
		if x.facts.Skipped > 0 {
			q -= 0.3
		}
		x.right = r.Float64() < q
		rows, truth = append(rows, x), append(truth, q)
	}
	return rows, truth
}

// The fit finds the probabilities that rows were made with.
func TestFitFindsProbabilities(t *testing.T) {
	rows, truth := made(600)
	w, err := fit(rows, weigh(rows))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if p := w.Confidence(r.verdict, r.basis, r.facts); math.Abs(p-truth[i]) > 0.08 {
			t.Fatalf("%s with %d skipped: %.3f, made with %.3f", r.basis, r.facts.Skipped, p, truth[i])
		}
	}
}

// What few programs show says little, however many seeds and builds they have.
func TestRowsOfOneProgramCountAsOne(t *testing.T) {
	rows, _ := made(40)
	var many []row
	for _, r := range rows {
		for range 50 {
			many = append(many, r)
		}
	}
	a, err := fit(rows, weigh(rows))
	if err != nil {
		t.Fatal(err)
	}
	b, err := fit(many, weigh(many))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if p, q := a.Confidence(r.verdict, r.basis, r.facts), b.Confidence(r.verdict, r.basis, r.facts); math.Abs(p-q) > 0.005 {
			t.Fatalf("%.4f, and %.4f with every row 50 times", p, q)
		}
	}
	one := []row{{program: "p", race: "x", verdict: classify.Harmful, basis: classify.ByFreed, right: true}}
	w, err := fit(one, weigh(one))
	if err != nil {
		t.Fatal(err)
	}
	if p := w.Confidence(classify.Harmful, classify.ByFreed, classify.Facts{}); p < 0.75 || p > 0.92 {
		t.Errorf("after one verdict that was right: %.3f", p)
	}
}

func landed(t *testing.T) []row {
	t.Helper()
	f, err := os.Open("../../classify/testdata/verdicts.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := read(f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// classify/confidence.csv is what the fit makes of the table of verdicts.
func TestWeightsAreThoseOfTheTable(t *testing.T) {
	w, err := fit(landed(t), weigh(landed(t)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("../../classify/confidence.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	have, err := classify.ReadWeights(f)
	if err != nil {
		t.Fatal(err)
	}
	for v, of := range w {
		for term, x := range of {
			if math.Abs(have[v][term]-x) > 0.02 {
				t.Errorf("%s %q: %v in the table, %v fitted: make calibrate-fit", v, term, have[v][term], x)
			}
		}
	}
}

// Programs that weights were fitted without are judged with the confidence that
// they deserve.
func TestConfidenceOfUnseenProgramsIsCalibrated(t *testing.T) {
	rows := landed(t)
	p, err := predict(rows)
	if err != nil {
		t.Fatal(err)
	}
	weight := weigh(rows)
	if d := off(bins(rows, p, weight)); d > 0.08 {
		t.Errorf("said and right are %.3f apart, on average", d)
	}
	constant := slices.Repeat([]float64{share(rows, weight)}, len(rows))
	if a, b := brier(rows, p, weight), brier(rows, constant, weight); a >= b {
		t.Errorf("Brier score %.4f; one confidence for everything has %.4f", a, b)
	}
	for _, b := range bins(rows, p, weight) {
		t.Logf("%.2f to %.2f: %5.1f races, said %.3f, right %.3f", b.lo, b.hi, b.n, b.said, b.right)
	}
}
