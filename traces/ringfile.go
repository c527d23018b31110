package traces

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/zeebo/xxh3"
)

// RingSuffix follows the name of a trace that is being recorded as a ring: the
// file that has the threads' chunks until it is closed.
const RingSuffix = ".ring"

// The file of a ring is slots, one behind the other. A slot is a header of
// slotHeaderSize bytes, and as many bytes behind it that its length leaves: a
// chunk and what is over, or nothing of interest if it is free. A killed recorder
// leaves a file in which every slot is whole or free, as headers are written last,
// and free slots are made before what is in front of them shrinks.
//
// Slot header, little-endian: slotMagic, length of the slot with its header (4
// bytes), number of the chunk, from 1, in the order in which they were put (8; 0:
// the slot is free), and the hash of the 16 bytes before.
const (
	slotMagic      = "TTDR"
	slotHeaderSize = 24
	// What is left of a slot isn't worth one of its own below that.
	leastSlot = 4096
	maxSlot   = math.MaxUint32
)

// A slot is a part of the file.
type slot struct{ at, n int64 }

// A ringFile is the file of a ring that is being recorded.
type ringFile struct {
	f    ringStore
	path string
	end  int64
	free []slot // by place, none next to another
	seq  uint64
}

// A ringStore is where its bytes are.
type ringStore interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

func slotHeader(n int64, seq uint64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(slotMagic), uint32(n))
	b = binary.LittleEndian.AppendUint64(b, seq)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// add writes a chunk, and returns where.
func (r *ringFile) add(chunk []byte) (slot, error) {
	s := slot{r.end, int64(slotHeaderSize + len(chunk))}
	r.seq++
	for i, f := range r.free {
		if f.n < s.n {
			continue
		}
		if rest := (slot{f.at + s.n, f.n - s.n}); rest.n >= leastSlot {
			if _, err := r.f.WriteAt(slotHeader(rest.n, 0), rest.at); err != nil {
				return slot{}, err
			}
			r.free[i] = rest
		} else {
			s.n = f.n
			r.free = append(r.free[:i], r.free[i+1:]...)
		}
		s.at = f.at
		break
	}
	if _, err := r.f.WriteAt(chunk, s.at+slotHeaderSize); err != nil {
		return slot{}, err
	}
	if _, err := r.f.WriteAt(slotHeader(s.n, r.seq), s.at); err != nil {
		return slot{}, err
	}
	r.end = max(r.end, s.at+s.n)
	return s, nil
}

// drop frees a slot.
func (r *ringFile) drop(s slot) error {
	i := sort.Search(len(r.free), func(i int) bool { return r.free[i].at > s.at })
	first, last := i, i
	if i > 0 && r.free[i-1].at+r.free[i-1].n == s.at && r.free[i-1].n+s.n <= maxSlot {
		first--
		s = slot{r.free[first].at, r.free[first].n + s.n}
	}
	if i < len(r.free) && s.at+s.n == r.free[i].at && r.free[i].n+s.n <= maxSlot {
		last++
		s.n += r.free[i].n
	}
	if _, err := r.f.WriteAt(slotHeader(s.n, 0), s.at); err != nil {
		return err
	}
	r.free = append(r.free[:first], append([]slot{s}, r.free[last:]...)...)
	return nil
}

// read returns the chunk in a slot.
func (r *ringFile) read(s slot, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := r.f.ReadAt(b, s.at+slotHeaderSize)
	return b, err
}

// remove ends the file.
func (r *ringFile) remove() {
	if r.f != nil {
		r.f.Close()
		os.Remove(r.path)
	}
}

