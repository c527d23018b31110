package hwmodel

import (
	"math/bits"
	"sort"
)

// A LineSet is a set of line numbers, for summaries. The zero value is empty.
type LineSet struct {
	pages map[uint64]*uint64
}

// A LineRange is N lines from line number First.
type LineRange struct{ First, N uint64 }

// Add adds a line and returns whether it is new.
func (s *LineSet) Add(line uint64) bool {
	if s.pages == nil {
		s.pages = map[uint64]*uint64{}
	}
	p := s.pages[line/64]
	if p == nil {
		p = new(uint64)
		s.pages[line/64] = p
	}
	bit := uint64(1) << (line % 64)
	news := *p&bit == 0
	*p |= bit
	return news
}

// Has says whether the set has a line.
func (s *LineSet) Has(line uint64) bool {
	p := s.pages[line/64]
	return p != nil && *p>>(line%64)&1 != 0
}

// Ranges returns the set as ascending ranges with gaps between them.
func (s *LineSet) Ranges() []LineRange {
	pages := make([]uint64, 0, len(s.pages))
	for p := range s.pages {
		pages = append(pages, p)
	}
	sort.Slice(pages, func(i, j int) bool { return pages[i] < pages[j] })
	var r []LineRange
	for _, p := range pages {
		for b := *s.pages[p]; b != 0; {
			first := bits.TrailingZeros64(b)
			n := bits.TrailingZeros64(^(b >> first))
			line := p*64 + uint64(first)
			if k := len(r) - 1; k >= 0 && r[k].First+r[k].N == line {
				r[k].N += uint64(n)
			} else {
				r = append(r, LineRange{line, uint64(n)})
			}
			if first+n >= 64 {
				break
			}
			b &= ^uint64(0) << (first + n)
		}
	}
	return r
}
