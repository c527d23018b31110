package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// A Reader reads a trace. It is safe for concurrent use.
type Reader struct {
	f          io.ReaderAt
	close      func() error
	path       string
	size       int64
	header     Header
	version    uint32
	idx        *index
	incomplete string
	ringFile   interface { // of a ring that was cut off, else nil
		io.ReaderAt
		io.Closer
	}
	ringSize int64
	streams  []StreamInfo
	byStream map[uint32][]int32 // numbers of each stream's chunks
	safeMin  uint64
	dec      *zstd.Decoder

	filesOnce sync.Once
	files     []*StoredFile
	filesErr  error

	mu    sync.Mutex
	cache map[int32]*cached
	tick  uint64
}

// cached is a chunk's uncompressed payload, which never changes.
type cached struct {
	raw  []byte
	used uint64
}

// cacheChunks is the number of chunks that a Reader keeps for cursors that
// come back to them.
const cacheChunks = 32

// A StreamInfo sums up one stream.
type StreamInfo struct {
	Stream    uint32 // 0: the process; else the thread's number
	Packets   uint64
	Chunks    int
	KeyFrames int    // Start included
	LastCount uint64 // instructions executed at its last packet
	LastMin   uint64 // number of its last orderable event
	Raw       uint64 // bytes before compression
	Stored    uint64 // bytes in the file
}

// A KeyFrameInfo says where replay of a stream can start.
type KeyFrameInfo struct {
	Stream uint32
	Kind   Kind // Start or KeyFrame
	Count  uint64
	Min    uint64
	chunk  int32 // place in the list of the stream's chunks
	packet uint32
}

