package racesim

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/traces"
)

// A Trace is an open recording.
type Trace struct {
	r *traces.Reader
	s *replay.Session

	// Of a trace that OpenAlone made another one of: the file that it is of, the
	// folder that is to go, and what was done.
	from, temp, done string

	files files // embedded
}

// Open opens a trace. One that was cut off opens up to its last whole chunk;
// Incomplete says so.
func Open(path string) (*Trace, error) {
	r, err := traces.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := replay.Open(r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Trace{r: r, s: s}, nil
}

// Close closes the file.
func (t *Trace) Close() error {
	t.files.close()
	err := t.r.Close()
	if t.temp != "" {
		if e := os.RemoveAll(t.temp); err == nil {
			err = e
		}
	}
	return err
}

// Incomplete says what is missing of a trace that was cut off, or whose
// recording ended before the program did; "" if nothing is.
func (t *Trace) Incomplete() string {
	if s := t.r.Incomplete(); s != "" {
		return s
	}
	if t.s.Exit() == nil {
		if s := t.s.PartOf(); s != "" {
			return "it is a part of a recording: " + s
		}
		return "the recording stopped before the program ended"
	}
	return ""
}

// Damaged says what is wrong with a trace that was closed and has lost
// something since; "" if nothing was lost, or if it never was closed.
func (t *Trace) Damaged() string {
	if strings.HasSuffix(t.path(), traces.IncompleteSuffix) {
		return ""
	}
	return t.r.Incomplete()
}

// Empty says that no thread is in the trace.
func (t *Trace) Empty() bool { return len(t.s.Threads()) == 0 }

// Session gives access to the replay of single threads.
func (t *Trace) Session() *replay.Session { return t.s }

// Verify replays all threads, several segments at a time, and returns in words
// what was compared. The error is the first divergence.
func (t *Trace) Verify(workers int) (string, error) {
	v, err := t.s.Verify(context.Background(), workers, nil)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "replayed %s of %s in %s: bit for bit as recorded\n",
		plural(v.Instructions, "instruction"), plural(uint64(v.Threads), "thread"), plural(uint64(v.Segments), "segment"))
	fmt.Fprintf(&b, "compared %s, %s, %s, %s; applied %s\n",
		plural(v.Syscalls, "system call"), plural(v.Orders, "ordered instruction"), plural(v.Hashes, "register comparison"),
		plural(v.KeyFrames, "key frame"), flowedIn(v))
	if s := t.Incomplete(); s != "" {
		fmt.Fprintf(&b, "the trace is incomplete: %s\n", s)
	}
	if v.CutOff > 0 && v.Instructions > 0 {
		fmt.Fprintf(&b, "%s went on after what is in the trace\n", plural(uint64(v.CutOff), "thread"))
	}
	return b.String(), nil
}

// Back says when a thread last executed the instruction at pc before another of
// its instructions, counted from 0; 0: its end.
func (t *Trace) Back(thread uint, before, pc uint64) (string, error) {
	id := emulate.ThreadID(thread)
	if before == 0 {
		before = uint64(t.s.Last(id))
	}
	at, ok, err := t.s.Back(id, emulate.Count(before), emulate.Addr(pc))
	if err != nil {
		return "", err
	}
	if !ok {
		return fmt.Sprintf("thread %d doesn't execute %#x before instruction %d\n", thread, pc, before), nil
	}
	return fmt.Sprintf("thread %d executes %#x at instruction %d\n", thread, pc, at), nil
}

// flowedIn says what a replay was given to read.
func flowedIn(v replay.Verified) string {
	switch {
	case v.Pages > 0:
		return plural(v.Pages, "page")
	case v.Reads > 0:
		return plural(v.Reads, "value")
	}
	return plural(v.Imports, "import")
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// WriteInfo writes what is in the trace, for people.
func (t *Trace) WriteInfo(w io.Writer) error {
	h := t.r.Header()
	var b strings.Builder
	fmt.Fprintf(&b, "trace        %s, %d bytes\n", t.r.Path(), t.r.FileSize())
	if s := t.Incomplete(); s != "" {
		fmt.Fprintf(&b, "incomplete   %s\n", s)
	}
	if s := t.s.PartOf(); s != "" {
		fmt.Fprintf(&b, "part         %s\n", s)
	}
	fmt.Fprintf(&b, "program      %s\n", strings.Join(h.Argv, " "))
	fmt.Fprintf(&b, "executable   %s", h.ExePath)
	if h.ExeBuildID != "" {
		fmt.Fprintf(&b, ", build-id %s", h.ExeBuildID)
	}
	fmt.Fprintf(&b, "\nrecorded on  %s %s, %d units, %s\n", h.Arch, h.CPULevel, h.Cores, h.Hardware)
	fmt.Fprintf(&b, "recorded as  read log %s, memory model %s, mode %s, schedule %s, seed %d, clock %s\n", h.ReadLog, h.MemoryModel, h.LogMode, h.Schedule, h.Seed, h.Clock)
	if x := t.s.Exit(); x == nil {
		fmt.Fprintf(&b, "ended        not in the trace\n")
	} else if x.Signal != 0 {
		fmt.Fprintf(&b, "ended        by signal %d\n", x.Signal)
	} else {
		fmt.Fprintf(&b, "ended        with status %d\n", x.Status)
	}
	var total uint64
	for _, id := range t.s.Threads() {
		total += uint64(t.s.Last(id) - t.s.First(id))
	}
	fmt.Fprintf(&b, "instructions %d", total)
	own := t.r.FileSize() - t.r.FilesSize()
	if total > 0 {
		fmt.Fprintf(&b, ", %.3f bits per instruction", float64(own)*8/float64(total))
	}
	if n := t.r.FilesSize(); n > 0 {
		fmt.Fprintf(&b, " (without %d bytes of embedded files)", n)
	}
	fmt.Fprintf(&b, "\n\n%-8s %15s %12s %11s %12s %12s\n", "thread", "instructions", "packets", "key frames", "raw bytes", "stored")
	for _, s := range t.r.Streams() {
		name := fmt.Sprint(s.Stream)
		if s.Stream == 0 {
			name = "process"
		}
		fmt.Fprintf(&b, "%-8s %15d %12d %11d %12d %12d\n", name, s.LastCount, s.Packets, s.KeyFrames, s.Raw, s.Stored)
	}
	fmt.Fprintf(&b, "\n%-15s %12s %14s\n", "packet", "number", "raw bytes")
	sizes := t.r.Sizes()
	for _, k := range sizes.List() {
		fmt.Fprintf(&b, "%-15v %12d %14d\n", k.Kind, k.Packets, k.Bytes)
	}
	if cs := t.s.Counters(); len(cs) > 0 {
		fmt.Fprintf(&b, "\ncaches and coherence\n")
		sort.SliceStable(cs, func(i, j int) bool { return cs[i].Name < cs[j].Name })
		for _, c := range cs {
			if strings.HasPrefix(c.Name, "unit") {
				continue // info --hw shows them
			}
			fmt.Fprintf(&b, "  %-34s %14d\n", c.Name, c.Value)
		}
	}
	fmt.Fprintf(&b, "\nmodules\n")
	for _, im := range t.images() {
		fmt.Fprintf(&b, "  %#14x  %s", uint64(im.Base), im.Path)
		if im.BuildID != "" {
			fmt.Fprintf(&b, "  build-id %s", im.BuildID)
		}
		fmt.Fprintf(&b, "  %s\n", funcs.Availability(im, t.stored(im, false)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
