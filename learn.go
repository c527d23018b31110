package racesim

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/report"
)

// What functions normally do can be kept in a file: instances of functions and
// loops, from one recording or from many, that later analyses compare with.

// ModelSchema names the version of a model file.
const ModelSchema = "racesim/model/v1"

// Bounds of a model file.
const (
	maxLearnt     = 400       // instances kept of one function
	maxModelSites = 4000      // functions and loops
	maxModelBytes = 256 << 20 // uncompressed
	learnSites    = 400       // functions of one recording that are learnt
)

// A Model is what was learnt. Models of the same program can be merged.
type Model struct {
	Schema string      `json:"schema"`
	Traces int         `json:"traces"` // learnt from
	Sites  []ModelSite `json:"sites"`
}

// A ModelSite is a function or a loop with instances of it.
type ModelSite struct {
	Module   string `json:"module"` // base name
	Function string `json:"function"`
	Size     uint64 `json:"size"`           // bytes of code
	Loop     uint64 `json:"loop,omitempty"` // offset of the loop's head in the function; 0: all of it
	Total    int    `json:"total"`          // instances that there were before some were left out

	Instances []instance `json:"instances"`
}

func (s *ModelSite) key() string {
	return fmt.Sprintf("%s %s %d", s.Module, s.Function, s.Loop)
}

// modelSite says what a site is called in every recording.
func (s *site) modelSite() ModelSite {
	m := ModelSite{Module: filepath.Base(s.fn.Module.Path), Function: cmp.Or(s.fn.Linkage, s.fn.Name), Size: uint64(s.fn.End - s.fn.Entry)}
	if s.head != 0 {
		m.Loop = s.head - uint64(s.fn.Entry)
	}
	return m
}

// Learn collects instances of the program's functions, and of the loops that
// race, from traces.
func Learn(ctx context.Context, paths []string) (*Model, error) {
	m := &Model{Schema: ModelSchema}
	for _, path := range paths {
		if err := m.learn(ctx, path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return m, nil
}

func (m *Model) learn(ctx context.Context, path string) error {
	t, err := Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
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
	m.add(a)
	return nil
}

// add takes over what an analysis collected from its own trace.
func (m *Model) add(a *analysis) {
	one := &Model{Schema: ModelSchema, Traces: 1}
	for _, s := range a.sites {
		x := s.modelSite()
		for _, i := range s.samples {
			if i.origin == a {
				x.Instances = append(x.Instances, i)
			}
		}
		if x.Total = len(x.Instances); x.Total > 0 {
			one.Sites = append(one.Sites, x)
		}
	}
	m.Merge(one)
}

// Merge adds another model. Of functions whose code has another size the newer
// one's instances are kept alone: they are of another build.
func (m *Model) Merge(o *Model) {
	at := map[string]int{}
	for i := range m.Sites {
		at[m.Sites[i].key()] = i
	}
	for i := range o.Sites {
		x := o.Sites[i]
		k, ok := at[x.key()]
		switch {
		case !ok && len(m.Sites) < maxModelSites:
			at[x.key()] = len(m.Sites)
			m.Sites = append(m.Sites, x)
		case !ok:
		case m.Sites[k].Size != x.Size:
			m.Sites[k] = x
		default:
			s := &m.Sites[k]
			// Both keep the share of the instances that they had.
			all, total := len(s.Instances)+len(x.Instances), s.Total+x.Total
			if all > maxLearnt {
				mine := min(len(s.Instances), max(1, maxLearnt*s.Total/max(total, 1)))
				s.Instances = thin(s.Instances, max(mine, maxLearnt-len(x.Instances)))
				x.Instances = thin(x.Instances, maxLearnt-len(s.Instances))
			}
			s.Instances = append(slices.Clone(s.Instances), x.Instances...)
			s.Total = total
		}
	}
	m.Traces += o.Traces
	slices.SortFunc(m.Sites, func(x, y ModelSite) int { return cmp.Compare(x.key(), y.key()) })
}

// of returns the instances of a site, nil if there are none of the same code.
func (m *Model) of(s *site) []instance {
	want := s.modelSite()
	for i := range m.Sites {
		if x := &m.Sites[i]; x.key() == want.key() && x.Size == want.Size {
			return x.Instances
		}
	}
	return nil
}

// ReadModel reads a model file. The error says that it is none, or of another
// version.
func ReadModel(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: not a model file: %w", path, err)
	}
	r := &io.LimitedReader{R: z, N: maxModelBytes + 1}
	m := &Model{}
	if err := json.NewDecoder(r).Decode(m); err != nil {
		if r.N == 0 {
			return nil, fmt.Errorf("%s: more than %d bytes", path, maxModelBytes)
		}
		return nil, fmt.Errorf("%s: damaged model file: %w", path, err)
	}
	if m.Schema != ModelSchema {
		return nil, fmt.Errorf("%s: schema %q, this program reads %q: learn it anew", path, m.Schema, ModelSchema)
	}
	return m, nil
}

// Write puts the model into a file, whole or not at all.
func (m *Model) Write(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".racesim-model-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	z := gzip.NewWriter(f)
	err = errors.Join(json.NewEncoder(z).Encode(m), z.Close(), f.Chmod(0o644), f.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
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
	m.add(a)
	return m.Write(path)
}

// Summary says what is in a model, in a sentence.
func (m *Model) Summary() string {
	n := 0
	for i := range m.Sites {
		n += len(m.Sites[i].Instances)
	}
	return fmt.Sprintf("%d instances of %d functions and loops, from %d traces", n, len(m.Sites), m.Traces)
}
