package overlay

import "github.com/racesim/racesim/emulate"

// An inject puts bytes on the overlay when a participant reaches a count.
type inject struct {
	at   emulate.Count
	addr uint64
	size int
	val  uint64
	hold bool
}

// Inject puts the low size bytes of v at addr when participant part is about
// to execute the instruction with count at. The bytes stay until a participant
// overwrites them. With hold, what others wrote there in the recording
// afterwards isn't seen either; without, it is.
func (r *Run) Inject(part int, at emulate.Count, addr uint64, size int, v uint64, hold bool) {
	p := r.parts[part]
	p.injects = append(p.injects, inject{at, addr, size, v, hold})
}

// applyInjects puts the replacements that are due on the overlay.
func (p *participant) applyInjects() {
	for _, in := range p.injects {
		if uint64(in.at) == p.cpu.Count && p.cpu.Pending().Size == 0 {
			p.run.Set(in.addr, in.size, in.val)
		}
	}
}

// foreign makes what somebody outside the experiment wrote to a line visible,
// where the participant itself had written before. Two participants are each
// other's outside: what they do to one another is for the overlay to say.
func (p *participant) foreign(in *Input) {
	if len(p.run.parts) > 1 {
		return
	}
	l := p.run.mem.get(p.run.canon(in.Line))
	if l == nil || l.mask == 0 {
		return
	}
	// A line that wasn't known at all can't have been written before.
	_, drop := p.view(in.Line)
	drop &= in.Foreign
	for _, x := range p.injects {
		for i := 0; x.hold && uint64(x.at) <= p.cpu.Count && i < x.size; i++ {
			if a := x.addr + uint64(i); a>>6 == in.Line {
				drop &^= 1 << (a & 63)
			}
		}
	}
	l.mask &^= drop
}
