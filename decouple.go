package racesim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/racesim/racesim/emulate/replay"
)

// Decouple makes of a trace whose threads depend on one another (log mode ccp)
// one in which each stands alone, as if it had been recorded so, and says in
// words what was done. workers threads are replayed at a time.
func Decouple(ctx context.Context, in, out string, workers int) (string, error) {
	t, err := Open(in)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if same(t.r.Path(), out) {
		return "", fmt.Errorf("%s would be written over while it is read: name another file", in)
	}
	d, err := t.s.Decouple(ctx, out, workers)
	if err != nil {
		return "", fmt.Errorf("%s: %w", in, err)
	}
	text := fmt.Sprintf("replayed %s of %s, and wrote the bytes of %s that one had from another\n",
		plural(d.Instructions, "instruction"), plural(uint64(d.Threads), "thread"), plural(d.Fetches, "line"))
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

// OpenAlone opens a trace for all that replays its threads one by one. If they
// depend on one another, it decouples it first, into a file in the folder for
// temporary files that Close removes; Decoupled says so.
func OpenAlone(ctx context.Context, path string) (*Trace, error) {
	t, err := Open(path)
	if err != nil || !t.s.Dependent() {
		return t, err
	}
	defer t.Close()
	dir, err := os.MkdirTemp("", "racesim-decoupled-")
	if err != nil {
		return nil, fmt.Errorf("%s: decoupling its threads: %w", path, err)
	}
	file := filepath.Join(dir, "alone.ttd")
	if _, err = t.s.Decouple(ctx, file, 0); err == nil {
		var alone *Trace
		if alone, err = Open(file); err == nil {
			alone.from, alone.temp, alone.mode = t.r.Path(), dir, t.r.Header().LogMode
			return alone, nil
		}
	}
	os.RemoveAll(dir)
	var d *replay.Divergence
	if errors.As(err, &d) {
		return nil, err
	}
	return nil, fmt.Errorf("%s: decoupling its threads: %w", path, err)
}

// Decoupled says that OpenAlone had to decouple the trace, "" if it hadn't.
func (t *Trace) Decoupled() string {
	if t.from == "" {
		return ""
	}
	return fmt.Sprintf("the trace was recorded in log mode %s: its threads were decoupled first", t.mode)
}

// path returns the name of the trace as it was given.
func (t *Trace) path() string {
	if t.from != "" {
		return t.from
	}
	return t.r.Path()
}
