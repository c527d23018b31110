package racesim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/record"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/traces"
)

// ConvertOptions say what becomes of a trace. The zero value writes it again in
// this version of the format.
type ConvertOptions struct {
	Level string // compression: fastest, default, better, best; "": better
	// From and To are positions, thread:sequence:steps, or numbers of orderable
	// events; "": the recording's start, or its end. The part between them is
	// what is written, from the beginning of the slice that From is in to the
	// end of To's.
	From, To string
	// Embed says which files are in the result: "" those that are, own or all
	// adds those of this machine that are as they were recorded, none leaves
	// them out.
	Embed string
}

// Check says what is wrong with the options, as far as that needs no trace.
func (o *ConvertOptions) Check() error {
	if o.Level != "" {
		if _, err := traces.ParseLevel(o.Level); err != nil {
			return err
		}
	}
	if o.Embed != "" {
		if _, err := record.ParseEmbed(o.Embed); err != nil {
			return err
		}
	}
	for _, s := range []string{o.From, o.To} {
		if s == "" {
			continue
		}
		if _, err := strconv.ParseUint(s, 10, 64); err != nil {
			if _, err := emulate.ParsePosition(s); err != nil {
				return fmt.Errorf("%q: want a position, thread:sequence:steps, or the number of an orderable event", s)
			}
		}
	}
	return nil
}

// Convert writes a trace anew, or all those in the folder of a recording, and
// says in words what was done.
func Convert(ctx context.Context, in, out string, o ConvertOptions) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	if !isDir(in) {
		return convert(ctx, in, out, o)
	}
	if o.From != "" || o.To != "" {
		return "", fmt.Errorf("%s has the traces of several processes: name one of its files to cut", in)
	}
	paths, err := Traces(in)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), traces.IncompleteSuffix)
		text, err := convert(ctx, p, filepath.Join(out, name), o)
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%s: %s", name, text)
	}
	return b.String(), nil
}

func convert(ctx context.Context, in, out string, o ConvertOptions) (string, error) {
	cut := o.From != "" || o.To != ""
	open := Open
	if cut {
		open = func(path string) (*Trace, error) { return OpenAlone(ctx, path) }
	}
	t, err := open(in)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if same(t.path(), out) {
		return "", fmt.Errorf("%s would be written over while it is read: name another file", in)
	}
	level := traces.LevelBetter
	if o.Level != "" {
		level, _ = traces.ParseLevel(o.Level)
	}
	w, err := traces.Create(out, t.r.Header())
	if err != nil {
		return "", err
	}
	w.Compress(level)
	w.Chunks()
	text := ""
	if err = t.putFiles(w, o.Embed); err == nil && cut {
		text, err = t.cut(ctx, w, o.From, o.To)
	} else if err == nil {
		err = w.CopyChunks(t.r)
	}
	if images := t.r.ImagesPath(); err == nil && images != "" {
		err = convertImages(images, out+traces.ImagesSuffix, level)
	}
	whole := cut || t.r.Incomplete() == ""
	switch {
	case err != nil:
		w.Abort()
		os.Remove(out + traces.IncompleteSuffix)
		return "", fmt.Errorf("%s: %w", in, err)
	case whole:
		err = w.Close()
	default:
		err = w.Abort()
		out += traces.IncompleteSuffix
		text = fmt.Sprintf("the trace is incomplete, and so is the result: %s\n", t.r.Incomplete())
	}
	if err != nil {
		return "", err
	}
	st, err := os.Stat(out)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d bytes instead of %d\n%s", out, st.Size(), t.r.FileSize(), text), nil
}

// convertImages writes the file with the values of a trace anew, too.
func convertImages(in, out string, level traces.Level) error {
	r, err := traces.Open(in)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := traces.Create(out, r.Header())
	if err != nil {
		return err
	}
	w.Compress(level)
	w.Chunks()
	if err := w.CopyChunks(r); err != nil {
		w.Abort()
		os.Remove(out + traces.IncompleteSuffix)
		return err
	}
	if r.Incomplete() != "" {
		return w.Abort()
	}
	return w.Close()
}

// putFiles puts the files of the modules in a trace.
func (t *Trace) putFiles(w *traces.Writer, embed string) error {
	if embed == "" {
		return w.CopyFiles(t.r)
	}
	e, err := record.ParseEmbed(embed)
	if err != nil {
		return err
	}
	if e == record.EmbedNone {
		files, err := t.r.Files()
		for _, f := range files {
			if e := w.PutFile(f.FileInfo, nil); e != nil {
				return e
			}
		}
		return err
	}
	done := map[string]bool{}
	for _, im := range t.images() {
		for _, debug := range []bool{false, true} {
			key := fmt.Sprint(debug, im.Path, im.BuildID, im.Size, im.ModTime)
			if done[key] {
				continue
			}
			done[key] = true
			if err := t.putFile(w, e, im, debug); err != nil {
				return err
			}
		}
	}
	return nil
}

