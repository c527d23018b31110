package detect

import (
	"encoding/binary"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/races"
)

// An eventLog keeps the events of a pass, as the detector got them, so that
// they can be looked at again without another replay. Numbers are differences
// to those of the event before.
type eventLog struct {
	chunks [][]byte
	size   int
	full   bool // there was more than maxLog: nothing is kept
	last   races.Event
}

const (
	logChunk = 1 << 20
	// maxLog bounds the log, in bytes. An event takes 10 to 25.
	maxLog = 384 << 20
	// maxEvent is more than an event can take.
	maxEvent = 4 + 8*binary.MaxVarintLen64
)

// add appends an event, and says whether the one before completed a chunk.
func (l *eventLog) add(e *races.Event) (completed bool) {
	if l.full {
		return false
	}
	n := len(l.chunks)
	if n == 0 || cap(l.chunks[n-1])-len(l.chunks[n-1]) < maxEvent {
		if l.size += logChunk; l.size > maxLog {
			*l = eventLog{full: true}
			return false
		}
		completed = n > 0
		l.chunks = append(l.chunks, make([]byte, 0, logChunk))
		n++
	}
	b, o := l.chunks[n-1], &l.last
	typed := byte(0)
	if e.Typed {
		typed = 1 << 7
	}
	op := byte(e.Op)
	if e.Blind {
		op |= 1 << 7
	}
	b = append(b, op|byte(e.Kind)<<4, byte(e.Flags), byte(e.Scope)|byte(e.Object)<<2|byte(e.Mode)<<5|typed)
	b = binary.AppendVarint(b, int64(e.Thread)-int64(o.Thread))
	b = binary.AppendVarint(b, int64(e.Ctx)-int64(o.Ctx))
	b = binary.AppendVarint(b, int64(e.Addr-o.Addr))
	b = binary.AppendUvarint(b, e.N)
	b = binary.AppendVarint(b, int64(e.PC-o.PC))
	b = binary.AppendUvarint(b, e.Value)
	b = binary.AppendVarint(b, int64(e.Count-o.Count))
	l.chunks[n-1], l.last = b, *e
	return completed
}

// each calls f with the events in order.
func (l *eventLog) each(f func(*races.Event)) {
	var d logDecoder
	for _, b := range l.chunks {
		d.each(b, f)
	}
}

// A logDecoder reads chunks, one after the other.
type logDecoder struct{ e races.Event }

func (d *logDecoder) each(b []byte, f func(*races.Event)) {
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
	for len(b) > 0 {
		e.Op, e.Kind, e.Flags = races.Op(b[0]&15), races.Kind(b[0]>>4&7), races.Flags(b[1])
		e.Scope, e.Object, e.Mode = races.Scope(b[2]&3), races.ObjectKind(b[2]>>2&7), races.LockMode(b[2]>>5&3)
		e.Blind = b[0]>>7 != 0
		e.Typed = b[2]>>7 != 0
		b = b[3:]
		e.Thread += emulate.ThreadID(signed())
		e.Ctx += uint32(signed())
		e.Addr += emulate.Addr(signed())
		e.N = unsigned()
		e.PC += uint64(signed())
		e.Value = unsigned()
		e.Count += emulate.Count(signed())
		x := *e
		f(&x)
	}
}
