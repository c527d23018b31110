package classify

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A measuredVerdict is a row of testdata/verdicts.csv, which make calibrate
// writes.
type measuredVerdict struct {
	race    string // and its program
	verdict string
	basis   Basis
	right   bool
	facts   Facts
	weight  float64 // the verdicts on one race have one together
}

func measuredVerdicts(t *testing.T) []measuredVerdict {
	t.Helper()
	f, err := os.Open("testdata/verdicts.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range all[0] {
		col[name] = i
	}
	var out []measuredVerdict
	n := map[string]float64{}
	for _, l := range all[1:] {
		m := measuredVerdict{race: l[col["program"]] + " " + l[col["race"]], verdict: l[col["verdict"]], basis: Basis(l[col["basis"]]), right: l[col["right"]] == "1"}
		var ns []int
		for _, name := range FactNames() {
			k, err := strconv.Atoi(l[col[name]])
			if err != nil {
				t.Fatal(err)
			}
			ns = append(ns, k)
		}
		m.facts = FactsOf(ns)
		n[m.race]++
		out = append(out, m)
	}
	for i := range out {
		out[i].weight = 1 / n[out[i].race]
	}
	return out
}

// On the labelled programs, of verdicts given with a confidence of p a share of
// p is right, whatever p is; and nothing is certain.
func TestConfidenceIsCalibrated(t *testing.T) {
	rows := measuredVerdicts(t)
	edges := []float64{0, 0.5, 0.7, 0.85, 0.95, 1}
	for i := range edges[1:] {
		lo, hi := edges[i], edges[i+1]
		said, right, n := 0.0, 0.0, 0.0
		for _, r := range rows {
			p := Confidence(r.verdict, r.basis, r.facts)
			if r.verdict == Unknown || p < lo || p >= hi {
				continue
			}
			n += r.weight
			said += r.weight * p
			if r.right {
				right += r.weight
			}
		}
		if n == 0 {
			continue
		}
		said, right = said/n, right/n
		t.Logf("said %.2f to %.2f: %5.1f races, said %.3f, right %.3f %s", lo, hi, n, said, right, strings.Repeat("▇", int(right*50)))
		if limit := 0.05 + 2*math.Sqrt(said*(1-said)/n); math.Abs(said-right) > limit {
			t.Errorf("of what is said with a confidence of %.3f a share of %.3f is right, in %.1f races; it may be %.3f off", said, right, n, limit)
		}
	}
}

// Verdicts that are wrong are given with less confidence than right ones.
func TestConfidenceTellsRightFromWrong(t *testing.T) {
	var sum, n [2]float64
	for _, r := range measuredVerdicts(t) {
		if r.verdict == Unknown {
			continue
		}
		k := int(truth(r.right))
		sum[k] += r.weight * Confidence(r.verdict, r.basis, r.facts)
		n[k] += r.weight
	}
	if wrong, right := sum[0]/n[0], sum[1]/n[1]; right < wrong+0.1 {
		t.Errorf("right verdicts have a confidence of %.3f, wrong ones of %.3f", right, wrong)
	}
}

func TestNothingIsCertain(t *testing.T) {
	bases := []Basis{"never-heard-of"}
	for _, of := range measured {
		for term := range of {
			bases = append(bases, Basis(term))
		}
	}
	for _, f := range []Facts{{}, {Interleavings: 1000, Odd: 1000, Pairs: 9}, {Interleavings: 1, Failed: 7, Skipped: 9, Predicted: true, Abnormal: 4}} {
		for _, v := range []string{Harmful, Benign, Synchronisation} {
			for _, b := range bases {
				if p := Confidence(v, b, f); !(p >= Vaguest && p <= Surest) {
					t.Errorf("%s by %q: %v", v, b, p)
				}
			}
		}
		if p := Confidence(Unknown, ByNothing, f); p != 0 {
			t.Errorf("unknown has a confidence of %v", p)
		}
	}
}

func TestFactsKeepWhatTheyAre(t *testing.T) {
	var row []int
	for i := range FactNames() {
		row = append(row, i%2)
	}
	if got := FactsOf(row).Row(); !slices.Equal(got, row) {
		t.Errorf("%v, was %v", got, row)
	}
	e := Evidence{Interleavings: 9, NotSerialisable: 2, Predicted: true, Public: "x", Trials: []Trial{{Outcome: "crash"}, {Outcome: "same"}}}
	want := Facts{Interleavings: 9, Odd: 2, Predicted: true, Public: true, Crash: 1, Same: 1}
	if got := e.Facts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
