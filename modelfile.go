package racesim

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// ModelSchema names the version of a model file: JSON, compressed by gzip.
const ModelSchema = "racesim/model/v2"

var modelSchema = regexp.MustCompile(`^racesim/model/v(\d+)$`)

// maxModelBytes bounds a model file, uncompressed.
const maxModelBytes = 256 << 20

// ErrNoModel says that a file is none of a model's.
var ErrNoModel = errors.New("not a model file")

// ReadModel reads a model file. The error is ErrNoModel, or says that the file
// is of another version or damaged.
func ReadModel(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := readModel(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readModel reads a model. It takes no more memory than a few times
// maxModelBytes, whatever it reads.
func readModel(f io.Reader) (*Model, error) {
	b := bufio.NewReader(f)
	if magic, err := b.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return nil, ErrNoModel
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("damaged model file: %w", err)
	}
	r := &io.LimitedReader{R: z, N: maxModelBytes + 1}
	text, err := io.ReadAll(r)
	if r.N == 0 {
		return nil, fmt.Errorf("more than %d bytes: no model that this program wrote", maxModelBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged model file, after %d bytes of its text: %w; learn it anew", len(text), err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("damaged model file: %w; learn it anew", err)
	}
	switch v := modelSchema.FindStringSubmatch(head.Schema); {
	case head.Schema == ModelSchema:
	case v == nil:
		return nil, fmt.Errorf("%w: its schema is %q", ErrNoModel, head.Schema)
	case len(v[1]) == 1 && v[1] < "2":
		return nil, fmt.Errorf("a model of an older racesim (%s; this one reads %s): learn it anew from its traces", head.Schema, ModelSchema)
	default:
		return nil, fmt.Errorf("a model of a newer racesim (%s; this one reads %s): use that one, or learn it anew", head.Schema, ModelSchema)
	}
	m := &Model{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("damaged model file: %w; learn it anew", err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("damaged model file: %w; learn it anew", err)
	}
	return m, nil
}

// check reports what no model that was written has.
func (m *Model) check() error {
	if len(m.Sources) > maxSources || len(m.Sites) > maxModelSites {
		return fmt.Errorf("%d traces and %d functions; %d and %d are the most", len(m.Sources), len(m.Sites), maxSources, maxModelSites)
	}
	for i := range m.Sites {
		s := &m.Sites[i]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("function %d, %q: %s", i+1, s.Function, fmt.Sprintf(format, args...))
		}
		switch {
		case s.Function == "" || s.Module == "":
			return bad("a name is missing")
		case s.Newest < 0 || s.Newest >= len(m.Sources):
			return bad("learnt from trace %d of %d", s.Newest+1, len(m.Sources))
		case s.Total < len(s.Instances) || len(s.Instances) > maxLearnt || s.Total > 1<<40:
			return bad("%d instances of %d; %d are the most", len(s.Instances), s.Total, maxLearnt)
		}
		for k := range s.Instances {
			x := &s.Instances[k]
			if x.From < 0 || x.From >= len(m.Sources) {
				return bad("instance %d is of trace %d of %d", k+1, x.From+1, len(m.Sources))
			}
			if len(x.Mem) > maxCells {
				return bad("instance %d has %d outputs in memory; %d are the most", k+1, len(x.Mem), maxCells)
			}
			for _, c := range x.Mem {
				if c.Size < 1 || c.Size > 64 {
					return bad("instance %d has an output of %d bytes", k+1, c.Size)
				}
			}
		}
	}
	return nil
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
