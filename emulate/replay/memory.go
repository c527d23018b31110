package replay

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// PageShift and PageSize describe the unit of copying, in bytes.
const (
	PageShift = 12
	PageSize  = 1 << PageShift

	linesPerPage = PageSize / hwmodel.LineSize
	lineInPage   = linesPerPage - 1
)

// A page is 4 KiB of one view of memory. Only the Memory whose generation is
// gen may change it.
type page struct {
	data  [PageSize]byte
	known uint64 // bit i: something of line i has flowed in
	gen   uint64
	// parts says which bytes of each known line are; nil: all of them.
	parts *[linesPerPage]uint64
}

// The page table is a radix tree over the 36-bit page number, six levels of 64.
const (
	nodeBits   = 6
	nodeSize   = 1 << nodeBits
	nodeMask   = nodeSize - 1
	nodeLevels = 6
	maxPage    = 1 << (nodeBits * nodeLevels)
)

// A node is an inner node (kids) or a node of the last level (pages).
type node struct {
	gen  uint64
	kids [nodeSize]unsafe.Pointer // *node, at the last level *page
}

// generations hands out the numbers that say who may change nodes and pages.
var generations atomic.Uint64

// A Memory is what one thread knows of the guest's memory. Forking it is cheap:
// pages are shared until one side writes them.
type Memory struct {
	root   *node
	gen    uint64
	copied uint64 // pages that were copied because a fork shares them
	// recent is a direct-mapped cache of page lookups.
	recent [recentSize]recentPage
}

const recentSize = 512

type recentPage struct {
	num uint64 // page number + 1
	p   *page
}

// NewMemory returns a memory of which nothing is known.
func NewMemory() *Memory {
	return &Memory{gen: generations.Add(1)}
}

// Fork returns a memory with the same content. Both are independent from now
// on; each must no longer use pointers it got for writing before.
func (m *Memory) Fork() *Memory {
	f := &Memory{root: m.root, gen: generations.Add(1)}
	m.gen = generations.Add(1)
	return f
}

// Copied returns the number of pages that were copied because a fork shares
// them: what forks that live take beside m.
func (m *Memory) Copied() uint64 { return m.copied }

// share returns a memory with the same content, of a memory that nobody changes
// any more. Unlike Fork it may be called from several goroutines.
func (m *Memory) share() *Memory {
	return &Memory{root: m.root, gen: generations.Add(1)}
}

// look is find for a memory that nobody changes any more: it remembers nothing.
func (m *Memory) look(num uint64) *page {
	if num >= maxPage || m.root == nil {
		return nil
	}
	n := unsafe.Pointer(m.root)
	for shift := nodeBits * (nodeLevels - 1); shift >= 0; shift -= nodeBits {
		n = (*node)(n).kids[num>>shift&nodeMask]
		if n == nil {
			return nil
		}
	}
	return (*page)(n)
}

// find returns the page with number num, or nil.
func (m *Memory) find(num uint64) *page {
	r := &m.recent[num%recentSize]
	if r.num == num+1 {
		return r.p
	}
	p := m.look(num)
	if p != nil {
		*r = recentPage{num + 1, p}
	}
	return p
}

// own returns the page with number num, made if need be, for changing. If the
// page was shared, it is a copy: pointers into the old one are stale. The
// number must be below maxPage.
func (m *Memory) own(num uint64) *page {
	if num >= maxPage {
		panic("BUG: replay: page number out of range")
	}
	m.root = m.ownNode(m.root)
	n := m.root
	for shift := nodeBits * (nodeLevels - 1); shift > 0; shift -= nodeBits {
		slot := &n.kids[num>>shift&nodeMask]
		k := m.ownNode((*node)(*slot))
		*slot = unsafe.Pointer(k)
		n = k
	}
	slot := &n.kids[num&nodeMask]
	p := (*page)(*slot)
	switch {
	case p == nil:
		p = &page{gen: m.gen}
	case p.gen != m.gen:
		c := *p
		c.gen = m.gen
		if p.parts != nil {
			parts := *p.parts
			c.parts = &parts
		}
		p = &c
		m.copied++
	}
	*slot = unsafe.Pointer(p)
	m.recent[num%recentSize] = recentPage{num + 1, p}
	return p
}

