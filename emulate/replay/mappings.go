package replay

import (
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// A Mapping is one region of the guest's memory map.
type Mapping struct {
	Addr   emulate.Addr
	N      uint64 // bytes
	Prot   int    // PROT_* of mmap(2)
	Shared bool
	Path   string // file, or [heap], [stack], "" for anonymous
	Offset uint64 // in the file
	// Alias is the same for mappings that show the same shared memory
	// (0: none); AliasOffset is the offset in it.
	Alias, AliasOffset uint64
	Min                uint64 // orderable event after which it was made
}

// A mapChange is one change of the memory map.
type mapChange struct {
	kind traces.Kind
	min  uint64
	m    Mapping
}

func changeOf(p *traces.Packet) mapChange {
	c := mapChange{kind: p.Kind, min: p.Min, m: Mapping{Addr: emulate.Addr(p.Addr), N: p.N, Min: p.Min}}
	if p.Kind != traces.Unmap {
		c.m.Prot = int(p.Prot)
	}
	if p.Kind == traces.Map {
		c.m.Shared, c.m.Path, c.m.Offset = p.Shared, p.Path, p.Offset
		c.m.Alias, c.m.AliasOffset = p.Alias, p.AliasOffset
	}
	return c
}

// Mappings returns the memory map after orderable event min, sorted by
// address. Use the largest number for the map at the end.
func (s *Session) Mappings(min uint64) []Mapping {
	var all []Mapping
	for _, c := range s.maps {
		if c.min > min {
			break
		}
		all = c.apply(all)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Addr < all[j].Addr })
	return all
}

// EveryMapping returns all mappings that were ever made, in order.
func (s *Session) EveryMapping() []Mapping {
	var all []Mapping
	for _, c := range s.maps {
		if c.kind == traces.Map {
			all = append(all, c.m)
		}
	}
	return all
}

// apply cuts what the change replaces out of the map and adds what it brings.
func (c *mapChange) apply(all []Mapping) []Mapping {
	from, to := c.m.Addr, c.m.Addr+emulate.Addr(c.m.N)
	out := make([]Mapping, 0, len(all)+2)
	for _, m := range all {
		end := m.Addr + emulate.Addr(m.N)
		if end <= from || m.Addr >= to {
			out = append(out, m)
			continue
		}
		if m.Addr < from {
			out = append(out, m.part(m.Addr, from))
		}
		if c.kind == traces.Protect {
			p := m.part(max(m.Addr, from), min(end, to))
			p.Prot = c.m.Prot
			out = append(out, p)
		}
		if end > to {
			out = append(out, m.part(to, end))
		}
	}
	if c.kind == traces.Map {
		out = append(out, c.m)
	}
	return out
}

// part returns the piece of m between two addresses within it.
func (m Mapping) part(from, to emulate.Addr) Mapping {
	skip := uint64(from - m.Addr)
	m.Addr, m.N = from, uint64(to-from)
	if m.Path != "" && m.Path[0] == '/' {
		m.Offset += skip
	}
	if m.Alias != 0 {
		m.AliasOffset += skip
	}
	return m
}