// Open opens a trace, complete or not; Incomplete tells which. If there is no
// file of that name but an unfinished recording of it, it opens that.
// Errors name chunk and offset, what was found and what was expected.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if g, e := os.Open(path + IncompleteSuffix); e == nil {
			f, err, path = g, nil, path+IncompleteSuffix
		}
	}
	if err != nil {
		return nil, fmt.Errorf("traces: opening the trace: %w", err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var r *Reader
	if err == nil {
		r, err = NewReader(f, st.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("traces: %s: %w", path, err)
	}
	r.path, r.close = path, f.Close
	if strings.HasSuffix(path, IncompleteSuffix) && r.header.Ring != "" {
		if err := r.openRing(path); err != nil {
			r.Close()
			return nil, fmt.Errorf("traces: %s: its ring: %w", path, err)
		}
		r.summarise()
	}
	return r, nil
}

// NewReader is Open for a trace of size bytes that f reads. Closing the Reader
// doesn't close f.
func NewReader(f io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{f: f, size: size, cache: map[int32]*cached{}, byStream: map[uint32][]int32{}}
	start, err := r.readHeader()
	if err != nil {
		return nil, err
	}
	r.dec = newDecoder()
	r.idx, err = r.readIndex(start)
	if err != nil {
		why := err
		r.idx, err = r.scan(start)
		r.incomplete = fmt.Sprintf("%v; %v", why, err)
	}
	r.summarise()
	return r, nil
}

// readHeader returns the offset of the first chunk.
func (r *Reader) readHeader() (int64, error) {
	var fixed [headerFixed]byte
	if r.size < headerFixed {
		return 0, fmt.Errorf("%d bytes, expected at least a header of %d: this is not a trace, or it was cut off in its header", r.size, headerFixed)
	}
	if _, err := r.f.ReadAt(fixed[:], 0); err != nil {
		return 0, fmt.Errorf("reading the header: %w", err)
	}
	n, err := headerSize(fixed[:])
	if err != nil {
		return 0, err
	}
	if n > r.size {
		return 0, fmt.Errorf("header of %d bytes in a file of %d: cut off in its header", n, r.size)
	}
	b := make([]byte, n)
	if _, err := r.f.ReadAt(b, 0); err != nil {
		return 0, fmt.Errorf("reading the header: %w", err)
	}
	r.version = binary.LittleEndian.Uint32(b[4:])
	r.header, err = decodeHeader(b)
	return n, err
}

// readIndex reads footer and index of a complete trace.
func (r *Reader) readIndex(start int64) (*index, error) {
	if r.size < start+indexFixed+footerSize {
		return nil, errors.New("no footer")
	}
	var foot [footerSize]byte
	if _, err := r.f.ReadAt(foot[:], r.size-footerSize); err != nil {
		return nil, fmt.Errorf("reading the footer: %w", err)
	}
	off, err := decodeFooter(foot[:], r.version, r.size)
	if err != nil {
		return nil, err
	}
	b := make([]byte, r.size-footerSize-off)
	if off < start || len(b) > MaxIndexRaw+indexFixed {
		return nil, fmt.Errorf("footer: index at %#x", off)
	}
	if _, err := r.f.ReadAt(b, off); err != nil {
		return nil, fmt.Errorf("reading the index at offset %#x: %w", off, err)
	}
	raw, stored := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	payload := b[indexFixed:]
	switch {
	case string(b[:4]) != indexMagic:
		return nil, fmt.Errorf("index at offset %#x: magic % x, expected % x", off, b[:4], indexMagic)
	case raw > MaxIndexRaw || stored > raw || int64(stored) != int64(len(payload)):
		return nil, fmt.Errorf("index at offset %#x: lengths %d and %d, found %d bytes", off, raw, stored, len(payload))
	}
	if got, want := xxh3.Hash(payload), binary.LittleEndian.Uint64(b[12:]); got != want {
		return nil, fmt.Errorf("index at offset %#x: checksum %016x, expected %016x", off, got, want)
	}
	rawIndex, err := decompress(r.dec, payload, int(raw))
	if err != nil {
		return nil, fmt.Errorf("index at offset %#x: %w", off, err)
	}
	x, err := decodeIndex(rawIndex, start)
	if err != nil {
		return nil, err
	}
	end := start
	if n := len(x.chunks); n > 0 {
		end = x.chunks[n-1].offset + chunkHeaderSize + int64(x.chunks[n-1].stored)
	}
	if end != off {
		return nil, fmt.Errorf("index: chunks end at offset %#x, expected %#x", end, off)
	}
	return x, nil
}

// scan rebuilds the index of a trace without one, from its whole chunks. The
// error, never nil, says where and why it ended.
func (r *Reader) scan(start int64) (*index, error) {
	x := new(index)
	off := start
	last := map[uint32]uint64{}
	for {
		n := len(x.chunks)
		stop := func(err error) (*index, error) {
			return x, fmt.Errorf("chunk %d at offset %#x: %w; the %d chunks before it are used", n, off, err, n)
		}
		var b [chunkHeaderSize]byte
		if r.size-off < chunkHeaderSize {
			return stop(fmt.Errorf("the file ends after %d bytes of it", r.size-off))
		}
		if _, err := r.f.ReadAt(b[:], off); err != nil {
			return stop(err)
		}
		if string(b[:4]) == indexMagic {
			return x, fmt.Errorf("all %d chunks before the index, at offset %#x, are used", n, off)
		}
		h, err := decodeChunkHeader(b[:])
		if err != nil {
			return stop(err)
		}
		if r.size-off-chunkHeaderSize < int64(h.stored) {
			return stop(fmt.Errorf("the file ends after %d bytes of it", r.size-off))
		}
		if h.baseCount < last[h.stream] {
			return stop(fmt.Errorf("stream %d goes back from count %d to %d", h.stream, last[h.stream], h.baseCount))
		}
		c := chunkInfo{chunkHeader: h, offset: off, keyAt: len(x.keys)}
		raw, err := r.load(&c)
		if err != nil {
			return stop(err)
		}
		if err := x.survey(&c, uint32(n), raw); err != nil {
			x.keys = x.keys[:c.keyAt]
			return stop(err)
		}
		last[h.stream] = h.lastCount
		x.chunks = append(x.chunks, c)
		off += chunkHeaderSize + int64(h.stored)
	}
}

// survey collects the key frames and sizes of chunk number n.
func (x *index) survey(c *chunkInfo, n uint32, raw []byte) error {
	d := newChunkDecoder(c, raw)
	sizes := x.sizes
	var p Packet
	for i := uint32(0); i < c.packets; i++ {
		at := d.off
		if err := d.next(&p); err != nil {
			return fmt.Errorf("packet %d at byte %d: %w", i, at, err)
		}
		sizes.add(Kind(raw[at]), d.off-at)
		if p.Kind == Start || p.Kind == KeyFrame {
			x.keys = append(x.keys, keyEntry{n, i, p.Kind, p.Count, p.Min})
		}
	}
	if err := d.end(c); err != nil {
		return err
	}
	if got := len(x.keys) - c.keyAt; got != int(c.keys) {
		return fmt.Errorf("%d key frames, expected %d", got, c.keys)
	}
	x.sizes = sizes
	return nil
}

// load reads and decompresses a chunk.
func (r *Reader) load(c *chunkInfo) ([]byte, error) {
	b := make([]byte, chunkHeaderSize+int(c.stored))
	f := r.f
	if c.ring {
		f = r.ringFile
	}
	if n, err := f.ReadAt(b, c.offset); n < len(b) {
		return nil, fmt.Errorf("reading %d bytes: %w", len(b), err)
	}
	h, err := decodeChunkHeader(b)
	if err != nil {
		return nil, err
	}
	if h != c.chunkHeader {
		return nil, fmt.Errorf("header %+v, expected %+v as in the index", h, c.chunkHeader)
	}
	payload := b[chunkHeaderSize:]
	if got := xxh3.Hash(payload); got != c.sum {
		return nil, fmt.Errorf("checksum %016x, expected %016x", got, c.sum)
	}
	return decompress(r.dec, payload, int(c.raw))
}

// chunk returns the payload of chunk number n, from the cache if it is there.
func (r *Reader) chunk(n int32) ([]byte, error) {
	r.mu.Lock()
	r.tick++
	if e := r.cache[n]; e != nil {
		e.used = r.tick
		r.mu.Unlock()
		return e.raw, nil
	}
	r.mu.Unlock()
	raw, err := r.load(&r.idx.chunks[n])
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cache) >= cacheChunks {
		oldest, used := int32(-1), uint64(math.MaxUint64)
		for k, e := range r.cache {
			if e.used < used {
				oldest, used = k, e.used
			}
		}
		delete(r.cache, oldest)
	}
	r.cache[n] = &cached{raw, r.tick}
	return raw, nil
}

// summarise collects what the index says of each stream.
func (r *Reader) summarise() {
	at := map[uint32]*StreamInfo{}
	r.byStream, r.streams = map[uint32][]int32{}, nil
	for i := range r.idx.chunks {
		c := &r.idx.chunks[i]
		if c.stream == syncStream {
			r.safeMin = max(r.safeMin, c.lastMin)
			continue
		}
		s := at[c.stream]
		if s == nil {
			s = &StreamInfo{Stream: c.stream}
			at[c.stream] = s
		}
		r.byStream[c.stream] = append(r.byStream[c.stream], int32(i))
		s.Packets += uint64(c.packets)
		s.Chunks++
		s.KeyFrames += int(c.keys)
		s.LastCount = max(s.LastCount, c.lastCount)
		s.LastMin = max(s.LastMin, c.lastMin)
		s.Raw += uint64(c.raw)
		s.Stored += chunkHeaderSize + uint64(c.stored)
	}
	for n, s := range at {
		if n != FilesStream {
			r.streams = append(r.streams, *s)
		}
	}
	sort.Slice(r.streams, func(i, j int) bool { return r.streams[i].Stream < r.streams[j].Stream })
	if r.incomplete == "" {
		r.safeMin = math.MaxUint64
	}
}

// Close closes the file. No cursor may be in use.
func (r *Reader) Close() error {
	r.dec.Close()
	if r.ringFile != nil {
		r.ringFile.Close()
	}
	if r.close == nil {
		return nil
	}
	return r.close()
}

// Path returns the name of the file that is read.
func (r *Reader) Path() string { return r.path }

// ImagesPath returns the name of the second file that has the values of a trace
// whose log mode ends in :memory, "" of others.
func (r *Reader) ImagesPath() string {
	if !strings.HasSuffix(r.header.LogMode, ":memory") {
		return ""
	}
	return strings.TrimSuffix(r.path, IncompleteSuffix) + ImagesSuffix
}

// FileSize returns the length of the file in bytes, with what is used of the file
// of a ring that was cut off.
func (r *Reader) FileSize() int64 { return r.size + r.ringSize }

// Header returns what was recorded, and how.
func (r *Reader) Header() Header { return r.header }

// Incomplete says what is missing from the trace and where it ends, or "" for
// a complete one.
func (r *Reader) Incomplete() string { return r.incomplete }

// SafeMin returns the number up to which every stream's orderable events are
// in the trace: all of them in a complete one, those before the last flush in
// an incomplete one, in which some streams may go further than others.
func (r *Reader) SafeMin() uint64 { return r.safeMin }

// Version returns the version of the format in which the file is written.
func (r *Reader) Version() int { return int(r.version) }

// Streams returns the streams of the process and its threads that have packets,
// by number. What FilesStream holds, Files tells.
func (r *Reader) Streams() []StreamInfo { return append([]StreamInfo(nil), r.streams...) }

// Sizes returns how many packets of each kind there are and what they take.
func (r *Reader) Sizes() Sizes { return r.idx.sizes }

// KeyFrames returns the places of a stream where replay can start, in order;
// the first is usually its Start.
func (r *Reader) KeyFrames(stream uint32) []KeyFrameInfo {
	var k []KeyFrameInfo
	for place, n := range r.byStream[stream] {
		c := &r.idx.chunks[n]
		for _, e := range r.idx.keys[c.keyAt : c.keyAt+int(c.keys)] {
			k = append(k, KeyFrameInfo{stream, e.kind, e.count, e.min, int32(place), e.packet})
		}
	}
	return k
}
