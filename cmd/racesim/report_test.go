package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// The types below are the JSON form of a report, written down a second time:
// what others may rely on. Fields with omitempty are additions to the form
// racesim/report/v1 that needn't be there.
type (
	jsonReport struct {
		Schema   string        `json:"schema"`
		Races    []jsonRace    `json:"races"`
		Causes   []jsonCause   `json:"causes"`
		Findings []jsonFinding `json:"findings"`
		Summary  jsonSummary   `json:"summary"`
		Notes    []string      `json:"notes,omitempty"`
		Runs     []jsonRun     `json:"runs,omitempty"`
		// Experiments that the user asked for and that belong to no race.
		Experiments []jsonExperiment `json:"experiments,omitempty"`
	}
	jsonRun struct {
		Seed     uint64 `json:"seed"`
		Schedule string `json:"schedule"`
		Trace    string `json:"trace,omitempty"`
	}
	jsonCause struct {
		ID      string   `json:"id"`
		Verdict string   `json:"verdict"`
		What    string   `json:"what,omitempty"`
		Lock    string   `json:"lock,omitempty"`
		Races   []string `json:"races"`
		Count   int      `json:"count"`
	}
	jsonRace struct {
		ID         string       `json:"id"`
		Cause      string       `json:"cause,omitempty"`
		Verdict    string       `json:"verdict"`
		Confidence float64      `json:"confidence"`
		Reason     string       `json:"reason"`
		Evidence   string       `json:"evidence,omitempty"`
		Location   jsonLocation `json:"location"`
		Accesses   []jsonAccess `json:"accesses"`
		LeftOut    []string     `json:"left_out,omitempty"`
		Checkers   []struct {
			Change string `json:"change"`
			What   string `json:"what"`
			Runs   int    `json:"runs"`
		} `json:"checkers,omitempty"`
		Experiments []jsonExperiment `json:"experiments"`
		Count       int              `json:"count,omitempty"`
		Predicted   bool             `json:"predicted,omitempty"`
		Witness     *jsonWitness     `json:"witness,omitempty"`
		Seen        int              `json:"seen,omitempty"`
		Run         int              `json:"run,omitempty"`
		Verdicts    map[string]int   `json:"verdicts,omitempty"`
		Severity    string           `json:"severity,omitempty"`
		Fail        *bool            `json:"fail,omitempty"`
		Suppressed  string           `json:"suppressed,omitempty"`
	}
	jsonWitness struct {
		Executed bool   `json:"executed"`
		Why      string `json:"why,omitempty"`
		Steps    []struct {
			Thread      uint32    `json:"thread"`
			Instruction uint64    `json:"instruction,omitempty"`
			What        string    `json:"what"`
			At          jsonFrame `json:"at"`
		} `json:"steps,omitempty"`
		LeftOut int      `json:"left_out,omitempty"`
		Other   []uint32 `json:"other,omitempty"`
	}
	jsonLocation struct {
		Kind        string      `json:"kind"`
		Symbol      string      `json:"symbol"`
		Variable    string      `json:"variable,omitempty"`
		Offset      int64       `json:"offset"`
		Size        int         `json:"size"`
		Type        string      `json:"type"`
		AllocatedAt []jsonFrame `json:"allocated_at"`
		Member      string      `json:"member,omitempty"`
		Object      string      `json:"object,omitempty"`
		AllocatedBy uint32      `json:"allocated_by,omitempty"`
		FreedAt     []jsonFrame `json:"freed_at,omitempty"`
		FreedBy     uint32      `json:"freed_by,omitempty"`
		Address     string      `json:"address,omitempty"`
	}
	jsonAccess struct {
		Thread     uint32      `json:"thread"`
		ThreadName string      `json:"thread_name,omitempty"`
		Goroutine  uint64      `json:"goroutine,omitempty"`
		Task       uint64      `json:"task,omitempty"`
		CreatedBy  uint32      `json:"created_by,omitempty"`
		CreatedAt  []jsonFrame `json:"created_at,omitempty"`
		Position   string      `json:"position"`
		Op         string      `json:"op"`
		Atomic     bool        `json:"atomic"`
		Function   string      `json:"function"`
		File       string      `json:"file"`
		Line       int         `json:"line"`
		Value      string      `json:"value"`
		Locks      []string    `json:"locks,omitempty"`
		Stack      []jsonFrame `json:"stack"`
		Code       string      `json:"code,omitempty"`
		Moved      int         `json:"moved,omitempty"`
	}
	jsonFrame struct {
		Function    string `json:"function"`
		File        string `json:"file"`
		Line        int    `json:"line"`
		Module      string `json:"module"`
		Offset      string `json:"offset,omitempty"`
		Inlined     bool   `json:"inlined,omitempty"`
		Interrupted bool   `json:"interrupted,omitempty"`
	}
	jsonExperiment struct {
		Function    string       `json:"function"`
		Load        string       `json:"load"`
		Mode        string       `json:"mode"`
		Source      string       `json:"source"`
		Recorded    string       `json:"recorded"`
		Replacement string       `json:"replacement"`
		Outcome     string       `json:"outcome"`
		Outputs     []jsonOutput `json:"outputs"`
		Normal      *bool        `json:"normal"`
		Score       float64      `json:"score"`
		Detail      string       `json:"detail,omitempty"`

		Checkers []string   `json:"checkers,omitempty"`
		Schedule []jsonTurn `json:"schedule,omitempty"`
		Trace    string     `json:"trace,omitempty"`
	}
	jsonTurn struct {
		Side  int    `json:"side"`
		Until string `json:"until"`
	}
	jsonOutput struct {
		Name       string `json:"name"`
		Recorded   string `json:"recorded"`
		Reemulated string `json:"reemulated"`
	}
	jsonFinding struct {
		Checker  string      `json:"checker"`
		Severity string      `json:"severity"`
		Message  string      `json:"message"`
		Stack    []jsonFrame `json:"stack"`
		Thread   uint32      `json:"thread,omitempty"`
		Position string      `json:"position,omitempty"`
		Seen     int         `json:"seen,omitempty"`
		Related  []struct {
			What   string      `json:"what"`
			Thread uint32      `json:"thread,omitempty"`
			Stack  []jsonFrame `json:"stack"`
		} `json:"related,omitempty"`
		Fail       *bool  `json:"fail,omitempty"`
		Suppressed string `json:"suppressed,omitempty"`
	}
	jsonSummary struct {
		Harmful         int    `json:"harmful"`
		Benign          int    `json:"benign"`
		Synchronisation int    `json:"synchronisation"`
		Unknown         int    `json:"unknown"`
		Findings        int    `json:"findings"`
		Instructions    uint64 `json:"instructions"`
		Threads         int    `json:"threads"`
		Gate            string `json:"gate"`
		Runs            int    `json:"runs,omitempty"`
	}
)