func (m *Memory) ownNode(n *node) *node {
	switch {
	case n == nil:
		return &node{gen: m.gen}
	case n.gen != m.gen:
		c := *n
		c.gen = m.gen
		return &c
	}
	return n
}

// KnownLine returns the bytes of a line for reading and which of them are known,
// a bit each.
func (m *Memory) KnownLine(line uint64) (data *[hwmodel.LineSize]byte, known uint64) {
	p := m.find(line / linesPerPage)
	if p == nil {
		return nil, 0
	}
	if known = p.bytes(line); known == 0 {
		return nil, 0
	}
	return p.line(line), known
}

// bytes returns which bytes of a line are known.
func (p *page) bytes(line uint64) uint64 {
	switch i := line & lineInPage; {
	case p.known>>i&1 == 0:
		return 0
	case p.parts == nil:
		return ^uint64(0)
	default:
		return p.parts[i]
	}
}

// learn makes all bytes of a line known.
func (p *page) learn(line uint64) {
	p.known |= 1 << (line & lineInPage)
	if p.parts != nil {
		p.parts[line&lineInPage] = ^uint64(0)
	}
}

// learnPart makes some bytes of a line known.
func (p *page) learnPart(line, mask uint64) {
	i := line & lineInPage
	if p.parts == nil {
		p.parts = new([linesPerPage]uint64)
		for k := range p.parts {
			if p.known>>k&1 != 0 {
				p.parts[k] = ^uint64(0)
			}
		}
	}
	p.parts[i] |= mask
	p.known |= 1 << i
}

// Line returns the bytes of a line for reading, nil if none of them are known.
func (m *Memory) Line(line uint64) *[hwmodel.LineSize]byte {
	p := m.find(line / linesPerPage)
	if p == nil || p.bytes(line) == 0 {
		return nil
	}
	return p.line(line)
}

// WriteLine returns the bytes of a line for changing and makes them known.
func (m *Memory) WriteLine(line uint64) *[hwmodel.LineSize]byte {
	p := m.find(line / linesPerPage)
	if p == nil || p.gen != m.gen {
		p = m.own(line / linesPerPage)
	}
	p.learn(line)
	return p.line(line)
}

func (p *page) line(line uint64) *[hwmodel.LineSize]byte {
	return (*[hwmodel.LineSize]byte)(unsafe.Pointer(&p.data[line&lineInPage<<hwmodel.LineShift]))
}

// Read copies memory at addr into b, as far as it is known, and returns the
// number of bytes copied: less than len(b) means that the next one is unknown.
func (m *Memory) Read(addr uint64, b []byte) int {
	n := 0
	for n < len(b) {
		l, known := m.KnownLine(addr >> hwmodel.LineShift)
		k := bits.TrailingZeros64(^(known >> (addr % hwmodel.LineSize)))
		if k == 0 {
			break
		}
		k = copy(b[n:], l[addr%hwmodel.LineSize:][:min(k, hwmodel.LineSize-int(addr%hwmodel.LineSize))])
		n += k
		addr += uint64(k)
	}
	return n
}

// Write changes memory at addr and makes these bytes known. Bytes of the same
// lines that were unknown become zero.
func (m *Memory) Write(addr uint64, b []byte) {
	for len(b) > 0 {
		l := m.WriteLine(addr >> hwmodel.LineShift)
		k := copy(l[addr%hwmodel.LineSize:], b)
		b = b[k:]
		addr += uint64(k)
	}
}

// Forget makes everything unknown.
func (m *Memory) Forget() {
	m.root = nil
	m.gen = generations.Add(1)
	m.recent = [recentSize]recentPage{}
}

// Pages calls f for every page of which something is known, in ascending
// order, until f returns false. Bit i of known says that line i of the page is
// known. f must not change data.
func (m *Memory) Pages(f func(num uint64, data *[PageSize]byte, known uint64) bool) {
	if m.root != nil {
		walk(m.root, 0, nodeLevels-1, f)
	}
}

func walk(n *node, num uint64, level int, f func(uint64, *[PageSize]byte, uint64) bool) bool {
	for i, k := range n.kids {
		if k == nil {
			continue
		}
		at := num<<nodeBits | uint64(i)
		if level > 0 {
			if !walk((*node)(k), at, level-1, f) {
				return false
			}
			continue
		}
		p := (*page)(k)
		if p.known != 0 && !f(at, &p.data, p.known) {
			return false
		}
	}
	return true
}
