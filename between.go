package racesim

import (
	"context"
	"fmt"

	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// maxJoint bounds the number of processes that are replayed side by side.
const maxJoint = 64

// between finds the races between the processes of a recording, on memory that
// they share. They are reported without a verdict: sections of two processes
// aren't executed together. note says what was left out, "" for nothing.
func between(ctx context.Context, ts []*Trace, o AnalyzeOptions) (found []report.Race, note string, err error) {
	var sides []*analysis
	var sessions []*replay.Session
	var trees []*funcs.Tree
	for _, t := range ts {
		if t.Empty() {
			continue
		}
		sessions = append(sessions, t.s)
		sides = append(sides, &analysis{t: t, o: o, rep: &report.Report{}})
	}
	if !detect.Shares(sessions) {
		return nil, "", nil
	}
	if len(sessions) > maxJoint {
		return nil, fmt.Sprintf("races between processes weren't looked for: %d processes, at most %d", len(sessions), maxJoint), nil
	}
	for _, a := range sides {
		a.ms = a.t.modules()
		a.tree = funcs.NewTree(a.ms)
		trees = append(trees, a.tree)
	}
	j := detect.NewJoint(sessions, trees)
	for i, a := range sides {
		a.pass = j.Passes[i]
	}
	if err := j.Run(ctx); err != nil {
		return nil, "", err
	}
	byID := map[string]int{}
	for _, c := range j.Between() {
		if (c.First.Internal || c.Second.Internal) && !o.All {
			continue
		}
		r := raceBetween(j, sides, c)
		if i, ok := byID[r.ID]; ok {
			found[i].Count += r.Count
			continue
		}
		byID[r.ID] = len(found)
		found = append(found, r)
	}
	return found, "", nil
}

// raceBetween describes a conflict between two processes.
func raceBetween(j *detect.Joint, sides []*analysis, c *races.Candidate) report.Race {
	i, k := j.Process(c.First.Thread), j.Process(c.Second.Thread)
	r := report.Race{Verdict: report.Unknown, Count: int(c.Count),
		Reason: fmt.Sprintf("the sides are in processes %d and %d, on memory that they share: sections of two processes aren't executed together",
			j.PID(i), j.PID(k))}
	r.Accesses[0], r.Accesses[1] = sides[i].access(&c.First, false), sides[k].access(&c.Second, false)
	r.Location = report.Location{Kind: "mapped", Size: c.Size}
	if a, ok := j.Address(i, c.Addr); ok {
		r.Location.Address = fmt.Sprintf("0x%x", uint64(a))
		for _, m := range sides[i].t.s.EveryMapping() {
			if m.Alias != 0 && a >= m.Addr && uint64(a) < uint64(m.Addr)+m.N {
				r.Location.Symbol, r.Location.Offset = m.Path, int64(a-m.Addr)+int64(m.AliasOffset)
			}
		}
	}
	if r.Location.Symbol == "" {
		r.Location.Symbol = "shared memory"
	}
	r.ID = fingerprint(root(&r.Location), [2]side{sides[i].side(&c.First), sides[k].side(&c.Second)})
	return r
}
