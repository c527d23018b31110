package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// Suffix ends the names of traces.
const Suffix = ".ttd"

// ImagesSuffix follows the name of a trace whose values come from memory
// snapshots in a second file: the name of that.
const ImagesSuffix = ".mem"

// IncompleteSuffix ends the name of a trace that is being written, or whose
// recording was cut off.
const IncompleteSuffix = ".incomplete"

// queueLen is the number of chunks that may wait for compression; each takes
// up to MaxChunkRaw bytes. A Put that finds the queue full waits.
const queueLen = 8

// A Writer writes a trace. It belongs to one goroutine; compression and
// writing happen on another, in the order of the chunks.
type Writer struct {
	path     string
	f        *os.File
	streams  []*outStream // by stream number
	files    *outStream   // FilesStream
	order    []uint32     // the streams that exist, as they appeared
	held     int          // bytes in unfinished chunks
	unsafe   int          // bytes put since the last flush
	flushAt  int          // flush when so many were
	flushMax int          // what flushAt grows to
	maxMin   uint64
	idx      index
	closed   bool
	ring     *ring // nil: everything is kept
	byChunk  bool  // see Chunks

	queue  chan job
	free   chan []byte
	done   sync.WaitGroup
	failed atomic.Pointer[error]
	offset int64 // written so far; the background goroutine's until done
	enc    *zstd.Encoder
}

// A Writer flushes by itself when that many bytes, before compression, were
// put since the last time: at first, so that little of a short recording is
// lost, then a quarter more from flush to flush up to the second number, and at
// least as many as streamFlush for each stream.
const (
	firstFlush  = 16 << 10
	steadyFlush = 8 << 20
	streamFlush = 8 << 10
)

// outStream is the unfinished chunk of one stream.
type outStream struct {
	coder
	hdr  chunkHeader
	buf  []byte
	keys []keyEntry
	some bool // a packet was put

	gen   uint32 // of a ring
	sizes *Sizes
}

// job is a chunk for the background goroutine.
type job struct {
	hdr  chunkHeader
	buf  []byte
	keys []keyEntry

	gen   uint32 // of a ring
	sizes *Sizes
}

// Create starts a trace. It is written to path+IncompleteSuffix until Close
// renames it. Two writers of one path exclude each other.
func Create(path string, h Header) (*Writer, error) {
	head, err := h.encode()
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("traces: %s is a folder: choose another name for the trace", path)
	}
	f, err := os.OpenFile(path+IncompleteSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("traces: creating the trace: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		f.Close()
		return nil, fmt.Errorf("traces: %s is being written by another recording: choose another name", path)
	}
	os.Remove(path + RingSuffix) // of an earlier recording
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("traces: %w", err)
	}
	if _, err := f.Write(head); err != nil {
		f.Close()
		return nil, fmt.Errorf("traces: writing the header: %w", err)
	}
	w := &Writer{path: path, f: f, offset: int64(len(head)), enc: newEncoder(), flushAt: firstFlush, flushMax: steadyFlush,
		queue: make(chan job, queueLen), free: make(chan []byte, queueLen+2)}
	w.done.Add(1)
	go w.background()
	return w, nil
}

// Put appends a packet to a stream. count is the absolute number of
// instructions that the stream's thread had executed (0 in stream 0). It
// copies what p points to. It sets p.Count and p.Delta.
func (w *Writer) Put(stream uint32, count uint64, p *Packet) error {
	s, err := w.stream(stream)
	if err != nil {
		return err
	}
	if !p.Kind.valid() || kindTable[p.Kind].Form != 0 || !kindTable[p.Kind].Where.allows(stream) {
		return fmt.Errorf("traces: %v packet put in stream %d", p.Kind, stream)
	}
	if count < s.count || (!counts(stream) && count != 0) {
		return fmt.Errorf("traces: stream %d: %v packet at count %d after one at %d", stream, p.Kind, count, s.count)
	}
	if p.Entry != 0 && p.Kind.hasLine() {
		if err := w.name(s, count, p.Line, p.Entry, p.Alias); err != nil {
			return err
		}
	}
	p.Count, p.Delta = count, count-s.count
	n := len(s.buf)
	before, entry := s.coder, s.tlb.entries[p.Entry]
	b, err := s.appendPacket(s.buf, stream, p)
	if err == nil && len(b)-n > maxPacket {
		err = fmt.Errorf("%d bytes, maximum %d", len(b)-n, maxPacket)
	}
	if err == nil && stream != 0 && s.min < before.min {
		err = fmt.Errorf("min %d after %d", s.min, before.min)
	}
	if err != nil {
		s.buf, s.coder = b[:n], before
		if _, ok := s.tlb.entries[p.Entry]; ok {
			s.tlb.entries[p.Entry] = entry
		}
		return fmt.Errorf("traces: stream %d: %v packet at count %d: %w", stream, p.Kind, count, err)
	}
	if p.Kind == Start || p.Kind == KeyFrame {
		s.keys = append(s.keys, keyEntry{packet: s.hdr.packets, kind: p.Kind, count: count, min: p.Min})
	}
	return w.added(s, b, n, count)
}