// openRing adds what the file of a ring that was cut off has to the trace, in
// place of whatever the trace has of threads itself: it had begun to be closed.
func (r *Reader) openRing(path string) error {
	f, err := os.Open(strings.TrimSuffix(path, IncompleteSuffix) + RingSuffix)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.ringFile = f
	found, bad, err := r.slots()
	if err != nil {
		return err
	}
	x := new(index)
	add := func(c chunkInfo) error {
		raw, err := r.load(&c)
		if err == nil {
			c.keyAt = len(x.keys)
			err = x.survey(&c, uint32(len(x.chunks)), raw)
		}
		if err != nil {
			x.keys = x.keys[:c.keyAt]
			return err
		}
		x.chunks = append(x.chunks, c)
		return nil
	}
	for _, c := range r.idx.chunks {
		if counts(c.stream) && c.stream != syncStream {
			continue
		}
		if err := add(c); err != nil {
			return err
		}
	}
	// Of a stream, what can be replayed begins with a key frame and has no hole.
	begun := map[uint32]*chunkInfo{}
	keep := make([]bool, len(found))
	for i := len(found) - 1; i >= 0; i-- {
		c := &found[i]
		if next := begun[c.stream]; next == nil || next.baseCount == c.lastCount && next.baseMin == c.lastMin {
			begun[c.stream], keep[i] = c, true
		}
	}
	started := map[uint32]bool{}
	for i, c := range found {
		if !keep[i] && c.stream != syncStream {
			continue
		}
		if c.stream != syncStream && !started[c.stream] {
			if started[c.stream] = c.keys > 0 && r.beginsWithKey(&c); !started[c.stream] {
				continue
			}
		}
		if err := add(c); err != nil {
			bad++
		}
	}
	for i := range x.chunks {
		if c := &x.chunks[i]; c.ring {
			r.ringSize += chunkHeaderSize + int64(c.stored)
		}
	}
	r.idx = x
	r.incomplete += fmt.Sprintf("; chunks of its ring that are used: %d", len(found))
	if bad > 0 {
		r.incomplete += fmt.Sprintf(", damaged: %d", bad)
	}
	return nil
}

// slots returns the chunks in the file of the ring, in the order in which they
// were put, and how many are damaged.
func (r *Reader) slots() (found []chunkInfo, bad int, err error) {
	return r.slotsWith(func(c *chunkInfo) error {
		_, err := r.load(c)
		return err
	})
}

// slotsWith is slots for chunks that check finds nothing wrong with.
func (r *Reader) slotsWith(check func(c *chunkInfo) error) (found []chunkInfo, bad int, err error) {
	type numbered struct {
		chunkInfo
		seq uint64
	}
	var all []numbered
	var b [slotHeaderSize + chunkHeaderSize]byte
	for at := int64(0); ; {
		n, err := r.ringFile.ReadAt(b[:], at)
		if n < slotHeaderSize {
			if err == io.EOF {
				break
			}
			return nil, 0, err
		}
		length, seq := int64(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint64(b[8:])
		if string(b[:4]) != slotMagic || xxh3.Hash(b[:16]) != binary.LittleEndian.Uint64(b[16:]) || length < slotHeaderSize {
			bad++ // what is behind can't be found
			break
		}
		if seq != 0 && n == len(b) {
			h, err := decodeChunkHeader(b[slotHeaderSize:])
			if err != nil || int64(h.stored)+int64(len(b)) > length || !counts(h.stream) {
				bad++
			} else {
				all = append(all, numbered{chunkInfo{chunkHeader: h, offset: at + slotHeaderSize, ring: true}, seq})
			}
		}
		at += length
	}
	sort.Slice(all, func(i, j int) bool { return all[i].seq < all[j].seq })
	for _, c := range all {
		if err := check(&c.chunkInfo); err != nil {
			bad++
			continue
		}
		found = append(found, c.chunkInfo)
	}
	return found, bad, nil
}

// beginsWithKey says whether replay can start with a chunk.
func (r *Reader) beginsWithKey(c *chunkInfo) bool {
	raw, err := r.load(c)
	if err != nil {
		return false
	}
	d := newChunkDecoder(c, raw)
	var p Packet
	return d.next(&p) == nil && (p.Kind == Start || p.Kind == KeyFrame)
}