// The words that fields may hold.
var (
	verdicts = []string{"harmful", "benign", "synchronisation", "unknown"}
	kinds    = []string{"global", "heap", "stack", "tls", "mapped", "unknown"}
	ops      = []string{"read", "write", "update", "free"}
	modes    = []string{"correct", "simulate"}
	sources  = []string{"entry", "own-store", "other-thread", "typical", "atypical", "boundary", "random", "user", "interleaving"}
	outcomes = []string{"same", "different", "crash", "hang", "diverged", "unknown", "not-serialisable"}
	severity = []string{"error", "warning", "note"}
)

func cmdReport(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(checkReport([]byte(ts.ReadFile(args[0]))))
}

// checkReport says what is wrong with a report in JSON: fields that nobody has
// been told of, fields that are missing, words that mean nothing, sums that
// don't agree.
func checkReport(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var r jsonReport
	if err := d.Decode(&r); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something stands behind the report")
	}
	var want, got any
	again, err := json.Marshal(&r)
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal(b, &got), json.Unmarshal(again, &want)); err != nil {
		return err
	}
	if err := sameFields("", want, got); err != nil {
		return err
	}
	if r.Schema != "racesim/report/v1" {
		return fmt.Errorf("schema %q", r.Schema)
	}
	if err := checkExperiments(r.Experiments); err != nil {
		return err
	}
	if err := checkCauses(&r); err != nil {
		return err
	}
	count := map[string]int{}
	for i, x := range r.Races {
		if x.Suppressed == "" {
			count[x.Verdict]++
		}
		if err := checkRace(&x); err != nil {
			return fmt.Errorf("race %d: %w", i, err)
		}
	}
	findings := 0
	for i, f := range r.Findings {
		if f.Suppressed == "" {
			findings++
		}
		if f.Checker == "" || f.Message == "" || !slices.Contains(severity, f.Severity) {
			return fmt.Errorf("finding %d: %+v", i, f)
		}
	}
	s := r.Summary
	if s.Harmful != count["harmful"] || s.Benign != count["benign"] || s.Synchronisation != count["synchronisation"] || s.Unknown != count["unknown"] || s.Findings != findings {
		return fmt.Errorf("summary %+v, but there are %v and %d findings", s, count, findings)
	}
	if s.Gate != "pass" && s.Gate != "fail" || s.Instructions == 0 || s.Threads == 0 {
		return fmt.Errorf("summary %+v", s)
	}
	return nil
}

