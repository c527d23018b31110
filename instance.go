package racesim

import (
	"cmp"
	"slices"

	"github.com/racesim/racesim/classify"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
)

// sample captures the instance of a site that t is about to execute.
func (c *collector) sample(key string, t *replay.Thread, calls *funcs.Tracker) error {
	s, u := c.sites[key], c.used[key]
	g := overlay.Goal{End: overlay.EndReturn, SP: t.CPU().R[x86.RSP], NoLive: true, MaxSteps: sampleSteps, MaxAccesses: sampleSteps}
	g.Stack[0], g.Stack[1] = calls.GoStack()
	if s.head != 0 {
		fr := calls.Level(0)
		if f := c.a.ms.FuncAt(fr.Entry); f == nil || f.Entry != s.fn.Entry {
			return nil // another frame is at the loop's code
		}
		g.End, g.PC, g.SP = overlay.EndLoop, s.head, uint64(fr.SP)
	}
	sec, err := overlay.Capture(t.Snapshot(), g)
	if err != nil {
		return err
	}
	c.steps += sec.Steps()
	u.steps += sec.Steps()
	if !sec.Complete {
		u.cut++
	}
	for i := range sec.Accesses {
		x := &sec.Accesses[i]
		if s.pcs[x.PC] && !halves(sec, i) {
			s.looks[look{c.a.t, sec.Thread, x.PC, x.Addr}]++
		}
		if !x.Writes() && s.pcs[x.PC] {
			vs := s.seen[x.PC]
			if vs == nil {
				vs = map[uint64]int{}
				s.seen[x.PC] = vs
			}
			if _, ok := vs[x.Value]; ok || len(vs) < maxValues {
				vs[x.Value]++
			}
		}
	}
	if sec.Complete {
		s.samples = append(s.samples, c.a.instance(sec))
	}
	return nil
}

// halves reports whether access i of a section is the store of an instruction
// whose load is the one before.
func halves(sec *overlay.Section, i int) bool {
	x := &sec.Accesses[i]
	return i > 0 && x.Writes() && sec.Accesses[i-1].At == x.At && sec.Accesses[i-1].Addr == x.Addr
}

// instance keeps of a captured section what models need.
func (a *analysis) instance(sec *overlay.Section) instance {
	x := instance{origin: a.t, thread: sec.Thread, start: sec.Start, sp: sec.SP, Mem: a.cells(sec)}
	if len(x.Mem) > maxCells {
		x.Mem = slices.Clone(x.Mem[:maxCells])
	}
	var in, out [16]uint64
	copy(in[:], sec.Entry.R[:])
	copy(out[:], sec.Exit.R[:])
	a.resolve(&x, in, sec.Entry.X, out, sec.Exit.X)
	return x
}

// resolve gives an instance its registers, and says what its addresses mean.
func (a *analysis) resolve(x *instance, in [16]uint64, inX [16][2]uint64, out [16]uint64, outX [16][2]uint64) {
	x.Entry, x.Exit = a.registers(in, inX), a.registers(out, outX)
	for i := range x.Mem {
		m := &x.Mem[i]
		m.Name, m.Real = a.feature(m.addr, x.sp)
		if m.Frame = inFrame(m.addr, x.sp); m.Frame {
			m.Off = int64(m.addr - x.sp)
		}
		if m.Size == 8 {
			m.Point, m.PrePoint = a.region(m.Value), a.region(m.Pre)
		}
	}
}

func (a *analysis) registers(r [16]uint64, x [16][2]uint64) registers {
	out := registers{R: r, X: x}
	for i, v := range r {
		out.Point[i] = a.region(v)
	}
	return out
}

// cells lists what a section stored, by address: the last store to each place.
// The run-time's own stores are left out, and so is a function's frame.
func (a *analysis) cells(sec *overlay.Section) []cell {
	type place struct {
		cell
		stored bool
	}
	at := map[uint64]*place{}
	for i := range sec.Accesses {
		x := &sec.Accesses[i]
		m := at[x.Addr]
		if m == nil {
			m = &place{cell: cell{addr: x.Addr, Size: int(x.Size), Pre: x.Pre, Input: !x.Writes()}}
			at[x.Addr] = m
		}
		if x.Writes() && !a.ownStore(x.PC) {
			m.Size, m.Value, m.stored = int(x.Size), x.Value, true
		}
	}
	var out []cell
	for _, m := range at {
		if m.stored && !(sec.End == overlay.EndReturn && inFrame(m.addr, sec.SP)) {
			out = append(out, m.cell)
		}
	}
	slices.SortFunc(out, func(x, y cell) int { return cmp.Compare(x.addr, y.addr) })
	return out
}

// ownStore reports whether an instruction is the run-time's, storing for its
// own purposes.
func (a *analysis) ownStore(pc uint64) bool {
	f := a.ms.FuncAt(emulate.Addr(pc))
	if f == nil || !f.Runtime {
		return false
	}
	r, ok := a.ms.Runtime(f)
	return !ok || !r.Category.UserAccess()
}

// outcome is the instance that a re-emulation of sec ended as. The load that
// was replaced, if any, is an input with its new value.
func (a *analysis) outcome(sec *overlay.Section, r *overlay.Result, load *overlay.Access, value uint64) instance {
	e := &r.Ends[0]
	x := instance{origin: a.t, thread: sec.Thread, start: sec.Start, sp: sec.SP}
	recorded := map[uint64]cell{}
	for i := range sec.Accesses {
		y := &sec.Accesses[i]
		m, ok := recorded[y.Addr]
		if !ok {
			m = cell{addr: y.Addr, Size: int(y.Size), Pre: y.Pre, Input: !y.Writes()}
			if load != nil && m.Input && y.At == load.At && y.Addr == load.Addr {
				m.Pre = value
			}
		}
		if y.Writes() {
			m.Size = int(y.Size)
		}
		recorded[y.Addr] = m
	}
	for _, sp := range r.Written() {
		for addr, end := sp.Addr, sp.Addr+sp.N; addr < end && len(x.Mem) < maxCells; {
			m, ok := recorded[addr]
			if !ok {
				m = cell{addr: addr, Size: 1}
				for m.Size < 8 && addr%uint64(2*m.Size) == 0 && addr+uint64(2*m.Size) <= end {
					m.Size *= 2
				}
			}
			if loadsub.Outlives(sec, addr) {
				m.Value, _ = r.Uint(addr, m.Size)
				x.Mem = append(x.Mem, m)
			}
			addr += uint64(m.Size)
		}
	}
	var in [16]uint64
	copy(in[:], sec.Entry.R[:])
	a.resolve(&x, in, sec.Entry.X, e.Regs, e.XMM)
	return x
}

// A normality knows what the sections of a site usually do.
type normality struct {
	sec    *overlay.Section
	site   *site
	others []instance
}

// normality learns from the instances of a place but the section itself.
func (a *analysis) normality(p *loadsub.Place, sec *overlay.Section) *normality {
	n := &normality{sec: sec, site: a.site(p)}
	if n.site == nil {
		return n
	}
	for _, x := range n.site.samples {
		if x.origin == a.t && x.thread == sec.Thread && x.start == sec.Start {
			continue
		}
		n.others = append(n.others, x)
	}
	return n
}

// judge says how normal an instance is.
func (n *normality) judge(x instance) classify.Opinion {
	all := features(append(slices.Clone(n.others), x), n.sec)
	return classify.Learn(all[:len(all)-1]).Judge(all[len(all)-1])
}
