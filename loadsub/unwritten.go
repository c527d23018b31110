package loadsub

import (
	"fmt"

	"github.com/racesim/racesim/emulate/overlay"
)

// uninitialised is the checker whose findings these are.
const uninitialised = "uninitialised-read"

// What the bytes of new blocks are in the two runs that are compared.
const (
	fillA = 0x55
	fillB = 0xaa
)

// maxUnwritten bounds the interleavings of which it is found out whether a read
// of unwritten memory matters.
const maxUnwritten = 4

// unwritten looks for a read of memory that the sections allocated and nobody had
// written, in r: one that makes a difference. again executes the same once more.
// What is only copied, as structures are with the gaps between their members,
// makes none.
func (p Pair) unwritten(r *overlay.Result, again func(*overlay.Run) bool, pre *overlay.Memory) []Finding {
	reads := r.Unwritten()
	weight := Decides
	if p.World.Weigh != nil {
		weight = p.World.Weigh(uninitialised)
	}
	if len(reads) == 0 || weight == Ignored || !comparable(r) {
		return nil
	}
	var filled [2]*overlay.Result
	for i, b := range []byte{fillA, fillB} {
		x := p.start(pre)
		x.Fill(b)
		if !again(x) {
			return nil
		}
		filled[i] = x.Result()
		for _, e := range filled[i].Ends {
			if e.Outcome == overlay.Unknown || e.Outcome == overlay.Changed {
				return nil // what it came to isn't known
			}
		}
	}
	for _, o := range p.diff(filled[0], filled[1], maxPublic) {
		if o.Addr == 0 && !o.Public && filled[0].Ends[0].Outcome == filled[1].Ends[0].Outcome && filled[0].Ends[1].Outcome == filled[1].Ends[1].Outcome {
			continue // a register, which may only hold it
		}
		if o.Addr != 0 && !p.variable(&o) && holds(filled[0], &o, fillA) && holds(filled[1], &o, fillB) {
			continue
		}
		u := &reads[0]
		return []Finding{{Checker: uninitialised, Weight: weight, What: fmt.Sprintf("thread %d reads bytes %d and on of a block that was allocated meanwhile, before anybody has written them, and %s depends on them",
			[]*overlay.Section{p.A, p.B}[u.Part].Thread, u.Addr-u.Block, o.Name)}}
	}
	return nil
}

// variable says whether an output is a variable of its own, or a member, and not
// what lies between members.
func (p Pair) variable(o *Output) bool {
	if p.World.Scalar == nil {
		return false
	}
	v, ok := p.World.Scalar(o.Addr)
	return ok && v.Addr == o.Addr && v.Size == o.Size
}

// holds says whether an output is nothing but what new blocks were filled with.
func holds(r *overlay.Result, o *Output, fill byte) bool {
	for i := 0; i < o.Size; i++ {
		if b, ok := r.Byte(o.Addr + uint64(i)); !ok || b != fill {
			return false
		}
	}
	return true
}
