package racesim

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// AnalyzeOptions say what to look for. The zero value is the default.
type AnalyzeOptions struct {
	All          bool     // also races within the run-time libraries
	CheckersOnly bool     // no races
	Loads        []Load   // replacement values given by the user
	Models       []string // traces to learn from what is normal
	Learnt       []*Model // …and models
	UpdateModel  string   // file to which what was learnt from this trace is added
	MaxRuns      int      // interleavings per race; 0: the default
	Memory       int64    // bytes that the analysis may take, about; 0: DefaultMemory
	Rules        *checkers.Rules
	// Progress, if it isn't nil, is told what is done, and how much of it. It is
	// called often, and with the traces of several processes by many goroutines.
	Progress func(phase string, done, total int)
	// Answers are given to system calls that experiments make and the recording
	// doesn't have, by number.
	Answers map[uint64][]overlay.Answer
	// SaveExperiments is a folder that a trace of every experiment is written
	// to, "" for none.
	SaveExperiments string

	// Judged, if it isn't nil, is called with the evidence of each verdict.
	Judged func(*report.Race, classify.Evidence, classify.Judgement)
}

// maxRounds bounds how often detection is repeated because synchronisation was
// recognised.
const maxRounds = 6

// AnalyzeFile analyses the trace in a file, or those of all processes of a
// recording in a folder.
func AnalyzeFile(ctx context.Context, path string, o AnalyzeOptions) (*report.Report, error) {
	if isDir(path) {
		return analyzeAll(ctx, path, o)
	}
	t, err := OpenAlone(ctx, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Analyze(ctx, o)
}

// Analyze finds the races of a recording and judges them. The error is a
// damaged trace or a replay that diverged.
func (t *Trace) Analyze(ctx context.Context, o AnalyzeOptions) (*report.Report, error) {
	if names := t.r.Header().Select; names != "" {
		return nil, fmt.Errorf("only %s was recorded: what orders threads in the gaps isn't known, so races can't be told; record without --select", names)
	}
	a := &analysis{t: t, o: o, rep: &report.Report{Schema: report.Schema}, ms: t.modules(), spun: new(sync.Map)}
	a.orders = &orderReader{ms: a.ms, read: a.source}
	defer a.drop()
	defer limitMemory(o.memory())()
	if s := t.Incomplete(); s != "" {
		a.note("the trace is incomplete: %s", s)
	}
	if s := t.Decoupled(); s != "" {
		a.note("%s", s)
	}
	if t.s.Begin() > 0 {
		what := "only the end of the recording was kept"
		if s := t.s.PartOf(); s != "" {
			what = "the trace is a part of a recording, " + s
		}
		a.note("%s: races are looked for where the trace has all threads, not in other orders of the critical sections, and what the checkers look at isn't known", what)
	}
	// Detection and recognition of synchronisation, until nothing changes; then
	// again with what other orders of the critical sections would have shown.
	var groups []*group
	for round := 1; ; round++ {
		if err := a.detect(ctx, round == 1); err != nil {
			return nil, err
		}
		if round == 1 && t.s.Begin() == 0 {
			f := a.facts()
			a.rep.Findings = checkers.Run(f, o.Rules)
			own, err := checkers.Queries(f, o.Rules)
			if err != nil {
				return nil, err
			}
			a.rep.Findings = append(a.rep.Findings, own...)
			a.remember(a.rep.Findings)
		}
		if o.CheckersOnly {
			break
		}
		synced := len(a.synced)
		groups = a.group()
		n := a.recognise(groups)
		if n == 0 && !a.predict && a.pass.Contended && t.s.Begin() == 0 {
			a.predict = true
			if !a.foresee() {
				continue
			}
			a.synced = a.synced[:synced]
			groups = a.group()
			n = a.recognise(groups)
		}
		if n == 0 {
			break
		}
		if round >= maxRounds {
			a.note("synchronisation was still being recognised after %d rounds", round)
			break
		}
	}
	if err := a.findLoose(ctx, groups); err != nil {
		return nil, err
	}
	a.drop() // experiments need the memory more
	if a.pass.Crowded() {
		a.note("more than a thousand goroutines at a time: races between some of them may be missing")
	}
	if p := a.pass.Predictor; p != nil && p.Full() && !p.Given().Ended {
		a.note("too many threads to predict races in other orders of the critical sections")
	}
	a.forMemory()
	// Experiments and verdicts.
	if !o.CheckersOnly {
		if err := a.survey(ctx, groups); err != nil {
			return nil, err
		}
		a.judgeAll(groups)
		a.rep.Races = append(a.rep.Races, a.synced...)
		a.asked()
	}
	for _, n := range a.ms.Notes() {
		a.note("%s", n)
	}
	for _, id := range t.s.Threads() {
		a.rep.Summary.Instructions += uint64(t.s.Last(id) - t.s.First(id))
		a.rep.Summary.Threads++
	}
	uniqueIDs(a.rep.Races)
	a.rep.Sort()
	a.rep.Summarise()
	return a.rep, nil
}

// An analysis is the state of one run of Analyze.
type analysis struct {
	t    *Trace
	o    AnalyzeOptions
	rep  *report.Report
	ms   *funcs.Modules
	tree *funcs.Tree
	pass *detect.Pass

	predict bool // also races in other orders of the critical sections
	live    bool // that takes a replay
	search  *search
	proved  []*races.Candidate // of what was predicted
	shownBy map[*races.Candidate]*report.Witness
	tested  *detect.Pass    // whose predictions were looked at
	close   map[uint64]bool // lines to be looked at access by access

	alone    map[detect.RegionKey]bool // parallel regions of one thread
	together bool                      // tasks of OpenMP aren't told apart

	sync   []races.SyncVar // recognised by experiment
	atomic map[uint64]bool // instructions that access variables declared _Atomic
	synced []report.Race   // what they were reported for
	orders *orderReader
	spun   *sync.Map // spinKey -> *wait
	taken  map[taker]*report.Experiment
	open   []overlay.Span // what looks like a lock, and keeps nobody out
	rank   map[emulate.ThreadID][]sliceStart

	texts map[string][]string // lines of sources that are not younger than the program, by path

	sources  map[string][]string    // lines, by file
	passes   int                    // made so far
	crowds   []*crowd               // the last ones asked for
	seen     *seen                  // sections and where they are, of the last pass
	names    map[uint64]string      // of memory, after the last pass
	contents map[allocation]content // of heap blocks, after the last pass

	rt   *runtimeData
	heap *detect.Heap // of the first pass
	then *conductThen

	starts   map[*overlay.Section]*sectionStart // of the race under way
	locksOf  *detect.Pass                       // whose locks these are
	locksBy  map[uint64]races.LockID            // by address
	newLocks map[races.LockID]uint64            // those that only experiments take
	nextLock races.LockID

	judged string         // the race under way
	spent  uint64         // instructions of sections captured and executed for it
	saved  map[string]int // experiments kept, by race

	knowledge
}

func (a *analysis) progress(phase string, done, total int) {
	if a.o.Progress != nil {
		a.o.Progress(phase, done, total)
	}
}

func (a *analysis) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	for _, n := range a.rep.Notes {
		if n == s {
			return
		}
	}
	a.rep.Notes = append(a.rep.Notes, s)
}

