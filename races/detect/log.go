package detect

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// An eventLog keeps the events of a pass, as the detector got them, until
// somebody wants to look at them again without another replay. Numbers are
// differences to those of the event before.
//
// Chunks that were handed on are nil. Once there are many, older ones are
// compressed.
type eventLog struct {
	chunks []logPart
	taken  int // chunks that were handed on
	size   int // of those that weren't, in bytes
	full   bool
	last   races.Event
	enc    *zstd.Encoder
	packed int // chunks, from the first one, that were compressed or taken
}

// A logPart is a chunk, compressed or not.
type logPart struct {
	b      []byte
	packed bool
}

const (
	logChunk = 1 << 20
	// maxLog bounds what is kept, in bytes. An event takes 10 to 25, compressed
	// a fifth of it. If there is more, nothing is kept.
	maxLog = 256 << 20
	// looseChunks is the number of chunks that aren't compressed.
	looseChunks = 32
	// maxEvent is more than an event can take.
	maxEvent = 4 + 8*binary.MaxVarintLen64
)

// add appends an event, and says whether the one before completed a chunk.
func (l *eventLog) add(e *races.Event) (completed bool) {
	if l.full {
		return false
	}
	n := len(l.chunks)
	if n == 0 || cap(l.chunks[n-1].b)-len(l.chunks[n-1].b) < maxEvent {
		if l.size += logChunk; l.size > maxLog {
			*l = eventLog{full: true}
			return false
		}
		completed = n > 0
		l.chunks = append(l.chunks, logPart{b: make([]byte, 0, logChunk)})
		n++
		l.pack()
	}
	b, o := l.chunks[n-1].b, &l.last
	typed := byte(0)
	if e.Typed {
		typed = 1 << 7
	}
	flags := byte(e.Flags) // the low two bits are free
	if e.Blind {
		flags |= 1
	}
	b = append(b, byte(e.Op)|byte(e.Kind)<<5, flags, byte(e.Scope)|byte(e.Object)<<2|byte(e.Mode)<<5|typed)
	b = binary.AppendVarint(b, int64(e.Thread)-int64(o.Thread))
	b = binary.AppendVarint(b, int64(e.Ctx)-int64(o.Ctx))
	b = binary.AppendVarint(b, int64(e.Addr-o.Addr))
	b = binary.AppendUvarint(b, e.N)
	b = binary.AppendVarint(b, int64(e.PC-o.PC))
	b = binary.AppendUvarint(b, e.Value)
	b = binary.AppendVarint(b, int64(e.Count-o.Count))
	l.chunks[n-1].b, l.last = b, *e
	return completed
}

// pack compresses the chunks that have become old.
func (l *eventLog) pack() {
	for l.packed = max(l.packed, l.taken); l.packed < len(l.chunks)-looseChunks; l.packed++ {
		if l.enc == nil {
			l.enc = logEncoder()
		}
		c := &l.chunks[l.packed]
		if p := l.enc.EncodeAll(c.b, make([]byte, 0, len(c.b)/4)); len(p) < len(c.b) {
			l.size -= logChunk - cap(p)
			*c = logPart{p, true}
		}
	}
}

// take hands on the oldest chunk that wasn't, nil if there is none but the
// last, which is still being written to, unless all is set.
func (l *eventLog) take(all bool) (p logPart, ok bool) {
	n := len(l.chunks)
	if !all {
		n--
	}
	if l.taken >= n {
		return p, false
	}
	p = l.chunks[l.taken]
	l.chunks[l.taken] = logPart{}
	l.taken++
	if p.packed {
		l.size -= cap(p.b)
	} else {
		l.size -= logChunk
	}
	return p, true
}

func logEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(logChunk))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return e
}

// A logDecoder reads chunks, one after the other.
type logDecoder struct {
	e   races.Event
	dec *zstd.Decoder
	raw []byte
}

// each calls f with the events of the next chunk in order.
func (d *logDecoder) each(p logPart, f func(*races.Event)) {
	b := p.b
	if p.packed {
		var err error
		if d.dec == nil {
			if d.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
				panic("BUG: " + err.Error())
			}
		}
		if d.raw, err = d.dec.DecodeAll(p.b, d.raw[:0]); err != nil {
			panic("BUG: races/detect: the log doesn't decompress: " + err.Error())
		}
		b = d.raw
	}
	e := &d.e
	signed := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	unsigned := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	x := new(races.Event)
	for len(b) > 0 {
		e.Op, e.Kind, e.Flags = races.Op(b[0]&31), races.Kind(b[0]>>5), races.Flags(b[1]&^3)
		e.Scope, e.Object, e.Mode = races.Scope(b[2]&3), races.ObjectKind(b[2]>>2&7), races.LockMode(b[2]>>5&3)
		e.Blind = b[1]&1 != 0
		e.Typed = b[2]>>7 != 0
		b = b[3:]
		e.Thread += emulate.ThreadID(signed())
		e.Ctx += uint32(signed())
		e.Addr += emulate.Addr(signed())
		e.N = unsigned()
		e.PC += uint64(signed())
		e.Value = unsigned()
		e.Count += emulate.Count(signed())
		*x = *e
		f(x)
	}
}