// checkCauses says whether every race that counts has one cause, which knows it.
func checkCauses(r *jsonReport) error {
	of := map[string]string{}
	for _, c := range r.Causes {
		if c.ID == "" || len(c.Races) == 0 || !slices.Contains(verdicts, c.Verdict) {
			return fmt.Errorf("cause %+v", c)
		}
		for _, id := range c.Races {
			of[id] = c.ID
		}
	}
	for _, x := range r.Races {
		if (x.Suppressed == "") != (x.Cause != "") || of[x.ID] != x.Cause {
			return fmt.Errorf("race %s has cause %q, listed under %q", x.ID, x.Cause, of[x.ID])
		}
	}
	return nil
}

func checkRace(x *jsonRace) error {
	if x.ID == "" || x.Reason == "" || !slices.Contains(verdicts, x.Verdict) || x.Confidence < 0 || x.Confidence > 1 {
		return fmt.Errorf("id %q, verdict %q, confidence %v, reason %q", x.ID, x.Verdict, x.Confidence, x.Reason)
	}
	if !slices.Contains(kinds, x.Location.Kind) || x.Location.Size < 1 {
		return fmt.Errorf("location %+v", x.Location)
	}
	if len(x.Accesses) != 2 {
		return fmt.Errorf("%d accesses", len(x.Accesses))
	}
	for _, a := range x.Accesses {
		if a.Thread == 0 || a.Position == "" || !slices.Contains(ops, a.Op) || len(a.Stack) == 0 {
			return fmt.Errorf("access %+v", a)
		}
	}
	return checkExperiments(x.Experiments)
}

func checkExperiments(xs []jsonExperiment) error {
	for _, e := range xs {
		if !slices.Contains(modes, e.Mode) || !slices.Contains(sources, e.Source) || !slices.Contains(outcomes, e.Outcome) {
			return fmt.Errorf("experiment %+v", e)
		}
	}
	return nil
}

// sameFields compares two JSON values: what want has, got must have.
func sameFields(path string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: %T instead of an object", path, got)
		}
		for k := range w {
			v, ok := g[k]
			if !ok {
				return fmt.Errorf("%s.%s is missing", path, k)
			}
			if err := sameFields(path+"."+k, w[k], v); err != nil {
				return err
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: %T instead of a list of %d", path, got, len(w))
		}
		for i := range w {
			if err := sameFields(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); err != nil {
				return err
			}
		}
	case nil:
		if !strings.HasSuffix(path, ".normal") {
			return fmt.Errorf("%s is null", path)
		}
	}
	return nil
}
