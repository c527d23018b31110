package report

import (
	"bytes"
	"strings"
	"testing"
)

func sample() *Report {
	fr := []Frame{{Function: "deposit", File: "bank.c", Line: 7, Module: "bank"}, {Function: "teller", File: "bank.c", Line: 11, Module: "bank"}}
	r := &Report{Races: []Race{
		{ID: "b", Verdict: Benign, Confidence: 0.7, Count: 3, Location: Location{Kind: "global", Symbol: "hint", Size: 4}},
		{ID: "a", Verdict: Harmful, Confidence: 0.92, Reason: "1 of 2 interleavings end like neither order of the two", Count: 1,
			Location:    Location{Kind: "global", Symbol: "balance", Size: 8, Type: "long"},
			Accesses:    [2]Access{{Thread: 2, Position: "2:10:4", Op: "update", Function: "deposit", File: "bank.c", Line: 7, Stack: fr}, {Thread: 3, Position: "3:11:4", Op: "update", Function: "deposit", File: "bank.c", Line: 7, Stack: fr}},
			Experiments: []Experiment{{Function: "deposit", Mode: "simulate", Source: "interleaving", Outcome: "not-serialisable", Outputs: []Output{{"balance", "2", "1"}}}}},
	}, Summary: Summary{Instructions: 1234567, Threads: 3, Gate: "fail"}}
	r.Sort()
	r.Summarise()
	return r
}

func TestHarmfulComesFirst(t *testing.T) {
	r := sample()
	if r.Races[0].ID != "a" || r.Summary.Harmful != 1 || r.Summary.Benign != 1 {
		t.Fatalf("order %q, summary %+v", r.Races[0].ID, r.Summary)
	}
}

func TestTableNamesBothSides(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, sample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"balance", "1 harmful race\n", "update bank.c:7 ", "thread 2: update in deposit", "thread 3: update in deposit", "HARMFUL (0.92)", "balance: 1 instead of 2", "1,234,567 instructions in 3 threads", "gate: fail", "balance: 2 → 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// A benign race whose orders differ isn't said to give one result.
func TestBenignOrdersMayDiffer(t *testing.T) {
	x := Race{Verdict: Benign, Experiments: []Experiment{{Source: "interleaving", Outcome: "same"}}}
	if got := x.effect(); got != "same result in every order tried" {
		t.Error(got)
	}
	x.Experiments = append(x.Experiments, Experiment{Source: "interleaving", Outcome: "different"})
	if got := x.effect(); got != "always as in one of the two orders" {
		t.Error(got)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") && !strings.Contains(b.String(), `"normal": null`) {
		t.Errorf("null list in %s", b.String())
	}
	r, err := ReadJSON(&b)
	if err != nil || len(r.Races) != 2 {
		t.Fatalf("%v, %v", r, err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		l    Location
		want string
	}{
		{Location{Kind: "global", Symbol: "conf.level"}, "conf.level"},
		{Location{Kind: "global", Symbol: "table", Offset: 12}, "table+12"},
		{Location{Kind: "global", Symbol: "table+12", Offset: 12}, "table+12"},
		{Location{Kind: "heap", Offset: 8}, "heap block+8"},
		{Location{Kind: "mapped", Symbol: "/usr/bin/prog", Offset: 8}, "prog+8"},
		{Location{Kind: "stack", Address: "0x7ff0"}, "stack 0x7ff0"},
		{Location{Kind: "unknown"}, "unknown"},
	} {
		if got := c.l.Name(); got != c.want {
			t.Errorf("%+v: %q, expected %q", c.l, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		f    Frame
		want string
	}{
		{Frame{Function: "deposit", File: "/src/bank.c", Line: 7, Module: "/bin/bank"}, "bank.c:7"},
		{Frame{Function: "deposit", Module: "/bin/bank", Offset: "0x11fa"}, "bank+0x11fa"},
		{Frame{Function: "0x7f0012345678"}, "0x7f0012345678"},
	} {
		if got := c.f.Place(); got != c.want {
			t.Errorf("%+v: %q, expected %q", c.f, got, c.want)
		}
	}
}

// race makes a race on a variable, with the locks that its sides hold.
func race(id string, v Verdict, variable string, lines [2]int, locks ...string) Race {
	x := Race{ID: id, Verdict: v, Count: 1, Location: Location{Kind: "global", Symbol: variable, Variable: variable}}
	for k := range x.Accesses {
		x.Accesses[k] = Access{Op: "update", File: "a.c", Line: lines[k]}
		if k < len(locks) && locks[k] != "" {
			x.Accesses[k].Locks = []string{locks[k]}
		}
	}
	return x
}

func TestRacesAreGroupedByCause(t *testing.T) {
	r := &Report{Races: []Race{
		race("a", Benign, "sum", [2]int{1, 2}, "lock"),      // the lock is missing on line 2
		race("b", Harmful, "sum", [2]int{2, 2}),             // here, too
		race("c", Harmful, "sum", [2]int{8, 9}, "", "mine"), // another is missing
		race("d", Unknown, "left", [2]int{4, 4}),
		race("e", Unknown, "right", [2]int{4, 4}), // the same lines
		race("f", Synchronisation, "sum", [2]int{1, 3}, "lock"),
		race("g", Harmful, "alone", [2]int{7, 7}),
		race("h", Harmful, "sum", [2]int{2, 5}, "lock"),
	}}
	r.Races[7].Suppressed = "known"
	r.Sort()
	var got []string
	for _, c := range r.Causes {
		got = append(got, strings.Join(c.Races, "+")+" "+string(c.Verdict)+" "+c.Lock)
	}
	want := "b+a harmful lock; c harmful mine; g harmful ; d+e unknown ; f synchronisation lock"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	var order string
	for i := range r.Races {
		order += r.Races[i].ID
	}
	if order != "bacgdefh" {
		t.Errorf("order %s", order)
	}
	var b bytes.Buffer
	r.Summarise()
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 harmful races, 2 more that may be", "cause: sum is accessed with lock held and without", "also benign: sum, update a.c:1 and update a.c:2; id a"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestLocksOfOneSideAreNoCauseOfTheUnknown(t *testing.T) {
	x := race("a", Harmful, "", [2]int{1, 2}, "big")
	x.Location.Kind = "mapped"
	r := &Report{Races: []Race{x}}
	r.Sort()
	if c := r.Causes[0]; c.Lock != "" || c.What != "" {
		t.Errorf("%+v", c)
	}
}
