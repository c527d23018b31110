package racesim

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate/overlay"
)

// small is a model with n instances from each of some traces.
func small(size uint64, n int, sources ...string) *Model {
	m := &Model{Schema: ModelSchema, Sources: sources}
	s := ModelSite{Module: "prog", File: "a.c", Function: "f", Size: size, Total: n * len(sources), Newest: len(sources) - 1}
	for i := range sources {
		for k := range n {
			x := instance{From: i, Mem: []cell{{Name: "total", Size: 4, Value: uint64(k)}}}
			x.Exit.R[0] = uint64(100*i + k)
			s.Instances = append(s.Instances, x)
		}
	}
	m.Sites = []ModelSite{s}
	return m
}

func merged(ms ...*Model) *Model {
	all := &Model{Schema: ModelSchema}
	for _, m := range ms {
		all.Merge(m)
	}
	return all
}

func TestATraceCountsOnceInMergedModels(t *testing.T) {
	ab, bc := small(64, 10, "a", "b"), small(64, 10, "b", "c")
	m := merged(ab, bc, ab)
	if len(m.Sources) != 3 || len(m.Sites) != 1 || len(m.Sites[0].Instances) != 30 || m.Sites[0].Total != 30 {
		t.Fatalf("%d traces, %d sites, %d instances of %d", len(m.Sources), len(m.Sites), len(m.Sites[0].Instances), m.Sites[0].Total)
	}
	if again := merged(m, m); !reflect.DeepEqual(again, m) {
		t.Errorf("merged with itself it is another: %s, was %s", again.Summary(), m.Summary())
	}
	from := map[string]int{}
	for _, x := range m.Sites[0].Instances {
		from[m.Sources[x.From]]++
	}
	if from["a"] != 10 || from["b"] != 10 || from["c"] != 10 {
		t.Errorf("instances by trace: %v", from)
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}

func TestManyInstancesKeepTheirShares(t *testing.T) {
	m := merged(small(64, 300, "a"), small(64, 300, "b"), small(64, 300, "c"))
	from := map[int]int{}
	for _, x := range m.Sites[0].Instances {
		from[x.From]++
	}
	if n := len(m.Sites[0].Instances); n > maxLearnt || n < maxLearnt-10 {
		t.Errorf("%d instances kept; want about %d", n, maxLearnt)
	}
	for i := range 3 {
		if from[i] < maxLearnt/3-15 || from[i] > maxLearnt/3+15 {
			t.Errorf("instances by trace: %v", from)
		}
	}
}

func TestBuildsOfAFunctionAreKnownByItsName(t *testing.T) {
	m := merged(small(64, 10, "a"), small(80, 3, "b"))
	want := m.Sites[0]
	for _, c := range []struct {
		what       string
		size, loop uint64
		n          int
		other      bool
	}{
		{"enough of the same build", 64, 0, 10, false},
		{"too few of the same build", 80, 0, 13, true},
		{"a build that nothing is known of", 100, 0, 13, true}, // the latest has too few, so that the one before helps
		{"a loop of that", 100, 8, 0, false},
	} {
		want.Size, want.Loop = c.size, c.loop
		found, other := m.of(want)
		if len(found) != c.n || other != c.other {
			t.Errorf("%s: %d instances, of other builds: %v; want %d, %v", c.what, len(found), other, c.n, c.other)
		}
	}
	for i := range uint64(10) {
		m.Merge(small(200+i, 1, fmt.Sprint("x", i)))
	}
	if len(m.Sites) != maxBuilds || m.Sites[0].Size != 209 {
		t.Errorf("%d builds, the latest of size %d", len(m.Sites), m.Sites[0].Size)
	}
	other := small(64, 10, "z")
	other.Sites[0].File = "b.c"
	if m = merged(small(64, 10, "a"), other); len(m.Sites) != 2 {
		t.Errorf("functions of one name in two files are %d", len(m.Sites))
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

func TestBadModelFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"schema":"racesim/model/v1","sites":[]}`, "a model of an older racesim (racesim/model/v1; this one reads " + ModelSchema + "): learn it anew"},
		{`{"schema":"racesim/model/v12","sites":7}`, "a model of a newer racesim (racesim/model/v12"},
		{`{"schema":"racesim/report/v1"}`, `not a model file: its schema is "racesim/report/v1"`},
		{`{"schema":"` + ModelSchema + `"`, "damaged model file: unexpected end"},
		{`{"schema":"` + ModelSchema + `","sites":3}`, "damaged model file: json"},
		{`{"schema":"` + ModelSchema + `","sources":["a"],"sites":[{"function":"f","module":"m","newest":4}]}`, `function 1, "f": learnt from trace 5 of 1`},
		{`{"schema":"` + ModelSchema + `","sources":["a"],"sites":[{"function":"f","module":"m","total":1,"instances":[{"mem":[{"size":-8}]}]}]}`, "an output of -8 bytes"},
		{`{"schema":"` + ModelSchema + `","sources":["a"],"sites":[{"function":"f","module":"m","total":1,"instances":[{"from":-1}]}]}`, "instance 1 is of trace 0 of 1"},
	} {
		if _, err := readModel(bytes.NewReader(packed(c.text))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	if _, err := readModel(strings.NewReader("#!/bin/sh")); !errors.Is(err, ErrNoModel) {
		t.Errorf("a script: %v", err)
	}
}

// Whatever is cut off or flipped, a damaged model is refused or is as good as
// one that was written.
func TestDamagedModelFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	if err := small(64, 3, "a").Write(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := readModel(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("cut off after %d of %d bytes: no error", n, len(whole))
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 1 << (n % 8)
		if m, err := readModel(bytes.NewReader(bad)); err == nil && m.check() != nil {
			t.Errorf("byte %d flipped: %v", n, m.check())
		}
	}
}

// What is read can be used: merged, written, and asked for its instances.
func FuzzReadModel(f *testing.F) {
	path := filepath.Join(f.TempDir(), "m")
	if err := merged(small(64, 4, "a", "b"), small(70, 2, "c")).Write(path); err != nil {
		f.Fatal(err)
	}
	z, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	defer z.Close()
	r, err := gzip.NewReader(z)
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte(`{"schema":"` + ModelSchema + `","sources":["a"],"sites":[{"function":"f","module":"m","total":1,"instances":[{"mem":[{"size":16}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := readModel(bytes.NewReader(packed(string(text))))
		if err != nil {
			return
		}
		both := merged(m, small(64, 3, "a"), m)
		if err := both.check(); err != nil {
			t.Fatal(err)
		}
		for i := range both.Sites {
			both.of(both.Sites[i])
			features(both.Sites[i].Instances, liveSection())
		}
	})
}

// liveSection is one after which everything is live.
func liveSection() *overlay.Section {
	s := &overlay.Section{End: overlay.EndLoop, Live: &overlay.Live{}}
	for i := range s.Live.GPR {
		s.Live.GPR[i], s.Live.XMM[i] = 0xff, 0xff
	}
	return s
}
