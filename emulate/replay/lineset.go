package replay

import (
	"math/bits"
	"sort"

	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A LineSet is an immutable set of lines (virtual address >> 6), fast to ask.
type LineSet struct {
	// An open-addressing table by page: keys holds page number + 1, masks a
	// bit for each line of the page.
	keys, masks []uint64
	shift       uint
	n           int
}

// NewLineSet returns the set of the lines in the ranges. Ranges may overlap.
func NewLineSet(ranges []traces.LineRange) *LineSet {
	pages := map[uint64]uint64{}
	for _, r := range ranges {
		for l, end := r.First, r.First+r.N; l < end; {
			page := l / linesPerPage
			stop := min((page+1)*linesPerPage, end)
			pages[page] |= (^uint64(0) >> (linesPerPage - (stop - l))) << (l & lineInPage)
			l = stop
		}
	}
	size := 1 << bits.Len(uint(len(pages)*2))
	s := &LineSet{keys: make([]uint64, size), masks: make([]uint64, size), shift: uint(64 - bits.Len(uint(size-1)))}
	for page, mask := range pages {
		i := s.slot(page)
		s.keys[i], s.masks[i] = page+1, mask
		s.n += bits.OnesCount64(mask)
	}
	return s
}

// slot returns where page is, or the free place where it would be.
func (s *LineSet) slot(page uint64) uint64 {
	last := uint64(len(s.keys) - 1)
	i := page * 0x9E3779B97F4A7C15 >> s.shift & last
	for s.keys[i] != 0 && s.keys[i] != page+1 {
		i = (i + 1) & last
	}
	return i
}

// Has says whether line is in the set.
func (s *LineSet) Has(line uint64) bool {
	i := s.slot(line / linesPerPage)
	return s.keys[i] != 0 && s.masks[i]>>(line&lineInPage)&1 != 0
}

// HasAny says whether one of the lines of n bytes at addr is in the set.
func (s *LineSet) HasAny(addr, n uint64) bool {
	if n == 0 {
		return false
	}
	for l := addr >> hwmodel.LineShift; l <= (addr+n-1)>>hwmodel.LineShift; l++ {
		if s.Has(l) {
			return true
		}
	}
	return false
}

// Len returns the number of lines.
func (s *LineSet) Len() int { return s.n }

// Ranges returns the set as ascending ranges.
func (s *LineSet) Ranges() []traces.LineRange {
	var lines []uint64
	for i, k := range s.keys {
		for m := s.masks[i]; k != 0 && m != 0; m &= m - 1 {
			lines = append(lines, (k-1)*linesPerPage+uint64(bits.TrailingZeros64(m)))
		}
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i] < lines[j] })
	var out []traces.LineRange
	for _, l := range lines {
		if n := len(out); n > 0 && out[n-1].First+out[n-1].N == l {
			out[n-1].N++
		} else {
			out = append(out, traces.LineRange{First: l, N: 1})
		}
	}
	return out
}

// Union returns the set of lines that are in s, t or both; either may be nil.
func (s *LineSet) Union(t *LineSet) *LineSet {
	var r []traces.LineRange
	if s != nil {
		r = append(r, s.Ranges()...)
	}
	if t != nil {
		r = append(r, t.Ranges()...)
	}
	return NewLineSet(r)
}
