package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/internal/plot"
)

// A bin is what was said with about the same confidence.
type bin struct {
	lo, hi      float64
	n           float64 // races
	verdicts    int
	said, right float64 // means
	programs    map[string]bool
}

// edges of the bins.
var edges = []float64{0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1}

// bins sorts rows by confidence.
func bins(rows []row, p, weight []float64) []bin {
	var out []bin
	for i := range edges[1:] {
		b := bin{lo: edges[i], hi: edges[i+1], programs: map[string]bool{}}
		for k, r := range rows {
			if r.verdict == classify.Unknown || p[k] < b.lo || p[k] >= b.hi {
				continue
			}
			b.verdicts++
			b.programs[r.program] = true
			b.n += weight[k]
			b.said += weight[k] * p[k]
			if r.right {
				b.right += weight[k]
			}
		}
		if b.n > 0 {
			b.said /= b.n
			b.right /= b.n
			out = append(out, b)
		}
	}
	return out
}

// brier is the mean square of the difference between what was said and what is.
func brier(rows []row, p, weight []float64) float64 {
	sum, n := 0.0, 0.0
	for i, r := range rows {
		if r.verdict == classify.Unknown {
			continue
		}
		y := 0.0
		if r.right {
			y = 1
		}
		sum += weight[i] * (p[i] - y) * (p[i] - y)
		n += weight[i]
	}
	return sum / n
}

// off is the expected calibration error: how far off the bins are, on average.
func off(bs []bin) float64 {
	sum, n := 0.0, 0.0
	for _, b := range bs {
		sum += b.n * math.Abs(b.said-b.right)
		n += b.n
	}
	return sum / n
}

// share is how many of the verdicts are right.
func share(rows []row, weight []float64) float64 {
	right, n := 0.0, 0.0
	for i, r := range rows {
		if r.verdict == classify.Unknown {
			continue
		}
		n += weight[i]
		if r.right {
			right += weight[i]
		}
	}
	return right / n
}

// table renders the bins.
func table(bs []bin) string {
	var b strings.Builder
	b.WriteString("| confidence | races | verdicts | programs | said | right |\n|---|---|---|---|---|---|\n")
	for _, x := range bs {
		fmt.Fprintf(&b, "| %.2f to %.2f | %.1f | %d | %d | %.3f | %.3f |\n", x.lo, x.hi, x.n, x.verdicts, len(x.programs), x.said, x.right)
	}
	return b.String()
}

// kinds renders how often each kind of evidence is right.
func kinds(rows []row, weight []float64, w classify.Weights) string {
	type sum struct {
		n, right float64
		verdicts int
		programs map[string]bool
		lo, hi   float64
	}
	all := map[[2]string]*sum{}
	for i, r := range rows {
		k := [2]string{r.verdict, string(r.basis)}
		s := all[k]
		if s == nil {
			s = &sum{programs: map[string]bool{}, lo: 1}
			all[k] = s
		}
		s.n += weight[i]
		s.verdicts++
		s.programs[r.program] = true
		if r.right {
			s.right += weight[i]
		}
		if r.verdict != classify.Unknown {
			c := w.Confidence(r.verdict, r.basis, r.facts)
			s.lo, s.hi = min(s.lo, c), max(s.hi, c)
		}
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	var b strings.Builder
	b.WriteString("| verdict | by | programs | races | verdicts | right | confidence |\n|---|---|---|---|---|---|---|\n")
	for _, k := range keys {
		s := all[k]
		if k[0] == classify.Unknown {
			fmt.Fprintf(&b, "| %s | %s | %d | %.1f | %d | | none |\n", k[0], k[1], len(s.programs), s.n, s.verdicts)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.1f | %d | %.2f | %.2f to %.2f |\n", k[0], k[1], len(s.programs), s.n, s.verdicts, s.right/s.n, s.lo, s.hi)
	}
	return b.String()
}

// diagram draws the bins.
func diagram(bs []bin) *plot.Diagram {
	d := &plot.Diagram{Title: "Confidence of verdicts, each program left out in turn", X: "confidence said", Y: "share of verdicts that are right", Min: 0, Ticks: []float64{0, 0.2, 0.4, 0.6, 0.8, 0.9, 1}}
	s := plot.Series{Name: "verdicts, by races", Line: true}
	for _, b := range bs {
		e := 1.96 * math.Sqrt((b.right*(1-b.right)+0.25/(b.n+4))/math.Max(b.n, 1))
		s.Points = append(s.Points, plot.Point{X: b.said, Y: b.right, Lo: math.Max(0, b.right-e), Hi: math.Min(1, b.right+e), Size: 2 + math.Sqrt(b.n)/2})
	}
	d.Series = append(d.Series, s)
	return d
}

// agreement returns in how many of the races that several recordings of one
// build show these give the same verdict, and of how many of those it is wrong.
func agreement(rows []row) (same, all, wrong int) {
	type race struct{ program, build, race, lines string }
	seeds := map[race]map[int]*row{}
	for i := range rows {
		r := &rows[i]
		k := race{r.program, r.build, r.race, r.lines}
		if seeds[k] == nil {
			seeds[k] = map[int]*row{}
		}
		seeds[k][r.seed] = r
	}
	for _, of := range seeds {
		if len(of) < 2 {
			continue
		}
		all++
		verdicts := map[string]bool{}
		right := false
		for _, r := range of {
			verdicts[r.verdict] = true
			right = r.right
		}
		if len(verdicts) == 1 {
			same++
			if !right {
				wrong++
			}
		}
	}
	return same, all, wrong
}
