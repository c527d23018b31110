package overlay

import "math/bits"

// A line is 64 bytes of the overlay with a bit for each byte that is there.
type line struct {
	data [64]byte
	mask uint64
}

// Memory is the set of bytes that an experiment wrote, or that were set
// beforehand. Every participant sees it before its own view.
type Memory struct {
	lines map[uint64]*line // none is ever taken out
	near  [nearLines]struct {
		n uint64
		l *line // nil: nothing is known of n
	}
}

// nearLines is the number of lines that are found without a map, each in the
// place that its low bits say.
const nearLines = 64

// NewMemory returns a Memory with nothing in it.
func NewMemory() *Memory { return &Memory{lines: map[uint64]*line{}} }

func (m *Memory) get(n uint64) *line {
	e := &m.near[n%nearLines]
	if e.n == n && e.l != nil {
		return e.l
	}
	l := m.lines[n]
	if l != nil {
		e.n, e.l = n, l
	}
	return l
}

func (m *Memory) own(n uint64) *line {
	l := m.get(n)
	if l == nil {
		l = new(line)
		m.lines[n] = l
	}
	return l
}

// Set puts one byte there.
func (m *Memory) Set(addr uint64, b byte) {
	l := m.own(addr >> 6)
	l.data[addr&63] = b
	l.mask |= 1 << (addr & 63)
}

// SetLine puts the bytes of a line (address >> 6) there that mask has a bit for.
func (m *Memory) SetLine(n uint64, data *[64]byte, mask uint64) {
	l := m.own(n)
	merge(&l.data, data, mask)
	l.mask |= mask
}

// Get returns a byte, if it is there.
func (m *Memory) Get(addr uint64) (byte, bool) {
	l := m.get(addr >> 6)
	if l == nil || l.mask>>(addr&63)&1 == 0 {
		return 0, false
	}
	return l.data[addr&63], true
}

// drop forgets bytes, so that the views below show through.
func (m *Memory) drop(addr, n uint64) {
	for end := addr + n; addr < end; {
		l := m.lines[addr>>6]
		stop := (addr | 63) + 1
		if stop > end || stop == 0 {
			stop = end
		}
		if l != nil {
			l.mask &^= byteMask(addr, int(stop-addr))
		}
		addr = stop
	}
}

// byteMask has a bit for each of the size bytes at addr within its line.
func byteMask(addr uint64, size int) uint64 {
	if size >= 64 {
		return ^uint64(0)
	}
	return (1<<size - 1) << (addr & 63)
}

// merge copies the bytes of src selected by mask over dst.
func merge(dst, src *[64]byte, mask uint64) {
	if mask == ^uint64(0) {
		*dst = *src
		return
	}
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		dst[i] = src[i]
	}
}
