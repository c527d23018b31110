package racesim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/traces"
)

// DumpOptions say what of a trace to print.
type DumpOptions struct {
	Chunks bool // where the chunks are, instead of the packets
	Slices bool // what ran when, and what it depends on, instead of the packets
	Sizes  bool // how many packets of each kind and bytes, instead of the packets
	Thread int  // only the packets of this thread (0: the process); below 0: all
	// Only packets with From <= instructions executed <= To; a To of 0 is no
	// bound. Packets of the process have no such count.
	From, To uint64
}

// Dump prints what is in the file of a trace, complete or not. Packets come in
// the order in which they are stored, stream by stream: "thread @instructions
// instr:since-the-last kind field=value …".
func Dump(w io.Writer, path string, o DumpOptions) error {
	r, err := traces.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	b := bufio.NewWriterSize(w, 1<<16)
	switch {
	case o.Sizes:
		dumpSizes(b, r)
	case o.Chunks:
		dumpChunks(b, r, o.Thread)
	case o.Slices:
		err = dumpSlices(b, r, o.Thread)
	default:
		err = dumpPackets(b, r, o)
	}
	if e := b.Flush(); err == nil {
		err = e
	}
	if s := r.Incomplete(); err == nil && s != "" {
		err = fmt.Errorf("%s: incomplete: %s", path, s)
	}
	return err
}

func dumpSizes(w io.Writer, r *traces.Reader) {
	s := r.Sizes()
	fmt.Fprintf(w, "%-16s %12s %14s %10s\n", "kind", "packets", "bytes", "bytes each")
	for _, k := range s.List() {
		fmt.Fprintf(w, "%-16v %12d %14d %10.1f\n", k.Kind, k.Packets, k.Bytes, float64(k.Bytes)/float64(max(k.Packets, 1)))
	}
	packets, bytes := s.Total()
	fmt.Fprintf(w, "%-16s %12d %14d\n", "all", packets, bytes)
	fmt.Fprintf(w, "before compression; the file has %d bytes\n", r.FileSize())
}

// dumpChunks prints the chunks. "-" is the thread of those that only say that
// everything up to there is in the file.
func dumpChunks(w io.Writer, r *traces.Reader, thread int) {
	fmt.Fprintf(w, "%12s %8s %9s %6s %10s %10s %14s %14s %10s %10s %16s\n", "offset", "thread", "packets", "keys", "raw", "stored", "from", "to", "min from", "min to", "checksum")
	for _, c := range r.Chunks() {
		if thread < 0 || thread == int(c.Stream) {
			stream := fmt.Sprint(c.Stream)
			if c.Sync {
				stream = "-"
			}
			fmt.Fprintf(w, "%12d %8s %9d %6d %10d %10d %14d %14d %10d %10d %016x\n", c.Offset, stream, c.Packets, c.KeyFrames, c.Raw, c.Stored,
				c.First, c.Last, c.FirstMin, c.LastMin, c.Checksum)
		}
	}
}

// dumpSlices prints the execution as chunks between context switches.
func dumpSlices(w io.Writer, r *traces.Reader, thread int) error {
	s, err := replay.Open(r)
	if err != nil {
		return err
	}
	chunks, err := s.Chunks()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%8s %8s %5s %10s %10s %14s %14s  %s\n", "chunk", "thread", "unit", "mark", "to", "from", "to", "after")
	for i, c := range chunks {
		if thread >= 0 && thread != int(c.Thread) {
			continue
		}
		fmt.Fprintf(w, "%8d %8d %5d %10d %10d %14d %14d  ", i, c.Thread, c.Unit, c.Min, c.End, c.From, c.To)
		for k, j := range c.After {
			if k > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprint(w, j)
		}
		fmt.Fprintln(w)
	}
	return nil
}

