package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
)

// A stream can name the lines of a page by an entry of a translation buffer: a
// TLB packet says which page that is, and lines are then the entry's number and
// the place in the page. As each chunk decodes alone, each begins without
// entries; a Writer puts TLB packets where the chunk lacks them.

// maxEntry bounds the numbers of entries: the place in the page stands below.
const maxEntry = 1 << 56

const (
	lineBits = 6
	lineMask = 1<<lineBits - 1

	// What stands in place of a number of an entry, which is one higher.
	sameEntry = 0 // that of the line named before
	noEntry   = 1 // the line's number follows
)

// tlbCoder is what coding by entries keeps in a chunk.
type tlbCoder struct {
	entries map[uint64]tlbEntry // nil: there were none yet, lines are differences
	named   uint64              // the entry that was named last
	page    uint64              // of the last TLB packet
}

type tlbEntry struct {
	page, alias uint64
	at          uint64 // the place in the page that was named last
}

// set notes the entry that a TLB packet tells of.
func (c *tlbCoder) set(p *Packet) error {
	switch {
	case p.Entry == 0 || p.Entry >= maxEntry:
		return fmt.Errorf("tlb packet: entry %d, expected 1 to 2^56-1", p.Entry)
	case p.N > ^uint64(0)>>lineBits:
		return fmt.Errorf("tlb packet: page %#x, maximum %#x", p.N, ^uint64(0)>>lineBits)
	}
	if c.entries == nil {
		c.entries = map[uint64]tlbEntry{}
	}
	c.entries[p.Entry] = tlbEntry{page: p.N, alias: p.Alias}
	c.page = p.N
	return nil
}

// holds says whether an entry names a line's page, as its alias.
func (c *tlbCoder) holds(entry, line, alias uint64) bool {
	e, ok := c.entries[entry]
	return ok && e.page == line>>lineBits && e.alias == alias
}

func (c *coder) appendEntry(b []byte, p *Packet) ([]byte, error) {
	b = binary.AppendUvarint(b, zigzag(int64(p.N-c.tlb.page)))
	return b, c.tlb.set(p)
}

// appendLine appends the number of a line, named by an entry if it isn't 0 and
// there.
func (c *coder) appendLine(b []byte, line, entry uint64) []byte {
	t := &c.tlb
	if t.entries != nil {
		if e, ok := t.entries[entry]; ok && e.page == line>>lineBits {
			k := entry + 1
			if entry == t.named {
				k = sameEntry
			}
			b = binary.AppendUvarint(b, k<<lineBits|(line-e.at)&lineMask)
			e.at, t.named, c.line = line&lineMask, entry, line
			t.entries[entry] = e
			return b
		}
		b = binary.AppendUvarint(b, noEntry<<lineBits)
	}
	b = binary.AppendUvarint(b, zigzag(int64(line-c.line)))
	c.line = line
	return b
}

// nextLine reads the number of a line, and what names it.
func (d *decoder) nextLine(p *Packet) error {
	p.Entry, p.Alias = 0, 0
	v, err := d.uvarint()
	if t := &d.tlb; t.entries != nil && err == nil {
		id := v>>lineBits - 1
		switch v >> lineBits {
		case noEntry:
			v, err = d.uvarint()
		case sameEntry:
			id = t.named
			fallthrough
		default:
			e, ok := t.entries[id]
			if !ok {
				return fmt.Errorf("a line of TLB entry %d, which isn't in the chunk", id)
			}
			e.at = (e.at + v) & lineMask
			p.Line, p.Entry, p.Alias = e.page<<lineBits|e.at, id, e.alias
			t.entries[id], t.named, d.line = e, id, p.Line
			return nil
		}
	}
	d.line += uint64(unzigzag(v))
	p.Line = d.line
	return err
}

// clone returns a copy that goes its own way.
func (c tlbCoder) clone() tlbCoder {
	c.entries = maps.Clone(c.entries)
	return c
}

// name puts the TLB packet that a line packet needs in its stream.
func (w *Writer) name(s *outStream, count, line, entry, alias uint64) error {
	if entry >= maxEntry {
		return errors.New("traces: the number of a TLB entry is too large")
	}
	// Putting one may end the chunk, in which it is lost.
	for !s.tlb.holds(entry, line, alias) {
		if err := w.Put(s.hdr.stream, count, &Packet{Kind: TLB, Entry: entry, N: line >> lineBits, Alias: alias}); err != nil {
			return err
		}
	}
	return nil
}

// WithTLB makes Next return TLB packets, too, which nobody needs who asks only
// what the packets mean.
func (c *Cursor) WithTLB() *Cursor {
	c.showTLB = true
	return c
}
