package traces

import "fmt"

// A ChunkInfo is a chunk's place in the file and what is in it.
type ChunkInfo struct {
	Offset      int64 // of its header in the file, bytes
	Stream      uint32
	Sync        bool // it belongs to no stream: up to here, all streams are there
	Packets     int
	KeyFrames   int
	Raw, Stored int    // bytes of the payload: uncompressed, and in the file
	First, Last uint64 // instructions executed before its first packet, and at its last
	FirstMin    uint64 // orderable events up to its first packet
	LastMin     uint64 // and at its last
	Checksum    uint64 // XXH3 of the payload
}

// Chunks lists the chunks of the file, in its order.
func (r *Reader) Chunks() []ChunkInfo {
	out := make([]ChunkInfo, len(r.idx.chunks))
	for i := range r.idx.chunks {
		c := &r.idx.chunks[i]
		out[i] = ChunkInfo{Sync: c.stream == syncStream, Offset: c.offset, Stream: c.stream, Packets: int(c.packets), KeyFrames: int(c.keys), Raw: int(c.raw), Stored: int(c.stored),
			First: c.baseCount, Last: c.lastCount, FirstMin: c.baseMin, LastMin: c.lastMin, Checksum: c.sum}
	}
	return out
}

// Payload returns the payload of a chunk, by its place in Chunks, uncompressed:
// packets as they stand in the file. The caller must not change it.
func (r *Reader) Payload(i int) ([]byte, error) {
	b, err := r.chunk(int32(i))
	if err != nil {
		c := &r.idx.chunks[i]
		return nil, fmt.Errorf("traces: stream %d: chunk %d at offset %#x: %w", c.stream, i, c.offset, err)
	}
	return b, nil
}
