package loadsub

import (
	"github.com/racesim/racesim/emulate/overlay"
)

// A section that stores to one variable several times lets others see each of
// these values: how far it has come, what it does just now. Who looks once, and
// shares nothing else with it, sees one of them whole, and that it isn't the
// first or the last is no harm. It is where the section takes the variable for
// its own notes: sets it back, and builds the next value there.

// published reports whether r differs from the serial orders only because one
// section looks once at a variable of which the other one shows several values.
func (p Pair) published(r *overlay.Result) bool {
	if !comparable(r) {
		return false
	}
	a, b := &r.Ends[0].Racy, &r.Ends[1].Racy
	return p.only(r) && (shows(a) && looksOnce(b) || shows(b) && looksOnce(a))
}

// looksOnce reports whether all that a section does with the variable is one load.
func looksOnce(u *overlay.Uses) bool { return u.Loads == 1 && u.Stores == 0 }

// shows reports whether the values that a section stores to a variable are there
// for others: none is made from one before it, or they only go up, or only down.
func shows(u *overlay.Uses) bool {
	return u.Stores > 0 && !u.Parts && (u.Loads == 0 || !u.Falls || !u.Rises)
}

// only reports whether the racing bytes are all that both sections touched.
func (p Pair) only(r *overlay.Result) bool {
	shared := r.Shared()
next:
	for _, sp := range shared {
		for _, x := range p.Racy {
			if at := p.World.canon(x.Addr); sp.Addr >= at && sp.Addr+sp.N <= at+x.N {
				continue next
			}
		}
		return false
	}
	return len(shared) > 0
}
