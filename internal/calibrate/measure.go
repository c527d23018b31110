package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/racesim/racesim"
	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/report"
)

// A said is one verdict of one run.
type said struct {
	Symbol    string         `json:"symbol"`
	Functions [2]string      `json:"functions"`
	Lines     [2]int         `json:"lines"`
	Verdict   string         `json:"verdict"` // what the evidence points to, even if it is too weak
	Basis     classify.Basis `json:"basis"`
	Reason    string         `json:"reason"`
	Facts     classify.Facts `json:"facts"`
}

// one records and analyses a program in this process, and writes what racesim
// says of its races to stdout. It is a process of its own for each run, so that
// what goes wrong is of that run alone.
func one(argv []string, seed uint64) error {
	dir, err := os.MkdirTemp("", "racesim-calibrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	trace := filepath.Join(dir, "t.ttd")
	if _, err := racesim.Record(context.Background(), racesim.RecordConfig{Output: trace, Argv: argv, Seed: seed, Stdout: null, Stderr: null}); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err) // a deadlock; the trace is whole
	}
	type place struct {
		id    string
		lines [2]int
	}
	of := func(r *report.Race) place {
		id, _, _ := strings.Cut(r.ID, "-")
		return place{id, [2]int{r.Accesses[0].Line, r.Accesses[1].Line}}
	}
	type verdict struct {
		said
		given string
	}
	judged := map[place]verdict{}
	rep, err := racesim.AnalyzeFile(context.Background(), trace, racesim.AnalyzeOptions{
		Judged: func(r *report.Race, e classify.Evidence, j classify.Judgement) {
			judged[of(r)] = verdict{said{Symbol: r.Location.Symbol, Functions: [2]string{r.Accesses[0].Function, r.Accesses[1].Function},
				Lines: of(r).lines, Verdict: cmp.Or(j.Leaning, j.Verdict), Basis: j.Basis, Reason: j.Reason, Facts: e.Facts()}, j.Verdict}
		},
	})
	if err != nil {
		return err
	}
	all := []said{}
	for i := range rep.Races {
		// What a later round withdrew isn't in the report.
		if s, ok := judged[of(&rep.Races[i])]; ok && s.given == string(rep.Races[i].Verdict) {
			all = append(all, s.said)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// A run is one program, built in one way, recorded with one seed.
type run struct {
	p    *program
	b    *build
	seed int
	said []said
	err  string
}

// plan lists the runs: each program in the first build with some seeds, and in
// others, which take turns, with one. What is built in its own way is recorded
// once, and what has no race, which mostly says nothing, in two builds. The
// first runs of all programs come first.
func plan(ps []*program, others, seeds int) []*run {
	var out []*run
	for i, p := range ps {
		n := seeds
		if p.truth == "none" || p.cc != nil {
			n = 1
		}
		for seed := 1; seed <= n; seed++ {
			out = append(out, &run{p: p, b: &builds[0], seed: seed})
		}
		for k := range min(others, len(builds)-1) {
			if p.cc == nil {
				out = append(out, &run{p: p, b: &builds[1+(i+k)%(len(builds)-1)], seed: 1})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *run) int { return cmp.Compare(a.rank(), b.rank()) })
	return out
}

// rank orders runs of a program: seeds of the first build come last.
func (r *run) rank() int {
	switch {
	case r.seed > 1:
		return 2
	case r.b.name != builds[0].name:
		return 1
	}
	return 0
}

// measure makes all runs, jobs at a time. It begins none after the deadline,
// if there is one, and returns how many it left out.
func measure(runs []*run, scratch string, jobs int, limit time.Duration, deadline time.Time) (left int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	next := make(chan *run)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for r := range next {
				r.make(self, scratch, limit)
				mu.Lock()
				done++
				text := ""
				for _, s := range r.said {
					text += fmt.Sprintf(" %s:%s(%s)", s.Symbol, s.Verdict, s.Basis)
				}
				fmt.Fprintf(os.Stderr, "%d/%d %s %s seed %d [%s]:%s %s\n", done, len(runs), r.p.name, r.b.name, r.seed, r.p.truth, text, r.err)
				mu.Unlock()
			}
		}()
	}
	for _, r := range runs {
		if !deadline.IsZero() && time.Now().After(deadline) {
			left++
			continue
		}
		next <- r
	}
	close(next)
	wg.Wait()
	return left, nil
}

// make makes one run.
func (r *run) make(self, scratch string, limit time.Duration) {
	bin, err := r.p.compile(r.b, scratch)
	if err != nil {
		r.err = err.Error()
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, self, append([]string{"-one", "-seed", fmt.Sprint(r.seed), bin}, r.p.args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &errs, scratch
	if err := cmd.Run(); err != nil {
		r.err = fmt.Sprintf("%v: %s", err, bytes.TrimSpace(errs.Bytes()[max(0, errs.Len()-200):]))
		return
	}
	if err := json.Unmarshal(out.Bytes(), &r.said); err != nil {
		r.err = err.Error()
	}
}
