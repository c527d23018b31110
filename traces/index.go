package traces

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

// A complete trace ends with the index and the footer.
//
// The index is indexMagic, its length uncompressed and stored (4 bytes each),
// the hash of the payload as stored (8 bytes), and the payload, compressed like
// a chunk's: uvarints throughout. First the number of chunks and, for each, the
// fields of its header in their order, the hash excepted; their offsets follow
// from their lengths. Then the number of key frames and, for each, chunk,
// number of the packet in it, count, min. Then the number of kinds and for each
// kind, packets, bytes.
//
// The footer is footerMagic, version (4 bytes), offset of the index, length of
// the file (8 bytes each), and the hash of the 24 bytes before.
const (
	indexMagic  = "TTDI"
	indexFixed  = 20
	footerMagic = "TTDF"
	footerSize  = 32
)

// chunkInfo is what a Reader knows of a chunk.
type chunkInfo struct {
	chunkHeader
	offset int64 // of the chunk's header in the file
	ring   bool  // the file of a ring
	keyAt  int   // its first key frame in index.keys, meaningful if keys > 0
}

// keyEntry is a key frame in the index.
type keyEntry struct {
	chunk  uint32 // number of the chunk in the file
	packet uint32 // number of the packet in the chunk
	kind   Kind
	count  uint64
	min    uint64
}

// index is what stands at the end of a complete trace.
type index struct {
	chunks []chunkInfo
	keys   []keyEntry // by chunk, then packet
	sizes  Sizes
}

func (x *index) encode() []byte {
	var b []byte
	u := func(v uint64) { b = binary.AppendUvarint(b, v) }
	u(uint64(len(x.chunks)))
	for i := range x.chunks {
		c := &x.chunks[i]
		u(uint64(c.stream))
		u(uint64(c.packets))
		u(uint64(c.keys))
		u(uint64(c.raw))
		u(uint64(c.stored))
		u(c.baseCount)
		u(c.lastCount - c.baseCount)
		u(c.baseMin)
		u(zigzag(int64(c.lastMin - c.baseMin)))
		u(c.sum)
	}
	u(uint64(len(x.keys)))
	for _, k := range x.keys {
		u(uint64(k.chunk))
		u(uint64(k.packet))
		u(uint64(k.kind))
		u(k.count)
		u(k.min)
	}
	x.sizes.encode(u)
	return b
}

// decodeIndex reads the index's payload. Chunks start at offset start.
func decodeIndex(b []byte, start int64) (*index, error) {
	x := new(index)
	var err error
	u := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errors.New("index ends early")
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	// count reads a number of items of at least min bytes each.
	count := func(what string, min int) int {
		n := u()
		if err == nil && n > uint64(len(b)/min) {
			err = fmt.Errorf("index: %d %s in %d bytes", n, what, len(b))
		}
		if err != nil {
			return 0
		}
		return int(n)
	}
	x.chunks = make([]chunkInfo, count("chunks", 10))
	off := start
	for i := range x.chunks {
		c := &x.chunks[i]
		for _, p := range [...]*uint32{&c.stream, &c.packets, &c.keys, &c.raw, &c.stored} {
			v := u()
			if v > 1<<32-1 {
				return nil, fmt.Errorf("index: chunk %d: %d doesn't fit 32 bits", i, v)
			}
			*p = uint32(v)
		}
		c.baseCount = u()
		c.lastCount = c.baseCount + u()
		c.baseMin = u()
		c.lastMin = c.baseMin + uint64(unzigzag(u()))
		c.sum = u()
		if err != nil {
			return nil, err
		}
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("index: chunk %d: %w", i, err)
		}
		c.offset = off
		off += chunkHeaderSize + int64(c.stored)
	}
	x.keys = make([]keyEntry, count("key frames", 5))
	for i := range x.keys {
		k := &x.keys[i]
		chunk, packet, kind := u(), u(), u()
		k.count, k.min = u(), u()
		if err != nil {
			return nil, err
		}
		if chunk >= uint64(len(x.chunks)) || packet >= uint64(x.chunks[chunk].packets) || (Kind(kind) != Start && Kind(kind) != KeyFrame) || kind > 255 {
			return nil, fmt.Errorf("index: key frame %d is packet %d of chunk %d, kind %d: no such", i, packet, chunk, kind)
		}
		k.chunk, k.packet, k.kind = uint32(chunk), uint32(packet), Kind(kind)
	}
	x.sizes.decode(u)
	if err == nil && len(b) != 0 {
		err = fmt.Errorf("index: %d bytes too many", len(b))
	}
	if err == nil {
		err = x.link()
	}
	return x, err
}

// link checks that the key frames lie in order and as many in each chunk as it
// says, and lets the chunks point to them.
func (x *index) link() error {
	k := 0
	for i := range x.chunks {
		c := &x.chunks[i]
		c.keyAt = k
		for n := uint32(0); n < c.keys; n++ {
			if k >= len(x.keys) || x.keys[k].chunk != uint32(i) || (n > 0 && x.keys[k].packet <= x.keys[k-1].packet) {
				return fmt.Errorf("index: chunk %d has %d key frames, key frame %d isn't one of them", i, c.keys, k)
			}
			k++
		}
	}
	if k != len(x.keys) {
		return fmt.Errorf("index: %d key frames, expected %d", len(x.keys), k)
	}
	return nil
}

// encodeIndexHeader returns what precedes the index's payload, as stored.
func encodeIndexHeader(raw int, payload []byte) []byte {
	b := []byte(indexMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(raw))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(payload))
}

// encodeFooter returns the footer of a file whose index is at offset.
func encodeFooter(offset, fileSize int64) []byte {
	b := []byte(footerMagic)
	b = binary.LittleEndian.AppendUint32(b, Version)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(fileSize))
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// decodeFooter returns the index's offset. version is the header's.
func decodeFooter(b []byte, version uint32, fileSize int64) (int64, error) {
	const n = footerSize - 8
	if string(b[:4]) != footerMagic || xxh3.Hash(b[:n]) != binary.LittleEndian.Uint64(b[n:]) {
		return 0, errors.New("no footer")
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != version {
		return 0, fmt.Errorf("footer: version %d, expected %d", v, version)
	}
	off, size := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if size != uint64(fileSize) {
		return 0, fmt.Errorf("footer: file of %d bytes, found %d", size, fileSize)
	}
	if off > uint64(fileSize-footerSize-indexFixed) {
		return 0, fmt.Errorf("footer: index at %#x, beyond the end", off)
	}
	return int64(off), nil
}
