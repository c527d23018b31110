package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/racesim/racesim/emulate/linux"
	"github.com/racesim/racesim/traces"
)

// traceOf is the file of a process in a recording's folder.
func traceOf(dir string, pid int) string {
	return filepath.Join(dir, strconv.Itoa(pid)+traces.Suffix)
}

// makeDir makes the folder of a recording, or empties the one of an earlier
// recording.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if err == nil || !errors.Is(err, os.ErrExist) {
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		return nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("record: %w: children are recorded into a folder", err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(f.Name(), traces.IncompleteSuffix), traces.ImagesSuffix), traces.RingSuffix); filepath.Ext(name) != traces.Suffix || f.IsDir() {
			return fmt.Errorf("record: the folder %s has %s in it, which isn't a trace: choose another", dir, f.Name())
		}
	}
	for _, f := range files {
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	return nil
}

// Attach implements linux.Hooks. A process that was forked starts with the
// memory map of its parent.
func (r *recorder) Attach(p *linux.Process) {
	if r.as != nil { // another program than the parent's, of whose memory this was
		for _, m := range r.as.Mappings() {
			r.Unmap(m.Addr, m.N)
		}
	}
	r.p, r.as = p, p.AS
	r.borrowed = !p.AS.Of(r)
	r.places = [places]place{}
	for _, m := range p.AS.Mappings() {
		r.Map(m)
	}
}

// Fork implements linux.ProcessHooks.
func (r *recorder) Fork(q *linux.Process) linux.Hooks {
	h := r.head
	h.PID, h.Parent, h.ForkThread, h.ForkMin = uint32(q.PID), uint32(r.p.PID), r.cur.stream, r.min
	w, err := traces.Create(traceOf(r.cfg.Output, q.PID), h)
	c := r.newRecorder(w, traceOf(r.cfg.Output, q.PID), h)
	if err != nil {
		c.ended = true
		r.failed(err)
	}
	for _, m := range r.modules {
		c.Module(m)
	}
	return c
}

// Exec implements linux.ProcessHooks.
func (r *recorder) Exec(q *linux.Process, path string, argv []string) {
	r.modules = nil
	r.execed = true
	clear(r.entries)
	text := strings.Join(argv, "\x00") + "\x00"
	r.put(0, 0, &traces.Packet{Kind: traces.Mark, Name: traces.MarkExec, Value: r.min, Bytes: []byte(text[:min(len(text), traces.MaxBytes)])})
}

// ProcessEnd implements linux.ProcessHooks. The first process's trace stays
// open until all have ended.
func (r *recorder) ProcessEnd(q *linux.Process, st linux.ExitStatus) {
	if q == r.root || r.ended {
		r.ended = true
		return
	}
	if q.Exited() && r.err == nil {
		r.min++
		r.summarise()
		r.exit(st)
	}
	r.ended = true
	r.add(&r.total)
	if err := r.w.Close(); err != nil {
		r.failed(err)
	}
	if err := r.images.close(); err != nil {
		r.failed(err)
	}
	if s, err := os.Stat(traceOf(r.cfg.Output, q.PID)); err == nil {
		r.total.Bytes += s.Size()
	}
}