// PutImport is Put for an Import, the most frequent packet.
func (w *Writer) PutImport(stream uint32, count, line uint64, data *[LineSize]byte) error {
	return w.PutImportBy(stream, count, line, data, 0, 0)
}

// PutImportBy is PutImport of a line that a TLB entry names: see Packet.Entry.
func (w *Writer) PutImportBy(stream uint32, count, line uint64, data *[LineSize]byte, entry, alias uint64) error {
	s, err := w.stream(stream)
	if err != nil {
		return err
	}
	if count < s.count || !counts(stream) {
		return fmt.Errorf("traces: stream %d: import packet at count %d after one at %d", stream, count, s.count)
	}
	if entry != 0 {
		if err := w.name(s, count, line, entry, alias); err != nil {
			return err
		}
	}
	n := len(s.buf)
	return w.added(s, s.appendImport(s.buf, count-s.count, line, data, entry), n, count)
}

// added ends a Put: the packet is what b has beyond n.
func (w *Writer) added(s *outStream, b []byte, n int, count uint64) error {
	s.buf, s.count, s.some = b, count, true
	s.hdr.packets++
	if s.sizes == nil {
		w.idx.sizes.add(Kind(b[n]), len(b)-n)
	} else {
		s.sizes.add(Kind(b[n]), len(b)-n)
		w.ring.put(s.hdr.stream, len(b)-n)
	}
	w.maxMin = max(w.maxMin, s.min)
	w.held += len(b) - n
	w.unsafe += len(b) - n
	switch {
	case w.byChunk && w.held > maxBuffered:
		w.cutAll()
		return w.err()
	case w.byChunk && len(b) < chunkTarget:
		return nil
	case !w.byChunk && (w.unsafe >= w.flushAt && w.unsafe >= streamFlush*len(w.order) || w.held > maxBuffered):
		w.flushAt = min(w.flushAt+w.flushAt/4, w.flushMax)
		return w.Flush()
	case len(b) >= chunkTarget:
		w.cut(s)
		return w.err()
	}
	return nil
}

// PutOrder is Put for an Order, the second most frequent.
func (w *Writer) PutOrder(stream uint32, count, min uint64) error {
	s, err := w.stream(stream)
	if err != nil {
		return err
	}
	if count < s.count || !counts(stream) || min < s.min {
		return fmt.Errorf("traces: stream %d: order packet with min %d at count %d after min %d at %d", stream, min, count, s.min, s.count)
	}
	n := len(s.buf)
	b := append(s.buf, byte(Order))
	b = binary.AppendUvarint(b, count-s.count)
	b = binary.AppendUvarint(b, zigzag(int64(min-s.min)))
	s.min = min
	return w.added(s, b, n, count)
}

// PutRead is Put for a Read.
func (w *Writer) PutRead(stream uint32, count, skip, value uint64) error {
	s, err := w.stream(stream)
	if err != nil {
		return err
	}
	if count < s.count || stream == 0 {
		return fmt.Errorf("traces: stream %d: read packet at count %d after one at %d", stream, count, s.count)
	}
	n := len(s.buf)
	b := append(s.buf, byte(Read))
	b = binary.AppendUvarint(b, count-s.count)
	b = binary.AppendUvarint(b, skip)
	b = binary.AppendUvarint(b, value)
	return w.added(s, b, n, count)
}

// stream returns the unfinished chunk of a stream.
func (w *Writer) stream(n uint32) (*outStream, error) {
	if n < uint32(len(w.streams)) {
		if s := w.streams[n]; s != nil {
			return s, nil
		}
	}
	if w.closed {
		return nil, errors.New("traces: the trace is closed")
	}
	if n == FilesStream {
		if w.files == nil {
			w.files = &outStream{hdr: chunkHeader{stream: n}}
			w.order = append(w.order, n)
		}
		return w.files, nil
	}
	if n >= MaxStreams {
		return nil, fmt.Errorf("traces: stream %d, maximum %d", n, MaxStreams-1)
	}
	for uint32(len(w.streams)) <= n {
		w.streams = append(w.streams, nil)
	}
	s := &outStream{hdr: chunkHeader{stream: n}}
	if w.ring != nil && counts(n) {
		s.gen, s.sizes = w.ring.gen, new(Sizes)
	}
	w.streams[n] = s
	w.order = append(w.order, n)
	return s, nil
}

// cut hands the unfinished chunk of s to the background goroutine.
func (w *Writer) cut(s *outStream) {
	if len(s.buf) == 0 {
		return
	}
	h := s.hdr
	h.keys = uint32(len(s.keys))
	h.raw = uint32(len(s.buf))
	h.lastCount, h.lastMin = s.count, s.min
	w.held -= len(s.buf)
	w.queue <- job{h, s.buf, s.keys, s.gen, s.sizes}
	s.buf, s.keys = nil, nil
	if s.sizes != nil {
		s.sizes = new(Sizes)
	}
	select {
	case s.buf = <-w.free:
	default:
	}
	s.line, s.tlb = 0, tlbCoder{}
	s.hdr = chunkHeader{stream: h.stream, baseCount: s.count, baseMin: s.min}
}

