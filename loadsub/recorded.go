package loadsub

import (
	"cmp"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
)

// overlapped reports whether each section had begun before the other ended.
func (p Pair) overlapped() bool {
	return p.A.Stop > p.A.Start && p.B.Stop > p.B.Start &&
		p.Order(p.A.Thread, p.A.Start, p.B.Thread, p.B.Stop-1) && p.Order(p.B.Thread, p.B.Start, p.A.Thread, p.A.Stop-1)
}

// recordedOdd compares what was recorded with the serial orders, if the two
// sections overlapped: the memory that both left behind and the registers that
// matter. It returns the outputs that differ from the nearer order, nil if
// one of the orders explains the recording.
func (p Pair) recordedOdd(ref []*overlay.Result) []Output {
	if !p.overlapped() {
		return nil
	}
	secs := []*overlay.Section{p.A, p.B}
	type last struct {
		sec *overlay.Section
		at  emulate.Count
		b   byte
	}
	final := map[uint64]last{}
	for side, sec := range secs {
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			for k := uint64(0); a.Writes() && k < uint64(a.Size); k++ {
				addr := p.canon(side, a.Addr+k)
				if l, ok := final[addr]; !ok || p.Order(l.sec.Thread, l.at, sec.Thread, a.At) || l.sec == sec {
					final[addr] = last{sec, a.At, byte(a.Value >> (8 * k))}
				}
			}
		}
	}
	racy := map[uint64]bool{}
	for _, sp := range p.Racy {
		for n := uint64(0); n < sp.N; n++ {
			racy[p.World.canon(sp.Addr+n)] = true
		}
	}
	var least []Output
	for _, q := range ref {
		var d []Output
		for addr, l := range final {
			want, ok := q.Byte(addr)
			counts := q.Wrote(0, addr) || q.Wrote(1, addr) || racy[addr]
			if ok && counts && want != l.b && outlives(secs, addr) {
				base, size, text, ok := p.World.scalar(addr)
				if !ok {
					base, size = addr&^3, 4
					text = func(v uint64) string { return number(v, 4) }
				}
				w, _ := q.Uint(base, size)
				g := w
				for i := uint64(0); i < uint64(size); i++ {
					if f, ok := final[base+i]; ok {
						g = g&^(0xff<<(8*i)) | uint64(f.b)<<(8*i)
					}
				}
				d = append(d, Output{Name: nameOf(p.World.Name, base), Addr: base, Size: size, Want: text(w), Got: text(g)})
			}
		}
		if len(d) == 0 {
			return nil
		}
		slices.SortFunc(d, func(x, y Output) int { return cmp.Compare(x.Addr, y.Addr) })
		d = slices.CompactFunc(d, func(x, y Output) bool { return x.Addr == y.Addr })
		if least == nil || len(d) < len(least) {
			least = d
		}
	}
	if least != nil && p.disturbed() {
		return nil
	}
	return least
}

// disturbed reports whether something that both sections use, and one of them
// changes, was changed by anybody else between their accesses, be it by what
// their threads did before or after. What the run-time does for its own purposes
// doesn't count.
func (p Pair) disturbed() bool {
	type seen struct {
		b          byte
		sides      uint8
		wrote, odd bool
	}
	at := map[uint64]*seen{}
	a, b := p.A.Accesses, p.B.Accesses
	for i, k := 0, 0; i < len(a) || k < len(b); {
		var x *overlay.Access
		side := uint8(1)
		if k == len(b) || i < len(a) && p.Order(p.A.Thread, a[i].At, p.B.Thread, b[k].At) {
			x = &a[i]
			i++
		} else {
			x, side = &b[k], 2
			k++
		}
		if p.World.Internal != nil && p.World.Internal(x.PC) {
			continue
		}
		for n := uint64(0); n < uint64(x.Size); n++ {
			addr := p.canon(int(side-1), x.Addr+n)
			pre := byte(x.Pre >> (8 * n))
			s := at[addr]
			if s == nil {
				s = &seen{b: pre}
				at[addr] = s
			}
			s.odd = s.odd || s.b != pre
			s.sides |= side
			if s.b = pre; x.Writes() {
				s.b, s.wrote = byte(x.Value>>(8*n)), true
			}
			if s.odd && s.wrote && s.sides == 3 {
				return true
			}
		}
	}
	return false
}
