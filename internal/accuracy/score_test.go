package main

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestScore(t *testing.T) {
	m := &measured{suite: &suite{}, rows: []row{
		{&testCase{name: "a", race: true}, []outcome{{race: true}}},
		{&testCase{name: "b", race: true}, []outcome{{}}},
		{&testCase{name: "c"}, []outcome{{race: true}}},
		{&testCase{name: "d"}, []outcome{{}}},
		{&testCase{name: "e", race: true}, []outcome{{race: true}}},
		{&testCase{name: "f", verdict: "synchronisation"}, []outcome{{race: true}}},
		{&testCase{name: "g"}, []outcome{{failed: "crash"}}},
	}}
	s := m.score(0)
	if s.tp != 2 || s.fn != 1 || s.fp != 1 || s.tn != 2 || len(s.failed) != 1 {
		t.Errorf("score: %+v", s)
	}
	if p, r, f := s.precision(), s.recall(), s.f1(); p != 2./3 || r != 2./3 || f != 2./3 {
		t.Errorf("precision %v, recall %v, F1 %v", p, r, f)
	}
	if f := (&score{}).f1(); f != 0 {
		t.Errorf("F1 of nothing: %v", f)
	}
}

// Every case has a name of its own, and there are as many as the page says.
func TestLabels(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(valgrindLabels)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen, races := map[string]bool{}, 0
	for _, r := range rows[1:] {
		if seen[r[0]] {
			t.Errorf("%s is there twice", r[0])
		}
		seen[r[0]] = true
		switch r[3] {
		case "race":
			races++
		case "norace":
		default:
			t.Errorf("%s is labelled %q", r[0], r[3])
		}
	}
	if len(seen) != 193 || races != 67 {
		t.Errorf("%d cases, %d with races", len(seen), races)
	}
}