func (w *Writer) cutAll() {
	for _, n := range w.order {
		if n == FilesStream {
			w.cut(w.files)
		} else {
			w.cut(w.streams[n])
		}
	}
}

// Flush hands all that was put to the background writer, so that a crash of
// this process loses at most what is still in its queue, and marks the place,
// for Reader.SafeMin. A Writer does it by itself now and then; a recorder whose
// program writes little should do it from time to time. It costs compression
// to do it often.
func (w *Writer) Flush() error {
	if w.closed {
		return errors.New("traces: the trace is closed")
	}
	w.cutAll()
	w.unsafe = 0
	w.queue <- job{hdr: chunkHeader{stream: syncStream, baseMin: w.maxMin, lastMin: w.maxMin}}
	return w.err()
}

// err returns what went wrong in the background.
func (w *Writer) err() error {
	if p := w.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// fail notes that the trace can't be written any more.
func (w *Writer) fail(err error) { w.failed.Store(&err) }

// background compresses and writes chunks, and collects the index. After a
// failed write it only empties the queue, so that the file ends where it failed.
func (w *Writer) background() {
	defer w.done.Done()
	var out []byte
	for j := range w.queue {
		if w.failed.Load() == nil {
			// The header follows the payload's compression, so room is kept for it.
			out = append(out[:0], make([]byte, chunkHeaderSize)...)
			out = compress(w.enc, out, j.buf)
			payload := out[chunkHeaderSize:]
			j.hdr.stored = uint32(len(payload))
			j.hdr.sum = xxh3.Hash(payload)
			j.hdr.encode(out[:0])
			switch {
			case w.ring != nil && (j.sizes != nil || j.hdr.stream == syncStream):
				if err := w.ring.keep(j, out, w.path); err != nil {
					w.fail(fmt.Errorf("traces: writing the ring: %w", err))
				}
			default:
				w.write(j.hdr, out, j.keys)
			}
		}
		if cap(j.buf) > 0 {
			select {
			case w.free <- j.buf[:0]:
			default:
			}
		}
	}
}

// write appends a chunk to the file.
func (w *Writer) write(h chunkHeader, out []byte, keys []keyEntry) {
	if w.failed.Load() != nil {
		return
	}
	if _, err := w.f.Write(out); err != nil {
		err = fmt.Errorf("traces: writing chunk %d at offset %#x: %w", len(w.idx.chunks), w.offset, err)
		w.failed.Store(&err)
	}
	for _, k := range keys {
		k.chunk = uint32(len(w.idx.chunks))
		w.idx.keys = append(w.idx.keys, k)
	}
	w.idx.chunks = append(w.idx.chunks, chunkInfo{chunkHeader: h, offset: w.offset})
	w.offset += int64(len(out))
}

// Close writes what is left, the index and the footer, and gives the file its
// name. After an error the file keeps its incomplete name and what it holds.
func (w *Writer) Close() error {
	if w.closed {
		return errors.New("traces: the trace is closed")
	}
	w.cutAll()
	w.stop()
	err := w.err()
	if err == nil {
		err = w.finish()
	}
	w.endRing()
	if e := w.f.Close(); err == nil && e != nil {
		err = fmt.Errorf("traces: closing the trace: %w", e)
	}
	return err
}

// Abort ends the writer and leaves what was put so far under the incomplete
// name, without index.
func (w *Writer) Abort() error {
	if w.closed {
		return errors.New("traces: the trace is closed")
	}
	w.cutAll()
	w.stop()
	if w.ring != nil { // the ring's last one isn't in this file
		h := chunkHeader{stream: syncStream, baseMin: w.maxMin, lastMin: w.maxMin, sum: xxh3.Hash(nil)}
		w.write(h, h.encode(nil), nil)
	}
	w.endRing()
	if e := w.f.Close(); e != nil && w.err() == nil {
		return fmt.Errorf("traces: closing the trace: %w", e)
	}
	return w.err()
}

// stop waits for the background goroutine and forbids further puts.
func (w *Writer) stop() {
	w.closed = true
	w.streams = nil
	w.files = nil
	close(w.queue)
	w.done.Wait()
	w.enc.Close()
	w.writeRing()
}

// finish writes index and footer, and renames.
func (w *Writer) finish() error {
	raw := w.idx.encode()
	if len(raw) > MaxIndexRaw {
		return fmt.Errorf("traces: index of %d bytes, maximum %d", len(raw), MaxIndexRaw)
	}
	enc := newEncoder()
	payload := compress(enc, nil, raw)
	enc.Close()
	b := encodeIndexHeader(len(raw), payload)
	b = append(b, payload...)
	b = append(b, encodeFooter(w.offset, w.offset+int64(len(b))+footerSize)...)
	if _, err := w.f.Write(b); err != nil {
		return fmt.Errorf("traces: writing the index at offset %#x: %w", w.offset, err)
	}
	if err := os.Rename(w.path+IncompleteSuffix, w.path); err != nil {
		return fmt.Errorf("traces: naming the finished trace: %w", err)
	}
	return nil
}
