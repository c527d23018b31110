package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/internal/plot"
)

// publish fits the rows of a table, and writes the weights, the page's tables
// and the plot.
func publish(tablePath, weights, page, image string) error {
	f, err := os.Open(tablePath)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", tablePath, err)
	}
	weight := weigh(rows)
	w, err := fit(rows, weight)
	if err != nil {
		return err
	}
	crossed, err := predict(rows)
	if err != nil {
		return err
	}
	if err := writeWeights(weights, w, rows); err != nil {
		return err
	}
	fitted := make([]float64, len(rows))
	constant := make([]float64, len(rows))
	mean := share(rows, weight)
	programs := map[string]bool{}
	judged, withheld := 0, 0
	for i, r := range rows {
		fitted[i] = w.Confidence(r.verdict, r.basis, r.facts)
		constant[i] = mean
		programs[r.program] = true
		if r.verdict != classify.Unknown {
			judged++
			if fitted[i] < classify.Even {
				withheld++
			}
		}
	}
	if err := os.WriteFile(image, []byte(diagram(bins(rows, crossed, weight)).SVG()), 0o666); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d verdicts on races of %d programs, and %d unknown; %.1f %% are right (races counted once each; %.1f %% of all verdicts). %d of them have so little confidence that racesim says unknown instead.\n\n",
		judged, len(programs), len(rows)-judged, 100*mean, 100*share(rows, ones(len(rows))), withheld)
	fmt.Fprintf(&b, "| | Brier score | mean distance of said and right |\n|---|---|---|\n")
	for _, x := range []struct {
		what string
		p    []float64
	}{{"each program judged by weights fitted without it", crossed}, {"the weights that racesim uses, on what they were fitted to", fitted}, {"one confidence for everything", constant}} {
		fmt.Fprintf(&b, "| %s | %.3f | %.3f |\n", x.what, brier(rows, x.p, weight), off(bins(rows, x.p, weight)))
	}
	fmt.Fprintf(&b, "\nEach program judged by weights fitted without it:\n\n%s\nThe same, every verdict counted:\n\n%s\nBy kind of evidence, with the confidence that racesim gives:\n\n%s",
		table(bins(rows, crossed, weight)), table(bins(rows, crossed, ones(len(rows)))), kinds(rows, weight, w))
	if same, all, wrong := agreement(rows); all > 0 {
		fmt.Fprintf(&b, "\nRecordings of one build with different seeds give the same verdict of %d of %d races; %d of those are wrong together. What several recordings agree on isn't much surer than what one says.\n", same, all, wrong)
	}
	fmt.Print(b.String())
	return plot.PutBetween(page, "measured", b.String())
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
