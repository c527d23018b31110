package racesim

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"

	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/traces"
)

// files are those that a trace knows, by what they are of. One of several
// traces of a recording may have those of the others.
type files struct {
	once   sync.Once
	by     map[fileKey]*funcs.Stored
	others []*traces.Reader
	err    error
}

type fileKey struct {
	of, path, buildID string // path and time only of modules
	size, mtime       int64
}

// maxInMemory is the size up to which an embedded file is taken out of the
// trace once and for all, in bytes.
const maxInMemory = 64 << 20

// images lists the modules of the recording.
func (t *Trace) images() (out []funcs.Image) {
	for _, m := range t.s.Modules() {
		out = append(out, funcs.Image{Path: m.Path, Life: m.Life, Base: m.Base, BuildID: m.BuildID, Size: m.Size, ModTime: m.ModTime})
	}
	return out
}

// modules opens the ELF files of a recording for symbols, and for code that
// wasn't executed: those in the trace, else those on this machine.
func (t *Trace) modules() *funcs.Modules {
	ms := funcs.NewModules(t.images(), funcs.Options{Stored: t.stored})
	t.s.StaticCode(ms.CodePage)
	return ms
}

// stored returns what the trace has of a module's file, or of its separate
// debugging information, nil if nothing.
func (t *Trace) stored(im funcs.Image, debug bool) *funcs.Stored {
	t.files.once.Do(t.findFiles)
	if debug {
		return t.files.by[fileKey{of: im.Path, buildID: im.BuildID}]
	}
	return t.files.by[fileKey{path: im.Path, buildID: im.BuildID, size: im.Size, mtime: im.ModTime}]
}

// findFiles lists the files in the trace, and in those beside it that are of
// the same recording.
func (t *Trace) findFiles() {
	t.files.by = map[fileKey]*funcs.Stored{}
	t.addFiles(t.r)
	if pid, _ := t.Process(); pid == 0 {
		return
	}
	paths, _ := Traces(filepath.Dir(t.path()))
	for _, p := range paths {
		r, err := traces.Open(p)
		if err != nil {
			continue
		}
		h, mine := r.Header(), t.r.Header()
		if h.PID == 0 || h.PID == mine.PID || h.Seed != mine.Seed || h.ExePath != mine.ExePath || r.FilesSize() == 0 {
			r.Close()
			continue
		}
		t.files.others = append(t.files.others, r)
		t.addFiles(r)
	}
}

func (t *Trace) addFiles(r *traces.Reader) {
	list, err := r.Files()
	if err != nil && t.files.err == nil {
		t.files.err = err
	}
	for _, f := range list {
		k := fileKey{path: f.Path, buildID: f.BuildID, size: f.Size, mtime: f.ModTime}
		if f.Of != "" {
			k = fileKey{of: f.Of, buildID: f.BuildID}
		}
		if old := t.files.by[k]; old != nil && (old.Content != nil || !f.Embedded()) {
			continue
		}
		st := &funcs.Stored{Path: f.Path, Hash: f.Hash}
		if f.Embedded() {
			st.Content = f
			if f.Size <= maxInMemory {
				b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
				if err == nil {
					st.Content = bytes.NewReader(b)
				}
			}
		}
		t.files.by[k] = st
	}
}

func (f *files) close() {
	for _, r := range f.others {
		r.Close()
	}
}
