package racesim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// Decouple makes of a trace whose threads depend on one another (log mode ccp)
// one in which each stands alone, as if it had been recorded so, and says in
// words what was done.
func Decouple(ctx context.Context, in, out string, workers int, noMarks bool) (string, error) {
	o := replay.DecoupleOptions{Workers: workers, NoMarks: noMarks}
	t, err := Open(in)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if same(t.r.Path(), out) {
		return "", fmt.Errorf("%s would be written over while it is read: name another file", in)
	}
	d, err := t.s.Decouple(ctx, out, o)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in, err)
	}
	text := fmt.Sprintf("replayed %s of %s, and wrote the bytes of %s that one had from another\n",
		plural(d.Instructions, "instruction"), plural(uint64(d.Threads), "thread"), plural(d.Fetches, "line"))
	if d.Solved.Messages > 0 {
		text += d.Solved.String() + "\n"
	}
	if s := t.r.Incomplete(); s != "" {
		text += fmt.Sprintf("the trace is incomplete, and so is the result: %s\n", s)
	}
	return text, nil
}

// same says whether two names are one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// OpenAlone opens a trace for all that replays its threads one by one, and
// observes them line by line. If they depend on one another, it decouples it
// first, and if what they read isn't logged as lines, it translates it, into a
// file in the folder for temporary files that Close removes; Decoupled says so.
func OpenAlone(ctx context.Context, path string) (*Trace, error) {
	t, err := Open(path)
	if err != nil || !t.s.Dependent() && t.s.Native() {
		return t, err
	}
	defer t.Close()
	h := t.r.Header()
	doing, done := "decoupling its threads", "the trace was recorded in log mode "+h.LogMode+": its threads were decoupled first"
	if !t.s.Native() {
		doing, done = "translating its log of reads to lines", "the trace has a log of reads of the kind "+h.ReadLog+": it was translated to lines first"
	}
	dir, err := os.MkdirTemp("", "racesim-decoupled-")
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, doing, err)
	}
	file := filepath.Join(dir, "alone.ttd")
	if t.s.Native() {
		_, err = t.s.Decouple(ctx, file, replay.DecoupleOptions{})
	} else {
		file, err = t.translate(file)
	}
	if err == nil {
		var alone *Trace
		if alone, err = Open(file); err == nil {
			alone.from, alone.temp, alone.done = t.r.Path(), dir, done
			return alone, nil
		}
	}
	os.RemoveAll(dir)
	var d *replay.Divergence
	if errors.As(err, &d) {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %s: %w", path, doing, err)
}

// translate writes the trace once more to a file, with a log of lines, and
// returns the file's name: if the trace was cut off, so is it.
func (t *Trace) translate(file string) (string, error) {
	w, err := traces.Create(file, t.s.TranslatedHeader())
	if err != nil {
		return file, err
	}
	if err = t.s.Translate(w); err == nil {
		err = w.CopyFiles(t.r)
	}
	end := w.Close
	if t.r.Incomplete() != "" {
		end, file = w.Abort, file+traces.IncompleteSuffix
	}
	if e := end(); err == nil {
		err = e
	}
	return file, err
}

// Decoupled says that OpenAlone had to make another trace of this one, "" if it
// hadn't.
func (t *Trace) Decoupled() string { return t.done }

// path returns the name of the trace as it was given.
func (t *Trace) path() string {
	if t.from != "" {
		return t.from
	}
	return t.r.Path()
}
