package traces

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// A Level says how hard a Writer compresses.
type Level uint8

const (
	_            Level = iota
	LevelFastest       // what recording uses
	LevelDefault       // zstd's level 3, about
	LevelBetter        // 7
	LevelBest          // 11
)

var levels = [...]struct {
	name  string
	level zstd.EncoderLevel
}{LevelFastest: {"fastest", zstd.SpeedFastest}, LevelDefault: {"default", zstd.SpeedDefault},
	LevelBetter: {"better", zstd.SpeedBetterCompression}, LevelBest: {"best", zstd.SpeedBestCompression}}

// ParseLevel reads what String writes.
func ParseLevel(s string) (Level, error) {
	for l := LevelFastest; l <= LevelBest; l++ {
		if l.String() == s {
			return l, nil
		}
	}
	return 0, fmt.Errorf("compression %q: want fastest, default, better or best", s)
}

func (l Level) String() string {
	if l < LevelFastest || l > LevelBest {
		return "invalid"
	}
	return levels[l].name
}

// Compress sets how hard the Writer compresses, LevelFastest unless it is told
// otherwise. It must come before the first packet.
func (w *Writer) Compress(l Level) {
	w.enc.Close()
	w.enc = newEncoderAt(levels[l].level)
}

// Chunks marks a Writer of packets that come chunk by chunk from elsewhere, not
// in the order of the execution: it doesn't flush by itself, so that it never
// says that everything is there up to an event.
func (w *Writer) Chunks() { w.byChunk = true }

// CopyChunks puts all packets of another trace in this one, in the order of its
// chunks, and flushes where it did: one that is incomplete remains good as far
// as it goes. Files are left to CopyFiles. The first damaged chunk ends it.
func (w *Writer) CopyChunks(r *Reader) error {
	cursors := map[uint32]*Cursor{}
	for _, c := range r.Chunks() {
		if c.Sync {
			if err := w.Flush(); err != nil {
				return err
			}
			continue
		}
		if c.Stream == FilesStream {
			continue
		}
		cur := cursors[c.Stream]
		if cur == nil {
			cur = r.Cursor(c.Stream).WithTLB()
			cursors[c.Stream] = cur
		}
		for range c.Packets {
			p, err := cur.Next()
			if err != nil {
				return err
			}
			if err := w.Put(c.Stream, p.Count, p); err != nil {
				return err
			}
		}
	}
	return nil
}
