package racesim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// What a racing function normally does is learnt from its other instances: one
// more replay, made only when there are races to judge, captures some of them,
// spread over all threads and over the recording, and the same in the traces
// given to learn from.

// A site is a kind of section: the executions of one function, or the
// iterations of one loop of a function.
type site struct {
	fn   *funcs.Func
	head uint64 // of the loop; 0: the whole function
	res  *overlay.RegSet
	pcs  map[uint64]bool // loads whose values are collected

	samples []instance
	seen    map[uint64]map[uint64]int // by pc: value -> readings
	looks   map[look]int              // accesses
}

// A look is what one thread of one recording does to one location by one
// instruction.
type look struct {
	of       *Trace
	thread   emulate.ThreadID
	pc, addr uint64
}

func (s *site) key() string { return fmt.Sprintf("%x/%x", s.fn.Entry, s.head) }

// pc is where instances begin.
func (s *site) pc() uint64 {
	if s.head != 0 {
		return s.head
	}
	return uint64(s.fn.Entry)
}

// An instance is one execution of a section, as far as models need it: what its
// addresses are called and what its pointers point at is known by itself, so that
// it can be compared with those of other recordings.
type instance struct {
	origin *Trace // nil: of a model file
	thread emulate.ThreadID
	start  emulate.Count
	sp     uint64

	From  int       `json:"from"` // index of the source, in a model file
	Entry registers `json:"entry"`
	Exit  registers `json:"exit"`
	Mem   []cell    `json:"mem,omitempty"`
}

// knowledge is what an analysis has learnt beside its candidates.
type knowledge struct {
	sites    map[string]*site
	surveyed bool // no more sites
	lines    []*lineAsked
	maps     []mapped
}

// registers are what the general and the XMM registers held, and what general
// registers that hold pointers point at.
type registers struct {
	R     [16]uint64    `json:"r"`
	X     [16][2]uint64 `json:"x"`
	Point [16]string    `json:"point"`
}

// A cell is a memory output of an instance.
type cell struct {
	addr uint64

	Name     string `json:"name"`            // see analysis.feature
	Real     bool   `json:"real,omitempty"`  // a floating-point number
	Frame    bool   `json:"frame,omitempty"` // in the frame, Off bytes from where RSP was at entry
	Off      int64  `json:"off,omitempty"`
	Size     int    `json:"size"` // bytes
	Value    uint64 `json:"value"`
	Point    string `json:"point,omitempty"` // what it points at
	Pre      uint64 `json:"pre"`             // what it held before
	PrePoint string `json:"pre_point,omitempty"`
	Input    bool   `json:"input,omitempty"` // which was read
}

// Bounds of what is collected for one site.
const (
	maxSites     = 48
	maxInstances = 200
	maxCells     = 48
	perThread    = 100       // instances of a site
	windows      = 64        // of each thread
	perWindow    = 4         // instances of a site, more if earlier windows had fewer
	maxCarry     = 32        // what a window can have at most
	sampleSteps  = 50_000    // instructions of an instance
	sampleBudget = 4_000_000 // instructions of a thread's instances, or more if there are many sites: siteBudget of each
	siteBudget   = 80_000
	maxCut       = 3   // instances of a site that were too long, when there is no other
	maxValues    = 256 // distinct values of one load
)

// site returns the site of a place, made if need be and if there is room.
func (a *analysis) site(p *loadsub.Place) *site {
	if p.Func == nil || p.Part || p.Goal.End == overlay.EndCount {
		return nil
	}
	s := &site{fn: p.Func, res: p.Goal.Result, pcs: map[uint64]bool{}, seen: map[uint64]map[uint64]int{}, looks: map[look]int{}}
	if p.Loop {
		s.head = p.Goal.PC
	}
	if old := a.sites[s.key()]; old != nil {
		return old
	}
	if a.surveyed || len(a.sites) >= maxSites {
		return nil
	}
	a.keepSite(s)
	return s
}

// addSite adds the site of a place, however many there are.
func (a *analysis) addSite(p *loadsub.Place) {
	s := &site{fn: p.Func, res: p.Goal.Result, pcs: map[uint64]bool{}, seen: map[uint64]map[uint64]int{}, looks: map[look]int{}}
	if a.sites[s.key()] == nil {
		a.keepSite(s)
	}
}

func (a *analysis) keepSite(s *site) {
	if a.sites == nil {
		a.sites = map[string]*site{}
	}
	a.sites[s.key()] = s
}