func dumpPackets(w *bufio.Writer, r *traces.Reader, o DumpOptions) error {
	found := false
	var line []byte
	for _, s := range r.Streams() {
		if o.Thread >= 0 && o.Thread != int(s.Stream) {
			continue
		}
		found = true
		for c := r.Cursor(s.Stream).WithTLB(); ; {
			p, err := c.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", r.Path(), err)
			}
			if s.Stream != 0 && (p.Count < o.From || o.To > 0 && p.Count > o.To) {
				continue
			}
			line = fmt.Appendf(line[:0], "%d ", s.Stream)
			line = append(p.AppendText(line), '\n')
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	if o.Thread < 0 {
		if err := dumpFiles(w, r); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no thread %d; racesim info lists them", r.Path(), o.Thread)
	}
	return nil
}

// dumpFiles prints what files are in the trace.
func dumpFiles(w io.Writer, r *traces.Reader) error {
	files, err := r.Files()
	for _, f := range files {
		kind, content := "file", "not in the trace"
		if f.Of != "" {
			kind = "debugging information of " + f.Of + ","
		}
		if f.Embedded() {
			content = "embedded"
		}
		if _, err := fmt.Fprintf(w, "files %s %s build-id=%s size=%d mtime=%d hash=%016x %s\n", kind, f.Path, f.BuildID, f.Size, f.ModTime, f.Hash, content); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Path(), err)
	}
	return nil
}

// VerifyFile reads all of a trace without executing anything: every checksum, every
// packet, and that counts and orderable events only go forward. It returns what
// it read, in words. The error is the first damage, with its place; a trace
// that was cut off is damaged at its end. Of a folder it reads all traces, and
// says of each that comes before the first damaged one what it read.
func VerifyFile(path string) (string, error) {
	paths, err := Traces(path)
	if err != nil {
		return "", err
	}
	if len(paths) == 1 && paths[0] == path {
		return verifyFile(path)
	}
	text := ""
	for _, p := range paths {
		t, err := verifyFile(p)
		if t != "" {
			text += filepath.Base(p) + ": " + t
		}
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

func verifyFile(path string) (string, error) {
	r, err := traces.Open(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if images := r.ImagesPath(); images != "" {
		if _, err := verifyFile(images); err != nil {
			return "", err
		}
	}
	var packets uint64
	seen := map[uint64]uint32{}
	for _, s := range r.Streams() {
		var count, min uint64
		c := r.Cursor(s.Stream).WithTLB()
		for {
			p, err := c.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
			packets++
			if s.Stream == 0 {
				continue
			}
			if p.Count < count {
				return "", fmt.Errorf("%s: thread %d: %v packet at instruction %d after one at %d", path, s.Stream, p.Kind, p.Count, count)
			}
			count = p.Count
			if !p.Kind.HasMin() || p.Kind == traces.KeyFrame {
				continue
			}
			if p.Min < min {
				return "", fmt.Errorf("%s: thread %d, instruction %d: orderable event %d after %d", path, s.Stream, p.Count, p.Min, min)
			}
			if t, twice := seen[p.Min]; twice {
				return "", fmt.Errorf("%s: orderable event %d is in thread %d and in thread %d", path, p.Min, t, s.Stream)
			}
			min, seen[p.Min] = p.Min, s.Stream
		}
	}
	files, err := verifyFiles(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	text := fmt.Sprintf("%d chunks, %d packets in %d streams, %d orderable events%s, %d bytes\n", len(r.Chunks()), packets, len(r.Streams()), len(seen), files, r.FileSize())
	if s := r.Incomplete(); s != "" {
		return text, fmt.Errorf("%s: incomplete: %s", path, s)
	}
	return text, nil
}

// verifyFiles compares the embedded files with their hashes, and says how many
// there are.
func verifyFiles(r *traces.Reader) (string, error) {
	files, err := r.Files()
	if err != nil {
		return "", err
	}
	n := 0
	for _, f := range files {
		if !f.Embedded() {
			continue
		}
		n++
		hash, size, err := traces.HashFile(f)
		if err != nil {
			return "", err
		}
		if hash != f.Hash || size != f.Size {
			return "", fmt.Errorf("embedded %s: %d bytes with hash %016x, expected %d with %016x", f.Path, size, hash, f.Size, f.Hash)
		}
	}
	if n == 0 {
		return "", nil
	}
	return ", " + plural(uint64(n), "embedded file"), nil
}
