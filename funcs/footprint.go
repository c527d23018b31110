package funcs

import (
	"math/bits"
	"sort"

	"github.com/racesim/racesim/emulate"
)

// A Footprint is what a stretch of one thread's execution read and wrote in
// memory, to the byte. Footprints of consecutive stretches compose.
type Footprint struct {
	lines  map[uint64]*footLine
	events []event // where things happened; index 0 is unused
	// Changes are the places where memory turned out to have been changed by
	// somebody else in the middle, in program order.
	Changes []Change
	full    bool // maxLines was reached
}

// A footLine is the footprint within one cache line. Bit i of a mask is byte i.
type footLine struct {
	in, out  [64]byte // first read, last written
	cur      [64]byte // what the thread last saw there
	inMask   uint64   // read before written: inputs
	outMask  uint64   // written and not dead: outputs
	known    uint64   // cur is known
	own      uint64   // allocated by the stretch: not inputs
	uninit   uint64   // own, and read before written
	inOwn    uint64   // first read by the run-time for itself
	outOwn   uint64   // last written by the run-time for itself
	inStart  uint64   // an access that made an input began here, or ended before here
	outStart uint64
	inAt     [64]uint32 // index into events
	outAt    [64]uint32
}

type event struct {
	count emulate.Count
	pc    emulate.Addr
}

// A Change is a read that found other bytes than the thread last saw there.
type Change struct {
	Addr     emulate.Addr
	Size     int
	Expected uint64 // what the thread last read or wrote there
	Found    uint64
	Count    emulate.Count
	PC       emulate.Addr
}

// maxLines bounds a footprint: 64 Ki lines are 4 MiB of memory touched.
const maxLines = 1 << 16

// maxChanges bounds the changes that are kept.
const maxChanges = 1 << 12

func newFootprint() *Footprint {
	return &Footprint{lines: map[uint64]*footLine{}, events: make([]event, 1)}
}

func (f *Footprint) line(n uint64) *footLine {
	l := f.lines[n]
	if l == nil {
		if len(f.lines) >= maxLines {
			f.full = true
			return new(footLine)
		}
		l = new(footLine)
		f.lines[n] = l
	}
	return l
}

func (f *Footprint) event(count emulate.Count, pc emulate.Addr) uint32 {
	if n := len(f.events) - 1; n > 0 && f.events[n] == (event{count, pc}) {
		return uint32(n)
	}
	f.events = append(f.events, event{count, pc})
	return uint32(len(f.events) - 1)
}

func mask(addr uint64, size int) uint64 { return (1<<size - 1) << (addr & 63) }

// starts marks where an access begins and what comes after it.
func starts(addr uint64, size int) uint64 {
	m := uint64(1) << (addr & 63)
	if e := addr&63 + uint64(size); e < 64 {
		m |= 1 << e
	}
	return m
}

// load notes a read of size bytes (1 to 8, within a line) that gave v. own
// says that the memory is the stretch's own, runtime that the access is the
// run-time's own business.
func (f *Footprint) load(addr uint64, size int, v uint64, own, runtime bool, count emulate.Count, pc emulate.Addr) {
	l := f.line(addr >> 6)
	m := mask(addr, size)
	if old := m & l.known; old != 0 {
		f.compare(l, addr, size, v, count, pc)
	}
	fresh := m &^ l.known
	if fresh == 0 {
		return
	}
	l.known |= fresh
	o := addr & 63
	for i := 0; i < size; i++ {
		if fresh>>(o+uint64(i))&1 != 0 {
			b := byte(v >> (8 * i))
			l.in[o+uint64(i)], l.cur[o+uint64(i)] = b, b
		}
	}
	mine := fresh & l.own
	if own {
		mine = fresh
	}
	l.uninit |= mine
	l.inMask |= fresh &^ mine
	if runtime {
		l.inOwn |= fresh
	}
	at := f.event(count, pc)
	l.inStart |= starts(addr, size)
	for b := fresh; b != 0; b &= b - 1 {
		l.inAt[bits.TrailingZeros64(b)] = at
	}
}

// compare looks for bytes that somebody else changed.
func (f *Footprint) compare(l *footLine, addr uint64, size int, v uint64, count emulate.Count, pc emulate.Addr) {
	o := addr & 63
	changed := false
	was := v
	for i := 0; i < size; i++ {
		k := o + uint64(i)
		if l.known>>k&1 == 0 {
			continue
		}
		b := byte(v >> (8 * i))
		if l.cur[k] != b {
			was = was&^(0xff<<(8*i)) | uint64(l.cur[k])<<(8*i)
			l.cur[k] = b
			changed = true
		}
	}
	if changed && len(f.Changes) < maxChanges {
		f.Changes = append(f.Changes, Change{emulate.Addr(addr), size, was, v, count, pc})
	}
}

// store notes a write of the low size bytes of v.
func (f *Footprint) store(addr uint64, size int, v uint64, runtime bool, count emulate.Count, pc emulate.Addr) {
	l := f.line(addr >> 6)
	m := mask(addr, size)
	l.known |= m
	l.outMask |= m
	l.outOwn &^= m
	if runtime {
		l.outOwn |= m
	}
	o := addr & 63
	at := f.event(count, pc)
	for i := 0; i < size; i++ {
		b := byte(v >> (8 * i))
		l.out[o+uint64(i)], l.cur[o+uint64(i)] = b, b
		l.outAt[o+uint64(i)] = at
	}
	l.outStart |= starts(addr, size)
}

