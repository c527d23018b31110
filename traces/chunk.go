package traces

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// After the header come chunks, one after the other. A chunk is a header of
// chunkHeaderSize bytes and a payload, compressed as one zstd frame unless
// that would not be shorter.
const (
	chunkMagic      = "TTDC"
	chunkHeaderSize = 72
)

// syncStream is the stream number of a sync chunk. It has no payload and says
// that all packets put before it, of all streams, stand before it; its last
// min is the highest of them.
const syncStream = 1<<32 - 1

// chunkHeader is a chunk's header. In the file, little-endian, in this order
// after the magic, followed by the hash of the 64 bytes before.
type chunkHeader struct {
	stream    uint32
	packets   uint32
	keys      uint32 // how many of them are Start or KeyFrame
	raw       uint32 // bytes of the payload, uncompressed
	stored    uint32 // bytes of the payload in the file; compressed iff less than raw
	baseCount uint64 // count of the stream's packet before the first
	lastCount uint64 // count of the last packet
	baseMin   uint64 // the stream's last min before the first packet
	lastMin   uint64
	sum       uint64 // hash of the payload as stored
}

func (h *chunkHeader) encode(b []byte) []byte {
	n := len(b)
	b = append(b, chunkMagic...)
	for _, v := range [...]uint32{h.stream, h.packets, h.keys, h.raw, h.stored} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, v := range [...]uint64{h.baseCount, h.lastCount, h.baseMin, h.lastMin, h.sum} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b[n:]))
}

// decodeChunkHeader reads a chunk's header of chunkHeaderSize bytes.
func decodeChunkHeader(b []byte) (h chunkHeader, err error) {
	if string(b[:4]) != chunkMagic {
		return h, fmt.Errorf("magic % x, expected % x", b[:4], chunkMagic)
	}
	const n = chunkHeaderSize - 8
	if got, want := xxh3.Hash(b[:n]), binary.LittleEndian.Uint64(b[n:]); got != want {
		return h, fmt.Errorf("header: checksum %016x, expected %016x", got, want)
	}
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4+4*i:]) }
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[24+8*i:]) }
	h = chunkHeader{u32(0), u32(1), u32(2), u32(3), u32(4), u64(0), u64(1), u64(2), u64(3), u64(4)}
	return h, h.check()
}

// check bounds what the header claims.
func (h *chunkHeader) check() error {
	switch {
	case h.stream == syncStream && (h.raw|h.stored|h.packets|h.keys) != 0:
		return fmt.Errorf("sync chunk with %d packets in %d bytes, expected none", h.packets, h.raw)
	case h.stream != syncStream && h.stream != FilesStream && h.stream >= MaxStreams:
		return fmt.Errorf("stream %d, maximum %d", h.stream, MaxStreams-1)
	case h.raw > MaxChunkRaw:
		return fmt.Errorf("length %d, maximum %d", h.raw, MaxChunkRaw)
	case h.stored > h.raw:
		return fmt.Errorf("stored length %d, maximum its length %d", h.stored, h.raw)
	case h.packets > h.raw:
		return fmt.Errorf("%d packets in %d bytes", h.packets, h.raw)
	case h.keys > h.packets:
		return fmt.Errorf("%d key frames in %d packets", h.keys, h.packets)
	case h.lastCount < h.baseCount:
		return fmt.Errorf("counts from %d to %d", h.baseCount, h.lastCount)
	}
	return nil
}

// newEncoder returns the one compressor of a Writer. Its output depends only
// on its input.
func newEncoder() *zstd.Encoder { return newEncoderAt(zstd.SpeedFastest) }

func newEncoderAt(level zstd.EncoderLevel) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("BUG: traces: zstd: " + err.Error())
	}
	return e
}

// newDecoder returns a decompressor that is safe for concurrent use and never
// writes beyond the capacity it is given.
func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(MaxIndexRaw), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("BUG: traces: zstd: " + err.Error())
	}
	return d
}

// compress appends raw, compressed, to b, or raw itself if that isn't longer.
func compress(e *zstd.Encoder, b, raw []byte) []byte {
	n := len(b)
	b = e.EncodeAll(raw, b)
	if len(b)-n >= len(raw) {
		b = append(b[:n], raw...)
	}
	return b
}

// decompress undoes compress, for a payload of raw bytes.
func decompress(d *zstd.Decoder, stored []byte, raw int) ([]byte, error) {
	if len(stored) == raw {
		return stored, nil
	}
	b, err := d.DecodeAll(stored, make([]byte, 0, raw))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	if len(b) != raw {
		return nil, fmt.Errorf("decompressed to %d bytes, expected %d", len(b), raw)
	}
	return b, nil
}