// maxLooks bounds how often a pass is repeated to look closer. The second look
// leaves nothing, unless prediction asks for more.
const maxLooks = 4

// detect runs a pass, the first one with what the checkers need, and repeats it
// as long as there are lines to look at more closely.
func (a *analysis) detect(ctx context.Context, checks bool) error {
	for look := 1; ; look++ {
		a.drop()
		a.crowds, a.names, a.contents, a.seen = nil, nil, nil, newSeen(a.o.memory())
		a.tree = funcs.NewTree(a.ms)
		a.pass = &detect.Pass{Session: a.t.s, Tree: a.tree, Sync: a.sync, Checks: checks, NoRaces: a.o.CheckersOnly, Atomics: a.atomic, Loose: a.orders.loose,
			Memory: a.o.memory(), Predict: a.predict && a.live, Close: a.close, NoCoarse: look == maxLooks, Alone: a.alone, Together: a.together}
		if a.o.Progress != nil {
			a.passes++
			phase := fmt.Sprintf("looking for races, pass %d", a.passes)
			a.pass.Progress = func(done, total int) { a.o.Progress(phase, done, total) }
		}
		if err := a.pass.Run(ctx); err != nil {
			return err
		}
		if a.tasks() {
			look-- // that was no look
			continue
		}
		if done := !a.suspects() && (!a.predict || a.live || a.foresee()); done || look == maxLooks {
			return nil
		}
	}
}

// tasks says whether the last pass took tasks of OpenMP for what they aren't, so
// that another one is needed.
func (a *analysis) tasks() bool {
	if a.pass.Lost() && !a.together {
		a.together = true
		a.note("the tasks of OpenMP couldn't be followed: those that one thread executed count as ordered")
		return true
	}
	more := false
	for r := range a.pass.Single() {
		if !a.alone[r] {
			if a.alone == nil {
				a.alone = map[detect.RegionKey]bool{}
			}
			a.alone[r], more = true, true
		}
	}
	return more
}

// drop ends what the last pass still does.
func (a *analysis) drop() {
	if a.pass != nil {
		a.pass.Drop()
	}
}

// suspects says whether the last pass left lines to be looked at more closely,
// as the next one will.
func (a *analysis) suspects() bool {
	if a.close == nil {
		a.close = map[uint64]bool{}
	}
	for l := range a.pass.Suspects {
		a.close[l] = true
	}
	return len(a.pass.Suspects) > 0
}

