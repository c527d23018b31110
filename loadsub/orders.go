package loadsub

import "github.com/racesim/racesim/emulate/overlay"

// Orders keeps what the serial orders of a pair came to. A pair that is asked
// about again with another Both or MaxRuns needs the same ones. The zero value
// is ready for use.
type Orders struct {
	states []*overlay.Memory
	runs   map[orderKey]orderRun
}

type orderKey struct{ state, first int }

// An orderRun is one order from one pre-state.
type orderRun struct {
	result *overlay.Result
	hits   int // racing accesses of the section that came first, up to its end or where it waits
}

// pre returns the pair's pre-states.
func (o *Orders) pre(p Pair) []*overlay.Memory {
	if o.states == nil {
		o.states = p.preStates()
	}
	return o.states
}

// serial executes the pair from pre-state number state, first one section to its
// end, then the other.
func (o *Orders) serial(p Pair, state, first int) orderRun {
	key := orderKey{state, first}
	x, ok := o.runs[key]
	if !ok {
		r := p.start(o.pre(p)[state])
		r.Go(first)
		x.hits = min(r.Hits(first), maxHits)
		r.Go(1 - first)
		r.Settle(first)
		x.result = r.Result()
		if o.runs == nil {
			o.runs = map[orderKey]orderRun{}
		}
		o.runs[key] = x
	}
	return x
}
