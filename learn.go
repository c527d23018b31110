package racesim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// What functions normally do can be kept in a file: instances of functions and
// loops, from one recording or from many, that later analyses compare with.

// Bounds of a model.
const (
	maxLearnt     = 400    // instances kept of one function
	maxModelSites = 4000   // functions and loops
	maxBuilds     = 4      // of one function
	maxSources    = 100000 // traces
	learnSites    = 400    // functions of one recording that are learnt
)

// A Model is what was learnt. Models can be merged: however often one trace is
// in them, what it taught counts once.
type Model struct {
	Schema  string      `json:"schema"`
	Sources []string    `json:"sources"` // fingerprints of the traces learnt from
	Sites   []ModelSite `json:"sites"`
}

// A ModelSite is a function or a loop of one build, with instances of it.
type ModelSite struct {
	Module   string `json:"module"` // base name
	File     string `json:"file"`   // the source's base name, "" if unknown
	Function string `json:"function"`
	Size     uint64 `json:"size"`           // bytes of code: builds differ in it
	Loop     uint64 `json:"loop,omitempty"` // offset of the loop's head in the function; 0: all of it
	Total    int    `json:"total"`          // instances that there were before some were left out
	Newest   int    `json:"newest"`         // index of the latest source

	Instances []instance `json:"instances"`
}

// key is what a site is called in all builds.
func (s *ModelSite) key() string {
	return fmt.Sprintf("%s|%s|%s|%d", s.Module, s.File, s.Function, s.Loop)
}

func (s *ModelSite) buildKey() string { return fmt.Sprintf("%s|%d", s.key(), s.Size) }

// modelSite says what a site is called in every recording.
func (a *analysis) modelSite(s *site) ModelSite {
	m := ModelSite{Module: filepath.Base(s.fn.Module.Path), Function: cmp.Or(s.fn.Linkage, s.fn.Name), Size: uint64(s.fn.End - s.fn.Entry)}
	// Of the frames at the entry the last one is the function itself.
	if fs := a.ms.Frames(s.fn.Entry); len(fs) > 0 && fs[len(fs)-1].File != "" {
		m.File = filepath.Base(fs[len(fs)-1].File)
	}
	if s.head != 0 {
		m.Loop = s.head - uint64(s.fn.Entry)
	}
	return m
}

