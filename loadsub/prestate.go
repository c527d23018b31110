package loadsub

import (
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
func (p Pair) preStates() []map[uint64]byte {
	secs := []*overlay.Section{p.A, p.B}
	type first struct {
		at emulate.Count
		b  byte
	}
	touched := [2]map[uint64]first{{}, {}}
	wrote := map[uint64]bool{}
	for side, sec := range secs {
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			for k := uint64(0); k < uint64(a.Size); k++ {
				addr := p.World.canon(a.Addr + k)
				if _, ok := touched[side][addr]; !ok {
					touched[side][addr] = first{a.At, byte(a.Pre >> (8 * k))}
				}
				if a.Writes() {
					wrote[addr] = true
				}
			}
		}
	}
	type state struct {
		early   int     // the side that touched it first
		only    bool    // …and the other one didn't
		until   first   // of the other side
		found   [3]byte // by kind of pre-state
		written bool    // by the early side, before the other one touched it
		cur     byte    // what the early side left there
	}
	shared := map[uint64]*state{}
	for side := range secs {
		for addr, f := range touched[side] {
			if _, both := touched[1-side][addr]; !both && wrote[addr] && !onStack(secs[side], addr) {
				shared[addr] = &state{early: side, only: true, cur: f.b, found: [3]byte{f.b, f.b, f.b}}
			}
		}
	}
	for addr, fa := range touched[0] {
		fb, both := touched[1][addr]
		if !both || !wrote[addr] {
			continue
		}
		if p.Order(p.A.Thread, fa.at, p.B.Thread, fb.at) {
			shared[addr] = &state{early: 0, until: fb, cur: fa.b, found: [3]byte{fa.b, fa.b, fa.b}}
		} else {
			shared[addr] = &state{early: 1, until: fa, cur: fb.b, found: [3]byte{fb.b, fb.b, fb.b}}
		}
	}
	for side, sec := range secs {
		for i := range sec.Accesses {
			a := &sec.Accesses[i]
			for k := uint64(0); k < uint64(a.Size); k++ {
				x := shared[p.World.canon(a.Addr+k)]
				if x == nil || x.early != side || !x.only && !p.Order(sec.Thread, a.At, secs[1-side].Thread, x.until.at) {
					continue
				}
				b := byte(a.Pre >> (8 * k))
				if !x.written {
					x.found[0] = b
				}
				if b != x.cur {
					x.found[1] = b
				}
				x.cur = byte(a.Value >> (8 * k))
				x.written = x.written || a.Writes()
			}
		}
	}
	out := make([]map[uint64]byte, 3)
	for i := range out {
		out[i] = make(map[uint64]byte, len(shared))
	}
	for addr, x := range shared {
		if !x.only && !x.written {
			x.found[0] = x.until.b
		}
		if !x.only && x.until.b != x.cur {
			x.found[1] = x.until.b
		}
		for i := range out {
			out[i][addr] = x.found[i]
		}
	}
	return out
}

// onStack reports whether an address is in a section's own frames.
func onStack(s *overlay.Section, addr uint64) bool { return addr < s.SP && s.SP-addr < 8<<20 }
