package report

import "sort"

// rank orders verdicts by what needs attention first.
var rank = map[Verdict]int{Harmful: 0, Unknown: 1, Benign: 2, Synchronisation: 3}

// Sort orders races by harm, then confidence, then identifier, those of one cause
// together; findings by severity. It groups races by cause.
func (r *Report) Sort() {
	less := func(a, b *Race) bool {
		if (a.Suppressed != "") != (b.Suppressed != "") {
			return a.Suppressed == ""
		}
		if rank[a.Verdict] != rank[b.Verdict] {
			return rank[a.Verdict] < rank[b.Verdict]
		}
		if a.Confidence != b.Confidence {
			return a.Confidence > b.Confidence
		}
		return a.ID < b.ID
	}
	sort.SliceStable(r.Races, func(i, j int) bool { return less(&r.Races[i], &r.Races[j]) })
	r.Group()
	// Races of one cause follow its worst.
	first := map[string]int{}
	place := make(map[*Race]int, len(r.Races))
	sorted := make([]*Race, len(r.Races))
	for i := range r.Races {
		x := &r.Races[i]
		sorted[i], place[x] = x, i
		if k, ok := first[x.Cause]; ok && x.Cause != "" {
			place[x] = k
		} else {
			first[x.Cause] = i
		}
	}
	sort.SliceStable(sorted, func(i, j int) bool { return place[sorted[i]] < place[sorted[j]] })
	out := make([]Race, len(sorted))
	for i, x := range sorted {
		out[i] = *x
	}
	r.Races = out
	sev := map[string]int{"error": 0, "warning": 1, "note": 2}
	sort.SliceStable(r.Findings, func(i, j int) bool {
		return sev[r.Findings[i].Severity] < sev[r.Findings[j].Severity]
	})
}

// Summarise counts verdicts and findings that aren't suppressed; it leaves
// Gate, Instructions and Threads alone.
func (r *Report) Summarise() {
	s := &r.Summary
	s.Harmful, s.Benign, s.Synchronisation, s.Unknown, s.Findings = 0, 0, 0, 0, 0
	for i := range r.Races {
		if r.Races[i].Suppressed != "" {
			continue
		}
		switch r.Races[i].Verdict {
		case Harmful:
			s.Harmful++
		case Benign:
			s.Benign++
		case Synchronisation:
			s.Synchronisation++
		default:
			s.Unknown++
		}
	}
	for i := range r.Findings {
		if r.Findings[i].Suppressed == "" {
			s.Findings++
		}
	}
}