// foresee adds to the last pass the races in other orders of the critical
// sections. It returns false if another pass has to.
func (a *analysis) foresee() bool {
	if !a.pass.PredictAgain() {
		a.live = true
		return false
	}
	return !a.suspects()
}

// A group is all candidates of one pair of source lines on one variable.
type group struct {
	cands []*races.Candidate
	place [2]report.Frame // of the two sides, first candidate's order
	loc   report.Location
	count uint64
	sync  bool               // recognised as synchronisation in this round
	spun  *report.Experiment // …because of this
	// passed shows that what its reader waits for keeps nobody out.
	passed *report.Experiment
	loose  bool // on this processor, accesses order it that the language says don't
}

// group unites candidates that a person would call one race.
func (a *analysis) group() []*group {
	if a.predict && a.tested != a.pass {
		a.tested = a.pass
		a.prove()
	}
	byKey := map[string]*group{}
	var out []*group
	for _, c := range a.candidates() {
		if (c.First.Internal || c.Second.Internal) && !a.o.All {
			continue
		}
		f1, f2 := a.frame(&c.First), a.frame(&c.Second)
		loc := a.location(c)
		k1, k2 := fmt.Sprintf("%s:%d", f1.File, f1.Line), fmt.Sprintf("%s:%d", f2.File, f2.Line)
		if f1.Line == 0 {
			k1 = fmt.Sprintf("%x", c.First.PC)
		}
		if f2.Line == 0 {
			k2 = fmt.Sprintf("%x", c.Second.PC)
		}
		if k2 < k1 {
			k1, k2 = k2, k1
		}
		key := k1 + "|" + k2 + "|" + root(&loc)
		if c.Reason == races.LifeRace {
			key += "|life"
		}
		g := byKey[key]
		if g == nil {
			g = &group{place: [2]report.Frame{f1, f2}, loc: loc}
			byKey[key] = g
			out = append(out, g)
		}
		g.cands = append(g.cands, c)
		g.count += c.Count
	}
	return out
}

// recognise looks for variables that only make a reader wait. It returns how
// many new ones there are; they take effect in the next pass.
func (a *analysis) recognise(groups []*group) int {
	n := 0
	known := map[emulate.Addr]bool{}
	for _, v := range a.sync {
		known[v.Addr] = true
	}
	n += a.atomicInSource(groups)
	var open []*group
	for _, g := range groups {
		if g.life() || g.sync {
			continue
		}
		if k := a.atomics(g); k > 0 {
			n += k
			g.sync = true
			continue
		}
		open = append(open, g)
	}
	for i, vars := range a.spinsOfAll(open, groups) {
		g := open[i]
		if len(vars) == 0 {
			continue
		}
		if g.passed = a.bothPass(g, groups); g.passed != nil {
			continue
		}
		g.sync = true
		a.synced = append(a.synced, a.synchronisation(g))
		for _, v := range vars {
			if !known[v.Addr] {
				known[v.Addr] = true
				a.sync = append(a.sync, v)
				n++
			}
		}
	}
	a.shareBlame(groups)
	return n
}

// atomics notes the instructions of a group's accesses if they are to a variable
// that is declared atomic, which x86-64 loads and stores by plain instructions.
// It returns how many it didn't know.
func (a *analysis) atomics(g *group) int {
	n := 0
	for _, c := range g.cands {
		v, ok := a.ms.VarAtSize(c.Addr, c.Size)
		if !ok || v.Place == nil || !v.Place.Atomic {
			continue
		}
		for _, x := range []*races.Access{&c.First, &c.Second} {
			if int64(x.Size) == v.Place.Size && !x.Kernel && !x.Internal && !a.atomic[x.PC] {
				if a.atomic == nil {
					a.atomic = map[uint64]bool{}
				}
				a.atomic[x.PC] = true
				n++
			}
		}
	}
	return n
}

// uniqueIDs tells races apart that have the same identifier, by their places.
func uniqueIDs(rs []report.Race) {
	by := map[string][]int{}
	for i := range rs {
		by[rs[i].ID] = append(by[rs[i].ID], i)
	}
	for id, is := range by {
		if len(is) < 2 {
			continue
		}
		sort.SliceStable(is, func(x, y int) bool {
			p, q := &rs[is[x]], &rs[is[y]]
			for k := range p.Accesses {
				if p.Accesses[k].Line != q.Accesses[k].Line {
					return p.Accesses[k].Line < q.Accesses[k].Line
				}
			}
			for k := range p.Accesses {
				if s, t := p.Accesses[k].Place(), q.Accesses[k].Place(); s != t {
					return s < t
				}
			}
			return p.Location.Symbol < q.Location.Symbol
		})
		for n, i := range is {
			if n > 0 {
				rs[i].ID = fmt.Sprintf("%s-%d", id, n+1)
			}
		}
	}
}
