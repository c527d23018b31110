package overlay

import "github.com/racesim/racesim/emulate"

// An Injected is a replacement: bytes that are put on the overlay when a
// participant reaches a count.
type Injected struct {
	at           emulate.Count
	addr         uint64
	size         int
	val          uint64
	hold, freeze bool
	then         *uint64 // what comes once the participant spins
	works        bool    // …or goes round and round, looking at it each time
}

// Inject puts the low size bytes of v at addr when participant part is about
// to execute the instruction with count at. The bytes stay until a participant
// overwrites them, or until the recording has a change by others.
func (r *Run) Inject(part int, at emulate.Count, addr uint64, size int, v uint64) *Injected {
	p := r.parts[part]
	x := &Injected{at: at, addr: addr, size: size, val: v}
	p.injects = append(p.injects, x)
	return x
}

// Hold makes the bytes stay whatever others do to them.
func (x *Injected) Hold() { x.hold = true }

// Freeze makes them stay, and everything that the participant writes, too: as
// if the others stood still.
func (x *Injected) Freeze() { x.hold, x.freeze = true, true }

// Then gives the bytes another value once the participant does nothing but look
// at them. It waits for that value if it then stops looking, or does something
// new: one that goes on as before only happens to look often.
func (x *Injected) Then(v uint64) { x.then = &v }

// Works lets the participant do other work while it waits: the value of Then
// comes, too, if it looks again and again until the budget ends, and it waited
// if it then stops looking.
func (x *Injected) Works() { x.works = true }

// worksOn reports whether a participant that ran out of its budget went round
// a loop that ends when a replaced value changes, as far as can be told, and
// gives it the other value.
func (p *participant) worksOn() bool {
	if p.glances < minRounds {
		return false
	}
	for _, x := range p.injects {
		if x.then != nil && x.works {
			p.working = true
			return p.release()
		}
	}
	return false
}

// minRounds is how often a participant that works must have looked.
const minRounds = 16

// release ends the first replacement that waits for its end, and reports
// whether there was one.
func (p *participant) release() bool {
	for _, x := range p.injects {
		if x.then == nil {
			continue
		}
		p.run.Set(x.addr, x.size, *x.then)
		x.then, x.hold, x.freeze = nil, false, false
		p.released, p.lastNew = p.executed, p.executed
		p.atRelease = p.glances
		p.forgetPolls()
		return true
	}
	return false
}

// afterRelease is how many instructions a participant has to stop looking.
const afterRelease = 20_000

// applyInjects puts the replacements that are due on the overlay.
func (p *participant) applyInjects() {
	for _, in := range p.injects {
		if uint64(in.at) == p.cpu.Count && p.cpu.Pending().Size == 0 {
			p.run.Set(in.addr, in.size, in.val)
			p.overwrote = false
		}
	}
}

// frozen reports whether a location is kept at a replaced value.
func (p *participant) frozen() bool {
	for _, x := range p.injects {
		if x.freeze {
			return true
		}
	}
	return false
}

// foreign makes what somebody outside the experiment wrote to a line visible,
// where the participant itself had written before. Two participants are each
// other's outside: what they do to one another is for the overlay to say.
func (p *participant) foreign(in *Input) {
	if len(p.run.parts) > 1 {
		return
	}
	l := p.run.mem.get(p.canon(in.Line))
	if l == nil || l.mask == 0 {
		return
	}
	// A line that wasn't known at all can't have been written before.
	_, drop := p.view(in.Line)
	drop &= in.Foreign
	for _, x := range p.injects {
		if x.freeze {
			return
		}
		for i := 0; x.hold && uint64(x.at) <= p.cpu.Count && i < x.size; i++ {
			if a := x.addr + uint64(i); a>>6 == in.Line {
				drop &^= 1 << (a & 63)
			}
		}
	}
	l.mask &^= drop
}
