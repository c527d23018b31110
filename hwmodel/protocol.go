package hwmodel

import "fmt"

// A Protocol is a coherence protocol as a table, state × request.
type Protocol struct {
	Name string
	// Local is what a unit does that holds the line in a state and loads,
	// stores, or evicts it.
	Local [numStates][numLocal]Transition
	// Remote is what a unit does that holds the line in a state when another
	// one's request reaches it.
	Remote [numStates][numRemote]Transition
}

// Requests of a unit itself.
const (
	load = iota
	store
	evict
	numLocal
)

// Requests that a unit sees from another.
const (
	busNone  = iota // nothing is sent
	busRead         // another unit wants to read the line
	busWrite        // another unit wants to write it: all others lose it
	numRemote
)

// A Transition is one cell of a protocol's table. The zero value means that
// the state doesn't occur in the protocol.
type Transition struct {
	Next State // state afterwards
	// NextShared replaces Next if other units still hold the line.
	NextShared State
	Bus        uint8 // the request that the other holders see
	Supply     bool  // this unit gives the data to the one that asks
	WriteBack  bool  // dirty data go to the last-level cache
	Occurs     bool
}

// Shorthand for the tables.
func to(next State) Transition { return Transition{Next: next, NextShared: next, Occurs: true} }
func (t Transition) bus(b uint8) Transition {
	t.Bus = b
	return t
}
func (t Transition) orShared(s State) Transition {
	t.NextShared = s
	return t
}
func (t Transition) supply() Transition {
	t.Supply = true
	return t
}
func (t Transition) writeBack() Transition {
	t.WriteBack = true
	return t
}

// MSI has no state for a clean line that nobody else holds: each first store is
// announced.
var MSI = &Protocol{
	Name: "msi",
	Local: [numStates][numLocal]Transition{
		Invalid:  {load: to(Shared).bus(busRead), store: to(Modified).bus(busWrite)},
		Shared:   {load: to(Shared), store: to(Modified).bus(busWrite), evict: to(Invalid)},
		Modified: {load: to(Modified), store: to(Modified), evict: to(Invalid).writeBack()},
	},
	Remote: [numStates][numRemote]Transition{
		Shared:   {busRead: to(Shared), busWrite: to(Invalid)},
		Modified: {busRead: to(Shared).supply().writeBack(), busWrite: to(Invalid).supply()},
	},
}

// MESI is the default.
var MESI = &Protocol{
	Name: "mesi",
	Local: [numStates][numLocal]Transition{
		Invalid:   {load: to(Exclusive).orShared(Shared).bus(busRead), store: to(Modified).bus(busWrite)},
		Shared:    {load: to(Shared), store: to(Modified).bus(busWrite), evict: to(Invalid)},
		Exclusive: {load: to(Exclusive), store: to(Modified), evict: to(Invalid)},
		Modified:  {load: to(Modified), store: to(Modified), evict: to(Invalid).writeBack()},
	},
	Remote: [numStates][numRemote]Transition{
		Shared:    {busRead: to(Shared), busWrite: to(Invalid)},
		Exclusive: {busRead: to(Shared).supply(), busWrite: to(Invalid).supply()},
		Modified:  {busRead: to(Shared).supply().writeBack(), busWrite: to(Invalid).supply()},
	},
}

// MOESI lets a dirty line be shared without writing it back: AMD's.
var MOESI = &Protocol{
	Name: "moesi",
	Local: [numStates][numLocal]Transition{
		Invalid:   {load: to(Exclusive).orShared(Shared).bus(busRead), store: to(Modified).bus(busWrite)},
		Shared:    {load: to(Shared), store: to(Modified).bus(busWrite), evict: to(Invalid)},
		Exclusive: {load: to(Exclusive), store: to(Modified), evict: to(Invalid)},
		Modified:  {load: to(Modified), store: to(Modified), evict: to(Invalid).writeBack()},
		Owned:     {load: to(Owned), store: to(Modified).bus(busWrite), evict: to(Invalid).writeBack()},
	},
	Remote: [numStates][numRemote]Transition{
		Shared:    {busRead: to(Shared), busWrite: to(Invalid)},
		Exclusive: {busRead: to(Shared).supply(), busWrite: to(Invalid).supply()},
		Modified:  {busRead: to(Owned).supply(), busWrite: to(Invalid).supply()},
		Owned:     {busRead: to(Owned).supply(), busWrite: to(Invalid).supply()},
	},
}

// MESIF lets one of several sharers, the newest, supply the line: Intel's.
var MESIF = &Protocol{
	Name: "mesif",
	Local: [numStates][numLocal]Transition{
		Invalid:   {load: to(Exclusive).orShared(Forward).bus(busRead), store: to(Modified).bus(busWrite)},
		Shared:    {load: to(Shared), store: to(Modified).bus(busWrite), evict: to(Invalid)},
		Exclusive: {load: to(Exclusive), store: to(Modified), evict: to(Invalid)},
		Modified:  {load: to(Modified), store: to(Modified), evict: to(Invalid).writeBack()},
		Forward:   {load: to(Forward), store: to(Modified).bus(busWrite), evict: to(Invalid)},
	},
	Remote: [numStates][numRemote]Transition{
		Shared:    {busRead: to(Shared), busWrite: to(Invalid)},
		Exclusive: {busRead: to(Shared).supply(), busWrite: to(Invalid).supply()},
		Modified:  {busRead: to(Shared).supply().writeBack(), busWrite: to(Invalid).supply()},
		Forward:   {busRead: to(Shared).supply(), busWrite: to(Invalid).supply()},
	},
}

// Protocols lists the protocols that can be chosen.
var Protocols = []*Protocol{MSI, MESI, MOESI, MESIF}

// ProtocolNamed returns the protocol of that name.
func ProtocolNamed(name string) (*Protocol, error) {
	var names []string
	for _, p := range Protocols {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("hwmodel: coherence protocol %q, expected one of %q", name, names)
}

// check says whether the machine can run the protocol: a line has any number
// of Shared holders and at most one holder in another state.
func (p *Protocol) check() error {
	for s := Invalid; s < numStates; s++ {
		if s != Invalid && p.Local[s][load].Occurs != p.Remote[s][busRead].Occurs {
			return fmt.Errorf("hwmodel: protocol %s: state %v is only half described", p.Name, s)
		}
		if w := p.Local[s][store]; w.Occurs && (w.Next != Modified || (s != Exclusive && s != Modified && w.Bus != busWrite)) {
			return fmt.Errorf("hwmodel: protocol %s: a store in state %v must lead to M and take the line from the others", p.Name, s)
		}
		if r := p.Remote[s][busWrite]; r.Occurs && r.Next != Invalid {
			return fmt.Errorf("hwmodel: protocol %s: state %v must be lost when another unit writes", p.Name, s)
		}
		if r := p.Remote[s][busRead]; r.Occurs && (r.Next == Exclusive || r.Next == Modified || r.Next == Invalid) {
			return fmt.Errorf("hwmodel: protocol %s: state %v can't become %v when another unit reads", p.Name, s, r.Next)
		}
	}
	if p.Remote[Shared][busRead].Next != Shared {
		return fmt.Errorf("hwmodel: protocol %s: S must stay S when another unit reads", p.Name)
	}
	return nil
}