// Learn collects instances of the program's functions, and of the loops that
// race, from traces: files, or folders with those of all processes of a
// recording.
func Learn(ctx context.Context, paths []string) (*Model, error) {
	m := &Model{Schema: ModelSchema}
	for _, path := range paths {
		err := each(path, alone(ctx), func(t *Trace) error {
			if err := m.learn(ctx, t); err != nil {
				return fmt.Errorf("%s: %w", t.path(), err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Model) learn(ctx context.Context, t *Trace) error {
	if t.Empty() {
		return fmt.Errorf("no thread is in the trace: %s", t.Incomplete())
	}
	a := &analysis{t: t, ms: t.modules(), rep: &report.Report{}}
	if err := a.detect(ctx, false); err != nil {
		return err
	}
	a.racingSites(a.group())
	fs, err := t.Functions(ctx, false)
	if err != nil {
		return err
	}
	for _, u := range fs[:min(len(fs), learnSites)] {
		f := a.ms.FuncAt(u.f.Entry)
		a.addSite(&loadsub.Place{Func: f, Goal: overlay.Goal{End: overlay.EndReturn, Result: loadsub.ResultRegs(a.ms, f)}})
	}
	if err := a.collect(ctx, a.sites, nil); err != nil {
		return err
	}
	return m.add(a)
}

// add takes over what an analysis collected from its own trace.
func (m *Model) add(a *analysis) error {
	id, err := fileID(a.t.path())
	if err != nil {
		return err
	}
	one := &Model{Schema: ModelSchema, Sources: []string{id}}
	for _, s := range a.sites {
		x := a.modelSite(s)
		for _, i := range s.samples {
			if i.origin == a.t {
				x.Instances = append(x.Instances, i)
			}
		}
		if x.Total = len(x.Instances); x.Total > 0 {
			one.Sites = append(one.Sites, x)
		}
	}
	m.Merge(one)
	return nil
}

// fileID is a fingerprint of a file's content.
func fileID(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := xxh3.New128()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum128().Bytes()), nil
}

// Merge adds another model. Instances of traces that both have learnt from are
// taken once. Of the builds of a function the latest are kept.
func (m *Model) Merge(o *Model) {
	source := map[string]int{}
	for i, id := range m.Sources {
		source[id] = i
	}
	to := make([]int, len(o.Sources)) // index in m of each of o's sources
	for i, id := range o.Sources {
		k, ok := source[id]
		if !ok {
			k = len(m.Sources)
			source[id] = k
			m.Sources = append(m.Sources, id)
		}
		to[i] = k
	}
	at := map[string]int{}
	for i := range m.Sites {
		at[m.Sites[i].buildKey()] = i
	}
	for i := range o.Sites {
		x := o.Sites[i]
		x.Newest = to[x.Newest]
		x.Instances = slices.Clone(x.Instances)
		for k := range x.Instances {
			x.Instances[k].From = to[x.Instances[k].From]
		}
		k, ok := at[x.buildKey()]
		switch {
		case ok:
			m.Sites[k].join(x)
		case len(m.Sites) < maxModelSites:
			at[x.buildKey()] = len(m.Sites)
			m.Sites = append(m.Sites, x)
		}
	}
	slices.SortStableFunc(m.Sites, func(x, y ModelSite) int {
		return cmp.Or(cmp.Compare(x.key(), y.key()), cmp.Compare(y.Newest, x.Newest), cmp.Compare(x.Size, y.Size))
	})
	m.dropOldBuilds()
}

// dropOldBuilds keeps the latest builds of each function. Sites are sorted.
func (m *Model) dropOldBuilds() {
	out := m.Sites[:0]
	n := 0
	for i := range m.Sites {
		if n++; i == 0 || m.Sites[i].key() != out[len(out)-1].key() {
			n = 1
		}
		if n <= maxBuilds {
			out = append(out, m.Sites[i])
		}
	}
	m.Sites = out
}

// join adds instances of the same code, but for those of traces that s has
// instances of. When there are too many, both keep the share that they had.
func (s *ModelSite) join(x ModelSite) {
	have := map[int]bool{}
	for i := range s.Instances {
		have[s.Instances[i].From] = true
	}
	all := len(x.Instances)
	x.Instances = slices.DeleteFunc(x.Instances, func(i instance) bool { return have[i.From] })
	x.Total = x.Total * len(x.Instances) / max(all, 1)
	total := s.Total + x.Total
	if len(s.Instances)+len(x.Instances) > maxLearnt {
		mine := min(len(s.Instances), max(1, maxLearnt*s.Total/max(total, 1)))
		s.Instances = thin(s.Instances, max(mine, maxLearnt-len(x.Instances)))
		x.Instances = thin(x.Instances, maxLearnt-len(s.Instances))
	}
	s.Instances = append(slices.Clone(s.Instances), x.Instances...)
	s.Total = total
	s.Newest = max(s.Newest, x.Newest)
}

// of returns the instances of a site: of the same code, and if these are too
// few for an opinion, of the same function in other builds, latest first. A loop
// is found again only in the same code. other says that other builds are among
// them.
func (m *Model) of(want ModelSite) (found []instance, other bool) {
	for i := range m.Sites {
		if x := &m.Sites[i]; x.buildKey() == want.buildKey() {
			found = x.Instances
		}
	}
	if want.Loop != 0 {
		return found, false
	}
	for i := range m.Sites {
		x := &m.Sites[i]
		if len(found) >= classify.MinSamples {
			break
		}
		if x.key() == want.key() && x.Size != want.Size {
			found, other = append(slices.Clone(found), x.Instances...), true
		}
	}
	return found, other
}

// keep adds what was collected to a model file, which is made if it isn't
// there.
func (a *analysis) keep(path string) error {
	m, err := ReadModel(path)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = &Model{Schema: ModelSchema}, nil
	}
	if err != nil {
		return err
	}
	if err := m.add(a); err != nil {
		return err
	}
	return m.Write(path)
}

// Summary says what is in a model, in a sentence.
func (m *Model) Summary() string {
	n := 0
	for i := range m.Sites {
		n += len(m.Sites[i].Instances)
	}
	return fmt.Sprintf("%d instances of %d functions and loops, from %s", n, len(m.Sites), plural(uint64(len(m.Sources)), "trace"))
}
