package racesim

import "github.com/racesim/racesim/races"

// life says whether a group is about the beginning or end of the life of a
// mutex, a descriptor or the like. There is nothing to execute again then: what
// happens to who comes too early or too late isn't the program's to say.
func (g *group) life() bool { return g.cands[0].Reason == races.LifeRace }

// ending says in words what one side does to the object that the other uses.
func (a *analysis) ending(g *group) string {
	c := g.cands[0]
	x := &c.First
	if x.Kind != races.Write {
		x = &c.Second
	}
	if c.Object == races.ObjDescriptor {
		return "it is closed"
	}
	if x.Value == races.LifeEnds {
		return "it is destroyed"
	}
	return "it is initialised"
}
