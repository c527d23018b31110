package traces

import (
	"fmt"
	"os"
)

// A ring keeps only the end of a recording. Thread streams are collected in a
// file of their own (see ringfile.go), which is found if the recorder is killed,
// and join the others when the recording ends; what belongs to the process goes to
// the file as always. The recorder begins a new generation now
// and then: each thread's stream then begins anew at its next key frame. When
// there is too much, whole generations go, the oldest first, so that what is
// left of every stream begins with a key frame, or with the thread's start.
type ring struct {
	size      int64 // bytes, compressed
	perThread bool  // of each thread; else of all together

	// The recorder's side.
	gen   uint32
	since int            // bytes put since the generation began, uncompressed
	most  map[uint32]int // by stream, if perThread

	// The background's side.
	kept  []keptChunk
	file  ringFile
	sync  *slot // the last sync chunk: the ones before say less
	total int64
	bytes map[uint32]int64 // by stream, if perThread
	floor map[uint32]uint32
	first uint32 // generations before are gone
}

// A keptChunk is a chunk of a ring.
type keptChunk struct {
	job
	at slot
	n  int64 // bytes, as it will stand in the file
}

// ringPart is the part of a ring's size, before compression, that a generation
// takes. Traces are compressed to a quarter or less, so a ring holds several.
const ringPart = 2

// Ring makes the trace keep about the last size bytes of all threads together,
// or of each thread. It must be called before anything is put.
func (w *Writer) Ring(size int64, perThread bool) {
	w.flushMax = int(min(max(size, firstFlush), steadyFlush))
	w.ring = &ring{size: size, perThread: perThread, most: map[uint32]int{}, bytes: map[uint32]int64{}, floor: map[uint32]uint32{}}
}

// GenerationDue says whether a new generation of the ring should begin.
func (w *Writer) GenerationDue() bool {
	r := w.ring
	if r == nil {
		return false
	}
	return r.since >= int(r.size)/ringPart
}

// NextGeneration begins a new generation: streams that appear from now on, and
// those for which BeginGeneration is called, belong to it.
func (w *Writer) NextGeneration() {
	w.ring.gen++
	w.ring.since = 0
	clear(w.ring.most)
}

// BeginGeneration says that a stream's next packet, a key frame, is the first
// of the present generation.
func (w *Writer) BeginGeneration(stream uint32) error {
	s, err := w.stream(stream)
	if err != nil || w.ring == nil {
		return err
	}
	w.cut(s)
	s.gen = w.ring.gen
	return w.err()
}

// put counts what a stream got.
func (r *ring) put(stream uint32, n int) {
	if !r.perThread {
		r.since += n
		return
	}
	r.most[stream] += n
	r.since = max(r.since, r.most[stream])
}

// keep takes a chunk, and lets the oldest go.
func (r *ring) keep(j job, out []byte, path string) error {
	if j.hdr.stream != syncStream && (j.gen < r.first || j.gen < r.floor[j.hdr.stream]) {
		return nil
	}
	if r.file.f == nil {
		r.file.path = path + RingSuffix
		f, err := os.OpenFile(r.file.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return err
		}
		r.file.f = f
	}
	at, err := r.file.add(out)
	if err != nil {
		return err
	}
	if j.hdr.stream == syncStream {
		if r.sync != nil {
			err = r.file.drop(*r.sync)
		}
		r.sync = &at
		return err
	}
	j.buf = nil
	n := int64(len(out))
	r.kept = append(r.kept, keptChunk{j, at, n})
	r.total += n
	if r.perThread {
		id := j.hdr.stream
		for r.bytes[id] += n; r.bytes[id] > r.size; {
			if more, err := r.drop(func(c *keptChunk) bool { return c.hdr.stream == id }); !more {
				return err
			}
		}
		return nil
	}
	for r.total > r.size {
		if more, err := r.drop(func(*keptChunk) bool { return true }); !more {
			return err
		}
	}
	return nil
}

// drop lets the oldest generation among the chunks named go. It returns false if
// there is only one.
func (r *ring) drop(of func(*keptChunk) bool) (bool, error) {
	oldest, newest := ^uint32(0), uint32(0)
	for i := range r.kept {
		if c := &r.kept[i]; of(c) {
			oldest, newest = min(oldest, c.gen), max(newest, c.gen)
		}
	}
	if oldest >= newest {
		return false, nil
	}
	rest := r.kept[:0]
	for i := range r.kept {
		c := r.kept[i]
		if !of(&c) || c.gen > oldest {
			rest = append(rest, c)
			continue
		}
		if err := r.file.drop(c.at); err != nil {
			return false, err
		}
		r.total -= c.n
		if r.perThread {
			r.bytes[c.hdr.stream] -= c.n
			r.floor[c.hdr.stream] = oldest + 1
		}
	}
	clear(r.kept[len(rest):])
	r.kept = rest
	if !r.perThread {
		r.first = oldest + 1
	}
	return true, nil
}

// writeRing writes what the ring holds, at the end.
func (w *Writer) writeRing() {
	if w.ring == nil {
		return
	}
	for i := range w.ring.kept {
		c := &w.ring.kept[i]
		if w.failed.Load() != nil {
			return
		}
		out, err := w.ring.file.read(c.at, int(c.n))
		if err != nil {
			w.fail(fmt.Errorf("traces: reading the ring: %w", err))
			return
		}
		w.idx.sizes.join(c.sizes)
		w.write(c.hdr, out, c.keys)
	}
	w.ring.kept = nil
}

// endRing removes the ring's file, as all of it is in the trace.
func (w *Writer) endRing() {
	if w.ring != nil && w.failed.Load() == nil {
		w.ring.file.remove()
	}
}