// putFile puts the file of a module, or its separate debugging information, in
// a trace: that which t has, or that of this machine, if it is the same.
func (t *Trace) putFile(w *traces.Writer, e record.Embed, im funcs.Image, debug bool) error {
	info := traces.FileInfo{Path: im.Path, BuildID: im.BuildID, Size: im.Size, ModTime: im.ModTime}
	st := t.stored(im, debug)
	if st != nil && st.Content != nil {
		if debug {
			info.Of, info.Path = im.Path, st.Path
		}
		hash, size, err := traces.HashFile(st.Content)
		if err != nil {
			return err
		}
		info.Hash, info.Size = hash, size
		return w.PutFile(info, st.Content)
	}
	if im.Path == "" || strings.HasPrefix(im.Path, "[") {
		return nil
	}
	if debug {
		info.Of, info.Path = im.Path, funcs.DebugFile(im.Path)
	}
	if info.Path == "" || !e.Takes(info.Path) || funcs.Availability(im, t.stored(im, false)) != "here" {
		if st != nil {
			info.Hash = st.Hash
			return w.PutFile(info, nil)
		}
		return nil
	}
	f, err := os.Open(info.Path)
	if err != nil {
		return nil // gone since
	}
	defer f.Close()
	if info.Hash, info.Size, err = traces.HashFile(f); err != nil {
		return err
	}
	return w.PutFile(info, f)
}

// cut puts the part between two places in a trace.
func (t *Trace) cut(ctx context.Context, w *traces.Writer, from, to string) (string, error) {
	sched, err := t.s.Schedule()
	if err != nil {
		return "", err
	}
	if len(sched) == 0 {
		return "", errors.New("nothing was executed")
	}
	first, last := 0, len(sched)-1
	if from != "" {
		if first, err = t.slice(sched, from); err != nil {
			return "", err
		}
	}
	if to != "" {
		if last, err = t.slice(sched, to); err != nil {
			return "", err
		}
	}
	if last < first {
		return "", fmt.Errorf("%s is before %s", to, from)
	}
	ms := t.modules()
	tree := funcs.NewTree(ms)
	text := fmt.Sprintf("events %d to %d of %d", sched[first].Min, sched[last].End, sched[len(sched)-1].End)
	st, err := t.s.Cut(ctx, w, first, last, text, func(th *replay.Thread) func() ([]replay.Frame, emulate.Count) {
		calls := funcs.NewTracker(tree, th.ID(), nil)
		calls.Begin(th)
		th.CPU().Calls = calls
		return func() ([]replay.Frame, emulate.Count) {
			out := make([]replay.Frame, calls.Depth())
			for i := range out {
				f := calls.Level(len(out) - 1 - i)
				out[i] = replay.Frame{Entry: f.Entry, Site: f.Site, SP: f.SP}
			}
			return out, beforeRuntime(ms, calls, th.Count())
		}
	})
	return fmt.Sprintf("%s: %s of %s in %s\n", text, plural(st.Instructions, "instruction"), plural(uint64(st.Threads), "thread"), plural(uint64(st.Slices), "slice")), err
}

// slice returns the number of the slice that a place is in.
func (t *Trace) slice(sched []replay.Slice, place string) (int, error) {
	if n, err := strconv.ParseUint(place, 10, 64); err == nil {
		i := sort.Search(len(sched), func(i int) bool { return sched[i].End >= n })
		if i == len(sched) {
			return 0, fmt.Errorf("event %d is beyond the last, %d", n, sched[len(sched)-1].End)
		}
		return i, nil
	}
	pos, err := emulate.ParsePosition(place)
	if err != nil {
		return 0, err
	}
	count, err := t.s.Locate(pos)
	if err != nil {
		return 0, err
	}
	found := -1
	for i := range sched {
		x := &sched[i]
		if x.Thread == pos.Thread && x.From <= count && (count < x.To || count == x.To && pos.Sequence <= x.End) {
			found = i
			if pos.Sequence <= x.End {
				break
			}
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("position %s: thread %d doesn't execute it in the trace", place, pos.Thread)
	}
	return found, nil
}

// startup are run-time functions that call the program, or end it.
var startup = regexp.MustCompile(`^(_start|__libc_start_.*|start_thread|__clone.*|clone3?|exit|_exit|__run_exit_handlers|call_init|_dl_.*|execute_native_thread_routine|gomp_thread_start|GOMP_parallel.*|GOMP_task.*|__kmp.*(fork|launch|invoke).*|pthread_once|__pthread_once.*)$`)

// maxBack bounds how far a thread of a part begins before the part, in
// instructions.
const maxBack = 10_000_000

// beforeRuntime returns the count of the call by which the program came to the
// run-time's function that a thread is in, count if it is in none: what a lock
// or a barrier orders is told by all of the call.
func beforeRuntime(ms *funcs.Modules, calls *funcs.Tracker, count emulate.Count) emulate.Count {
	at := count
	for n := 0; n < calls.Depth()-1; n++ {
		x := calls.Level(n)
		f := ms.FuncAt(x.Entry)
		if f == nil || !f.Runtime || x.Signal || startup.MatchString(f.Linkage) || x.Count == 0 || count-x.Count > maxBack {
			break
		}
		at = min(at, x.Count-1)
	}
	return at
}