// survey collects instances for the races that are going to be judged, and
// executions of the lines that the user named.
func (a *analysis) survey(ctx context.Context, groups []*group) error {
	a.racingSites(groups)
	a.surveyed = true
	a.lines = a.linesAsked()
	if len(a.sites) == 0 && len(a.lines) == 0 {
		return nil
	}
	if err := a.collect(ctx, a.sites, a.lines); err != nil {
		return err
	}
	if len(a.sites) == 0 {
		return nil
	}
	if path := a.o.UpdateModel; path != "" {
		if err := a.keep(path); err != nil {
			return fmt.Errorf("--update-model: %w", err)
		}
	}
	if err := a.learnt(); err != nil {
		return err
	}
	for _, path := range a.o.Models {
		if err := a.learnFrom(ctx, path); err != nil {
			return fmt.Errorf("--with %s: %w", path, err)
		}
	}
	return nil
}

// learnt adds what the models given know. What they have from this very trace
// is there already.
func (a *analysis) learnt() error {
	if len(a.o.Learnt) == 0 {
		return nil
	}
	id, err := fileID(a.t.path())
	if err != nil {
		return err
	}
	all := &Model{Schema: ModelSchema}
	for _, m := range a.o.Learnt {
		all.Merge(m)
	}
	own := slices.Index(all.Sources, id)
	for _, s := range a.sites {
		found, other := all.of(a.modelSite(s))
		if other && len(s.samples) >= classify.MinSamples {
			continue // this build tells enough
		}
		if other {
			a.note("%s: the model knows it from other builds", s.fn.Name)
		}
		for _, x := range found {
			if x.From != own {
				s.samples = append(s.samples, x)
			}
		}
	}
	return nil
}

// racingSites makes sites of where races are.
func (a *analysis) racingSites(groups []*group) {
	for _, g := range groups {
		if g.sync {
			continue
		}
		p := g.pairs()[0]
		for _, side := range []*races.Access{&p.First, &p.Second} {
			if side.Kernel {
				continue
			}
			places, err := a.placesAround(side.Thread, side.Count, 1)
			if err != nil {
				continue
			}
			if s := a.site(&places[0]); s != nil {
				s.pcs[side.PC] = true
			}
		}
	}
}

// learnFrom collects instances of the same functions in another trace.
func (a *analysis) learnFrom(ctx context.Context, path string) error {
	t, err := OpenAlone(ctx, path)
	if err != nil {
		return err
	}
	// Names are asked for later, and need the trace's detector only.
	defer t.Close()
	b := &analysis{t: t, ms: t.modules(), rep: &report.Report{}}
	if err := b.detect(ctx, false); err != nil {
		return err
	}
	there := map[string]*site{}
	found := false
	for key, s := range a.sites {
		f := sameFunc(b.ms, s.fn)
		if f == nil || s.head != 0 && f.End-f.Entry != s.fn.End-s.fn.Entry {
			continue // a loop can only be found again in the same code
		}
		o := &site{fn: f, res: s.res, pcs: map[uint64]bool{}, seen: s.seen, looks: s.looks}
		if s.head != 0 {
			o.head = s.head - uint64(s.fn.Entry) + uint64(f.Entry)
		}
		there[key] = o
		found = true
	}
	if !found {
		a.note("%s has none of the racing functions: nothing is learnt from it", path)
		return nil
	}
	if err := b.collect(ctx, there, nil); err != nil {
		return err
	}
	for key, o := range there {
		a.sites[key].samples = append(a.sites[key].samples, o.samples...)
	}
	return nil
}

// sameFunc finds a function of another recording.
func sameFunc(ms *funcs.Modules, f *funcs.Func) *funcs.Func {
	name := f.Linkage
	if name == "" {
		name = f.Name
	}
	for _, g := range ms.FuncsNamed(name) {
		if filepath.Base(g.Module.Path) == filepath.Base(f.Module.Path) {
			return g
		}
	}
	return nil
}

