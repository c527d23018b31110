package replay

import (
	"sync"

	"github.com/racesim/racesim/emulate"
)

// shown finds lines in the snapshots of the whole memory.
type shown struct {
	once   sync.Once
	byPage map[uint64][]int // numbers of snapshots that begin or go on in a page
	mu     sync.Mutex
	maps   map[uint64][]Mapping // by event
}

// Shown returns what a line held that nobody has ever changed, after event min,
// if a snapshot of the memory has it, taken before or after while the same
// mapping was there; nil if none has. The caller must know that nobody did, and
// must not change the bytes.
func (s *Session) Shown(line, min uint64) *[64]byte {
	if len(s.snapshots) == 0 {
		return nil
	}
	x := &s.shown
	x.once.Do(func() {
		x.byPage, x.maps = map[uint64][]int{}, map[uint64][]Mapping{}
		for i := range s.snapshots {
			im := &s.snapshots[i]
			for p := im.Addr.Page(); p<<PageShift < uint64(im.Addr)+uint64(len(im.Data)); p++ {
				x.byPage[p] = append(x.byPage[p], i)
			}
		}
	})
	a := emulate.Addr(line << 6)
	for _, i := range x.byPage[a.Page()] {
		im := &s.snapshots[i]
		off := uint64(a - im.Addr)
		if a < im.Addr || off+64 > uint64(len(im.Data)) {
			continue
		}
		if m, n := s.mappingAt(a, im.Min), s.mappingAt(a, min); m != nil && n != nil && m.Min == n.Min {
			return (*[64]byte)(im.Data[off:])
		}
	}
	return nil
}

// mappingAt returns the mapping of an address after event min, nil without one.
func (s *Session) mappingAt(a emulate.Addr, min uint64) *Mapping {
	x := &s.shown
	x.mu.Lock()
	defer x.mu.Unlock()
	maps, ok := x.maps[min]
	if !ok {
		maps = s.Mappings(min)
		if len(x.maps) > 64 {
			clear(x.maps)
		}
		x.maps[min] = maps
	}
	for i := range maps {
		if m := &maps[i]; m.Addr <= a && uint64(a-m.Addr) < m.N {
			return m
		}
	}
	return nil
}
