package overlay

import (
	"errors"
	"io"
	"math"
	"math/bits"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/traces"
)

// A Past knows what memory held at one instant, the cut, as far as the threads
// whose stretches it captured stored to it since. What none of them stored to
// hasn't changed since the cut, unless the kernel wrote there.
type Past struct {
	canon func(addr uint64) uint64
	lines map[uint64]*pastLine
	steps uint64
}

// A pastLine has the bytes that were stored to, as they were before the first
// store, and when that was.
type pastLine struct {
	data [64]byte
	mask uint64
	rank [64]int32
}

// NewPast returns a Past that has captured nothing. canon maps the mappings of
// one memory to each other and may be nil.
func NewPast(canon func(addr uint64) uint64) *Past {
	if canon == nil {
		canon = func(a uint64) uint64 { return a }
	}
	return &Past{canon: canon, lines: map[uint64]*pastLine{}}
}

// Steps returns the number of instructions captured so far.
func (p *Past) Steps() uint64 { return p.steps }

// Capture records the stretch of a thread from where from is, the cut, until
// instruction end is next or the thread ends. rank numbers the instants of the
// thread's instructions, in the order of the recording among all threads. The
// section ends by EndOpen and has no Accesses. The error is a divergence.
func (p *Past) Capture(from *replay.Snapshot, end emulate.Count, rank func(emulate.Count) int) (*Section, error) {
	u := from.NewThread()
	if err := u.Settle(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	c := u.CPU()
	s := &Section{Thread: u.ID(), Start: u.Count(), Entry: c.State(), End: EndOpen, SP: c.R[x86.RSP], View: u.Snapshot()}
	w := &pastCapture{capture: capture{t: u, sec: s}, past: p, rank: rank}
	w.capture.left = func(pk *traces.Packet) {
		if pk.Addr != 0 {
			s.Cleared = pk.Addr
			v, ok := ReadUint(u.Memory(), pk.Addr, 4)
			if !ok || v == 0 {
				v = uint64(s.Thread)
			}
			p.note(pk.Addr, 4, v, int32(rank(u.Count())))
		}
	}
	u.ObserveStores(w)
	u.Want = ^replay.Kinds(traces.Import, traces.Part, traces.Order)
	var err error
	if end > s.Start {
		err = w.run(Goal{End: EndCount, Count: end})
	}
	s.Stop, s.Exit = u.Count(), c.State()
	s.Complete = err == nil && w.ended
	p.steps += s.Steps()
	if errors.Is(err, io.EOF) || errors.Is(err, errTooLong) {
		err = nil
	}
	return s, err
}

// A pastCapture captures a section and tells a Past of the thread's stores.
type pastCapture struct {
	capture
	past *Past
	rank func(emulate.Count) int
}

// Load serves x86.Watcher.
func (w *pastCapture) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	return v
}

// Store serves x86.Watcher.
func (w *pastCapture) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	n := w.past.canon(addr) >> 6
	l := w.past.lines[n]
	if l == nil {
		l = new(pastLine)
		w.past.lines[n] = l
	}
	mask, rank := byteMask(addr, size), int32(w.rank(w.t.Count()))
	if l.mask&mask == mask {
		first := int32(math.MaxInt32)
		for i := addr & 63; i < addr&63+uint64(size); i++ {
			first = min(first, l.rank[i])
		}
		if first <= rank {
			return
		}
	}
	d := w.t.Memory().Line(addr >> 6)
	if d == nil {
		d = new([64]byte)
	}
	l.note(d, mask, rank)
}

// note says what bytes of the line held before they were changed.
func (l *pastLine) note(data *[64]byte, mask uint64, rank int32) {
	for m := mask; m != 0; m &= m - 1 {
		o := bits.TrailingZeros64(m)
		if l.mask>>o&1 == 0 || rank < l.rank[o] {
			l.data[o], l.rank[o] = data[o], rank
		}
	}
	l.mask |= mask
}

// note says what size bytes at addr held before they were changed.
func (p *Past) note(addr uint64, size int, pre uint64, rank int32) {
	for i := 0; i < size; i++ {
		a := p.canon(addr + uint64(i))
		l := p.lines[a>>6]
		if l == nil {
			l = new(pastLine)
			p.lines[a>>6] = l
		}
		var d [64]byte
		d[a&63] = byte(pre >> (8 * i))
		l.note(&d, 1<<(a&63), rank)
	}
}

// Settle adds what the captured sections show that nobody stored to: bytes that
// flowed in hold what they held at the cut, unless the kernel changed them.
func (p *Past) Settle(secs []*Section) {
	var kernel []Span
	for _, s := range secs {
		for i := range s.Inputs {
			in := &s.Inputs[i]
			if in.Kind != InSyscall {
				continue
			}
			for _, w := range in.Writes {
				kernel = append(kernel, Span{p.canon(w.Addr), w.N})
			}
			switch in.NR {
			case sysMmap:
				kernel = append(kernel, Span{in.Ret, in.Args[1]})
			case sysMunmap, sysMadvise:
				kernel = append(kernel, Span{in.Args[0], in.Args[1]})
			case sysMremap:
				kernel = append(kernel, Span{in.Args[0], in.Args[1]}, Span{in.Ret, in.Args[2]})
			}
		}
	}
	for _, s := range secs {
		for i := range s.Inputs {
			in := &s.Inputs[i]
			if in.Kind != InImport || overlaps(kernel, p.canon(in.Line<<6), 64) {
				continue
			}
			n := p.canon(in.Line<<6) >> 6
			l := p.lines[n]
			if l == nil {
				l = new(pastLine)
				p.lines[n] = l
			}
			merge(&l.data, &in.Data, in.Given&^l.mask)
			l.mask |= in.Given
		}
	}
}

// Restore makes memory what it was at the cut. It must come after Aliases.
func (r *Run) Restore(p *Past) {
	all := make([]line, len(p.lines))
	i := 0
	for n, l := range p.lines {
		o := r.mem.get(n)
		if o == nil {
			o = &all[i]
			r.mem.lines[n] = o
			i++
		}
		merge(&o.data, &l.data, l.mask)
		o.mask |= l.mask
	}
}
