package traces

import (
	"errors"
	"fmt"
	"io"
	"sort"
)

// A Cursor is a position in one stream. It belongs to one goroutine.
type Cursor struct {
	r      *Reader
	stream uint32
	chunks []int32 // numbers of the stream's chunks
	place  int     // the open chunk's place in chunks; len(chunks) at the end
	open   bool
	at     uint32 // packets read of the open chunk
	keys   []KeyFrameInfo
	d      decoder
	p      Packet
	has    bool // p holds a packet
	own    [LineSize]byte

	showTLB bool
	skipped uint64 // deltas of TLB packets before the next one
}

// Cursor returns a cursor at the start of a stream. A stream without packets
// is at its end.
func (r *Reader) Cursor(stream uint32) *Cursor {
	return &Cursor{r: r, stream: stream, chunks: r.byStream[stream], keys: r.KeyFrames(stream)}
}

// Stream returns the stream's number.
func (c *Cursor) Stream() uint32 { return c.stream }

// KeyFrames returns the places where replay of the stream can start. The
// caller must not change it.
func (c *Cursor) KeyFrames() []KeyFrameInfo { return c.keys }

// Clone returns a cursor at the same position, with a copy of the packet that
// Next returned last. The two are independent.
func (c *Cursor) Clone() *Cursor {
	n := *c
	n.p = c.p.clone(&c.d.buf, &n.own)
	n.d.tlb = c.d.tlb.clone()
	return &n
}

// Packet returns what Next returned last, or nil before the first and after a
// seek.
func (c *Cursor) Packet() *Packet {
	if !c.has {
		return nil
	}
	return &c.p
}

// Min returns the number of the stream's last orderable event so far.
func (c *Cursor) Min() uint64 { return c.d.min }

// Next returns the stream's next packet, io.EOF after the last, or an error
// that names chunk and offset. The packet is good until the next call.
func (c *Cursor) Next() (*Packet, error) {
	for {
		for !c.open || c.d.off >= len(c.d.b) {
			if err := c.advance(); err != nil {
				c.has = false
				return nil, err
			}
		}
		at := c.d.off
		if err := c.d.next(&c.p); err != nil {
			c.has = false
			return nil, c.errorf("packet %d at byte %d of it: %w", c.at, at, err)
		}
		c.at++
		if c.p.Kind != TLB || c.showTLB {
			c.has = true
			c.p.Delta += c.skipped
			c.skipped = 0
			return &c.p, nil
		}
		c.skipped += c.p.Delta
	}
}

// advance closes the open chunk, if any, and opens the next.
func (c *Cursor) advance() error {
	if c.open {
		info := &c.r.idx.chunks[c.chunks[c.place]]
		if err := c.d.end(info); err != nil {
			return c.errorf("%w", err)
		}
		if c.at != info.packets {
			return c.errorf("%d packets, expected %d", c.at, info.packets)
		}
		c.place++
		c.open = false
	}
	if c.place >= len(c.chunks) {
		return io.EOF
	}
	n := c.chunks[c.place]
	raw, err := c.r.chunk(n)
	if err != nil {
		return c.errorf("%w", err)
	}
	c.d = newChunkDecoder(&c.r.idx.chunks[n], raw)
	c.at, c.open = 0, true
	return nil
}

// errorf names the chunk at which the cursor is.
func (c *Cursor) errorf(format string, args ...any) error {
	n := c.chunks[c.place]
	return fmt.Errorf("traces: stream %d: chunk %d at offset %#x: %w", c.stream, n, c.r.idx.chunks[n].offset, fmt.Errorf(format, args...))
}

// Rewind goes to the start of the stream.
func (c *Cursor) Rewind() {
	c.place, c.open, c.has = 0, false, false
	c.skipped = 0
	c.d = decoder{}
}

// SeekKeyFrame goes to the last key frame (or Start) at or before count, so
// that Next returns it, and returns where that is. It is an error if there is
// none.
func (c *Cursor) SeekKeyFrame(count uint64) (KeyFrameInfo, error) {
	n := sort.Search(len(c.keys), func(i int) bool { return c.keys[i].Count > count })
	if n == 0 {
		return KeyFrameInfo{}, fmt.Errorf("traces: stream %d: no key frame at or before count %d", c.stream, count)
	}
	return c.keys[n-1], c.Seek(c.keys[n-1])
}

// Seek goes to a key frame of this stream, so that Next returns it.
func (c *Cursor) Seek(k KeyFrameInfo) error {
	if k.Stream != c.stream || int(k.chunk) >= len(c.chunks) {
		return fmt.Errorf("traces: stream %d: key frame of stream %d", c.stream, k.Stream)
	}
	c.has, c.skipped = false, 0
	if !c.open || c.place != int(k.chunk) || c.at > k.packet {
		c.place, c.open = int(k.chunk), false
		if err := c.advance(); err != nil {
			return err
		}
	}
	for c.at < k.packet {
		at := c.d.off
		if err := c.d.next(&c.p); err != nil {
			return c.errorf("packet %d at byte %d of it: %w", c.at, at, err)
		}
		c.at++
	}
	return nil
}

// newChunkDecoder starts delta coding for a chunk.
func newChunkDecoder(c *chunkInfo, raw []byte) decoder {
	return decoder{coder: coder{count: c.baseCount, min: c.baseMin}, b: raw, chunk: c.stream}
}

// end checks, after the last packet, what the chunk's header says.
func (d *decoder) end(c *chunkInfo) error {
	switch {
	case d.off != len(d.b):
		return errors.New("bytes after the last packet")
	case d.count != c.lastCount:
		return fmt.Errorf("ends at count %d, expected %d", d.count, c.lastCount)
	case d.min != c.lastMin:
		return fmt.Errorf("ends at min %d, expected %d", d.min, c.lastMin)
	}
	return nil
}