// allocate makes n bytes the stretch's own. Zeroed bytes count as written.
func (f *Footprint) allocate(addr, n uint64, zeroed bool) {
	f.each(addr, n, true, func(l *footLine, m uint64) {
		l.own |= m
		l.uninit &^= m
		l.known &^= m
		l.outMask &^= m
		if zeroed {
			l.known |= m
			for b := m; b != 0; b &= b - 1 {
				l.cur[bits.TrailingZeros64(b)] = 0
			}
		}
	})
}

// kill says that the content of n bytes doesn't outlive the stretch.
func (f *Footprint) kill(addr, n uint64) {
	f.each(addr, n, false, func(l *footLine, m uint64) { l.outMask &^= m })
}

// each calls do for the lines that n bytes at addr touch; for those without a
// footprint only if create is set.
func (f *Footprint) each(addr, n uint64, create bool, do func(l *footLine, m uint64)) {
	n = min(n, maxLines*64)
	for n > 0 {
		k := min(64-addr&63, n)
		l := f.lines[addr>>6]
		if l == nil && create {
			l = f.line(addr >> 6)
		}
		if l != nil {
			do(l, (1<<k-1)<<(addr&63))
		}
		addr, n = addr+k, n-k
	}
}

// Compose returns the footprint of stretches that follow each other: what one
// wrote and a later one read is no input.
func Compose(parts ...*Footprint) *Footprint {
	sum := newFootprint()
	for _, p := range parts {
		base := uint32(len(sum.events) - 1)
		sum.events = append(sum.events, p.events[1:]...)
		sum.Changes = append(sum.Changes, p.Changes...)
		sum.full = sum.full || p.full
		for n, b := range p.lines {
			a := sum.line(n)
			read := (b.inMask | b.uninit) &^ a.known
			a.inMask |= read & b.inMask &^ a.own
			a.uninit |= read & (b.uninit | a.own)
			a.inOwn |= read & b.inOwn
			a.inStart |= b.inStart
			a.known |= b.known
			a.own |= b.own
			// What the part wrote, or freed, replaces what was written before.
			a.outMask = a.outMask&^(b.own&^b.outMask) | b.outMask
			a.outOwn = a.outOwn&^b.outMask | b.outOwn
			a.outStart |= b.outStart
			for m := read; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				a.in[i], a.inAt[i] = b.in[i], b.inAt[i]+base
			}
			for m := b.outMask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				a.out[i], a.outAt[i] = b.out[i], b.outAt[i]+base
			}
			for m := b.known; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				a.cur[i] = b.cur[i]
			}
		}
	}
	return sum
}

// An extent is a run of bytes that belong together.
type extent struct {
	addr  uint64
	bytes []byte
	at    event
	own   bool // all of it the run-time's own business
}

// extents cuts the bytes that pick selects into the pieces in which they were
// accessed, of at most 8 bytes each, sorted by address.
func (f *Footprint) extents(pick func(l *footLine) (m, start, own uint64, data *[64]byte, at *[64]uint32)) []extent {
	nums := make([]uint64, 0, len(f.lines))
	for n, l := range f.lines {
		if m, _, _, _, _ := pick(l); m != 0 {
			nums = append(nums, n)
		}
	}
	sort.Slice(nums, func(i, j int) bool { return nums[i] < nums[j] })
	var out []extent
	for _, n := range nums {
		m, start, own, data, at := pick(f.lines[n])
		for m != 0 {
			i := bits.TrailingZeros64(m)
			j := i + 1
			for j < 64 && m>>j&1 != 0 && start>>j&1 == 0 && j-i < 8 && at[j] == at[i] {
				j++
			}
			piece := uint64(1)<<(j-i) - 1
			e := extent{addr: n<<6 + uint64(i), bytes: append([]byte(nil), data[i:j]...), at: f.events[at[i]], own: own>>i&piece == piece}
			if k := len(out) - 1; i == 0 && start&1 == 0 && k >= 0 && out[k].addr+uint64(len(out[k].bytes)) == e.addr && out[k].at == e.at && len(out[k].bytes)+len(e.bytes) <= 8 {
				// One access across two lines.
				out[k].bytes = append(out[k].bytes, e.bytes...)
			} else {
				out = append(out, e)
			}
			m &^= piece << i
		}
	}
	return out
}

func (f *Footprint) inputs() []extent {
	return f.extents(func(l *footLine) (uint64, uint64, uint64, *[64]byte, *[64]uint32) {
		return l.inMask, l.inStart, l.inOwn, &l.in, &l.inAt
	})
}

func (f *Footprint) outputs() []extent {
	return f.extents(func(l *footLine) (uint64, uint64, uint64, *[64]byte, *[64]uint32) {
		return l.outMask, l.outStart, l.outOwn, &l.out, &l.outAt
	})
}

func (f *Footprint) uninitialised() []extent {
	return f.extents(func(l *footLine) (uint64, uint64, uint64, *[64]byte, *[64]uint32) {
		return l.uninit, l.inStart, l.inOwn, &l.in, &l.inAt
	})
}