// collect replays all threads and captures instances of sites, and counts
// where the lines asked for are executed.
func (a *analysis) collect(ctx context.Context, sites map[string]*site, lines []*lineAsked) error {
	ids := a.t.s.Threads()
	found := make([]*collector, len(ids))
	errs := make([]error, len(ids))
	done := make(chan struct{})
	next := make(chan int, len(ids))
	for i := range ids {
		next <- i
	}
	close(next)
	const workers = 4
	for w := 0; w < workers; w++ {
		go func() {
			for i := range next {
				found[i] = newCollector(a, sites, lines)
				errs[i] = found[i].run(ctx, ids[i])
			}
			done <- struct{}{}
		}()
	}
	for w := 0; w < workers; w++ {
		<-done
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for key, s := range sites {
		for _, c := range found {
			s.samples = append(s.samples, c.sites[key].samples...)
			for pc, vs := range c.sites[key].seen {
				if s.seen[pc] == nil {
					s.seen[pc] = map[uint64]int{}
				}
				for v, n := range vs {
					s.seen[pc][v] += n
				}
			}
			for l, n := range c.sites[key].looks {
				s.looks[l] += n
			}
		}
		s.samples = thin(s.samples, maxInstances)
	}
	for i, l := range lines {
		for _, c := range found {
			l.at = append(l.at, c.lines[i]...)
		}
	}
	return nil
}

// thin keeps n of the instances, evenly.
func thin(all []instance, n int) []instance {
	if len(all) <= n {
		return all
	}
	out := make([]instance, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// A collector is the part of collect for one thread.
type collector struct {
	a     *analysis
	sites map[string]*site // this thread's findings
	at    map[uint64][]string
	quota map[string]int
	lines [][]execution
	bpts  map[uint64][]int // line's code -> index of lines
	used  map[string]*use
	steps uint64
	limit uint64 // of steps
}

// use is what a site has taken of the budget.
type use struct {
	steps uint64
	cut   int // instances that were too long
}

func newCollector(a *analysis, sites map[string]*site, lines []*lineAsked) *collector {
	c := &collector{a: a, sites: map[string]*site{}, at: map[uint64][]string{}, quota: map[string]int{}, lines: make([][]execution, len(lines)), bpts: map[uint64][]int{},
		used: map[string]*use{}, limit: max(sampleBudget, siteBudget*uint64(len(sites)))}
	keys := make([]string, 0, len(sites))
	for key := range sites {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		s := *sites[key]
		s.samples, s.seen, s.looks = nil, map[uint64]map[uint64]int{}, map[look]int{}
		c.sites[key] = &s
		c.used[key] = &use{}
		c.at[s.pc()] = append(c.at[s.pc()], key)
	}
	for i, l := range lines {
		for _, r := range l.code {
			c.bpts[uint64(r.Lo)] = append(c.bpts[uint64(r.Lo)], i)
		}
	}
	return c
}

// run replays one thread, window by window. In each, sites are watched until
// the window's share of instances is there.
func (c *collector) run(ctx context.Context, id emulate.ThreadID) error {
	s := c.a.t.s
	t, err := s.Thread(id)
	if err != nil {
		return err
	}
	calls := funcs.NewTracker(c.a.tree, id, nil)
	calls.Begin(t)
	t.CPU().Calls = calls
	blocks := t.CPU().Blocks
	jumps := map[uint64]bool{}
	for _, pc := range c.a.tree.JumpTargets(nil) {
		jumps[uint64(pc)] = true
		blocks.Break(uint64(pc))
	}
	for pc := range c.bpts {
		blocks.Break(pc)
	}
	from, last := t.Count(), s.Last(id)
	for w := emulate.Count(1); w <= windows; w++ {
		for pc, keys := range c.at {
			for _, k := range keys {
				c.quota[k] = min(c.quota[k]+perWindow, maxCarry)
			}
			blocks.Break(pc)
		}
		until := from + (last-from)*w/windows
		for t.Count() < until {
			if err := ctx.Err(); err != nil {
				return err
			}
			stop, err := t.RunTo(until)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if stop == nil || stop.Kind != x86.StopBreak {
				continue
			}
			pc := t.CPU().RIP
			if jumps[pc] {
				calls.Enter(t.CPU())
			}
			for _, i := range c.bpts[pc] {
				if len(c.lines[i]) < maxExecutions {
					c.lines[i] = append(c.lines[i], execution{id, t.Count()})
				}
			}
			more := false
			for _, k := range c.at[pc] {
				if c.wants(k) {
					c.quota[k]--
					if err := c.sample(k, t, calls); err != nil {
						return err
					}
				}
				more = more || c.wants(k)
			}
			if !more && !jumps[pc] && c.open(pc) == 0 {
				blocks.Unbreak(pc)
			}
		}
	}
	return nil
}

// wants reports whether another instance of a site is to be captured: one that
// is always too long, or takes more than its share, would leave nothing for the
// others.
func (c *collector) wants(key string) bool {
	n, u := len(c.sites[key].samples), c.used[key]
	return c.quota[key] > 0 && n < perThread && c.steps < c.limit && !(n == 0 && u.cut >= maxCut) && u.steps < c.limit/uint64(min(4, len(c.sites)))
}

// open returns how many more executions of lines at pc are wanted.
func (c *collector) open(pc uint64) int {
	n := 0
	for _, i := range c.bpts[pc] {
		n += maxExecutions - len(c.lines[i])
	}
	return n
}
