package classify

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A Basis names the kind of evidence that decided a verdict.
type Basis string

// Bases, by what was seen.
const (
	ByFreed           Basis = "freed"            // one side is the release of the block
	ByLife            Basis = "life"             // one side begins or ends the life of what the other uses
	BySpin            Basis = "spin"             // with the other value the reader only waits
	ByAsRecorded      Basis = "as-recorded"      // what was recorded, and an interleaving, equal neither order
	ByNotSerialisable Basis = "not-serialisable" // an interleaving equals neither order
	ByChecker         Basis = "checker"          // in one of the orders a checker finds something that it doesn't find in the other
	ByWarning         Basis = "warning"          // … something that is no fault yet, and the orders differ once and for all
	ByOnlyRecorded    Basis = "only-recorded"    // what was recorded equals neither order, and nothing could be interleaved
	ByFails           Basis = "fails"            // a replaced value makes a section fail, and nothing could be interleaved
	ByBothPass        Basis = "both-pass"        // two threads get past a wait that is to keep one out
	ByGuarded         Basis = "guarded"          // a load that synchronises decides between the orders
	ByOrdersAlike     Basis = "orders-alike"     // all interleavings and both orders end alike
	ByPublicAbnormal  Basis = "public-abnormal"  // the order decides what the program puts out, and one isn't normal
	ByPublicNormal    Basis = "public-normal"    // … and both are normal
	ByPublic          Basis = "public"           // … and nothing says what is normal
	ByHypothesis      Basis = "hypothesis"       // interleavings equal the orders, but a replaced value makes outputs abnormal
	ByGone            Basis = "gone"             // interleavings equal the orders, and what differs between these ends in the program
	BySerialisable    Basis = "serialisable"     // interleavings equal the orders
	ByOneOrder        Basis = "one-order"        // … and they differ once and for all
	ByWaits           Basis = "waits"            // with another value the reader only looks again
	ByHappened        Basis = "happened"         // outputs weren't normal, and are with the other value
	ByAbnormal        Basis = "abnormal"         // with the other value outputs aren't normal
	ByNoEffect        Basis = "no-effect"        // no replaced value changes an output
	ByEffectGone      Basis = "effect-gone"      // what a replaced value changes ends in the program
	ByNormal          Basis = "normal"           // what a replaced value changes stays normal
	ByChanged         Basis = "changed"          // a replaced value changes outputs, and nothing says what is normal
	ByNoOrder         Basis = "no-order"         // an order could not be re-emulated
	ByNothing         Basis = "nothing"          // no experiment gave a result
)

// Confidence is the probability that a verdict is right, given by this kind of
// evidence. It is that of a logistic regression on verdicts about labelled
// programs, see docs/confidence.md; 0 if the verdict is Unknown.
func Confidence(verdict string, basis Basis, f Facts) float64 {
	if verdict == Unknown {
		return 0
	}
	return measured.Confidence(verdict, basis, f)
}

// Surest and Vaguest bound a confidence: so few programs don't tell more.
const (
	Surest  = 0.98
	Vaguest = 0.05
)

// Even is the confidence below which a verdict isn't given.
const Even = 0.5

// Weights are the coefficients of the regression, by verdict and term. A term
// is "" (the verdict itself), a basis, or a sign.
type Weights map[string]map[string]float64

// Confidence computes a probability. What wasn't measured has no weight.
func (w Weights) Confidence(verdict string, basis Basis, f Facts) float64 {
	of := w[verdict]
	x := of[""] + of[string(basis)]
	for _, s := range Signs {
		x += of[s.Name] * s.Of(&f)
	}
	return min(Surest, max(Vaguest, 1/(1+math.Exp(-x))))
}

// A Sign is what beside the kind of evidence tells how good it is, 0 to 1.
type Sign struct {
	Name string
	Of   func(*Facts) float64
}

// Signs are those that confidence is computed from.
var Signs = []Sign{
	{"+few", func(f *Facts) float64 { return 1 / (1 + float64(f.Interleavings)/8) }},
	{"+failed", func(f *Facts) float64 { return truth(f.Failed > 0) }},
	{"+skipped", func(f *Facts) float64 { return truth(f.Skipped > 0) }},
	{"+predicted", func(f *Facts) float64 { return truth(f.Predicted) }},
	{"+checker", func(f *Facts) float64 { return truth(f.Checker) }},
	{"+unread", func(f *Facts) float64 { return truth(f.Unread) }},
	{"+abnormal", func(f *Facts) float64 { return truth(f.Abnormal > 0) }},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

//go:embed confidence.csv
var measuredTable string

var measured = func() Weights {
	w, err := ReadWeights(strings.NewReader(measuredTable))
	if err != nil {
		panic("BUG: classify/confidence.csv: " + err.Error())
	}
	return w
}()

// ReadWeights reads a table with the columns verdict, term, weight and others.
func ReadWeights(r io.Reader) (Weights, error) {
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	w := Weights{}
	for i, l := range all[min(1, len(all)):] {
		if len(l) < 3 {
			return nil, fmt.Errorf("row %d: %d columns", i+2, len(l))
		}
		x, err := strconv.ParseFloat(l[2], 64)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		if w[l[0]] == nil {
			w[l[0]] = map[string]float64{}
		}
		w[l[0]][l[1]] = x
	}
	return w, nil
}
