package classify

// Facts are what confidence is computed from: evidence in numbers.
type Facts struct {
	Interleavings int // executed to a comparable end
	Odd           int // of these, like neither order
	Pairs         int // of accesses whose sections were interleaved
	Failed        int // interleavings without a comparable end
	Skipped       int // interleavings that the budget left out

	OrdersDiffer, Public, Gone, Predicted bool
	// Checker: in some order a checker finds something that it doesn't find in
	// another.
	Checker bool
	// Unread: nobody reads later what an interleaving left unlike the orders.
	Unread bool

	// Trials by what they showed; Abnormal, Normal and Happened are among those
	// that are Different.
	Same, Different, Crash, Unknown, Abnormal, Normal, Happened int
}

// Facts puts evidence into numbers.
func (e *Evidence) Facts() Facts {
	t := tally(e.Trials)
	return Facts{Interleavings: e.Interleavings, Odd: e.NotSerialisable, Pairs: e.Pairs, Failed: e.Failed, Skipped: e.Skipped,
		OrdersDiffer: e.OrdersDiffer, Public: e.Public != "", Gone: e.Gone != "", Predicted: e.Predicted,
		Checker: e.Appeared != "" || e.OrderFinding != "",
		Unread:  e.Unread,
		Same:    t.same, Different: t.different, Crash: t.crash, Unknown: t.unknown, Abnormal: t.abnormal, Normal: t.normal, Happened: t.happened}
}

// A field is one of the facts by its name in a table.
type field struct {
	name string
	n    *int
	b    *bool
}

func (f *Facts) fields() []field {
	return []field{
		{"interleavings", &f.Interleavings, nil}, {"odd", &f.Odd, nil}, {"pairs", &f.Pairs, nil}, {"failed", &f.Failed, nil}, {"skipped", &f.Skipped, nil},
		{"orders_differ", nil, &f.OrdersDiffer}, {"public", nil, &f.Public}, {"gone", nil, &f.Gone}, {"predicted", nil, &f.Predicted}, {"checker", nil, &f.Checker}, {"unread", nil, &f.Unread},
		{"same", &f.Same, nil}, {"different", &f.Different, nil}, {"crash", &f.Crash, nil}, {"unknown", &f.Unknown, nil},
		{"abnormal", &f.Abnormal, nil}, {"normal", &f.Normal, nil}, {"happened", &f.Happened, nil},
	}
}

// FactNames are the names of the facts in a table, in the order of Facts.Row.
func FactNames() []string {
	var out []string
	for _, x := range new(Facts).fields() {
		out = append(out, x.name)
	}
	return out
}

// Row returns the facts as numbers; of those that hold or not, 1 or 0.
func (f Facts) Row() []int {
	var out []int
	for _, x := range f.fields() {
		switch {
		case x.n != nil:
			out = append(out, *x.n)
		case *x.b:
			out = append(out, 1)
		default:
			out = append(out, 0)
		}
	}
	return out
}

// FactsOf is the inverse of Row. row must be as long as FactNames.
func FactsOf(row []int) Facts {
	var f Facts
	for i, x := range f.fields() {
		if x.n != nil {
			*x.n = row[i]
		} else {
			*x.b = row[i] != 0
		}
	}
	return f
}
