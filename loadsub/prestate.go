package loadsub

import (
	"math/bits"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
)

// preStates lists what the bytes that both sections touch, and those that one
// of them writes, may have held before either changed them, most plausible
// first: in another order a section may come to use what only the other one
// used, and what it knows of that may be what the other one left. A state in which both are about to
// begin need not have existed: the thread of the one that began to use a byte
// later went on while the other was under way already.
//
// The first is the state when the later one began, with what the earlier one
// had written undone. In the second nothing is undone that others changed
// afterwards, as is right for a lock that the earlier one waited for. The third
// is what the earlier one found.
func (p Pair) preStates() []*overlay.Memory {
	secs := [2]*overlay.Section{p.A, p.B}
	touched := [2]map[uint64]*touches{{}, {}}
	wrote := map[uint64]uint64{}
	for side, sec := range secs {
		var t *touches
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			p.each(side, a, func(line, bit, k uint64) {
				if t == nil || t.line != line {
					if t = touched[side][line]; t == nil {
						t = &touches{line: line}
						touched[side][line] = t
					}
				}
				if t.mask>>bit&1 == 0 {
					t.mask |= 1 << bit
					t.at[bit], t.b[bit] = a.At, byte(a.Pre>>(8*k))
				}
				if a.Writes() && t.wrote>>bit&1 == 0 {
					t.wrote |= 1 << bit
					wrote[line] |= 1 << bit
				}
			})
		}
	}
	order := p.ordered()
	shared := map[uint64]*shares{}
	for side, sec := range secs {
		for line, t := range touched[side] {
			o := touched[1-side][line]
			if o == nil {
				o = &touches{}
			}
			// Bytes that both touch are entered once.
			m := t.mask & wrote[line]
			if side == 1 {
				m &^= o.mask
			}
			if m == 0 {
				continue
			}
			x := shared[line]
			if x == nil {
				x = &shares{line: line}
				shared[line] = x
			}
			for ; m != 0; m &= m - 1 {
				bit := uint64(bits.TrailingZeros64(m))
				one := uint64(1) << bit
				first := t.b[bit]
				switch {
				case o.mask&one == 0:
					if overlay.IsApart(line<<6) || sec.OnStack(line<<6|bit) {
						continue
					}
					x.only |= one
					x.early[side] |= one
				case order(0, t.at[bit], o.at[bit]):
					x.early[0] |= one
					x.until[bit], x.untilByte[bit] = o.at[bit], o.b[bit]
				default:
					x.early[1] |= one
					x.until[bit], x.untilByte[bit] = t.at[bit], t.b[bit]
					first = o.b[bit]
				}
				x.cur[bit], x.found[0][bit], x.found[1][bit], x.found[2][bit] = first, first, first, first
			}
		}
	}
	for side, sec := range secs {
		var x *shares
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			p.each(side, a, func(line, bit, k uint64) {
				if x == nil || x.line != line {
					if x = shared[line]; x == nil {
						return
					}
				}
				one := uint64(1) << bit
				if x.early[side]&one == 0 || x.only&one == 0 && !order(side, a.At, x.until[bit]) {
					return
				}
				b := byte(a.Pre >> (8 * k))
				if x.written&one == 0 {
					x.found[0][bit] = b
				}
				if b != x.cur[bit] {
					x.found[1][bit] = b
				}
				x.cur[bit] = byte(a.Value >> (8 * k))
				if a.Writes() {
					x.written |= one
				}
			})
		}
	}
	out := make([]*overlay.Memory, 3)
	for i := range out {
		out[i] = overlay.NewMemory()
	}
	for line, x := range shared {
		all := x.early[0] | x.early[1]
		for m := all &^ x.only; m != 0; m &= m - 1 {
			bit := bits.TrailingZeros64(m)
			if x.written>>bit&1 == 0 {
				x.found[0][bit] = x.untilByte[bit]
			}
			if x.untilByte[bit] != x.cur[bit] {
				x.found[1][bit] = x.untilByte[bit]
			}
		}
		for i := range out {
			out[i].SetLine(line, &x.found[i], all)
		}
	}
	return out
}

// touches are the first accesses of a section to the bytes of a line.
type touches struct {
	line        uint64
	mask, wrote uint64
	at          [64]emulate.Count
	b           [64]byte // before
}

// shares are the bytes of a line whose states are looked for.
type shares struct {
	line      uint64
	early     [2]uint64 // the bytes that this side touched first
	only      uint64    // …and the other one didn't
	written   uint64    // by the early side, before the other one touched it
	until     [64]emulate.Count
	untilByte [64]byte    // what the other side found then
	found     [3][64]byte // by kind of pre-state
	cur       [64]byte    // what the early side left there
}

// each calls f for the bytes of an access of a side: their line, their place in it, and
// that in the access.
func (p Pair) each(side int, a *overlay.Access, f func(line, bit, k uint64)) {
	last, line := ^uint64(0), uint64(0)
	for k := uint64(0); k < uint64(a.Size); k++ {
		at := a.Addr + k
		if at>>6 != last {
			last = at >> 6
			line = p.canon(side, last<<6) >> 6
		}
		f(line, at&63, k)
	}
}

// ordered returns Order for instructions of a side and of the other one. It is
// asked the same for many bytes.
func (p Pair) ordered() func(side int, at, other emulate.Count) bool {
	ids := [2]emulate.ThreadID{p.A.Thread, p.B.Thread}
	type question struct {
		side      int
		at, other emulate.Count
	}
	var last question
	known, is := false, false
	return func(side int, at, other emulate.Count) bool {
		if q := (question{side, at, other}); !known || q != last {
			last, known = q, true
			is = p.Order(ids[side], at, ids[1-side], other)
		}
		return is
	}
}
